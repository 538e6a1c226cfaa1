/** A job that is locked while a person's decision about it is written down. */
import { z } from 'zod';
import { jobStatus } from '../../../contract/job-life.ts';
import type { Lane } from '../../../contract/lane.ts';
import { ProblemError } from '../../problems.ts';
import { type Queryable, rowOf } from '../../store/pool.ts';
import { LOCK_LANE } from '../dispatch/dispatcher.ts';

const lockedJob = z.object({
  status: jobStatus,
  round: z.int(),
  /** It was added to the queue, which may have lost it. */
  dispatched: z.boolean(),
  /** The delivery that the last report was about. */
  delivery: z.int(),
  printed: z.int(),
  total: z.int(),
  uncertain: z.boolean(),
});
export type LockedJob = z.infer<typeof lockedJob>;

/** Locks the lane against new jobs and the job against other decisions, until the transaction ends. @throws ProblemError `job-not-found` */
export async function lockJob(client: Queryable, lane: Lane, id: string): Promise<LockedJob> {
  await client.query(LOCK_LANE, [lane]);
  const job = await rowOf(
    client,
    lockedJob,
    `SELECT status, round, dispatched_at IS NOT NULL AS dispatched, delivery, printed, records * copies AS total,
       coalesce(uncertain_to > uncertain_from, false) AS uncertain
     FROM platen.jobs WHERE id = $1 FOR UPDATE`,
    [id],
  );
  if (job === undefined) throw new ProblemError('job-not-found', 'there is no job with this ID');
  return job;
}
