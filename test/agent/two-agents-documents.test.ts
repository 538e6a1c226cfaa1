/** Two agents at one printer that takes documents: the one that slept sends none when it wakes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { printerIdOf } from '../../src/agent/discovery/identity.ts';
import { backends } from '../setup/backends.ts';
import type { AgentProcessOptions, CrashPoint } from './agent-process.ts';
import { startAgentOn, TestIppPrinter } from './ipp-site.ts';
import { agentConfig, Directories, expected, jobFor, openSite, type Site } from './site.ts';

const SCRIPT = join(import.meta.dirname, 'agent-process.ts');
const directories = new Directories();
const redis = backends().find(({ kind }) => kind === 'redis');
if (redis === undefined) throw new Error('no Redis to test on');
const config = { timings: { lease: 2_500 }, window: { labels: 4 } };
let site: Site;
let asleep: ChildProcess | undefined;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  site = await openSite(redis);
});
afterEach(async () => {
  if (asleep?.exitCode === null) {
    const gone = once(asleep, 'exit');
    asleep.kill('SIGKILL');
    await gone;
  }
  for (const part of running.splice(0).reverse()) await part.stop();
});
afterAll(async () => {
  await site.close();
  directories.remove();
});

async function startSleeper(uri: string, point: CrashPoint): Promise<ChildProcess> {
  const options: AgentProcessOptions = {
    config: { ...agentConfig(directories.make(), { uri }, config), id: 'agent-the-one' },
    queues: site.queueOptions,
    odometer: true,
    crash: { point, nth: 2, signal: 'SIGSTOP' },
  };
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', process.env['TEST_LOG'] === undefined ? 'ignore' : 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

const points = ['before the printer job', 'after the printer job'] as const;
test.each(points)('asleep %s, while another agent prints', async (point) => {
  const serial = randomUUID();
  const printer = new TestIppPrinter(directories, { speed: 20, serial });
  await printer.start();
  running.push(printer);
  const printerId = printerIdOf({ evidence: 'serial', value: serial });
  asleep = await startSleeper(printer.uri, point);
  const holder = async () => (await site.queues.leaseHolders([printerId])).get(printerId);
  await expect.poll(holder, { interval: 50, timeout: 60_000 }).toBe('agent-the-one');
  const { agent } = await startAgentOn({ site, directories, running }, printer, { config });

  const [job, next, last] = [jobFor(printerId, 12), jobFor(printerId, 8), jobFor(printerId, ['last'])];
  await site.queues.enqueue(job);
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'held', agentId: agent.id });
  await site.queues.enqueue(next);
  await printer.printed(4 + 2);
  asleep.kill('SIGCONT');
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: agent.id });
  await site.queues.enqueue(last);
  expect(await site.reports.end(last.jobId)).toMatchObject({ status: 'printed', agentId: agent.id });
  expect(printer.labels).toEqual([...expected(job).slice(0, 4), ...expected(next), 'last']);
});
