/**
 * The base of the virtual printers of every protocol: a power switch, faults, a port, and a directory.
 *
 * Power off loses connections, waiting jobs and the label under the head, but never leaves half a file.
 */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import type { Logger } from '../../log.ts';
import type { DrawingThread } from '../../render/drawing-thread.ts';
import { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import { type AskedFaults, type PrinterFaults, wordsFor } from './faults.ts';
import { LabelTray } from './label-tray.ts';
import { Mechanism } from './mechanism.ts';

export interface VirtualPrinterOptions {
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
  /** In effect from the start. */
  readonly faults?: Partial<PrinterFaults>;
  /** Default: made up once, and kept in the directory. */
  readonly serial?: string;
  readonly model?: string;
  /** Memory for stored formats and graphics, bytes; default 16 MiB. */
  readonly storage?: number;
  readonly logger?: Logger;
}

const DEFAULT_STORAGE = 16 * 1024 * 1024;
const LOOPBACK = '127.0.0.1';

/** The part of a drawing thread that a printer needs. */
type Thread = Pick<DrawingThread<never, { id: number }>, 'acquire' | 'release'>;

export abstract class VirtualPrinter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  protected readonly tray: LabelTray;
  protected readonly memory: PrinterMemory;
  protected readonly mechanism: Mechanism;
  readonly #options: VirtualPrinterOptions;
  readonly #threads: readonly Thread[];
  #port: number;
  #started = false;
  #server: Server | undefined;
  #dropAfter: number | undefined;
  #printing: Promise<void> = Promise.resolve();
  /** The last power change, after which the next one begins. */
  #switching: Promise<void> = Promise.resolve();

  constructor(options: VirtualPrinterOptions, threads: readonly Thread[]) {
    super();
    this.#options = options;
    this.#threads = threads;
    this.#port = options.port ?? 0;
    this.tray = new LabelTray(options.outDir);
    this.memory = new PrinterMemory(options.storage ?? DEFAULT_STORAGE);
    const { speed, faults } = options;
    const changed = (fault?: string) => this.#changed(fault);
    this.mechanism = new Mechanism({ tray: this.tray, speed, faults, changed });
  }

  /** Where it can be reached. */
  abstract get uri(): string;
  /** Formats or jobs that are accepted and not printed to their end. */
  abstract get waiting(): number;

  get name(): string {
    return this.#options.name;
  }

  /** The TCP port it listens on, or will listen on; 0 before the first start with port 0. */
  get port(): number {
    return this.#port;
  }

  /** The host to reach it at, as it stands in a URI. */
  protected get authority(): string {
    const { host = LOOPBACK } = this.#options;
    return `${host.includes(':') ? `[${host}]` : host}:${this.#port}`;
  }

  get odometer(): number {
    return this.tray.odometer;
  }

  /** The picture of a label that has come out, a PNG; undefined for one that is not there, or not any more. */
  picture(number: number): Promise<Uint8Array | undefined> {
    return this.tray.picture(number);
  }

  /** @throws LabelTrayError when the directory cannot be used; or the error of listening. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    for (const thread of this.#threads) thread.acquire();
    try {
      await this.open();
      await this.powerOn();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    await this.#switch(() => this.#off(true));
    await this.close();
    await Promise.all(this.#threads.map((thread) => thread.release()));
  }

  /** Loses connections, what waits, stored formats and the label under the head; resolves when the port is closed. */
  powerOff(): Promise<void> {
    return this.#switch(() => this.#off(false));
  }

  powerOn(): Promise<void> {
    return this.#switch(() => this.#on());
  }

  /** Makes or clears faults. With media or ribbon out or the cover open, the label under the head starts again. */
  set(faults: Partial<PrinterFaults>): void {
    this.mechanism.set(faults);
  }

  /** Like {@link set}, and switches the power. @throws the error of listening, when the power comes back */
  async ask({ 'power-off': off, ...faults }: Partial<AskedFaults>): Promise<void> {
    this.set(faults);
    if (off !== undefined) await (off ? this.powerOff() : this.powerOn());
  }

  /** Cuts the connection that brings the `bytes`th byte from now, right after that byte. */
  dropConnectionAfter(bytes: number): void {
    this.#dropAfter = bytes;
  }

  /** The part of received bytes that the printer takes; calls `cut` if the connection is to be cut there. */
  protected taken(bytes: Buffer, cut: () => void): Buffer {
    if (this.#dropAfter === undefined) return bytes;
    this.#dropAfter -= bytes.length;
    if (this.#dropAfter > 0) return bytes;
    const kept = bytes.subarray(0, bytes.length + this.#dropAfter);
    this.#dropAfter = undefined;
    cut();
    return kept;
  }

  /** The words for the faults in effect. */
  faultWords(): string[] {
    return wordsFor({ ...this.mechanism.faults, 'power-off': !this.mechanism.on });
  }

  // What a protocol adds

  /** A server that is not listening yet. */
  protected abstract server(): Server;
  /** Prints until the power goes; a label being written to disk then is finished. */
  protected abstract run(): Promise<void>;
  /** The power has gone: breaks connections, and forgets waiting jobs. */
  protected abstract lose(): void;
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  protected abstract changed(fault?: string): void;
  /** Called when the server listens; the power cannot go until this is done. */
  protected async appear(): Promise<void> {}
  /** `goodbye`: the printer is stopped in order; false: its power fails. */
  protected async disappear(_goodbye: boolean): Promise<void> {}

  protected async open(): Promise<void> {
    await this.tray.open(this.#options.serial);
  }

  protected async close(): Promise<void> {
    await this.tray.close();
  }

  protected restart(): void {
    this.#switch(async () => {
      await this.#off(false);
      await this.#on();
    }).catch((error: unknown) => this.#changed(String(error)));
  }

  // Power

  #switch(change: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(change);
    this.#switching = done.catch(() => undefined);
    return done;
  }

  async #on(): Promise<void> {
    if (this.#server || !this.#started) return;
    const server = this.server();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(this.#port, this.#options.host ?? LOOPBACK, resolve);
    await promise;
    server.off('error', reject);
    server.on('error', (error) => this.#changed(error.message));
    const address = server.address();
    if (address && typeof address === 'object') this.#port = address.port;
    this.#server = server;
    this.mechanism.powerOn();
    this.#printing = this.run().catch((error: unknown) => this.#changed(String(error)));
    await this.appear();
    this.#changed();
  }

  async #off(goodbye: boolean): Promise<void> {
    const server = this.#server;
    if (!server) return;
    await this.disappear(goodbye);
    this.#server = undefined;
    this.mechanism.powerOff();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.lose();
    // A label whose file is being written is out: it is finished and counted.
    await this.#printing;
    await closed;
    this.memory.powerLoss();
  }

  #changed(fault?: string): void {
    if (fault !== undefined)
      this.#options.logger?.warn({ printer: this.#options.name, fault }, 'virtual printer');
    this.changed(fault);
  }
}
