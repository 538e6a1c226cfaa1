/** IPP over TLS with certificates that nobody has signed: pinned at first use, and a printer known by its own. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Agent } from '../../src/agent/agent.ts';
import { TestIppPrinter } from '../kit/agent/ipp-site.ts';
import {
  agentConfig,
  Directories,
  jobFor,
  logger,
  openSite,
  type Site,
  testDrivers,
} from '../kit/agent/site.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { secured as securedPrinter } from '../kit/wire/secured.ts';

const directories = new Directories();
let site: Site;
const running: (() => unknown)[] = [];

beforeAll(async () => {
  site = await openSite(onRedis());
});
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});
afterAll(async () => {
  await site.close();
  directories.remove();
});

async function printerWith(serial: string): Promise<TestIppPrinter> {
  const printer = new TestIppPrinter(directories, { serial });
  await printer.start();
  running.push(() => printer.stop());
  return printer;
}

async function secured(printer: TestIppPrinter, port?: number) {
  const tls = await securedPrinter(printer, port);
  running.push(tls.stop);
  return tls;
}

async function startAgent(dataDir: string, uris: string[], forgetCertificates: string[] = []) {
  const config = agentConfig(dataDir, { uri: uris[0] ?? '' });
  const agent = new Agent({
    config: { ...config, printers: uris.map((uri) => ({ uri })) },
    queue: site.queues,
    drivers: testDrivers,
    forgetCertificates,
    logger,
  });
  await agent.start();
  let ended = false;
  const stop = async () => {
    if (!ended) await agent.stop({ graceMs: 0 });
    ended = true;
  };
  running.push(stop);
  const until = (...reasons: string[]) =>
    site.reports.agent(
      ({ agentId, online, printers, at }) =>
        agentId === agent.id &&
        online &&
        at >= since &&
        JSON.stringify(printers[0]?.reasons) === JSON.stringify(reasons),
    );
  const since = new Date().toISOString();
  return { agent, until, stop };
}

test('the first certificate is the printer’s; another is refused, until a person says that it is right', async () => {
  const printer = await printerWith('IPP-0001');
  const first = await secured(printer);
  const dataDir = directories.make();
  const one = await startAgent(dataDir, [first.uri]);
  const report = await one.until();
  const id = report.printers[0]?.id ?? '';
  const before = jobFor(id, 1);
  await site.queues.enqueue(before);
  expect((await site.reports.end(before.jobId)).status).toBe('printed');

  // Somebody else answers there, and says that it is the printer.
  await first.stop();
  const other = await secured(printer, first.port);
  await one.until('offline', 'certificate-unknown');
  const waiting = jobFor(id, 1);
  await site.queues.enqueue(waiting);
  await site.reports.job(waiting.jobId, ({ reasons }) => reasons.includes('offline'));
  await one.stop();

  // Neither a new start nor another address makes it the printer.
  const elsewhere = await secured(printer);
  const two = await startAgent(dataDir, [other.uri, elsewhere.uri]);
  await two.until('offline', 'certificate-unknown');
  expect(two.agent.printers.map((found) => found.id)).toEqual([id]);
  await two.stop();
  expect(printer.labels).toEqual(['0']);

  const three = await startAgent(dataDir, [other.uri], [id]);
  expect((await site.reports.end(waiting.jobId)).status).toBe('printed');
  await three.stop();
  expect(printer.labels).toEqual(['0', '0']);
});

test('another printer at the address of one that is known is another printer', async () => {
  const first = await secured(await printerWith('IPP-0002'));
  const { agent, until } = await startAgent(directories.make(), [first.uri]);
  await until();
  await first.stop();
  await until('offline');
  await secured(await printerWith('IPP-0003'), first.port);
  await site.reports.agent(
    ({ agentId, printers }) =>
      agentId === agent.id && printers.length === 2 && printers[1]?.reasons.length === 0,
  );
  expect(agent.printers[0]?.reasons).toEqual(['offline']);
});
