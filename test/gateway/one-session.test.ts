/** Of an agent there is one session at a time, with what is so of the agent as it joins: not as it said hello. */
import { randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import { signedToJoin } from '../../src/contract/gateway.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const PROCESS = 'process-one';
const service = useService({ redis: false });
const { enrolled } = useEnrolments(service);
const open = useRawAgents();

beforeAll(async () => {
  for (const tenant of ['acme', 'other']) await service.tenant(tenant);
});

async function joins(place: Enrolment): Promise<RawAgent> {
  const agent = await RawAgent.join(place, { process: PROCESS });
  open.push(agent);
  return agent;
}

/** Says hello, and has the proof ready. */
async function saysHello({ agentId, origin, privateKey }: Enrolment) {
  const agent = new RawAgent(origin);
  open.push(agent);
  await once(agent.socket, 'open');
  const of = { agent: agentId, process: PROCESS, nonce: randomBytes(16).toString('base64url') };
  agent.say({ kind: 'hello', ...of, version: '1' });
  const challenge = String((await agent.next('challenge'))['nonce']);
  const signature = sign(null, signedToJoin({ ...of, origin, challenge }), privateKey).toString('base64url');
  return { agent, prove: () => agent.say({ kind: 'proof', signature }) };
}

test('of connections of a process that come at one moment one stays', async () => {
  const place = await enrolled({ tenant: 'acme' });
  const agents = await Promise.all(Array.from({ length: 8 }, () => joins(place)));
  const still = () => agents.filter(({ socket }) => socket.readyState === socket.OPEN).length;
  await expect.poll(still, { timeout: 20_000 }).toBeLessThanOrEqual(1);
});

test('moved to another tenant between its hello and its proof, an agent is the other tenant’s', async () => {
  const place = await enrolled({ tenant: 'acme' });
  const agent = await joins(place);
  await agent.next('welcome');
  const to = { tenant: 'other' };
  expect((await service.admin('POST', `/agents/${place.agentId}/move`, to)).status).toBe(204);
  expect(await agent.next('move')).toMatchObject({ scope: 'other' });
  const late = await saysHello(place);
  agent.say({ kind: 'moved' });
  expect(await agent.next('bye')).toMatchObject({ code: 'restart' });
  late.prove();
  expect(await late.agent.next('welcome')).toMatchObject({ scope: 'other' });
});

test('however often a revoked agent comes again, it is written down now and then', async () => {
  const place = await enrolled({ tenant: 'acme' });
  expect((await service.admin('POST', `/agents/${place.agentId}/revoke`)).status).toBe(204);
  const refusedAt = async () => {
    const sql = 'SELECT refused_at AS at FROM platen.enrolled_agents WHERE id = $1';
    return z
      .array(z.object({ at: z.date().nullable() }))
      .parse((await service.pool.query(sql, [place.agentId])).rows)[0]?.at;
  };
  const seen = new Set<number>();
  const tries = 40;
  for (let count = 0; count < tries; count += 1) {
    const agent = await joins(place);
    expect(await agent.next('bye')).toMatchObject({ code: 'revoked' });
    await agent.closed;
    await expect.poll(refusedAt).toBeInstanceOf(Date);
    seen.add((await refusedAt())?.getTime() ?? 0);
  }
  expect(seen.size).toBeLessThan(tries / 4);
});
