/** What reports change, for the pages that show it. */
import { createHash } from 'node:crypto';
import type { Report } from '../../contract/report.ts';
import type { ChangeFeed } from './change-feed.ts';

const MOST_AGENTS = 10_000;

/** Tells the feed of what is reported. An agent says every few seconds how its printers are: only news are told. */
export function toldOf(feed: Pick<ChangeFeed, 'tell'>): (report: Report) => void {
  const known = new Map<string, string>();
  return (report) => {
    if (report.kind === 'job') return feed.tell({ jobs: [report.jobId], printers: [report.printerId] });
    const { agentId, online, printers, unreached } = report;
    const digest = createHash('sha256')
      .update(JSON.stringify([online, printers, unreached]))
      .digest('base64');
    if (known.get(agentId) === digest) return;
    if (known.size >= MOST_AGENTS) known.clear();
    known.set(agentId, digest);
    feed.tell({ printers: printers.map(({ id }) => id) });
  };
}
