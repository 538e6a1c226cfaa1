/** The page of all jobs: filters, states, a live table, and actions on several jobs. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobView } from '../../src/contract/job.ts';
import { BULK_ACTIONS } from '../../src/contract/job-actions.ts';
import { JOB_STATUSES } from '../../src/contract/job-life.ts';
import { jobCounts, jobPage, MOST_COUNTED } from '../../src/contract/job-search.ts';
import { place, to } from '../address/place.ts';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { Problem } from '../controls/problem.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { Bulk, type BulkAction } from './bulk.tsx';
import { asked, Filters } from './filters.tsx';
import { JobTable } from './job-table.tsx';

const aboutJobs = ({ jobs }: { jobs: string[] }) => jobs.length > 0;

export function Jobs() {
  const { jobs: words, general, start } = t.value;
  const { query } = place.value;
  const filter = asked(true);
  const { live, reload } = useLive(jobPage, `/jobs?${filter}`, aboutJobs);
  const older = useOlder(filter, live.data?.next ?? null);
  const picked = useSignal<ReadonlySet<string>>(new Set());
  const bulk = useSignal<BulkAction | null>(null);
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
                        bulk.value = action;
                      }}
                    >
                      {words.bulk[action].open}
                    </button>
                  ))}
                </div>
              )}
              <JobTable
                jobs={[...page.jobs, ...older.jobs]}
                {...(may('jobs:act') ? { picking: { picked: picked.value, onPick: pick } } : {})}
              />
              {older.problem !== undefined && <Problem problem={older.problem} onRetry={older.load} />}
              {older.next !== null && (
                <div class="row">
                  <button type="button" class="button" onClick={older.load}>
                    {general.older}
                  </button>
                </div>
              )}
            </>
          )
        }
      </Shown>
      {bulk.value !== null && (
        <Bulk
          action={bulk.value}
          ids={[...picked.value]}
          onClose={() => {
            bulk.value = null;
          }}
          onDone={() => {
            picked.value = new Set();
            reload();
          }}
        />
      )}
    </Page>
  );
}

/** The pages after the first one. Only the first page is live. */
function useOlder(filter: string, first: string | null) {
  const jobs = useSignal<readonly JobView[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  useEffect(() => {
    jobs.value = [];
    next.value = undefined;
  }, [filter]);
  const after = next.value === undefined ? first : next.value;
  const load = async () => {
    if (after === null) return;
    problem.value = undefined;
    try {
      const page = await call(jobPage, `/jobs?${filter}&after=${encodeURIComponent(after)}`);
      const known = new Set(jobs.value.map(({ id }) => id));
      jobs.value = [...jobs.value, ...page.jobs.filter(({ id }) => !known.has(id))];
      next.value = page.next;
    } catch (error) {
      problem.value = error instanceof Error ? error : new Error(String(error));
    }
  };
  return { jobs: jobs.value, next: after, problem: problem.value, load: () => void load() };
}

/** Tabs with the number of jobs in each state; a tab filters by its state. */
function States() {
  const { jobs: words, status } = t.value;
  const { query } = place.value;
  const { live } = useLive(jobCounts, `/jobs/counts?${asked(false)}`, aboutJobs);
  const now = query.get('status') ?? '';
  const href = (value: string) => to(['jobs'], { ...Object.fromEntries(query), status: value });
  const underWay = 'queued,printing';
  // A filter for only one of the two states is shown under the tab of both, too.
  const open = underWay.split(',').includes(now) ? underWay : now;
  const tabs = [
    { value: '', words: words.all, count: undefined },
    {
      value: underWay,
      words: words.underWay,
      count: live.data && (live.data['queued'] ?? 0) + (live.data['printing'] ?? 0),
    },
    ...JOB_STATUSES.filter((one) => one !== 'queued' && one !== 'printing').map((one) => ({
      value: one,
      words: status[one],
      count: live.data && (live.data[one] ?? 0),
    })),
  ];
  return (
    <nav class="tabs" aria-label={words.status}>
      {tabs.map((tab) => (
        <a key={tab.value} href={href(tab.value)} aria-current={tab.value === open ? 'true' : undefined}>
          {tab.words}
          {tab.count !== undefined && (
            <span class="muted small numbers">
              {tab.count >= MOST_COUNTED ? `${MOST_COUNTED}+` : tab.count}
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}
