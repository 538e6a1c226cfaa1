/** A frame that is lost while the connection stays: what was asked is asked again, and a job goes its way once. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { Report } from '../../src/contract/report.ts';
import { GatewayLanes } from '../../src/queue/gateway/lanes.ts';
import { openQueues, QueueError, type Queues } from '../../src/queue/index.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import { Line, type Strike, type Way } from '../chaos/line.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useGateway } from '../kit/queue/use-gateway.ts';

const logger = keepingLogger();
/** As in the product, and quicker: an answer may take 300 ms once nothing is on its way. */
const RETRY = { first: 20, most: 100, refused: 100, answer: 300, again: 300 };
const LENGTH = { contended: 15_000, alone: 60_000 };
const used = useGateway();
let queues: Queues;
let line: Line;
let lanes: GatewayLanes;
let agentId: string;
let lane: Lane;
let named = 0;

beforeAll(async () => {
  queues = await openQueues({ database: used.backend.database, logger });
});
beforeEach(async () => {
  agentId = `agent-number-${++named}`;
  lane = printerId();
  line = new Line('line', [Number(new URL(used.gateway.origin).port)]);
  await line.start();
  const enrolment = await used.gateway.enroll(agentId, null, line.url);
  lanes = new GatewayLanes({ agent: enrolment, logger, errors: new ErrorLogger(logger), retry: RETRY });
  await expect.poll(() => lanes.answers(), { timeout: 30_000 }).toBe(true);
});
afterEach(async () => {
  await lanes.close();
  line.stop();
});
afterAll(async () => {
  await queues.close({ timeoutMs: 0 });
});

/** As the agent does: what failed is asked again. */
async function until<T>(asked: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await asked();
    } catch (error) {
      if (!(error instanceof QueueError) || error.code !== 'unavailable') throw error;
      await expect.poll(() => lanes.answers(), { timeout: 30_000, interval: 10 }).toBe(true);
    }
  }
}

const lease = () =>
  lanes.leases.ask(agentId, [{ lane, term: 'process.1', fresh: true, reaches: true }], LENGTH);

/** Of each frame with an answer, and of each answer: at which step of a job it is lost. */
const LOST: readonly (readonly [step: string, way: Way, kind: string])[] = [
  ['lease', 'to the service', 'lease'],
  ['lease', 'to the agent', 'leased'],
  ...['take', 'note', 'told', 'ended', 'giveBack'].flatMap(
    (step) =>
      [
        [step, 'to the service', step],
        [step, 'to the agent', 'answers'],
      ] as const,
  ),
];

test.each(LOST)('at the %s a frame is lost %s (%s)', async (step, way, kind) => {
  const asked = job(lane);
  await queues.enqueue(asked);
  const strike: Strike = { way, kind, how: 'lost' };
  const at = async <T>(one: string, done: () => Promise<T>): Promise<T> => {
    if (one === step) line.strikeAt(strike);
    return await until(done);
  };
  expect(await at('lease', lease)).toMatchObject([{ lane, granted: 60_000 }]);
  const turns = lanes.turnsOf(lane, AbortSignal.timeout(60_000));
  let number = 0;
  const taken = await at('take', () => turns.take({ lane, term: 'process.1', beside: [], number: ++number }));
  if (taken === null) return expect.fail('no job');
  expect(taken).toMatchObject({ id: asked.jobId, note: null });
  let order = 0;
  expect(await at('note', () => turns.note(taken, ++order, 'first label'))).toBe(true);
  const report: Report = {
    ...{ kind: 'agent', agentId, name: 'x', version: '1', tenantId: null, at: new Date().toISOString() },
    ...{ online: true, printers: [] },
  };
  await at('told', () => lanes.publish(report));
  await at('ended', () => turns.ended(taken));
  expect(await queues.look(lane, asked.jobId)).toMatchObject({ state: 'ended' });
  await at('giveBack', () => lanes.leases.giveBack(agentId, lane, 'process.1'));
  expect((await queues.leaseHolders([lane])).get(lane)).toBeUndefined();
  expect(line.strikesLater).toBe(false);
});

test('it is heard that a job waits, though what says who listens was lost', async () => {
  line.strikeAt({ way: 'to the service', kind: 'listen', how: 'lost' });
  let rings = 0;
  lanes.listen(lane, () => {
    rings += 1;
  });
  await expect.poll(() => line.strikesLater).toBe(false);
  await queues.enqueue(job(lane));
  // As an agent does, it goes on asking for its lease.
  const rung = async () => {
    await until(lease);
    return rings;
  };
  await expect.poll(rung, { timeout: 30_000, interval: 50 }).toBeGreaterThan(0);
});
