/** A job that is locked while a person's decision about it is written down. */
import { z } from 'zod';
import { jobStatus } from '../../../contract/job-life.ts';
import { type Lane, lane } from '../../../contract/lane.ts';
import { jobNotFound, oneJob } from '../../one-job.ts';
import { type Also, type Queryable, rowOf } from '../../store/pool.ts';
import { LOCK_LANE } from '../dispatch/dispatcher.ts';

/** Who decides, and why: for the job's history. */
export interface Decision {
  readonly who: string;
  readonly why?: string | undefined;
  /** Writes the decision into the audit, with the job's ID. Left out if the caller writes the audit elsewhere. */
  readonly noted?: Also<string> | undefined;
}

const lockedJob = z.object({
  lane,
  status: jobStatus,
  round: z.int(),
  /** The job was added to the queue, which may have lost it since. */
  dispatched: z.boolean(),
  /** The delivery that the last report was about. */
  delivery: z.int(),
  printed: z.int(),
  total: z.int(),
  /** The uncertain labels; null: none. */
  uncertain: z.object({ from: z.int(), to: z.int() }).nullable(),
  cancel_requested: z.boolean(),
  /** What is left of the job is to go to another printer. */
  moving: z.boolean(),
  /** The job's label data is still kept, so that it can be printed. */
  has_data: z.boolean(),
});
const lanePlace = lockedJob.pick({ lane: true });
export type LockedJob = z.infer<typeof lockedJob>;

const SELECT_JOB = `SELECT lane, status, round, dispatched_at IS NOT NULL AS dispatched, delivery, printed,
    records * copies AS total, CASE WHEN uncertain_to > uncertain_from
      THEN json_build_object('from', uncertain_from, 'to', uncertain_to) END AS uncertain,
    cancel_requested_at IS NOT NULL AS cancel_requested,
    coalesce(NOT move_to ? 'refused', false) AS moving, payload IS NOT NULL AS has_data
  FROM platen.jobs WHERE id = $1`;

/** Lanes that a job may be moved through while it is being locked. */
const MOST_MOVES = 5;

/**
 * Locks the job's lane against new jobs and the job against other decisions, until the transaction ends.
 * @param other the lane that the job is to go to, which is locked as well
 * @throws ProblemError `job-not-found`
 */
export async function lockJob(client: Queryable, id: string, other?: Lane): Promise<LockedJob> {
  for (let tries = 0; tries < MOST_MOVES; tries++) {
    const where = await oneJob(client, lanePlace, 'SELECT lane FROM platen.jobs WHERE id = $1', id);
    // Lanes are locked in one order everywhere, so that two moves in opposite directions cannot deadlock.
    const lanes = [...new Set(other === undefined ? [where.lane] : [where.lane, other])].sort();
    for (const one of lanes) await client.query(LOCK_LANE, [one]);
    const job = await rowOf(client, lockedJob, `${SELECT_JOB} FOR UPDATE`, [id]);
    // Otherwise the job was moved before this took the lock, and this holds the lock of a lane that the job has left.
    if (job?.lane === where.lane) return job;
  }
  throw jobNotFound();
}

/** The same without the lock, to say what a decision would do. @throws ProblemError `job-not-found` */
export async function jobToDecide(db: Queryable, id: string): Promise<LockedJob> {
  return await oneJob(db, lockedJob, SELECT_JOB, id);
}

/** Notes who decides and why, for the history of all jobs that this transaction changes, and writes the audit. */
export async function decidedBy(client: Queryable, id: string, { who, why, noted }: Decision): Promise<void> {
  await client.query(`SELECT set_config('platen.who', $1, true), set_config('platen.why', $2, true)`, [
    who,
    why ?? '',
  ]);
  await noted?.(client, id);
}
