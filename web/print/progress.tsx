/** The progress of a job that has just been sent. */
import { to } from '../address/place.ts';
import { Shown } from '../controls/page.tsx';
import { JobActions } from '../jobs/job-actions.tsx';
import { Head, isToDecide, Next } from '../jobs/next.tsx';
import { useJob } from '../jobs/one-job.ts';
import { useOutcome } from '../jobs/outcomes.tsx';
import { t } from '../texts/texts.ts';

export function Progress({ job, onAnother }: { job: string; onAnother: () => void }) {
  const { print: words, job: jobWords } = t.value;
  const { live, reload, still } = useJob(job);
  useOutcome(live.data);
  // The main button is the next thing to do: the decision, if the job needs one.
  const decides = live.data !== undefined && isToDecide(live.data);
  return (
    <div class="card stack narrow" aria-live="polite">
      <Shown of={live} onRetry={reload}>
        {(found) => (
          <>
            <h2>{words.progressOf(found.template.name, found.printer.name)}</h2>
            <Head job={found} still={still} />
            <Next job={found} still={still} />
          </>
        )}
      </Shown>
      <div class="row">
        <button type="button" class={decides ? 'button' : 'button primary'} onClick={onAnother}>
          {words.another}
        </button>
        <a class="button" href={to(['jobs', job])}>
          {jobWords.open}
        </a>
        {live.data !== undefined && <JobActions job={live.data} onDone={reload} only={['cancel']} />}
      </div>
    </div>
  );
}
