/** Finding jobs: `GET /app/jobs` (a page of them, the newest first) and `GET /app/jobs/counts`. */
import { z } from 'zod';
import { jobView } from './job.ts';
import { jobId } from './job-id.ts';
import { JOB_STATUSES, jobStatus } from './job-life.ts';
import { saying } from './reason.ts';
import { tenantId } from './tenant-id.ts';

/** PostgreSQL knows no year 0. */
export const time = z.iso.datetime().regex(/^[1-9]/, { error: saying('time-year', {}) });

/** Whether a text is the key of a page: the time and the ID of a job. */
function isKey(text: string): boolean {
  const [at, id, ...more] = text.split('_');
  return more.length === 0 && time.safeParse(at).success && jobId.safeParse(id).success;
}

/** Stands for a value in an address, where the value itself must not be. */
export const VALUE_MARK = /^[0-9a-f]{16}$/;
export const valueAsked = z.strictObject({ value: z.string().max(1_000) });
/** `mark` null: the value is too short or too long to be searched for. */
export const valueMark = z.object({ mark: z.string().nullable() });

/** A filter that is left out filters nothing. */
const filters = {
  /** How the ID begins; hyphens do not matter. */
  id: z
    .string()
    .regex(/^[0-9a-f-]{1,36}$/, { error: saying('job-id-beginning', {}) })
    .optional(),
  tenant: tenantId.optional(),
  /** The name, or how the ID begins. */
  printer: z.string().min(1).max(200).optional(),
  template: z.string().min(1).max(200).optional(),
  /** The mark of a value of its records, as `POST /app/tenants/{id}/jobs/value-mark` answers it. */
  value: z.string().regex(VALUE_MARK, { error: 'expected 16 hexadecimal digits' }).optional(),
  /** Who sent it: an API key, or a person. */
  account: z.string().min(1).max(200).optional(),
  /** Tests only, or none. */
  test: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  /** When the job was accepted: from, and before. */
  since: time.optional(),
  until: time.optional(),
};

/** As a query has it: one status, or several with commas between them. */
const statuses = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(jobStatus).min(1).max(JOB_STATUSES.length));

export const jobFilter = z.strictObject({
  ...filters,
  status: statuses.optional(),
  /** Jobs with labels of which a person has to say whether they are out, whether held or canceled. */
  undecided: z.literal('true').optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  /** `next` of the page before. */
  after: z
    .string()
    .refine(isKey, { error: saying('page-next', {}) })
    .optional(),
});
export type JobFilter = z.output<typeof jobFilter>;

/** `value`: one of the first record's; left out for who may not see what is on labels, null where the data is gone. */
const listedJob = jobView.extend({ value: z.string().nullable().optional() });
export type ListedJob = z.infer<typeof listedJob>;

export const jobPage = z.object({
  jobs: z.array(listedJob),
  /** `after` of the next page; null: this is the last one. */
  next: z.string().nullable(),
});
export type JobPage = z.infer<typeof jobPage>;

/** As `jobFilter`; how many there are in each state, and how many `undecided`. */
export const jobCountFilter = z.strictObject(filters);
export type JobCountFilter = z.output<typeof jobCountFilter>;

/** Jobs of one state are counted up to this many: at this number there may be more. */
export const MOST_COUNTED = 1_000;
export const jobCounts = z.record(z.enum([...JOB_STATUSES, 'undecided']), z.int().min(0).max(MOST_COUNTED));
export type JobCounts = z.infer<typeof jobCounts>;
