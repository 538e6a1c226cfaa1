/** What an agent reports before anything is printed: how printers confirm labels, and which never answered. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Agent } from '../../src/agent/agent.ts';
import type { RawAgentConfig } from '../../src/agent/config.ts';
import { providersOf } from '../../src/agent/discovery/providers/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { agentConfigOf, EVERYWHERE } from '../../src/cli/agent-config.ts';
import { agentConfig, logger } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';

const site = useSite();

async function startAgent(printers: RawAgentConfig['printers']) {
  const config = agentConfig(site.directories.make(), { uri: 'socket://127.0.0.1' });
  const agent = new Agent({
    config: { ...config, printers },
    queue: site.queues,
    drivers: standardDrivers,
    logger,
  });
  await agent.start();
  site.running({ stop: () => agent.stop({ graceMs: 0 }) });
  return agent;
}

/** Nobody listens there. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : expect.fail();
}

test('for each printer how a label is confirmed', async () => {
  const counts = await site.startPrinter({ serial: 'COUNTS-1' });
  const [mute, trusted] = [
    await site.startPrinter({ faults: { silent: true } }),
    await site.startPrinter({ faults: { silent: true } }),
  ];
  const follows = await site.startIppPrinter({ serial: 'FOLLOWS-1' });
  const size = { dpi: 203, width: 50, height: 25 };
  const agent = await startAgent([
    { uri: counts.uri },
    { uri: mute.uri, ...size },
    { uri: trusted.uri, ...size, confirmation: 'transport' },
    { uri: follows.uri },
  ]);
  const told = () => Object.fromEntries(agent.printers.map(({ uri, confirmedBy }) => [uri, confirmedBy]));
  await expect.poll(told, { timeout: 30_000 }).toEqual({
    [counts.uri]: 'count',
    [mute.uri]: 'person',
    [trusted.uri]: 'delivery',
    [follows.uri]: 'job',
  });
});

test('a printer that was never reached, with the reason, until it is', async () => {
  const port = await freePort();
  const uri = `socket://127.0.0.1:${port}`;
  const { id } = await startAgent([{ uri, name: 'dock-3' }]);
  const report = await site.reports.agent(
    ({ agentId, unreached = [] }) => agentId === id && unreached.length > 0,
  );
  expect([report.printers, report.unreached]).toEqual([
    [],
    [{ uri, name: 'dock-3', why: expect.stringMatching(/refused/i), since: expect.any(String) }],
  ]);
  await site.startPrinter({ port });
  const reached = await site.reports.agent(({ agentId, printers }) => agentId === id && printers.length > 0);
  expect(reached.unreached).toBeUndefined();
});

test('--printer adds to the printers of the file, and changes none of them', async () => {
  const file = join(site.directories.make(), 'agent.json');
  const named = { uri: 'socket://10.0.0.7', name: 'dock-3' };
  await writeFile(file, JSON.stringify({ printers: [named] }));
  const printers = async (from: string | undefined, ...told: string[]) => {
    const config = await agentConfigOf(from, undefined, { dataDir: '.' }, told);
    return config.printers.map(({ uri, name }) => [uri, name]);
  };
  const [seven, eight] = [named.uri, 'socket://10.0.0.8'];
  expect(await printers(file, eight, seven, eight)).toEqual([
    [seven, 'dock-3'],
    [eight, undefined],
  ]);
  expect(await printers(undefined, eight)).toEqual([[eight, undefined]]);
  await writeFile(file, JSON.stringify({ printers: 'dock-3' }));
  await expect(printers(file, eight)).rejects.toThrow(/printers/);
});

test('--discover adds to what the file searches', async () => {
  const file = join(site.directories.make(), 'agent.json');
  const searched = async (discovery: object) => {
    await writeFile(file, JSON.stringify({ discovery }));
    const config = await agentConfigOf(file, EVERYWHERE, { dataDir: '.' });
    return [
      config.discovery.cups,
      providersOf(config.discovery, standardDrivers.transports).map(({ id }) => id),
    ];
  };
  const server = 'ipp://server:631/';
  const local = 'ipp://localhost:631/';
  expect(await searched({})).toEqual([true, ['dns-sd', 'cups', 'usb']]);
  expect(await searched({ cups: server })).toEqual([
    [server, local],
    ['dns-sd', 'cups', `cups ${local}`, 'usb'],
  ]);
  expect(await searched({ cups: [local, server], snmp: { targets: ['10.0.0.7'] } })).toEqual([
    [local, server, local],
    ['dns-sd', 'cups', `cups ${server}`, 'usb', 'snmp'],
  ]);
});
