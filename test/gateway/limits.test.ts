/** How much an agent may ask at once, and what a proof is worth that somebody has overheard. */
import { randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import { signedToJoin } from '../../src/contract/gateway.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const LENGTH = { contended: 15_000, alone: 60_000 };
/** Entries of one frame. */
const FULL = 64;
const service = useService({ redis: false });
const { enrolled } = useEnrolments(service);
const open = useRawAgents();

beforeAll(() => service.tenant('acme'));

async function joined(place: Enrolment): Promise<RawAgent> {
  const agent = await RawAgent.join(place);
  open.push(agent);
  await agent.next('welcome');
  return agent;
}

/** Takes answers until there are so many. */
async function answered(agent: RawAgent, count: number): Promise<void> {
  for (let came = 0; came < count; ) {
    const { answers } = await agent.next('answers');
    came += Array.isArray(answers) ? answers.length : 0;
  }
}

test('with 64 entries that have no answer yet nothing more is read, and then it goes on', async () => {
  const place = await enrolled();
  const [agent, other] = [await joined(place), await joined(await enrolled())];
  const report = JSON.stringify({
    ...{ kind: 'agent', agentId: place.agentId, name: 'x', version: '1', tenantId: null, online: true },
    ...{ at: new Date().toISOString(), printers: [] },
  });
  const entries = Array.from({ length: FULL }, (_, i) => ({ i: i + 1, what: 'told', report }));
  const database = await service.pool.connect();
  try {
    await database.query('BEGIN');
    await database.query('LOCK TABLE lanes.report IN ACCESS EXCLUSIVE MODE');
    agent.say({ kind: 'say', entries });
    const question = { kind: 'lease', i: FULL + 1, asks: [], length: LENGTH };
    agent.say(question);
    // What another one asks later is answered meanwhile.
    for (let times = 0; times < 3; times += 1) {
      other.say(question);
      await other.next('leased');
    }
    expect(agent.said.filter(({ kind }) => kind !== 'printers')).toEqual([]);
    await database.query('COMMIT');
  } finally {
    database.release();
  }
  // In whatever order.
  const said = (kind: string) => agent.said.filter((frame) => frame['kind'] === kind);
  const count = () => said('answers').flatMap(({ answers }) => answers).length;
  await vi.waitUntil(() => count() === FULL && said('leased').length === 1, { timeout: 30_000 });
});

test('after 5,000 entries at once 2,000 a second are read, and each is answered', async () => {
  const agent = await joined(await enrolled());
  const foreign = { lane: 'acme/serial-0a1b2c3d4e5f', id: 'x', delivery: 1, term: 'process.1' };
  const frames = 100;
  const begun = performance.now();
  for (let frame = 0; frame < frames; frame += 1) {
    const entries = Array.from({ length: FULL }, (_, at) => ({ i: frame * FULL + at + 1, what: 'back' }));
    agent.say({ kind: 'say', entries: entries.map((entry) => ({ ...entry, ...foreign })) });
  }
  await answered(agent, frames * FULL);
  // At the earliest, however fast the machine is.
  expect(performance.now() - begun).toBeGreaterThan(((frames * FULL - 5_000) / 2_000) * 1_000 - 50);
});

test('a proof is good for one connection: said again in another one it is none', async () => {
  const place = await enrolled();
  const of = { agent: place.agentId, process: 'process-one', nonce: randomBytes(16).toString('base64url') };
  const hello = { kind: 'hello', ...of, version: '1' };
  const begin = async () => {
    const agent = new RawAgent(place.origin);
    open.push(agent);
    await once(agent.socket, 'open');
    agent.say(hello);
    return { agent, challenge: String((await agent.next('challenge'))['nonce']) };
  };
  const { agent, challenge } = await begin();
  const text = signedToJoin({ ...of, origin: place.origin, challenge });
  const proof = { kind: 'proof', signature: sign(null, text, place.privateKey).toString('base64url') };
  agent.say(proof);
  await agent.next('welcome');
  agent.socket.terminate();
  const again = await begin();
  expect(again.challenge).not.toBe(challenge);
  again.agent.say(proof);
  expect(await again.agent.next('bye')).toMatchObject({ code: 'proof-wrong' });
});

test('after 100 states of an agent at once 20 a second are taken, also over another connection', async () => {
  const place = await enrolled();
  const state = (at: number) =>
    JSON.stringify({
      ...{ kind: 'agent', agentId: place.agentId, name: 'x', version: String(at), tenantId: null },
      ...{ online: true, at: new Date().toISOString(), printers: [] },
    });
  const say = (agent: RawAgent, from: number, count: number) => {
    const entries = Array.from({ length: count }, (_, at) => ({ i: at + 1, what: 'told' }));
    agent.say({
      kind: 'say',
      entries: entries.map((entry, at) => ({ ...entry, report: state(from + at) })),
    });
  };
  const begun = performance.now();
  const first = await joined(place);
  for (const from of [0, FULL]) say(first, from, FULL);
  await answered(first, 2 * FULL);
  first.socket.terminate();
  await first.closed;
  const second = await joined(place);
  say(second, 2 * FULL, 12);
  await answered(second, 12);
  // At the earliest, however fast the machine is.
  expect(performance.now() - begun).toBeGreaterThan(((2 * FULL + 12 - 100) / 20) * 1_000 - 50);
});

test.each(['ping', 'pong'] as const)(
  'an agent that sends one %s after the other is cut off',
  async (sign) => {
    const agent = await joined(await enrolled());
    /** Ten at a time: the WebSocket itself ends where more pings than that have no answer yet. */
    const send = async (tens: number) => {
      for (let i = 1; i <= tens; i += 1) {
        for (let count = 0; count < 10; count += 1) agent.socket[sign]();
        agent.say({ kind: 'lease', i, asks: [], length: LENGTH });
        await agent.next('leased');
      }
    };
    await send(5);
    await expect(send(50)).rejects.toThrow('closed before "leased"');
  },
);

test('an agent stays, however often somebody else comes with its key and has it asked whether it is there', async () => {
  const place = await enrolled();
  const agent = await joined(place);
  agent.say({ kind: 'stored' });
  // More than an agent may send of its own, at once; it answers each ping.
  const come = async () => {
    for (let count = 0; count < 20; count += 1) {
      const other = await RawAgent.join(place);
      open.push(other);
      expect(await other.next('bye')).toMatchObject({ code: expect.stringMatching(/^(?:taken|stale)$/) });
    }
  };
  await Promise.all(Array.from({ length: 8 }, come));
  agent.say({ kind: 'lease', i: 1, asks: [], length: LENGTH });
  expect(await agent.next('leased')).toMatchObject({ i: 1 });
});

test('others have their turn between the reports of a frame that takes long to read', async () => {
  const agent = await joined(await enrolled());
  const report = JSON.stringify({
    ...{ kind: 'agent', agentId: 'agent-of-another', name: 'x', version: '1', tenantId: null, online: true },
    ...{ at: new Date().toISOString(), printers: Array(5_000).fill({}) },
  });
  const entries = Array.from({ length: FULL }, (_, at) => ({ i: at + 1, what: 'told', report }));
  agent.say({ kind: 'say', entries });
  // What is answered in one turn comes in one frame.
  const { answers } = await agent.next('answers');
  const first = Array.isArray(answers) ? answers.length : FULL;
  expect(first).toBeLessThan(FULL);
  await answered(agent, FULL - first);
});
