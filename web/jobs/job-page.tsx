/** The page of one job: its state, its history, its labels and values, and its actions. */
import { useSignal } from '@preact/signals';
import { type JobDetails, type JobEvent, jobRecords } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { formatWords, inFull, t, whenExactly } from '../texts/texts.ts';
import { JobActions } from './job-actions.tsx';
import { faultWords, shortId } from './job-words.tsx';
import { LabelPages } from './label-strip.tsx';
import { foldedLife } from './life.ts';
import { Head, Next } from './next.tsx';
import { useJob } from './one-job.ts';
import { useOutcome } from './outcomes.tsx';
import { useSenders } from './senders.ts';
import { reasonsInWords } from './wait-words.ts';

const RECORDS = 20;

export function JobPage({ id }: { id: string }) {
  const { job: words, jobs } = t.value;
  const { live, reload, still } = useJob(id);
  const job = live.data;
  const { nameOf } = useSenders();
  useOutcome(job);
  return (
    <Page
      title={job?.template.name ?? words.number(shortId(id))}
      crumb={{ words: jobs.title, href: to(['jobs']) }}
      beside={job && <Head job={job} still={still} />}
      actions={job && <JobActions job={job} onDone={reload} />}
    >
      <Shown of={live} onRetry={reload}>
        {(found) => (
          <div class="split">
            <div class="stack wide">
              <Next job={found} still={still} />
              <Labels job={found} />
              <Values job={found} />
            </div>
            <div class="stack wide">
              <Facts job={found} nameOf={nameOf} />
              <Life job={found} nameOf={nameOf} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

function Labels({ job }: { job: JobDetails }) {
  const { job: words } = t.value;
  return (
    <section class="stack tight">
      <h2>{words.labels}</h2>
      {!may('labels:read') && <p class="muted">{words.noSight}</p>}
      {may('labels:read') && !job.data && <p class="muted">{words.noData}</p>}
      {may('labels:read') && job.data && (
        <>
          <p class="muted small">{words.everyDot}</p>
          {/* The key makes the strip begin anew at labels that become uncertain while the page is open. */}
          <LabelPages key={job.uncertain?.from} job={job} first={job.uncertain?.from ?? 0} />
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

type Told = { job: JobDetails; nameOf: (account: string) => string };

function Facts({ job, nameOf }: Told) {
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
          {nameOf(job.account)}
        </a>
      </dd>
      {job.sender === null ? null : (
        <>
          <dt>{words.sender}</dt>
          <dd class="anywhere">{job.sender}</dd>
        </>
      )}
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

function Life({ job, nameOf }: Told) {
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
              <Event event={line.who === null ? line : { ...line, who: nameOf(line.who) }} />
            ) : (
              <button type="button" class="link" onClick={sets(unfolded, true)}>
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
