/**
 * Raw TCP, usually port 9100: `socket://host[:port]`. Bytes go to the device as they are, and answers come back on the same
 * connection.
 *
 * Back-pressure: a write is handed over in small pieces, and each piece is awaited. So a device that takes data slowly is seen
 * to make progress, and the write timeout counts only time in which the device takes nothing. A write resolves when the kernel
 * has taken its last byte. TCP does not say how much of this is already in the device. While a piece waits, the kernel's send
 * queue shows whether the device takes anything (see `send-queue.ts`).
 *
 * What becomes of the connection if a call is cut short:
 * - A write is aborted or timed out before its first piece was handed over: the connection is as before.
 * - A write is aborted or timed out after that: the stream is broken off in the middle. So the connection is destroyed
 *   (`closed` aborts), and nothing more can be sent behind half a label.
 * - A query is aborted or timed out: the connection stays. The answer may still come. If it comes before the next query, it is
 *   thrown away. If it comes later, nobody can tell it from the next query's answer: callers that query again after a timeout
 *   have to allow for that.
 *
 * Bytes that arrive while no query is under way (alerts, late answers) are read and thrown away, so they can
 * neither fill memory nor block the device.
 */
import { once } from 'node:events';
import { isIPv6, connect as netConnect, type Socket } from 'node:net';
import { hostAndPort } from '../../address.ts';
import {
  type Connection,
  type QueryOptions,
  TransportError,
  type TransportTimeouts,
} from '../../connection.ts';
import { watchForStall } from '../../send-queue.ts';
import { orAborted } from '../pauses.ts';
import type { StreamTransport } from '../transport.ts';

const DEFAULT_PORT = 9100;
/** Bytes handed over at once. Pieces are small, so that slow devices show progress; with 4 KB, 500 MB/s still pass. */
const PIECE = 4 * 1024;
/** Longer than any answer of a printer. All that has come is looked through with each piece, and a rogue one sends a byte at a time. */
const DEFAULT_REPLY_BYTES = 4 * 1024;
/** Idle time, ms, after which the kernel begins to send keep-alive probes. */
const KEEP_ALIVE_AFTER = 10_000;
/** Longest time, ms, that `close` waits for the writes that were asked for before it. */
const CLOSE_WRITES = 5_000;
/** Longest time, ms, that `close` waits, after its FIN, for the device to close too. */
const CLOSE_LINGER = 2_000;
const CLOSED = 'closed by the agent';

export const tcpTransport: StreamTransport = {
  scheme: 'socket',
  takes: 'bytes',
  dnsSd: { service: '_pdl-datastream._tcp', order: 2, address: socketAddress },
  check: (uri) => void hostAndPort(uri, DEFAULT_PORT),
  open: (uri, timeouts, signal) => openTcp(uri, timeouts, signal),
};

/** @param host bracketed, if it is IPv6 */
export function socketAddress(host: string, port = DEFAULT_PORT): string {
  return `socket://${host}:${port}`;
}

async function openTcp(uri: URL, timeouts: TransportTimeouts, signal: AbortSignal): Promise<Connection> {
  const { host, port } = hostAndPort(uri, DEFAULT_PORT);
  signal.throwIfAborted();
  const socket = netConnect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER,
    // If a name has several addresses, Node gives each 250 ms. A printer that is waking up needs longer.
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.floor(timeouts.connect / 3)),
  });
  const place = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(new TransportError('connect-timeout', `${place}, ${timeouts.connect} ms`)),
    timeouts.connect,
  );
  const onAbort = () => reject(signal.reason);
  const onError = (error: NodeJS.ErrnoException) =>
    reject(new TransportError('device-unreachable', `${place}, ${error.code ?? 'failed'}`, { cause: error }));
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', resolve).on('error', onError);
  try {
    await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
  // The connection listens before this listener is removed, so that no error is missed in between.
  const connection = new TcpConnection(socket, timeouts);
  socket.off('error', onError);
  return connection;
}

interface Collector {
  take(bytes: Uint8Array): void;
}

class TcpConnection implements Connection {
  readonly closed: AbortSignal;
  readonly #closed = new AbortController();
  readonly #socket: Socket;
  readonly #timeouts: TransportTimeouts;
  /** Resolves when all earlier calls are done; null: there are none. */
  #turn: Promise<void> | null = null;
  /** Why nothing can be sent any more. */
  #gone: TransportError | undefined;
  #closing: Promise<void> | undefined;
  #collector: Collector | undefined;

  constructor(socket: Socket, timeouts: TransportTimeouts) {
    this.#socket = socket;
    this.#timeouts = timeouts;
    this.closed = this.#closed.signal;
    socket.on('data', (bytes: Buffer) => this.#collector?.take(bytes));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#lose(error.code ?? 'failed', error));
    socket.on('end', () => this.#lose('the device closed it'));
    socket.on('close', () => this.#lose('closed'));
    // The socket may have closed since it was connected.
    if (socket.destroyed) this.#lose('closed');
  }

  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#inTurn(signal, async () => {
      for (let at = 0; at < bytes.length; at += PIECE) {
        if (at > 0 && signal.aborted) this.#lose('a write was aborted');
        signal.throwIfAborted();
        const taking = this.#hand(bytes.subarray(at, at + PIECE), signal);
        if (taking !== null) await taking;
      }
    });
  }

