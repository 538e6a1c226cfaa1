/**
 * One client's connection to the virtual ZPL printer, read only as fast as the printer takes the bytes, and the client its
 * answers.
 *
 * Back-pressure is TCP's own. While the receive buffer is full the socket is not read, so that everything
 * behind, even a `~HS`, waits at the client, as with a real printer.
 */
import type { Socket } from 'node:net';
import { type ZplEvent, ZplStream, type ZplSyntax } from '../../zpl/stream.ts';
import { stretchIsOver } from '../machine/stretch.ts';

/** Bytes parsed before asking again whether there is room and time: a few bytes can ask for much work. */
const SLICE = 16;

/** What a printer has of formats that are not complete, of all connections together: summed up, since it is asked for at each slice. */
type Unfinished = { bytes: number; formats: number };

/** A ZPL stream, and the connection whose bytes it gets. */
class Framing {
  readonly #stream: ZplStream;
  readonly #sum: Unfinished;
  owner: PrinterConnection;
  /** Bytes that are in the sum. */
  held = 0;
  /** A format has begun, and is in the sum. */
  partial = false;
  #ended = false;

  constructor(owner: PrinterConnection, { syntax, formatLimit, unfinished }: ConnectionHost) {
    this.owner = owner;
    this.#sum = unfinished;
    this.#stream = new ZplStream(syntax, formatLimit, (event) => {
      this.#count();
      this.owner.handle(event);
    });
  }

  /** A format or command has begun and is not complete. */
  get unfinished(): boolean {
    return this.partial || this.held > 0;
  }

  push(bytes: Buffer): void {
    this.#stream.push(bytes);
    if (this.#ended) this.#stream.cancel();
    this.#count();
  }

  /** Forgets the format that is not complete. */
  cancel(): void {
    this.#stream.cancel();
    this.#count();
  }

  /** Nothing that comes after this counts, not even the rest of the slice that ended it. */
  end(): void {
    this.#ended = true;
    this.cancel();
  }

  #count(): void {
    const { held, partial } = this.#stream;
    this.#sum.bytes += held - this.held;
    this.#sum.formats += Number(partial) - Number(this.partial);
    this.held = held;
    this.partial = partial;
  }
}

export interface ConnectionHost {
  /** The stream that an ended connection left unfinished: the next bytes of any connection continue it. */
  left: Framing | undefined;
  readonly unfinished: Unfinished;
  readonly keepsPartial: boolean;
  readonly syntax: ZplSyntax;
  readonly formatLimit: number;
  /** Tells whether the printer takes bytes of this connection now. */
  accepts(connection: PrinterConnection): boolean;
  handle(connection: PrinterConnection, event: ZplEvent): void;
  /** The connection is read no further for want of room, perhaps in the middle of a format. */
  halted(): void;
  /** Called with bytes just read; returns those to be kept; calls `cut` if the connection is to be cut. */
  received(bytes: Buffer, cut: () => void): Buffer;
  closed(connection: PrinterConnection): unknown;
}

export class PrinterConnection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  #framing: Framing;
  #pending: Buffer[] = [];
  #pumping = false;
  /** Goes on in the next turn. */
  #later: NodeJS.Immediate | undefined;
  #halted = false;
  #ended = false;
  #dead = false;
  /** Bytes of this connection in complete formats that wait to be printed. */
  queued = 0;

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#framing = new Framing(this, host);
  }

  handle(event: ZplEvent): void {
    if (!this.#dead) this.#host.handle(this, event);
  }

  open(): void {
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => {
      this.#pending.push(this.#host.received(bytes, () => socket.resetAndDestroy()));
      this.pump();
    });
    socket.on('drain', () => this.pump());
    socket.on('end', () => this.#finish());
    socket.on('close', () => this.#finish());
    // A connection's errors are the client's business; 'close' follows.
    socket.on('error', () => undefined);
  }

  /** Bytes of this connection in the receive buffer. */
  get held(): number {
    return this.queued + this.#framing.held;
  }

  get localAddress(): string {
    return this.#socket.localAddress ?? '127.0.0.1';
  }

  /** Parses what has been read, as far as there is room, and reads on only when all of it is parsed. */
  pump(): void {
    if (this.#pumping || this.#dead || this.#later !== undefined) return;
    this.#pumping = true;
    this.#socket.cork();
    for (let bytes = this.#pending[0]; bytes && !this.#dead && this.#accepts(); bytes = this.#pending[0]) {
      this.#pending[0] = bytes.subarray(SLICE);
      if (bytes.length <= SLICE) this.#pending.shift();
      this.#goOn();
      this.#framing.push(bytes.subarray(0, SLICE));
      // Every connection has a slice of each stretch.
      if (!stretchIsOver()) continue;
      this.#later = setImmediate(() => {
        this.#later = undefined;
        this.pump();
      });
      break;
    }
    this.#pumping = false;
    this.#socket.uncork();
    if (this.#dead) return;
    const halted = this.#pending.length > 0 && !this.#host.accepts(this);
    if (halted && !this.#halted) this.#host.halted();
    this.#halted = halted;
    if (this.#pending.length > 0 || !this.#accepts()) this.#socket.pause();
    else this.#socket.resume();
    if (this.#ended && this.#pending.length === 0) this.#leave();
  }

  /** A client that does not read its answers is not read. */
  #accepts(): boolean {
    return !this.#socket.writableNeedDrain && this.#host.accepts(this);
  }

  /** Takes over what another connection left unfinished. */
  #goOn(): void {
    const { left } = this.#host;
    if (left === undefined || this.#framing.unfinished) return;
    this.#host.left = undefined;
    left.owner = this;
    this.#framing = left;
  }

  /** Forgets the format that is not complete. */
  cancelPartial(): void {
    this.#framing.cancel();
  }

  /** The client still takes answers: it has not gone. */
  get answers(): boolean {
    return this.#socket.writable;
  }

  reply(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  /** Power off: the connection breaks, and bytes that are not parsed yet are lost. */
  destroy(): void {
    this.#dead = true;
    clearImmediate(this.#later);
    this.#pending = [];
    this.#framing.end();
    this.#socket.resetAndDestroy();
    this.#host.closed(this);
  }

  /** The client sends no more; what it has sent still counts. */
  #finish(): void {
    this.#ended = true;
    this.pump();
  }

  #leave(): void {
    if (this.#host.keepsPartial && this.#framing.unfinished) {
      this.#host.left?.end();
      this.#host.left = this.#framing;
    } else this.#framing.end();
    this.#dead = true;
    this.#socket.end();
    this.#host.closed(this);
  }
}
