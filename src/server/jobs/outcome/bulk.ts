/** Does the same to many jobs at once, to each as if it were the only one. A dry run says what that would do. */
import { isUncertain, type JobView } from '../../../contract/job.ts';
import { type JobBulk, type JobBulkResult, MOST_AT_ONCE } from '../../../contract/job-actions.ts';
import { mayBecome } from '../../../contract/job-life.ts';
import { because, type Reason, reasonIn } from '../../../contract/reason.ts';
import { faultAt, type ProblemCode, ProblemError, payloadInvalid } from '../../problems.ts';
import type { Cancellations } from './cancellations.ts';
import type { JobDecisions } from './decisions.ts';
import type { Decision } from './locked-job.ts';
import type { JobMoves, Target } from './moves.ts';

type Done = JobBulkResult['jobs'][number];
type Fate = Pick<Done, 'outcome' | 'code' | 'detail' | 'reason'> & { fits?: boolean };
type Parts = { cancellations: Cancellations; decisions: JobDecisions; moves: JobMoves };

/** What is done to each job. */
type BulkDeed =
  | { action: 'cancel' | 'retry' }
  | { action: 'release'; uncertain: 'print' | 'skip' }
  | { action: 'move'; to: Target };

/** @throws ProblemError `payload-invalid` where something is missing that the action needs */
export function deedOf({ action, uncertain, to }: JobBulk): BulkDeed {
  if (action === 'release') {
    if (uncertain !== undefined) return { action, uncertain };
    throw payloadInvalid([faultAt('/uncertain', because('bulk-uncertain', {}))]);
  }
  if (action === 'move') {
    if (to !== undefined) return { action, to };
    throw payloadInvalid([faultAt('/to', because('bulk-to', {}))]);
  }
  return { action };
}

/**
 * Waiting jobs come before printing ones. Otherwise an agent that is told to stop a job would take the next one.
 * @param jobs in the order in which they are dealt with, apart from that; jobs beyond `MOST_AT_ONCE` stay as they are
 */
export async function bulk(
  parts: Parts,
  deed: BulkDeed,
  jobs: readonly JobView[],
  dryRun: boolean,
  by: Decision,
): Promise<JobBulkResult> {
  const done: Done[] = [];
  const chosen = jobs.slice(0, MOST_AT_ONCE);
  const begun = ({ status }: JobView) => status === 'printing';
  for (const job of [...chosen.filter((one) => !begun(one)), ...chosen.filter(begun)]) {
    const fate = await orRefused(async () => {
      const expected = await expectedOf(parts, deed, job);
      if (dryRun || expected.outcome === 'refused') return expected;
      return { ...expected, ...(await act(parts, deed, job, by)) };
    });
    done.push({ ...shown(job), labels: labelsOf(deed, job), ...fate });
  }
  return { dryRun, jobs: done, more: jobs.length > MOST_AT_ONCE };
}

function shown({ id, status, labels }: JobView): Pick<Done, 'id' | 'status' | 'labels' | 'sent' | 'fits'> {
  const { total, sent, printed } = labels;
  return {
    id,
    status,
    labels: total - printed,
    sent: status === 'printing' ? Math.max(0, sent - printed) : 0,
    fits: true,
  };
}

/** How many labels the deed is about. */
function labelsOf(deed: BulkDeed, job: JobView): number {
  return job.labels.total - (deed.action === 'release' ? releasedFrom(deed, job) : job.labels.printed);
}

/** The label that a held job goes on with. */
function releasedFrom(
  deed: Extract<BulkDeed, { action: 'release' }>,
  { uncertain, labels }: JobView,
): number {
  const { from, to } = uncertain ?? { from: labels.printed, to: labels.printed };
  return deed.uncertain === 'print' ? from : to;
}

function refused(code: ProblemCode, detail: string, reason?: Reason): Fate {
  return { outcome: 'refused', code, detail, ...reasonIn(reason) };
}

/** Refused: the job has ended, somebody has decided since it was looked at, or the deed does not fit it. */
async function orRefused<T>(work: () => Promise<T>): Promise<T | Fate> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return refused(error.code, error.message, error.reason);
  }
}

const DONE: Fate = { outcome: 'done', code: null, detail: null };

/** What would become of a job as it is now. @throws as `JobDecisions.plan` and `JobMoves.check` do */
async function expectedOf(parts: Parts, deed: BulkDeed, job: JobView): Promise<Fate> {
  const { status } = job;
  switch (deed.action) {
    case 'cancel':
      if (!mayBecome(status, 'canceled', 'person')) return refused('job-not-queued', `the job is ${status}`);
      return { outcome: status === 'printing' ? 'asked' : 'done', code: null, detail: null };
    case 'retry':
      if (status === 'held') return refused('labels-uncertain', 'a person has to look which labels are out');
      if (status !== 'failed') return refused('job-not-held', `the job is ${status}`);
      if (isUncertain(job)) return refused('labels-uncertain', 'nobody knows which labels are out');
      await parts.decisions.plan(job.id, undefined);
      return DONE;
    case 'release':
      if (status !== 'held') return refused('job-not-held', `the job is ${status}`);
      await parts.decisions.plan(job.id, releasedFrom(deed, job));
      return DONE;
    case 'move':
      if (status === 'printing') {
        return { outcome: 'asked', code: null, detail: null, fits: await parts.moves.check(job.id, deed.to) };
      }
      if (status !== 'queued' && !mayBecome(status, 'queued', 'person'))
        return refused('job-not-movable', `the job is ${status}`);
      if (isUncertain(job)) return refused('labels-uncertain', 'a person has to look which labels are out');
      return { ...DONE, fits: await parts.moves.check(job.id, deed.to) };
  }
}

async function act(parts: Parts, deed: BulkDeed, job: JobView, by: Decision): Promise<Partial<Done> & Fate> {
  const now = await acted(parts, deed, job, by);
  const asked = now.reasons.includes('cancel-requested');
  return { status: now.status, outcome: asked ? 'asked' : 'done', code: null, detail: null };
}

async function acted(parts: Parts, deed: BulkDeed, job: JobView, by: Decision): Promise<JobView> {
  const { id } = job;
  switch (deed.action) {
    case 'cancel':
      return await parts.cancellations.cancel(id, false, by);
    case 'retry':
      return await parts.decisions.resume(id, undefined, by);
    case 'release':
      return await parts.decisions.resume(id, releasedFrom(deed, job), by);
    case 'move':
      return await parts.moves.move(id, deed.to, by);
  }
}
