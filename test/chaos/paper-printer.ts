/**
 * A ZPL printer that records what is on its paper, label by label. It shares no parser with Platen.
 *
 *     bytes of all connections → one stream → format → waiting → under the head → on the paper
 *
 * It is as unkind as real printers are. All connections feed one stream, so a format that was cut off goes on
 * with the next connection's bytes, until `~JX` or `^XZ`: what is printed then carries two labels, and counts
 * as spoiled. Within a format no SGD question is answered. A format that recalls a stored format which the
 * printer does not have prints a spoiled label.
 */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostIdentification, hostQuery, hostStatus, sgdValue } from '../../src/virtual/zpl/host-replies.ts';
import { listening } from '../kit/wire/listening.ts';

export interface PaperPrinterOptions {
  serial: string;
  /** ms */
  labelTime: number;
  /** Time after which a question is answered, ms. */
  answerTime: number;
  /** Nothing is answered. */
  mute: boolean;
  /** `odometer.total_label_count` is known. */
  odometer: boolean;
  /** More connections than one are refused. */
  single: boolean;
  /** This machine's address in the printer's network; left out: loopback. */
  host?: string;
}

/** A label that came out, with the numbers that stand on it; a label fed by hand has none. */
export interface PaperLabel {
  ids: readonly string[];
  /** Why nobody can use it. */
  spoiled?: string;
  at: number;
}

interface Format {
  ids: string[];
  copies: number;
  spoiled?: string;
}

/** Bytes at the end of what has come that may be the beginning of a `WORD`. */
const LONGEST_WORD = 120;
const WORD = /\^XA|\^XZ|~(HS|HI|HQ[A-Z]{2}|JX|JA|[A-Z]{2})|! U1 getvar "([^"]{0,80})"\r\n/g;
const COUNTER = 'odometer.total_label_count';
/** What the labels of a run carry: the job's number, and the record's in it. */
const ID = /\^FD(K\d+R\d+Z)/g;

const jobOf = (id: string) => id.slice(0, id.indexOf('R'));

export class PaperPrinter {
  readonly options: PaperPrinterOptions;
  readonly #host: string;
  readonly paper: PaperLabel[] = [];
  #port = 0;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  #text = '';
  #format: string | undefined;
  #waiting: Format[] = [];
  #active: Format | undefined;
  #left = 0;
  #head: NodeJS.Timeout | undefined;
  readonly #stored = new Set<string>();
  #mediaOut = false;
  #stalled = false;
  #dropNext = 0;
  #cutAfter: number | undefined;
  /** Told once a label of another job comes than those that are to come out; that label is never read. */
  #keptOut: (() => void) | undefined;
  readonly #deaf = new Set<Socket>();
  #odometer = 1_000;
  /** How often labels were lost, by whatever fault. */
  lost = 0;
  /** A label was fed by hand, and nobody has been sure to notice yet. */
  fed = false;
  /** It has said that nothing of ours is to come out, and has had no label since. */
  toldRest = true;
  /** How often its counter was asked for, and how often on a connection that has brought labels. */
  counterAsked = 0;
  askedBySender = 0;
  readonly #senders = new WeakSet<Socket>();

  constructor(options: PaperPrinterOptions) {
    this.options = options;
    this.#host = options.host ?? '127.0.0.1';
  }

  get uri(): string {
    return `socket://${this.#host}:${this.#port}`;
  }

  /** Nothing that was sent is still to come out. */
  get atRest(): boolean {
    return this.#active === undefined && this.#waiting.length === 0;
  }

  describe(): string {
    const format = this.#format === undefined ? '' : `, ${this.#format.length} bytes of a format`;
    return `${this.#waiting.length} waiting, ${this.#left} under the head, odometer ${this.#odometer}${format}`;
  }

  async powerOn(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    if (this.options.single) server.maxConnections = 1;
    this.#server = server;
    this.#port = await listening(server, this.#port, this.#host);
  }

  /** Loses connections, what waits, the label under the head, and the stored formats; not the odometer. */
  async powerOff(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.#drop();
    this.#stored.clear();
    this.#text = '';
    this.#format = undefined;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    server.close();
    await once(server, 'close');
  }

