/**
 * How a label becomes bytes. A folder a language, one line each in `index.ts`.
 *
 * An encoder lives for one job: `begin` (what the labels have in common), then `label` once per record, in
 * order, then `end`. It may be opened again for the rest of a job that was interrupted. Everything here runs on
 * a render thread; nothing here touches a device.
 */
import type { LanguageId } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';

/** Labels of one record that follow each other. */
export interface LabelRun {
  /** Index into the job's records. */
  readonly record: number;
  readonly copies: number;
  /** Which of the record's labels is the first, from 0, the default. More than one are all like it. */
  readonly copy?: number;
}

export interface LabelEncoder {
  /** Bytes to send before the first label; empty where the language needs none. */
  begin(): Uint8Array;
  /**
   * The bytes that print `copies` copies of one record's label: a run, as of `LabelRun`.
   * @throws JobFaultError `value-invalid`, `does-not-fit`, … with record and element
   */
  label(record: number, copies: number, copy?: number): Promise<Uint8Array>;
  /**
   * The bytes of one document with several records' labels, for a language whose documents cannot simply follow
   * one another. Faults as of `label`.
   */
  document?(labels: readonly LabelRun[]): Promise<Uint8Array>;
  /** Bytes to send after the last label. */
  end(): Uint8Array;
}

export interface Language {
  readonly id: LanguageId;
  readonly mediaType: string;
  /** Where a document cannot have any number of pages: how many. */
  readonly pagesPerDocument?: number;
  /** @throws JobFaultError `template-invalid`, `language-unsupported` */
  open(job: QueuedJob): Promise<LabelEncoder>;
}
