/** Checks the names of lanes and jobs: BullMQ refuses some names, but late, and it is there on Redis only. */
import { type Lane, laneOf, lane as laneSchema } from '../contract/lane.ts';
import { parseQueueId, type QueuedJob } from '../contract/queued-job.ts';
import { QueueError } from './queue-error.ts';

/** Returns the lane, if its name is valid. @throws QueueError `invalid-id` */
export function laneQueue(lane: Lane): Lane {
  if (!laneSchema.safeParse(lane).success) throw invalidId('lane', lane);
  return lane;
}

function invalidId(kind: string, id: string): QueueError {
  return new QueueError('invalid-id', `${JSON.stringify(id.slice(0, 100))} is no ${kind}`);
}

/** @throws QueueError `invalid-id` */
export function laneOfJob(job: QueuedJob): Lane {
  try {
    return laneOf(job);
  } catch {
    throw invalidId('printer ID', job.printerId);
  }
}

/** @throws QueueError `invalid-id` */
export function checkQueueId(id: string): void {
  if (parseQueueId(id) === null) throw invalidId('job ID', id);
}
