/** An agent with its own Redis user may write wrong, endless or huge entries: the others print on. */
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, test, vi } from 'vitest';
import type { ReceivedReport } from '../../src/queue/index.ts';
import { reportParser } from '../../src/queue/payload.ts';
import { parseName } from '../../src/queue/report-name.ts';
import { Collected, job, printerId, report } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { useRedis } from '../kit/queue/use-redis.ts';
import { onRedis } from '../kit/servers/backends.ts';

const MIB = 1024 * 1024;
const OTHER = 'agent-other';
const used = useQueues(onRedis());
const redis = useRedis(used);

const of = job(printerId());
const streamOf = (agentId: string) => `${used.backend.prefix}:{@reports//${agentId}}:stream`;
const write = (agentId: string, json: string) => redis().xadd(streamOf(agentId), '*', 'json', json);
const ring = (name: string) => redis().publish(`${used.backend.prefix}:@reports`, name);
const sayOther = (seq: number) => used.queues.publish({ ...report(of, seq), agentId: OTHER }, null);

/** The numbers of what another agent reports. */
async function heard(also: (batch: readonly ReceivedReport[]) => Promise<void> = async () => undefined) {
  const got = new Collected<number>();
  await used.queues.consumeReports(async (batch) => {
    for (const { report: one } of batch) if (one.kind === 'job' && one.agentId === OTHER) got.add(one.seq);
    await also(batch);
  });
  return got;
}

describe('the reports of others are read', () => {
  test('while an agent reports without end, whose stream was looked at together with theirs', async () => {
    const flood = { ...report(of, 1), agentId: 'agent-flood' };
    let floods = false;
    const got = await heard(async (batch) => {
      if (floods && batch.some(({ report: { agentId } }) => agentId === flood.agentId))
        await write(flood.agentId, JSON.stringify(flood));
    });
    await used.queues.publish(flood, null);
    await sayOther(0);
    await got.reach(1);
    // Without a bell: both are found when all that are known are looked at.
    floods = true;
    await write(flood.agentId, JSON.stringify(flood));
    await write(OTHER, JSON.stringify({ ...report(of, 1), agentId: OTHER }));
    await got.reach(2);
    await sayOther(2);
    expect(await got.reach(3)).toEqual([0, 1, 2]);
  });

  test('while more agents report without end than streams are read at a time', async () => {
    const floods = Array.from({ length: 10 }, (_, n) => ({ ...report(of, 1), agentId: `agent-flood-${n}` }));
    const begun = new Collected<string>();
    const got = await heard(async (batch) => {
      for (const { report: one } of batch) {
        const flood = floods.find(({ agentId }) => agentId === one.agentId);
        if (flood === undefined) continue;
        begun.add(flood.agentId);
        await used.queues.publish(flood, null);
      }
    });
    for (const [at, flood] of floods.slice(0, 8).entries()) {
      await used.queues.publish(flood, null);
      await begun.reach(at + 1);
    }
    await Promise.all(floods.slice(8).map((flood) => used.queues.publish(flood, null)));
    await sayOther(0);
    expect(await got.reach(1)).toEqual([0]);
  });

  test('where an agent has made something else of its stream', async () => {
    await redis().set(streamOf('agent-string'), 'no stream');
    await redis().sadd(streamOf('agent-set'), 'no stream');
    await sayOther(0);
    const got = await heard();
    expect(await got.reach(1)).toEqual([0]);
    for (const name of ['/agent-string', '/agent-set']) await ring(name);
    await sayOther(1);
    expect(await got.reach(2)).toEqual([0, 1]);
  });

  test('of an agent that rings first while the bell is not yet heard', async () => {
    const [connected, published] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { subscribe } = Redis.prototype;
    using _ = vi.spyOn(Redis.prototype, 'subscribe').mockImplementation(async function (
      this: Redis,
      ...channels: unknown[]
    ) {
      if (this.status === 'wait') void this.connect();
      if (this.status !== 'ready') await once(this, 'ready');
      connected.resolve();
      await published.promise;
      return await Reflect.apply(subscribe, this, channels);
    });
    const got = await heard();
    await connected.promise;
    await sayOther(0);
    published.resolve();
    expect(await got.reach(1)).toEqual([0]);
  }, 40_000);

  test('behind rings that name nobody, or are megabytes long', async () => {
    const got = await heard();
    await sayOther(0);
    await got.reach(1);
    await ring('/'.repeat(8 * MIB));
    await Promise.all(Array.from({ length: 20_000 }, (_, n) => ring(`globex/agent-${n}`)));
    await sayOther(1);
    expect(await got.reach(2)).toEqual([0, 1]);
  });
});

