/** What a job tells of its progress while its printer is asked again and again. */
import { expect, test, vi } from 'vitest';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { Outcome } from '../../src/agent/job/outcome.ts';
import { Row } from '../../src/agent/job/row.ts';
import type { JobReport } from '../../src/contract/report.ts';
import { logger } from '../kit/agent/site.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

test('is told where it has changed, and now and then, not each time that it is looked at', () => {
  const told: JobReport[] = [];
  const reporter = { progress: (report: JobReport) => told.push(report), lasting: vi.fn(), over: vi.fn() };
  const [jobId, printerId] = [crypto.randomUUID(), 'serial-of-the-test'];
  const counts = { delivery: 1, total: 4, from: 0, perPage: 1 };
  const ledger = new Ledger({ journal, row: new Row(), queueId: jobId, printerId, ...counts });
  const context = { agentId: 'agent-0001', printerId, journal, reporter, logger };
  const outcome = new Outcome(context, logger, ledger, { jobId });
  const clock = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  try {
    for (let look = 0; look < 20; look++) outcome.progress([]);
    outcome.progress(['media-empty']);
    outcome.progress();
    ledger.begin(100);
    ledger.intend(2);
    ledger.took({ bytes: new Uint8Array(1), first: 0, count: 2 }, 10_000);
    outcome.progress();
    clock.mockReturnValue(11_500);
    outcome.progress();
  } finally {
    clock.mockRestore();
  }
  const none = { sent: 0, printed: 0 };
  const sent = { sent: 2, printed: 0 };
  const all = [
    { labels: none, reasons: [] },
    { labels: none, reasons: ['media-empty'] },
    { labels: sent, reasons: ['media-empty'] },
    { labels: sent, reasons: ['media-empty'] },
  ];
  expect(told).toMatchObject(all);
  expect(told.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
});
