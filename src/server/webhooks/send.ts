/**
 * Sends one signed message. The host's name is looked up once, every address that it has must be allowed, and the
 * connection goes to one of these very addresses: a name that has another address a moment later changes nothing. A
 * redirect is an answer like any other, and is not followed.
 */
import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type RequestOptions, request } from 'node:https';
import { isIP } from 'node:net';

/** Without secrets it is not signed: a chat's address is one. */
export type Message = { id: string; url: string; body: string; secrets: readonly string[] };
/** `status` null: there was no answer, and `answer` says why. */
export type Sent = { status: number | null; answer: string; ms: number; retryAfter: number | null };

type Ways = {
  isAllowed: (address: string) => boolean;
  addressesOf?: (host: string) => Promise<readonly string[]>;
  signal: AbortSignal;
};

/** ms for all of a request. */
const DEADLINE = 15_000;
/** Bytes of an answer that are read and kept. */
const ANSWER = 1_024;
const SECRET = 'whsec_';

/** `v1,` and the signature by each secret, with spaces between them (Standard Webhooks). */
export function signatureOf({ id, body, secrets }: Omit<Message, 'url'>, seconds: number): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

async function resolved(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Never rejects: what went wrong is in `answer`. */
export async function send(message: Message, ways: Ways): Promise<Sent> {
  const began = performance.now();
  const ended = (what: Omit<Sent, 'ms'>): Sent => ({ ...what, ms: Math.round(performance.now() - began) });
  const signal = AbortSignal.any([ways.signal, AbortSignal.timeout(DEADLINE)]);
  try {
    const { hostname, host, port, pathname, search } = new URL(message.url);
    const name = hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(name) === 0 ? await within((ways.addressesOf ?? resolved)(name), signal) : [name];
    const [address] = addresses;
    if (address === undefined || !addresses.every(ways.isAllowed)) {
      return ended({ status: null, answer: 'the address is not a public one', retryAfter: null });
    }
    const seconds = Math.floor(Date.now() / 1000);
    const options: RequestOptions = {
      host: address,
      ...(isIP(name) === 0 && { servername: name }),
      port: port === '' ? 443 : Number(port),
      path: pathname + search,
      method: 'POST',
      agent: false,
      signal,
      headers: {
        host,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(message.body),
        'user-agent': 'Platen',
        ...(message.secrets.length > 0 && {
          'webhook-id': message.id,
          'webhook-timestamp': String(seconds),
          'webhook-signature': signatureOf(message, seconds),
        }),
      },
    };
    return ended(await answerTo(options, message.body));
  } catch (error) {
    const why = signal.aborted ? `no answer within ${DEADLINE / 1000} s` : reasonOf(error);
    return ended({ status: null, answer: why, retryAfter: null });
  }
}

function answerTo(options: RequestOptions, body: string): Promise<Omit<Sent, 'ms'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<Sent, 'ms'>>();
  const sent = request(options, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = () => {
      const answer = Buffer.concat(chunks).subarray(0, ANSWER).toString('utf8').replaceAll('\0', '');
      const wait = /^\d{1,6}$/.exec(response.headers['retry-after'] ?? '')?.[0];
      resolve({
        status: response.statusCode ?? 0,
        answer,
        retryAfter: wait === undefined ? null : Number(wait),
      });
      sent.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ANSWER) done();
    });
    response.once('end', done);
    response.once('error', reject);
  });
  sent.once('error', reject);
  sent.end(body);
  return promise;
}

/** A look-up cannot be stopped, only left. */
export async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The system's word for it, without the address that it names. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'the request failed';
}
