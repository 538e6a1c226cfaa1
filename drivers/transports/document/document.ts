/**
 * The interface of devices that take whole documents and keep jobs of their own: IPP printers, print queues.
 *
 * A document goes out in two steps: `create` makes a job that prints nothing, and `send` gives the job its document. So the
 * job's ID in the printer can be written down before the first byte of the document is on its way. Only `jobState` tells what
 * becomes of the job: that the device took a document says nothing about labels.
 *
 * There are two kinds of failure. `TransportError`: there was no proper answer; after `create` a job may exist, and after
 * `send` the device may have the document. `DocumentRefusal`: the device has refused.
 */
import type { LanguageId } from '../../../src/contract/format.ts';
import type { TransportTimeouts } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import type { TransportTraits } from '../transport.ts';
import type { RasterTaken } from './ipp-formats.ts';

/** A size of media, mm. */
export interface MediaSize {
  width: number;
  height: number;
}

/** What a device reports about itself; what it does not report is absent. */
export interface DocumentDescription {
  /** IEEE 1284. */
  deviceId?: string;
  uuid?: string;
  /** The address that a print server's queue sends to. */
  deviceUri?: string;
  makeAndModel?: string;
  /** The device's name, for people. */
  name?: string;
  dpi?: number;
  /** First the media that is loaded or preset, then other media that the device can take, as far as it lists sizes. */
  media: MediaSize[];
  /** The languages that the device is known to print, best for labels first; empty: it passes on whatever it gets. */
  languages: LanguageId[];
  /** The device's name for each language; a language that is absent would be refused. */
  mediaTypes: Partial<Record<LanguageId, string>>;
  /** The type and resolution of PWG raster that the device wants, if it takes PWG raster. */
  raster?: RasterTaken;
  /**
   * `none`: the printer itself. `delivers`: a print server's queue; its `completed` only says that the device took the bytes,
   * and its counters count what it has passed on. `follows`: a queue that asks its printer until the job's end; its count is
   * the printer's own, but its `completed` alone proves nothing (see `followed-queue.ts`).
   */
  spooler: 'none' | 'delivers' | 'follows';
}

export interface DocumentRequest {
  /** The job's name in the device, at most 80 bytes; `find` looks for it. */
  name: string;
  language: LanguageId;
  media: MediaSize;
}

/** `unknown`: the device did not say, or said something that is no state. */
export type PrinterJobPhase =
  | 'pending'
  | 'held'
  | 'processing'
  | 'stopped'
  | 'completed'
  | 'canceled'
  | 'aborted'
  | 'unknown';

export interface PrinterJobState {
  phase: PrinterJobPhase;
  /** The device's own words: `job-printing`, `printer-stopped`, `aborted-by-system`, …. */
  reasons: string[];
  name: string | null;
  /** Pages (or labels) that are out, as the device counts them; 0 may also mean that it does not count. */
  impressions: number | null;
  /** The document is still expected, or still coming. */
  incomplete: boolean;
  /** Whether the device has begun to process it; null: it does not say. */
  began: boolean | null;
}

/** A device at an address. It keeps nothing open that would shut out other clients. */
export interface DocumentPort {
  /**
   * The first certificate that the device has shown: its SHA-256, or `authority`. From then on no other one is accepted. Null:
   * the device has not shown one yet, or `DeviceAccess` names the certificate or its authority.
   */
  readonly certificate?: string | null;
  /** @throws TransportError */
  describe(signal: AbortSignal): Promise<DocumentDescription>;
  /** `labelsPending` is null; `odometer`: impressions of its life, if counted. @throws TransportError */
  status(signal: AbortSignal): Promise<DeviceStatus>;
  /** Makes a job without a document, and returns its ID. @throws TransportError, DocumentRefusal */
  create(request: DocumentRequest, signal: AbortSignal): Promise<string>;
  /**
   * Gives the job its one document; resolves when the device has taken it.
   * @throws TransportError, DocumentRefusal
   */
  send(job: string, mediaType: string, document: Uint8Array, signal: AbortSignal): Promise<void>;
  /** null: the device knows no such job. @throws TransportError */
  jobState(job: string, signal: AbortSignal): Promise<PrinterJobState | null>;
  /** IDs of the jobs of that name that have not ended. @throws TransportError */
  find(name: string, signal: AbortSignal): Promise<string[]>;
  /** Asks the device to end a job. If the job has ended already, nothing happens. @throws TransportError */
  cancel(job: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The device understood the request and refused it. */
export class DocumentRefusal extends Error {
  /** The device's own name for the reason: `server-error-busy`. */
  readonly code: string;
  /** The same request may be accepted later. */
  readonly retryLater: boolean;

  constructor(code: string, retryLater: boolean, options?: ErrorOptions) {
    super(`The device refused: ${code}`, options);
    this.name = 'DocumentRefusal';
    this.code = code;
    this.retryLater = retryLater;
  }
}

/** Credentials and certificates, where an address alone is not enough. Never logged. */
export interface DeviceAccess {
  user?: string | undefined;
  password?: string | undefined;
  /** PEM of the authority that signed the device's certificate. */
  ca?: string | undefined;
  /** SHA-256 of the device's own certificate, hexadecimal. */
  fingerprint256?: string | undefined;
  /** The password may be sent over a connection that is not encrypted, or to an unverified certificate. */
  inClear?: boolean | undefined;
}

/** A transport to devices that take documents and keep jobs of their own. */
export interface DocumentTransport extends TransportTraits {
  readonly takes: 'documents';
  /** Connects to nothing yet. @throws TransportError `address-invalid` */
  open(uri: URL, timeouts: TransportTimeouts, access: DeviceAccess): DocumentPort;
}
