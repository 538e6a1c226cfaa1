/** One action on several jobs. First a dry run shows what the service would do to each of them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type JobBulk, type JobBulkResult, jobBulkResult } from '../../src/contract/job-actions.ts';
import { Ask } from '../controls/dialog.tsx';
import { ChoiceField } from '../controls/field.tsx';
import { Problem, refusalWords } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call, errorOf } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { shortId } from './job-words.tsx';
import { follow } from './outcomes.tsx';
import { type Made, TargetChoice, useTargets } from './target-printer.tsx';

export type BulkAction = JobBulk['action'];

type BulkProps = {
  action: BulkAction;
  ids: readonly string[];
  /** What is known of these jobs; jobs that the page has not loaded are left out. */
  made: readonly Made[];
  /** The printer that has all of these jobs: they cannot be moved to it. */
  from?: { id: string; name: string };
  onClose: () => void;
  onDone: () => void;
};

export function Bulk({ action, ids, made, from, onClose, onDone }: BulkProps) {
  const { jobs: words, job: jobWords, general } = t.value;
  const uncertain = useSignal('');
  const printer = useSignal('');
  const plan = useSignal<JobBulkResult | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  const found = useTargets(
    action === 'move' ? made : undefined,
    from === undefined ? {} : { except: from.id },
  );
  // Nothing is preselected: a person decides whether labels are printed again, and on which printer.
  const more =
    action === 'release'
      ? { uncertain: uncertain.value }
      : action === 'move'
        ? { to: { printerId: printer.value } }
        : {};
  const told =
    (action !== 'release' || uncertain.value !== '') && (action !== 'move' || printer.value !== '');
  useEffect(() => {
    plan.value = undefined;
    problem.value = undefined;
    if (!told) return;
    const stop = new AbortController();
    const body = { action, ids, ...more, dryRun: true };
    call(jobBulkResult, '/jobs/bulk', { body, signal: stop.signal }).then(
      (result) => {
        plan.value = result;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = errorOf(error);
      },
    );
    return () => stop.abort();
  }, [uncertain.value, printer.value]);
  const run = async () => {
    const result = await call(jobBulkResult, '/jobs/bulk', { body: { action, ids, ...more } });
    const { done, labels } = split(result);
    const asked = done.filter(({ outcome }) => outcome === 'asked').map(({ id }) => id);
    say(
      action === 'move'
        ? words.bulkMoved(done.length, labels, asked.length, target?.name ?? '')
        : words.bulkDone(done.length, asked.length),
    );
    follow(asked);
    onDone();
  };
  const { done, refused, labels, sent, misfits } = split(plan.value);
  const target = found.targets?.find(({ id }) => id === printer.value);
  const own = words.bulk[action];
  const choose = { value: '', words: t.value.print.choose };
  return (
    <Ask
      title={from === undefined ? own.title : words.moveAllTitle(from.name)}
      action={own.action}
      danger={action === 'cancel'}
      disabled={done.length === 0}
      onClose={onClose}
      onAction={run}
    >
      {action === 'release' && (
        <ChoiceField
          label={words.uncertain}
          value={uncertain.value}
          options={[
            choose,
            { value: 'skip', words: words.uncertainSkip },
            { value: 'print', words: words.uncertainPrint },
          ]}
          onChoice={(value) => {
            uncertain.value = value;
          }}
        />
      )}
      {action === 'move' && (
        <TargetChoice
          found={found}
          value={printer.value}
          quiet
          onChoice={(id) => {
            printer.value = id;
          }}
        />
      )}
      {problem.value !== undefined && <Problem problem={problem.value} />}
      {told && plan.value === undefined && problem.value === undefined && (
        <p class="muted">{general.loading}</p>
      )}
      {plan.value !== undefined && (
        <div class="stack" role="status">
          <p>{done.length === 0 ? words.bulkNone : own.says(done.length, labels)}</p>
          {misfits > 0 && <p class="note warn">{words.misfits(misfits, done.length, target?.media ?? '')}</p>}
          {sent > 0 && <p>{action === 'move' ? jobWords.moveWay(sent, false) : jobWords.mayCome(sent)}</p>}
          {refused.length > 0 && (
            <div class="note">
              <p>{words.bulkRefused(refused.length)}</p>
              <ul class="small">
                {refused.slice(0, 10).map(({ id, code, detail, reason }) => (
                  <li key={id}>
                    <span class="mono">{shortId(id)}</span> {refusalWords(code ?? '', detail ?? '', reason)}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
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
    sent: done.reduce((sum, job) => sum + job.sent, 0),
    misfits: done.filter(({ fits }) => !fits).length,
  };
}
