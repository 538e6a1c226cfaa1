/**
 * Fields that no record carries: `{{$record}}` and the like.
 *
 * They come from the job and from nothing else, so that a label that is rendered again after a crash, on
 * another agent or a day later is the same label. `$now` is when the job was accepted. The printer makes the
 * copies of a label; where a template counts them, each copy is a label of its own.
 */

import { JobFaultError } from '../contract/fault.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import { because, reasonText } from '../contract/reason.ts';
import type { DesignedTemplate } from '../contract/template.ts';
import type { TemplateField } from '../contract/template-members.ts';
import { civilTime, isoText, requireZone } from './civil-time.ts';

/** The facts of a job that its labels can show. */
export type JobFacts = Pick<QueuedJob, 'createdAt' | 'copies'> &
  Partial<Pick<QueuedJob, 'jobId' | 'printerCommands' | 'again'>> & {
    readonly records: { readonly length: number };
  };

/** The record's number in its job, from 1. */
const RECORD = '$record';
/** By which copies of a record differ: the copy's number, and the label's number in its job, from 1. */
const COUNTERS = ['$copy', '$label'] as const;
const CONSTANTS = ['$records', '$copies', '$labels', '$now', '$today', '$timeZone'] as const;

export function isBuiltIn(field: string): boolean {
  return isNumber(field) || isConstant(field);
}

/** Differs from label to label, though no record carries it. */
export function isNumber(field: string): boolean {
  return field === RECORD || countsCopies(field);
}

/** Copies of a record that print this field differ: each is a label of its own. */
export function countsCopies(field: string): boolean {
  return COUNTERS.some((name) => name === field);
}

/** The same for every label of a job. */
export function isConstant(field: string): boolean {
  return CONSTANTS.some((name) => name === field);
}

/** What placeholders are filled from when a record does not carry them: defaults of fields, and constants. */
export type Defaults = ReadonlyMap<string, string>;

/** What missing or null fields print. */
export function fieldDefaults(fields: readonly TemplateField[]): Defaults {
  return new Map(fields.map((field) => [field.name, field.default ?? '']));
}

/**
 * @param job undefined: a template that asks for the time or the number of records cannot be compiled
 * @throws JobFaultError `template-invalid`
 */
export function templateScope(
  template: Pick<DesignedTemplate, 'timeZone' | 'fields'>,
  job?: JobFacts,
): Defaults {
  const zone = template.timeZone ?? 'UTC';
  try {
    requireZone(zone);
  } catch {
    const reason = because('no-time-zone', { zone });
    throw new JobFaultError('template-invalid', `/timeZone: ${reasonText(reason)}`, {
      element: '/timeZone',
      reason,
    });
  }
  const scope = new Map(fieldDefaults(template.fields));
  scope.set('$timeZone', zone);
  if (job === undefined) return scope;
  const now = civilTime(job.createdAt, zone);
  const { records, copies } = job.again ?? { records: job.records.length, copies: job.copies };
  scope.set('$records', String(records));
  scope.set('$copies', String(copies));
  scope.set('$labels', String(records * copies));
  scope.set('$now', job.createdAt);
  if (now !== null) scope.set('$today', isoText({ ...now, time: null }));
  return scope;
}

/**
 * A record with the numbers of one of its labels; a label that is printed again keeps its numbers.
 * @param index of the record in its job, from 0
 * @param copy which of the record's labels, from 0
 */
export function numbered(record: LabelRecord, index: number, copy = 0, job?: JobFacts): LabelRecord {
  const copies = job?.again?.copies ?? job?.copies ?? 1;
  const [itsRecord, itsCopy] = job?.again?.labels[index] ?? [index, copy];
  return {
    ...record,
    [RECORD]: itsRecord + 1,
    $copy: itsCopy + 1,
    $label: itsRecord * copies + itsCopy + 1,
  };
}
