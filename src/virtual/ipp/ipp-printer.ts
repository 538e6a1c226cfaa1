/**
 * A virtual driverless label printer that speaks IPP over HTTP, takes PDF and ZPL and prints PNG files: for
 * trying things out, and for tests, which can give it any fault.
 *
 * This file has power, the directory, identity and state. Jobs wait in `spool.ts` and print in `press.ts`;
 * what operations do to them is in `press-output.ts`, HTTP is in `server.ts`. Power off loses connections, jobs and the label
 * under the head, but never leaves half a file.
 */
import type { Server } from 'node:http';
import { v5 as uuidOf } from 'uuid';
import type { OperationName } from '../../../drivers/ipp/names.ts';
import { Announcement, instanceName, reachableAt, type Service } from '../../ipp/announcement.ts';
import type { IppPrinterView } from '../../ipp/attributes.ts';
import { type LabelSize, type Roll, rollsOf } from '../../ipp/media.ts';
import { IppOperations, type IppRequest, operationName } from '../../ipp/operations.ts';
import { MAX_ATTRIBUTE_BYTES } from '../../ipp/request.ts';
import { pdfPool } from '../drawing/pdf-pool.ts';
import { rasterPool } from '../drawing/raster-pool.ts';
import { VirtualPrinter, type VirtualPrinterOptions } from '../machine/virtual-printer.ts';
import type { IppJob, IppJobReport } from './job.ts';
import { JobNumbers } from './job-numbers.ts';
import { IppPress, type PrintedPage } from './press.ts';
import { type IppMisbehavior, PressOutput } from './press-output.ts';
import {
  DOCUMENT_FORMATS,
  deviceId,
  stateReasons,
  type VirtualIdentity,
  type VirtualIppState,
} from './printer-state.ts';
import { ippServer, PRINTER_PATH } from './server.ts';
import { IppSpool } from './spool.ts';
import { WireFaults } from './wire-faults.ts';

export type { IppJobReport } from './job.ts';
export type { PrintedPage } from './press.ts';
export type { IppMisbehavior } from './press-output.ts';

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

interface VirtualIppPrinterEvents {
  label: [PrintedPage];
  /** A job was made or changed. */
  job: [IppJobReport];
  /** A request was read up to its document. */
  request: [operation: OperationName | undefined];
  /** An answer is held back, until `releaseReplies`. */
  held: [operation: OperationName | undefined];
  identify: [];
  /** Something about the printer's state has changed; `fault`: what went wrong, if something did. */
  status: [VirtualIppState & { fault?: string }];
}

/** Namespace for UUIDs made of serial numbers, the same at each start (RFC 9562 §5.5). */
const UUID_NAMESPACE = '5b1f6f0e-6f0d-4a53-9b0c-3d1c2f0c6b5e';
const FULL_SPEED = 60;

export class VirtualIppPrinter extends VirtualPrinter<VirtualIppPrinterEvents> {
  readonly #options: VirtualIppPrinterOptions;
  readonly #rolls: readonly Roll[];
  readonly #spool: IppSpool;
  readonly #press: IppPress;
  readonly #operations: IppOperations<IppJob>;
  readonly #numbers: JobNumbers;
  readonly #wire: WireFaults;
  readonly #misbehavior: IppMisbehavior = { busy: false, notAccepting: false, refusedFormats: [] };
  #server: Server | undefined;
  #since = Date.now();
  #changedAt = Date.now();
  #announcements: Announcement[] = [];

