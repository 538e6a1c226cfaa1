/** A job that comes with the ring: an agent that waits for one need not ask for it across a long line. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { BroughtJobs } from '../../src/queue/gateway/brought-jobs.ts';
import {
  type AgentQueue,
  type Consumer,
  type JoiningAgent,
  openGateway,
  openQueues,
  type Queues,
} from '../../src/queue/index.ts';
import type { TakenJob } from '../../src/queue/turns.ts';
import { Line } from '../chaos/line.ts';
import { GATEWAY_RETRY } from '../kit/queue/over-gateway.ts';
import { Collected, job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useGateway } from '../kit/queue/use-gateway.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const logger = keepingLogger();
const LENGTH = { contended: 15_000, alone: 60_000 };
const TERM = 'process.1';
const LONG = { timeout: 30_000 };
const used = useGateway();
let queues: Queues;
let lane: Lane;
let enrolment: JoiningAgent;
let line: Line;
let named = 0;
let running = new AsyncDisposableStack();

beforeAll(async () => {
  queues = await openQueues({ database: used.backend.database, logger });
});
beforeEach(async () => {
  lane = printerId();
  line = new Line('line', [Number(new URL(used.gateway.origin).port)]);
  await line.start();
  running.defer(() => line.stop());
  enrolment = await used.gateway.enroll(`agent-number-${++named}`, null, line.url);
});
afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});
afterAll(async () => {
  await queues.close({ timeoutMs: 0 });
});

/** An agent that has the lane's lease, listens, and has asked for a job, of which there is none. */
async function waiting(take: { waits?: true }): Promise<RawAgent> {
  const agent = await RawAgent.join(enrolment);
  running.defer(() => agent.socket.terminate());
  await agent.next('welcome');
  agent.say({ kind: 'listen', lanes: [lane] });
  const asks = [{ lane, term: TERM, fresh: true, reaches: true }];
  agent.say({ kind: 'lease', i: 1, asks, length: LENGTH });
  expect(await agent.next('leased')).toMatchObject({ answers: [{ granted: 60_000 }] });
  agent.say({
    kind: 'say',
    entries: [{ i: 2, what: 'take', lane, term: TERM, beside: [], number: 7, ...take }],
  });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 2, job: null }] });
  return agent;
}

/** The next ring, but for those that are not about one thing: the bell has just begun to hear. */
async function rung(agent: RawAgent): ReturnType<RawAgent['next']> {
  for (;;) {
    const ring = await agent.next('ring');
    if (ring['what'] !== null) return ring;
  }
}

test('it is in the hands of the agent, which notes, and ends it', async () => {
  const agent = await waiting({ waits: true });
  const asked = job(lane);
  await queues.enqueue(asked);
  expect(await rung(agent)).toMatchObject({
    lane,
    brought: { term: TERM, number: 7, job: { id: asked.jobId, delivery: 1, note: null } },
  });
  const hand = { lane, id: asked.jobId, delivery: 1, term: TERM };
  agent.say({ kind: 'say', entries: [{ i: 3, what: 'note', ...hand, order: 1, note: 'first label' }] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 3, ok: true }] });
  agent.say({ kind: 'say', entries: [{ i: 4, what: 'ended', ...hand }] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 4, ok: true }] });
  expect(await queues.look(lane, asked.jobId)).toMatchObject({ state: 'ended' });
  // One question brings one job.
  await queues.enqueue(job(lane));
  expect((await rung(agent))['brought']).toBeUndefined();
});

test('a question that was answered with a job, or is put anew, waits no longer', async () => {
  const agent = await waiting({ waits: true });
  const again = { i: 3, what: 'take', lane, term: TERM, beside: [], number: 8 };
  agent.say({ kind: 'say', entries: [again] });
  await agent.next('answers');
  await queues.enqueue(job(lane));
  expect((await rung(agent))['brought']).toBeUndefined();
});

test.each([
  ['does not say that it waits', {}, async () => undefined],
  [
    'gives the lease back',
    { waits: true },
    async (agent: RawAgent) => {
      agent.say({ kind: 'giveBack', i: 3, lane, term: TERM });
      await agent.next('answers');
    },
  ],
  [
    'is to look at the marks of the lane first',
    { waits: true },
    async (agent: RawAgent) => {
      await queues.markHeld(lane, true);
      expect(await rung(agent)).toMatchObject({ what: 'marked/held' });
    },
  ],
] as const)('no job comes with the ring to an agent that %s', async (_, take, before) => {
  const agent = await waiting(take);
  await before(agent);
  const asked = job(lane);
  await queues.enqueue(asked);
  const ring = await rung(agent);
  expect(ring).toMatchObject({ lane });
  expect(ring['brought']).toBeUndefined();
  expect(await queues.look(lane, asked.jobId)).toMatchObject({ state: 'waiting', deliveries: 0 });
});

