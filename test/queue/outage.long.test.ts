import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openQueues, type Queues, type QueuesOptions } from '../../src/queue/index.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { backends, type OpenBackend, queried } from '../kit/servers/backends.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';
import { listening } from '../kit/wire/listening.ts';

// The embedded database is the same PostgreSQL, and its socket has no road to break.
describe.each(backends().filter(({ embedded }) => !embedded))(
  'queues on $name, when it is away',
  ({ kind, open }) => {
    let backend: OpenBackend;
    let road: BreakableRoad;
    let secret: string;
    let options: QueuesOptions;
    let queues: Queues;
    const logger = keepingLogger();

    beforeEach(async () => {
      logger.lines.length = 0;
      backend = await open();
      const url = new URL(kind === 'redis' ? (backend.redisUrl ?? '') : (backend.databaseUrl ?? ''));
      secret = url.password;
      road = new BreakableRoad(url.hostname, Number(url.port));
      await road.open();
      url.port = String(road.port);
      options = {
        ...(kind === 'redis' ? { redisUrl: url.href } : { database: { connectionString: url.href } }),
        prefix: backend.prefix,
        logger,
        commandTimeoutMs: 1_500,
      };
      queues = await openQueues(options);
    });
    afterEach(async () => {
      await queues.close({ timeoutMs: 0, graceMs: 0 });
      await road.close();
      await backend.close();
      expect(logger.lines.join()).not.toContain(secret);
    });

    it('says so at the start, in bounded time, with a typed error that shows no password', async () => {
      await road.close();
      const started = Date.now();
      const refused = openQueues({ ...options, startTimeoutMs: 500 });
      await expect(refused).rejects.toMatchObject({
        name: 'QueueError',
        code: 'unavailable',
        retrySafe: true,
      });
      expect(Date.now() - started).toBeLessThan(5_000);
      await expect(refused).rejects.not.toThrow(secret);
    });

    it('says so at the start when it takes connections and does not answer', async () => {
      road.silence();
      const refused = openQueues({ ...options, startTimeoutMs: 500 });
      await expect(refused).rejects.toMatchObject({ name: 'QueueError', code: 'unavailable' });
    });

    it('tells a wrong password from an absent server', async () => {
      const url = new URL(options.redisUrl ?? backend.databaseUrl ?? '');
      url.password = `wrong-${randomBytes(4).toString('hex')}`;
      const refused = openQueues({
        ...options,
        ...(kind === 'redis' ? { redisUrl: url.href } : { database: { connectionString: url.href } }),
      });
      await expect(refused).rejects.toMatchObject({ code: 'refused', retrySafe: false });
      await expect(refused).rejects.not.toThrow(url.password);
      expect(logger.lines.join()).not.toContain(url.password);
    });

    it('ends producing commands in bounded time, and takes them again afterwards', async () => {
      const printer = printerId();
      await queues.enqueue(job(printer));
      for (const outage of ['closed', 'silent'] as const) {
        if (outage === 'closed') await road.close();
        else road.silence();
        const started = Date.now();
        await expect(queues.enqueue(job(printer))).rejects.toMatchObject({
          code: 'unavailable',
          retrySafe: true,
        });
        await expect(queues.look(printerId(), randomUUID())).rejects.toMatchObject({ code: 'unavailable' });
        expect(Date.now() - started).toBeLessThan(15_000);
        await road.close();
        await road.open();
        const again = job(printer);
        await expect
          .poll(
            () =>
              queues.enqueue(again).then(
                () => 'added',
                () => 'away',
              ),
            { timeout: 20_000, interval: 200 },
          )
          .toBe('added');
      }
    });

    it('closes in bounded time while a queue of it is still being opened', async () => {
      const closing = await openQueues(options);
      road.silence();
      await expect(closing.look(printerId(), randomUUID())).rejects.toMatchObject({ code: 'unavailable' });
      await road.close();
      const closed = closing.close().then(() => 'closed');
      expect(await Promise.race([closed, wait(15_000, 'still open')])).toBe('closed');
    });

    it('closes in bounded time while it is silent and a consumer waits for jobs', async () => {
      const closing = await openQueues(options);
      const printer = printerId();
      const got = new Collected<string>();
      await serve(closing, printer, async ({ job: { jobId } }) => {
        got.add(jobId);
        return 'done';
      });
      for (const count of [1, 2]) {
        await queues.enqueue(job(printer));
        await got.reach(count);
      }
      road.silence();
      const closed = closing.close().then(() => 'closed');
      expect(await Promise.race([closed, wait(30_000, 'still open')])).toBe('closed');
    });

    it('adds nothing more of what it has given up', async () => {
      const printer = printerId();
      const [first, second, last] = [job(printer), job(printer), job(printer)];
      await queues.enqueue(job(printer));
      road.silence();
      await expect(queues.enqueue(first, second)).rejects.toMatchObject({ code: 'unavailable' });
      await road.close();
      await road.open();
      const add = () =>
        queues.enqueue(last).then(
          () => 'added',
          () => 'away',
        );
      await expect.poll(add, { timeout: 20_000, interval: 200 }).toBe('added');
      // A command that was under way may have come through; the next one must not follow it.
      expect(await queues.look(printer, second.jobId)).toBeNull();
    });

    it('neither spins nor floods the log while it is away, and goes on by itself', async () => {
      const printers = Array.from({ length: 5 }, printerId);
      const got = new Collected<string>();
      const release = Promise.withResolvers<void>();
      for (const printer of printers) {
        await serve(queues, printer, async ({ job: { jobId } }) => {
          got.add(jobId);
          await release.promise;
          return 'done';
        });
      }
      const before = printers.map((printer) => job(printer));
      await queues.enqueue(...before);
      await got.reach(5);
      // Every connection breaks as soon as it is made, and every worker has a job that is done: the state in which
      // BullMQ's own workers ask for the next one again and again.
      road.slam();
      release.resolve();
      await wait(3_000);
      expect(road.connections).toBeGreaterThan(0);
      expect(road.connections).toBeLessThan(150);
      expect(logger.lines.length).toBeLessThan(30);
      await road.close();
      // Added behind its back, so that nobody but the worker itself can find them.
      const direct = await openQueues({ ...backend, logger: keepingLogger() });
      const during = printers.map((printer) => job(printer));
      await direct.enqueue(...during);
      await road.open();
      const all = await got.reach(10);
      expect(new Set(all)).toEqual(new Set([...before, ...during].map(({ jobId }) => jobId)));
      const after = job(printers[0] ?? '');
      await direct.enqueue(after);
      await got.reach(11);
      expect(got.values).toHaveLength(11);
      await direct.close();
      expect(logger.lines.length).toBeLessThan(40);
    });

    it('refuses a consumer while it is away, and gives one afterwards', async () => {
      const printer = printerId();
      await road.close();
      await expect(serve(queues, printer, async () => 'done')).rejects.toMatchObject({
        code: 'unavailable',
      });
      await road.open();
      const got = new Collected<string>();
      await expect
        .poll(
          () =>
            serve(queues, printer, async ({ job: { jobId } }) => {
              got.add(jobId);
              return 'done';
            }).then(
              () => 'consuming',
              () => 'away',
            ),
          { timeout: 20_000, interval: 200 },
        )
        .toBe('consuming');
      const one = job(printer);
      await queues.enqueue(one);
      expect(await got.reach(1)).toEqual([one.jobId]);
    });

    it('leaves a job with its worker while the lease lasts', async () => {
      const printer = printerId();
      const [a, b] = [job(printer), job(printer)];
      await queues.enqueue(a, b);
      const got = new Collected<string>();
      const release = Promise.withResolvers<void>();
      let aborted = false;
      const length = { contended: 15_000, alone: 60_000 };
      await serve(
        queues,
        printer,
        async ({ job: { jobId }, signal }) => {
          got.add(jobId);
          if (jobId === a.jobId) await release.promise;
          aborted ||= signal.aborted;
          return 'done';
        },
        { length },
      );
      await got.reach(1);
      await road.close();
      await wait(3_000);
      await road.open();
      const direct = await openQueues({ ...backend, logger: keepingLogger() });
      const rival = { lane: printer, term: 'rival.1', fresh: true, reaches: true };
      expect(await direct.askLeases('rival', [rival], length)).toMatchObject([{ granted: null }]);
      // Nor does one take it that believes that the lane is its own.
      const taken = new Collected<string>();
      const second = await direct.consume(printer, 'rival.1', async ({ job: { jobId } }) => {
        taken.add(jobId);
        return 'hand-back';
      });
      await wait(800);
      await second.stop({ timeoutMs: 0 });
      expect(taken.values).toEqual([]);
      expect(await direct.takeAway(printer, a.jobId)).toBe(false);
      await direct.close();
      release.resolve();
      expect(await got.reach(2)).toEqual([a.jobId, b.jobId]);
      await expect.poll(() => unfinished(queues, printer, [a.jobId, b.jobId]), { timeout: 10_000 }).toBe(0);
      expect(aborted).toBe(false);
      expect(got.values).toHaveLength(2);
    });

    it('takes jobs in their order when the answer that held the next one was lost', async () => {
      const short = await openQueues(options);
      const printer = printerId();
      const jobs = [job(printer), job(printer), job(printer)];
      await short.enqueue(...jobs);
      const got = new Collected<string>();
      await serve(short, printer, async ({ job: { jobId } }) => {
        got.add(jobId);
        // With the end of one job goes the question for the next.
        if (jobId === jobs[0]?.jobId && got.values.length === 1) road.muteAnswers();
        return 'done';
      });
      await got.reach(1);
      await expect.poll(inHand, { timeout: 10_000 }).toEqual([jobs[1]?.jobId]);
      await road.close();
      await road.open();
      const all = await got.reach(3);
      expect([...new Set(all)]).toEqual(jobs.map(({ jobId }) => jobId));
      await short.close();

      async function inHand(): Promise<unknown[]> {
        if (kind === 'redis') {
          const redis = new Redis(backend.redisUrl ?? '');
          const ids = await redis.lrange(`${backend.prefix}:{${printer}}:active`, 0, -1);
          redis.disconnect();
          return ids;
        }
        const sql = `SELECT queue_id AS id FROM lanes.job WHERE lane = $1 AND ended_at IS NULL AND term IS NOT NULL`;
        return (await queried(backend.database, sql, [printer])).map(({ id }) => id);
      }
    });

    it('completes a job that was done while it was away', async () => {
      const printer = printerId();
      const [a, b] = [job(printer), job(printer)];
      await queues.enqueue(a, b);
      const got = new Collected<string>();
      await serve(queues, printer, async ({ job: { jobId } }) => {
        got.add(jobId);
        if (jobId === a.jobId) await road.close();
        return 'done';
      });
      await got.reach(1);
      await wait(500);
      await road.open();
      expect(await got.reach(2)).toEqual([a.jobId, b.jobId]);
      await expect
        .poll(() => unfinished(queues, printer, [a.jobId, b.jobId]).catch(() => -1), { timeout: 20_000 })
        .toBe(0);
      expect(got.values).toHaveLength(2);
    });
  },
);

