/** Several agents in one process, as where a service speaks for them, and agents that move between such processes. */
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { PostgresClient } from '../../src/queue/postgres/client.ts';
import { postgresTurns } from '../../src/queue/postgres/turns.ts';
import { ErrorLog } from '../../src/queue/queue-log.ts';
import { RedisTemplates } from '../../src/queue/redis/templates.ts';
import { RedisTurns } from '../../src/queue/redis/turns.ts';
import { type LaneTurns, Turns } from '../../src/queue/turns.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { backends } from '../kit/servers/backends.ts';

const LENGTH = { contended: 60_000, alone: 60_000 };
const [ONE, OTHER] = ['agent-the-one', 'agent-the-other'];

describe.each(backends())('on $name', (backend) => {
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
    const errors = new ErrorLog(keepingLogger());
    if (redisUrl === undefined) {
      const pool = new Pool({ Client: PostgresClient, ...database });
      // `end` of a pool does not wait for its connections: one may still hear that the database is dropped.
      pool.on('error', () => undefined);
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
    await used.queues.enqueueMany([first, second]);
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
    await used.queues.enqueueMany(jobs);
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
