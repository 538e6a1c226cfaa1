/** The actions on a printer: hold, resume, settings, test, rename, hide, grant, clear, forget. */
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { z } from 'zod';
import { type JobBulkResult, jobBulkResult } from '../../src/contract/job-actions.ts';
import { printerCleared } from '../../src/contract/printer-actions.ts';
import { go, to } from '../address/place.ts';
import { Ask } from '../controls/dialog.tsx';
import { Check, Field, TextField, ticked, typed } from '../controls/field.tsx';
import { Menu } from '../controls/menu.tsx';
import { Problem, sayProblem } from '../controls/problem.tsx';
import { sets } from '../controls/sets.ts';
import { say } from '../controls/toast.tsx';
import { follow } from '../jobs/outcomes.tsx';
import { call, errorOf } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { PrinterGrants } from './printer-grants.tsx';
import { PrinterSettings } from './printer-settings.tsx';
import { printTest } from './printer-test.tsx';
import { actionPath, groupsOf, mayActOn, type Printer, printerList } from './printer-words.tsx';

type Props = { printer: Printer; onDone: () => void };
type Question = 'hold' | 'set' | 'clear' | 'rename' | 'about' | 'ipp' | 'grant' | 'forget';

export function PrinterActions({ printer, onDone }: Props) {
  const { printers: words } = t.value;
  const asked = useSignal<Question | null>(null);
  const ask = (question: Question) => () => {
    asked.value = question;
  };
  const close = sets(asked, null);
  const act = mayActOn(printer);
  const resume = async () => {
    try {
      await call(z.unknown(), actionPath(printer, 'resume'), { body: {} });
      say(words.resumed);
      onDone();
    } catch (error) {
      sayProblem(error);
    }
  };
  const hide = async () => {
    try {
      await call(z.unknown(), actionPath(printer, printer.hidden ? 'show' : 'hide'), { body: {} });
      say(printer.hidden ? words.showed : words.hid);
      onDone();
    } catch (error) {
      sayProblem(error);
    }
  };
  const Question = asked.value === null ? null : QUESTIONS[asked.value];
  return (
    <>
      {may('jobs:act') && !printer.gone && (
        <a class="button" href={to(['print'], { printer: printer.id })}>
          {words.print}
        </a>
      )}
      {act &&
        !(printer.gone && printer.held === null) &&
        (printer.held === null ? (
          <button type="button" class="button" onClick={ask('hold')}>
            {words.hold}
          </button>
        ) : (
          <button type="button" class="button primary" onClick={() => void resume()}>
            {words.resume}
          </button>
        ))}
      <Menu
        about={printer.name}
        items={[
          ...(may('printers:act') && !printer.gone
            ? [{ words: words.test, onPick: () => void printTest(printer) }]
            : []),
          ...(act && !printer.gone && Object.keys(printer.limits).length > 0
            ? [{ words: words.set, onPick: ask('set') }]
            : []),
          ...(act ? [{ words: words.rename, onPick: ask('rename') }] : []),
          ...(act ? [{ words: words.about, onPick: ask('about') }] : []),
          ...(act && !printer.gone
            ? [{ words: printer.hidden ? words.show : words.hide, onPick: () => void hide() }]
            : []),
          // A printer that is gone cannot be offered any more, but it can still be withdrawn.
          ...(act && printer.ipp !== undefined && !(printer.gone && printer.ipp === null)
            ? [{ words: printer.ipp === null ? words.ipp.offer : words.ipp.withdraw, onPick: ask('ipp') }]
            : []),
          ...(act && printer.grantedTo !== undefined
            ? [{ words: words.grants.action, onPick: ask('grant') }]
            : []),
          ...(act ? [{ words: words.clear, bad: true, onPick: ask('clear') }] : []),
          ...(act && printer.gone ? [{ words: words.forget, bad: true, onPick: ask('forget') }] : []),
        ]}
      />
      {Question !== null && <Question printer={printer} onDone={onDone} onClose={close} />}
    </>
  );
}

type QuestionProps = Props & { onClose: () => void };

function Hold({ printer, onDone, onClose }: QuestionProps) {
  const { printers: words, general } = t.value;
  const why = useSignal('');
  const run = async () => {
    const body = why.value.trim() === '' ? {} : { why: why.value.trim() };
    await call(z.unknown(), actionPath(printer, 'hold'), { body });
    say(words.paused);
    onDone();
  };
  return (
    <Ask title={words.holdTitle} action={words.hold} onClose={onClose} onAction={run}>
      <p>{words.holdSays}</p>
      <TextField label={general.why} maxLength={500} {...typed(why)} />
    </Ask>
  );
}

