/** The jobs below the first page of a list, whose first page is live. */
import { type JobPage, jobPage, type ListedJob } from '../../src/contract/job-search.ts';
import { call } from '../service/call.ts';
import type { Live } from '../service/live.ts';
import { type Rows, useOlder } from '../service/older.ts';
import { timed } from './asked.ts';

const rowsOf = ({ jobs, next }: JobPage): Rows<ListedJob> => ({ rows: jobs, next });

/** @param path of the first page, with a query of `asked` */
export function useOlderJobs(path: string, { data, stale }: Live<JobPage>) {
  return useOlder({
    list: path,
    // What follows an answer to other filters is not asked for.
    page: data && { ...rowsOf(data), ...(stale ? { next: null } : {}) },
    ask: async (after, signal) =>
      rowsOf(await call(jobPage, `${timed(path)}&after=${encodeURIComponent(after)}`, { signal })),
    below: (a, b) => a.createdAt <= b.createdAt,
  });
}
