/** Several agents in one process, as where a service speaks for them, and agents that move between such processes. */
import { Redis } from 'ioredis';
import { Pool, type PoolConfig } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { PostgresClient } from '../../src/queue/index.ts';
import { postgresLeases } from '../../src/queue/postgres/lease.ts';
import { postgresTurns } from '../../src/queue/postgres/turns.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import { RedisTemplates } from '../../src/queue/redis/templates.ts';
import { RedisTurns } from '../../src/queue/redis/turns.ts';
import { type LaneTurns, Turns } from '../../src/queue/turns.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { administer, backends, tried } from '../kit/servers/backends.ts';

const LENGTH = { contended: 60_000, alone: 60_000 };
const [ONE, OTHER] = ['agent-the-one', 'agent-the-other'];

describe.each(tried(backends()))('on $name', (backend) => {
  const used = useQueues(backend);
  let lane: Lane;
  beforeEach(() => {
    lane = printerId();
  });

  const over: Array<() => unknown> = [];
  // Before the database goes.
  afterEach(async () => {
    for (const close of over.splice(0)) await close();
  });

  /** A process of its own. @returns what makes each consumer of the lane its turns */
  function process(): () => LaneTurns {
    const { database, redisUrl, prefix } = used.backend;
    const errors = new ErrorLogger(keepingLogger());
    if (redisUrl === undefined) {
      const pool = poolOn(database);
      const turns = new Turns(postgresTurns(pool), errors);
      over.push(() => pool.end());
      return () => turns;
    }
    const redis = new Redis(redisUrl);
    over.push(() => redis.disconnect());
    const keyOf = (of: Lane, name: string) => `${prefix}:{${of}}:${name}`;
    const onRedis = new RedisTurns(redis, keyOf, new RedisTemplates(redis, keyOf));
    return () => new Turns(onRedis.of(lane), errors);
  }

  async function lease(agentId: string, term: string): Promise<boolean> {
    const [answer] = await used.queues.askLeases(
      agentId,
      [{ lane, term, fresh: true, reaches: true }],
      LENGTH,
    );
    return (answer?.granted ?? null) !== null;
  }

  test('two agents ask for a job of one lane at one moment: the one with the lease gets it', async () => {
    const [first, second] = [job(lane), job(lane)];
    await used.queues.enqueue(first, second);
    expect([await lease(ONE, 'one.1'), await lease(OTHER, 'other.1')]).toEqual([true, false]);
    const turnsOf = process();
    const consumers = ['one.1', 'other.1'].map((term) => ({ term, turns: turnsOf() }));
    const ask = (number: number) =>
      Promise.all(consumers.map(({ term, turns }) => turns.take({ lane, term, beside: [], number })));
    const [taken, refused] = await ask(1);
    expect([taken, refused]).toMatchObject([{ id: first.jobId, delivery: 1, term: 'one.1' }, null]);
    if (taken == null) return;
    expect(await consumers[0]?.turns.handedBack(taken)).toBe(true);
    await used.queues.giveLeaseBack(ONE, lane, 'one.1');
    expect(await lease(OTHER, 'other.1')).toBe(true);
    expect(await ask(2)).toMatchObject([null, { id: first.jobId, delivery: 2, term: 'other.1' }]);
  });

  test('an agent that goes on at another process is not refused, and what it asked the first one comes late', async () => {
    const jobs = [job(lane), job(lane), job(lane)];
    await used.queues.enqueue(...jobs);
    await lease(ONE, 'one.1');
    const [old, young] = [process()(), process()()];
    const question = { lane, term: 'one.1', beside: [] };
    for (const number of [1, 2]) {
      const taken = await old.take({ ...question, number });
      expect(taken).toMatchObject({ id: jobs[number - 1]?.jobId });
      if (taken !== null) await old.ended(taken);
    }
    const taken = await young.take({ ...question, number: 3 });
    expect(taken).toMatchObject({ id: jobs[2]?.jobId, delivery: 1 });
    expect(await old.take({ ...question, number: 2 })).toBeNull();
    expect(taken !== null && (await young.ended(taken))).toBe(true);
  });
});

