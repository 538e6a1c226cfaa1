/** A device on an open network that claims to be a known printer: the claim does not make it the printer. */
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../src/agent/config.ts';
import { printerIdOf } from '../../src/agent/discovery/identity.ts';
import type { DiscoveryProvider } from '../../src/agent/discovery/provider.ts';
import { createLogger } from '../../src/log.ts';
import { agentConfig, jobFor, testDrivers } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { secured as securedPrinter } from '../kit/wire/secured.ts';

const site = useSite();
const SERIAL = 'CLAIMED-0001';
const ID = printerIdOf({ evidence: 'serial', value: SERIAL });

/** An agent, what is announced to it, and what it has logged. */
async function startAgent(
  printers: { uri: string; mayMove?: boolean }[],
  announced: string[],
  { dataDir = site.directories.make(), access = [] as RawAgentConfig['access'] } = {},
) {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => {
      lines.push(z.record(z.string(), z.unknown()).parse(JSON.parse(String(chunk))));
      done();
    },
  });
  const list = (uris: string[]) => uris.map((uri) => ({ uri, evidence: { languages: ['zpl' as const] } }));
  const provider: DiscoveryProvider & { uris: string[] } = {
    id: 'announced',
    exhaustive: false,
    near: true,
    uris: announced,
    find: async () => list(provider.uris),
  };
  const config = agentConfig(dataDir, { uri: 'socket://127.0.0.1' });
  const agent = new Agent({
    config: { ...config, printers, ...(access && { access }) },
    queue: site.queues,
    drivers: testDrivers,
    providers: [provider],
    logger: createLogger({ level: 'info', destination }),
  });
  await agent.start();
  const stop = async () => {
    if (agent.id !== null) await agent.stop({ graceMs: 0 });
  };
  site.running({ stop });
  const logged = (message: RegExp) => lines.filter(({ msg }) => message.test(String(msg)));
  const at = async (uri: string, ...reasons: string[]) => {
    const now = () => agent.printers.map((one) => [one.id, one.uri, one.reasons]);
    await expect.poll(now, { timeout: 15_000 }).toEqual([[ID, uri, reasons]]);
  };
  return { agent, dataDir, provider, logged, at, stop };
}

async function secured(printer: { port: number }) {
  return site.running(await securedPrinter(printer));
}

test('a printer that the configuration names keeps its jobs while it is off and another says that it is the one', async () => {
  const printer = await site.startPrinter({ serial: SERIAL });
  const rogue = await site.startPrinter({ serial: SERIAL });
  const first = await startAgent([{ uri: printer.uri }], []);
  await first.at(printer.uri);
  await printer.powerOff();
  await first.at(printer.uri, 'offline');
  first.provider.uris = [rogue.uri];
  await first.at(printer.uri, 'offline', 'found-elsewhere');
  expect(first.logged(/not driven where it is found/)).toMatchObject([
    { level: 40, printer: ID, named: printer.uri, found: rogue.uri },
  ]);
  const job = await site.enqueue(jobFor(ID, 2));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('found-elsewhere'));
  await first.stop();

  // Nor does a new start make it the printer.
  const second = await startAgent([{ uri: printer.uri }], [rogue.uri], { dataDir: first.dataDir });
  await second.at(printer.uri, 'offline', 'found-elsewhere');
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect([printer.labels, rogue.labels]).toEqual([['0', '1'], []]);
  await second.at(printer.uri);
  expect(second.logged(/another way/)).toEqual([]);
});

test('one that the configuration lets move goes on where it is found, and the log says so', async () => {
  const printer = await site.startPrinter({ serial: SERIAL });
  const moved = await site.startPrinter({ serial: SERIAL });
  const { provider, logged, at } = await startAgent([{ uri: printer.uri, mayMove: true }], []);
  await at(printer.uri);
  await printer.powerOff();
  await at(printer.uri, 'offline');
  provider.uris = [moved.uri];
  await at(moved.uri);
  expect(logged(/another way/)).toMatchObject([{ printer: ID, from: printer.uri, to: moved.uri }]);
  const job = jobFor(ID, 1);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  expect(moved.labels).toEqual(['0']);
});

test('a certificate that something shows, which says that it is the printer, is not pinned to the printer', async () => {
  const printer = await site.startIppPrinter({ serial: SERIAL });
  const rogue = await site.startIppPrinter({ serial: SERIAL });
  const [real, other] = [await secured(printer), await secured(rogue)];
  const first = await startAgent([{ uri: printer.uri }], [other.uri]);
  await first.at(printer.uri);
  await printer.powerOff();
  // It has been asked, then, and has answered.
  await first.at(printer.uri, 'offline', 'found-elsewhere');
  await printer.powerOn();
  await first.at(printer.uri);
  await first.stop();

  // Had the other's been pinned, the printer's own would be refused now.
  const second = await startAgent([{ uri: real.uri }], [], { dataDir: first.dataDir });
  await second.at(real.uri);
  const next = jobFor(ID, 1);
  expect(await site.print(next)).toMatchObject({ status: 'printed' });
  await second.stop();

  // Now it is the printer's: better than unencrypted, and the other is refused.
  const third = await startAgent([], [printer.uri, real.uri, other.uri], { dataDir: first.dataDir });
  await third.at(real.uri);
  expect([printer.labels, rogue.labels]).toEqual([['0'], []]);
});

test('a certificate that the configuration names makes a way better', async () => {
  const printer = await site.startIppPrinter({ serial: SERIAL });
  const real = await secured(printer);
  const access = [{ host: `127.0.0.1:${real.port}`, fingerprint256: real.shown }];
  const { provider, at } = await startAgent([], [printer.uri], { access });
  await at(printer.uri);
  provider.uris = [printer.uri, real.uri];
  await at(real.uri);
});