function Clear({ printer, onDone, onClose }: QuestionProps) {
  const { printers: words, jobs, job, general } = t.value;
  const plan = useSignal<JobBulkResult | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    call(printerCleared, actionPath(printer, 'clear'), {
      body: { dryRun: true, printing: true },
      signal: stop.signal,
    }).then(
      (result) => {
        plan.value = result;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = errorOf(error);
      },
    );
    return () => stop.abort();
  }, []);
  // The job in progress may be about to end well, so only the person decides to stop it.
  const printing = useSignal(false);
  const all = plan.value?.jobs.filter(({ outcome }) => outcome !== 'refused') ?? [];
  const begun = all.filter(({ status }) => status === 'printing');
  const done = printing.value ? all : all.filter(({ status }) => status !== 'printing');
  const labelsOf = (jobs: typeof all) => jobs.reduce((sum, one) => sum + one.labels, 0);
  const sent = begun.reduce((sum, one) => sum + one.sent, 0);
  const run = async () => {
    const body = { printing: printing.value };
    const result = await call(jobBulkResult, actionPath(printer, 'clear'), { body });
    const { done: canceled = [], asked = [] } = Object.groupBy(result.jobs, ({ outcome }) => outcome);
    say(words.cleared(canceled.length, asked.length));
    follow(asked.map(({ id }) => id));
    onDone();
  };
  return (
    <Ask
      title={words.clearTitle}
      action={jobs.bulk.cancel.action}
      danger
      disabled={done.length === 0}
      onClose={onClose}
      onAction={run}
    >
      {problem.value !== undefined && <Problem problem={problem.value} />}
      {plan.value === undefined && problem.value === undefined && <p class="muted">{general.loading}</p>}
      {plan.value !== undefined && (
        <p>{done.length === 0 ? words.clearNone : jobs.bulk.cancel.says(done.length, labelsOf(done))}</p>
      )}
      {begun.length > 0 && <Check label={words.clearPrinting(labelsOf(begun))} {...ticked(printing)} />}
      {printing.value && sent > 0 && <p>{job.mayCome(sent)}</p>}
    </Ask>
  );
}

function Rename({ printer, onDone, onClose }: QuestionProps) {
  const { printers: words, general } = t.value;
  const name = useSignal(printer.name === printer.reportedName ? '' : printer.name);
  const run = async () => {
    const text = name.value.trim();
    await call(z.unknown(), actionPath(printer, 'name'), {
      method: 'PUT',
      body: { name: text === '' ? null : text },
    });
    onDone();
  };
  return (
    <Ask title={words.renameTitle} action={general.save} onClose={onClose} onAction={run}>
      <TextField
        label={words.name}
        hint={words.renameHint(printer.reportedName)}
        maxLength={200}
        placeholder={printer.reportedName}
        {...typed(name)}
      />
    </Ask>
  );
}

function About({ printer, onDone, onClose }: QuestionProps) {
  const { printers: words, general } = t.value;
  const [place, group, note] = [
    useSignal(printer.place ?? ''),
    useSignal(printer.group ?? ''),
    useSignal(printer.note ?? ''),
  ];
  const known = useLive(printerList, '/printers', () => false).live.data ?? [];
  const id = useId();
  const run = async () => {
    const body = { place: place.value, group: group.value, note: note.value };
    await call(z.unknown(), actionPath(printer, 'about'), { method: 'PUT', body });
    onDone();
  };
  return (
    <Ask title={words.aboutTitle} action={general.save} onClose={onClose} onAction={run}>
      <TextField label={words.place} hint={words.placeHint} maxLength={200} {...typed(place)} />
      <TextField label={words.group} hint={words.groupHint} maxLength={100} list={id} {...typed(group)} />
      <datalist id={id}>
        {groupsOf(known).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field label={words.note} hint={words.noteHint}>
        {(attributes) => (
          <textarea
            class="input"
            {...attributes}
            rows={3}
            maxLength={2_000}
            value={note.value}
            onInput={({ currentTarget }) => {
              note.value = currentTarget.value;
            }}
          />
        )}
      </Field>
    </Ask>
  );
}

function Ipp({ printer, onDone, onClose }: QuestionProps) {
  const { ipp: words } = t.value.printers;
  const offers = printer.ipp === null;
  const run = async () => {
    await call(z.unknown(), actionPath(printer, offers ? 'offer' : 'withdraw'), { body: {} });
    say(offers ? words.offered : words.withdrawn);
    onDone();
  };
  return (
    <Ask
      title={offers ? words.offerTitle : words.withdrawTitle}
      action={offers ? words.doOffer : words.doWithdraw}
      danger={!offers}
      onClose={onClose}
      onAction={run}
    >
      <p>{offers ? words.offerSays : words.withdrawSays}</p>
    </Ask>
  );
}

function Forget({ printer, onDone, onClose }: QuestionProps) {
  const { printers: words } = t.value;
  const run = async () => {
    await call(z.unknown(), actionPath(printer), { method: 'DELETE' });
    say(words.forgotten);
    onDone();
    go(['printers']);
  };
  return (
    <Ask title={words.forgetTitle} action={words.forget} danger onClose={onClose} onAction={run}>
      <p>{words.forgetSays}</p>
    </Ask>
  );
}

const QUESTIONS = {
  hold: Hold,
  set: PrinterSettings,
  clear: Clear,
  rename: Rename,
  about: About,
  ipp: Ipp,
  grant: PrinterGrants,
  forget: Forget,
};
