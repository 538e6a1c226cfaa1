/** A client of Platen's HTTP interface (docs/http.md), without dependencies. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** ms before the first retry; doubled with each, up to the second. */
const BACKOFF = [250, 10_000];
/** Longest wait that a service may ask for, ms. */
const MOST_WAIT = 60_000;
/** A token is replaced this long before it ends, ms. */
const TOKEN_MARGIN = 15_000;
/** How far a message's time may be from this machine's clock, s. */
const TOLERANCE = 300;
const OVER = ['printed', 'failed', 'canceled', 'held'];

export class PlatenError extends Error {
  constructor(message, { status, code, retrySafe = false, requestId, idempotencyKey, cause } = {}) {
    super(message, { cause });
    this.name = 'PlatenError';
    this.status = status;
    this.code = code ?? 'unknown';
    this.retrySafe = retrySafe;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
  }
}

export class Platen {
  #account;
  #retries;
  #timeoutMs;
  #token;
  /** The request for the next token, which all callers of that moment share. */
  #asking;

  constructor(account, { retries = 5, timeoutMs = 30_000 } = {}) {
    this.#account = account;
    this.#retries = retries;
    this.#timeoutMs = timeoutMs;
  }

  async print(request, { idempotencyKey = randomUUID(), signal } = {}) {
    try {
      const headers = { 'idempotency-key': idempotencyKey };
      const ids = await this.#ask('POST', '', { body: request, headers, signal });
      return typeof ids === 'string' ? ids : ids[0];
    } catch (error) {
      if (error instanceof PlatenError) error.idempotencyKey = idempotencyKey;
      throw error;
    }
  }

  async validate(request, { signal } = {}) {
    return await this.#ask('POST', '/validate', { body: request, signal });
  }

  async job(id, { signal } = {}) {
    return await this.#ask('GET', `/${encodeURIComponent(id)}`, { signal });
  }

  async waitFor(id, { everyMs = 500, signal } = {}) {
    for (;;) {
      const job = await this.job(id, { signal });
      if (OVER.includes(job.status)) return job;
      await pause(everyMs, undefined, { signal });
    }
  }

  async #ask(method, path, { body, headers, signal }) {
    let mayRenew = true;
    for (let attempt = 0; ; attempt += 1) {
      let error;
      let wait;
      try {
        const token = await this.#accessToken(signal);
        const answer = await this.#fetch(`${this.#account.printEndpoint}${path}`, signal, {
          method,
          headers: {
            ...headers,
            authorization: `Bearer ${token}`,
            'x-tenant': this.#account.tenant,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        if (answer.ok) return await answer.json();
        error = await refusal(answer);
        wait = retryAfter(answer);
        if (answer.status === 401 && mayRenew) {
          // The token may have ended under way, or its key was taken back.
          mayRenew = false;
          this.#token = undefined;
          continue;
        }
      } catch (thrown) {
        signal?.throwIfAborted();
        // No answer: whether the service has the request is not known, and the key makes it harmless to ask again.
        error =
          thrown instanceof PlatenError
            ? thrown
            : new PlatenError('the service cannot be reached', {
                code: 'unreachable',
                retrySafe: true,
                cause: thrown,
              });
        wait = error.retryAfter;
      }
      if (!error.retrySafe || attempt >= this.#retries) throw error;
      const [first, most] = BACKOFF;
      const backoff = Math.min(most, first * 2 ** attempt) * (0.5 + Math.random() / 2);
      await pause(Math.max(wait ?? 0, backoff), undefined, { signal });
    }
  }

  async #accessToken(signal) {
    const kept = this.#token;
    if (kept !== undefined && Date.now() < kept.until) return kept.text;
    this.#asking ??= this.#newToken().finally(() => {
      this.#asking = undefined;
    });
    // One caller that gives up must not take the token from the others.
    return await orAborted(this.#asking, signal);
  }

  async #newToken() {
    const { tokenUrl, apiKey, apiSecret, audience, scope } = this.#account;
    const answer = await this.#fetch(tokenUrl, undefined, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: apiKey,
        client_secret: apiSecret,
        audience,
        scope,
      }),
    });
    if (!answer.ok) {
      const { error, error_description: detail } = await answer.json().catch(() => ({}));
      const refused = new PlatenError(detail ?? `no token: status ${answer.status}`, {
        status: answer.status,
        code: error,
        retrySafe: answer.status === 429 || answer.status >= 500,
      });
      refused.retryAfter = retryAfter(answer);
      throw refused;
    }
    const { access_token: text, expires_in: seconds } = await answer.json();
    this.#token = { text, until: Date.now() + seconds * 1_000 - TOKEN_MARGIN };
    return text;
  }

  async #fetch(url, signal, init) {
    const limit = AbortSignal.timeout(this.#timeoutMs);
    return await fetch(url, {
      ...init,
      // A secret goes to the address that was named, and nowhere else.
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
  }
}

export const webhooks = {
  verify(secrets, body, headers, { toleranceSeconds = TOLERANCE } = {}) {
    const given = headers instanceof Headers ? headers : new Headers(Object.entries(headers));
    const [id, at, signatures] = ['id', 'timestamp', 'signature'].map((name) => given.get(`webhook-${name}`));
    if (!id || !at || !signatures)
      throw unverified('it has no webhook-id, webhook-timestamp or webhook-signature');
    if (!/^\d{1,15}$/.test(at)) throw unverified('its webhook-timestamp is no time');
    if (Math.abs(Date.now() / 1_000 - Number(at)) > toleranceSeconds)
      throw unverified('its webhook-timestamp is too far from the time of this machine');
    const right = [secrets].flat().map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      if (key.length === 0) throw new TypeError('the secret of a webhook is empty');
      return createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
    });
    const found = signatures
      .split(' ')
      .some((signature) => right.some((one) => same(signature, `v1,${one}`)));
    if (!found) throw unverified('no signature of it fits the secret');
    return JSON.parse(Buffer.from(body).toString('utf8'));
  },
};

function same(one, other) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function unverified(why) {
  return new PlatenError(`the message is not verified: ${why}`, { code: 'webhook-unverified' });
}

async function orAborted(promise, signal) {
  if (signal === undefined) return await promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function refusal(answer) {
  const problem = await answer.json().catch(() => ({}));
  const { detail, title, code, retrySafe = answer.status >= 500, requestId } = problem;
  return new PlatenError(detail ?? title ?? `status ${answer.status}`, {
    status: answer.status,
    code,
    retrySafe,
    requestId,
  });
}

/** ms; undefined: it asks for none. */
function retryAfter(answer) {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(MOST_WAIT, Math.max(0, seconds * 1_000)) : undefined;
}
