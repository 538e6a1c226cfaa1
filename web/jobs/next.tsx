/** How a job stands, and what happens next: on its page, and on the card of a job that has just been sent. */
import type { JobDetails } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Meter } from '../controls/meter.tsx';
import { t, when } from '../texts/texts.ts';
import { cameOut, faultWords, isStuck, reasonsInWords, StatusBadge, TestBadge } from './job-words.tsx';

/** State, reasons, count and time in one piece: `Waiting: out of labels  3 of 20  since 08:45`. */
export function Head({ job }: { job: JobDetails }) {
  const { job: words, jobs } = t.value;
  const { status, reasons, labels, reasonsSince } = job;
  const waits = reasons.length > 0 && isUnderWay(job) && !reasons.includes('cancel-requested');
  return (
    <div class="row numbers">
      {job.test && <TestBadge />}
      <StatusBadge job={job} {...(waits ? { why: reasonsInWords(reasons) } : {})} />
      <span>{status === 'canceled' ? cameOut(job) : jobs.of(labels.printed, labels.total)}</span>
      {waits && reasonsSince !== null && <span class="muted">{words.since(when(reasonsSince))}</span>}
    </div>
  );
}

function isUnderWay({ status }: JobDetails): boolean {
  return status === 'printing' || status === 'queued';
}

/** Whether it is to stop, or what is left of it is to go elsewhere. */
export function isStopping({ reasons, moving }: JobDetails): boolean {
  return reasons.includes('cancel-requested') || (moving !== null && moving.refused === null);
}

/** Whether it needs a person to say which labels are out. */
export function isToDecide({ status, actions }: JobDetails): boolean {
  return status === 'held' || actions.includes('release');
}

export function Next({ job }: { job: JobDetails }) {
  const { job: words } = t.value;
  const doubt = job.status === 'held' || job.uncertain !== null;
  const tone = doubt ? 'warn' : job.status === 'failed' ? 'bad' : '';
  const underWay = isUnderWay(job);
  return (
    <section class="stack tight" aria-label={words.next}>
      <div class={`note ${underWay && isStuck(job.reasons) ? 'warn' : tone}`}>
        <p>{nextWords(job)}</p>
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

function nextWords(job: JobDetails): string {
  const { job: words } = t.value;
  const [rest] = job.rests;
  if (job.status === 'canceled' && rest !== undefined) return words.nextMoved(rest.printer);
  if (job.status === 'queued' && job.hold !== null) return words.nextHold(job.hold.by);
  const stops = job.reasons.includes('cancel-requested');
  if (job.moving !== null && job.moving.refused === null) {
    if (stops) return words.nextMoving(job.moving.printer);
    // Where every label that is not out may be out, nothing goes there.
    if ((job.uncertain?.to ?? job.labels.printed) < job.labels.total)
      return words.nextLeft(job.moving.printer);
  }
  if (job.status === 'printing' && stops) return words.nextStopping(job.labels.sent - job.labels.printed);
  if (isUnderWay(job) && isStuck(job.reasons)) return words.nextWaits;
  return {
    queued: words.nextQueued,
    printing: words.nextPrinting,
    printed: words.nextPrinted,
    failed: words.nextFailed,
    held: words.nextHeld,
    canceled: words.nextCanceled,
  }[job.status];
}
