/**
 * A printer that is driven another way than it was when its job began, or was queued: nothing is printed twice, and
 * nothing goes to it in a language that it does not take that way.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DeviceIdentity } from '../../drivers/device.ts';
import { agentConfig } from '../../src/agent/config.ts';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { Journal } from '../../src/agent/journal.ts';
import { deviceFor } from '../../src/agent/printer/devices.ts';
import { Printer } from '../../src/agent/printer/printer.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { queueIdOf } from '../../src/contract/queued-job.ts';
import { designedJob } from '../kit/agent/ipp-site.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();

test('handed back by one way, it goes on by the other where it was', async () => {
  const serial = randomUUID();
  const byBytes = await site.startPrinter({ speed: 20, serial });
  const byDocuments = await site.startIppPrinter({ speed: 20, serial });
  const config = { window: { labels: 4 } };
  const first = await site.startAgent(byBytes, { config });
  const { dataDir, printerId } = first;
  const job = await site.enqueue(jobFor(printerId, 20));
  await byBytes.printed(3);
  await first.agent.stop({ graceMs: 0 });
  const out = byBytes.labels.length;
  await byBytes.stop();

  // Until the agent has found the other way, the printer is another's: a job under way would stay where it is.
  const lease = { lane: laneOf(job), term: 'between.1', fresh: true, reaches: true };
  await site.queues.askLeases('agent-between', [lease], { contended: 60_000, alone: 60_000 });
  const second = await site.startAgent(byDocuments, { dataDir, config });
  await site.reports.agent(({ printers }) =>
    printers.some(({ id, uri }) => id === printerId && uri === byDocuments.uri),
  );
  await site.queues.giveLeaseBack('agent-between', lease.lane, lease.term);
  await byDocuments.printed(2);
  await second.agent.stop({ graceMs: 0 });
  await byDocuments.printed(4);

  await site.startAgent(byDocuments, { dataDir, config });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 20 } });
  expect(byDocuments.labels).toEqual(expected(job).slice(out));
});

test.each([
  ['by LPD', '042'],
  ['to the Windows spooler', '7'],
])('killed after its document went %s, which IPP knows nothing of: held', async (_, number) => {
  const serial = randomUUID();
  const printer = await site.startIppPrinter({ serial });
  const dataDir = site.directories.make();
  const printerId = serialId(serial);
  const job = jobFor(printerId, 3);
  const { db, close } = openDataDir(dataDir);
  const journal = new Journal(db);
  const name = `${job.jobId} 1-3 0a1b2c3d`;
  journal.write({
    ...{ queueId: queueIdOf(job), printerId, delivery: 1, total: 3 },
    ...{ base: 0, odometer: null, intent: 3, sent: 3, printed: 0 },
    document: { name, printerJob: `${number} ${name}`, whole: true },
  });
  await journal.close();
  close();
  await site.startAgent(printer, { dataDir });
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown', reason: { code: 'no-longer-known' } },
    uncertain: { from: 0, to: 3 },
  });
  expect(printer.labels).toEqual([]);
});

test('a job that was queued for a language of another way fails, and not a byte of it is sent', async () => {
  const { printer, printerId } = await site.startServedPrinter({}, { drivers: standardDrivers });
  const [job, next] = [designedJob(printerId, 'pdf', ['a']), designedJob(printerId, 'zpl', ['b'])];
  for (const one of [job, next]) await site.queues.enqueue(one);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'language-unsupported' },
    labels: { sent: 0, printed: 0 },
  });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toHaveLength(1);
});

test('what it takes by another way is not offered for the one that it is driven by', () => {
  const bytes = { uri: 'socket://10.0.0.9:9100', language: 'zpl' } as const;
  const documents = { uri: 'ipp://10.0.0.9/ipp/print', language: 'pdf' } as const;
  const said = { evidence: 'serial', value: 'S-9', dpi: 300, languages: ['pdf'] } satisfies DeviceIdentity;
  const endpoint = { provider: 'dns-sd', told: {}, said: {}, listedAt: 0 };
  const endpoints = [
    { ...endpoint, uri: bytes.uri, driver: bytes, identity: null, answers: false },
    { ...endpoint, uri: documents.uri, driver: documents, identity: said, answers: true },
  ];
  const config = agentConfig.parse({ dataDir: '/nowhere' });
  const offered = ({ uri }: { uri: string }) => {
    const device = deviceFor(uri === bytes.uri ? bytes : documents, config, standardDrivers);
    const printer = new Printer({ id: 'serial-0123456789', uri, endpoints }, device, 0, []);
    return printer.describe().formats.map(({ language, dpi }) => [language, dpi]);
  };
  expect(offered(documents)).toEqual([['pdf', 300]]);
  expect(offered(bytes)).toEqual([['zpl', 300]]);
});
