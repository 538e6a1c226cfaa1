/** The same done to several jobs: the service says first what it would do to each. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type JobBulk, type JobBulkResult, jobBulkResult } from '../../src/contract/job-actions.ts';
import { Ask } from '../controls/dialog.tsx';
import { Problem } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { shortId } from './job-words.tsx';

export type BulkAction = JobBulk['action'];

type BulkProps = { action: BulkAction; ids: readonly string[]; onClose: () => void; onDone: () => void };

export function Bulk({ action, ids, onClose, onDone }: BulkProps) {
  const { jobs: words, general } = t.value;
  const plan = useSignal<JobBulkResult | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const body = { action, ids, dryRun: true };
    call(jobBulkResult, '/jobs/bulk', { body, signal: stop.signal }).then(
      (result) => {
        plan.value = result;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = error instanceof Error ? error : new Error(String(error));
      },
    );
    return () => stop.abort();
  }, []);
  const run = async () => {
    const result = await call(jobBulkResult, '/jobs/bulk', { body: { action, ids } });
    say(words.bulkDone(split(result).done.length));
    onDone();
  };
  const { done, refused, labels } = split(plan.value);
  const cancel = action === 'cancel';
  return (
    <Ask
      title={cancel ? words.bulkCancelTitle : words.bulkRetryTitle}
      action={cancel ? t.value.job.cancel : t.value.job.retry}
      danger={cancel}
      disabled={done.length === 0}
      onClose={onClose}
      onAction={run}
    >
      {problem.value !== undefined && <Problem problem={problem.value} />}
      {plan.value === undefined && problem.value === undefined && <p class="muted">{general.loading}</p>}
      {plan.value !== undefined && (
        <>
          <p>
            {done.length === 0
              ? words.bulkNone
              : cancel
                ? words.bulkCancelSays(done.length, labels)
                : words.bulkRetrySays(done.length, labels)}
          </p>
          {refused.length > 0 && (
            <div class="note">
              <p>{words.bulkRefused(refused.length)}</p>
              <ul class="small">
                {refused.slice(0, 10).map(({ id, detail }) => (
                  <li key={id}>
                    <span class="mono">{shortId(id)}</span> {detail}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </>
      )}
    </Ask>
  );
}

function split(result: JobBulkResult | undefined) {
  const jobs = result?.jobs ?? [];
  const done = jobs.filter(({ outcome }) => outcome !== 'refused');
  return {
    done,
    refused: jobs.filter(({ outcome }) => outcome === 'refused'),
    labels: done.reduce((sum, job) => sum + job.labels, 0),
  };
}
