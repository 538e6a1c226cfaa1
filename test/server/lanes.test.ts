/** Two tenants whose printers bear one serial number: each has jobs, printers and agents of its own all the same. */
import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import { type Report, report } from '../../src/contract/report.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends } from '../kit/servers/backends.ts';
import { codeOf, jobIdOf } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService } from '../kit/service/use-service.ts';

const TENANTS = ['acme', 'globex'] as const;
type Tenant = (typeof TENANTS)[number];
const AGENTS = { acme: 'agent-of-acme', globex: 'agent-of-globex' } as const;

describe.each(backends().filter(({ embedded }) => !embedded))('on $name', (backend) => {
  const service = useService({ backend, config: { sweepInterval: 100 } });
  const templates = { acme: '', globex: '' };
  /** Another one for each test. */
  let printerId = '';

  beforeAll(async () => {
    for (const tenant of TENANTS) {
      await service.tenant(tenant);
      templates[tenant] = await service.template(tenant);
    }
  });
  beforeEach(async () => {
    await service.pool.query('DELETE FROM platen.agents');
    printerId = `serial-${randomBytes(8).toString('hex')}`;
    for (const tenant of TENANTS) await reachedBy(tenant);
  });

  async function reachedBy(tenant: Tenant, more: { at?: string; online?: boolean } = {}): Promise<void> {
    await service.agent([{ id: printerId, name: `of ${tenant}` }], {
      agentId: AGENTS[tenant],
      name: AGENTS[tenant],
      tenantId: tenant,
      ...more,
    });
  }

  const laneFor = (tenant: Tenant | null): Lane => laneOf({ scope: tenant, printerId });

  async function enqueue(tenant: Tenant): Promise<string> {
    const body = { idT: templates[tenant], printerId, numberCopies: 5 };
    const answer = await service.admin('POST', `/tenants/${tenant}/jobs`, body);
    expect(answer.status).toBe(201);
    return jobIdOf(answer);
  }

  const inLane = (lane: Lane, id: string) =>
    expect.poll(() => service.queues.look(lane, id), { timeout: 10_000 }).not.toBeNull();

  async function show(id: string): Promise<unknown> {
    return (await service.admin('GET', `/jobs/${id}`)).body;
  }

  function reportOf(jobId: string, agentId: string, changes: object = {}): Report {
    const labels = { sent: 2, printed: 1 };
    const now = new Date().toISOString();
    return report.parse(jobReport(jobId, { agentId, printerId, at: now, seq: 1, labels, ...changes }));
  }

  test("each tenant's job waits in its own lane, and is given to whoever serves that one", async () => {
    const ids = { acme: await enqueue('acme'), globex: await enqueue('globex') };
    for (const tenant of TENANTS) await inLane(laneFor(tenant), ids[tenant]);
    const given: { scope: string | null; tenantId: string; jobId: string }[] = [];
    const done = Promise.withResolvers<void>();
    const consumer = await serve(service.queues, laneFor('globex'), async ({ job }) => {
      given.push({ scope: job.scope, tenantId: job.tenantId, jobId: job.jobId });
      done.resolve();
      return 'done';
    });
    await done.promise;
    await consumer.stop();
    expect(given).toEqual([{ scope: 'globex', tenantId: 'globex', jobId: ids.globex }]);
    expect(await service.queues.look(laneFor('acme'), ids.acme)).toMatchObject({ state: 'waiting' });
    for (const id of Object.values(ids)) expect(await service.queues.look(laneFor(null), id)).toBeNull();
  });

  test('both have a lease, and each tenant sees its own printer served', async () => {
    const ask = { term: 'process.1', fresh: true, reaches: true };
    for (const tenant of TENANTS) {
      const [answer] = await service.queues.askLeases(AGENTS[tenant], [{ ...ask, lane: laneFor(tenant) }], {
        contended: 60_000,
        alone: 60_000,
      });
      expect(answer).toMatchObject({ lane: laneFor(tenant), granted: 60_000, wanted: false });
    }
    for (const tenant of TENANTS) {
      const seen = (await service.admin('GET', `/printers?tenant=${tenant}`)).body;
      expect(seen).toMatchObject([
        { id: printerId, tenant, name: `of ${tenant}`, agents: [{ id: AGENTS[tenant], serves: true }] },
      ]);
    }
  });

  test("a tenant's own printer comes before a shared one of that ID, also while its agent is away", async () => {
    await service.agent([{ id: printerId, name: 'shared' }], { agentId: 'agent-shared' });
    await reachedBy('acme', { online: false });
    await inLane(laneFor('acme'), await enqueue('acme'));
    expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
      { id: printerId, tenant: 'acme', name: 'of acme', agents: [{ id: AGENTS.acme }] },
    ]);
    // It has no such printer any more.
    await service.agent([], { agentId: AGENTS.acme, tenantId: 'acme' });
    await inLane(laneFor(null), await enqueue('acme'));
  });

  test('what an agent says of a job in a lane that is not of its scope changes nothing', async () => {
    const id = await enqueue('acme');
    expect(await service.report(reportOf(id, AGENTS.globex))).toBe('early');
    expect(await service.report(reportOf(id, AGENTS.globex, { status: 'printed' }))).toBe('early');
    expect(await show(id)).toMatchObject({ status: 'queued', labels: { sent: 0, printed: 0 } });
    expect(await service.report(reportOf(id, AGENTS.acme))).toBe('done');
    expect(await show(id)).toMatchObject({ status: 'printing', labels: { sent: 2, printed: 1 } });
  });

  test('what an agent says of a printer that it does not have changes nothing, and is logged', async () => {
    const id = await enqueue('acme');
    await service.agent([], { agentId: 'agent-without-it', tenantId: 'acme' });
    await service.queues.publish(reportOf(id, 'agent-without-it'), 'acme');
    await expect
      .poll(() => service.log, { timeout: 10_000 })
      .toMatch(/"agentId":"agent-without-it".*a job that its agent cannot have/);
    expect(await show(id)).toMatchObject({ status: 'queued' });
  });

  test.each([
    { state: 'approved', tenant: 'acme', becomes: 'printing' },
    { state: 'waiting', tenant: 'acme', becomes: 'queued' },
    { state: 'refused', tenant: 'acme', becomes: 'queued' },
    { state: 'approved', tenant: 'globex', becomes: 'queued' },
  ])(
    'of a printer that an agent of $tenant has brought, $state, before it reports it again, at once: $becomes',
    async ({ state, tenant, becomes }) => {
      const [id, agentId] = [await enqueue('acme'), `agent-${randomBytes(8).toString('hex')}`];
      const enrolled = `INSERT INTO platen.enrolled_agents (id, tenant_id, name, public_key, origin)
        VALUES ($1, $2, 'Dock', 'key', 'https://platen')`;
      await service.pool.query(enrolled, [agentId, tenant]);
      const brought =
        "INSERT INTO platen.brought_printers (agent_id, printer_id, name, state) VALUES ($1, $2, 'Zebra', $3)";
      await service.pool.query(brought, [agentId, printerId, state]);
      expect(await service.report(reportOf(id, agentId))).toBe('done');
      expect(await show(id)).toMatchObject({ status: becomes });
    },
  );

  test('a report of a printer that is told of a moment later counts', async () => {
    const id = await enqueue('acme');
    await service.queues.publish(reportOf(id, 'agent-new-here'), 'acme');
    await service.agent([{ id: printerId }], { agentId: 'agent-new-here', tenantId: 'acme' });
    await expect.poll(() => show(id), { timeout: 10_000 }).toMatchObject({ status: 'printing' });
  });

  test("a report under another agent's ID, an hour in the future, does not hide its printers for long", async () => {
    const future = new Date(Date.now() + 3_600_000).toISOString();
    await service.agent([], { agentId: AGENTS.acme, tenantId: 'acme', at: future, online: false });
    await reachedBy('acme', { at: new Date(Date.now() + 1_000).toISOString() });
    expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
      { id: printerId, agents: [{ id: AGENTS.acme, online: true }] },
    ]);
  });

  test("an agent's ID stays its tenant's while it is heard", async () => {
    await service.agent([{ id: printerId, name: 'stolen' }], { agentId: AGENTS.acme, tenantId: 'globex' });
    await service.agent([], { agentId: AGENTS.acme, tenantId: null });
    expect(service.log).toMatch(/"agentId":"agent-of-acme".*another tenant's agent/);
    expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([{ name: 'of acme' }]);
    // It was stopped, and is started with another configuration.
    await reachedBy('acme', { online: false });
    await service.agent([{ id: printerId, name: 'moved' }], { agentId: AGENTS.acme, tenantId: 'globex' });
    expect((await service.admin('GET', '/printers?tenant=acme')).body).toEqual([]);
  });

  test('a job goes on, and is canceled, in its own lane', async () => {
    const id = await enqueue('acme');
    await inLane(laneFor('acme'), id);
    await service.report(
      reportOf(id, AGENTS.acme, {
        status: 'failed',
        error: { code: 'printer-refused', message: 'no paper' },
        labels: { sent: 2, printed: 2 },
      }),
    );
    expect((await service.admin('POST', `/jobs/${id}/resume`, {})).status).toBe(200);
    await inLane(laneFor('acme'), `${id}.1`);
    expect((await service.admin('POST', `/jobs/${id}/cancel`)).body).toMatchObject({ status: 'canceled' });
    expect(await service.queues.look(laneFor('acme'), `${id}.1`)).toBeNull();
    expect(codeOf(await service.admin('POST', `/jobs/${id}/cancel`))).toBe('job-not-queued');
  });
});
