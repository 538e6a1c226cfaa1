/** The actions on a job: retry, move, reprint, cancel; each asks first, and says what it does. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { z } from 'zod';
import { type JobReason, jobView } from '../../src/contract/job.ts';
import { jobReprinted } from '../../src/contract/job-actions.ts';
import type { JobAction, JobDetails } from '../../src/contract/job-details.ts';
import { labelRanges } from '../../src/contract/label-ranges.ts';
import { printerView } from '../../src/contract/printer-view.ts';
import { to } from '../address/place.ts';
import { Ask } from '../controls/dialog.tsx';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { say } from '../controls/toast.tsx';
import { Attempts } from '../service/attempts.ts';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { mediaWords, t } from '../texts/texts.ts';
import { cameOut, endOf } from './job-words.tsx';

type ActionProps = { job: JobDetails; onDone: () => void };

/** The actions with a dialog here; a held job is released on a page of its own. */
const ASKED = ['retry', 'move', 'reprint', 'cancel'] as const satisfies JobAction[];
type Asked = (typeof ASKED)[number];

export function JobActions({ job, onDone, only = ASKED }: ActionProps & { only?: readonly Asked[] }) {
  const { job: words } = t.value;
  const asked = useSignal<Asked | null>(null);
  // Outlives the dialog: who closes it after a lost answer and opens it again prints nothing twice either.
  const attempts = useMemo(() => new Attempts(), []);
  if (!may('jobs:act')) return null;
  const labels = { retry: words.retry, move: words.move, reprint: words.reprint, cancel: words.cancel };
  const close = () => {
    asked.value = null;
  };
  const dialogs = { retry: Retry, move: Move, reprint: Reprint, cancel: Cancel };
  const Question = asked.value === null ? null : dialogs[asked.value];
  return (
    <>
      {only
        .filter((action) => job.actions.includes(action))
        .map((action) => (
          <button
            key={action}
            type="button"
            class="button"
            onClick={() => {
              asked.value = action;
            }}
          >
            {labels[action]}
          </button>
        ))}
      {Question !== null && <Question job={job} attempts={attempts} onDone={onDone} onClose={close} />}
    </>
  );
}

type QuestionProps = ActionProps & { attempts: Attempts; onClose: () => void };

const path = (job: JobDetails, action: string) => `/jobs/${encodeURIComponent(job.id)}/${action}`;

function useWhy() {
  const why = useSignal('');
  const field = (
    <TextField
      label={t.value.general.why}
      maxLength={500}
      value={why.value}
      onText={(text) => {
        why.value = text;
      }}
    />
  );
  return { field, why: () => (why.value.trim() === '' ? {} : { why: why.value.trim() }) };
}

/** Labels that were sent, and of which nobody knows yet whether they are out. */
function onTheWay({ status, labels }: JobDetails): number {
  return status === 'printing' ? Math.max(0, labels.sent - labels.printed) : 0;
}

/** Reasons with which nobody learns what becomes of labels that were sent. */
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
    const now = await call(jobView, path(job, 'cancel'), { body: { force: force.value, ...why() } });
    say(now.status === 'canceled' ? `${words.canceled} ${cameOut(now)}.` : words.asked);
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
      {away && (
        <label class="check">
          <input
            type="checkbox"
            checked={force.value}
            onChange={({ currentTarget }) => {
              force.value = currentTarget.checked;
            }}
          />
          {words.force}
        </label>
      )}
      {field}
    </Ask>
  );
}

