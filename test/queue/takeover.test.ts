import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { openQueues, type Queues, type QueuesOptions } from '../../src/queue/index.ts';
import { openPostgres } from '../../src/queue/postgres.ts';
import { ErrorLog } from '../../src/queue/queue-log.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { administer, backends, type OpenBackend } from '../kit/servers/backends.ts';

const program = fileURLToPath(new URL('./consumer-process.ts', import.meta.url));
const timing = { lockDurationMs: 1_000, stalledIntervalMs: 400 };

describe.each(backends())('a job that is taken from its worker, on $name', ({ kind, open }) => {
  let backend: OpenBackend;
  let queues: Queues;
  let printer: Lane;
  const logger = keepingLogger();

  beforeEach(async () => {
    logger.lines.length = 0;
    backend = await open();
    queues = await openQueues({ ...backend, ...timing, logger });
    printer = printerId();
  });
  afterEach(async () => {
    await queues.close({ timeoutMs: 0 });
    await backend.close();
  });

  /** The first of these jobs is in the hand of a process, which is killed. */
  async function killWithFirst(jobs: QueuedJob[], options: Partial<QueuesOptions> = {}): Promise<void> {
    await queues.enqueueMany(jobs);
    const settings = JSON.stringify({ ...backend, ...timing, ...options, printer });
    const child = spawn(process.execPath, [program, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    expect(JSON.parse(String(line))).toEqual({ jobId: jobs[0]?.jobId, delivery: 1 });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  it('comes first again, marked as redelivered, when its process was killed', async () => {
    const jobs = [job(printer), job(printer), job(printer)];
    await killWithFirst(jobs);
    const got = new Collected<[string, number, boolean]>();
    await queues.consume(printer, async ({ job: { jobId }, delivery, redelivered }) => {
      got.add([jobId, delivery, redelivered]);
      return 'done';
    });
    expect(await got.reach(3)).toEqual([
      [jobs[0]?.jobId, 2, true],
      [jobs[1]?.jobId, 1, false],
      [jobs[2]?.jobId, 1, false],
    ]);
  });

  it('comes first again however long its lock lasts', async () => {
    const jobs = [job(printer), job(printer)];
    // Longer than a consumer with the other times would expect.
    await killWithFirst(jobs, { lockDurationMs: 5_000 });
    const got = new Collected<string>();
    await queues.consume(printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
    expect(await got.reach(2)).toEqual(jobs.map(({ jobId }) => jobId));
    expect(logger.lines.some((line) => line.startsWith('the jobs wait'))).toBe(true);
  });

  it('comes first again however often that happens', async () => {
    const jobs = [job(printer), job(printer)];
    await queues.enqueueMany(jobs);
    const got = new Collected<[string, number]>();
    for (let time = 1; time <= 3; time += 1) {
      const consumer = await queues.consume(printer, async ({ job: { jobId }, delivery, signal }) => {
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

  it.runIf(kind === 'postgres')(
    'comes first again while a worker looks for stalled jobs, which locks what it has marked',
    async () => {
      const jobs = [job(printer), job(printer)];
      await queues.enqueueMany(jobs);
      const marked = Promise.withResolvers<void>();
      const first = await queues.consume(printer, async () => {
        await marked.promise;
        return 'hand-back';
      });
      const other = new Client(backend.database);
      other.on('error', () => undefined);
      await other.connect();
      const isMarked = async () =>
        (await other.query('SELECT 1 FROM bullmq.job WHERE queue = $1 AND stalled_marked', [printer]))
          .rowCount;
      await expect.poll(isMarked, { timeout: 10_000 }).toBe(1);
      marked.resolve();
      await first.stop();
      // As BullMQ's check does, in a transaction that takes its time.
      await other.query('BEGIN');
      await other.query('UPDATE bullmq.job SET stalled_marked = false WHERE queue = $1 AND stalled_marked', [
        printer,
      ]);
      const got = new Collected<string>();
      await queues.consume(printer, async ({ job: { jobId } }) => {
        got.add(jobId);
        return 'done';
      });
      await got.reach(1);
      await other.query('ROLLBACK');
      await other.end();
      expect(await got.reach(2)).toEqual(jobs.map(({ jobId }) => jobId));
    },
  );

  it('is known to be lost: the signal says so', async () => {
    await queues.enqueue(job(printer));
    const lost = Promise.withResolvers<unknown>();
    await queues.consume(printer, async ({ signal }) => {
      await takeAwayLocks();
      if (!signal.aborted) await once(signal, 'abort');
      lost.resolve(signal.reason);
      return 'done';
    });
    expect(await lost.promise).toMatchObject({ code: 'lock-lost' });
  });

  it('comes first again when its worker has lost it and asks for the next', async () => {
    const jobs = [job(printer), job(printer)];
    await queues.enqueueMany(jobs);
    const got = new Collected<[string, number]>();
    // Long enough between two looks for lost jobs to ask for the next in between.
    const slow = await openQueues({
      ...backend,
      lockDurationMs: 1_000,
      stalledIntervalMs: 1_500,
      logger: keepingLogger(),
    });
    await slow.consume(printer, async ({ job: { jobId }, delivery, signal }) => {
      got.add([jobId, delivery]);
      if (delivery > 1 || jobId !== jobs[0]?.jobId) return 'done';
      await takeAwayLocks();
      if (!signal.aborted) await once(signal, 'abort');
      throw signal.reason;
    });
    expect(await got.reach(3)).toEqual([
      [jobs[0]?.jobId, 1],
      [jobs[0]?.jobId, 2],
      [jobs[1]?.jobId, 1],
    ]);
    await slow.close();
  });

  it('takes no note of a worker that has lost it, and tells the worker at once', async () => {
    await queues.enqueue(job(printer));
    const results = new Collected<unknown>();
    await queues.consume(printer, async ({ setNote, signal, delivery, note }) => {
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
    await queues.enqueue(job(printer));
    const notes = new Collected<unknown>();
    const consumer = await queues.consume(printer, async ({ setNote, delivery, note }) => {
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
      await expect.poll(() => consumer.paused).toBe(true);
      await consumer.resume();
    }
    expect(await notes.reach(4)).toEqual([
      undefined,
      ...[1, 2, 3].map((delivery) => ({ delivery, upTo: 2 })),
    ]);
  });

  // On Redis commands keep their order: there is one connection.
  it.runIf(kind === 'postgres')('keeps its last note when an earlier one gets there late', async () => {
    await queues.enqueue(job(printer));
    const errors = new ErrorLog(logger);
    const given = { signal: undefined, startTimeoutMs: 5_000, lockDurationMs: 1_000 };
    const direct = await openPostgres({ ...backend, ...given, errors });
    const results = new Collected<unknown>();
    await queues.consume(printer, async ({ job: { jobId }, setNote, delivery, note }) => {
      if (delivery > 1) {
        results.add(note);
        return 'done';
      }
      await setNote({ upTo: 1 });
      await setNote({ upTo: 2 });
      const client = new Client(backend.database);
      await client.connect();
      const { rows } = await client.query('SELECT lock_token FROM bullmq.job WHERE id = $1', [jobId]);
      await client.end();
      const late = { queue: printer, jobId, token: rows[0].lock_token, lockMs: 1_000 };
      results.add(await direct.setNote({ ...late, note: { upTo: 1 }, order: 1 }));
      throw new Error('to be delivered again');
    });
    expect(await results.reach(2)).toEqual([false, { upTo: 2 }]);
    await direct.close();
  });

  async function takeAwayLocks(): Promise<void> {
    if (kind === 'postgres') {
      await administer(
        backend.database,
        `UPDATE bullmq.job SET lock_token = 'another' WHERE state = 'active'`,
      );
      return;
    }
    const redis = new Redis(backend.redisUrl ?? '');
    const keys = await redis.keys(`${backend.prefix}:*:lock`);
    expect(keys).toHaveLength(1);
    await redis.del(...keys);
    redis.disconnect();
  }
});
