/** Takes a job out of its lane, so that nothing more of it can be printed from there. */
import type { Lane } from '../../../contract/lane.ts';
import { queueId } from '../../../contract/queued-job.ts';
import type { JobQueue } from '../dispatch/queue-port.ts';
import type { LockedJob } from './locked-job.ts';

export type LaneQueue = Pick<
  JobQueue,
  'ping' | 'remove' | 'look' | 'takeAway' | 'leaseHolders' | 'markCanceled'
>;

/**
 * Call it under the lock of the lane and the job.
 * @param force take the job out even if labels may be under way, provided that no agent serves the lane
 * @returns whether it is certain which labels are out; null: it was not taken out, because its agent must
 *   stop it first, or because the queue has lost it
 */
export async function takenOut(
  queue: LaneQueue,
  of: Lane,
  id: string,
  job: LockedJob,
  force: boolean,
): Promise<'certain' | 'uncertain' | null> {
  const queued = queueId(id, job.round);
  const found = await queue.look(of, queued);
  // The job was not added yet; or the queue has lost it, and the sweep finds out what that means.
  if (found === null) return job.dispatched ? null : 'certain';
  // Whether the last agent has handed the job back and has reported how far the job came.
  const told = job.status === 'queued' && job.delivery >= found.deliveries;
  const underWay = found.state === 'ended' || (found.begun && !told);
  if (found.state === 'waiting' && !underWay && (await queue.remove(of, queued))) return 'certain';
  if ((await queue.leaseHolders([of])).has(of) || (underWay && !force)) return null;
  if (found.state !== 'ended' && !(await queue.takeAway(of, queued))) return null;
  return underWay ? 'uncertain' : 'certain';
}
