/** The page of one job: its state, its history, its labels and values, and its actions. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type JobDetails, type JobEvent, jobDetails, jobRecords } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Meter } from '../controls/meter.tsx';
import { Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { say } from '../controls/toast.tsx';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { formatWords, inFull, t, when, whenExactly } from '../texts/texts.ts';
import { JobActions } from './job-actions.tsx';
import {
  cameOut,
  faultWords,
  isStuck,
  reasonsInWords,
  StatusBadge,
  shortId,
  TestBadge,
} from './job-words.tsx';
import { LabelStrip } from './label-strip.tsx';
import { foldedLife } from './life.ts';

/** Labels whose pictures are shown at a time. */
const STRIP = 8;
const RECORDS = 20;

export function JobPage({ id }: { id: string }) {
  const { job: words, jobs } = t.value;
  const { live, reload } = useLive(jobDetails, `/jobs/${encodeURIComponent(id)}`, ({ jobs }) =>
    jobs.includes(id),
  );
  const job = live.data;
  useOutcome(job);
  return (
    <Page
      title={job?.template.name ?? words.number(shortId(id))}
      crumb={{ words: jobs.title, href: to(['jobs']) }}
      beside={job && <Head job={job} />}
      actions={job && <JobActions job={job} onDone={reload} />}
    >
      <Shown of={live} onRetry={reload}>
        {(found) => (
          <div class="split">
            <div class="stack wide">
              <Next job={found} />
              <Labels job={found} />
              <Values job={found} />
            </div>
            <div class="stack wide">
              <Facts job={found} />
              <Life job={found} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

/** State, reasons, count and time in one piece: `Waiting: out of labels  3 of 20  since 08:45`. */
function Head({ job }: { job: JobDetails }) {
  const { job: words, jobs } = t.value;
  const { status, reasons, labels, reasonsSince } = job;
  const waits = reasons.length > 0 && isUnderWay(job) && !reasons.includes('cancel-requested');
  return (
    <div class="row numbers">
      {job.test && <TestBadge />}
      <StatusBadge status={status} reasons={reasons} {...(waits ? { why: reasonsInWords(reasons) } : {})} />
      <span>{status === 'canceled' ? cameOut(job) : jobs.of(labels.printed, labels.total)}</span>
      {waits && reasonsSince !== null && <span class="muted">{words.since(when(reasonsSince))}</span>}
    </div>
  );
}

function isUnderWay({ status }: JobDetails): boolean {
  return status === 'printing' || status === 'queued';
}

/** Whether it is to stop, or what is left of it is to go elsewhere. */
function isStopping({ reasons, moving }: JobDetails): boolean {
  return reasons.includes('cancel-requested') || (moving !== null && moving.refused === null);
}

/** Says what came out once a job has stopped: who asked for that may look elsewhere on the page. */
function useOutcome(job: JobDetails | undefined): void {
  const stopping = useRef(false);
  useEffect(() => {
    if (job === undefined) return;
    if (isStopping(job)) {
      stopping.current = true;
    } else if (stopping.current && (job.status === 'canceled' || job.status === 'printed')) {
      stopping.current = false;
      say(job.status === 'printed' ? t.value.job.tooLate : `${t.value.job.stopped} ${cameOut(job)}.`);
    }
  }, [job]);
}

function Next({ job }: { job: JobDetails }) {
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
        {isStopping(job) && job.labels.sent > job.labels.printed && underWay && (
          <p>{words.mayCome(job.labels.sent - job.labels.printed)}</p>
        )}
        {job.moving?.refused != null && <p>{words.moveRefused(job.moving.printer, job.moving.refused)}</p>}
        {job.error !== null && <p>{faultWords(job.error)}</p>}
        {(job.status === 'held' || job.actions.includes('release')) && (
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

function Labels({ job }: { job: JobDetails }) {
  const { job: words } = t.value;
  const count = useSignal(STRIP);
  const shown = Math.min(count.value, job.labels.total);
  return (
    <section class="stack tight">
      <h2>{words.labels}</h2>
      {!may('labels:read') && <p class="muted">{words.noSight}</p>}
      {may('labels:read') && !job.data && <p class="muted">{words.noData}</p>}
      {may('labels:read') && job.data && (
        <>
          <LabelStrip job={job.id} labels={Array.from({ length: shown }, (_, index) => ({ index }))} />
          {shown < job.labels.total && (
            <div class="row">
              <button
                type="button"
                class="button"
                onClick={() => {
                  count.value += STRIP;
                }}
              >
                {words.moreLabels}
              </button>
              <span class="muted small">{words.labelOf(shown, job.labels.total)}</span>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function Values({ job }: { job: JobDetails }) {
  const { job: words, general } = t.value;
  const from = useSignal(0);
  const sees = may('labels:read') && job.data && job.records > 0;
  const path = `/jobs/${encodeURIComponent(job.id)}/records?from=${from.value}&limit=${RECORDS}`;
  const { live, reload } = useLive(jobRecords, sees ? path : null, () => false);
  if (!sees) return null;
  return (
    <section class="stack tight">
      <h2>{words.values}</h2>
      <Shown of={live} onRetry={reload}>
        {(page) => {
          const fields = [...new Set(page.records.flatMap((record) => Object.keys(record)))];
          if (fields.length === 0) return <p class="muted">{general.none}</p>;
          return (
            <>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too */}
              <section class="card flush table-scroll" tabIndex={0} aria-label={words.values}>
                <table>
                  <thead>
                    <tr>
                      <th>{words.record}</th>
                      {fields.map((field) => (
                        <th key={field}>{field}</th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {page.records.map((record, at) => (
                      <tr key={page.from + at}>
                        <td class="muted numbers">{page.from + at + 1}</td>
                        {fields.map((field) => (
                          <td key={field}>{shownValue(record[field])}</td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </section>
              {page.total > RECORDS && (
                <div class="row">
                  <span class="muted small">
                    {words.valuesOf(page.from + 1, page.from + page.records.length, page.total)}
                  </span>
                  <button
                    type="button"
                    class="button"
                    disabled={page.from === 0}
                    aria-label={t.value.print.previous}
                    onClick={() => {
                      from.value = Math.max(0, from.value - RECORDS);
                    }}
                  >
                    ←
                  </button>
                  <button
                    type="button"
                    class="button"
                    disabled={page.from + page.records.length >= page.total}
                    aria-label={t.value.print.next}
                    onClick={() => {
                      from.value += RECORDS;
                    }}
                  >
                    →
                  </button>
                </div>
              )}
            </>
          );
        }}
      </Shown>
    </section>
  );
}

function shownValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function Facts({ job }: { job: JobDetails }) {
  const { job: words, jobs } = t.value;
  return (
    <dl class="facts">
      <dt>{jobs.job}</dt>
      <dd class="mono">{job.id}</dd>
      <dt>{jobs.printer}</dt>
      <dd>
        <a href={to(['printers', job.printer.id])}>{job.printer.name}</a>
      </dd>
      <dt>{jobs.template}</dt>
      <dd>
        <a href={to(['templates', job.template.id])}>{job.template.name}</a>
      </dd>
      <dt>{words.format}</dt>
      <dd>
        {formatWords(job.format)}, {words[job.orientation]}
      </dd>
      <dt>{words.copies}</dt>
      <dd>{job.copies}</dd>
      <dt>{words.account}</dt>
      <dd>
        <a class="anywhere" href={to(['jobs'], { account: job.account })}>
          {job.account}
        </a>
      </dd>
      <dt>{jobs.accepted}</dt>
      <dd>
        <Time at={job.createdAt} />
      </dd>
      <OtherJobs are={words.restOf} ids={job.restOf === null ? [] : [job.restOf.id]} />
      <OtherJobs are={words.rests} ids={job.rests.map(({ id }) => id)} />
      <OtherJobs are={words.reprintOf} ids={job.reprintOf === null ? [] : [job.reprintOf]} />
      <OtherJobs are={words.reprints} ids={job.reprints.map(({ id }) => id)} />
    </dl>
  );
}

function OtherJobs({ are, ids }: { are: string; ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <>
      <dt>{are}</dt>
      <dd>
        {ids.map((id) => (
          <div key={id}>
            <a class="mono" href={to(['jobs', id])}>
              {shortId(id)}
            </a>
          </div>
        ))}
      </dd>
    </>
  );
}

function Life({ job }: { job: JobDetails }) {
  const { job: words } = t.value;
  const unfolded = useSignal(false);
  const lines = unfolded.value ? job.events : foldedLife(job.events);
  return (
    <section class="stack tight">
      <h2>{words.life}</h2>
      <ol class="timeline">
        {lines.map((line, at) => (
          <li key={`${'kind' in line ? line.at : line[0]?.at} ${at}`}>
            {'kind' in line ? (
              <Event event={line} />
            ) : (
              <button
                type="button"
                class="link"
                onClick={() => {
                  unfolded.value = true;
                }}
              >
                {words.folded(line.length)}
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Event({ event }: { event: JobEvent }) {
  const { job: words, event: said } = t.value;
  return (
    <>
      <div class="anywhere">{eventWords(event)}</div>
      {event.error !== null && <div class="small anywhere">{faultWords(event.error)}</div>}
      {event.uncertain !== null && (
        <div class="small">{words.maybeOut(event.uncertain.from + 1, event.uncertain.to)}</div>
      )}
      {event.why !== null && <div class="small anywhere">{t.value.general.quoted(event.why)}</div>}
      <time dateTime={event.at} title={inFull(event.at)}>
        {whenExactly(event.at)}
        {(event.labels.sent > 0 || event.labels.printed > 0) &&
          ` · ${said.progress(event.labels.sent, event.labels.printed)}`}
      </time>
    </>
  );
}

function eventWords({ kind, who, reasons, printer }: JobEvent): string {
  const { event: said } = t.value;
  switch (kind) {
    case 'waits':
      return reasons.length === 0 ? said.goesOn : said.waits(reasonsInWords(reasons));
    case 'moved':
      return said.moved(who, printer.name);
    case 'printing':
      return reasons.length === 0 ? said.printing : said.printingWaits(reasonsInWords(reasons));
    case 'accepted':
    case 'queued':
    case 'printed':
    case 'canceled':
    case 'decided':
    case 'cancel-requested':
      return said[kind](who);
    default:
      return said[kind];
  }
}