  /** CANCEL at the panel: all that was taken and is not out is deleted. */
  cancel(): void {
    this.#drop();
  }

  /** 1: the next format is taken, but never printed. 0 takes that back. */
  dropNext(formats: 0 | 1): void {
    this.#dropNext = formats;
  }

  /** Feeds a label by hand. The odometer counts it. */
  feed(): void {
    this.fed = true;
    this.#out({ ids: [] });
  }

  /** Somebody else begins a label, and never ends it; in the middle of one of ours, it is none. */
  async half(): Promise<void> {
    if (this.#server === undefined || this.#format !== undefined) return;
    const socket = connect(this.#port, this.#host);
    // Its power may go meanwhile.
    socket.on('error', () => undefined);
    socket.end('^XA^FO10,10^FDK0R0Z^FS');
    await new Promise((closed) => void socket.once('close', closed));
  }

  media(there: boolean): void {
    this.#mediaOut = !there;
    this.#print();
  }

  /** Stops reading, and with that answering, or begins again. */
  stall(stalled: boolean): void {
    this.#stalled = stalled;
    for (const socket of this.#sockets) stalled ? socket.pause() : socket.resume();
  }

  /** After this many more bytes of labels, resets the connection that brings them; undefined: never. */
  cutAfter(bytes: number | undefined): void {
    this.#cutAfter = bytes;
  }

  /**
   * Reads nothing of the next label that belongs to another job than all that are still to come out, nor what follows it on its
   * connection: it is as if its sender had died before its first byte. Resolves when such a label has come, with what ends that
   * connection; undefined: none came in time.
   */
  async keepOutNextJob(ms: number): Promise<(() => void) | undefined> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#keptOut = () => resolve(true);
    const late = setTimeout(() => resolve(false), ms);
    const came = await promise;
    clearTimeout(late);
    this.#keptOut = undefined;
    return came ? () => this.#endDeaf() : undefined;
  }

  #endDeaf(): void {
    for (const socket of this.#deaf) socket.resetAndDestroy();
    this.#deaf.clear();
  }

  /** Ends all faults, and calls off those that wait for the next label. */
  async mend(): Promise<void> {
    this.#cutAfter = undefined;
    this.#dropNext = 0;
    this.stall(false);
    this.media(true);
    await this.powerOn();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (bytes: Buffer) => this.#read(socket, bytes));
    if (this.#stalled) socket.pause();
  }

  #read(socket: Socket, bytes: Buffer): void {
    // A connection that was stalled, and then cut, still gives what it had received beyond the cut.
    if (socket.destroyed || this.#deaf.has(socket)) return;
    let taken = bytes;
    if (this.#cutAfter !== undefined && (this.#format !== undefined || bytes.includes('^XA'))) {
      taken = bytes.subarray(0, this.#cutAfter);
      this.#cutAfter -= taken.length;
      if (this.#cutAfter === 0) {
        this.#cutAfter = undefined;
        socket.resetAndDestroy();
      }
    }
    const kept = this.#heard(socket, taken);
    this.#text += taken.subarray(0, kept).toString('latin1');
    let end = 0;
    for (const word of this.#text.matchAll(WORD)) {
      this.#keep(this.#text.slice(end, word.index));
      end = word.index + word[0].length;
      this.#word(socket, word);
    }
    const rest = Math.max(end, this.#text.length - LONGEST_WORD);
    this.#keep(this.#text.slice(end, rest));
    this.#text = this.#text.slice(rest);
  }

  /** How many of the bytes are read: none behind the beginning of a label that is kept out. */
  #heard(socket: Socket, bytes: Buffer): number {
    if (this.#keptOut === undefined || this.atRest) return bytes.length;
    const own = [...this.#waiting, ...(this.#active ? [this.#active] : [])].flatMap(({ ids }) => ids);
    const jobs = new Set(own.map(jobOf));
    const text = bytes.toString('latin1');
    for (const { 1: id = '', index } of text.matchAll(ID)) {
      if (jobs.has(jobOf(id))) continue;
      this.#deaf.add(socket);
      socket.pause();
      this.#keptOut();
      return Math.max(0, text.lastIndexOf('^XA', index));
    }
    return bytes.length;
  }

  #keep(text: string): void {
    if (this.#format !== undefined) this.#format += text;
  }

  #word(socket: Socket, [word, immediate, variable]: RegExpMatchArray): void {
    if (word === '^XA') this.#format ??= '';
    else if (word === '^XZ') {
      if (this.#format?.match(ID)) this.#senders.add(socket);
      if (this.#format !== undefined) this.#take(this.#format);
      this.#format = undefined;
    } else if (immediate === 'JX') this.#format = undefined;
    else if (immediate === 'JA') {
      this.#format = undefined;
      this.#drop();
    } else if (!this.options.mute) {
      const answer = this.#answer(immediate, variable);
      if (answer === undefined) return;
      if (variable === COUNTER && this.#senders.has(socket)) this.askedBySender++;
      const atRest = immediate === 'HS' && this.atRest;
      setTimeout(() => {
        if (socket.writable) socket.write(answer, 'latin1');
        this.toldRest ||= atRest && this.atRest;
      }, this.options.answerTime);
    }
  }

  #answer(immediate: string | undefined, variable: string | undefined): string | undefined {
    const { serial, odometer } = this.options;
    const identity = { name: serial, serial, model: 'ZD421-203dpi', firmware: 'V93.21' };
    const media = { ...identity, dpi: 203, width: 400, height: 200 };
    const state = {
      'media-empty': this.#mediaOut,
      'marker-supply-empty': false,
      'cover-open': false,
      paused: false,
      formats: this.#waiting.length,
      bufferFull: false,
      partialFormat: this.#format !== undefined,
      remaining: this.#left,
      graphics: 0,
      odometer: this.#odometer,
    };
    if (immediate === 'HS') return hostStatus(state, media.height);
    if (immediate === 'HI') return hostIdentification(media);
    if (immediate?.startsWith('HQ')) return hostQuery(immediate.slice(2), state, media);
    if (variable === undefined || this.#format !== undefined) return undefined;
    if (variable.startsWith('odometer.') && !odometer) return '"?"';
    if (variable === COUNTER) this.counterAsked++;
    const address = { ip: this.#host, port: this.#port };
    return `"${sgdValue(variable, state, media, address, media.height) ?? '?'}"`;
  }

  #take(format: string): void {
    this.toldRest = false;
    const stored = /\^DFR:(\w+)/.exec(format)?.[1];
    if (stored !== undefined) {
      this.#stored.add(stored);
      return;
    }
    const ids = [...new Set([...format.matchAll(ID)].map(([, id = '']) => id))];
    // A format that prints nothing: settings, or the end of a stored format.
    if (ids.length === 0) return;
    if (this.#dropNext > 0) {
      this.#dropNext--;
      this.lost++;
      return;
    }
    const recalled = /\^XFR:(\w+)/.exec(format)?.[1];
    const missing = recalled !== undefined && !this.#stored.has(recalled);
    const copies = Number(/\^PQ(\d+)/.exec(format)?.[1] ?? '1');
    const spoiled =
      ids.length > 1 ? 'two labels in one' : missing ? 'recalls a format that is not there' : undefined;
    this.#waiting.push({ ids, copies, ...(spoiled !== undefined && { spoiled }) });
    this.#print();
  }

  #drop(): void {
    if (!this.atRest) this.lost++;
    clearTimeout(this.#head);
    this.#head = undefined;
    this.#active = undefined;
    this.#left = 0;
    this.#waiting = [];
  }

  #print(): void {
    if (this.#head !== undefined || this.#mediaOut) return;
    if (this.#active === undefined) {
      this.#active = this.#waiting.shift();
      this.#left = this.#active?.copies ?? 0;
    }
    const format = this.#active;
    if (format === undefined) return;
    this.#head = setTimeout(() => {
      this.#head = undefined;
      // Without media the label under the head starts again.
      if (this.#mediaOut) return;
      if (--this.#left === 0) this.#active = undefined;
      this.#out(format);
      this.#print();
    }, this.options.labelTime);
  }

  #out({ ids, spoiled }: { ids: readonly string[]; spoiled?: string }): void {
    this.#odometer++;
    this.paper.push({ ids, at: Date.now(), ...(spoiled !== undefined && { spoiled }) });
  }
}