  query(
    bytes: Uint8Array,
    complete: (reply: Uint8Array) => boolean,
    options: QueryOptions,
  ): Promise<Uint8Array> {
    const { signal, timeoutMs = this.#timeouts.query, maxBytes = DEFAULT_REPLY_BYTES } = options;
    return this.#inTurn(signal, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      const parts = new ReplyBuffer(maxBytes);
      this.#collector = {
        take: (received) => {
          try {
            const reply = parts.add(received);
            if (reply === undefined) {
              reject(new TransportError('reply-too-long', `more than ${maxBytes} bytes`));
            } else if (complete(reply)) resolve(Uint8Array.from(reply));
          } catch (error) {
            reject(error);
          }
        },
      };
      const late = () => reject(new TransportError('query-timeout', `${timeoutMs} ms`));
      const timer = setTimeout(late, timeoutMs);
      try {
        // Not awaited: a device that takes no data does not answer either, so the query's timeout covers both.
        if (bytes.length > 0) this.#socket.write(bytes);
        return await this.#watched(promise, reject, signal);
      } finally {
        clearTimeout(timer);
        this.#collector = undefined;
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  reset(): void {
    this.#lose(CLOSED);
  }

  async #shut(): Promise<void> {
    const socket = this.#socket;
    if (!socket.destroyed) {
      if (this.#turn !== null) await forAtMost(CLOSE_WRITES, this.#turn);
      this.#gone ??= new TransportError('connection-lost', CLOSED);
      const ended = once(socket, 'close').then(
        () => undefined,
        () => undefined,
      );
      // FIN goes out behind the last byte. Reading goes on, because unread bytes would make the kernel answer with RST. Some
      // devices then throw away what they have not processed yet.
      socket.end();
      await forAtMost(CLOSE_LINGER, ended);
      socket.destroy();
    }
    this.#lose(CLOSED);
  }

  /** Hands one piece to the kernel; null: the kernel took it at once, as is usual. */
  #hand(piece: Uint8Array, signal: AbortSignal): Promise<void> | null {
    const socket = this.#socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // An error is not handled here: the socket's 'error' event follows and reports it.
    socket.write(piece, (error) => {
      if (!error) resolve();
    });
    if (socket.writableLength === 0 && !socket.destroyed && socket.errored === null) return null;
    return this.#taken(promise, reject, signal);
  }

  async #taken(
    promise: Promise<void>,
    reject: (reason: unknown) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const stop = watchForStall(this.#socket, this.#timeouts.write, () => {
      reject(new TransportError('write-timeout', `nothing taken for ${this.#timeouts.write} ms`));
      this.#lose('a write timed out');
    });
    try {
      await this.#watched(promise, reject, signal, () => this.#lose('a write was aborted'));
    } finally {
      stop();
    }
  }

  /** Waits for `promise`, but only until `signal` is aborted or the connection is lost. */
  async #watched<T>(
    promise: Promise<T>,
    reject: (reason: unknown) => void,
    signal: AbortSignal,
    onAborted?: () => void,
  ): Promise<T> {
    const onAbort = () => {
      reject(signal.reason);
      onAborted?.();
    };
    const onClosed = () => reject(this.#gone);
    signal.addEventListener('abort', onAbort, { once: true });
    this.closed.addEventListener('abort', onClosed, { once: true });
    if (this.closed.aborted) onClosed();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.closed.removeEventListener('abort', onClosed);
    }
  }

  /** Runs calls one after the other. If a waiting call is aborted, the order of the others does not change. */
  async #inTurn<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#gone) throw this.#gone;
    if (this.#closing) throw new TransportError('connection-lost', CLOSED);
    const before = this.#turn;
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    const turn = before === null ? mine : before.then(() => mine);
    this.#turn = turn;
    try {
      if (before !== null) {
        await orAborted(before, signal);
        if (this.#gone) throw this.#gone;
      }
      return await task();
    } finally {
      done();
      if (this.#turn === turn) this.#turn = null;
    }
  }

  #lose(detail: string, cause?: Error): void {
    this.#gone ??= new TransportError('connection-lost', detail, cause && { cause });
    if (!this.#socket.destroyed) {
      // Sends RST. After a plain close, the kernel would go on delivering its buffered bytes for minutes. If the network was
      // interrupted, they could arrive even after the same bytes were sent again on a new connection.
      this.#socket.resetAndDestroy();
      this.#socket.destroy();
    }
    this.#closed.abort(this.#gone);
  }
}

/** Collects an answer in one growing buffer, up to a limit. */
class ReplyBuffer {
  readonly #limit: number;
  #bytes = Buffer.alloc(1024);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What has arrived so far, valid until the next call; undefined: more than the limit. */
  add(received: Uint8Array): Uint8Array | undefined {
    const length = this.#length + received.length;
    if (length > this.#limit) return undefined;
    if (length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(received, this.#length);
    this.#length = length;
    return this.#bytes.subarray(0, length);
  }
}

/** Waits for `promise` (which never rejects), and goes on after `ms`. */
async function forAtMost(ms: number, promise: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
