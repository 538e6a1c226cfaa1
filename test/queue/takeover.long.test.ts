import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { LeaseLimits, QueuesOptions } from '../../src/queue/index.ts';
import { postgresTurns } from '../../src/queue/postgres/turns.ts';
import { RedisTemplates } from '../../src/queue/redis/templates.ts';
import { RedisTurns } from '../../src/queue/redis/turns.ts';
import { processFile, SHORT_LIVED } from '../kit/programs/built.ts';
import { Collected, job, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { administer, backends } from '../kit/servers/backends.ts';

const program = processFile('test/queue/consumer-process.ts');

describe.each(backends())('a job that is taken from its worker, on $name', (on) => {
  const { kind } = on;
  const used = useQueues(on);
  let printer: Lane;

  beforeEach(() => {
    printer = printerId();
  });

  /** The first of these jobs is in the hand of a process, which is killed. */
  async function killWithFirst(
    jobs: QueuedJob[],
    options: Partial<QueuesOptions> & { length?: LeaseLimits } = {},
  ): Promise<void> {
    await used.queues.enqueue(...jobs);
    const settings = JSON.stringify({ ...used.backend, ...options, printer });
    const child = spawn(process.execPath, [...SHORT_LIVED, program, settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    expect(JSON.parse(String(line))).toEqual({ jobId: jobs[0]?.jobId, delivery: 1 });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  it('comes first again, with the number of its delivery, when its process was killed', async () => {
    const jobs = [job(printer), job(printer), job(printer)];
    await killWithFirst(jobs);
    const got = new Collected<[string, number]>();
    await serve(used.queues, printer, async ({ job: { jobId }, delivery }) => {
      got.add([jobId, delivery]);
      return 'done';
    });
    expect(await got.reach(3)).toEqual([
      [jobs[0]?.jobId, 2],
      [jobs[1]?.jobId, 1],
      [jobs[2]?.jobId, 1],
    ]);
  });

  it('comes first again however long its lease lasts', async () => {
    const jobs = [job(printer), job(printer)];
    await killWithFirst(jobs, { length: { contended: 5_000, alone: 5_000 } });
    const got = new Collected<string>();
    await serve(used.queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
    expect(await got.reach(2)).toEqual(jobs.map(({ jobId }) => jobId));
  });

  it('comes first again however often that happens', async () => {
    const jobs = [job(printer), job(printer)];
    await used.queues.enqueue(...jobs);
    const got = new Collected<[string, number]>();
    for (let time = 1; time <= 3; time += 1) {
      const consumer = await serve(used.queues, printer, async ({ job: { jobId }, delivery, signal }) => {
        got.add([jobId, delivery]);
        // A handler that does not answer to its signal in the time that it has.
        if (time < 3) await once(signal, 'abort').then(() => new Promise(() => undefined));
        return 'done';
      });
      await got.reach(time);
      if (time < 3) await consumer.stop({ timeoutMs: 0, graceMs: 50 });
    }
    expect(await got.reach(4)).toEqual([
      [jobs[0]?.jobId, 1],
      [jobs[0]?.jobId, 2],
      [jobs[0]?.jobId, 3],
      [jobs[1]?.jobId, 1],
    ]);
  });

  it.runIf(kind === 'postgres')('comes first again while somebody has its row locked', async () => {
    const jobs = [job(printer), job(printer)];
    await used.queues.enqueue(...jobs);
    const first = await serve(used.queues, printer, async () => 'hand-back');
    const handedBack = { state: 'waiting', deliveries: 1 };
    const look = () => used.queues.look(printer, jobs[0]?.jobId ?? '');
    await expect.poll(look, { timeout: 10_000 }).toMatchObject(handedBack);
    await first.stop();
    const other = new Client(used.backend.database);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM lanes.job WHERE queue_id = $1 FOR UPDATE', [jobs[0]?.jobId]);
    const got = new Collected<string>();
    await serve(used.queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    // More than one statement may wait for the row.
    const count = async () => (await other.query(waiting)).rowCount;
    await expect.poll(count, { timeout: 10_000 }).toBeGreaterThan(0);
    await other.query('ROLLBACK');
    await other.end();
    expect(await got.reach(2)).toEqual(jobs.map(({ jobId }) => jobId));
  });

  it('is known to be lost: the signal says so', async () => {
    await used.queues.enqueue(job(printer));
    const lost = Promise.withResolvers<unknown>();
    await serve(used.queues, printer, async ({ signal }) => {
      await takeAwayLocks();
      if (!signal.aborted) await once(signal, 'abort');
      lost.resolve(signal.reason);
      return 'done';
    });
    expect(await lost.promise).toMatchObject({ code: 'lock-lost' });
  });

  it.each(['throws', 'hands back'])('comes first again when its worker has lost it and %s', async (how) => {
    const jobs = [job(printer), job(printer)];
    await used.queues.enqueue(...jobs);
    const got = new Collected<[string, number]>();
    await serve(used.queues, printer, async ({ job: { jobId }, delivery, signal }) => {
      got.add([jobId, delivery]);
      if (delivery > 1 || jobId !== jobs[0]?.jobId) return 'done';
      await takeAwayLocks();
      if (!signal.aborted) await once(signal, 'abort');
      if (how === 'hands back') return 'hand-back';
      throw signal.reason;
    });
    expect(await got.reach(3)).toEqual([
      [jobs[0]?.jobId, 1],
      [jobs[0]?.jobId, 2],
      [jobs[1]?.jobId, 1],
    ]);
  });

  it('takes no note of a worker that has lost it, and tells the worker at once', async () => {
    await used.queues.enqueue(job(printer));
    const results = new Collected<unknown>();
    await serve(used.queues, printer, async ({ setNote, signal, delivery, note }) => {
      if (delivery > 1) {
        results.add(note);
        return 'done';
      }
      await setNote({ agent: 'one' });
      await takeAwayLocks();
      await setNote({ agent: 'too late' }).catch((error: unknown) => results.add(error));
      results.add(signal.reason);
      throw signal.reason;
    });
    const [refused, reason, left] = await results.reach(3);
    expect([refused, reason]).toMatchObject([{ code: 'lock-lost' }, { code: 'lock-lost' }]);
    expect(left).toEqual({ agent: 'one' });
  });

  it('takes notes of every delivery to the same worker', async () => {
    const mine = job(printer);
    await used.queues.enqueue(mine);
    const notes = new Collected<unknown>();
    const consumer = await serve(used.queues, printer, async ({ setNote, delivery, note }) => {
      notes.add(note);
      if (delivery === 4) return 'done';
      await setNote({ delivery, upTo: 1 });
      await setNote({ delivery, upTo: 2 });
      if (delivery === 1) throw new Error('to be delivered again');
      return 'hand-back';
    });
    await notes.reach(1);
    for (const handedBack of [2, 3]) {
      await notes.reach(handedBack);
      await expect.poll(() => used.queues.look(printer, mine.jobId)).toMatchObject({ state: 'waiting' });
      await consumer.resume();
    }
    expect(await notes.reach(4)).toEqual([
      undefined,
      ...[1, 2, 3].map((delivery) => ({ delivery, upTo: 2 })),
    ]);
  });

  it('keeps its last note when an earlier one gets there late', async () => {
    await used.queues.enqueue(job(printer));
    const pool = new Pool(used.backend.database);
    const redis = new Redis(used.backend.redisUrl ?? '', { lazyConnect: true });
    const keyOf = (lane: Lane, name: string) => `${used.backend.prefix}:{${lane}}:${name}`;
    const onRedis = new RedisTurns(redis, keyOf, new RedisTemplates(redis, keyOf)).of(printer);
    const direct = kind === 'postgres' ? postgresTurns(pool) : onRedis;
    const results = new Collected<unknown>();
    await serve(used.queues, printer, async ({ job: { jobId }, setNote, delivery, note }) => {
      if (delivery > 1) {
        results.add(note);
        return 'done';
      }
      await setNote({ upTo: 1 });
      await setNote({ upTo: 2 });
      const term =
        kind === 'postgres'
          ? String((await pool.query('SELECT term FROM lanes.job WHERE queue_id = $1', [jobId])).rows[0].term)
          : String(await redis.hget(keyOf(printer, jobId), 'term'));
      const inHand = { lane: printer, id: jobId, delivery, term };
      results.add(await direct.notes([{ inHand, order: 1, note: '{"upTo":1}' }]));
      throw new Error('to be delivered again');
    });
    expect(await results.reach(2)).toEqual([[false], { upTo: 2 }]);
    redis.disconnect();
    await pool.end();
  });

  async function takeAwayLocks(): Promise<void> {
    if (kind === 'postgres') {
      await administer(
        used.backend.database,
        `UPDATE lanes.lease SET agent_id = 'another', term = 'another.1', until = now() + interval '1 second'`,
      );
      return;
    }
    const redis = new Redis(used.backend.redisUrl ?? '');
    await redis.set(`${used.backend.prefix}:{${printer}}:lease`, 'another/another.1/0', 'PX', 1_000);
    redis.disconnect();
  }
});
