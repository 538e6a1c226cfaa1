/** A service whose database was restored to an earlier time than its agents': people are told, and let in who has enrolled since. */
import { createPublicKey } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import { ADMIN_TOKEN } from '../kit/service/harness.ts';
import { platen } from '../kit/service/platen.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const service = useService({ redis: false });
const { enrolled } = useEnrolments(service);
const open = useRawAgents();

beforeAll(() => service.tenant('acme'));

async function at(...words: string[]): Promise<{ code: number; said: string }> {
  const env = { PLATEN_URL: service.url, PLATEN_ADMIN_TOKEN: ADMIN_TOKEN };
  const { code, stdout, stderr } = await platen(words, env);
  return { code, said: `${stdout} ${stderr}`.replaceAll(/\s+/g, ' ').trim() };
}

async function come(place: Enrolment, state?: string): Promise<RawAgent> {
  const { x = '' } = createPublicKey(place.privateKey).export({ format: 'jwk' });
  const agent = await RawAgent.join(place, { publicKey: x, ...(state !== undefined && { state }) });
  open.push(agent);
  return agent;
}

/** Joins, keeps the state, and leaves. @returns the state */
async function was(place: Enrolment, shown?: string): Promise<string> {
  const agent = await come(place, shown);
  const { state } = await agent.next('welcome');
  agent.say({ kind: 'stored' });
  const sql = 'SELECT pending, session FROM platen.enrolled_agents WHERE id = $1';
  const row = async () => (await service.pool.query(sql, [place.agentId])).rows[0];
  await expect.poll(row, { timeout: 30_000 }).toMatchObject({ pending: null });
  agent.socket.terminate();
  await expect.poll(row, { timeout: 30_000 }).toMatchObject({ session: null });
  return String(state);
}

test('what is newer than the database is said, and all who have enrolled since are let in at once', async () => {
  const names = ['Known', 'Copied', 'One', 'Two'];
  const places = await Promise.all(names.map((name) => enrolled({ name, tenant: 'acme' })));
  const [known, copied, one, two] = places;
  if (!known || !copied || !one || !two) return expect.fail('four have enrolled');
  expect((await at('agents')).said).not.toContain('restored');
  const states = [await was(known), await was(copied), await was(one), await was(two)];
  const later = await was(known, await was(known, states[0]));
  await was(copied, states[1]);
  // As after a restore: of two nobody knows, and of one less than it was given.
  await service.pool.query('DELETE FROM platen.enrolled_agents WHERE id = ANY($1)', [
    [one.agentId, two.agentId],
  ]);
  await service.pool.query('UPDATE platen.enrolled_agents SET seq = 1, pending = NULL WHERE id = $1', [
    known.agentId,
  ]);

  await (await come(known, later)).next('welcome');
  const ahead = (await at('agents')).said;
  expect(ahead).toMatch(/database was restored to an earlier time: agents that knew more than it does: 1, /);
  expect(ahead).not.toContain('--restored');
  for (const [place, state] of [
    [copied, states[1]],
    [one, states[2]],
    [two, states[3]],
  ] as const) {
    expect(await (await come(place, state)).next('bye')).toMatchObject({ code: 'stale' });
  }
  const waiting = async () => (await at('agents')).said;
  await expect.poll(waiting, { timeout: 30_000 }).toMatch(/than it does: 3, .* Of them 2 had not enrolled/);
  expect(await at('agent', 'approve')).toMatchObject({ code: 2 });
  expect(await at('agent', 'approve', 'One', '--restored')).toMatchObject({ code: 2 });
  const { code, said } = await at('agent', 'approve', '--restored');
  expect([code, said]).toEqual([0, expect.stringMatching(/^let in within a minute; .* One \(.* Two \(/)]);
  // Not one whose directory was copied.
  expect(said).not.toContain('Copied');
  expect((await at('agent', 'approve', '--restored')).said).toBe(
    'no agent waits that has enrolled since a back-up',
  );
  for (const [place, state] of [
    [one, states[2]],
    [two, states[3]],
  ] as const) {
    expect(await (await come(place, state)).next('welcome')).toMatchObject({
      ...{ scope: 'acme', journalLost: true },
    });
  }
  expect(await (await come(copied, states[1])).next('bye')).toMatchObject({ code: 'stale' });
  const { rows } = await service.pool.query(
    "SELECT object FROM platen.audit WHERE what = 'agent.let-in' ORDER BY object",
  );
  expect(rows.map(({ object }) => object)).toEqual([one.agentId, two.agentId].sort());
}, 200_000);
