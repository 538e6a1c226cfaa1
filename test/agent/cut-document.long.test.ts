/** What nobody can know of a document: whether it came whole, and whether one that still waits comes out. */

import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { listening } from '../kit/wire/listening.ts';

const site = useSite();

/** A road to the printer that ends the first time at these words, as if the sender had ended there. */
async function roadThatEndsAt(words: string, printerUri: string): Promise<{ uri: string }> {
  const { hostname, port, pathname } = new URL(printerUri.replace('ipp:', 'http:'));
  let cut = false;
  const road = createServer((agent) => {
    const printer = connect(Number(port), hostname);
    for (const socket of [agent, printer]) socket.on('error', () => undefined);
    let text = '';
    agent.on('data', (bytes: Buffer) => {
      const before = text.length;
      text += bytes.toString('latin1');
      const at = text.indexOf(words);
      if (cut || at < 0) {
        printer.write(bytes);
        return;
      }
      cut = true;
      printer.end(bytes.subarray(0, at - before));
      agent.destroy();
    });
    agent.on('close', () => printer.end());
    printer.pipe(agent);
  });
  const near = await listening(road);
  site.running({ stop: () => road.close() });
  return { uri: `ipp://127.0.0.1:${near}${pathname}` };
}

test.each(['label 2', 'label 11'])('cut at %s, printed as far as it goes: held', async (words) => {
  const eve = await startIppeveprinter('marker-supply-low-report');
  site.running(eve);
  const road = await roadThatEndsAt(words, eve.uri);
  const { printerId } = await site.startAgent(road);
  const [job, next] = [jobFor(printerId, 12), jobFor(printerId, ['next'])];
  for (const one of [job, next]) await site.queues.enqueue(one);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 12 },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
});

test('a stop while a document waits in the printer: what may still come out is said', async () => {
  const { printer, agent, printerId } = await site.startServedIppPrinter(
    { speed: 20 },
    {
      config: { window: { labels: 4 } },
    },
  );
  const job = await site.enqueue(jobFor(printerId, 12));
  await printer.printed(1);
  printer.set({ 'media-empty': true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
  await agent.stop({ graceMs: 0 });
  const back = await site.reports.job(job.jobId, ({ status }) => status === 'queued');
  const out = printer.labels.length;
  expect(back).toMatchObject({ labels: { printed: out }, uncertain: { from: out, to: 4 } });
});
