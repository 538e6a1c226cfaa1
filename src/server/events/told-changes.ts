/** Tells the change feed which jobs and printers the reports of agents change. */
import { createHash } from 'node:crypto';
import type { Report } from '../../contract/report.ts';
import type { ChangeFeed } from './change-feed.ts';

const MOST_AGENTS = 10_000;

/** Agents report the state of their printers every few seconds. The feed is told of a report only if the state has changed. */
export function toldOf(feed: Pick<ChangeFeed, 'tell'>): (report: Report) => void {
  const known = new Map<string, string>();
  return (report) => {
    if (report.kind === 'job') return feed.tell({ jobs: [report.jobId], printers: [report.printerId] });
    const { agentId, online, printers, unreached, stretch, wentBack } = report;
    const stretchOf = `${agentId} ${stretch?.after ?? ''}`;
    const digest = createHash('sha256')
      .update(JSON.stringify([online, printers, unreached, wentBack]))
      .digest('base64');
    if (known.get(stretchOf) === digest) return;
    if (known.size >= MOST_AGENTS) known.clear();
    known.set(stretchOf, digest);
    feed.tell({ printers: printers.map(({ id }) => id) });
  };
}
