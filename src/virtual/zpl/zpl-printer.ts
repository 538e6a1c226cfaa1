/**
 * A virtual label printer that speaks ZPL on a TCP port and prints PNG files: for trying things out, and for
 * tests, which can give it any fault.
 *
 * This file has connections, the receive buffer's size and immediate answers; `print-engine.ts` prints.
 */
import { createServer, type Server } from 'node:net';
import { dots } from '../../contract/dots.ts';
import { isDownload } from '../../zpl/commands.ts';
import type { MediaDots } from '../../zpl/interpreter/label-plan.ts';
import { defaultSyntax, type ZplEvent } from '../../zpl/stream.ts';
import { rasterPool } from '../drawing/raster-pool.ts';
import type { PrintedLabel } from '../machine/mechanism.ts';
import { VirtualPrinter, type VirtualPrinterOptions } from '../machine/virtual-printer.ts';
import {
  hostIdentification,
  hostQuery,
  hostStatus,
  type PrinterIdentity,
  sgdValue,
  type ZplPrinterState,
} from './host-replies.ts';
import { type LostFormat, PrintEngine, type Waiting } from './print-engine.ts';
import { type ConnectionHost, PrinterConnection } from './printer-connection.ts';

export type { PrintedLabel } from '../machine/mechanism.ts';
export type { LostFormat } from './print-engine.ts';

export interface VirtualZplPrinterOptions extends VirtualPrinterOptions {
  /** Receive buffer, bytes; default 1 MiB. */
  readonly bufferSize?: number;
  /** Largest format or download, bytes; default 8 MiB. */
  readonly formatLimit?: number;
  /** False: `odometer.total_label_count` is `"?"`, as on printers that count no labels. */
  readonly countsLabels?: boolean;
  /** True: the next connection continues a format that a broken one left unfinished, as on many printers. */
  readonly keepsPartial?: boolean;
  /** Most connections at once; default 64. */
  readonly connections?: number;
}

interface VirtualZplPrinterEvents {
  label: [PrintedLabel];
  /** An accepted format will not be printed, which no answer of the printer says. */
  lost: [LostFormat];
  received: [Buffer];
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  status: [ZplPrinterState & { fault?: string }];
}

const FIRMWARE = 'V92.21.39Z';
/** `~HS` counts formats in three digits. */
const MAX_FORMATS = 998;
const MAX_CONNECTIONS = 64;

export class VirtualZplPrinter extends VirtualPrinter<VirtualZplPrinterEvents> {
  readonly #options: VirtualZplPrinterOptions;
  readonly #media: MediaDots;
  readonly #syntax = defaultSyntax();
  readonly #host: ConnectionHost;
  readonly #engine: PrintEngine;
  readonly #connections = new Set<PrinterConnection>();
  #queuedBytes = 0;
  #stalled = false;

