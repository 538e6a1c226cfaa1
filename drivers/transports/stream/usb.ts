/**
 * A USB printer's character device (`/dev/usb/lpN`, Linux): `usb://<vendor>/<product>/…`, see `usb-sysfs.ts`.
 *
 * Each time a connection is opened, the address decides which node it is: after devices were plugged in anew, `lp0` may be
 * another printer.
 *
 * The device is opened non-blocking. If it is not ready, it is tried again after a pause. A blocking write to a printer without
 * paper would hold one of the few threads that all file access of the process shares, and four such printers would stop all
 * file access. The driver takes one piece, and answers `EAGAIN` until the device has this piece. A write of no bytes gets the
 * same answers. So it shows when the device has the last piece: to close earlier would cancel this piece (usblp.c,
 * `usblp_wwait`, `usblp_release`).
 *
 * As with TCP, a write that was cut short leaves half a label behind, so it ends the connection. A query that timed out leaves
 * the connection open, and what is still unread is thrown away before the next query.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Connection,
  type QueryOptions,
  TransportError,
  type TransportTimeouts,
} from '../../connection.ts';
import { codeOf, orAborted, Pauses } from '../pauses.ts';
import type { StreamTransport } from '../transport.ts';
import { openedInTime } from './opening.ts';
import { usbPrinters } from './usb-sysfs.ts';

/** The driver's own buffer, bytes. */
const PIECE = 8 * 1024;
/** Longer than any answer of a printer. All that has come is looked through with each piece, and a rogue one sends a byte at a time. */
const DEFAULT_REPLY_BYTES = 4 * 1024;
/** Most bytes that are thrown away before a query. A device that never stops talking cannot be asked. */
const MOST_STALE = 1024 * 1024;
/** Longest time, ms, that `close` waits for the writes that were asked for before it. */
const CLOSE_WRITES = 5_000;
const CLOSED = 'closed by the agent';

interface UsbRoots {
  sysfs: string;
  /** The directory of the nodes. */
  devices: string;
}

export const usbTransport: StreamTransport = usbTransportAt({ sysfs: '/sys', devices: '/dev/usb' });

/** The transport with other directories, for tests. */
export function usbTransportAt(roots: UsbRoots): StreamTransport {
  return {
    scheme: 'usb',
    takes: 'bytes',
    ofThisComputer: true,
    pluggedIn: true,
    check: (uri) => void wantedDevice(uri),
    open: (uri, timeouts, signal) => openUsb(roots, uri, timeouts, signal),
  };
}

async function openUsb(
  roots: UsbRoots,
  uri: URL,
  timeouts: TransportTimeouts,
  signal: AbortSignal,
): Promise<Connection> {
  const wanted = wantedDevice(uri);
  signal.throwIfAborted();
  // There is a time limit because the kernel makes every caller wait while it resets a device.
  return await openedInTime(uri.href, () => openedAt(roots, wanted, timeouts), timeouts, signal);
}

async function openedAt(
  roots: UsbRoots,
  wanted: ReturnType<typeof wantedDevice>,
  timeouts: TransportTimeouts,
): Promise<UsbConnection> {
  const there = (await usbPrinters(roots.sysfs)).filter(wanted);
  const [printer] = there;
  // A device with two printer interfaces is listed twice with the same port. Its first interface is used.
  if (printer === undefined) throw new TransportError('device-unreachable', 'it is not plugged in');
  if (there.some(({ port }) => port !== printer.port)) {
    throw new TransportError('device-unreachable', 'two devices have its serial number');
  }
  const node = join(roots.devices, printer.node);
  try {
    const file = await open(node, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY);
    return new UsbConnection(file, timeouts);
  } catch (error) {
    throw new TransportError('device-unreachable', `${printer.node}, ${codeOf(error)}`, { cause: error });
  }
}

/** @throws TransportError `address-invalid` */
function wantedDevice(uri: URL): (printer: Awaited<ReturnType<typeof usbPrinters>>[number]) => boolean {
  const match = /^\/([0-9a-f]{4})\/(serial|port)\/([^/]+)$/i.exec(uri.pathname);
  const [, product, by, text] = match ?? [];
  if (product === undefined || text === undefined || !/^[0-9a-f]{4}$/i.test(uri.host)) {
    throw new TransportError('address-invalid', 'expected usb://vendor/product/serial/… or …/port/…');
  }
  const value = decoded(text).toUpperCase();
  return (printer) =>
    printer.vendor === uri.host.toLowerCase() &&
    printer.product === product.toLowerCase() &&
    (by?.toLowerCase() === 'serial' ? printer.serial : printer.port)?.toUpperCase() === value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TransportError('address-invalid', 'a serial number that is not percent-encoded');
  }
}

class UsbConnection implements Connection {
  readonly closed: AbortSignal;
  readonly #closed = new AbortController();
  readonly #file: FileHandle;
  readonly #timeouts: TransportTimeouts;
  /** Resolves when all earlier calls are done. */
  #turn: Promise<unknown> = Promise.resolve();
  #gone: TransportError | undefined;
  #closing: Promise<void> | undefined;

