/**
 * HTTP for IPP (RFC 8010 §4): one POST for each request, with the document streamed behind the attributes.
 *
 * A printer's HTTP server may stop reading, answer before it has read everything, answer with a web page, or never answer. So
 * each phase has a timeout of its own (connecting; each step of sending; the whole answer, from the last byte sent). The answer
 * has a size limit, and an early answer ends the sending.
 *
 * Connections are kept and used again for requests without a document. If the printer closed a kept one while it was idle, the
 * next request on it fails, and is sent once more on a new connection. A document always gets a new connection, because if a
 * kept one broke, nobody would know whether the printer has the document.
 */
import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TransportError } from '../connection.ts';
import { watchForStall } from '../send-queue.ts';
import type { Authorization } from './authorization.ts';
import { type IppTls, tlsAgent } from './tls.ts';

/** Times in ms, sizes in bytes. */
export interface IppHttpLimits {
  connect: number;
  /** The longest time in which the printer takes not a single byte. */
  write: number;
  /** From the last byte sent to the last byte of the answer. */
  reply: number;
  replyBytes: number;
}

export const IPP_HTTP_LIMITS: IppHttpLimits = {
  connect: 5_000,
  write: 30_000,
  reply: 30_000,
  replyBytes: 16 * 1024 * 1024,
};

/** A document: bytes, or a stream of them that is read once. */
export type IppDocument = Uint8Array | AsyncIterable<Uint8Array>;

const KEPT_CONNECTIONS = 2;
/** How long an idle connection is kept, ms. CUPS closes them after 30 s. */
const KEPT_FOR = 20_000;

export class IppHttp {
  readonly #url: URL;
  readonly #limits: IppHttpLimits;
  readonly #authorization: Authorization | undefined;
  /** `#kept` is for requests without a document, `#fresh` for those with one. */
  readonly #kept: HttpAgent;
  readonly #fresh: HttpAgent;

  /** @param url http: or https:, without credentials */
  constructor(url: URL, limits: IppHttpLimits, authorization?: Authorization, tls: IppTls = {}) {
    this.#url = url;
    this.#limits = limits;
    this.#authorization = authorization;
    const agent = (options: AgentOptions) =>
      url.protocol === 'https:' ? tlsAgent(tls, options, limits.connect) : new HttpAgent(options);
    this.#kept = agent({ keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS, timeout: KEPT_FOR });
    this.#fresh = agent({ keepAlive: false });
  }

  /**
   * Posts `head` and `document`, and returns the body of the answer.
   * @throws TransportError `device-unreachable`, `connect-timeout`, `write-timeout`, `connection-lost`,
   *   `query-timeout`, `reply-invalid`, `reply-too-long`; the signal's reason when aborted
   */
  async post(head: Uint8Array, document: IppDocument | undefined, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted();
    const streamed = document !== undefined && Symbol.asyncIterator in document;
    let stale = 0;
    for (let asked = 0; ; asked += 1) {
      try {
        return await this.#once(head, document, signal);
      } catch (error) {
        // The printer may ask for credentials twice: once at first, and once because its nonce has expired.
        if (error instanceof Unauthorized && !streamed && asked < 2 && error.answerable) continue;
        if (error instanceof StaleConnection && document === undefined && stale === 0) stale += 1;
        else throw asTransportError(error);
      }
    }
  }

  close(): void {
    this.#kept.destroy();
    this.#fresh.destroy();
  }

  async #once(head: Uint8Array, document: IppDocument | undefined, signal: AbortSignal): Promise<Uint8Array> {
    const send = this.#url.protocol === 'https:' ? httpsRequest : httpRequest;
    const path = `${this.#url.pathname}${this.#url.search}`;
    const authorization = this.#authorization?.header({ method: 'POST', path });
    const request = send(this.#url, {
      method: 'POST',
      agent: document === undefined ? this.#kept : this.#fresh,
      headers: {
        'content-type': 'application/ipp',
        accept: 'application/ipp',
        // If the length is known, Content-Length is sent, because some printers do not take chunked bodies.
        ...(!(document && Symbol.asyncIterator in document) && {
          'content-length': head.length + (document?.length ?? 0),
        }),
        ...(authorization !== undefined && { authorization }),
      },
    });
    const exchange = new Exchange(request, this.#limits, signal);
    try {
      return await exchange.run(head, document);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      error.answerable = this.#authorization?.asked(error.challenges, authorization) ?? false;
      throw error;
    } finally {
      exchange.end();
    }
  }
}

/** The printer closed a kept connection before it took a byte of the request. */
class StaleConnection extends Error {
  readonly error: TransportError;

  constructor(error: TransportError) {
    super(error.message);
    this.error = error;
  }
}

/** The printer asks for credentials, and has not processed the request. */
class Unauthorized extends TransportError {
  readonly challenges: string;
  answerable = false;

  constructor(challenges: string) {
    super('reply-invalid', 'HTTP 401, it wants a user and password, or others');
    this.challenges = challenges;
  }
}

function asTransportError(error: unknown): unknown {
  return error instanceof StaleConnection ? error.error : error;
}

