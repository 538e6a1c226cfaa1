/**
 * A ZPL printer that prints in no time: it counts labels and answers like a Zebra, and draws nothing. The virtual
 * printer rasterises some 12 labels a second and would be what is measured.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import {
  hostIdentification,
  hostQuery,
  hostStatus,
  type PrinterIdentity,
  sgdValue,
} from '../src/virtual/zpl/host-replies.ts';
import { now } from './figures.ts';

/** The commands that it looks for in the stream. Field data has these characters escaped: it matches none. */
const TOKEN = /\^XA|\^DF|\^ID|\^PQ(\d+)(?=[,^])|\^XZ|~HS|~HI|~HQES|! U1 getvar "([^"]{0,60})"/g;
/** More than the longest token. */
const TAIL = 80;

/** Times in ms, by the clock of `now`. */
interface LabelSinkEvents {
  /** The first byte of a label has come. */
  begin: [at: number];
  /** The last byte of a label has come; `labels` are all since the sink was made. */
  end: [at: number, labels: number];
}

export class LabelSink extends EventEmitter<LabelSinkEvents> {
  readonly #identity: PrinterIdentity;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #labels = 0;
  /** When the last label came. */
  lastAt = 0;
  /** How long it takes to answer, ms. */
  answerMs = 0;

  constructor(serial: string) {
    super();
    const media = { dpi: 203, width: 812, height: 1218 };
    this.#identity = { name: serial, serial, model: 'ZD421-203dpi', firmware: 'V93.21', ...media };
  }

  get serial(): string {
    return this.#identity.serial;
  }

  /** Labels printed since it was made: its odometer. */
  get labels(): number {
    return this.#labels;
  }

  /** Listens on a free port; resolves with its URI. */
  async start(host = '127.0.0.1'): Promise<string> {
    const server = createServer((socket) => this.#serve(socket)).listen(0, host);
    this.#server = server;
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return `socket://${host}:${address.port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    await once(server, 'close');
  }

  /** Resolves with the time at which the first byte of the next label comes. */
  async nextLabel(signal: AbortSignal): Promise<number> {
    const [at] = await once(this, 'begin', { signal });
    return at;
  }

  #serve(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let text = '';
    let copies = 1;
    let noLabel = false;
    socket.on('data', (bytes: Buffer) => {
      const at = now();
      text += bytes.toString('latin1');
      let end = 0;
      for (const token of text.matchAll(TOKEN)) {
        end = token.index + token[0].length;
        if (token[0] === '^XA') {
          copies = 1;
          noLabel = false;
          this.emit('begin', at);
        } else if (token[0] === '^DF' || token[0] === '^ID') {
          // A format that is stored, or deletes a stored one: no label comes out.
          noLabel = true;
        } else if (token[1] !== undefined) copies = Number(token[1]);
        else if (token[0] === '^XZ') {
          this.#labels += noLabel ? 0 : copies;
          this.lastAt = at;
          this.emit('end', at, this.#labels);
        } else this.#say(socket, this.#answer(token));
      }
      text = text.slice(Math.max(end, text.length - TAIL));
    });
  }

  #say(socket: Socket, answer: string): void {
    if (this.answerMs === 0) socket.write(answer, 'latin1');
    else setTimeout(() => socket.writable && socket.write(answer, 'latin1'), this.answerMs);
  }

  #answer(token: RegExpMatchArray): string {
    const state = {
      'media-empty': false,
      'marker-supply-empty': false,
      'cover-open': false,
      paused: false,
      formats: 0,
      bufferFull: false,
      partialFormat: false,
      remaining: 0,
      graphics: 0,
      odometer: this.#labels,
    };
    const identity = this.#identity;
    if (token[0] === '~HS') return hostStatus(state, identity.height);
    if (token[0] === '~HI') return hostIdentification(identity);
    if (token[0] === '~HQES') return hostQuery('ES', state, identity) ?? '';
    const address = { ip: '127.0.0.1', port: 0 };
    return `"${sgdValue(token[2] ?? '', state, identity, address, identity.height) ?? '?'}"`;
  }
}
