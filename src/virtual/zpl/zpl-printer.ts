/**
 * A label printer that speaks ZPL on a TCP port and prints PNG files: a printer to try things out with, and one
 * that has every fault a test asks for.
 *
 * Here: power, connections, the receive buffer's size, and what is answered at once. Printing is `print-engine.ts`.
 * Power off loses connections, buffer and the label under the head, and never half a file.
 */
import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:net';
import { dots } from '../../contract/dots.ts';
import type { MediaDots } from '../../zpl/interpreter/label-plan.ts';
import { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import { defaultSyntax, type ZplEvent } from '../../zpl/stream.ts';
import { rasterPool } from '../drawing/raster-pool.ts';
import { LabelTray } from '../machine/label-tray.ts';
import { DEFAULT_STORAGE, labelTime, type VirtualPrinterOptions } from '../machine/virtual-printer.ts';
import {
  hostIdentification,
  hostQuery,
  hostStatus,
  type PrinterIdentity,
  type PrinterState,
  sgdValue,
} from './host-replies.ts';
import {
  type LostFormat,
  PrintEngine,
  type PrintedLabel,
  type PrinterFaults,
  type Waiting,
} from './print-engine.ts';
import { type ConnectionHost, PrinterConnection } from './printer-connection.ts';

export type { LostFormat, PrintedLabel, PrinterFaults } from './print-engine.ts';

export interface VirtualZplPrinterOptions extends VirtualPrinterOptions {
  /** False: no query is answered, as over a one-way interface. */
  readonly answers?: boolean;
  /** Receive buffer, bytes; default 1 MiB. */
  readonly bufferSize?: number;
  /** Largest format or download, bytes; default 8 MiB. */
  readonly formatLimit?: number;
  /** False: `odometer.total_label_count` is `"?"`, as at printers that count no labels. */
  readonly countsLabels?: boolean;
  /** True: a format that a broken connection leaves unfinished goes on with the next one's bytes, as at many printers. */
  readonly keepsPartial?: boolean;
  /** Most connections at once; default 64. */
  readonly connections?: number;
}

export interface VirtualZplPrinterEvents {
  label: [PrintedLabel];
  /** A format that it took will not come out: what no answer of the printer says. */
  lost: [LostFormat];
  received: [Buffer];
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  status: [PrinterState & { fault?: string }];
}

const FIRMWARE = 'V92.21.39Z';
/** `~HS` counts formats in three digits. */
const MAX_FORMATS = 998;
const MAX_CONNECTIONS = 64;

export class VirtualZplPrinter extends EventEmitter<VirtualZplPrinterEvents> {
  /** Whether queries are answered. */
  answers: boolean;
  readonly #options: VirtualZplPrinterOptions;
  readonly #media: MediaDots;
  readonly #syntax = defaultSyntax();
  readonly #memory: PrinterMemory;
  readonly #tray: LabelTray;
  readonly #host: ConnectionHost;
  readonly #engine: PrintEngine;
  readonly #connections = new Set<PrinterConnection>();
  #port: number;
  #started = false;
  #server: Server | undefined;
  #power: AbortController | undefined;
  #printing: Promise<void> = Promise.resolve();
  /** Power changes follow one another. */
  #switching: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #stalled = false;
  #dropAfter: number | undefined;

  constructor(options: VirtualZplPrinterOptions) {
    super();
    this.#options = options;
    this.#port = options.port ?? 0;
    const { dpi } = options;
    this.#media = { width: dots(options.width, dpi), height: dots(options.height, dpi), dpi };
    this.answers = options.answers ?? true;
    this.#tray = new LabelTray(options.outDir);
    this.#memory = new PrinterMemory(options.storage ?? DEFAULT_STORAGE);
    this.#engine = new PrintEngine({
      media: this.#media,
      memory: this.#memory,
      tray: this.#tray,
      labelTime: labelTime(options.height, options.speed),
      printed: (label) => this.#printed(label),
      lost: (format) => this.emit('lost', format),
      changed: (fault) => this.#changed(fault),
      room: () => this.#pump(),
    });
    this.#host = {
      left: undefined,
      keepsPartial: options.keepsPartial ?? false,
      syntax: this.#syntax,
      formatLimit: options.formatLimit ?? 8 * 1024 * 1024,
      accepts: (connection) => this.#accepts(connection),
      handle: (connection, event) => this.#handle(connection, event),
      received: (bytes) => this.#received(bytes),
      closed: (connection) => this.#connections.delete(connection),
    };
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
    this.#engine.set(faults);
  }

  /**
   * CANCEL at the panel: the format that prints ends after the label under the head (`format`), or that and all that
   * waits (`all`). Connections, what has half arrived and the counter stay; `lost` says what went.
   */
  cancel(what: 'format' | 'all' = 'format'): void {
    if (what === 'format') this.#engine.cancelBatch();
    else this.#engine.cancelAll();
    this.#pump();
  }

  /** The next formats that would be printed vanish in silence: `lost` says which. */
  dropFormats(count = 1): void {
    this.#engine.drop(count);
  }

  /** The feed button: blank labels come out, and are counted. Their raw file is empty. */
  feed(labels = 1): void {
    this.#engine.feed(labels);
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
    return {
      ...this.#engine.faults,
      formats: this.#engine.formats,
      bufferFull: this.#full(),
      partialFormat:
        this.#host.left !== undefined || [...this.#connections].some((connection) => connection.partial),
      remaining: this.#engine.remaining,
      graphics: this.#memory.graphics,
      odometer: this.#tray.odometer,
    };
  }

  identity(): PrinterIdentity {
    const { name, dpi, model = `ZT411-${dpi}dpi` } = this.#options;
    return { name, serial: this.#tray.serial, model, firmware: FIRMWARE, ...this.#media };
  }

  // Connections

  #accepts(connection: PrinterConnection): boolean {
    if (this.#stalled) return false;
    // Who holds nothing of the buffer may still ask; and what is not complete must be able to become complete.
    return !(this.#full() && connection.held > 0 && this.#engine.backlog > 0);
  }

  #received(bytes: Buffer): number | null {
    this.emit('received', bytes);
    if (this.#dropAfter === undefined) return null;
    this.#dropAfter -= bytes.length;
    if (this.#dropAfter > 0) return null;
    const keep = bytes.length + this.#dropAfter;
    this.#dropAfter = undefined;
    return keep;
  }

  #handle(from: PrinterConnection, event: ZplEvent): void {
    if (event.kind === 'format') {
      this.#enqueue(from, event.format.raw.length, event.format);
    } else if (event.kind === 'control') this.#control(from, event.name, event.params);
    else if (event.kind === 'sgd') this.#sgd(from, event);
    else
      this.#changed(
        `${event.bytes} bytes discarded: over the limit of ${this.#host.formatLimit} for one format`,
      );
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
      const connection = new PrinterConnection(socket, this.#host);
      this.#connections.add(connection);
      connection.open();
      connection.pump();
    });
    server.maxConnections = this.#options.connections ?? MAX_CONNECTIONS;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(this.#port, this.#options.host ?? '127.0.0.1', resolve);
    await promise;
    server.off('error', reject);
    server.on('error', (error) => this.#changed(error.message));
    const address = server.address();
    if (address && typeof address === 'object') this.#port = address.port;
    this.#server = server;
    const power = new AbortController();
    this.#power = power;
    this.#printing = this.#engine.run(power.signal).catch((error: unknown) => this.#changed(String(error)));
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
    this.#host.left = undefined;
    this.#engine.cancelAll();
    // A label whose file is being written is out: it is finished and counted.
    await this.#printing;
    await closed;
    this.#engine.faults.paused = false;
    this.#memory.powerLoss();
    Object.assign(this.#syntax, defaultSyntax());
  }

  // Receive buffer

  #full(): boolean {
    let used = this.#queuedBytes + (this.#host.left?.stream.held ?? 0);
    for (const connection of this.#connections) used += connection.unfinished;
    return used >= (this.#options.bufferSize ?? 1024 * 1024) || this.#engine.backlog >= MAX_FORMATS;
  }

  #enqueue(from: PrinterConnection, bytes: number, content: Waiting['content']): void {
    this.#queuedBytes += bytes;
    from.queued += bytes;
    const released = () => {
      this.#queuedBytes -= bytes;
      from.queued -= bytes;
    };
    this.#engine.enqueue({ bytes, content, released });
  }

  #pump(): void {
    for (const connection of [...this.#connections]) connection.pump();
  }

  #printed(label: PrintedLabel): void {
    this.#options.logger?.debug({ printer: this.#options.name, label: label.number }, 'label printed');
    this.emit('label', label);
  }

  #changed(fault?: string): void {
    if (fault !== undefined)
      this.#options.logger?.warn({ printer: this.#options.name, fault }, 'virtual printer');
    this.emit('status', fault === undefined ? this.state() : { ...this.state(), fault });
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
      this.#engine.cancelBatch();
      this.set({ paused: true });
    } else if (name === 'JA') {
      from.cancelPartial();
      this.#engine.cancelAll();
      this.#pump();
    } else if (name === 'JR') this.#restart();
    else if (name === 'EG' || name === 'DG' || name === 'DY') {
      this.#enqueue(from, params.length, { name, params });
    }
  }

  #sgd(from: PrinterConnection, command: Extract<ZplEvent, { kind: 'sgd' }>): void {
    if (command.verb === 'do' && command.variable === 'device.reset') this.#restart();
    if (command.verb === 'setvar' && command.variable === 'device.pause') {
      this.set({ paused: command.value === 'on' });
    }
    if (command.verb !== 'getvar' || !this.answers) return;
    const address = { ip: from.localAddress, port: this.#port };
    if (command.variable === 'odometer.total_label_count' && this.#options.countsLabels === false) {
      from.reply('"?"');
      return;
    }
    const value = sgdValue(command.variable, this.state(), this.identity(), address, this.#labelLength());
    from.reply(`"${value ?? '?'}"`);
  }

  #restart(): void {
    this.#switch(async () => {
      await this.#off();
      await this.#on();
    }).catch((error: unknown) => this.#changed(String(error)));
  }

  #labelLength(): number {
    const set = Number.parseInt(this.#memory.settings.get('LL') ?? '', 10);
    return Number.isNaN(set) ? this.#media.height : set;
  }
}
