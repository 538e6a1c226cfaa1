/** A held job and the person who has looked: the uncertain labels by their pictures, and what each answer prints. */
import { useSignal } from '@preact/signals';
import { jobView } from '../../src/contract/job.ts';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { TextField } from '../controls/field.tsx';
import { Problem } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { LabelStrip, type Shown } from './label-strip.tsx';

/** Most pictures of uncertain labels; of more, the first and the last. */
const SHOWN = 12;

type Range = { from: number; to: number };

/** The uncertain ones with one neighbour on each side. `to` is the first that is not uncertain. */
function neighbourhood({ from, to }: Range, total: number): Shown[] {
  const { held: words } = t.value;
  const doubt = Array.from({ length: to - from }, (_, at) => from + at);
  const half = SHOWN / 2;
  const shown = doubt.length <= SHOWN ? doubt : [...doubt.slice(0, half), ...doubt.slice(-half)];
  return [
    ...(from > 0 ? [{ index: from - 1, note: words.certain }] : []),
    ...shown.map((index) => ({ index, note: words.doubt, doubt: true })),
    ...(to < total ? [{ index: to, note: words.notSent }] : []),
  ];
}

export function Decision({ job, onDecided }: { job: JobDetails; onDecided: () => void }) {
  const { held: words, general, job: jobWords } = t.value;
  const range = job.uncertain ?? { from: job.labels.printed, to: job.labels.printed };
  const { total } = job.labels;
  const why = useSignal('');
  const first = useSignal(String(range.from + 2));
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const decide = async (from: number) => {
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    try {
      const body = { from, ...(why.value.trim() === '' ? {} : { why: why.value.trim() }) };
      await call(jobView, `/jobs/${encodeURIComponent(job.id)}/resume`, { body });
      say(from >= total ? words.decidedDone : words.decided);
      onDecided();
    } catch (error) {
      problem.value = error instanceof Error ? error : new Error(String(error));
    }
    busy.value = false;
  };
  const act = may('jobs:act');
  const chosen = Number(first.value);
  const within = Number.isInteger(chosen) && chosen > range.from && chosen <= range.to;
  const count = range.to - range.from;
  return (
    <section class="stack" aria-label={words.title}>
      <h2>{words.which(range.from + 1, range.to)}</h2>
      <p class="muted">{words.look}</p>
      {may('labels:read') ? (
        job.data ? (
          <LabelStrip job={job.id} labels={neighbourhood(range, total)} gap={words.more(count - SHOWN)} />
        ) : (
          <p class="note">{jobWords.noData}</p>
        )
      ) : (
        <p class="note">{jobWords.noSight}</p>
      )}
      {act && (
        <>
          <div class="choices">
            <div class="choice">
              <h3>{words.there}</h3>
              <p>{words.thereSays(total - range.to)}</p>
              <button
                type="button"
                class="button"
                disabled={busy.value}
                aria-label={`${range.to >= total ? words.done : words.choose}: ${words.there}`}
                onClick={() => void decide(range.to)}
              >
                {range.to >= total ? words.done : words.choose}
              </button>
            </div>
            <div class="choice">
              <h3>{words.notThere}</h3>
              <p>{words.notThereSays(range.from + 1, total - range.from)}</p>
              <button
                type="button"
                class="button"
                disabled={busy.value}
                aria-label={`${words.choose}: ${words.notThere}`}
                onClick={() => void decide(range.from)}
              >
                {words.choose}
              </button>
            </div>
            {count > 1 && (
              <div class="choice">
                <h3>{words.fromHere}</h3>
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
                {within && <p>{words.fromHereSays(chosen, total - chosen + 1)}</p>}
                <button
                  type="button"
                  class="button"
                  disabled={busy.value || !within}
                  aria-label={`${words.choose}: ${words.fromHere}`}
                  onClick={() => void decide(chosen - 1)}
                >
                  {words.choose}
                </button>
              </div>
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
