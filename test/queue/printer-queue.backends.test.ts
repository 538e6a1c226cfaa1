import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { QueueError, type Queues, type UnreadableJob } from '../../src/queue/index.ts';
import { agentBackends, openQueuesOf } from '../kit/queue/over-gateway.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { type OpenBackend, queried, tried } from '../kit/servers/backends.ts';

describe.each(tried(agentBackends()))('a printer queue on $name', ({ kind, open }) => {
  let backend: OpenBackend;
  let queues: Queues;
  let printer: Lane;
  const more: Queues[] = [];

  async function another(options = {}): Promise<Queues> {
    const opened = await openQueuesOf(backend, { logger: keepingLogger(), ...options });
    more.push(opened);
    return opened;
  }

  beforeEach(async () => {
    backend = await open();
    queues = await another();
    printer = printerId();
  });
  afterEach(async () => {
    await Promise.all(more.splice(0).map((opened) => opened.close({ timeoutMs: 0 })));
    await backend.close();
  });

  it('hands out what was put in, whatever characters it holds', async () => {
    expect(queues.backend).toBe(kind);
    const sent = job(printer, { city: '\u0000 ^XZ~JR \ud800 "quotes" \n שלום 東京 \u{1f600}', ключ: '_5E' });
    const got = new Collected<unknown>();
    await queues.enqueue(sent);
    await serve(queues, printer, async (delivery) => {
      got.add({ job: delivery.job, delivery: delivery.delivery });
      return 'done';
    });
    expect(await got.reach(1)).toEqual([{ job: sent, delivery: 1 }]);
  });

  it('hands out jobs one at a time, in the order in which they were added', async () => {
    const jobs = Array.from({ length: 30 }, () => job(printer));
    const got = new Collected<string>();
    let inHand = 0;
    await serve(queues, printer, async ({ job: { jobId } }) => {
      inHand += 1;
      expect(inHand).toBe(1);
      await new Promise(setImmediate);
      inHand -= 1;
      got.add(jobId);
      return 'done';
    });
    for (const one of jobs.slice(0, 10)) await queues.enqueue(one);
    await queues.enqueue(...jobs.slice(10));
    expect(await got.reach(30)).toEqual(jobs.map(({ jobId }) => jobId));
  });

  it('keeps printers apart in one sweep', async () => {
    const other = printerId();
    const jobs = [job(printer), job(other), job(printer), job(other)];
    await queues.enqueue(...jobs);
    const ids = jobs.map(({ jobId }) => jobId);
    for (const lane of [printer, other]) expect(await unfinished(queues, lane, ids)).toBe(2);
  });

  it('ignores a job that it knows: waiting, active or done', async () => {
    const one = job(printer);
    const marker = job(printer);
    const got = new Collected<string>();
    const release = Promise.withResolvers<void>();
    await queues.enqueue(one);
    await queues.enqueue(one);
    await queues.enqueue(one, one);
    expect(await queues.look(printer, one.jobId)).toMatchObject({ state: 'waiting', deliveries: 0 });
    await serve(queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      if (jobId === one.jobId) await release.promise;
      return 'done';
    });
    await got.reach(1);
    await queues.enqueue(one);
    release.resolve();
    await expect.poll(() => unfinished(queues, printer, [one.jobId])).toBe(0);
    await queues.enqueue(one);
    await queues.enqueue(one, marker);
    expect(await got.reach(2)).toEqual([one.jobId, marker.jobId]);
    await expect.poll(() => unfinished(queues, printer, [one.jobId, marker.jobId])).toBe(0);
    expect(got.values).toHaveLength(2);
  });

  it('knows what it has, and takes out only what waits', async () => {
    const jobs = [job(printer), job(printer)];
    const [first, second] = jobs;
    if (first === undefined || second === undefined) throw new Error('two jobs');
    const got = new Collected<string>();
    const release = Promise.withResolvers<void>();
    await queues.enqueue(...jobs);
    expect(await queues.look(printer, first.jobId)).not.toBeNull();
    expect(await queues.look(printer, randomUUID())).toBeNull();
    await serve(queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      await release.promise;
      return 'done';
    });
    await got.reach(1);
    expect(await queues.remove(printer, first.jobId)).toBe(false);
    expect(await queues.remove(printer, second.jobId)).toBe(true);
    expect(await queues.remove(printer, second.jobId)).toBe(false);
    expect(await queues.remove(printer, randomUUID())).toBe(false);
    expect(await queues.look(printer, second.jobId)).toBeNull();
    release.resolve();
    await expect.poll(() => unfinished(queues, printer, [first.jobId])).toBe(0);
    expect(await queues.look(printer, first.jobId)).not.toBeNull();
    expect(await queues.remove(printer, first.jobId)).toBe(false);
    expect(got.values).toEqual([first.jobId]);
  });

  it('puts a job that is handed back at the front, and pauses', async () => {
    const jobs = [job(printer), job(printer), job(printer)];
    const got = new Collected<[string, number]>();
    let paper = false;
    await queues.enqueue(...jobs);
    const consumer = await serve(queues, printer, async (delivery) => {
      got.add([delivery.job.jobId, delivery.delivery]);
      return paper ? 'done' : 'hand-back';
    });
    await got.reach(1);
    const waiting = jobs.map(({ jobId }) => jobId);
    await expect.poll(() => unfinished(queues, printer, waiting)).toBe(3);
    await expect
      .poll(() => queues.look(printer, waiting[0] ?? ''))
      .toMatchObject({ state: 'waiting', deliveries: 1 });
    const late = job(printer);
    await queues.enqueue(late);
    paper = true;
    await consumer.resume();
    const ids = [...jobs, late].map(({ jobId }) => jobId);
    expect(await got.reach(5)).toEqual([
      [ids[0], 1],
      [ids[0], 2],
      [ids[1], 1],
      [ids[2], 1],
      [ids[3], 1],
    ]);
  });

  it('hands a job out again, in its place, when the handler throws', async () => {
    const jobs = [job(printer), job(printer)];
    const got = new Collected<string>();
    let failures = 2;
    await queues.enqueue(...jobs);
    await serve(queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      if (failures-- > 0) throw new Error('journal is full');
      return 'done';
    });
    const [a, b] = jobs.map(({ jobId }) => jobId);
    expect(await got.reach(4)).toEqual([a, a, a, b]);
  });

  it('takes nothing while it is paused, and what waited when it is resumed', async () => {
    const got = new Collected<string>();
    const consumer = await serve(queues, printer, async ({ job: { jobId } }) => {
      got.add(jobId);
      return 'done';
    });
    const [a, b] = [job(printer), job(printer)];
    await queues.enqueue(a);
    await got.reach(1);
    await expect.poll(() => unfinished(queues, printer, [a.jobId])).toBe(0);
    await consumer.pause();
    await queues.enqueue(b);
    // Another queue's job goes the whole way meanwhile.
    const other = printerId();
    const elsewhere = new Collected<string>();
    await serve(queues, other, async ({ job: { jobId } }) => {
      elsewhere.add(jobId);
      return 'done';
    });
    await queues.enqueue(job(other));
    await elsewhere.reach(1);
    expect(got.values).toEqual([a.jobId]);
    await consumer.resume();
    expect(await got.reach(2)).toEqual([a.jobId, b.jobId]);
  });

  it('stops in good order: the job in hand is finished, the next stays', async () => {
    const [a, b] = [job(printer), job(printer)];
    const got = new Collected<string>();
    const release = Promise.withResolvers<void>();
    let aborted = false;
    await queues.enqueue(a, b);
    const consumer = await serve(queues, printer, async ({ job: { jobId }, signal }) => {
      got.add(jobId);
      await release.promise;
      aborted = signal.aborted;
      return 'done';
    });
    await got.reach(1);
    const stopped = consumer.stop();
    release.resolve();
    await stopped;
    expect(aborted).toBe(false);
    expect(got.values).toEqual([a.jobId]);
    expect(await queues.look(printer, b.jobId)).toMatchObject({ state: 'waiting' });
  });

  it('aborts the handler of a consumer that is stopped by force, which may hand the job back', async () => {
    const [a, b] = [job(printer), job(printer)];
    const got = new Collected<string>();
    let reason: unknown;
    await queues.enqueue(a, b);
    const consumer = await serve(queues, printer, async ({ job: { jobId }, signal }) => {
      got.add(jobId);
      await once(signal, 'abort');
      reason = signal.reason;
      return 'hand-back';
    });
    await got.reach(1);
    await consumer.stop({ timeoutMs: 0 });
    expect(reason).toBeInstanceOf(QueueError);
    expect(reason).toMatchObject({ code: 'stopped' });
    const again = new Collected<[string, number]>();
    await serve(queues, printer, async ({ job: { jobId }, delivery }) => {
      again.add([jobId, delivery]);
      return 'done';
    });
    expect(await again.reach(2)).toEqual([
      [a.jobId, 2],
      [b.jobId, 1],
    ]);
  });

  it('sets an unreadable payload aside, says so without its contents, and goes on', async () => {
    const bad = { ...job(printer), copies: -1, records: [{ city: 'Jane Doe' }] };
    const good = job(printer);
    const got = new Collected<string>();
    const unreadable = new Collected<UnreadableJob>();
    const logger = keepingLogger();
    const reader = await another({ logger });
    await queues.enqueue(bad, good);
    await serve(
      reader,
      printer,
      async ({ job: { jobId } }) => {
        got.add(jobId);
        return 'done';
      },
      { onUnreadable: (one) => unreadable.add(one) },
    );
    expect(await got.reach(1)).toEqual([good.jobId]);
    expect(unreadable.values).toEqual([
      { queueId: bad.jobId, lane: printer, issues: [expect.stringMatching(/^copies: /)] },
    ]);
    await expect.poll(() => unfinished(queues, printer, [bad.jobId, good.jobId])).toBe(0);
    expect(logger.lines.join()).toContain(bad.jobId);
    expect(logger.lines.join()).not.toContain('Jane Doe');
  });

  it('refuses IDs that a queue cannot hold', async () => {
    await expect(queues.enqueue({ ...job(printer), jobId: '42' })).rejects.toMatchObject({
      code: 'invalid-id',
    });
    await expect(queues.enqueue({ ...job(printer), jobId: 'a:b' })).rejects.toMatchObject({
      code: 'invalid-id',
    });
    await expect(queues.look('reports' as Lane, randomUUID())).rejects.toMatchObject({ code: 'invalid-id' });
    await expect(queues.enqueue({ ...job(printer), printerId: 'reports' })).rejects.toMatchObject({
      code: 'invalid-id',
    });
    await expect(serve(queues, 'serial-a:b' as Lane, async () => 'done')).rejects.toMatchObject({
      code: 'invalid-id',
    });
  });

  it('refuses every command once it is closed', async () => {
    const one = await another();
    await one.close();
    await one.close();
    await expect(one.enqueue(job(printer))).rejects.toMatchObject({ code: 'closed', retrySafe: false });
    await expect(serve(one, printer, async () => 'done')).rejects.toMatchObject({ code: 'closed' });
  });

  it('serves no lane any more that began to be served while it was being closed', async () => {
    const one = await another();
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    await queues.enqueue(job(printer));
    await serve(one, printer, async () => {
      begun.resolve();
      await release.promise;
      return 'done';
    });
    await begun.promise;
    const late = one.consume(printerId(), 'term.1', async () => 'done');
    // Waits for the job in hand; the server answers meanwhile, as to the other lane.
    const closing = one.close();
    await expect(late).rejects.toMatchObject({ code: 'closed' });
    release.resolve();
    await closing;
  });

  it('keeps no label data of a finished job', async () => {
    const one = job(printer, { city: 'Jane Doe' });
    await queues.enqueue(one);
    expect(await stored(one.jobId)).toContain('Jane Doe');
    await serve(queues, printer, async () => 'done');
    await expect.poll(() => unfinished(queues, printer, [one.jobId])).toBe(0);
    await expect.poll(() => stored(one.jobId)).not.toContain('Jane Doe');
    expect(await queues.look(printer, one.jobId)).not.toBeNull();
  });

  /** All that the server keeps of a job. */
  async function stored(jobId: string): Promise<string> {
    if (backend.redisUrl !== undefined) {
      const redis = new Redis(backend.redisUrl);
      const hash = await redis.hgetall(`${backend.prefix}:{${printer}}:${jobId}`);
      redis.disconnect();
      return JSON.stringify(hash);
    }
    const sql = 'SELECT to_json(job)::text AS text FROM lanes.job AS job WHERE queue_id = $1';
    return String((await queried(backend.database, sql, [jobId]))[0]?.['text']);
  }
});
