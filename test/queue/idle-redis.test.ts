/** What idle lanes cost a Redis: one connection a process, and one command for a hundred leases. Counted by the server. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openQueues } from '../../src/queue/index.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { listenToCommands } from '../kit/servers/redis-commands.ts';

const LANES = 250;
const LENGTH = { contended: 60_000, alone: 240_000 };

test('a process that serves 250 idle lanes asks for all their leases in three commands, on one connection', async () => {
  const backend = await onRedis().open();
  onTestFinished(() => backend.close());
  const admin = new Redis(inject('redisUrl'));
  // A user of its own tells its commands from those of the tests that run beside this one.
  const user = `idle-${randomBytes(4).toString('hex')}`;
  const url = Object.assign(new URL(inject('redisUrl')), { username: user });
  await admin.acl('SETUSER', user, 'on', `>${url.password}`, '~*', '&*', '+@all');
  const queues = await openQueues({ ...backend, redisUrl: url.href, logger: keepingLogger() });
  onTestFinished(async () => {
    await queues.close({ timeoutMs: 0 });
    await admin.acl('DELUSER', user);
    admin.disconnect();
  });
  const lanes = Array.from({ length: LANES }, printerId);
  const asks = lanes.map((lane) => ({ lane, term: 'process.1', fresh: true, reaches: true }));
  const got = new Collected<string>();
  await queues.askLeases('agent-one-1', asks, LENGTH);
  for (const lane of lanes) {
    await queues.consume(lane, 'process.1', async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
  }
  // Each has looked once, and this one's bell is heard.
  const first = job(lanes[0] ?? '');
  await queues.enqueue(first);
  await got.reach(1);
  await queues.ping();

  const list = String(await admin.call('CLIENT', 'LIST'));
  const own = list.split('\n').filter((line) => line.includes(` user=${user} `));
  expect(own).toHaveLength(1);
  const address = / addr=(\S+)/.exec(own[0] ?? '')?.[1];
  const commands: string[] = [];
  const listening = await listenToCommands(new URL(inject('redisUrl')), (name, source) => {
    if (source === address) commands.push(name);
  });
  onTestFinished(() => listening.stop());
  for (let time = 0; time < 3; time += 1) await queues.askLeases('agent-one-1', asks, LENGTH);
  await queues.ping();
  await expect.poll(() => commands.includes('ping')).toBe(true);
  expect(commands).toEqual([...Array.from({ length: 9 }, () => 'evalsha'), 'ping']);
});

test('heartbeats that say nothing new are not called out, and are handed over all the same', async () => {
  const backend = await onRedis().open();
  onTestFinished(() => backend.close());
  const queues = await openQueues({ ...backend, logger: keepingLogger() });
  onTestFinished(() => queues.close({ timeoutMs: 0 }));
  const listening = new Redis(inject('redisUrl'));
  onTestFinished(() => listening.disconnect());
  const called: string[] = [];
  listening.on('message', (_channel: string, name: string) => called.push(name));
  await listening.subscribe(`${backend.prefix}:@reports`);
  const got = new Collected<string>();
  await queues.consumeReports(async (batch) => {
    for (const { report } of batch) got.add(report.at);
  });
  const times = ['10:00:00', '10:00:15', '10:00:30'].map((time) => `2026-11-21T${time}.000Z`);
  const agentIds = ['agent-one-1', 'agent-two-2'];
  for (const at of times) {
    for (const agentId of agentIds) {
      const content = { name: 'one', version: '1', tenantId: null, online: at !== times[2], printers: [] };
      await queues.publish({ kind: 'agent', agentId, at, ...content }, null);
    }
    // The last one says something new.
    await got.reach(agentIds.length * (times.indexOf(at) + 1));
  }
  expect(called.filter((name) => name !== '')).toEqual(
    [1, 3].flatMap(() => ['/agent-one-1', '/agent-two-2']),
  );
  expect(called).toHaveLength(6);
  expect(got.values.toSorted()).toEqual(times.flatMap((at) => [at, at]));
});
