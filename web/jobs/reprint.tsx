/** Prints labels again of a job that is over. People choose them by their pictures or by their numbers. */
import { useSignal } from '@preact/signals';
import { jobReprinted } from '../../src/contract/job-actions.ts';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Ask } from '../controls/dialog.tsx';
import { TextField } from '../controls/field.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { chosenIn, countOf, has, type Ranges, textOf, toggled } from './chosen-labels.ts';
import { endOf } from './job-words.tsx';
import { LabelPages } from './label-strip.tsx';
import { actionPath, type QuestionProps, useWhy } from './question.tsx';
import { TargetChoice, useTargets } from './target-printer.tsx';

/**
 * The labels that are chosen when the dialog opens: of a canceled job those that are certain not to be out and were not moved, or,
 * if there are none, the uncertain ones. A job of one label leaves no choice.
 */
function firstChoice(job: JobDetails): Ranges {
  const { status, labels, uncertain } = job;
  if (labels.total === 1) return [{ from: 0, to: 1 }];
  if (status !== 'canceled') return [];
  const rest = { from: uncertain?.to ?? labels.printed, to: endOf(job) };
  if (rest.from < rest.to) return [rest];
  return uncertain === null ? [] : [uncertain];
}

export function Reprint({ job, attempts, onDone, onClose }: QuestionProps) {
  const { job: words } = t.value;
  const { total } = job.labels;
  const which = useSignal(textOf(firstChoice(job)));
  const target = useSignal(job.printer.id);
  const found = useTargets([job], { first: job.printer.id });
  const { field, why } = useWhy();
  const chosen = chosenIn(which.value, total);
  const count = chosen === undefined ? 0 : countOf(chosen);
  const run = async () => {
    if (chosen === undefined) return;
    const body = {
      ...(count === total ? {} : { labels: chosen }),
      ...(target.value === job.printer.id ? {} : { printerId: target.value }),
      ...why(),
    };
    const address = actionPath(job, 'reprint');
    const { id } = await attempts.send([address, body], (key) => call(jobReprinted, address, { key, body }));
    say(
      <>
        {words.reprinted} <a href={to(['jobs', id])}>{words.open}</a>
      </>,
    );
    onDone();
  };
  const { uncertain } = job;
  return (
    <Ask
      large
      title={words.reprintTitle}
      action={count === 0 ? words.reprint : t.value.print.print(count)}
      disabled={count === 0}
      onClose={onClose}
      onAction={run}
    >
      <p>{words.reprintSays}</p>
      {job.status === 'canceled' && uncertain !== null && (
        <p class="note warn">{words.maybeOut(uncertain.from + 1, uncertain.to)}</p>
      )}
      {may('labels:read') && total > 1 && (
        <LabelPages
          job={job}
          first={chosen?.[0]?.from ?? 0}
          chosen={(index) => has(chosen ?? [], index)}
          onChoose={(index) => {
            which.value = textOf(toggled(chosen ?? [], index));
          }}
        >
          <button
            type="button"
            class="button"
            onClick={() => {
              which.value = textOf([{ from: 0, to: total }]);
            }}
          >
            {words.chooseAll(total)}
          </button>
        </LabelPages>
      )}
      <TextField
        label={words.reprintWhich}
        hint={words.reprintHint(total)}
        fault={chosen === undefined ? words.reprintWrong(total) : undefined}
        value={which.value}
        onText={(text) => {
          which.value = text;
        }}
      />
      <TargetChoice
        found={found}
        value={target.value}
        onChoice={(id) => {
          target.value = id;
        }}
      />
      {field}
      {attempts.doubt.value && <p class="note warn">{t.value.print.maybeQueued}</p>}
    </Ask>
  );
}
