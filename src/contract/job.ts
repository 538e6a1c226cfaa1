/** A job as the service shows it. */
import { z } from 'zod';
import { jobFault } from './fault.ts';
import { orientation } from './print-request.ts';
import { PRINTER_REASONS } from './printer.ts';

export const JOB_STATUSES = ['queued', 'printing', 'printed', 'failed', 'canceled', 'held'] as const;
export const jobStatus = z.enum(JOB_STATUSES);
export type JobStatus = z.infer<typeof jobStatus>;

/** Why a job does not go on: the printer's reasons, and that its agent has been asked to stop. */
export const jobReason = z.enum([...PRINTER_REASONS, 'cancel-requested']);

/** States that a job does not leave by itself. */
export const FINAL_STATUSES: readonly JobStatus[] = ['printed', 'failed', 'canceled', 'held'];

export const jobView = z.object({
  id: z.string(),
  tenant: z.string(),
  status: jobStatus.meta({
    description:
      '`queued`, `printing`: not over; `reasons` says what the printer waits for. `printed`: every label is out, as ' +
      'the printer says. `failed`: the rest is certain not to have been printed; `error` says why. `canceled`. ' +
      '`held`: a person has to look which of the `uncertain` labels are out.',
  }),
  labels: z
    .object({ total: z.int(), sent: z.int(), printed: z.int() })
    .meta({ description: 'Records × copies; what the connection took; what is known to be out.' }),
  reasons: z.array(jobReason),
  error: jobFault.nullable(),
  uncertain: z.object({ from: z.int(), to: z.int() }).nullable().meta({
    description: 'Labels that may or may not be out, counted from 0; `to` is the first that is not.',
  }),
  printer: z.object({ id: z.string(), name: z.string() }),
  template: z.object({ id: z.string(), name: z.string() }),
  format: z.string(),
  orientation,
  copies: z.int(),
  records: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type JobView = z.infer<typeof jobView>;
