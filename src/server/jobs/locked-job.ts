/** A job about which a person decides, and of which nobody else does until the transaction ends. */
import { z } from 'zod';
import { jobStatus } from '../../contract/job-life.ts';
import type { Lane } from '../../contract/lane.ts';
import { ProblemError } from '../problems.ts';
import { type Queryable, rowOf } from '../store/pool.ts';
import { LOCK_LANE } from './dispatch.ts';

const lockedJob = z.object({
  status: jobStatus,
  round: z.int(),
  /** It is in the queue, unless that has lost it. */
  dispatched: z.boolean(),
  /** Of which the last report was. */
  delivery: z.int(),
  printed: z.int(),
  total: z.int(),
  uncertain: z.boolean(),
});
export type LockedJob = z.infer<typeof lockedJob>;

/** Nobody adds jobs to this lane, or decides about this one, until the transaction ends. @throws ProblemError `job-not-found` */
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
