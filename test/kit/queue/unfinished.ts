import type { Lane } from '../../../src/contract/lane.ts';
import type { Queues } from '../../../src/queue/index.ts';

/** How many of these jobs, by their names in the queue, wait in the lane or are in hand. */
export async function unfinished(
  queues: Pick<Queues, 'look'>,
  lane: Lane,
  jobs: readonly string[],
): Promise<number> {
  const looks = await Promise.all(jobs.map((id) => queues.look(lane, id)));
  return looks.filter((known) => known !== null && known.state !== 'ended').length;
}
