/** A copied data directory, a restored one, and a service that was restored: who is let in, and who waits for a person. */
import { createPublicKey } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { JoiningAgent } from '../../src/queue/index.ts';
import { listAgents } from '../../src/server/gateway/agents.ts';
import { useGateway } from '../kit/queue/use-gateway.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const used = useGateway();
let enrolment: JoiningAgent;
let named = 0;
const open = useRawAgents();

beforeEach(async () => {
  enrolment = await used.gateway.enroll(`agent-number-${++named}`, 'acme');
});

interface Welcome {
  agent: RawAgent;
  state: string;
  journalLost: unknown;
}

/** @param state as the agent has kept it; undefined: it has none */
async function at(state?: string): Promise<RawAgent> {
  const { x = '' } = createPublicKey(enrolment.privateKey).export({ format: 'jwk' });
  const agent = await RawAgent.join(enrolment, { publicKey: x, ...(state !== undefined && { state }) });
  open.push(agent);
  return agent;
}

/** Joins, keeps the state and says so, or not. */
async function joined(state?: string, keeps = true): Promise<Welcome> {
  const agent = await at(state);
  const welcome = await agent.next('welcome');
  if (keeps) {
    agent.say({ kind: 'stored' });
    await expect.poll(offered, { timeout: 30_000 }).toBe(null);
  }
  return { agent, state: String(welcome['state']), journalLost: welcome['journalLost'] };
}

async function offered(): Promise<unknown> {
  const sql = 'SELECT pending FROM platen.enrolled_agents WHERE id = $1';
  return (await used.gateway.database.query(sql, [enrolment.agentId])).rows[0]?.pending;
}

async function listed() {
  const agents = await listAgents(used.gateway.database, undefined);
  const agent = agents.find(({ id }) => id === enrolment.agentId);
  return agent && { ...agent.enrolled, name: agent.name, tenant: agent.tenant };
}

/** Resolves when the service knows that the agent is away. */
async function leaves({ agent }: Welcome): Promise<void> {
  agent.socket.terminate();
  await expect.poll(listed, { timeout: 30_000 }).toMatchObject({ connectedSince: null });
}

const refused = { refused: { code: 'stale' } };
const letIn = () => used.gateway.enrolments.letIn(enrolment.agentId, undefined, async () => undefined);

test('of an agent and its copy the one that comes second is not let in, and is shown', async () => {
  const first = await joined();
  await leaves(first);
  // The copy is made here.
  const again = await joined(first.state);
  expect(again.state).not.toBe(first.state);
  await leaves(again);
  expect(await (await at(first.state)).next('bye')).toMatchObject({
    code: 'stale',
    retryAfterMs: expect.any(Number),
  });
  await expect.poll(listed).toMatchObject(refused);
  // The agent itself is none the worse for it.
  const own = await joined(again.state);
  expect(own.journalLost).toBeUndefined();
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
  await expect.poll(listed).toMatchObject({ ...refused, connectedSince: expect.any(String) });
});

test('the copy that was quicker has taken the place: the agent waits for a person', async () => {
  const first = await joined();
  await leaves(first);
  const copy = await joined(first.state);
  await leaves(copy);
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
});

test('a directory without its state, or with that of another agent or of nobody, is an old one', async () => {
  const first = await joined();
  await leaves(first);
  const [text = '', signature = ''] = first.state.split('.');
  const forged = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(text, 'base64url').toString()), seq: 1_000_000 }),
  ).toString('base64url');
  const of = enrolment;
  enrolment = await used.gateway.enroll(`agent-number-${++named}`, 'acme');
  const other = await joined();
  enrolment = of;
  for (const state of [undefined, 'x', `${forged}.${signature}`, `${text}.`, other.state]) {
    expect(await (await at(state)).next('bye')).toMatchObject({ code: 'stale' });
  }
  await joined(first.state);
});

test('a directory from before the agent was enrolled again is an old one, however often that had joined', async () => {
  const first = await joined();
  await leaves(first);
  const second = await joined(first.state);
  await leaves(second);
  await used.gateway.enrolments.revoke(enrolment.agentId, undefined, async () => undefined);
  enrolment = await used.gateway.enroll(enrolment.agentId, 'acme');
  // The first answer is lost.
  await leaves(await joined(undefined, false));
  const own = await joined();
  await leaves(own);
  for (const state of [first.state, second.state, undefined]) {
    expect(await (await at(state)).next('bye')).toMatchObject({ code: 'stale' });
  }
  await expect.poll(listed).toMatchObject(refused);
  await joined(own.state);
});

test('whether the answer was lost or what it says of it, the agent is let in', async () => {
  const first = await joined();
  await leaves(first);
  // The next state never came.
  await leaves(await joined(first.state, false));
  // It came, and is kept, and the service was not told.
  const third = await joined(first.state, false);
  await leaves(third);
  // It came and the service was not told, and the one after that never came.
  await leaves(await joined(third.state, false));
  await leaves(await joined(third.state));
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
});

test('let in by a person, its journal counts no more, once', async () => {
  const first = await joined();
  await leaves(first);
  const again = await joined(first.state);
  await expect(letIn()).rejects.toMatchObject({ code: 'agent-not-waiting' });
  await leaves(again);
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
  await expect.poll(listed).toMatchObject(refused);
  await letIn();
  // Killed before it has kept the new state, it is let in once more.
  const killed = await joined(first.state, false);
  expect(killed.journalLost).toBe(true);
  await leaves(killed);
  const restored = await joined(first.state);
  expect(restored.journalLost).toBe(true);
  await leaves(restored);
  expect((await joined(restored.state)).journalLost).toBeUndefined();
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
});

test('a service that was restored believes a state that is newer than its database', async () => {
  const first = await joined();
  await leaves(first);
  const second = await joined(first.state);
  await leaves(second);
  const third = await joined(second.state);
  await leaves(third);
  await used.gateway.database.query(
    'UPDATE platen.enrolled_agents SET seq = 1, pending = NULL WHERE id = $1',
    [enrolment.agentId],
  );
  // The next state never came.
  await leaves(await joined(third.state, false));
  const restored = await joined(third.state);
  expect(restored.journalLost).toBeUndefined();
  await leaves(restored);
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
});

test('an agent that is newer than the back-up waits for a person, and is the same one then', async () => {
  const first = await joined();
  await leaves(first);
  const forget = () =>
    used.gateway.database.query('DELETE FROM platen.enrolled_agents WHERE id = $1', [enrolment.agentId]);
  await forget();
  // Whoever has not the state of this deployment is nobody.
  expect(await (await at()).next('bye')).toMatchObject({ code: 'unknown' });
  expect(await listed()).toBeUndefined();
  expect(await (await at(first.state)).next('bye')).toMatchObject({ code: 'stale' });
  expect(await listed()).toMatchObject({ ...refused, name: enrolment.agentId, tenant: 'acme' });
  await letIn();
  await leaves(await joined(first.state));
  // With another's key the state is worth nothing.
  await forget();
  const { privateKey } = await used.gateway.enroll(`agent-number-${++named}`, 'acme');
  const thief = await RawAgent.join({ ...enrolment, privateKey }, { state: first.state });
  open.push(thief);
  expect(await thief.next('bye')).toMatchObject({ code: 'unknown' });
  expect(await listed()).toBeUndefined();
});
