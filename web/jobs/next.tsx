/** The state of a job, and what happens next. Shown on the job's page, and on the card of a job that has just been sent. */
import type { JobDetails } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Meter } from '../controls/meter.tsx';
import type { Still } from '../controls/still-words.ts';
import { t, when } from '../texts/texts.ts';
import { cameOut, faultWords, StatusBadge, TestBadge } from './job-words.tsx';
import { beforeWords, isStuck, whyWords } from './wait-words.ts';

/** `still`: as `useJob` has it. */
type NextProps = { job: JobDetails; still: Still | undefined };

/** State, reasons, count and time in one line: `Waiting: out of labels  3 of 20  since 08:45`. */
export function Head({ job, still }: NextProps) {
  const { job: words, jobs } = t.value;
  const { status, reasons, labels, before } = job;
  const why = isUnderWay(job) && !reasons.includes('cancel-requested') ? whyWords(job, still?.why) : '';
  const since = job.reasonsSince ?? still?.since ?? null;
  return (
    <div class="row numbers">
      {job.test && <TestBadge />}
      <StatusBadge job={job} still={still?.why} {...(why === '' ? {} : { why })} />
      <span>{status === 'canceled' ? cameOut(job) : jobs.of(labels.printed, labels.total)}</span>
      {why !== '' && since !== null && <span class="muted">{words.since(when(since))}</span>}
      {still !== undefined && before > 0 && <span class="muted">{beforeWords(before)}</span>}
    </div>
  );
}

function isUnderWay({ status }: JobDetails): boolean {
  return status === 'printing' || status === 'queued';
}

/** Whether the job is being stopped, or what is left of it is being moved. */
export function isStopping({ reasons, moving }: JobDetails): boolean {
  return reasons.includes('cancel-requested') || (moving !== null && moving.refused === null);
}

/** Whether a person has to say which labels of the job are out. */
export function isToDecide({ status, actions }: JobDetails): boolean {
  return status === 'held' || actions.includes('release');
}

export function Next({ job, still }: NextProps) {
  const { job: words } = t.value;
  const doubt = job.status === 'held' || job.uncertain !== null;
  const tone = doubt ? 'warn' : job.status === 'failed' ? 'bad' : '';
  const underWay = isUnderWay(job);
  const stuck = underWay && isStuck(job, still?.why);
  return (
    <section class="stack tight" aria-label={words.next}>
      <div class={`note ${stuck ? 'warn' : tone}`}>
        <p>{nextWords(job, stuck)}</p>
        {job.restOf !== null && (
          <p>{job.restOf.printer === null ? words.isRestOfGone : words.isRest(job.restOf.printer)}</p>
        )}
        {job.status === 'canceled' && job.uncertain !== null && (
          <p>{words.maybeOut(job.uncertain.from + 1, job.uncertain.to)}</p>
        )}
        {job.moving !== null && isStopping(job) && job.labels.sent > job.labels.printed && underWay && (
          <p>{words.mayCome(job.labels.sent - job.labels.printed)}</p>
        )}
        {job.moving?.refused != null && <p>{words.moveRefused(job.moving.printer, job.moving.refused)}</p>}
        {job.error !== null && <p>{faultWords(job.error)}</p>}
        {isToDecide(job) && (
          <div class="row">
            <a class="button primary" href={to(['held', job.id])}>
              {words.decide}
            </a>
          </div>
        )}
      </div>
      {underWay && <Meter part={job.labels.printed} of={job.labels.total} />}
    </section>
  );
}

function nextWords(job: JobDetails, stuck: boolean): string {
  const { job: words } = t.value;
  const [rest] = job.rests;
  if (job.status === 'canceled' && rest !== undefined) return words.nextMoved(rest.printer);
  if (job.status === 'queued' && job.hold !== null) return words.nextHold(job.hold.by);
  const stops = job.reasons.includes('cancel-requested');
  if (job.moving !== null && job.moving.refused === null) {
    if (stops) return words.nextMoving(job.moving.printer);
    // If each of the remaining labels may be out, none of them goes there.
    if ((job.uncertain?.to ?? job.labels.printed) < job.labels.total)
      return words.nextLeft(job.moving.printer);
  }
  if (job.status === 'printing' && stops) return words.nextStopping(job.labels.sent - job.labels.printed);
  if (stuck) return words.nextWaits;
  return {
    queued: words.nextQueued,
    printing: words.nextPrinting,
    printed: words.nextPrinted,
    failed: words.nextFailed,
    held: words.nextHeld,
    canceled: words.nextCanceled,
  }[job.status];
}
