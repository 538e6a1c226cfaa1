/** Agents as they are listed, and jobs that no agent takes. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agentView } from '../../src/contract/agent-view.ts';
import { jobView } from '../../src/contract/job.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service, { printers: [] });

const agents = async (query = '') =>
  z.array(agentView).parse((await service.admin('GET', `/agents${query}`)).body);
const job = async (id: string) => jobView.parse((await service.admin('GET', `/jobs/${id}`)).body);

test('an agent with the addresses that it has never reached', async () => {
  const missed = { uri: 'socket://10.0.0.9:9100', name: 'dock', why: 'connection refused' };
  await service.agent([{}], { unreached: [missed] });
  await service.agent([], { agentId: 'agent-other', name: 'Other', tenantId: 'globex' });
  expect(await agents()).toMatchObject([
    { id: 'agent-one', online: true, printers: 1, unreached: [missed], tenant: null },
    { id: 'agent-other', tenant: 'globex', unreached: [] },
  ]);
  expect((await agents('?tenant=acme')).map(({ id }) => id)).toEqual(['agent-one']);
  await service.agent([{ confirmedBy: 'person' }]);
  expect(await agents('?tenant=acme')).toMatchObject([{ unreached: [] }]);
  expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
    { confirmedBy: 'person' },
  ]);
  // It cannot be asked just now: what was known of it stays.
  await service.agent([{ state: 'unknown', reasons: ['offline'] }]);
  expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
    { confirmedBy: 'person' },
  ]);
});

test('an agent whose printers are said in stretches, at one moment', async () => {
  const agentId = 'agent-of-many';
  const [at, later] = [2_000, 1_000].map((ms) => new Date(Date.now() - ms).toISOString());
  const missed = { uri: 'socket://10.0.0.9:9100', why: 'connection refused' };
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => `serial-${letter.repeat(8)}`);
  if (!at || !later || !a || !b || !c || !d) throw new Error('two times and four printers');
  const has = async () => (await agents()).find(({ id }) => id === agentId);
  await service.agent([{ id: a }, { id: b }], { agentId, at, stretch: { upTo: b }, unreached: [missed] });
  await service.agent([{ id: c }, { id: d }], { agentId, at, stretch: { after: b } });
  expect(await has()).toMatchObject({ printers: 4, unreached: [missed] });
  // Those that are gone are missing in their own stretch only.
  await service.agent([{ id: d }], { agentId, at: later, stretch: { after: b } });
  expect(await has()).toMatchObject({ printers: 3, unreached: [missed] });
  await service.agent([{ id: b }], { agentId, at: later, stretch: { upTo: b } });
  expect(await has()).toMatchObject({ printers: 2, unreached: [] });
  await service.agent([], { agentId, at: new Date().toISOString() });
});

test('a job says why no agent takes it', async () => {
  await service.agent([{}]);
  const id = await acme.newJob();
  expect((await job(id)).reasons).toEqual([]);
  await service.agent([{}], { online: false });
  expect((await job(id)).reasons).toEqual(['agent-offline']);
  await service.agent([]);
  expect((await job(id)).reasons).toEqual(['printer-gone']);
  // Another tenant's printer of that ID is not the one that it waits for.
  await service.agent([{}], { agentId: 'agent-globex', tenantId: 'globex' });
  expect((await job(id)).reasons).toEqual(['printer-gone']);
  await service.agent([{}]);
  expect((await job(id)).reasons).toEqual([]);
});
