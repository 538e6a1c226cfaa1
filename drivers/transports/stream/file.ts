/**
 * A file or a device node: `file:///dev/lp0`, `file:///var/spool/labels.zpl`, `file:///run/labels` (a FIFO).
 * It is only written to: nothing is ever read, and no query is written.
 *
 * Bytes are appended to a regular file, and are on the disk before they count as written. A character device or FIFO takes
 * them as they come. The path has to exist: otherwise, if a device is unplugged, a file would be made in place of its node.
 * Symbolic links are followed, because udev's names for devices are links. A link must not lead to a directory, a block device
 * or a socket.
 *
 * Everything is opened non-blocking. A FIFO without a reader is like a printer that is off. If the reader of a FIFO does not
 * read, the write fails after its timeout. A regular file can hang all the same, on a network file system. Then the write is
 * given up, and its thread is lost until the system call returns.
 *
 * A write that was cut short leaves a part of a label behind, so it ends the connection.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Connection, TransportError, type TransportTimeouts } from '../../connection.ts';
import { codeOf, orAborted, Pauses, within } from '../pauses.ts';
import type { StreamTransport } from '../transport.ts';
import { openedInTime } from './opening.ts';

const PIECE = 64 * 1024;
/** Longest time, ms, that `close` waits for the writes that were asked for before it. */
const CLOSE_WRITES = 5_000;
const CLOSED = 'closed by the agent';
const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;

export const fileTransport: StreamTransport = {
  scheme: 'file',
  takes: 'bytes',
  ofThisComputer: true,
  check: (uri) => void pathOf(uri),
  open: openFile,
};

async function openFile(uri: URL, timeouts: TransportTimeouts, signal: AbortSignal): Promise<Connection> {
  const path = pathOf(uri);
  signal.throwIfAborted();
  try {
    return await openedInTime(uri.href, () => openedAt(path, timeouts), timeouts, signal);
  } catch (error) {
    if (error instanceof TransportError || signal.aborted) throw error;
    throw new TransportError('device-unreachable', WHY[codeOf(error)] ?? codeOf(error), { cause: error });
  }
}

async function openedAt(path: string, timeouts: TransportTimeouts): Promise<FileConnection> {
  const file = await open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);
  try {
    return new FileConnection(file, kindOf(await file.stat()), timeouts);
  } catch (error) {
    await file.close();
    throw error;
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENXIO: 'nobody reads it',
  EISDIR: 'it is a directory',
};

/** @throws TransportError `address-invalid` */
function pathOf(uri: URL): string {
  const refuse = (what: string, cause?: unknown) => {
    throw new TransportError('address-invalid', what, cause === undefined ? {} : { cause });
  };
  if (uri.host !== '' || uri.search !== '' || uri.hash !== '') refuse('expected file:///path');
  try {
    return fileURLToPath(uri);
  } catch (error) {
    return refuse('expected file:///path', error) ?? '';
  }
}

/** @throws TransportError `device-unreachable` for a directory, block device or socket */
function kindOf(stats: Stats): 'regular' | 'device' {
  if (stats.isFile()) return 'regular';
  if (stats.isCharacterDevice() || stats.isFIFO()) return 'device';
  throw new TransportError('device-unreachable', 'it is no file, character device or FIFO');
}

class FileConnection implements Connection {
  readonly closed: AbortSignal;
  readonly #closed = new AbortController();
  readonly #file: FileHandle;
  readonly #kind: 'regular' | 'device';
  readonly #timeouts: TransportTimeouts;
  /** Resolves when all earlier calls are done. */
  #turn: Promise<unknown> = Promise.resolve();
  #gone: TransportError | undefined;
  #closing: Promise<void> | undefined;

  /** No device reads a regular file while it is written, so none holds a part of a label. */
  get inert(): boolean {
    return this.#kind === 'regular';
  }

  constructor(file: FileHandle, kind: 'regular' | 'device', timeouts: TransportTimeouts) {
    this.#file = file;
    this.#kind = kind;
    this.#timeouts = timeouts;
    this.closed = this.#closed.signal;
  }

  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#closing) return Promise.reject(this.#gone ?? new TransportError('connection-lost', CLOSED));
    const turn = this.#turn.then(async () => {
      signal.throwIfAborted();
      if (this.#gone) throw this.#gone;
      await this.#writeAll(bytes, signal);
    });
    this.#turn = turn.catch(() => undefined);
    return orAborted(turn, signal);
  }

  /** Always rejects: a file never answers, and the query would end up in the file. */
  query(): Promise<Uint8Array> {
    return Promise.reject(this.#gone ?? new TransportError('query-timeout', 'a file does not answer'));
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    await within(this.#turn, CLOSE_WRITES, () => new Error('late')).catch(() => undefined);
    this.#lose(CLOSED);
    // Not awaited: if writing hangs, closing may hang too.
    this.#file.close().catch(() => undefined);
  }

  async #writeAll(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const { write } = this.#timeouts;
    const late = () => new TransportError('write-timeout', `nothing taken for ${write} ms`);
    const pauses = new Pauses();
    let at = 0;
    let last = performance.now();
    try {
      while (at < bytes.length) {
        const taken = await within(this.#offer(bytes.subarray(at, at + PIECE)), write, late);
        if (taken > 0) {
          at += taken;
          last = performance.now();
          pauses.reset();
          if (at < bytes.length) signal.throwIfAborted();
        } else {
          if (performance.now() - last > write) throw late();
          await pauses.next(signal);
        }
      }
      if (this.#kind === 'regular') await within(this.#file.datasync(), write, late);
    } catch (error) {
      if (signal.aborted) {
        if (at > 0) this.#lose('a write was aborted');
        throw signal.reason;
      }
      if (!(error instanceof TransportError)) throw this.#lose(codeOf(error), error);
      this.#lose('a write timed out');
      throw error;
    }
  }

  /** How many bytes were taken; 0: the device is not ready. */
  async #offer(piece: Uint8Array): Promise<number> {
    try {
      return (await this.#file.write(piece)).bytesWritten;
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return 0;
      throw error;
    }
  }

  #lose(detail: string, cause?: unknown): TransportError {
    this.#gone ??= new TransportError('connection-lost', detail, cause === undefined ? {} : { cause });
    this.#closed.abort(this.#gone);
    return this.#gone;
  }
}