/** Platen's own agent, which waits for a job. */
async function consuming(): Promise<{
  queue: AgentQueue;
  consumer: Consumer;
  jobs: Collected<{ id: string; delivery: number }>;
}> {
  const queue = await openGateway({ agent: enrolment, logger, retry: GATEWAY_RETRY });
  running.defer(() => queue.close({ timeoutMs: 0, graceMs: 0 }));
  const asks = [{ lane, term: TERM, fresh: true, reaches: true }];
  const lease = () =>
    queue.askLeases(enrolment.agentId, asks, LENGTH).then(
      ([one]) => one?.granted,
      () => null,
    );
  await expect.poll(lease, LONG).toBe(60_000);
  const jobs = new Collected<{ id: string; delivery: number }>();
  const consumer = await queue.consume(lane, TERM, async ({ job: { jobId: id }, delivery }) => {
    jobs.add({ id, delivery });
    return 'done';
  });
  return { queue, consumer, jobs };
}

/** As soon as its first job has ended it waits for the next one. */
async function waitingAgain(): ReturnType<typeof consuming> {
  const agent = await consuming();
  const first = job(lane);
  await queues.enqueue(first);
  await agent.jobs.reach(1);
  // In one command with the question for the next job.
  await expect.poll(() => queues.look(lane, first.jobId), LONG).toMatchObject({ state: 'ended' });
  // What the service has answered before is answered.
  await agent.queue.ping();
  return agent;
}

test('an agent that waits has the job without a question', async () => {
  const { jobs } = await waitingAgain();
  // From here on no question arrives.
  line.strikeAt({ way: 'to the service', kind: 'take', how: 'lost' });
  const asked = job(lane);
  await queues.enqueue(asked);
  expect((await jobs.reach(2)).at(1)).toEqual({ id: asked.jobId, delivery: 1 });
});

test('one that takes none at present gives the job back, and gets it once it goes on', async () => {
  const { consumer, jobs } = await waitingAgain();
  await consumer.pause();
  const asked = job(lane);
  await queues.enqueue(asked);
  await expect
    .poll(() => queues.look(lane, asked.jobId), LONG)
    .toMatchObject({ state: 'waiting', deliveries: 1 });
  expect(jobs.values).toHaveLength(1);
  await consumer.resume();
  expect((await jobs.reach(2)).at(1)).toEqual({ id: asked.jobId, delivery: 2 });
});

test('where the ring is lost, the lane rings again with the next answer about the lease, and the job is there', async () => {
  const agent = await waiting({ waits: true });
  const asked = job(lane);
  line.strikeAt({ way: 'to the agent', kind: 'ring', how: 'lost' });
  await queues.enqueue(asked);
  await expect.poll(() => line.strikesLater, LONG).toBe(false);
  const asks = [{ lane, term: TERM, fresh: false, reaches: true }];
  agent.say({ kind: 'lease', i: 3, asks, length: LENGTH });
  expect((await rung(agent))['brought']).toBeUndefined();
  agent.say({
    kind: 'say',
    entries: [{ i: 4, what: 'take', lane, term: TERM, beside: [], number: 8, waits: true }],
  });
  expect(await agent.next('answers')).toMatchObject({
    answers: [{ i: 4, job: { id: asked.jobId, delivery: 2, note: null } }],
  });
});

test('a ring that comes twice, late or for another term brings nothing', () => {
  const brought = new BroughtJobs();
  const taken = (id: string): TakenJob => ({
    ...{ lane, id, delivery: 1, term: TERM, json: '{}', template: undefined, ofRow: true, note: null },
  });
  const question = (number: number, term = TERM) => ({ lane, term, number });
  expect(brought.take(question(1))).toBeUndefined();
  // Before the answer to it: what the question brings is in that answer, or comes with the next question.
  expect(brought.bring(question(1), taken('early'))).toBe(false);
  brought.none(question(1));
  expect(brought.bring(question(1, 'process.2'), taken('of another term'))).toBe(false);
  expect(brought.bring(question(1), taken('a'))).toBe(false);
  expect(brought.take(question(2))).toMatchObject({ id: 'a' });
  // It is in hand: that it came again does not put it back.
  expect(brought.bring(question(1), taken('a'))).toBe(false);
  brought.forget(lane, TERM);
  expect(brought.bring(question(1), taken('a'))).toBe(false);
  expect(brought.take(question(3))).toBeUndefined();
  expect(brought.bring(question(1), taken('a'))).toBe(false);
  brought.none(question(3));
  expect(brought.forget(lane, TERM)).toBeUndefined();
  expect(brought.bring(question(3), taken('b'))).toBe(true);
});
