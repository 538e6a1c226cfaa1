/** The page of all jobs: filters, states, a live table, and actions on several jobs. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { BULK_ACTIONS } from '../../src/contract/job-actions.ts';
import { JOB_STATUSES } from '../../src/contract/job-life.ts';
import { jobCounts, jobPage } from '../../src/contract/job-search.ts';
import { place, to } from '../address/place.ts';
import { Older } from '../controls/older.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { asked, timed } from './asked.ts';
import { Bulk, type BulkAction } from './bulk.tsx';
import { Filters } from './filters.tsx';
import { JobTable } from './job-table.tsx';
import { countWords } from './job-words.tsx';
import { useOlderJobs } from './older-jobs.ts';

const aboutJobs = ({ jobs }: { jobs: string[] }) => jobs.length > 0;

export function Jobs() {
  const { jobs: words, start } = t.value;
  const { query } = place.value;
  const filter = asked(query, true);
  const path = `/jobs?${filter}`;
  const { live, reload } = useLive(jobPage, path, aboutJobs, timed);
  const all = useOlderJobs(path, live);
  const picked = useSignal<ReadonlySet<string>>(new Set());
  const bulk = useSignal<{ action: BulkAction; ids: readonly string[] } | null>(null);
  useEffect(() => {
    picked.value = new Set();
  }, [filter]);
  const pick = (ids: readonly string[], on: boolean) => {
    const next = new Set(picked.value);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    picked.value = next;
  };
  return (
    <Page title={words.title}>
      <States />
      <Filters />
      <Shown of={live} onRetry={reload}>
        {(page) =>
          page.jobs.length === 0 ? (
            [...query].length === 0 ? (
              <Empty icon="jobs" title={words.empty} hint={words.emptyHint}>
                {may('jobs:act') && (
                  <a class="button" href={to(['print'])}>
                    {start.toPrint}
                  </a>
                )}
              </Empty>
            ) : (
              <Empty icon="jobs" title={words.noneFits}>
                <a class="button" href={to(['jobs'])}>
                  {words.clear}
                </a>
              </Empty>
            )
          ) : (
            <>
              {picked.value.size > 0 && (
                <div class="note row">
                  <span>{words.picked(picked.value.size)}</span>
                  {BULK_ACTIONS.map((action) => (
                    <button
                      key={action}
                      type="button"
                      class="button"
                      onClick={() => {
                        bulk.value = { action, ids: [...picked.value] };
                      }}
                    >
                      {words.bulk[action].open}
                    </button>
                  ))}
                </div>
              )}
              <JobTable
                jobs={all.rows}
                {...(may('jobs:act') ? { picking: { picked: picked.value, onPick: pick } } : {})}
              />
              <Older of={all} />
            </>
          )
        }
      </Shown>
      {bulk.value !== null && (
        <Bulk
          {...bulk.value}
          made={all.rows.filter(({ id }) => bulk.value?.ids.includes(id))}
          onClose={sets(bulk, null)}
          onDone={() => {
            picked.value = new Set();
            reload();
          }}
        />
      )}
    </Page>
  );
}

/** A tab for each state, with the number of its jobs. A tab filters the jobs by its state. */
function States() {
  const { jobs: words, status } = t.value;
  const { query } = place.value;
  const { live } = useLive(jobCounts, `/jobs/counts?${asked(query, false)}`, aboutJobs, timed);
  const now = query.get('status') ?? '';
  const href = (value: string) => to(['jobs'], { ...Object.fromEntries(query), status: value });
  const underWay = 'queued,printing';
  // A filter for only one of these two states also marks the tab of both.
  const open = underWay.split(',').includes(now) ? underWay : now;
  const tabs = [
    { value: '', words: words.all, count: undefined },
    {
      value: underWay,
      words: words.underWay,
      count: live.data && live.data.queued + live.data.printing,
    },
    ...JOB_STATUSES.filter((one) => one !== 'queued' && one !== 'printing').map((one) => ({
      value: one,
      words: status[one],
      count: live.data?.[one === 'held' ? 'undecided' : one],
    })),
  ];
  return (
    <nav class="tabs" aria-label={words.status}>
      {tabs.map((tab) => (
        <a key={tab.value} href={href(tab.value)} aria-current={tab.value === open ? 'true' : undefined}>
          {tab.words}
          {tab.count !== undefined && <span class="muted small numbers">{countWords(tab.count)}</span>}
        </a>
      ))}
    </nav>
  );
}
