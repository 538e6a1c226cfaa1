/**
 * A driverless label printer that speaks IPP over HTTP, takes PDF and ZPL and prints PNG files: a printer to try
 * things out with, and one that has every fault a test asks for.
 *
 * Here: power, the directory, what it is and what it says of itself. Jobs wait in `spool.ts`, print in
 * `press.ts`; operations are `operations.ts`, HTTP is `server.ts`. Power off loses connections, jobs and
 * the label under the head, and never half a file.
 */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { v5 as uuidOf } from 'uuid';
import type { OperationName } from '../../../drivers/ipp/names.ts';
import { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import { pdfPool } from '../drawing/pdf-pool.ts';
import { rasterPool } from '../drawing/raster-pool.ts';
import { LabelTray } from '../machine/label-tray.ts';
import { DEFAULT_STORAGE, labelTime, type VirtualPrinterOptions } from '../machine/virtual-printer.ts';
import type { PrinterFaults } from '../zpl/print-engine.ts';
import { Announcement, instanceName, reachableAt } from './announce.ts';
import { DOCUMENT_FORMATS, type IppIdentity, type PrinterView, stateReasons } from './attributes.ts';
import { PRINTER_PATH } from './exchange.ts';
import type { IppJobReport } from './job.ts';
import { JobNumbers } from './job-numbers.ts';
import { type LabelSize, type Roll, rollsOf } from './media.ts';
import { type IppMisbehavior, IppOperations, type IppRequest, operationName } from './operations.ts';
import { IppPress, type PrintedPage } from './press.ts';
import { ippServer, MAX_ATTRIBUTE_BYTES } from './server.ts';
import { IppSpool } from './spool.ts';
import { WireFaults } from './wire-faults.ts';

export type { IppJobReport } from './job.ts';
export type { IppMisbehavior } from './operations.ts';
export type { PrintedPage } from './press.ts';

export interface VirtualIppPrinterOptions extends VirtualPrinterOptions {
  /** Further rolls, which print when a job names them; at most nine. */
  readonly rolls?: readonly LabelSize[];
  /** Default `Platen`; the default model is `Virtual Label Printer`. */
  readonly make?: string;
  readonly location?: string;
  /**
   * Whether it announces itself by DNS-SD: on the interfaces it can be reached by (default), on those with these IPv4
   * addresses, or not at all.
   */
  readonly announce?: boolean | readonly string[];
  /** Largest document, bytes; default 32 MiB. */
  readonly documentLimit?: number;
  /** All documents that wait, bytes; default 128 MiB. */
  readonly spool?: number;
  /** Ended jobs that are remembered; default 200. */
  readonly history?: number;
  /** How long, ms, a job waits for its document; default 60,000. */
  readonly documentWait?: number;
  /** Longest silence, ms, in the middle of a request; default 30,000. */
  readonly idle?: number;
}

export interface VirtualIppPrinterState extends PrinterFaults {
  readonly state: 'idle' | 'processing' | 'stopped';
  /** printer-state-reasons. */
  readonly reasons: readonly string[];
  /** Jobs that have not ended. */
  readonly jobs: number;
  readonly odometer: number;
}

export interface VirtualIppPrinterEvents {
  label: [PrintedPage];
  /** A job was made, or is not what it was. */
  job: [IppJobReport];
  /** A request was read up to its document. */
  request: [operation: OperationName | undefined];
  /** An answer is held back, until `releaseReplies`. */
  held: [operation: OperationName | undefined];
  identify: [];
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  status: [VirtualIppPrinterState & { fault?: string }];
}

/** Makes a UUID of a serial number, the same at each start (RFC 9562 §5.5). */
const UUID_NAMESPACE = '5b1f6f0e-6f0d-4a53-9b0c-3d1c2f0c6b5e';
const FULL_SPEED = 60;

export class VirtualIppPrinter extends EventEmitter<VirtualIppPrinterEvents> {
  readonly #options: VirtualIppPrinterOptions;
  readonly #rolls: readonly Roll[];
  readonly #memory: PrinterMemory;
  readonly #tray: LabelTray;
  readonly #spool: IppSpool;
  readonly #press: IppPress;
  readonly #operations: IppOperations;
  readonly #numbers: JobNumbers;
  readonly #wire: WireFaults;
  readonly #misbehavior: IppMisbehavior = { busy: false, notAccepting: false, refusedFormats: [] };
  #port: number;
  #started = false;
  #server: Server | undefined;
  #power: AbortController | undefined;
  #since = Date.now();
  #changedAt = Date.now();
  #printing: Promise<void> = Promise.resolve();
  /** Power changes follow one another. */
  #switching: Promise<void> = Promise.resolve();
  #announcements: Announcement[] = [];

  constructor(options: VirtualIppPrinterOptions) {
    super();
    this.#options = options;
    this.#port = options.port ?? 0;
    this.#rolls = rollsOf([options, ...(options.rolls ?? [])]);
    this.#memory = new PrinterMemory(options.storage ?? DEFAULT_STORAGE);
    this.#tray = new LabelTray(options.outDir);
    this.#numbers = new JobNumbers(options.outDir, (error) => this.#changed(String(error)));
    this.#wire = new WireFaults((operation) => this.emit('held', operation));
    this.#spool = new IppSpool({
      limits: {
        history: options.history ?? 200,
        spool: options.spool ?? 128 * 1024 * 1024,
        documentWait: options.documentWait ?? 60_000,
      },
      nextId: () => this.#numbers.next(),
      changed: (job) => {
        this.emit('job', job);
        this.#press.wake();
      },
    });
    this.#press = new IppPress({
      spool: this.#spool,
      memory: this.#memory,
      tray: this.#tray,
      dpi: options.dpi,
      labelTime: (height) => labelTime(height, options.speed),
      printed: (page) => this.emit('label', page),
      changed: (fault) => this.#changed(fault),
    });
    this.#operations = new IppOperations({
      spool: this.#spool,
      misbehavior: this.#misbehavior,
      view: (uri) => this.#view(uri),
      pause: (paused) => this.set({ paused }),
      identify: () => this.emit('identify'),
    });
  }

  /** The TCP port it listens on, or will listen on; 0 before the first start with port 0. */
  get port(): number {
    return this.#port;
  }

  /** `ipp://127.0.0.1:54321/ipp/print`. */
  get uri(): string {
    const { host = '127.0.0.1' } = this.#options;
    return `ipp://${host.includes(':') ? `[${host}]` : host}:${this.#port}${PRINTER_PATH}`;
  }

  get odometer(): number {
    return this.#tray.odometer;
  }

  /** @throws LabelTrayError when the directory cannot be used; or the error of listening. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    rasterPool.acquire();
    pdfPool.acquire();
    try {
      await this.#tray.open(this.#options.serial);
      await this.#numbers.open();
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
    await this.#numbers.close();
    await this.#tray.close();
    await Promise.all([rasterPool.release(), pdfPool.release()]);
  }

  /** Loses connections, jobs, stored formats and the label under the head; resolves when the port is closed. */
  powerOff(): Promise<void> {
    return this.#switch(() => this.#off(false));
  }

  powerOn(): Promise<void> {
    return this.#switch(() => this.#on());
  }

  /** Makes or clears faults. With media or ribbon out or the head open, the label under the head starts again. */
  set(faults: Partial<PrinterFaults>): void {
    this.#press.set(faults);
  }

  /** Makes it refuse what it should not, or stop doing so. */
  misbehave(misbehavior: Partial<IppMisbehavior>): void {
    Object.assign(this.#misbehavior, misbehavior);
    this.#changed();
  }

  /** Aborts the job that prints, or the next to print, when so many of its labels are out. */
  abortJobAfter(labels: number): void {
    this.#press.abortAfter = labels;
    this.#press.wake();
  }

  /** Holds answers back from now on, to these operations or to all; what they asked for is done all the same. */
  holdReplies(...operations: OperationName[]): void {
    this.#wire.hold(operations);
  }

  releaseReplies(): void {
    this.#wire.release();
  }

  /** Cuts the connection after so many bytes of the next answer, or of the next to this operation. */
  cutReply(bytes: number, operation?: OperationName): void {
    this.#wire.cutReply(bytes, operation);
  }

  /** Cuts the connection over which the `bytes`th byte of a request from now comes, right after that byte. */
  dropConnectionAfter(bytes: number): void {
    this.#wire.dropAfter(bytes);
  }

  state(): VirtualIppPrinterState {
    const { faults, printing, stopped } = this.#press;
    return {
      ...faults,
      state: stopped ? 'stopped' : printing ? 'processing' : 'idle',
      reasons: stateReasons(faults),
      jobs: this.#spool.waiting.length,
      odometer: this.#tray.odometer,
    };
  }

  /** The jobs it knows of, the oldest first. */
  jobs(): IppJobReport[] {
    return this.#spool.jobs.map((job) => job.report());
  }

  identity(): IppIdentity {
    const { name, make = 'Platen', model = 'Virtual Label Printer', location = '' } = this.#options;
    const { serial } = this.#tray;
    const announced = instanceName(`${name} (${serial.slice(-4)})`);
    return { name, announced, make, model, serial, location, uuid: uuidOf(serial, UUID_NAMESPACE) };
  }

  // Power

  #switch(change: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(change);
    this.#switching = done.catch(() => undefined);
    return done;
  }

  async #on(): Promise<void> {
    if (this.#power || !this.#started) return;
    const { host = '127.0.0.1', documentLimit = DOCUMENT_LIMIT, idle = 30_000 } = this.#options;
    const power = new AbortController();
    const server = ippServer({
      bodyLimits: { attributes: MAX_ATTRIBUTE_BYTES, discarded: documentLimit, idle },
      page: () => `${this.#options.name}\n${this.state().reasons.join(', ')}\n`,
      answer: (request) => this.#answer(request),
      received: (bytes, request) => this.#wire.received(bytes, request),
      beforeReply: (operation) => this.#wire.beforeReply(operation),
      failed: (error) => this.#changed(String(error)),
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(this.#port, host, resolve);
    await promise;
    server.off('error', reject);
    server.on('error', (error) => this.#changed(error.message));
    const address = server.address();
    if (address && typeof address === 'object') this.#port = address.port;
    this.#server = server;
    this.#power = power;
    this.#since = Date.now();
    this.#printing = this.#press.run(power.signal).catch((error: unknown) => this.#changed(String(error)));
    await this.#announce(host);
    this.#changed();
  }

  async #off(goodbye: boolean): Promise<void> {
    const server = this.#server;
    if (!this.#power || !server) return;
    await Promise.all(this.#announcements.splice(0).map((each) => each.stop(goodbye)));
    this.#power.abort();
    this.#power = undefined;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    this.#wire.release();
    this.#spool.clear();
    // A label whose file is being written is out: it is finished and counted.
    await this.#printing;
    await closed;
    this.#press.faults.paused = false;
    this.#memory.powerLoss();
  }

  async #announce(host: string): Promise<void> {
    const { announce = true } = this.#options;
    if (announce === false) return;
    const addresses = announce === true ? reachableAt(host) : announce;
    const identity = this.identity();
    const service = {
      name: identity.announced,
      host: `platen-${identity.serial.toLowerCase().replace(/[^a-z0-9]/g, '-')}`,
      port: this.#port,
      txt: this.#txt(identity),
    };
    this.#announcements = addresses.map(
      (address) => new Announcement(service, address, (error) => this.#changed(`DNS-SD: ${error.message}`)),
    );
    await Promise.all(this.#announcements.map((each) => each.start()));
  }

  /** PWG 5100.14 §4.2.3. */
  #txt({ make, model, uuid, location }: IppIdentity): Record<string, string> {
    return {
      txtvers: '1',
      qtotal: '1',
      rp: PRINTER_PATH.slice(1),
      ty: `${make} ${model}`,
      product: `(${model})`,
      note: location,
      pdl: DOCUMENT_FORMATS.join(','),
      UUID: uuid,
      kind: 'label',
      priority: '50',
      Color: 'F',
      Duplex: 'F',
      Copies: 'T',
      Collate: 'T',
      usb_MFG: make,
      usb_MDL: model,
      usb_CMD: 'ZPL,PDF',
      TLS: '',
    };
  }

  // Requests

  #answer(request: IppRequest) {
    this.emit('request', operationName(request.message));
    return this.#operations.answer(request);
  }

  #view(uri: string): PrinterView {
    const { dpi, height, speed = 0, documentLimit = DOCUMENT_LIMIT, documentWait = 60_000 } = this.#options;
    const { faults, printing, stopped } = this.#press;
    return {
      rolls: this.#rolls,
      dpi,
      identity: this.identity(),
      operations: this.#operations.names,
      uri,
      labelsPerMinute:
        speed > 0 && speed < Infinity ? Math.max(1, Math.round((60 * speed * 25.4) / height)) : FULL_SPEED,
      documentLimit,
      documentWait,
      state: {
        faults,
        printing,
        stopped,
        accepting: !this.#misbehavior.notAccepting,
        jobs: this.#spool.waiting.length,
        odometer: this.#tray.odometer,
        changedAt: this.#changedAt,
        since: this.#since,
      },
    };
  }

  #changed(fault?: string): void {
    this.#changedAt = Date.now();
    if (fault !== undefined)
      this.#options.logger?.warn({ printer: this.#options.name, fault }, 'virtual printer');
    this.emit('status', fault === undefined ? this.state() : { ...this.state(), fault });
  }
}

const DOCUMENT_LIMIT = 32 * 1024 * 1024;
