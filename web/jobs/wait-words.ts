/** In words, why a job does not go on. */
import type { JobReason, JobView } from '../../src/contract/job.ts';
import { MOST_COUNTED } from '../../src/contract/job-search.ts';
import { listed, t } from '../texts/texts.ts';

/** Reasons that need no person. */
const HARMLESS: readonly JobReason[] = ['busy', 'media-low', 'connecting-to-device', 'cancel-requested'];

export function reasonsInWords(reasons: readonly JobReason[]): string {
  return listed(reasons.map((reason) => t.value.reason[reason]));
}

type Waiting = Pick<JobView, 'status' | 'reasons'> & {
  /** How many jobs are before it, where that is known. */
  before?: number;
};

/** Whether the job waits in its lane and gives no reason: its printer, or the jobs before it, are the reason then. */
export function waitsInLane({ status, reasons }: Waiting): boolean {
  return status === 'queued' && reasons.length === 0;
}

/**
 * Whether the job goes on only once somebody has done something.
 * @param still why nothing comes out of the printer of a job that waits in its lane
 */
export function isStuck({ reasons }: Waiting, still: string | undefined): boolean {
  return still !== undefined || reasons.some((reason) => !HARMLESS.includes(reason));
}

/** @param still as `isStuck` takes it */
export function whyWords(job: Waiting, still: string | undefined): string {
  const { job: words } = t.value;
  if (!waitsInLane(job)) return reasonsInWords(job.reasons);
  const { before = 0 } = job;
  if (still !== undefined) return still;
  return before === 0 ? words.notItsTurn : beforeWords(before);
}

/** How many jobs are before one that waits in its lane. */
export function beforeWords(before: number): string {
  const { job: words } = t.value;
  return before >= MOST_COUNTED ? words.manyBefore(MOST_COUNTED) : words.before(before);
}
