/** Agents and services of versions that take jobs with BullMQ's workers, at one Redis with this one: none lost, none doubled. */
import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { openQueues, type Queues } from '../../src/queue/index.ts';
import { Collected, job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';
import { delivered, serve } from '../kit/queue/serving.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';

type Stored = { json: string };
let backend: OpenBackend;
let redis: Redis;
let queues: Queues;
let lane: Lane;
const workers: Worker[] = [];

beforeEach(async () => {
  backend = await onRedis().open();
  redis = new Redis(backend.redisUrl ?? '', { maxRetriesPerRequest: null });
  queues = await openQueues({ ...backend, logger: keepingLogger() });
  lane = printerId();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close(true)));
  await queues.close({ timeoutMs: 0 });
  redis.disconnect();
  await backend.close();
});

/** As that version adds jobs. */
async function add(name: string, jobs: readonly object[], ids: readonly string[]): Promise<void> {
  const { prefix } = backend;
  const queue = new Queue<Stored, null, string>(`{${name}}`, { connection: redis, prefix });
  for (const [at, one] of jobs.entries()) {
    const keep = { removeOnComplete: { age: 172_800 }, removeOnFail: { age: 1_209_600 } };
    await queue.add('job', { json: JSON.stringify(one) }, { jobId: ids[at] ?? '', attempts: 1, ...keep });
  }
  await queue.close();
}

function worker(process: (job: Job<Stored, null, string>) => Promise<null>): Worker<Stored, null, string> {
  const timing = { lockDuration: 1_000, stalledInterval: 300, maxStalledCount: 1_000_000 };
  const made = new Worker<Stored, null, string>(`{${lane}}`, process, {
    connection: redis,
    prefix: backend.prefix,
    ...timing,
  });
  workers.push(made);
  return made;
}

const idsOf = (jobs: readonly QueuedJob[]) => jobs.map(({ jobId }) => jobId);

test('jobs of before come in their order, what was in hand first, with its note and one more delivery', async () => {
  const jobs = [job(lane), job(lane), job(lane), job(lane)];
  await add(lane, jobs, idsOf(jobs));
  const note = { agentId: 'agent-of-before', resumeAt: null, underWay: { base: 0, odometer: 7 } };
  const inHand = Promise.withResolvers<void>();
  const before = worker(async (one) => {
    if (one.id === jobs[0]?.jobId) return null;
    await one.updateProgress(note);
    inHand.resolve();
    return await new Promise<never>(() => undefined);
  });
  await inHand.promise;
  await before.close(true);
  expect(await queues.look(lane, jobs[0]?.jobId ?? '')).toMatchObject({ state: 'ended' });
  expect(await queues.look(lane, jobs[1]?.jobId ?? '')).toEqual({
    state: 'active',
    deliveries: 1,
    begun: true,
    endedMs: null,
  });
  expect(await queues.depth(lane)).toBe(3);
  // Its lock says that the agent of before may have it still.
  expect(await queues.takeAway(lane, jobs[1]?.jobId ?? '')).toBe(false);

  const got = await delivered(queues, lane);
  expect(await got.reach(3)).toEqual([
    [jobs[1]?.jobId, 2, note],
    [jobs[2]?.jobId, 1, undefined],
    [jobs[3]?.jobId, 1, undefined],
  ]);
  await expect.poll(() => queues.depth(lane)).toBe(0);
  // What BullMQ has finished is forgotten in its time too.
  const keys = idsOf(jobs).map((id) => `${backend.prefix}:{${lane}}:${id}`);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
  // A service of before, which adds what it believes is lost.
  await add(lane, jobs, idsOf(jobs));
  expect(await queues.depth(lane)).toBe(0);
});

test('an agent of before prints what this version adds, in order, and goes on with what one of this left', async () => {
  const jobs = [job(lane), job(lane), job(lane)];
  await queues.enqueueMany(jobs);
  const first = await serve(queues, lane, async ({ setNote }) => {
    await setNote({ resumeAt: 3 });
    return 'hand-back';
  });
  await expect.poll(() => first.paused).toBe(true);
  await first.stop();
  const got = new Collected<unknown>();
  worker(async (one) => {
    got.add([one.id, one.attemptsStarted, one.progress]);
    return null;
  });
  const late = job(lane);
  await queues.enqueue(late);
  expect(await got.reach(4)).toEqual([
    [jobs[0]?.jobId, 2, { resumeAt: 3 }],
    [jobs[1]?.jobId, 1, 0],
    [jobs[2]?.jobId, 1, 0],
    [late.jobId, 1, 0],
  ]);
  await expect.poll(() => queues.depth(lane)).toBe(0);
  for (const { jobId } of jobs) expect(await queues.look(lane, jobId)).toMatchObject({ state: 'ended' });
});

test('what a service of before adds is taken without a bell, with the next answer about the lease', async () => {
  const got = new Collected<string>();
  await serve(queues, lane, async ({ job: { jobId } }) => {
    got.add(jobId);
    return 'done';
  });
  const one = job(lane);
  await add(lane, [one], [one.jobId]);
  expect(await got.reach(1)).toEqual([one.jobId]);
});

test('a note that cannot be read says that somebody has begun, and the lane goes on', async () => {
  const jobs = [job(lane), job(lane)];
  await queues.enqueueMany(jobs);
  await redis.hset(`${backend.prefix}:{${lane}}:${jobs[0]?.jobId}`, 'progress', '{"agentId":');
  const got = new Collected<unknown>();
  await serve(queues, lane, async ({ job: { jobId }, note }) => {
    got.add([jobId, note]);
    return 'done';
  });
  expect(await got.reach(2)).toEqual([
    [jobs[0]?.jobId, {}],
    [jobs[1]?.jobId, undefined],
  ]);
});

test('reports of agents without lanes are read from the queue that they all had', async () => {
  const of = job(lane);
  const reports = [report(of, 1), report(of, 2), report(of, 3)];
  await add(
    'reports',
    [reports[0] ?? {}, { kind: 'nonsense' }, ...reports.slice(1)],
    ['r-1', 'r-2', 'r-3', 'r-4'],
  );
  const got = new Collected<unknown>();
  await queues.consumeReports(async (batch) => {
    for (const one of batch) got.add(one.report);
  });
  expect(await got.reach(3)).toEqual(reports);
  await expect.poll(() => redis.llen(`${backend.prefix}:{reports}:wait`)).toBe(0);
});
