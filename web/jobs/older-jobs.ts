/** The jobs that follow the first page of a list. Only the first page is live. */
import { type JobPage, jobPage, type ListedJob } from '../../src/contract/job-search.ts';
import { call } from '../service/call.ts';
import type { Live } from '../service/live.ts';
import { type Rows, useOlder } from '../service/older.ts';
import { timed } from './asked.ts';

const rowsOf = ({ jobs, next }: JobPage): Rows<ListedJob> => ({ rows: jobs, next });

/** @param path the path of the first page, with a query of `asked` */
export function useOlderJobs(path: string, { data, stale }: Live<JobPage>) {
  return useOlder({
    list: path,
    // A stale page answers other filters, so the page after it is not offered.
    page: data && { ...rowsOf(data), ...(stale ? { next: null } : {}) },
    ask: async (after, signal) =>
      rowsOf(await call(jobPage, `${timed(path)}&after=${encodeURIComponent(after)}`, { signal })),
    below: (a, b) => a.createdAt <= b.createdAt,
  });
}
