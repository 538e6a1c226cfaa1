/** Many jobs canceled or sent on at once, each as if alone; first, if asked for, what that would do. */
import type { JobView } from '../../../contract/job.ts';
import { type JobBulk, type JobBulkResult, MOST_AT_ONCE } from '../../../contract/job-actions.ts';
import { mayBecome } from '../../../contract/job-life.ts';
import { ProblemError } from '../../problems.ts';
import type { Cancellations } from './cancellations.ts';
import type { JobDecisions } from './decisions.ts';
import type { Decision } from './locked-job.ts';

type Done = JobBulkResult['jobs'][number];
type Parts = { cancellations: Cancellations; decisions: JobDecisions };

/** @param jobs in the order in which it is done; more than `MOST_AT_ONCE`: the others are left */
export async function bulk(
  parts: Parts,
  { action, dryRun }: Pick<JobBulk, 'action' | 'dryRun'>,
  jobs: readonly JobView[],
  by: Decision,
): Promise<JobBulkResult> {
  const done: Done[] = [];
  for (const job of jobs.slice(0, MOST_AT_ONCE)) {
    const expected = EXPECTED[action](job);
    const acts = !dryRun && expected.outcome !== 'refused';
    done.push(acts ? await act(parts, action, job, by) : { ...shown(job), ...expected });
  }
  return { dryRun, jobs: done, more: jobs.length > MOST_AT_ONCE };
}

function shown({ id, status, labels }: JobView): Pick<Done, 'id' | 'status' | 'labels'> {
  return { id, status, labels: labels.total - labels.printed };
}

function refused(detail: string): Pick<Done, 'outcome' | 'detail'> {
  return { outcome: 'refused', detail };
}

/** What would become of a job as it is now. */
const EXPECTED: Record<JobBulk['action'], (job: JobView) => Pick<Done, 'outcome' | 'detail'>> = {
  cancel: ({ status }) => {
    if (!mayBecome(status, 'canceled', 'person')) return refused(`the job is ${status}`);
    return { outcome: status === 'printing' ? 'asked' : 'done', detail: null };
  },
  retry: ({ status, uncertain }) => {
    if (status === 'held') return refused('a person has to look which labels are out');
    if (status !== 'failed') return refused(`the job is ${status}`);
    if (uncertain !== null && uncertain.to > uncertain.from)
      return refused('nobody knows which labels are out');
    return { outcome: 'done', detail: null };
  },
};

async function act(parts: Parts, action: JobBulk['action'], job: JobView, by: Decision): Promise<Done> {
  try {
    const now =
      action === 'cancel'
        ? await parts.cancellations.cancel(job.id, false, by)
        : await parts.decisions.resume(job.id, undefined, by);
    const asked = now.reasons.includes('cancel-requested');
    return { ...shown(now), labels: shown(job).labels, outcome: asked ? 'asked' : 'done', detail: null };
  } catch (error) {
    // It has ended, or somebody else has decided, since it was looked at.
    if (!(error instanceof ProblemError)) throw error;
    return { ...shown(job), ...refused(error.message) };
  }
}
