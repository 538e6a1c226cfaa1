/** The progress of a job that has just been sent. */
import { jobDetails } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Meter } from '../controls/meter.tsx';
import { Shown } from '../controls/page.tsx';
import { JobActions } from '../jobs/job-actions.tsx';
import { faultWords, reasonsInWords, StatusBadge } from '../jobs/job-words.tsx';
import { useLive } from '../service/live.ts';
import { t } from '../texts/texts.ts';

export function Progress({ job, onAnother }: { job: string; onAnother: () => void }) {
  const { print: words, job: jobWords, jobs } = t.value;
  const { live, reload } = useLive(jobDetails, `/jobs/${encodeURIComponent(job)}`, (change) =>
    change.jobs.includes(job),
  );
  return (
    <div class="card stack narrow" aria-live="polite">
      <Shown of={live} onRetry={reload}>
        {(found) => (
          <>
            <h2>{words.progressOf(found.template.name, found.printer.name)}</h2>
            <div class="row spread">
              <StatusBadge status={found.status} reasons={found.reasons} />
              <span class="numbers">{jobs.of(found.labels.printed, found.labels.total)}</span>
            </div>
            <Meter part={found.labels.printed} of={found.labels.total} />
            {found.reasons.length > 0 && <p>{reasonsInWords(found.reasons)}</p>}
            {found.error !== null && <p class="note bad">{faultWords(found.error)}</p>}
            <div class="row">
              <JobActions job={found} onDone={reload} only={['cancel']} />
            </div>
          </>
        )}
      </Shown>
      <div class="row">
        <button type="button" class="button primary" onClick={onAnother}>
          {words.another}
        </button>
        <a class="button" href={to(['jobs', job])}>
          {jobWords.open}
        </a>
      </div>
    </div>
  );
}