  constructor(options: VirtualIppPrinterOptions) {
    super(options, [rasterPool, pdfPool]);
    this.#options = options;
    this.#rolls = rollsOf([options, ...(options.rolls ?? [])]);
    this.#numbers = new JobNumbers(options.outDir, (error) => this.mechanism.changed(String(error)));
    this.#wire = new WireFaults(
      (operation) => this.emit('held', operation),
      () => this.mechanism.faults.silent,
    );
    this.#spool = new IppSpool({
      limits: {
        history: options.history ?? 200,
        spool: options.spool ?? 128 * 1024 * 1024,
        documentWait: options.documentWait ?? 60_000,
      },
      nextId: () => this.#numbers.next(),
      changed: (job) => {
        this.emit('job', job);
        this.mechanism.wake();
      },
    });
    this.#press = new IppPress({
      spool: this.#spool,
      mechanism: this.mechanism,
      memory: this.memory,
      dpi: options.dpi,
      printed: (page) => this.emit('label', page),
    });
    this.#operations = new IppOperations(
      new PressOutput({
        spool: this.#spool,
        misbehavior: this.#misbehavior,
        documentLimit: options.documentLimit ?? DOCUMENT_LIMIT,
        view: (uri) => this.#view(uri),
        pause: (paused) => this.set({ paused }),
        identify: () => this.emit('identify'),
      }),
    );
  }

  /** `ipp://127.0.0.1:54321/ipp/print`. */
  get uri(): string {
    return `ipp://${this.authority}${PRINTER_PATH}`;
  }

  get waiting(): number {
    return this.#spool.waiting.length;
  }

  /** Switches refusals on or off that a proper printer would not make. */
  misbehave(misbehavior: Partial<IppMisbehavior>): void {
    Object.assign(this.#misbehavior, misbehavior);
    this.mechanism.changed();
  }

  /** Aborts the job being printed, or the next one, when so many of its labels are out. */
  abortJobAfter(labels: number): void {
    this.#press.abortAfter = labels;
    this.mechanism.wake();
  }

  /** Holds back answers to these operations, or to all; the operations are carried out all the same. */
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

  state(): VirtualIppState {
    const { faults, stopped } = this.mechanism;
    return {
      ...faults,
      state: stopped ? 'stopped' : this.#press.printing ? 'processing' : 'idle',
      reasons: stateReasons(faults),
      jobs: this.waiting,
      odometer: this.odometer,
    };
  }

  /** The jobs it knows of, the oldest first. */
  jobs(): IppJobReport[] {
    return this.#spool.jobs.map((job) => job.report());
  }

  identity(): VirtualIdentity {
    const { name, make = 'Platen', model = 'Virtual Label Printer', location = '' } = this.#options;
    const { serial } = this.tray;
    const announced = instanceName(`${name} (${serial.slice(-4)})`);
    return { name, announced, make, model, serial, location, uuid: uuidOf(serial, UUID_NAMESPACE) };
  }

  // Power

  protected override async open(): Promise<void> {
    await super.open();
    await this.#numbers.open();
  }

  protected override async close(): Promise<void> {
    await this.#numbers.close();
    await super.close();
  }

  protected server(): Server {
    const { documentLimit = DOCUMENT_LIMIT, idle = 30_000 } = this.#options;
    this.#server = ippServer({
      bodyLimits: { attributes: MAX_ATTRIBUTE_BYTES, discarded: documentLimit, idle },
      page: () => `${this.name}\n${this.state().reasons.join(', ')}\n`,
      answer: (request) => this.#answer(request),
      received: (bytes, { socket }) => this.taken(bytes, () => socket.destroy()),
      beforeReply: (operation, socket) => this.#wire.beforeReply(operation, socket),
      failed: (error) => this.mechanism.changed(String(error)),
    });
    return this.#server;
  }

  protected run(): Promise<void> {
    this.#since = Date.now();
    return this.#press.run();
  }

  protected lose(): void {
    this.#server?.closeAllConnections();
    this.#wire.release();
    this.#spool.clear();
  }

  protected override async appear(): Promise<void> {
    const { announce = true, host = '127.0.0.1' } = this.#options;
    if (announce === false) return;
    const addresses = announce === true ? reachableAt(host) : announce;
    const identity = this.identity();
    const service: Service = {
      name: identity.announced,
      type: '_ipp._tcp',
      host: `platen-${identity.serial.toLowerCase().replace(/[^a-z0-9]/g, '-')}.local`,
      port: this.port,
      txt: this.#txt(identity),
    };
    const failed = (error: Error) => this.mechanism.changed(`DNS-SD: ${error.message}`);
    this.#announcements = addresses.map((address) => new Announcement(address, failed));
    await Promise.all(this.#announcements.map((each) => each.start([service])));
  }

  protected override async disappear(goodbye: boolean): Promise<void> {
    await Promise.all(this.#announcements.splice(0).map((each) => each.stop(goodbye)));
  }

  /** PWG 5100.14 §4.2.3. */
  #txt({ make, model, uuid, location }: VirtualIdentity): Record<string, string> {
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

  #view(uri: string): IppPrinterView {
    const { dpi, height, speed = 0, documentLimit = DOCUMENT_LIMIT, documentWait = 60_000 } = this.#options;
    const identity = this.identity();
    return {
      rolls: this.#rolls,
      dpi,
      scalings: ['none', 'fit'],
      holds: true,
      pages: false,
      identity,
      deviceId: deviceId(identity),
      addresses: [{ uri, security: 'none', authentication: 'requesting-user-name' }],
      web: `http://${new URL(uri).host}/`,
      formats: DOCUMENT_FORMATS,
      odometer: this.odometer,
      labelsPerMinute:
        speed > 0 && speed < Infinity ? Math.max(1, Math.round((60 * speed * 25.4) / height)) : FULL_SPEED,
      documentLimit,
      documentWait,
      state: this.state(),
      accepting: !this.#misbehavior.notAccepting,
      changedAt: this.#changedAt,
      since: this.#since,
    };
  }

  protected changed(fault?: string): void {
    this.#changedAt = Date.now();
    this.#press.markJob();
    this.#wire.wake();
    this.emit('status', fault === undefined ? this.state() : { ...this.state(), fault });
  }
}

const DOCUMENT_LIMIT = 32 * 1024 * 1024;