  constructor(options: VirtualZplPrinterOptions) {
    super(options, [rasterPool]);
    this.#options = options;
    const { dpi, height } = options;
    this.#media = { width: dots(options.width, dpi), height: dots(height, dpi), dpi };
    this.#engine = new PrintEngine({
      mechanism: this.mechanism,
      media: this.#media,
      height,
      memory: this.memory,
      printed: (label) => this.#printed(label),
      lost: (format) => this.emit('lost', format),
      room: () => this.#pump(),
    });
    this.#host = {
      left: undefined,
      unfinished: { bytes: 0, formats: 0 },
      keepsPartial: options.keepsPartial ?? false,
      syntax: this.#syntax,
      formatLimit: options.formatLimit ?? 8 * 1024 * 1024,
      accepts: (connection) => this.#accepts(connection),
      handle: (connection, event) => this.#handle(connection, event),
      halted: () => this.mechanism.changed(),
      received: (bytes, cut) => {
        this.emit('received', bytes);
        return this.taken(bytes, cut);
      },
      closed: (connection) => this.#connections.delete(connection),
    };
  }

  get uri(): string {
    return `socket://${this.authority}`;
  }

  get waiting(): number {
    return this.#engine.formats + (this.#engine.remaining > 0 ? 1 : 0);
  }

  /**
   * CANCEL at the panel: the format being printed ends after the label under the head (`format`), or this
   * format and all that wait end (`all`). Connections, half-received formats and the odometer stay; `lost`
   * reports what is gone.
   */
  cancel(what: 'format' | 'all' = 'format'): void {
    if (what === 'format') this.#engine.cancelBatch();
    else this.#engine.cancelAll();
    this.#pump();
  }

  /** Silently drops the next formats that would be printed; `lost` reports them. */
  dropFormats(count = 1): void {
    this.#engine.drop(count);
  }

  /** The feed button: blank labels come out, and are counted. Their raw file is empty. */
  feed(labels = 1): void {
    this.#engine.feed(labels);
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

  state(): ZplPrinterState {
    return {
      ...this.mechanism.faults,
      formats: this.#engine.formats,
      bufferFull: this.#full(),
      partialFormat: this.#host.left !== undefined || this.#host.unfinished.formats > 0,
      remaining: this.#engine.remaining,
      graphics: this.memory.graphics,
      odometer: this.tray.odometer,
    };
  }

  identity(): PrinterIdentity {
    const { name, dpi, model = `ZT411-${dpi}dpi` } = this.#options;
    return { name, serial: this.tray.serial, model, firmware: FIRMWARE, ...this.#media };
  }

  // Connections

  #accepts(connection: PrinterConnection): boolean {
    if (this.#stalled) return false;
    // With a full buffer, connections that hold none of it may still send queries; and while nothing complete
    // waits, a connection may go on, so that its format can become complete.
    return !(this.#full() && connection.held > 0 && this.#engine.backlog > 0);
  }

  #handle(from: PrinterConnection, event: ZplEvent): void {
    if (event.kind === 'format') {
      this.#enqueue(from, event.format.raw.length, event.format);
    } else if (event.kind === 'control') this.#control(from, event.name, event.params);
    else if (event.kind === 'sgd') this.#sgd(from, event);
    else
      this.mechanism.changed(
        `${event.bytes} bytes discarded: over the limit of ${this.#host.formatLimit}, or too many commands, for one format`,
      );
  }

  // Power

  protected server(): Server {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const connection = new PrinterConnection(socket, this.#host);
      this.#connections.add(connection);
      connection.open();
      connection.pump();
    });
    server.maxConnections = this.#options.connections ?? MAX_CONNECTIONS;
    return server;
  }

  protected run(): Promise<void> {
    return this.#engine.run();
  }

  protected lose(): void {
    for (const connection of [...this.#connections]) connection.destroy();
    this.#host.left?.end();
    this.#host.left = undefined;
    this.#engine.cancelAll();
    Object.assign(this.#syntax, defaultSyntax());
  }

  // Receive buffer

  #full(): boolean {
    const used = this.#queuedBytes + this.#host.unfinished.bytes;
    return used >= (this.#options.bufferSize ?? 1024 * 1024) || this.#engine.backlog >= MAX_FORMATS;
  }

  #enqueue(from: PrinterConnection, bytes: number, content: Waiting['content']): void {
    this.#queuedBytes += bytes;
    from.queued += bytes;
    const released = () => {
      this.#queuedBytes -= bytes;
      from.queued -= bytes;
    };
    this.#engine.enqueue({ content, released });
  }

  #pump(): void {
    for (const connection of [...this.#connections]) connection.pump();
  }

  #printed(label: PrintedLabel): void {
    this.#options.logger?.debug({ printer: this.#options.name, label: label.number }, 'label printed');
    this.emit('label', label);
  }

  protected changed(fault?: string): void {
    this.emit('status', fault === undefined ? this.state() : { ...this.state(), fault });
  }

  // Commands

  #control(from: PrinterConnection, name: string, params: Buffer): void {
    if (name === 'HS') this.#reply(from, () => hostStatus(this.state(), this.#labelLength()));
    else if (name === 'HI') this.#reply(from, () => hostIdentification(this.identity()));
    else if (name === 'HQ')
      this.#reply(from, () => hostQuery(params.toString('latin1'), this.state(), this.identity()));
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
    } else if (name === 'JR') this.restart();
    else if (name === 'EG' || isDownload(name)) {
      this.#enqueue(from, params.length, { name, params });
    }
  }

  #sgd(from: PrinterConnection, command: Extract<ZplEvent, { kind: 'sgd' }>): void {
    if (command.verb === 'do' && command.variable === 'device.reset') this.restart();
    if (command.verb === 'setvar' && command.variable === 'device.pause') {
      this.set({ paused: command.value === 'on' });
    }
    if (command.verb !== 'getvar') return;
    this.#reply(from, () => {
      if (command.variable === 'odometer.total_label_count' && this.#options.countsLabels === false)
        return '"?"';
      const address = { ip: from.localAddress, port: this.port };
      const value = sgdValue(command.variable, this.state(), this.identity(), address, this.#labelLength());
      return `"${value ?? '?'}"`;
    });
  }

  /** Makes an answer only for a client that is there: one that hung up may have left thousands of questions behind. */
  #reply(to: PrinterConnection, answer: () => string | undefined): void {
    if (this.mechanism.faults.silent || !to.answers) return;
    const text = answer();
    if (text !== undefined) to.reply(text);
  }

  #labelLength(): number {
    const set = Number.parseInt(this.memory.settings.get('LL') ?? '', 10);
    return Number.isNaN(set) ? this.#media.height : set;
  }
}
