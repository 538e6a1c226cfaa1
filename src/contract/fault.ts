/**
 * Why a job did not print: one table, with what becomes of the job and whether sending it again is safe.
 *
 * `failed`: certain that the labels after `labels.printed` did not and will not print. `held`: a person must
 * decide, because labels may or may not have come out; nothing is ever printed again by guess.
 */
import { z } from 'zod';

export const JOB_FAULTS = {
  'template-invalid': { outcome: 'failed', retrySafe: true, title: 'The template cannot be printed' },
  'value-invalid': { outcome: 'failed', retrySafe: true, title: 'A value cannot be printed by its element' },
  'does-not-fit': { outcome: 'failed', retrySafe: true, title: 'An element does not fit its space' },
  'language-unsupported': {
    outcome: 'failed',
    retrySafe: true,
    title: 'The printer does not take this template',
  },
  'payload-unreadable': { outcome: 'failed', retrySafe: true, title: 'The queued job could not be read' },
  'printer-refused': { outcome: 'failed', retrySafe: true, title: 'The printer does not take the job' },
  'printer-aborted': {
    outcome: 'failed',
    retrySafe: true,
    title: 'The printer ended the job before all labels were out',
  },
  'outcome-unknown': { outcome: 'held', retrySafe: false, title: 'Labels may or may not have been printed' },
  internal: { outcome: 'held', retrySafe: false, title: 'The agent failed in an unforeseen way' },
} as const satisfies Record<string, { outcome: 'failed' | 'held'; retrySafe: boolean; title: string }>;

export type JobFaultCode = keyof typeof JOB_FAULTS;
const codes = Object.keys(JOB_FAULTS) as [JobFaultCode, ...JobFaultCode[]];

export const jobFault = z.object({
  code: z.enum(codes),
  /** For a person; names template, element, record and reason, never a record's values. */
  message: z.string().max(2000),
  /** Index into the job's records, from 0. */
  record: z.int().min(0).optional(),
  /** JSON pointer into the template: `/elements/3`. */
  element: z.string().max(200).optional(),
  /** The record's field, where one alone is at fault. */
  field: z.string().max(200).optional(),
});
export type JobFault = z.infer<typeof jobFault>;

/** Thrown where a label cannot be made or sent; carries the fault that the job will show. */
export class JobFaultError extends Error {
  readonly fault: JobFault;

  constructor(
    code: JobFaultCode,
    message: string,
    where: { record?: number; element?: string; field?: string } = {},
  ) {
    super(message);
    this.name = 'JobFaultError';
    this.fault = { code, message, ...where };
  }
}
