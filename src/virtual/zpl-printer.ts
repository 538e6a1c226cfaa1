/**
 * A label printer that speaks ZPL on a TCP port and prints PNG files: a printer to try things out with, and one
 * that has every fault a test asks for.
 *
 * Formats wait in the receive buffer as they came; the next one is imaged while the current batch prints:
 *
 *     socket → framing → buffer (raw) → next (imaged) → active batch → label on disk
 *
 * A label is out when its file has its name, and only then do `~HS` and the odometer say so. Power off loses the
 * buffer and the label under the head, and never half a file.
 */
import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Logger } from '../log.ts';
import { downloadedGraphic, GraphicError } from './graphic-field.ts';
import {
  hostIdentification,
  hostQuery,
  hostStatus,
  type PrinterIdentity,
  type PrinterState,
  sgdValue,
} from './host-replies.ts';
import { isSerial, type LabelPlan, labelZpl, planLabel } from './label-plan.ts';
import { LabelTray } from './label-tray.ts';
import { type ConnectionHost, PrinterConnection } from './printer-connection.ts';
import { objectName, PrinterMemory } from './printer-memory.ts';
import { type RasterReply, rasterPool } from './raster-pool.ts';
import { defaultSyntax, type ZplEvent, type ZplFormat } from './zpl-stream.ts';

export interface VirtualZplPrinterOptions {
  /** What the printer calls itself. */
  readonly name: string;
  /** TCP port; 0 (default): any free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Where labels are written; made if it is not there. */
  readonly outDir: string;
  readonly dpi: 203 | 300 | 600;
  /** Media, mm. */
  readonly width: number;
  readonly height: number;
  /** Inches per second; 0 or Infinity (default): as fast as it can. */
  readonly speed?: number;
  /** Default: made up once, and kept in the directory. */
  readonly serial?: string;
  readonly model?: string;
  /** False: no query is answered, as over a one-way interface. */
  readonly answers?: boolean;
  /** Receive buffer, bytes; default 1 MiB. */
  readonly bufferSize?: number;
  /** Largest format or download, bytes; default 8 MiB. */
  readonly formatLimit?: number;
  /** Memory for stored formats and graphics, bytes; default 16 MiB. */
  readonly storage?: number;
  readonly logger?: Logger;
}

export interface PrintedLabel {
  /** The odometer's reading with this label, from 1. */
  readonly number: number;
  /** Paths of the PNG, and of the ZPL that made it. */
  readonly file: string;
  readonly rawFile: string;
  /** Why the picture is crossed out; empty for a good label. */
  readonly faults: readonly string[];
}

export interface PrinterFaults {
  mediaOut: boolean;
  ribbonOut: boolean;
  headOpen: boolean;
  paused: boolean;
}

export interface VirtualZplPrinterEvents {
  label: [PrintedLabel];
  received: [Buffer];
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  status: [PrinterState & { fault?: string }];
}

interface Waiting {
  readonly from: PrinterConnection;
  readonly bytes: number;
  readonly content: ZplFormat | { name: string; params: Buffer };
}

interface Batch {
  readonly plan: LabelPlan;
  readonly item: Waiting;
  readonly raw: Buffer;
  printed: number;
  canceled: boolean;
  picture: { serial: number; reply: Promise<RasterReply> } | undefined;
}

const DOTS_PER_MM = { 203: 8, 300: 12, 600: 24 } as const;
const FIRMWARE = 'V92.21.39Z';
/** `~HS` counts formats in three digits. */
const MAX_FORMATS = 998;
const MAX_CONNECTIONS = 64;

