/**
 * The interface by which a label language describes itself: its names, what its printers take, how a label becomes bytes, and
 * what its devices can be asked. Each language has a folder here, and a line in `index.ts`.
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
  /** Its names as a document format (IPP, DNS-SD's `pdl`), in lower case, the usual one first. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** Its names in `CMD` of IEEE 1284 device IDs, in upper case. A device's longer name may begin with one of these. */
  readonly commandSets: readonly string[];
  /** What a printer feeds at a time: a label, or a page, which may be a sheet of labels. */
  readonly prints: 'labels' | 'pages';
  /** Dots fit only one resolution. Vectors are drawn at any resolution, by the printer or a print queue's driver. */
  readonly madeOf: 'dots' | 'vectors';
  /** If printers choose the type of its dots: the types that can be made, the most reliable first. */
  readonly rasterTypes?: readonly RasterType[];
  /** The most pages of a document; absent: any number. */
  readonly pagesPerDocument?: number;
  /** The settings of its printers that people can change; absent: none. A configured format may have more. */
  readonly settings?: SettingLimits;
  /** What its devices can be asked; absent: nothing. */
  readonly device?: DeviceDialect;
  /**
   * Loads its encoder. It is called only where labels are made, because the agent's own thread has no room for drawing code.
   */
  encoder(): Promise<OpenEncoder>;
}

/**
 * Makes a job's encoder, on a render thread. The encoder touches no device.
 * @throws JobFaultError `template-invalid`, `language-unsupported`
 */
export type OpenEncoder = (job: QueuedJob) => Promise<LabelEncoder>;

/** Consecutive labels of one record. */
export interface LabelRun {
  /** Index into the job's records. */
  readonly record: number;
  readonly copies: number;
  /** Index of the run's first label among the record's labels, default 0. The run's other labels are equal to it. */
  readonly copy?: number;
}

/**
 * Lives for one job. `begin` gives what the labels have in common, then `label` is called once for each record, in order, and
 * then `end`. An encoder may be opened again for the rest of a job that was interrupted.
 */
export interface LabelEncoder {
  /** Bytes to send before the first label; empty if the language needs none. */
  begin(): Uint8Array;
  /**
   * The bytes that print `copies` copies of one record's label, which are a run (`LabelRun`).
   * @throws JobFaultError `value-invalid`, `does-not-fit`, … with record and element
   */
  label(record: number, copies: number, copy?: number): Promise<Uint8Array>;
  /**
   * Throws what `label` would throw for any label of a record, without making the label. Absent: that is impossible, or would
   * be no less work.
   */
  check?(record: number): void | Promise<void>;
  /**
   * The bytes of one document with the labels of several records, for a language whose documents cannot simply follow one
   * another. It throws what `label` throws.
   */
  document?(labels: readonly LabelRun[]): Promise<Uint8Array>;
  /** Bytes to send after the last label. */
  end(): Uint8Array;
}

/** What a device that speaks the language can be asked, on a connection that takes bytes. */
export interface DeviceDialect {
  /** The command that makes a device drop a label that it has only a part of, and does nothing else. Absent: there is none. */
  readonly abandon?: Uint8Array;
  /** The command that makes a device delete all labels that wait in it, anybody's, and stop after the one under the head. */
  readonly forget?: Uint8Array;
  /**
   * For languages without `abandon` whose labels begin by clearing the picture. These bytes complete the data of a label that
   * was cut short. A device ignores them if it expects no data.
   * @param most the most bytes of data that the device may still expect
   */
  endData?(most: number): Uint8Array;
  /**
   * Asks the device for its identity; null: it did not say. Absent: the language has no query for that.
   * @throws TransportError
   */
  identify?(connection: Connection, signal: AbortSignal): Promise<DeviceIdentity | null>;
  /**
   * @param habits what is known of the device; this call updates it. Absent: the caller keeps nothing
   * @throws TransportError (`query-timeout`: the state of a device that does not answer is unknown, not idle)
   */
  status(connection: Connection, signal: AbortSignal, habits?: DeviceHabits): Promise<DeviceStatus>;
}

/** What was learned of a device on one connection, and holds on the next one too. The caller keeps it for each device. */
export interface DeviceHabits {
  /** If two queries arrive in one write, the device leaves one of them unanswered. */
  oneAtATime?: boolean;
}
