/**
 * The interface by which a label language describes itself: its names, what its printers take, how a label
 * becomes bytes, and what its devices can be asked. Each language has a folder here, and a line in
 * `index.ts`.
 */
import type { LanguageId, RasterType } from '../../src/contract/format.ts';
import type { SettingLimits } from '../../src/contract/print-settings.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Connection } from '../connection.ts';
import type { DeviceIdentity, DeviceStatus } from '../device.ts';

export interface Language {
  readonly id: LanguageId;
  /** The extension of its files: `.zpl`. */
  readonly ending: string;
  /** Its names as a document format (IPP, DNS-SD's `pdl`), in lower case; the usual one first. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** Its names in `CMD` of IEEE 1284 device IDs, in upper case; longer names may begin with one of these. */
  readonly commandSets: readonly string[];
  /** What a printer feeds at a time: a label, or a page, which may be a sheet of labels. */
  readonly prints: 'labels' | 'pages';
  /** Dots fit one resolution only; vectors are drawn at any, by the printer or a print queue's driver. */
  readonly madeOf: 'dots' | 'vectors';
  /** If printers choose the type of its dots: the types that can be made, most reliable first. */
  readonly rasterTypes?: readonly RasterType[];
  /** The most pages of a document; absent: any number. */
  readonly pagesPerDocument?: number;
  /** The settings that people can change at its printers; absent: none. A configured format may have more. */
  readonly settings?: SettingLimits;
  /** What its devices can be asked; absent: nothing. */
  readonly device?: DeviceDialect;
  /** Loads its encoder, only where labels are made: the agent's own thread has no room for drawing code. */
  encoder(): Promise<OpenEncoder>;
}

/**
 * Makes a job's encoder, on a render thread; nothing in it touches a device.
 * @throws JobFaultError `template-invalid`, `language-unsupported`
 */
export type OpenEncoder = (job: QueuedJob) => Promise<LabelEncoder>;

/** Consecutive labels of one record. */
export interface LabelRun {
  /** Index into the job's records. */
  readonly record: number;
  readonly copies: number;
  /** Index of the run's first label among the record's labels, default 0. The run's other labels equal it. */
  readonly copy?: number;
}

/**
 * Lives for one job: `begin` (what the labels have in common), then `label` once per record, in order, then `end`. It
 * may be opened again for the rest of a job that was interrupted.
 */
export interface LabelEncoder {
  /** Bytes to send before the first label; empty where the language needs none. */
  begin(): Uint8Array;
  /**
   * The bytes that print `copies` copies of one record's label: a run, as of `LabelRun`.
   * @throws JobFaultError `value-invalid`, `does-not-fit`, … with record and element
   */
  label(record: number, copies: number, copy?: number): Promise<Uint8Array>;
  /**
   * Throws what `label` would throw for any label of a record, without making it. Absent where that is impossible, or
   * no less work.
   */
  check?(record: number): void | Promise<void>;
  /**
   * The bytes of one document with several records' labels, for a language whose documents cannot simply follow
   * one another. Faults as of `label`.
   */
  document?(labels: readonly LabelRun[]): Promise<Uint8Array>;
  /** Bytes to send after the last label. */
  end(): Uint8Array;
}

/** What a device that speaks the language can be asked, on a connection that takes bytes. */
export interface DeviceDialect {
  /** The command that makes a device drop a partly received label and does nothing else, if there is one. */
  readonly abandon?: Uint8Array;
  /**
   * The command that makes a device delete all that waits in it, whoever sent it, and end with the label
   * under the head.
   */
  readonly forget?: Uint8Array;
  /**
   * For languages without `abandon` whose labels begin by clearing the picture: bytes that complete the data
   * of a label that was cut short, and that a device ignores when it expects no data.
   * @param most the most bytes of data that the device may still expect
   */
  endData?(most: number): Uint8Array;
  /**
   * Asks the device for its identity; null: it did not say. Absent where the language has no query for it.
   * @throws TransportError
   */
  identify?(connection: Connection, signal: AbortSignal): Promise<DeviceIdentity | null>;
  /**
   * @param habits what is known of the device, updated by this call; absent: the caller does not keep it
   * @throws TransportError (`query-timeout`: a device that does not answer is unknown, not idle)
   */
  status(connection: Connection, signal: AbortSignal, habits?: DeviceHabits): Promise<DeviceStatus>;
}

/** What was learned of a device on one connection and holds on the next; the caller keeps it per device. */
export interface DeviceHabits {
  /** The device leaves a query unanswered that arrives in one write with another. */
  oneAtATime?: boolean;
}
