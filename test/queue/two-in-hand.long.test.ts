/** A lane whose one consumer has two jobs in hand: the first one's handler let the next come beside it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { Delivery, DeliveryOutcome } from '../../src/queue/lane-store.ts';
import { processFile, SHORT_LIVED } from '../kit/programs/built.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { Collected, job, printerId } from '../kit/queue/samples.ts';
import { delivered, serve } from '../kit/queue/serving.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { administer } from '../kit/servers/backends.ts';

const program = processFile('test/queue/consumer-process.ts');

interface Hand extends Delivery {
  end(how: DeliveryOutcome | Error): void;
}

describe.each(agentBackends())('two in hand, on $name', (backend) => {
  const used = useQueues(backend);
  const over: Array<() => void> = [];
  // Before the queues are closed, which wait for their handlers.
  afterEach(() => {
    for (const end of over.splice(0)) end();
  });

  /** A lane with these many jobs, whose handlers end as the test says. */
  async function lane(count: number) {
    const name = printerId();
    const jobs = Array.from({ length: count }, () => job(name));
    await used.queues.enqueue(...jobs);
    const got = new Collected<Hand>();
    over.push(() => {
      for (const { end } of got.values) end('done');
    });
    const consumer = await serve(used.queues, name, async (delivery) => {
      const { promise, resolve, reject } = Promise.withResolvers<DeliveryOutcome>();
      // Before it is awaited, a test may already be over.
      promise.catch(() => undefined);
      got.add({ ...delivery, end: (how) => (how instanceof Error ? reject(how) : resolve(how)) });
      return await promise;
    });
    const nth = async (number: number) => at(await got.reach(number), number - 1);
    /** The second comes beside the first. */
    const two = async () => {
      const first = await nth(1);
      first.follow();
      return [first, await nth(2)] as const;
    };
    const ids = jobs.map(({ jobId }) => jobId);
    const idsOf = () => got.values.map((one) => one.job.jobId);
    return { name, ids, got, idsOf, nth, two, consumer };
  }

  /** All that the lane was told before has been answered, and another lane's job has gone the whole way. */
  async function elsewhere(): Promise<void> {
    const other = printerId();
    const got = await delivered(used.queues, other);
    const own = job(other);
    await used.queues.enqueue(own);
    await got.reach(1);
    await expect.poll(() => unfinished(used.queues, other, [own.jobId])).toBe(0);
  }

  const stateOf = async (of: Lane, id: string | undefined) =>
    (await used.queues.look(of, id ?? ''))?.state ?? null;

  test('a job says whether it was there when it was asked for', async () => {
    const { name, nth } = await lane(2);
    const [, second] = [(await nth(1)).end('done'), await nth(2)];
    expect(second.waited).toBe(true);
    second.end('done');
    await elsewhere();
    await used.queues.enqueue(job(name));
    expect((await nth(3)).waited).toBe(false);
  });

  test('a handler that does not say so has its job alone', async () => {
    const { got, nth, idsOf, ids } = await lane(2);
    const first = await nth(1);
    await elsewhere();
    expect(got.values).toHaveLength(1);
    first.end('done');
    await nth(2);
    expect(idsOf()).toEqual(ids);
  });

  test.each([
    { order: 'the first', at: 0 },
    { order: 'the second', at: 1 },
  ])('$order ends, and the third comes when the newest in hand says so', async ({ at: ending }) => {
    const { name, ids, got, two, nth, idsOf } = await lane(3);
    const hands = await two();
    expect(hands.map(({ delivery }) => delivery)).toEqual([1, 1]);
    expect([await stateOf(name, ids[0]), await stateOf(name, ids[1])]).toEqual(['active', 'active']);
    expect(await unfinished(used.queues, name, ids)).toBe(3);
    for (const id of ids.slice(0, 2)) {
      expect(await used.queues.remove(name, id)).toBe(false);
      expect(await used.queues.takeAway(name, id)).toBe(false);
    }
    // No third, whoever says so.
    if (ending === 0) hands[0].follow();
    await elsewhere();
    expect(got.values).toHaveLength(2);
    at(hands, ending).end('done');
    await expect.poll(() => stateOf(name, ids[ending])).toBe('ended');
    if (ending === 0) {
      await elsewhere();
      expect(got.values).toHaveLength(2);
      hands[1].follow();
    }
    const third = await nth(3);
    at(hands, 1 - ending).end('done');
    third.end('done');
    await expect.poll(() => unfinished(used.queues, name, ids)).toBe(0);
    expect(idsOf()).toEqual(ids);
    for (const id of ids) expect(await used.queues.look(name, id)).toMatchObject({ deliveries: 1 });
  });

  test('both said so: no third while there are two', async () => {
    const { got, two } = await lane(3);
    const hands = await two();
    hands[1].follow();
    hands[1].follow();
    await elsewhere();
    expect(got.values).toHaveLength(2);
    hands[0].end('done');
    await got.reach(3);
  });

  test('the lane is empty: the next comes beside it when it is added', async () => {
    const { name, nth } = await lane(1);
    const first = await nth(1);
    first.follow();
    await elsewhere();
    const late = job(name);
    await used.queues.enqueue(late);
    expect((await nth(2)).job).toEqual(late);
    expect(first.signal.aborted).toBe(false);
  });

  test('each has a note and a fence of its own', async () => {
    const { name, ids, two, nth, consumer } = await lane(2);
    const [first, second] = await two();
    await second.setNote({ of: 'the second' });
    await first.setNote({ of: 'the first' });
    second.end('hand-back');
    await expect.poll(() => stateOf(name, ids[1])).toBe('waiting');
    await first.setNote({ of: 'the first, later' });
    first.end('hand-back');
    await expect.poll(() => stateOf(name, ids[0])).toBe('waiting');
    await consumer.resume();
    const again = await nth(3);
    again.follow();
    expect([again.job.jobId, again.note]).toEqual([ids[0], { of: 'the first, later' }]);
    const other = await nth(4);
    expect([other.job.jobId, other.note]).toEqual([ids[1], { of: 'the second' }]);
  });

  test.each([
    { order: 'the first first', ways: [0, 1] },
    { order: 'the second first', ways: [1, 0] },
  ])('both are handed back, $order: each to its place', async ({ ways }) => {
    const { name, ids, got, two, consumer, idsOf, nth } = await lane(3);
    const hands = await two();
    hands[1].follow();
    for (const [said, way] of ways.entries()) {
      at(hands, way).end('hand-back');
      await expect.poll(() => stateOf(name, ids[way])).toBe('waiting');
      await consumer.resume();
      if (said === 1) continue;
      await elsewhere();
      expect(got.values).toHaveLength(2);
    }
    for (const number of [3, 4, 5]) (await nth(number)).end('done');
    expect(idsOf().slice(2)).toEqual(ids);
    expect(got.values.map(({ delivery }) => delivery)).toEqual([1, 1, 2, 2, 1]);
  });

  test('one that is handed back comes first again once the other has ended', async () => {
    const { name, ids, got, two, consumer, idsOf, nth } = await lane(3);
    const hands = await two();
    hands[1].follow();
    hands[0].end('hand-back');
    await expect.poll(() => stateOf(name, ids[0])).toBe('waiting');
    await consumer.resume();
    await elsewhere();
    expect(got.values).toHaveLength(2);
    hands[1].end('done');
    for (const number of [3, 4]) (await nth(number)).end('done');
    expect(idsOf().slice(2)).toEqual([ids[0], ids[2]]);
  });

  test('the first throws: it comes again when the other has ended', async () => {
    const { name, ids, got, two, idsOf, nth } = await lane(3);
    const hands = await two();
    hands[1].follow();
    hands[0].end(new Error('journal is full'));
    await expect.poll(() => stateOf(name, ids[0])).toBe('waiting');
    await elsewhere();
    expect(got.values).toHaveLength(2);
    expect(hands[1].signal.aborted).toBe(false);
    await hands[1].setNote({ goes: 'on' });
    hands[1].end('done');
    for (const number of [3, 4]) (await nth(number)).end('done');
    expect(idsOf().slice(2)).toEqual([ids[0], ids[2]]);
  });

  test('the lease is lost: both are told, and whoever has it next takes them in their order', async () => {
    const { name, ids, two, consumer } = await lane(3);
    const hands = await two();
    for (const { setNote, job: of } of hands) await setNote({ of: of.jobId });
    await takeLease(name);
    for (const { signal } of hands) {
      if (!signal.aborted) await once(signal, 'abort');
      expect(signal.reason).toMatchObject({ code: 'lock-lost' });
    }
    hands[1].end(new Error('lost'));
    hands[0].end(new Error('lost'));
    await consumer.stop();
    const next = await delivered(used.queues, name);
    expect(await next.reach(3)).toEqual([
      [ids[0], 2, { of: ids[0] }],
      [ids[1], 2, { of: ids[1] }],
      [ids[2], 1, undefined],
    ]);
  });

  test('paused: both go on, and nothing comes until it is resumed', async () => {
    const { name, ids, got, two, consumer, nth, idsOf } = await lane(4);
    const hands = await two();
    hands[1].follow();
    await consumer.pause();
    hands[0].end('done');
    await expect.poll(() => stateOf(name, ids[0])).toBe('ended');
    await elsewhere();
    expect(got.values).toHaveLength(2);
    await consumer.resume();
    await nth(3);
    expect(idsOf()).toEqual(ids.slice(0, 3));
    expect(hands[1].signal.aborted).toBe(false);
  });

  test('stopped: both are waited for', async () => {
    const { name, ids, two, consumer } = await lane(3);
    const hands = await two();
    let left = false;
    const stopped = consumer.stop().then(() => {
      left = true;
    });
    hands[1].end('done');
    await expect.poll(() => stateOf(name, ids[1])).toBe('ended');
    expect(left).toBe(false);
    hands[0].end('done');
    await stopped;
    expect(hands.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    expect([await stateOf(name, ids[0]), await unfinished(used.queues, name, ids)]).toEqual(['ended', 1]);
  });

  test('stopped by force: both are aborted, and what they hand back comes in its order', async () => {
    const { name, ids, two, consumer } = await lane(3);
    const hands = await two();
    const stopped = consumer.stop({ timeoutMs: 0 });
    for (const { signal, end } of hands) {
      if (!signal.aborted) await once(signal, 'abort');
      expect(signal.reason).toMatchObject({ code: 'stopped' });
      end('hand-back');
    }
    await stopped;
    const next = await delivered(used.queues, name);
    expect((await next.reach(3)).map(idOf)).toEqual(ids);
  });

  test('stopped by force: one is handed back, the other stays in hand: they come in their order', async () => {
    const { name, ids, two, consumer } = await lane(3);
    const hands = await two();
    hands[0].end('hand-back');
    await expect.poll(() => stateOf(name, ids[0])).toBe('waiting');
    expect(await stateOf(name, ids[1])).toBe('active');
    await consumer.stop({ timeoutMs: 0, graceMs: 50 });
    const next = await delivered(used.queues, name);
    expect((await next.reach(3)).map(idOf)).toEqual(ids);
  });

  test('one that is handed back waits, and can be taken out', async () => {
    const { name, ids, two, consumer, nth } = await lane(3);
    const hands = await two();
    hands[0].end('hand-back');
    await expect.poll(() => stateOf(name, ids[0])).toBe('waiting');
    expect(await used.queues.remove(name, at(ids, 0))).toBe(true);
    expect(await unfinished(used.queues, name, ids)).toBe(2);
    hands[1].end('done');
    await consumer.resume();
    expect((await nth(3)).job.jobId).toBe(ids[2]);
  });

  test('its process is killed: the earlier comes first, then the other, each with its note', async () => {
    const name = printerId();
    const jobs = [job(name), job(name), job(name)];
    await used.queues.enqueue(...jobs);
    const settings = JSON.stringify({ ...used.backend, printer: name, follows: true });
    const child = spawn(process.execPath, [...SHORT_LIVED, program, settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const told = new Collected<unknown>();
    createInterface({ input: child.stdout }).on('line', (line) => told.add(JSON.parse(line)));
    const ids = jobs.map(({ jobId }) => jobId);
    expect(await told.reach(2)).toEqual(ids.slice(0, 2).map((jobId) => ({ jobId, delivery: 1 })));
    child.kill('SIGKILL');
    await exited;
    const got = new Collected<unknown>();
    await serve(used.queues, name, async ({ job: { jobId }, delivery, note, follow }) => {
      follow();
      got.add([jobId, delivery, note]);
      return 'done';
    });
    expect(await got.reach(3)).toEqual([
      [ids[0], 2, { of: ids[0] }],
      [ids[1], 2, { of: ids[1] }],
      [ids[2], 1, undefined],
    ]);
  });

  async function takeLease(name: Lane): Promise<void> {
    const { database, redisUrl, prefix } = used.backend;
    if (redisUrl === undefined) {
      const lose = `UPDATE lanes.lease SET agent_id = 'another', term = 'another.1', until = now() + interval '1 second'`;
      await administer(database, lose);
      return;
    }
    const redis = new Redis(redisUrl);
    await redis.set(`${prefix}:{${name}}:lease`, 'another/another.1/0', 'PX', 1_000);
    redis.disconnect();
  }
});

function at<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new Error(`there is no ${index}`);
  return value;
}

function idOf(told: unknown): unknown {
  return Array.isArray(told) ? told[0] : undefined;
}
