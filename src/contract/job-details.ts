/** The view of one job, `GET /app/jobs/{id}`, and the values of its labels, `GET /app/jobs/{id}/records`. */
import { z } from 'zod';
import { wordsOf } from './define-faults.ts';
import { jobFault } from './fault.ts';
import { jobReason, jobView } from './job.ts';
import { jobStatus } from './job-life.ts';
import { labelRecord } from './print-request.ts';

/** What happened to a job. */
const JOB_EVENTS = {
  accepted: 'The request was taken; `who` sent it.',
  queued: "It waits in its printer's lane: handed back by its agent, or sent on its way again by a person.",
  printing: 'An agent has it.',
  waits: 'Something holds it up: `reasons`. An event without reasons says that it goes on.',
  printed: 'Every label is out.',
  failed: 'The rest is certain not to be out: `error`.',
  held: 'Labels may or may not be out: `error`, `uncertain`.',
  canceled: 'Nothing more of it is printed.',
  decided: 'A person said which uncertain labels of a canceled job are out.',
  'cancel-requested': 'A person wants no more of it; its agent has been asked to stop.',
  moved: 'A person sent it, or what was left of it, to another printer.',
} as const;
export const jobEventKind = z.enum(wordsOf(JOB_EVENTS));

const jobEvent = z.object({
  at: z.iso.datetime(),
  kind: jobEventKind,
  /** The counts at that time. */
  labels: z.object({ sent: z.int(), printed: z.int() }),
  reasons: z.array(jobReason),
  error: jobFault.nullable(),
  uncertain: z.object({ from: z.int(), to: z.int() }).nullable(),
  printer: z.object({ id: z.string(), name: z.string() }),
  /** The person or account that decided it; null: an agent or the service. */
  who: z.string().nullable(),
  /** Why, in the words of who decided it. */
  why: z.string().nullable(),
});
export type JobEvent = z.infer<typeof jobEvent>;

/** What can be done to a job as it is now. */
const jobAction = z.enum(['cancel', 'retry', 'release', 'move', 'reprint']);
export type JobAction = z.infer<typeof jobAction>;

/** A job, and what has become of it, or of the job before it, at another printer. */
export const movedJob = jobView.extend({
  /** The job whose rest this one is, and the printer from which that was moved; null: not known any more. */
  restOf: z.object({ id: z.string(), printer: z.string().nullable() }).nullable(),
  /**
   * The jobs that print what was left of this one at other printers, one, unless it was moved again; `from` is the label with
   * which each begins.
   */
  rests: z.array(z.object({ id: z.string(), printer: z.string(), from: z.int() })),
});
export type MovedJob = z.infer<typeof movedJob>;

export const jobDetails = movedJob.extend({
  account: z.string(),
  /** By which name a client of IPP has sent it, which nobody has checked; null: by none. */
  sender: z.string().nullable().default(null),
  /** The oldest first, at most 500. */
  events: z.array(jobEvent),
  /** Since when it is in its state, and since when its reasons hold. */
  statusSince: z.iso.datetime(),
  reasonsSince: z.iso.datetime().nullable(),
  /** Jobs of its own tenant that its printer prints before it, counted up to `MOST_COUNTED`; 0: there are none, or it does not wait in its lane. */
  before: z.int(),
  /** A person holds the printer: this job waits until it is resumed. */
  hold: z.object({ by: z.string(), at: z.iso.datetime(), why: z.string().nullable() }).nullable(),
  /** The job whose labels this one reprints, and the newest reprints of this job. */
  reprintOf: z.string().nullable(),
  reprints: z.array(z.object({ id: z.string(), status: jobStatus, createdAt: z.iso.datetime() })),
  /** Where the rest of the job goes once the job has stopped; `refused`: why it could not go there. */
  moving: z.object({ printer: z.string(), refused: z.string().nullable() }).nullable(),
  actions: z.array(jobAction),
  /** The labels' values are still kept: pictures can be made, and labels reprinted. */
  data: z.boolean(),
});
export type JobDetails = z.infer<typeof jobDetails>;

/** GET /app/jobs/{id}/records?from=0&limit=50 */
export const recordsQuery = z.strictObject({
  from: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const jobRecords = z.object({
  total: z.int(),
  copies: z.int(),
  from: z.int(),
  records: z.array(labelRecord),
});
export type JobRecords = z.infer<typeof jobRecords>;
