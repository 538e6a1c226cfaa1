/**
 * What a person does to jobs: POST /app/jobs/{id}/cancel, …/resume, …/move, …/reprint, and POST /app/jobs/bulk. Labels
 * count from 0.
 */
import { z } from 'zod';
import { givenText } from './given-text.ts';
import { jobStatus } from './job-life.ts';
import { time } from './job-search.ts';
import { readableReason } from './reason.ts';
import { tenantId } from './tenant-id.ts';

/** Why somebody decides so, for whoever looks at the job later. */
export const why = givenText.trim().min(1).max(500).exactOptional();

export const jobCancel = z.strictObject({
  /** Cancel even if labels may be under way, when no agent serves the printer; those labels become uncertain. */
  force: z.boolean().default(false),
  why,
});

export const jobResume = z.strictObject({
  /**
   * The label to go on with, from 0. Left out: the first that is not printed; refused if that is uncertain. A canceled job does
   * not go on: of its uncertain labels this is the first that is missing.
   */
  from: z.int().min(0).exactOptional(),
  why,
});

/** GET /app/jobs/{id}/resume?from=4: what going on there would print, by the rule of the decision. */
export const resumeQuery = z.strictObject({
  from: z
    .stringFormat('label number', /^\d{1,9}$/)
    .transform(Number)
    .exactOptional(),
});
export const resumePlan = z.object({
  /** What the job becomes. */
  status: jobStatus.extract(['queued', 'printed', 'canceled']),
  /** The labels that are printed: `to` is the first that is not. */
  prints: z.object({ from: z.int(), to: z.int() }),
});
export type ResumePlan = z.infer<typeof resumePlan>;

/** The printer by ID or name, and one of its formats; by default the first that the template prints in. */
const target = {
  printerId: givenText.min(1).max(200).exactOptional(),
  printer: z.string().min(1).max(200).exactOptional(),
  format: z.string().min(1).max(200).exactOptional(),
};

export type JobTarget = { printerId?: string; printer?: string; format?: string };

/** Answers with the job as `jobView` has it. */
export const jobMove = z.strictObject({
  ...target,
  /** Of a held job, the label to go on with. */
  from: z.int().min(0).exactOptional(),
  why,
});

/** Answers with `jobReprinted`; takes an `Idempotency-Key`. */
export const jobReprint = z.strictObject({
  /** Which labels, in this order; without it all of them. */
  labels: z
    .array(z.strictObject({ from: z.int().min(0), to: z.int().min(1) }))
    .min(1)
    .max(1_000)
    .exactOptional()
    .meta({ description: 'Ranges: `to` is the first that is not printed.' }),
  /** Left out: the job's own printer and format. */
  ...target,
  why,
});
export type JobReprint = z.infer<typeof jobReprint>;
export const jobReprinted = z.object({ id: z.string() });

/** Most jobs of one bulk. */
export const MOST_AT_ONCE = 1_000;

export const BULK_ACTIONS = ['cancel', 'retry', 'release', 'move'] as const;
export const jobBulk = z.strictObject({
  action: z.enum(BULK_ACTIONS),
  /** For `release`: the uncertain labels of each job are printed again, or taken for printed. */
  uncertain: z.enum(['print', 'skip']).exactOptional(),
  /** For `move`: where to. */
  to: z.strictObject(target).exactOptional(),
  /** These jobs, or all that fit the filter; never both. */
  ids: z.array(z.string().max(36)).min(1).max(MOST_AT_ONCE).exactOptional(),
  filter: z
    .strictObject({
      tenant: tenantId.exactOptional(),
      status: z.array(jobStatus).min(1).exactOptional(),
      printer: z.string().min(1).max(200).exactOptional(),
      template: z.string().min(1).max(200).exactOptional(),
      account: z.string().min(1).max(200).exactOptional(),
      since: time.exactOptional(),
      until: time.exactOptional(),
    })
    .exactOptional(),
  /** Says what would be done, and does nothing. */
  dryRun: z.boolean().default(false),
  why,
});
export type JobBulk = z.infer<typeof jobBulk>;

/** What becomes, or would become, of a job. */
const bulkOutcome = z.enum([
  /** The job is canceled, or goes on. */
  'done',
  /** The job's agent has it, and is asked to stop. */
  'asked',
  /** It cannot be done: the job has ended, or a person must look first. */
  'refused',
]);
export const jobBulkResult = z.object({
  dryRun: z.boolean(),
  /** At most `MOST_AT_ONCE`; `more`: others fit the filter too, ask again. */
  jobs: z.array(
    z.object({
      id: z.string(),
      status: jobStatus,
      outcome: bulkOutcome,
      /** Why not: a problem's code, and its detail for a person. */
      code: z.string().nullable(),
      detail: z.string().nullable(),
      reason: readableReason,
      /** Labels that are not printed yet: `retry` prints them, `cancel` drops them. */
      labels: z.int(),
      /** Those of them that were sent, and of which nobody knows yet whether they are out. */
      sent: z.int(),
      /** Of a move that can be done: whether the label fits the media there. */
      fits: z.boolean().default(true),
    }),
  ),
  more: z.boolean(),
});
export type JobBulkResult = z.infer<typeof jobBulkResult>;