  constructor(file: FileHandle, timeouts: TransportTimeouts) {
    this.#file = file;
    this.#timeouts = timeouts;
    this.closed = this.#closed.signal;
  }

  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#inTurn(signal, () => this.#writeAll(bytes, this.#timeouts.write, signal));
  }

  query(
    bytes: Uint8Array,
    complete: (reply: Uint8Array) => boolean,
    options: QueryOptions,
  ): Promise<Uint8Array> {
    const { signal, timeoutMs = this.#timeouts.query, maxBytes = DEFAULT_REPLY_BYTES } = options;
    return this.#inTurn(signal, async () => {
      const deadline = performance.now() + timeoutMs;
      await this.#drain(signal);
      try {
        await this.#writeAll(bytes, timeoutMs, signal);
      } catch (error) {
        // A device that does not take the query does not answer it either.
        if (!(error instanceof TransportError) || error.code !== 'write-timeout') throw error;
        throw new TransportError('query-timeout', `${timeoutMs} ms`);
      }
      const piece = Buffer.alloc(PIECE);
      let reply = Buffer.alloc(0);
      const pauses = new Pauses();
      for (;;) {
        const got = await this.#read(piece);
        if (got > 0) {
          if (reply.length + got > maxBytes) {
            throw new TransportError('reply-too-long', `more than ${maxBytes} bytes`);
          }
          reply = Buffer.concat([reply, piece.subarray(0, got)]);
          if (complete(reply)) return reply;
          pauses.reset();
        }
        if (performance.now() > deadline) throw new TransportError('query-timeout', `${timeoutMs} ms`);
        if (got === 0) await pauses.next(signal);
        else signal.throwIfAborted();
        if (this.#gone) throw this.#gone;
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    const limit = new AbortController();
    await Promise.race([
      this.#turn,
      wait(CLOSE_WRITES, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
    this.#lose(CLOSED);
    // No read or write blocks, so closing does not wait for the device either.
    await this.#file.close().catch(() => undefined);
  }

  /** @param timeout longest time, ms, in which the device takes no byte */
  async #writeAll(bytes: Uint8Array, timeout: number, signal: AbortSignal): Promise<void> {
    let at = 0;
    let last = performance.now();
    const pauses = new Pauses();
    // The last round writes no bytes: it succeeds once the device has the last piece.
    for (let done = false; !done; ) {
      const taken = await this.#offer(bytes, at);
      done = at === bytes.length && taken !== undefined;
      if (taken !== undefined) {
        at += taken;
        last = performance.now();
        pauses.reset();
        if (signal.aborted && !done) this.#lose('a write was aborted');
      } else {
        if (performance.now() - last > timeout) {
          if (at > 0) this.#lose('a write timed out');
          throw new TransportError('write-timeout', `nothing taken for ${timeout} ms`);
        }
        await pauses.next(signal).catch((error: unknown) => {
          if (at > 0) this.#lose('a write was aborted');
          throw error;
        });
      }
      if (!done) signal.throwIfAborted();
      if (this.#gone) throw this.#gone;
    }
  }

  /** How many bytes were taken; undefined: the device is not ready. */
  async #offer(bytes: Uint8Array, at: number): Promise<number | undefined> {
    const length = Math.min(PIECE, bytes.length - at);
    try {
      // Node does not write an empty buffer at all, but it does write zero bytes of a larger one.
      const [buffer, offset] = length === 0 ? [NOTHING, 0] : [bytes, at];
      const { bytesWritten } = await this.#file.write(buffer, offset, length);
      return length > 0 && bytesWritten === 0 ? undefined : bytesWritten;
    } catch (error) {
      return this.#notReady(error);
    }
  }

  /**
   * How many bytes came; 0: none so far. If a read returns no bytes, this is either an empty packet, which many printers send
   * when they have no answer, or the end of the connection. A write of no bytes tells which of the two.
   */
  async #read(into: Buffer): Promise<number> {
    try {
      const { bytesRead } = await this.#file.read(into, 0, into.length, null);
      if (bytesRead === 0) await this.#offer(NOTHING, 1);
      return bytesRead;
    } catch (error) {
      return this.#notReady(error) ?? 0;
    }
  }

  #notReady(error: unknown): undefined {
    if (error === this.#gone && this.#gone !== undefined) throw this.#gone;
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw this.#lose(codeOf(error), error);
  }

  async #drain(signal: AbortSignal): Promise<void> {
    const piece = Buffer.alloc(PIECE);
    for (let total = 0, got = -1; got !== 0; total += got) {
      if (total > MOST_STALE) throw new TransportError('reply-too-long', 'it does not stop talking');
      got = await this.#read(piece);
      signal.throwIfAborted();
    }
  }

  #inTurn<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(this.#gone ?? new TransportError('connection-lost', CLOSED));
    const turn = this.#turn.then(async () => {
      signal.throwIfAborted();
      if (this.#gone) throw this.#gone;
      return await task();
    });
    this.#turn = turn.catch(() => undefined);
    return orAborted(turn, signal);
  }

  #lose(detail: string, cause?: unknown): TransportError {
    this.#gone ??= new TransportError('connection-lost', detail, cause === undefined ? {} : { cause });
    this.#closed.abort(this.#gone);
    return this.#gone;
  }
}

const NOTHING = Buffer.alloc(1);