function Retry({ job, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const { field, why } = useWhy();
  const run = async () => {
    await call(jobView, path(job, 'resume'), { body: why() });
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

/** The other printers as options, and why the job's labels do not fit the media of one of them. */
function useOtherPrinters(job: JobDetails) {
  const { live } = useLive(z.array(printerView), '/printers', () => false);
  const all = live.data ?? [];
  const others = all
    .filter(({ id, hidden }) => id !== job.printer.id && !hidden)
    .map(({ id, name }) => ({ value: id, words: name }));
  const media = (target: string) => {
    const own = all.find(({ id }) => id === job.printer.id)?.formats.find(({ name }) => name === job.format);
    const there = all.find(({ id }) => id === target);
    if (own === undefined || there === undefined) return null;
    const size = t.value.general.mm(own.width, own.height);
    if (there.formats.some(({ width, height }) => t.value.general.mm(width, height) === size)) return null;
    return <p class="note warn">{t.value.job.otherMedia(there.name, mediaWords(there.formats), size)}</p>;
  };
  return { others, media };
}

function Move({ job, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const { others, media } = useOtherPrinters(job);
  const chosen = useSignal('');
  const first = useSignal('');
  const { field, why } = useWhy();
  const target = chosen.value || (others[0]?.value ?? '');
  // Where labels may be out, the page does not guess: a person says which label is the first missing one.
  const { total } = job.labels;
  const doubt = job.status === 'held' && job.uncertain !== null ? job.uncertain : undefined;
  const last = Math.min(doubt?.to ?? total, total - 1);
  const from = doubt === undefined ? undefined : Number(first.value) - 1;
  const decided =
    from === undefined || (Number.isInteger(from) && from >= (doubt?.from ?? 0) && from <= last);
  const left = total - (from !== undefined && decided ? from : (doubt?.from ?? job.labels.printed));
  const run = async () => {
    const body = { printerId: target, ...(from === undefined ? {} : { from }), ...why() };
    const now = await call(jobView, path(job, 'move'), { body });
    say(now.status === 'printing' ? words.stops(now.printer.name) : words.moved(left, now.printer.name));
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
      {others.length === 0 ? (
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
          <ChoiceField
            label={words.moveTo}
            value={target}
            options={others}
            onChoice={(value) => {
              chosen.value = value;
            }}
          />
          {media(target)}
          {field}
        </>
      )}
    </Ask>
  );
}

/** What the move of a job that prints leads to: what goes there, and what nobody knows. */
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

/** The labels of a canceled job that are certain not to be out, and not moved, as text; empty, for all labels, otherwise. */
function restOf(job: JobDetails): string {
  const from = job.uncertain?.to ?? job.labels.printed;
  const end = endOf(job);
  if (job.status !== 'canceled' || from === 0 || from >= end) return '';
  return from + 1 === end ? String(end) : `${from + 1}-${end}`;
}

function Reprint({ job, attempts, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const which = useSignal(restOf(job));
  const target = useSignal(job.printer.id);
  const { others, media } = useOtherPrinters(job);
  const { field, why } = useWhy();
  const ranges = labelRanges(which.value, job.labels.total);
  const run = async () => {
    const body = {
      ...(ranges === undefined || ranges.length === 0 ? {} : { labels: ranges }),
      ...(target.value === job.printer.id ? {} : { printerId: target.value }),
      ...why(),
    };
    const address = path(job, 'reprint');
    const { id } = await attempts.send([address, body], (key) => call(jobReprinted, address, { key, body }));
    say(
      <>
        {words.reprinted} <a href={to(['jobs', id])}>{words.open}</a>
      </>,
    );
    onDone();
  };
  return (
    <Ask
      title={words.reprintTitle}
      action={words.reprint}
      disabled={ranges === undefined}
      onClose={onClose}
      onAction={run}
    >
      <p>{words.reprintSays}</p>
      {job.status === 'canceled' && job.uncertain !== null && (
        <p class="note warn">{words.maybeOut(job.uncertain.from + 1, job.uncertain.to)}</p>
      )}
      <TextField
        label={words.reprintWhich}
        hint={words.reprintHint(job.labels.total)}
        fault={ranges === undefined ? words.reprintWrong(job.labels.total) : undefined}
        value={which.value}
        onText={(text) => {
          which.value = text;
        }}
      />
      <ChoiceField
        label={words.moveTo}
        value={target.value}
        options={[{ value: job.printer.id, words: job.printer.name }, ...others]}
        onChoice={(value) => {
          target.value = value;
        }}
      />
      {media(target.value)}
      {field}
      {attempts.doubt.value && <p class="note warn">{t.value.print.maybeQueued}</p>}
    </Ask>
  );
}