export class VirtualZplPrinter extends EventEmitter<VirtualZplPrinterEvents> implements ConnectionHost {
  readonly syntax = defaultSyntax();
  readonly formatLimit: number;
  /** Whether queries are answered. */
  answers: boolean;
  readonly #options: VirtualZplPrinterOptions;
  readonly #dpmm: number;
  readonly #tray: LabelTray;
  readonly #memory: PrinterMemory;
  readonly #connections = new Set<PrinterConnection>();
  readonly #faults: PrinterFaults = { mediaOut: false, ribbonOut: false, headOpen: false, paused: false };
  #port: number;
  #started = false;
  #server: Server | undefined;
  #power: AbortController | undefined;
  #loop: Promise<void> = Promise.resolve();
  /** Power changes follow one another. */
  #switching: Promise<void> = Promise.resolve();
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #next: Batch | undefined;
  #active: Batch | undefined;
  #stalled = false;
  #dropAfter: number | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: VirtualZplPrinterOptions) {
    super();
    this.#options = options;
    this.#port = options.port ?? 0;
    this.#dpmm = DOTS_PER_MM[options.dpi];
    this.formatLimit = options.formatLimit ?? 8 * 1024 * 1024;
    this.answers = options.answers ?? true;
    this.#tray = new LabelTray(options.outDir);
    this.#memory = new PrinterMemory(options.storage ?? 16 * 1024 * 1024);
  }

  /** The TCP port it listens on, or will listen on; 0 before the first start with port 0. */
  get port(): number {
    return this.#port;
  }

  get odometer(): number {
    return this.#tray.odometer;
  }

  /** @throws LabelTrayError when the directory cannot be used; or the error of listening. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    rasterPool.acquire();
    try {
      await this.#tray.open(this.#options.serial);
      await this.powerOn();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    await this.powerOff();
    await this.#tray.close();
    await rasterPool.release();
  }

  /** Loses connections, receive buffer and the label under the head; resolves when the port is closed. */
  powerOff(): Promise<void> {
    return this.#switch(() => this.#off());
  }

  powerOn(): Promise<void> {
    return this.#switch(() => this.#on());
  }

  /** Makes or clears faults. With media or ribbon out or the head open, the label under the head starts again. */
  set(faults: Partial<PrinterFaults>): void {
    Object.assign(this.#faults, faults);
    this.#changed();
  }

  /** Cuts the connection over which the `bytes`th byte from now comes, right after that byte. */
  dropConnectionAfter(bytes: number): void {
    this.#dropAfter = bytes;
  }

  /** Stops reading from all connections, until {@link resume}. */
  stall(): void {
    this.#stalled = true;
    this.#pump();
  }

  resume(): void {
    this.#stalled = false;
    this.#pump();
  }

  state(): PrinterState {
    const formats = this.#queue.length + (this.#next ? 1 : 0);
    return {
      ...this.#faults,
      formats,
      bufferFull: this.#full(),
      partialFormat: [...this.#connections].some((connection) => connection.partial),
      remaining: this.#active ? this.#active.plan.quantity - this.#active.printed : 0,
      graphics: this.#memory.graphics,
      odometer: this.#tray.odometer,
    };
  }

  identity(): PrinterIdentity {
    const { name, dpi, width, height, model = `ZT411-${dpi}dpi` } = this.#options;
    return {
      name,
      serial: this.#tray.serial,
      model,
      firmware: FIRMWARE,
      dpi,
      dpmm: this.#dpmm,
      width: Math.round(width * this.#dpmm),
      height: Math.round(height * this.#dpmm),
    };
  }

  // ConnectionHost

  accepts(connection: PrinterConnection): boolean {
    if (this.#stalled) return false;
    // Who holds nothing of the buffer may still ask; and what is not complete must be able to become complete.
    return !(this.#full() && connection.held > 0 && this.#queue.length > 0);
  }

  received(bytes: Buffer): number | null {
    this.emit('received', bytes);
    if (this.#dropAfter === undefined) return null;
    this.#dropAfter -= bytes.length;
    if (this.#dropAfter > 0) return null;
    const keep = bytes.length + this.#dropAfter;
    this.#dropAfter = undefined;
    return keep;
  }

  closed(connection: PrinterConnection): void {
    this.#connections.delete(connection);
  }

  handle(from: PrinterConnection, event: ZplEvent): void {
    if (event.kind === 'format') {
      this.#enqueue({ from, bytes: event.format.raw.length, content: event.format });
    } else if (event.kind === 'control') this.#control(from, event.name, event.params);
    else if (event.kind === 'sgd') this.#sgd(from, event);
    else this.#report(`${event.bytes} bytes discarded: over the limit of ${this.formatLimit} for one format`);
  }

  // Power

  #switch(change: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(change);
    this.#switching = done.catch(() => undefined);
    return done;
  }

  async #on(): Promise<void> {
    if (this.#power || !this.#started) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const connection = new PrinterConnection(socket, this);
      this.#connections.add(connection);
      connection.open();
      connection.pump();
    });
    server.maxConnections = MAX_CONNECTIONS;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(this.#port, this.#options.host ?? '127.0.0.1', resolve);
    await promise;
    server.off('error', reject);
    server.on('error', (error) => this.#report(error.message));
    const address = server.address();
    if (address && typeof address === 'object') this.#port = address.port;
    this.#server = server;
    const power = new AbortController();
    this.#power = power;
    this.#loop = this.#run(power.signal).catch((error: unknown) => {
      if (!power.signal.aborted) this.#report(String(error));
    });
    this.#changed();
  }

  async #off(): Promise<void> {
    const server = this.#server;
    if (!this.#power || !server) return;
    this.#power.abort();
    this.#power = undefined;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of [...this.#connections]) connection.destroy();
    this.#clear();
    this.#wake();
    // A label whose file is being written is out: it is finished and counted.
    await this.#loop;
    await closed;
    this.#active = undefined;
    this.#faults.paused = false;
    this.#memory.powerLoss();
    Object.assign(this.syntax, defaultSyntax());
  }

  // Buffer

  #full(): boolean {
    let used = this.#queuedBytes;
    for (const connection of this.#connections) used += connection.unfinished;
    return used >= (this.#options.bufferSize ?? 1024 * 1024) || this.#queue.length >= MAX_FORMATS;
  }

  #enqueue(item: Waiting): void {
    this.#queue.push(item);
    this.#queuedBytes += item.bytes;
    item.from.queued += item.bytes;
    this.#imageAhead();
    this.#changed();
  }

  #released(item: Waiting): void {
    this.#queuedBytes -= item.bytes;
    item.from.queued -= item.bytes;
  }

  #clear(): void {
    for (const item of this.#queue) this.#released(item);
    if (this.#next) this.#released(this.#next.item);
    this.#queue = [];
    this.#next = undefined;
    if (this.#active) this.#active.canceled = true;
  }

  #pump(): void {
    for (const connection of [...this.#connections]) connection.pump();
  }

  /** Takes formats from the buffer until there is one to print next. */
  #imageAhead(): void {
    while (!this.#next) {
      const item = this.#queue.shift();
      if (!item) return;
      if ('name' in item.content) this.#download(item.content.name, item.content.params);
      else {
        const { width, height, dpmm } = this.identity();
        const plan = planLabel(item.content, this.#memory, { width, height, dpmm });
        if (plan) {
          this.#next = { plan, item, raw: item.content.raw, printed: 0, canceled: false, picture: undefined };
          this.#picture(this.#next).catch(() => undefined);
          return;
        }
      }
      this.#released(item);
    }
  }

  #download(name: string, params: Buffer): void {
    if (name === 'EG') this.#memory.deleteKind('graphic');
    try {
      const graphic = downloadedGraphic(name, params);
      if (!graphic) return;
      const object = objectName(graphic.object, 'GRF');
      const definition = `~DG${object},${graphic.rest}`;
      const stored = this.#memory.store(object, { kind: 'graphic', definition, bytes: definition.length });
      if (!stored) this.#report(`no room for ${object}`);
    } catch (error) {
      if (!(error instanceof GraphicError)) throw error;
      this.#report(error.message);
    }
  }

  // Printing

  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#until(() => this.#next !== undefined, signal);
      const batch = this.#next;
      if (!batch) continue;
      this.#active = batch;
      this.#next = undefined;
      this.#released(batch.item);
      this.#imageAhead();
      this.#pump();
      this.#changed();
      await this.#print(batch, signal);
      this.#active = undefined;
      if (batch.plan.pauseAfter && !batch.canceled) this.#faults.paused = true;
      this.#changed();
    }
  }

  async #print(batch: Batch, signal: AbortSignal): Promise<void> {
    const { plan } = batch;
    while (batch.printed < plan.quantity) {
      const picture = await this.#orAborted(this.#picture(batch), signal);
      await this.#until(() => batch.canceled || this.#ready(), signal);
      if (batch.canceled) return;
      if (!(await this.#feed(signal))) continue;
      if (!(await this.#deliver(batch, picture))) continue;
      const group = plan.pauseEvery > 0 && batch.printed % plan.pauseEvery === 0;
      if (group && batch.printed < plan.quantity) this.set({ paused: true });
    }
  }

  /** The picture of the batch's current label, drawn once for all that are alike. */
  #picture(batch: Batch): Promise<RasterReply> {
    const { plan } = batch;
    const serial = isSerial(plan) ? Math.floor(batch.printed / plan.replicates) : 0;
    if (batch.picture?.serial === serial) return batch.picture.reply;
    const { width: mediaWidth, height: mediaHeight, dpmm } = this.identity();
    const { width, length, inverted, mirrored, faults } = plan;
    const page = { dpmm, width, length, mediaWidth, mediaHeight, inverted, mirrored };
    const reply = rasterPool
      .draw({ ...page, zpl: labelZpl(plan, serial), faults })
      .catch((error: unknown) => rasterPool.draw({ ...page, zpl: '', faults: [...faults, String(error)] }));
    batch.picture = { serial, reply };
    return reply;
  }

  /** Moves the media one label on. False when a fault stopped it: the label starts again. */
  async #feed(signal: AbortSignal): Promise<boolean> {
    const speed = this.#options.speed ?? 0;
    if (speed <= 0 || !Number.isFinite(speed)) return this.#loaded();
    let out = false;
    const timer = setTimeout(
      () => {
        out = true;
        this.#wake();
      },
      (this.#options.height / 25.4 / speed) * 1000,
    );
    try {
      await this.#until(() => out || !this.#loaded(), signal);
    } finally {
      clearTimeout(timer);
    }
    return this.#loaded();
  }

  async #deliver(batch: Batch, picture: RasterReply): Promise<boolean> {
    try {
      const files = await this.#tray.add(picture.png, batch.raw, picture.faults);
      batch.printed++;
      this.#options.logger?.debug({ printer: this.#options.name, label: files.number }, 'label printed');
      this.emit('label', { ...files, faults: picture.faults });
      if (picture.faults.length > 0) this.#report(`label ${files.number}: ${picture.faults.join('; ')}`);
      else this.#changed();
      return true;
    } catch (error) {
      // As with a jam: it stops, says so, and tries the label again when it is told to go on.
      this.#faults.paused = true;
      this.#report(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  #loaded(): boolean {
    return !(this.#faults.mediaOut || this.#faults.ribbonOut || this.#faults.headOpen);
  }

  #ready(): boolean {
    return this.#loaded() && !this.#faults.paused;
  }

  // Commands

  #control(from: PrinterConnection, name: string, params: Buffer): void {
    const reply = (text: string | undefined) => {
      if (this.answers && text !== undefined) from.reply(text);
    };
    if (name === 'HS') reply(hostStatus(this.state(), this.#labelLength()));
    else if (name === 'HI') reply(hostIdentification(this.identity()));
    else if (name === 'HQ') reply(hostQuery(params.toString('latin1'), this.state(), this.identity()));
    else if (name === 'PP') this.set({ paused: true });
    else if (name === 'PS') this.set({ paused: false });
    else if (name === 'JX') from.cancelPartial();
    else if (name === 'JP') {
      if (this.#active) this.#active.canceled = true;
      this.set({ paused: true });
    } else if (name === 'JA') {
      from.cancelPartial();
      this.#clear();
      this.#changed();
      this.#pump();
    } else if (name === 'JR') this.#restart();
    else if (name === 'EG' || name === 'DG' || name === 'DY') {
      this.#enqueue({ from, bytes: params.length, content: { name, params } });
    }
  }

  #sgd(from: PrinterConnection, command: Extract<ZplEvent, { kind: 'sgd' }>): void {
    if (command.verb === 'do' && command.variable === 'device.reset') this.#restart();
    if (command.verb === 'setvar' && command.variable === 'device.pause') {
      this.set({ paused: command.value === 'on' });
    }
    if (command.verb !== 'getvar' || !this.answers) return;
    const address = { ip: from.localAddress, port: this.#port };
    const value = sgdValue(command.variable, this.state(), this.identity(), address, this.#labelLength());
    from.reply(`"${value ?? '?'}"`);
  }

  #restart(): void {
    this.#switch(async () => {
      await this.#off();
      await this.#on();
    }).catch((error: unknown) => this.#report(String(error)));
  }

  #labelLength(): number {
    const set = Number.parseInt(this.#memory.settings.get('LL') ?? '', 10);
    return Number.isNaN(set) ? this.identity().height : set;
  }

  // Waiting

  #report(fault: string): void {
    this.#options.logger?.warn({ printer: this.#options.name, fault }, 'virtual printer');
    this.emit('status', { ...this.state(), fault });
    this.#wake();
  }

  #changed(): void {
    this.emit('status', this.state());
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Waits for something that {@link #wake} announces. */
  async #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (condition()) return;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  async #orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
