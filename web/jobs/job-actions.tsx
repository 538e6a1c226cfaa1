/** The actions on a job: retry, move, reprint, cancel. Each says what it will do, and asks first. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type JobReason, jobView } from '../../src/contract/job.ts';
import type { JobAction, JobDetails } from '../../src/contract/job-details.ts';
import { Ask } from '../controls/dialog.tsx';
import { Check, TextField, ticked, typed } from '../controls/field.tsx';
import { sets } from '../controls/sets.ts';
import { say } from '../controls/toast.tsx';
import { Attempts } from '../service/attempts.ts';
import { call } from '../service/call.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { cameOut } from './job-words.tsx';
import { follow } from './outcomes.tsx';
import { type ActionProps, actionPath, type QuestionProps, useWhy } from './question.tsx';
import { Reprint } from './reprint.tsx';
import { TargetChoice, useTargets } from './target-printer.tsx';

/** The actions that have a dialog here. A held job is released on a page of its own. */
const ASKED = ['retry', 'move', 'reprint', 'cancel'] as const satisfies JobAction[];
type Asked = (typeof ASKED)[number];

export function JobActions({ job, onDone, only = ASKED }: ActionProps & { only?: readonly Asked[] }) {
  const { job: words } = t.value;
  const asked = useSignal<Asked | null>(null);
  // This outlives the dialog: whoever closes it after an answer was lost, and opens it again, prints nothing twice either.
  const attempts = useMemo(() => new Attempts(), []);
  if (!may('jobs:act')) return null;
  const labels = { retry: words.retry, move: words.move, reprint: words.reprint, cancel: words.cancel };
  const close = sets(asked, null);
  const dialogs = { retry: Retry, move: Move, reprint: Reprint, cancel: Cancel };
  const Question = asked.value === null ? null : dialogs[asked.value];
  return (
    <>
      {only
        .filter((action) => job.actions.includes(action))
        .map((action) => (
          <button key={action} type="button" class="button" onClick={sets(asked, action)}>
            {labels[action]}
          </button>
        ))}
      {Question !== null && <Question job={job} attempts={attempts} onDone={onDone} onClose={close} />}
    </>
  );
}

/** How many labels were sent and are not known to be out yet. */
function onTheWay({ status, labels }: JobDetails): number {
  return status === 'printing' ? Math.max(0, labels.sent - labels.printed) : 0;
}

/** While one of these reasons holds, nobody can learn what becomes of the labels that were sent. */
const UNREACHED: readonly JobReason[] = [
  'offline',
  'agent-offline',
  'printer-gone',
  'certificate-unknown',
  'found-elsewhere',
];

function Cancel({ job, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const force = useSignal(false);
  const { field, why } = useWhy();
  const run = async () => {
    const now = await call(jobView, actionPath(job, 'cancel'), { body: { force: force.value, ...why() } });
    if (now.status === 'canceled') {
      say(`${words.canceled} ${cameOut(now)}.`);
    } else {
      say(words.asked);
      follow([job.id]);
    }
    onDone();
  };
  const away = job.reasons.some((reason) => reason === 'agent-offline' || reason === 'printer-gone');
  return (
    <Ask
      title={words.cancelTitle}
      action={words.cancelSubmit}
      keep={words.cancelKeep}
      danger
      onClose={onClose}
      onAction={run}
    >
      <p>
        {words.cancelSays(
          job.labels.printed,
          job.labels.total - Math.max(job.labels.sent, job.labels.printed),
        )}
      </p>
      {onTheWay(job) > 0 && <p>{words.mayCome(onTheWay(job))}</p>}
      {job.status === 'printing' && <p>{words.cancelPrinting}</p>}
      {away && <Check label={words.force} {...ticked(force)} />}
      {field}
    </Ask>
  );
}

function Retry({ job, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const { field, why } = useWhy();
  const run = async () => {
    await call(jobView, actionPath(job, 'resume'), { body: why() });
    say(words.goesOn);
    onDone();
  };
  return (
    <Ask title={words.retryTitle} action={words.retry} onClose={onClose} onAction={run}>
      <p>{words.retrySays(job.labels.printed + 1, job.labels.total - job.labels.printed)}</p>
      {field}
    </Ask>
  );
}

function Move({ job, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const found = useTargets([job], { except: job.printer.id });
  const chosen = useSignal('');
  const first = useSignal('');
  const { field, why } = useWhy();
  const target = chosen.value || found.ready;
  // Where labels may be out, the page does not guess: a person says which is the first that is missing.
  const { total } = job.labels;
  const doubt = job.status === 'held' && job.uncertain !== null ? job.uncertain : undefined;
  const last = Math.min(doubt?.to ?? total, total - 1);
  const from = doubt === undefined ? undefined : Number(first.value) - 1;
  const decided =
    from === undefined || (Number.isInteger(from) && from >= (doubt?.from ?? 0) && from <= last);
  const left = total - (from !== undefined && decided ? from : (doubt?.from ?? job.labels.printed));
  const run = async () => {
    const body = { printerId: target, ...(from === undefined ? {} : { from }), ...why() };
    const now = await call(jobView, actionPath(job, 'move'), { body });
    if (now.status === 'printing') {
      say(words.stops(now.printer.name));
      follow([job.id]);
    } else {
      say(words.moved(left, now.printer.name));
    }
    onDone();
  };
  return (
    <Ask
      title={words.moveTitle}
      action={words.move}
      disabled={target === '' || !decided}
      onClose={onClose}
      onAction={run}
    >
      {found.targets?.length === 0 ? (
        <p>{words.moveNone}</p>
      ) : (
        <>
          {job.status === 'printing' ? <Stops job={job} /> : <p>{words.moveSays(left)}</p>}
          {doubt !== undefined && (
            <TextField
              label={t.value.held.first}
              hint={words.moveFrom(doubt.from + 1, doubt.to, last + 1)}
              type="number"
              inputMode="numeric"
              required
              min={doubt.from + 1}
              max={last + 1}
              {...typed(first)}
            />
          )}
          <TargetChoice
            found={found}
            value={target}
            onChoice={(id) => {
              chosen.value = id;
            }}
          />
          {field}
        </>
      )}
    </Ask>
  );
}

/** What happens when a job that prints is moved: how many labels go there, and of how many nobody knows. */
function Stops({ job }: { job: JobDetails }) {
  const { job: words } = t.value;
  const { labels, reasons } = job;
  const way = onTheWay(job);
  const lost = reasons.some((reason) => UNREACHED.includes(reason));
  return (
    <>
      <p>{words.moveStops(labels.total - Math.max(labels.sent, labels.printed), lost)}</p>
      {way > 0 && <p class={lost ? 'note warn' : ''}>{words.moveWay(way, lost)}</p>}
      {reasons.includes('agent-offline') && <p>{words.moveNoAgent}</p>}
    </>
  );
}
