/**
 * Fields that no record carries: `{{$record}}` and the like.
 *
 * They come from the job and from nothing else, so that a label that is rendered again after a crash, on another
 * agent or a day later is the same label. `$now` is when the job was accepted. There is no number of the copy:
 * the printer makes the copies, and they are copies.
 */
import { JobFaultError } from '../contract/fault.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Template, TemplateField } from '../contract/template.ts';
import { civilTime, isoText, requireZone } from './civil-time.ts';

/** What of a job can stand on its labels. */
export type JobFacts = Pick<QueuedJob, 'createdAt'> & { readonly records: { readonly length: number } };

/** The record's number in its job, from 1: the only built-in that differs from label to label. */
export const RECORD_NUMBER = '$record';
const CONSTANTS = ['$records', '$now', '$today', '$timeZone'] as const;

export function isBuiltIn(field: string): boolean {
  return field === RECORD_NUMBER || isConstant(field);
}

/** The same for every label of a job. */
export function isConstant(field: string): boolean {
  return CONSTANTS.some((name) => name === field);
}

/** What placeholders are filled from when a record does not carry them: defaults of fields, and constants. */
export type Scope = ReadonlyMap<string, string>;

/** What missing or null fields print. */
export function fieldDefaults(fields: readonly TemplateField[]): Scope {
  return new Map(fields.map((field) => [field.name, field.default ?? '']));
}

/**
 * @param job undefined: a template that asks for the time or the number of records cannot be compiled
 * @throws JobFaultError `template-invalid`
 */
export function templateScope(template: Template, job?: JobFacts): Scope {
  const zone = template.timeZone ?? 'UTC';
  try {
    requireZone(zone);
  } catch {
    throw new JobFaultError('template-invalid', `/timeZone: there is no time zone "${zone}"`, {
      element: '/timeZone',
    });
  }
  const scope = new Map(fieldDefaults(template.fields));
  scope.set('$timeZone', zone);
  if (job === undefined) return scope;
  const now = civilTime(job.createdAt, zone);
  scope.set('$records', String(job.records.length));
  scope.set('$now', job.createdAt);
  if (now !== null) scope.set('$today', isoText({ ...now, time: null }));
  return scope;
}

/** A record with its number. */
export function numbered(record: LabelRecord, index: number): LabelRecord {
  return { ...record, [RECORD_NUMBER]: index + 1 };
}
