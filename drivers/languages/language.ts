/**
 * A language that labels are sent in, as it describes itself: what it is called and where, what its printers take, how
 * a label becomes bytes, and what a device that speaks it can be asked. A folder a language, one line each in
 * `index.ts`.
 */
import type { LanguageId, RasterType } from '../../src/contract/format.ts';
import type { SettingLimits } from '../../src/contract/print-settings.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Connection } from '../connection.ts';
import type { DeviceIdentity, DeviceStatus } from '../device.ts';

export interface Language {
  readonly id: LanguageId;
  /** How the name of a file ends that is in it: `.zpl`. */
  readonly ending: string;
  /** Its names as a document format (IPP, DNS-SD's `pdl`), in lower case; the usual one first. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** Its names in `CMD` of IEEE 1284 device IDs, in upper case; more that begin with one of them may be names too. */
  readonly commandSets: readonly string[];
  /** What a printer moves through at a time: a label, or a page, which may be a sheet of labels. */
  readonly prints: 'labels' | 'pages';
  /** Dots are right at one resolution only; vectors are drawn at any, by the printer or by a print queue's driver. */
  readonly madeOf: 'dots' | 'vectors';
  /** Where its dots are of a type that the printer chooses: those that can be made, surest first. */
  readonly rasterTypes?: readonly RasterType[];
  /** Where a document cannot have any number of pages: how many. */
  readonly pagesPerDocument?: number;
  /** What people can set at its printers; left out where that is nothing. A format may say more, as the configuration has it. */
  readonly settings?: SettingLimits;
  /** What its devices can be asked; left out where they cannot. */
  readonly device?: DeviceDialect;
  /** What makes its bytes. Loaded only where labels are made: the agent's own thread has no room for what draws. */
  encoder(): Promise<OpenEncoder>;
}

/**
 * Makes a job's encoder, on a render thread; nothing in it touches a device.
 * @throws JobFaultError `template-invalid`, `language-unsupported`
 */
export type OpenEncoder = (job: QueuedJob) => Promise<LabelEncoder>;

/** Labels of one record that follow each other. */
export interface LabelRun {
  /** Index into the job's records. */
  readonly record: number;
  readonly copies: number;
  /** Which of the record's labels is the first, from 0, the default. More than one are all like it. */
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
   * Throws what `label` would throw for any of a record's labels, without making them. Left out where only making tells.
   */
  check?(record: number): void;
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
  /** What makes the device forget a label of which only a part arrived, and nothing else; where there is such. */
  readonly abandon?: Uint8Array;
  /**
   * Without `abandon`, where a label begins by clearing the picture: bytes that complete the data of a label that broke
   * off, and mean nothing to a device that expects none.
   * @param most the most bytes of data that the device may still expect
   */
  endData?(most: number): Uint8Array;
  /**
   * null: the device did not say who it is. Left out where the language has no question for it.
   * @throws TransportError
   */
  identify?(connection: Connection, signal: AbortSignal): Promise<DeviceIdentity | null>;
  /**
   * @param habits of the device, as they are known; left out: nobody keeps them
   * @throws TransportError (`query-timeout`: a device that does not answer is unknown, not idle)
   */
  status(connection: Connection, signal: AbortSignal, habits?: DeviceHabits): Promise<DeviceStatus>;
}

/** What was learned of a device on one connection, and holds on the next: kept by whoever has the device. */
export interface DeviceHabits {
  /** It leaves a question open that comes in one write with another. */
  oneAtATime?: boolean;
}