describe.each(tried(backends().filter(({ kind }) => kind === 'postgres')))('leases on $name', (backend) => {
  const used = useQueues(backend);
  const over: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of over.splice(0)) await close();
  });

  /** Leases whose statements are counted, and the lanes in which a job waited. */
  function counted() {
    const pool = poolOn(used.backend.database);
    over.push(() => pool.end());
    const statements: string[] = [];
    const waiting: Lane[] = [];
    const leases = postgresLeases(
      (sql, values) => {
        statements.push(sql);
        return pool.query(sql, [...values]);
      },
      (lane) => waiting.push(lane),
    );
    return { leases, statements, waiting };
  }

  const asked = (lane: Lane) => [{ lane, term: 'process.1', fresh: true, reaches: true }];

  test('what many agents ask at one moment is one statement, and each has its own answer', async () => {
    const { leases, statements, waiting } = counted();
    const agents = Array.from({ length: 40 }, (_, at) => ({ id: `agent-number-${at}`, lane: printerId() }));
    const askAll = () =>
      Promise.all(
        agents.map(({ id, lane }, at) =>
          leases.ask(id, asked(lane), { contended: 60_000, alone: 60_001 + at }),
        ),
      );
    const granted = agents.map(({ lane }, at) => [
      { lane, granted: 60_001 + at, wanted: false, canceled: [] },
    ]);
    expect(await askAll()).toEqual(granted);
    // The lanes had no rows yet.
    expect(statements).toHaveLength(3);
    const [first] = agents;
    if (first === undefined) return;
    await used.queues.enqueue(job(first.lane));
    expect(await askAll()).toEqual(granted);
    expect(statements).toHaveLength(4);
    expect(waiting).toEqual([first.lane]);
    expect(await leases.holders(agents.map(({ lane }) => lane))).toEqual(
      new Map(agents.map(({ id, lane }) => [lane, id])),
    );
  });

  test('two agents that want one lane at one moment: one of them has it, and hears of the other', async () => {
    const { leases } = counted();
    const lane = printerId();
    const ask = (agentId: string) => leases.ask(agentId, [...asked(printerId()), ...asked(lane)], LENGTH);
    const agents = [ONE, OTHER];
    const answers = await Promise.all(agents.map(ask));
    // Each has the lane that nobody else wants.
    expect(answers.map(([own]) => own?.granted)).toEqual([LENGTH.alone, LENGTH.alone]);
    const [winner, ...more] = agents.filter((_, at) => answers[at]?.[1]?.granted !== null);
    expect(more).toEqual([]);
    expect(await leases.ask(winner ?? '', asked(lane), LENGTH)).toMatchObject([
      { granted: 60_000, wanted: true },
    ]);
  });

  test('an agent that asks without end about a lane keeps no other from its answer', async () => {
    const { leases, statements } = counted();
    const lane = printerId();
    const flood = Promise.allSettled(Array.from({ length: 100 }, () => leases.ask(ONE, asked(lane), LENGTH)));
    expect(await leases.ask(OTHER, asked(lane), LENGTH)).toMatchObject([{ granted: null }]);
    // The row of the lane is made beside the first.
    expect(statements.length).toBeLessThan(10);
    const refused = (await flood).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(96);
    expect(refused[0]).toMatchObject({ code: 'unavailable' });
    expect(await leases.ask(ONE, asked(lane), LENGTH)).toMatchObject([{ granted: 60_000 }]);
  });

  test('a job whose ring was lost comes with the next answer about the lease', async () => {
    const lane = printerId();
    const got = new Collected<string>();
    await used.queues.askLeases(ONE, asked(lane), LENGTH);
    await used.queues.consume(lane, 'process.1', async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
    const [heard, unheard] = [job(lane), job(lane)];
    await used.queues.enqueue(heard);
    await got.reach(1);
    // The lane has been asked again since, and was empty.
    await expect.poll(() => used.queues.look(lane, heard.jobId)).toMatchObject({ state: 'ended' });
    const { jobId } = unheard;
    const insert = `INSERT INTO lanes.job (lane, queue_id, payload) VALUES ('${lane}', '${jobId}', '${JSON.stringify(unheard)}')`;
    await administer(used.backend.database, insert);
    await expect
      .poll(async () => {
        await used.queues.askLeases(ONE, asked(lane), LENGTH);
        return got.values;
      })
      .toEqual([heard.jobId, jobId]);
  });
});

/** `end` of a pool does not wait for its connections: one may still hear that the database is dropped. */
function poolOn(database: PoolConfig): Pool {
  const pool = new Pool({ Client: PostgresClient, ...database });
  pool.on('error', () => undefined);
  return pool;
}
