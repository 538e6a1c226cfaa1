/** On Redis a template is beside the lane once, and in no job: what is stored, and what happens without it. */
import { expect, test } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { Collected, job, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { useRedis } from '../kit/queue/use-redis.ts';
import { onRedis } from '../kit/servers/backends.ts';

const used = useQueues(onRedis());
const redis = useRedis(used);

/** Jobs of one template, which has a large picture in it. */
function drawn(lane: string, count: number): QueuedJob[] {
  const like = job(lane);
  const source = `^XA^GFA,200000,200000,100,${'0'.repeat(200_000)}^FO10,10^FD{{city}}^FS^XZ`;
  return Array.from({ length: count }, () => {
    // Each request has an object of its own.
    const own = template.parse({ ...like.template, source });
    return { ...like, jobId: crypto.randomUUID(), template: own };
  });
}

const keysOf = (lane: string) => redis().keys(`${used.backend.prefix}:{${lane}}:template:*`);

test('it is stored once for many jobs, and each comes with it, as one object', async () => {
  const lane = printerId();
  const jobs = drawn(lane, 8);
  await used.queues.enqueue(...jobs);
  const [key = '', ...more] = await keysOf(lane);
  expect(more).toEqual([]);
  expect(await redis().pttl(key)).toBeGreaterThan(0);
  for (const { jobId } of jobs) {
    const data = await redis().hget(`${used.backend.prefix}:{${lane}}:${jobId}`, 'data');
    expect(data?.length).toBeLessThan(2_000);
  }
  const got = new Collected<QueuedJob>();
  await serve(used.queues, lane, async ({ job: taken }) => {
    got.add(taken);
    return 'done';
  });
  const taken = await got.reach(jobs.length);
  expect(taken).toEqual(jobs);
  expect(new Set(taken.map((one) => one.template)).size).toBe(1);
});

test('one that has gone while its job waits: the lane does not know the job, and has it again once it is added again', async () => {
  const lane = printerId();
  const jobs = drawn(lane, 1);
  const [one] = jobs;
  if (one === undefined) throw new Error('one job');
  await used.queues.enqueue(...jobs);
  await redis().del(await keysOf(lane));
  expect(await used.queues.look(lane, one.jobId)).toBeNull();
  await used.queues.enqueue(...jobs);
  expect(await used.queues.look(lane, one.jobId)).toMatchObject({ state: 'waiting', deliveries: 0 });
  const got = new Collected<QueuedJob>();
  await serve(used.queues, lane, async ({ job: taken }) => {
    got.add(taken);
    return 'done';
  });
  expect(await got.reach(1)).toEqual(jobs);
  await expect.poll(() => unfinished(used.queues, lane, [one.jobId])).toBe(0);
  expect(got.values).toHaveLength(1);
});

test('the service looks at jobs that wait, which keeps it there', async () => {
  const lane = printerId();
  const jobs = drawn(lane, 1);
  await used.queues.enqueue(...jobs);
  const [key = ''] = await keysOf(lane);
  await redis().pexpire(key, 60_000);
  await used.queues.look(lane, jobs[0]?.jobId ?? '');
  expect(await redis().pttl(key)).toBeGreaterThan(60_000);
});

test.each([
  ['is another', (json: string) => json.replace('{{city}}', 'Sparta')],
  ['is no JSON', () => '{'],
])('one that %s when the job is taken: the job is set aside unread', async (_what, change) => {
  const lane = printerId();
  const jobs = drawn(lane, 1);
  await used.queues.enqueue(...jobs);
  const [key = ''] = await keysOf(lane);
  await redis().set(key, change((await redis().get(key)) ?? ''));
  const unreadable = new Collected<unknown>();
  let handled = 0;
  const handler = async () => {
    handled += 1;
    return 'done' as const;
  };
  await serve(used.queues, lane, handler, {
    onUnreadable: ({ queueId, issues }) => unreadable.add([queueId, issues]),
  });
  expect(await unreadable.reach(1)).toEqual([[jobs[0]?.jobId, ['template: invalid_union']]]);
  expect(handled).toBe(0);
});