describe.each(backends())('the connections of 30 workers on $name', ({ kind, open }) => {
  it('are shared', async () => {
    const backend = await open();
    // A Redis user of its own tells these connections from those of the tests that run beside this one.
    const redis = kind === 'redis' ? new Redis(inject('redisUrl')) : undefined;
    const user = `count-${randomBytes(4).toString('hex')}`;
    const redisUrl = redis && new URL(inject('redisUrl'));
    if (redisUrl) {
      redisUrl.username = user;
      await redis?.acl('SETUSER', user, 'on', `>${redisUrl.password}`, '~*', '&*', '+@all');
    }
    const queues = await openQueues({ ...backend, redisUrl: redisUrl?.href, logger: keepingLogger() });
    const clients = async () => {
      const list = String(await redis?.call('CLIENT', 'LIST'));
      return list.split('\n').filter((line) => line.includes(` user=${user} `)).length;
    };
    const idle = await clients();
    const got = new Collected<string>();
    const printers = Array.from({ length: 30 }, printerId);
    for (const printer of printers) {
      await serve(queues, printer, async ({ job: { jobId } }) => {
        got.add(jobId);
        return 'done';
      });
    }
    await queues.enqueue(...printers.map((printer) => job(printer)));
    await got.reach(30);
    if (redis !== undefined) {
      // Bells, and whatever is asked, are on the one that was there.
      expect([idle, await clients()]).toEqual([1, 1]);
      await redis.acl('DELUSER', user);
      redis.disconnect();
    } else {
      const [found] = await queried(
        backend.database,
        `SELECT count(*)::int AS all, count(*) FILTER (WHERE application_name = 'platen-listening')::int AS listening
           FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'platen-%'`,
      );
      expect(found?.['listening']).toBe(1);
      expect(found?.['all']).toBeLessThanOrEqual(11);
    }
    await queues.close();
    await backend.close();
  });
});

it('refuses an address that is none, without showing it', async () => {
  for (const redisUrl of ['pass:word@host', 'http://user:hunter2@host']) {
    const refused = openQueues({ redisUrl, logger: keepingLogger() });
    await expect(refused).rejects.toMatchObject({ code: 'refused' });
    await expect(refused).rejects.not.toThrow(/word|hunter2/);
  }
  await expect(openQueues({ logger: keepingLogger() })).rejects.toMatchObject({ code: 'refused' });
});

it('speaks TLS to a rediss:// address', async () => {
  const first = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => socket.on('error', () => undefined).once('data', first.resolve));
  const redisUrl = `rediss://:hunter2@127.0.0.1:${await listening(server)}`;
  const refused = openQueues({ redisUrl, logger: keepingLogger(), startTimeoutMs: 500 });
  const result = expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  const hello = await first.promise;
  // A TLS handshake record, and nothing in clear.
  expect(hello[0]).toBe(0x16);
  expect(hello.includes('hunter2')).toBe(false);
  await result;
  server.close();
});
