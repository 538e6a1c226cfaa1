/** Agents as they are listed, and jobs that no agent takes. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jobView } from '../../src/contract/job.ts';
import { agentView } from '../../src/contract/printer-view.ts';
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
