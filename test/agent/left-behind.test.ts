/** A job that another agent has begun: this agent, of another version, cannot read the job or its note. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { jobFor, type TestPrinter } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { delivered, serve } from '../kit/queue/serving.ts';

const site = useSite();
let redis: Redis;

beforeAll(() => {
  redis = new Redis(site.queueOptions.redisUrl ?? '');
});
afterAll(() => redis.disconnect());

/** A job for a printer that has no agent at the moment, as another agent has left it, with what the first has printed. */
async function left(
  serial: string,
  note: object,
  before: string[] = [],
): Promise<{ job: QueuedJob; printer: TestPrinter; dataDir: string }> {
  const { printer, agent, printerId, dataDir } = await site.startServedPrinter({ serial });
  if (before.length > 0) {
    const first = jobFor(printerId, before);
    expect(await site.print(first)).toMatchObject({ status: 'printed' });
  }
  await agent.stop();
  const job = await site.enqueue(jobFor(printerId, 8));
  const done = Promise.withResolvers<void>();
  const consumer = await serve(site.queues, laneOf(job), async ({ setNote }) => {
    await setNote(note);
    done.resolve();
    return 'hand-back';
  });
  await done.promise;
  await consumer.stop();
  return { job, printer, dataDir };
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
    error: { code: 'payload-unreadable', reason: { code: 'job-unreadable' } },
    uncertain: { from: 0 },
  });
  expect(end.uncertain?.to).toBeGreaterThanOrEqual(8);
});

test('not readable, and the note says which labels may be under way: held, those', async () => {
  const underWay = { base: 0, odometer: null, printed: 2, sent: 2, intent: 6 };
  const { job, printer } = await left('LEFT-4', { agentId: 'agent-of-before', resumeAt: null, underWay });
  await makeUnreadable(job);
  await site.startAgent(printer);
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    labels: { sent: 2, printed: 2 },
    uncertain: { from: 2, to: 6 },
  });
});

test('the count that the note begins with is not that job’s alone any more: held', async () => {
  const underWay = { base: 0, odometer: 0, printed: 0, sent: 0, intent: 6 };
  const note = { agentId: 'agent-of-before', resumeAt: null, underWay };
  const { job, printer, dataDir } = await left('LEFT-5', note, ['before', 'before', 'before']);
  await site.startAgent(printer, { dataDir });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'held', uncertain: { from: 0, to: 6 } });
  expect(printer.labels).toEqual(['before', 'before', 'before']);
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

test('all that was sent is known, and the printer takes nothing now: it goes back with a note that says so', async () => {
  const underWay = { base: 2, odometer: 0, printed: 2, sent: 2, intent: 2 };
  const { job, printer } = await left('LEFT-6', { agentId: 'agent-of-before', resumeAt: null, underWay });
  printer.set({ 'media-empty': true });
  const { agent } = await site.startAgent(printer);
  const { id: agentId } = agent;
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
  await agent.stop();
  const [got] = await (await delivered(site.queues, laneOf(job))).reach(1);
  expect(got).toMatchObject([job.jobId, expect.any(Number), { agentId, resumeAt: 2 }]);
});
