/** Two agents at one printer that takes documents: an agent that slept sends no document when it wakes. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { expected, jobFor } from '../kit/agent/site.ts';
import { ONE, SHORT, startWanted } from '../kit/agent/two-agents-site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const config = { timings: { lease: SHORT }, window: { labels: 4 } };
const site = useSite();

const points = ['before the printer job', 'after the printer job'] as const;
test.each(points)('asleep %s, while another agent prints', async (point) => {
  const serial = randomUUID();
  const printer = await site.startIppPrinter({ speed: 20, serial });
  const printerId = serialId(serial);
  const asleep = await startWanted({ site, printerId }, () =>
    site.startProcess(printer, {
      config: { ...config, id: ONE },
      crash: { point, nth: 2, signal: 'SIGSTOP' },
    }),
  );
  const { agent } = await site.startAgent(printer, { config });

  const [job, next, last] = [jobFor(printerId, 12), jobFor(printerId, 8), jobFor(printerId, ['last'])];
  const end = await site.print(job);
  expect(end).toMatchObject({ status: 'held', agentId: agent.id });
  await site.queues.enqueue(next);
  await printer.printed(4 + 2);
  asleep.kill('SIGCONT');
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: agent.id });
  expect(await site.print(last)).toMatchObject({ status: 'printed', agentId: agent.id });
  expect(printer.labels).toEqual([...expected(job).slice(0, 4), ...expected(next), 'last']);
});