/** One request and its answer. Every failure rejects `#failed`. */
class Exchange {
  readonly #request: ClientRequest;
  readonly #limits: IppHttpLimits;
  readonly #signal: AbortSignal;
  readonly #failed = Promise.withResolvers<never>();
  readonly #answered = Promise.withResolvers<IncomingMessage>();
  /** Stops the timeout of the current phase. */
  #stopTimeout: () => void = () => undefined;
  /** Ends the current step of sending. `#send` then goes on, or stops if `#over` is set. */
  #wake: (() => void) | undefined;
  #connected = false;
  /** The request has failed or was answered, so nothing more is sent. */
  #over = false;
  #sentAll = false;
  #received = false;
  #ended = false;

  readonly #onAbort = () => this.#fail(this.#signal.reason);

  constructor(request: ClientRequest, limits: IppHttpLimits, signal: AbortSignal) {
    this.#request = request;
    this.#limits = limits;
    this.#signal = signal;
    // A failure that nobody waits for must not become an unhandled rejection.
    this.#failed.promise.catch(() => undefined);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    request.on('error', (error: NodeJS.ErrnoException) => this.#broken(error));
    request.once('response', (response) => {
      this.#over = true;
      this.#wake?.();
      this.#answered.resolve(response);
    });
    this.#limit('connect');
    request.once('socket', (socket) => {
      const connected = () => {
        this.#connected = true;
        this.#limit('write');
      };
      // The connection was kept, or its certificate is already checked.
      if (request.reusedSocket || !socket.connecting) connected();
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
    });
  }

  async run(head: Uint8Array, document: IppDocument | undefined): Promise<Uint8Array> {
    this.#send(head, document).catch((error) => this.#fail(error));
    const response = await Promise.race([this.#answered.promise, this.#failed.promise]);
    this.#limit('reply');
    const body = await this.#body(response);
    return checkedAnswer(response, body);
  }

  end(): void {
    this.#ended = true;
    this.#over = true;
    this.#stopTimeout();
    this.#wake?.();
    this.#signal.removeEventListener('abort', this.#onAbort);
    // An unfinished request destroys its connection.
    if (!this.#sentAll || !this.#received) this.#request.destroy();
  }

  async #send(head: Uint8Array, document: IppDocument | undefined): Promise<void> {
    await this.#step((done) => this.#request.write(head, done));
    if (document !== undefined) {
      for await (const piece of Symbol.asyncIterator in document ? document : slices(document)) {
        if (this.#over) return;
        await this.#step((done) => this.#request.write(piece, done));
      }
    }
    if (this.#over) return;
    await this.#step((done) => this.#request.end(done));
    this.#sentAll = true;
    if (!this.#over) this.#limit('reply');
  }

  /** One step of sending. The time that the document's source takes between two steps does not count. */
  async #step(send: (done: () => void) => void): Promise<void> {
    if (this.#connected) this.#limit('write');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    send(resolve);
    await promise;
    if (!this.#over) this.#stopTimeout();
  }

  async #body(response: IncomingMessage): Promise<Uint8Array> {
    const parts: Buffer[] = [];
    let length = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    response.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= this.#limits.replyBytes) parts.push(part);
      else this.#fail(new TransportError('reply-too-long', `more than ${this.#limits.replyBytes} bytes`));
    });
    response.once('end', resolve);
    response.on('error', (error: NodeJS.ErrnoException) => this.#broken(error));
    await Promise.race([promise, this.#failed.promise]);
    this.#received = true;
    return Buffer.concat(parts);
  }

  #limit(phase: 'connect' | 'write' | 'reply'): void {
    this.#stopTimeout();
    if (this.#ended) return;
    const ms = this.#limits[phase];
    const codes = { connect: 'connect-timeout', write: 'write-timeout', reply: 'query-timeout' } as const;
    const late = () => this.#fail(new TransportError(codes[phase], `${ms} ms`));
    const { socket } = this.#request;
    if (phase === 'write' && socket) {
      this.#stopTimeout = watchForStall(socket, ms, late);
    } else {
      const timer = setTimeout(late, ms);
      this.#stopTimeout = () => clearTimeout(timer);
    }
  }

  #broken(error: NodeJS.ErrnoException): void {
    if (error instanceof TransportError) {
      this.#fail(error);
      return;
    }
    const detail = error.code ?? 'failed';
    if (!this.#connected) {
      this.#fail(new TransportError('device-unreachable', detail, { cause: error }));
      return;
    }
    const lost = new TransportError('connection-lost', detail, { cause: error });
    this.#fail(this.#request.reusedSocket ? new StaleConnection(lost) : lost);
  }

  #fail(reason: unknown): void {
    this.#over = true;
    this.#wake?.();
    this.#failed.reject(reason);
  }
}

function* slices(document: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < document.length; at += 64 * 1024) yield document.subarray(at, at + 64 * 1024);
}

/** The body of an answer, after a check that it is IPP. */
function checkedAnswer(response: IncomingMessage, body: Uint8Array): Uint8Array {
  const type = response.headers['content-type'] ?? 'none';
  if (response.statusCode === 401) throw new Unauthorized(response.headers['www-authenticate'] ?? '');
  if (response.statusCode !== 200) throw new TransportError('reply-invalid', `HTTP ${response.statusCode}`);
  if (!/^application\/ipp\b/i.test(type)) throw new TransportError('reply-invalid', 'the content is not IPP');
  return body;
}
