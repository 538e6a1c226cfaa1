/** A job as the service shows it. */
import { z } from 'zod';
import { jobFault } from './fault.ts';
import { JOB_STATES, JOB_STATUSES, jobStatus } from './job-life.ts';
import { orientation } from './print-request.ts';
import { PRINTER_REASONS } from './printer.ts';

/** Why a job does not go on: the printer's reasons, a person who holds the printer, or a request that it stops. */
export const jobReason = z.enum([...PRINTER_REASONS, 'printer-held', 'cancel-requested']);
export type JobReason = z.infer<typeof jobReason>;

const count = z.int().min(0);

export const jobView = z.object({
  id: z.string(),
  tenant: z.string(),
  status: jobStatus.meta({
    description: JOB_STATUSES.map((status) => `\`${status}\`: ${JOB_STATES[status].means}`).join('\n'),
  }),
  labels: z
    .object({ total: count, sent: count, printed: count })
    .meta({ description: 'Records × copies; what the connection took; what is known to be out.' }),
  reasons: z.array(jobReason),
  error: jobFault.nullable(),
  uncertain: z.object({ from: count, to: count }).nullable().meta({
    description: 'Labels that may or may not be out, counted from 0; `to` is the first that is not.',
  }),
  printer: z.object({ id: z.string(), name: z.string() }),
  template: z.object({ id: z.string(), name: z.string() }),
  format: z.string(),
  orientation,
  copies: count,
  records: count,
  test: z.literal(true).exactOptional().meta({
    description: 'A test key sent it: it prints on a virtual printer. Left out of any other job.',
  }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type JobView = z.infer<typeof jobView>;

/** Whether a person has to say which labels are out. */
export function isUncertain({ uncertain }: Pick<JobView, 'uncertain'>): boolean {
  return uncertain !== null && uncertain.to > uncertain.from;
}
