/** Two instances of the service on one PostgreSQL: an agent is connected to one of them, and to whichever it likes. */
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JoiningAgent } from '../../src/queue/index.ts';
import { listAgents } from '../../src/server/gateway/agents.ts';
import { TestGateway } from '../kit/queue/over-gateway.ts';
import { useGateway } from '../kit/queue/use-gateway.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

/** The property itself: how soon a revoked agent is cut off, ms. */
const CUT_OFF = 5_000;
const used = useGateway();
let one: TestGateway;
let other: TestGateway;
let enrolment: JoiningAgent;
let named = 0;
const open = useRawAgents();

beforeAll(async () => {
  one = used.gateway;
  other = await TestGateway.start(used.backend.database);
});
beforeEach(async () => {
  enrolment = await one.enroll(`agent-number-${++named}`, null);
});
afterAll(() => other.stop());

/** A process of the agent at one of the instances, which it reaches at one address. */
async function at(instance: TestGateway, process: string): Promise<RawAgent> {
  const agent = await RawAgent.join(
    { ...enrolment, origin: instance.origin },
    { origin: enrolment.origin, process },
  );
  open.push(agent);
  return agent;
}

async function listed() {
  const agents = await listAgents(one.database, undefined);
  return agents.find(({ id }) => id === enrolment.agentId)?.enrolled;
}

test('a copy of an agent is refused at another instance too, as long as the agent is connected', async () => {
  const agent = await at(one, 'process-one');
  await agent.next('welcome');
  expect(await listed()).toMatchObject({ connectedSince: expect.any(String), refused: null });
  expect((await other.enrolments.health()).gateway?.connected).toBe(1);
  expect(await (await at(other, 'process-two')).next('bye')).toMatchObject({ code: 'taken' });
  await expect.poll(listed).toMatchObject({ refused: { code: 'taken' } });
  agent.socket.terminate();
  await expect.poll(listed, { timeout: 20_000 }).toMatchObject({ connectedSince: null });
  expect((await one.enrolments.health()).gateway?.connected).toBe(0);
  await (await at(other, 'process-two')).next('welcome');
  expect(await listed()).toMatchObject({ connectedSince: expect.any(String), refused: null });
});

test('the same process goes on at the other instance at once, and its earlier connection ends', async () => {
  const before = await at(one, 'process-one');
  await before.next('welcome');
  await (await at(other, 'process-one')).next('welcome');
  await before.closed;
  expect(await listed()).toMatchObject({ connectedSince: expect.any(String) });
});

test('an instance that stops says so, and the agent is free to join another', async () => {
  const stopping = await TestGateway.start(used.backend.database);
  const agent = await at(stopping, 'process-one');
  await agent.next('welcome');
  await stopping.stop();
  expect(await agent.next('bye')).toMatchObject({ code: 'restart', retryAfterMs: expect.any(Number) });
  expect(await listed()).toMatchObject({ connectedSince: null });
  await (await at(other, 'process-two')).next('welcome');
});

test.each([
  ['one', () => one],
  ['the other', () => other],
])(
  'revoked, it is cut off within 5 s where it is connected to %s, and by every one that it comes to',
  async (_, has) => {
    const agent = await at(has(), 'process-one');
    await agent.next('welcome');
    // In the database alone: neither instance is told.
    await one.enrolments.revoke(enrolment.agentId, undefined, async () => undefined);
    const late = once(AbortSignal.timeout(CUT_OFF), 'abort').then(() => 'too late');
    expect(await Promise.race([agent.next('bye'), late])).toMatchObject({ code: 'revoked' });
    for (const instance of [one, other]) {
      expect(await (await at(instance, 'process-two')).next('bye')).toMatchObject({ code: 'revoked' });
    }
    expect(await listed()).toMatchObject({ revokedAt: expect.any(String), connectedSince: null });
  },
);

test('an agent that is to be another tenant’s is told so once, finishes, and joins for that one', async () => {
  await one.database.query(
    "INSERT INTO platen.tenants (id, name) VALUES ('acme', 'acme') ON CONFLICT DO NOTHING",
  );
  const agent = await at(one, 'process-one');
  await agent.next('welcome');
  await one.database.query(
    `INSERT INTO platen.brought_printers (agent_id, printer_id, name, state) VALUES ($1, 'serial-0a1b2c3d4e5f', 'Dock', 'approved')`,
    [enrolment.agentId],
  );
  await other.enrolments.move(enrolment.agentId, 'acme', async () => undefined);
  expect(await agent.next('move')).toMatchObject({ scope: 'acme' });
  agent.say({ kind: 'moved' });
  expect(await agent.next('bye')).toMatchObject({ code: 'restart', retryAfterMs: 0 });
  const again = await at(other, 'process-one');
  expect(await again.next('welcome')).toMatchObject({ scope: 'acme' });
  const { rows } = await one.database.query('SELECT FROM platen.brought_printers WHERE agent_id = $1', [
    enrolment.agentId,
  ]);
  expect(rows).toEqual([]);
  // Nobody has asked for it: whose it is stays, and it begins anew.
  again.say({ kind: 'moved' });
  expect(await again.next('bye')).toMatchObject({ code: 'restart', retryAfterMs: 0 });
  expect(await (await at(one, 'process-one')).next('welcome')).toMatchObject({ scope: 'acme' });
});

test('an instance that cannot ask the database whether the agent was revoked hands out no job', async () => {
  const agent = await at(one, 'process-one');
  await agent.next('welcome');
  const take = { what: 'take', lane: 'serial-0a1b2c3d4e5f', term: 'process.1', beside: [] };
  let number = 0;
  const answer = async () => {
    agent.say({ kind: 'say', entries: [{ i: ++number, number, ...take }] });
    return await agent.next('answers');
  };
  await expect.poll(answer, { timeout: 30_000 }).toMatchObject({ answers: [{ job: null }] });
  await one.database.query('ALTER TABLE platen.enrolled_agents RENAME TO enrolled_agents_away');
  try {
    const failed = { answers: [{ failed: expect.stringMatching(/revoked/) }] };
    await expect.poll(answer, { timeout: 30_000, interval: 200 }).toMatchObject(failed);
  } finally {
    await one.database.query('ALTER TABLE platen.enrolled_agents_away RENAME TO enrolled_agents');
  }
});

test('an instance that has no room for another agent says so, and another one takes it', async () => {
  const full = await TestGateway.start(used.backend.database, { most: 1 });
  try {
    await (await at(full, 'process-one')).next('welcome');
    const first = enrolment;
    enrolment = await one.enroll(`agent-number-${++named}`, null);
    expect(await (await at(full, 'process-one')).next('bye')).toMatchObject({
      code: 'too-many',
      retryAfterMs: expect.any(Number),
    });
    await expect.poll(listed).toMatchObject({ refused: { code: 'too-many' } });
    await (await at(other, 'process-one')).next('welcome');
    expect(await listed()).toMatchObject({ refused: null });
    // Who is connected already may connect anew.
    enrolment = first;
    await (await at(full, 'process-one')).next('welcome');
  } finally {
    await full.stop();
  }
});