test('no more than some bytes of reports are read at once, and none that is longer', async () => {
  const own = report(of, 1);
  const agentId = 'agent-large';
  const large = (seq: number, bytes: number) =>
    write(agentId, JSON.stringify({ ...own, agentId, seq, padding: 'x'.repeat(bytes) }));
  for (let seq = 1; seq <= 16; seq += 1) await large(seq, 95 * 1024);
  const got = new Collected<number[]>();
  await used.queues.consumeReports(async (batch) => {
    got.add(batch.map(({ report: one }) => (one.kind === 'job' ? one.seq : -1)));
  });
  expect(await got.reach(2)).toEqual([
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    [11, 12, 13, 14, 15, 16],
  ]);
  await large(17, 97 * 1024);
  const fields = Array.from({ length: 100_000 }, (_, n) => [`field-${n}`, 'value']).flat();
  const json = JSON.stringify({ ...own, agentId, seq: 18 });
  await redis().call('XADD', [streamOf(agentId), '*', 'json', json, ...fields]);
  await large(19, 9 * MIB);
  await large(20, 0);
  await ring(`/${agentId}`);
  expect((await got.reach(3)).at(-1)).toEqual([20]);
  expect(used.logger.lines.join()).toContain('unreadable payload set aside');
});

test('a stream with garbage is left alone for many times as long as that took, however often it rings', async () => {
  const agentId = 'agent-garbage';
  // As much as fits, of what takes long to find wrong.
  const garbage = JSON.stringify({
    kind: 'agent',
    agentId,
    printers: Array.from({ length: 45_000 }, () => 0),
  });
  for (let n = 0; n < 20; n += 1) await write(agentId, garbage);
  const parse = reportParser(used.logger);
  const parsing = Array.from({ length: 20 }, () => {
    const began = performance.now();
    parse(garbage);
    return performance.now() - began;
  });
  const since = performance.now();
  const got = await heard();
  let seq = 0;
  while ((await redis().xlen(streamOf(agentId))) > 0) {
    await ring(`/${agentId}`);
    // Others are read meanwhile.
    await sayOther(seq);
    seq += 1;
    await got.reach(seq);
  }
  // Reading it took no less than the fastest that was seen.
  expect(performance.now() - since).toBeGreaterThan(5 * 20 * Math.min(...parsing));
  expect(seq).toBeGreaterThan(10);
});

test('garbage by the thousand is a few lines in the log', async () => {
  for (let from = 0; from < 2_000; from += 500) {
    const some = redis().pipeline();
    for (let n = 0; n < 500; n += 1)
      some.xadd(streamOf('agent-garbage'), '*', 'json', n % 2 ? `{"n":${n}` : `{"kind":"job","n":${n}}`);
    await some.exec();
  }
  const after = { ...report(of, 3), agentId: 'agent-garbage' };
  await used.queues.publish(after, null);
  const got = new Collected<unknown>();
  await used.queues.consumeReports(async (batch) => {
    for (const { report: one } of batch) got.add(one);
  });
  expect(await got.reach(1)).toEqual([after]);
  expect(used.logger.lines.filter((line) => line.startsWith('unreadable')).length).toBeLessThan(10);
});

test('who serves the other lanes is told where one lane has something else for a lease', async () => {
  const lanes = [printerId(), printerId(), printerId()] as const;
  const consumer = await serve(used.queues, lanes[1], async () => 'done', { agentId: OTHER });
  await redis().hset(`${used.backend.prefix}:{${lanes[0]}}:lease`, 'no', 'lease');
  await redis().set(`${used.backend.prefix}:{${lanes[2]}}:lease`, 'x'.repeat(MIB));
  const holders = await used.queues.leaseHolders(lanes);
  expect(holders.get(lanes[1])).toBe(OTHER);
  expect(holders.has(lanes[0])).toBe(false);
  await consumer.stop();
});

test('a name of a stream that is none is not taken apart', () => {
  for (const name of ['a/b/c', '', '/', `${'a'.repeat(10_000)}/agent-0001`, '/'.repeat(MIB)])
    expect(parseName(name)).toBeNull();
  const longest = `${'a'.repeat(63)}/${'b'.repeat(64)}`;
  expect(parseName(longest)?.agentId).toBe('b'.repeat(64));
});
