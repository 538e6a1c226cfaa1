/** A job that somebody else has begun, and that this agent, of another version, cannot read, or whose note it cannot. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { jobFor, type TestPrinter } from './site.ts';
import { useSite } from './use-site.ts';

const site = useSite();
let redis: Redis;

beforeAll(() => {
  redis = new Redis(site.queueOptions.redisUrl ?? '');
});
afterAll(() => redis.disconnect());

/** A job for a printer that has no agent yet, as another agent has left it. */
async function left(serial: string, note: object): Promise<{ job: QueuedJob; printer: TestPrinter }> {
  const printer = await site.startPrinter({ serial });
  const { agent, printerId } = await site.startAgent(printer);
  await agent.stop();
  const job = jobFor(printerId, 8);
  await site.queues.enqueue(job);
  const done = Promise.withResolvers<void>();
  const consumer = await site.queues.consume(laneOf(job), async ({ setNote }) => {
    await setNote(note);
    done.resolve();
    return 'hand-back';
  });
  await done.promise;
  await consumer.stop();
  return { job, printer };
}

async function makeUnreadable({ jobId, printerId }: QueuedJob): Promise<void> {
  const key = `${site.queueOptions.prefix}:{${printerId}}:${jobId}`;
  expect(await redis.hset(key, 'data', JSON.stringify({ json: '{"v":3}' }))).toBe(0);
}

test('not readable, and labels may be under way: held, all that are not known to be out', async () => {
  const { job, printer } = await left('LEFT-1', { agentId: 'agent-of-before', resumeAt: null });
  await makeUnreadable(job);
  await site.startAgent(printer);
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({
    status: 'held',
    error: { code: 'payload-unreadable' },
    uncertain: { from: 0 },
  });
  expect(end.uncertain?.to).toBeGreaterThanOrEqual(8);
});

test('not readable, handed back in good order: failed, with what is out', async () => {
  const { job, printer } = await left('LEFT-2', { agentId: 'agent-of-before', resumeAt: 3 });
  await makeUnreadable(job);
  await site.startAgent(printer);
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'failed', labels: { sent: 3, printed: 3 } });
});

test('the note is not readable: held, not printed from the beginning', async () => {
  const { job, printer } = await left('LEFT-3', { by: 'an agent to come', upTo: 3 });
  await site.startAgent(printer);
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'held', uncertain: { from: 0, to: 8 } });
  expect(printer.labels).toEqual([]);
});
