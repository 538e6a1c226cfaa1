/** The page of jobs for which a person must say which labels are out: the list of them, and the decision about one. */
import { jobPage } from '../../src/contract/job-search.ts';
import { go, to } from '../address/place.ts';
import { Older } from '../controls/older.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { useLive } from '../service/live.ts';
import { t } from '../texts/texts.ts';
import { Decision } from './decision.tsx';
import { JobActions } from './job-actions.tsx';
import { faultWords, shortId, TestBadge } from './job-words.tsx';
import { useOlderJobs } from './older-jobs.ts';
import { useJob } from './one-job.ts';

export function HeldJobs({ id }: { id: string | undefined }) {
  return id === undefined ? <HeldList /> : <HeldJob id={id} />;
}

const UNDECIDED = '/jobs?undecided=true';

function HeldList() {
  const { held: words, general } = t.value;
  const { live, reload } = useLive(jobPage, UNDECIDED, ({ jobs }) => jobs.length > 0);
  const all = useOlderJobs(UNDECIDED, live);
  return (
    <Page title={words.title}>
      <Shown of={live} onRetry={reload}>
        {() =>
          all.rows.length === 0 ? (
            <Empty icon="check" title={words.empty} hint={words.emptyHint} />
          ) : (
            <>
              <ul class="stack">
                {all.rows.map((job) => (
                  <li key={job.id} class="card row spread">
                    <div class="stack tight">
                      <a class="row-link" href={to(['held', job.id])}>
                        {job.template.name}
                      </a>
                      <div class="muted">
                        {job.test && <TestBadge />} {words.at(job.printer.name)} ·{' '}
                        {general.labels(job.labels.total)} · <Time at={job.createdAt} />
                      </div>
                      {job.uncertain !== null && (
                        <div>{words.which(job.uncertain.from + 1, job.uncertain.to)}</div>
                      )}
                    </div>
                    <a
                      class="button primary"
                      href={to(['held', job.id])}
                      aria-label={`${t.value.job.decide}: ${job.template.name}, ${shortId(job.id)}`}
                    >
                      {t.value.job.decide}
                    </a>
                  </li>
                ))}
              </ul>
              <Older of={all} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function HeldJob({ id }: { id: string }) {
  const { held: words, general } = t.value;
  const { live, reload } = useJob(id);
  const job = live.data;
  return (
    <Page
      title={job?.template.name ?? words.title}
      crumb={{ words: words.title, href: to(['held']) }}
      actions={
        job && (
          <a class="button" href={to(['jobs', id])}>
            {t.value.job.number(shortId(id))}
          </a>
        )
      }
    >
      <Shown of={live} onRetry={reload}>
        {(found) => (
          <>
            <p class="muted">
              {found.test && <TestBadge />} {words.at(found.printer.name)} ·{' '}
              {general.labels(found.labels.total)} · <Time at={found.statusSince} />
            </p>
            {found.error !== null && <p class="note warn">{faultWords(found.error)}</p>}
            {found.status === 'canceled' && <p class="note warn">{words.stopped}</p>}
            {found.actions.includes('release') || found.status === 'held' ? (
              <>
                <Decision job={found} onDecided={() => go(['jobs', id])} />
                {found.status === 'held' && (
                  <div class="row">
                    <span class="muted">{words.cancelRest}:</span>
                    <JobActions job={found} only={['cancel', 'move']} onDone={reload} />
                  </div>
                )}
              </>
            ) : (
              <Empty icon="check" title={t.value.status[found.status]}>
                <a class="button" href={to(['held'])}>
                  {words.all}
                </a>
              </Empty>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}
