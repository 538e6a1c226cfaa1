/**
 * Why a job did not print: one table, with what becomes of the job.
 *
 * `failed`: certain that the labels after `labels.printed` did not and will not print. `held`: a person must
 * decide, because labels may or may not have come out; nothing is ever printed again by guess.
 */
import { z } from 'zod';
import { defineFaults, type FaultKind, wordsOf } from './define-faults.ts';
import { type Reason, readableReason, reasonText } from './reason.ts';

export const JOB_FAULTS = {
  'template-invalid': { outcome: 'failed', title: 'The template cannot be printed' },
  'value-invalid': { outcome: 'failed', title: 'A value cannot be printed by its element' },
  'does-not-fit': { outcome: 'failed', title: 'An element does not fit its space' },
  'language-unsupported': {
    outcome: 'failed',
    title: 'The printer does not take this template',
  },
  'payload-unreadable': { outcome: 'failed', title: 'The queued job could not be read' },
  'printer-refused': { outcome: 'failed', title: 'The printer does not take the job' },
  'printer-aborted': {
    outcome: 'failed',
    title: 'The printer ended the job before all labels were out',
  },
  'outcome-unknown': { outcome: 'held', title: 'Labels may or may not have been printed' },
  'permission-withdrawn': { outcome: 'held', title: 'The job may not be printed as it is any more' },
  internal: { outcome: 'held', title: 'The agent failed in an unforeseen way' },
} as const satisfies Record<string, FaultKind & { outcome: 'failed' | 'held' }>;

export type JobFaultCode = keyof typeof JOB_FAULTS;

export const jobFault = z.object({
  code: z.enum(wordsOf(JOB_FAULTS)),
  /** For a person; names template, element, record and reason, never a record's values. */
  message: z.string().max(2000),
  /** Index into the job's records, from 0. */
  record: z.int().min(0).optional(),
  /** JSON pointer into the template: `/elements/3`. */
  element: z.string().max(200).optional(),
  /** The record's field, where one alone is at fault. */
  field: z.string().max(200).optional(),
  /** What the message says, for a page in another language. */
  reason: readableReason,
});
export type JobFault = z.infer<typeof jobFault>;

/** Thrown where a label cannot be made or sent; carries the fault that the job will show. */
export class JobFaultError extends defineFaults('JobFaultError', JOB_FAULTS) {
  readonly fault: JobFault;

  /** @param where with the reason: undefined only if another program sent a fault that has none */
  constructor(
    code: JobFaultCode,
    message: string,
    where: Omit<JobFault, 'code' | 'message' | 'reason'> & { reason: Reason | undefined },
  ) {
    super(code, message);
    this.fault = { code, message, ...where };
  }
}

/** A fault whose message is a sentence of the table of reasons. */
export function faultFor(code: JobFaultCode, because: Reason): JobFaultError {
  return new JobFaultError(code, reasonText(because), { reason: because });
}
