/** Lets a person decide about a job with uncertain labels: shows their pictures, and what each answer would print. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { jobView } from '../../src/contract/job.ts';
import { type ResumePlan, resumePlan } from '../../src/contract/job-actions.ts';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { TextField } from '../controls/field.tsx';
import { Problem } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call, errorOf } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { LabelStrip, type Shown } from './label-strip.tsx';

/** How many uncertain labels are shown at first, and how many more a click adds. The rest, in the middle, is left out. */
const SHOWN = { first: 12, more: 48 };

type Range = { from: number; to: number };

/** The uncertain labels, with one label before and one after them. `to` is the first label after them. */
function neighbourhood({ from, to }: Range, total: number, most: number): Shown[] {
  const { held: words } = t.value;
  const doubt = Array.from({ length: to - from }, (_, at) => from + at);
  const half = most / 2;
  const shown = doubt.length <= most ? doubt : [...doubt.slice(0, half), ...doubt.slice(-half)];
  return [
    ...(from > 0 ? [{ index: from - 1, note: words.certain, fixed: true }] : []),
    ...shown.map((index) => ({ index, note: words.doubt, doubt: true })),
    ...(to < total ? [{ index: to, note: words.notSent, fixed: true }] : []),
  ];
}

/** One of the answers: what it would print, as the service says, and the button that chooses it. */
function Choice(props: {
  job: JobDetails;
  title: string;
  /** The label to go on with, counted from 0; undefined while none is chosen. */
  from: number | undefined;
  says: (plan: ResumePlan) => string;
  busy: boolean;
  onChoose: (from: number) => void;
  children?: ComponentChildren;
}) {
  const { job, title, from } = props;
  const { held: words, general } = t.value;
  const path = from === undefined ? null : `/jobs/${encodeURIComponent(job.id)}/resume?from=${from}`;
  const { live } = useLive(resumePlan, path, ({ jobs }) => jobs.includes(job.id));
  // Until the service has answered about this label, the last plan may be about another one.
  const plan = live.data?.prints.from === from ? live.data : undefined;
  const does =
    plan?.status === 'canceled' ? words.note : plan?.status === 'printed' ? words.done : words.choose;
  return (
    <div class="choice">
      <h3>{title}</h3>
      {props.children}
      {from !== undefined &&
        (live.problem !== undefined ? (
          <Problem problem={live.problem} />
        ) : (
          <p>{plan === undefined ? general.loading : props.says(plan)}</p>
        ))}
      <button
        type="button"
        class="button"
        disabled={props.busy || plan === undefined || live.problem !== undefined}
        aria-label={`${does}: ${title}`}
        onClick={() => from !== undefined && props.onChoose(from)}
      >
        {does}
      </button>
    </div>
  );
}

export function Decision({ job, onDecided }: { job: JobDetails; onDecided: () => void }) {
  const { held: words, general, job: jobWords } = t.value;
  const range = job.uncertain ?? { from: job.labels.printed, to: job.labels.printed };
  const { total } = job.labels;
  const why = useSignal('');
  const most = useSignal(SHOWN.first);
  const first = useSignal(String(range.from + 2));
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const decide = async (from: number) => {
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    try {
      const body = { from, ...(why.value.trim() === '' ? {} : { why: why.value.trim() }) };
      const after = await call(jobView, `/jobs/${encodeURIComponent(job.id)}/resume`, { body });
      say(
        after.status === 'canceled'
          ? words.noted(range.to - from)
          : after.status === 'printed'
            ? words.decidedDone
            : words.decided,
      );
      onDecided();
    } catch (error) {
      problem.value = errorOf(error);
    }
    busy.value = false;
  };
  const act = may('jobs:act');
  const chosen = Number(first.value);
  const within = Number.isInteger(chosen) && chosen > range.from && chosen <= range.to;
  const count = range.to - range.from;
  // A canceled job prints nothing more: here the plan says how many labels are missing.
  const missing = (plan: ResumePlan) =>
    plan.status === 'canceled' ? words.missing(range.to - plan.prints.from) : words.notThereSays(plan);
  const each = { job, busy: busy.value, onChoose: (from: number) => void decide(from) };
  return (
    <section class="stack" aria-label={words.title}>
      <h2>{words.which(range.from + 1, range.to)}</h2>
      <p class="muted">{words.look}</p>
      {may('labels:read') ? (
        job.data ? (
          <>
            {act && count > 1 && <p class="muted">{words.clickFirst}</p>}
            <LabelStrip
              job={job.id}
              labels={neighbourhood(range, total, most.value)}
              gap={
                <button
                  type="button"
                  class="button"
                  onClick={() => {
                    most.value += SHOWN.more;
                  }}
                >
                  {words.more(count - most.value)}
                </button>
              }
              {...(act && count > 1
                ? {
                    chosen: (index: number) => index === chosen - 1,
                    onChoose: (index: number) => {
                      first.value = String(index + 1);
                    },
                  }
                : {})}
            />
          </>
        ) : (
          <p class="note">{jobWords.noData}</p>
        )
      ) : (
        <p class="note">{jobWords.noSight}</p>
      )}
      {act && (
        <>
          <div class="choices">
            <Choice
              {...each}
              title={words.there}
              from={range.to}
              says={(plan) => (plan.status === 'canceled' ? words.missing(0) : words.thereSays(plan))}
            />
            <Choice {...each} title={words.notThere} from={range.from} says={missing} />
            {count > 1 && (
              <Choice {...each} title={words.fromHere} from={within ? chosen - 1 : undefined} says={missing}>
                <TextField
                  label={words.first}
                  type="number"
                  inputMode="numeric"
                  min={range.from + 1}
                  max={range.to}
                  value={first.value}
                  onText={(text) => {
                    first.value = text;
                  }}
                />
              </Choice>
            )}
          </div>
          <TextField
            label={general.why}
            maxLength={500}
            value={why.value}
            onText={(text) => {
              why.value = text;
            }}
          />
        </>
      )}
      {problem.value !== undefined && <Problem problem={problem.value} />}
    </section>
  );
}
