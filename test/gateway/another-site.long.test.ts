/** An agent at another site, from the invitation to the label, on a real service with its lanes in PostgreSQL. */
import { cpSync } from 'node:fs';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.ts';
import { type Enrolment, enrollAgent, keptState, readEnrolment } from '../../src/cli/enrolment.ts';
import { agentView, invitationMade } from '../../src/contract/agent-view.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { type AgentQueue, openGateway } from '../../src/queue/index.ts';
import { startDockAgent } from '../kit/agent/dock-agent.ts';
import { logger, QUICK, TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { onServer } from '../kit/servers/backends.ts';
import { describePrinter, jobIdOf, ServiceHarness } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { NUMBERED } from '../kit/service/small-label.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { freePort } from '../kit/wire/listening.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const service = useService({ redis: false });
const { directories, invite, enrolled } = useEnrolments(service);
const RETRY = { first: 20, most: 100, refused: 100 };
const PRINTER = 'serial-0a1b2c3d4e5f';
let running = new AsyncDisposableStack();

beforeAll(async () => {
  await service.tenant('acme');
  await service.tenant('other');
  await service.tenant('default');
});
afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});

function gatewayOf(enrolment: Enrolment): Promise<AgentQueue> {
  return openGateway({ agent: { ...enrolment, version: '0' }, logger, retry: RETRY });
}

/** Resolves when the agent has joined. */
async function joined(enrolment: Enrolment): Promise<AgentQueue> {
  const queue = await gatewayOf(enrolment);
  running.defer(() => queue.close({ timeoutMs: 0 }));
  await expect
    .poll(
      () =>
        queue.ping().then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
  return queue;
}

async function raw(enrolment: Enrolment, as?: Parameters<typeof RawAgent.join>[1]): Promise<RawAgent> {
  const agent = await RawAgent.join(enrolment, as);
  running.defer(() => agent.socket.terminate());
  return agent;
}

test('prints a label with what enrolling has left, and nothing else', async () => {
  const printer = new TestPrinter(directories);
  await printer.start();
  running.defer(() => printer.stop());
  const dataDir = directories.make();
  const enrolment = await enrolled({ name: 'Dock Hamburg', tenant: 'acme' }, dataDir);
  expect(enrolment).toMatchObject({
    name: 'Dock Hamburg',
    scope: 'acme',
    origin: new URL(service.url).origin,
  });
  const queue = await joined(enrolment);
  const agent = await startDockAgent(enrolment, queue, { uri: printer.uri }, { dataDir });
  running.defer(() => agent.stop({ graceMs: 0 }));
  expect(agent.id).toBe(enrolment.agentId);
  const printers = async () => JSON.stringify((await service.admin('GET', '/printers?tenant=acme')).body);
  await expect.poll(printers, { timeout: 20_000 }).toContain('"status":"idle"');
  const template = await service.template('acme', NUMBERED);
  const accepted = await service.admin('POST', '/tenants/acme/jobs', {
    ...{ idT: template, printer: 'Dock', numberCopies: 2 },
    data: [{ n: '1' }],
  });
  expect(accepted.status, accepted.text).toBe(201);
  await expect.poll(() => printer.odometer, { timeout: 30_000 }).toBe(2);
  const jobs = async () => JSON.stringify((await service.admin('GET', '/jobs?tenant=acme')).body);
  await expect.poll(jobs, { timeout: 20_000 }).toContain('"status":"printed"');
});

test('drives what people add for it in the console, also after a start at which nobody tells it', async () => {
  const printer = new TestPrinter(directories);
  await printer.start();
  running.defer(() => printer.stop());
  const dataDir = directories.make();
  const enrolment = await enrolled({}, dataDir);
  // Nobody's but the installation's, as its address is the agent's own computer.
  const agentAt = (queue: AgentQueue) =>
    new Agent({
      config: { dataDir, name: enrolment.name, tenantId: enrolment.scope, timings: QUICK },
      queue,
      drivers: testDrivers,
      logger,
    });
  let agent: Agent | undefined;
  const queue = await openGateway({
    agent: { ...enrolment, version: '0' },
    logger,
    retry: RETRY,
    onPrinters: (printers) => agent?.drive(printers),
  });
  running.defer(() => queue.close({ timeoutMs: 0 }));
  agent = agentAt(queue);
  await agent.start();
  const printers = async () => JSON.stringify((await service.admin('GET', '/printers')).body);
  // It is listed since it enrolled; printers are added for one that has reported.
  const seenAt = async () => {
    const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
    return agents.find(({ id }) => id === enrolment.agentId)?.seenAt;
  };
  await expect.poll(seenAt, { timeout: 30_000 }).toBeTypeOf('string');
  const keeper = await SignedIn.asKeeper(service);
  const body = {
    ...{ agent: enrolment.agentId, address: printer.uri, name: 'Added' },
    ...{ dpi: 203, width: 50, height: 25 },
  };
  const made = await keeper.call('/app/printers/addresses', { method: 'POST', body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  await expect.poll(printers, { timeout: 30_000 }).toContain('"name":"Added"');
  await agent.stop({ graceMs: 0 });

  // Nobody tells it now: it has kept what it was told.
  const again = agentAt(queue);
  agent = undefined;
  await again.start();
  running.defer(() => again.stop({ graceMs: 0 }));
  await expect.poll(() => again.printers.length, { timeout: 30_000 }).toBe(1);
});

/** An agent as `platen agent` has it. */
async function runs(dataDir: string, printer: TestPrinter): Promise<{ stop(): Promise<void> }> {
  const enrolment = (await readEnrolment(dataDir)) ?? expect.fail('not enrolled');
  const started = Promise.withResolvers<Agent>();
  const kept = await keptState(dataDir, async () => (await started.promise).forgetJobs());
  const queue = await openGateway({ agent: { ...enrolment, version: '0', kept }, logger, retry: RETRY });
  const gate = { uri: printer.uri, name: 'Gate' };
  const agent = await startDockAgent(enrolment, queue, gate, { dataDir, window: { labels: 4 } });
  started.resolve(agent);
  const stop = async () => {
    await agent.stop({ graceMs: 0 });
    await queue.close({ timeoutMs: 0 });
  };
  running.defer(stop);
  return { stop };
}

test('from a back-up of its directory an agent prints nothing before a person lets it in, and then each label once', async () => {
  const printer = new TestPrinter(directories, { speed: 4 });
  await printer.start();
  running.defer(() => printer.stop());
  const [dataDir, backup] = [directories.make(), directories.make()];
  const { agentId } = await enrolled({ tenant: 'acme' }, dataDir);
  const first = await runs(dataDir, printer);
  const idT = await service.template('acme', NUMBERED);
  const printers = async () => {
    const { body } = await service.admin('GET', '/printers?tenant=acme');
    return z.array(z.object({ name: z.string(), status: z.string() })).parse(body);
  };
  await expect
    .poll(printers, { timeout: 60_000 })
    .toContainEqual(expect.objectContaining({ name: 'Gate', status: 'idle' }));
  const accepted = await service.admin('POST', '/tenants/acme/jobs', {
    ...{ idT, printer: 'Gate', numberCopies: 24 },
    data: [{ n: '1' }],
  });
  expect(accepted.status, accepted.text).toBe(201);
  const prints = (count: number) =>
    expect.poll(() => printer.odometer, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  await prints(2);
  await first.stop();
  cpSync(dataDir, backup, { recursive: true });
  const later = await runs(dataDir, printer);
  await prints(printer.odometer + 4);
  await later.stop();
  const printed = printer.odometer;
  expect(printed).toBeLessThan(24);

  const restored = await runs(backup, printer);
  const listed = async () => {
    const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
    return agents.find(({ id }) => id === agentId)?.enrolled;
  };
  await expect
    .poll(listed, { timeout: 30_000 })
    .toMatchObject({ refused: { code: 'stale' }, connectedSince: null });
  await restored.stop();
  expect(printer.odometer).toBe(printed);
  expect((await service.admin('POST', `/agents/${agentId}/let-in`)).status).toBe(204);
  await runs(backup, printer);
  const job = async () => (await service.admin('GET', `/jobs/${jobIdOf(accepted)}`)).text;
  await expect.poll(job, { timeout: 60_000 }).toContain('"status":"printed"');
  expect(printer.odometer).toBe(24);
});

test('off for 90 days, an agent is back without a visit, and prints', async () => {
  const printer = new TestPrinter(directories);
  await printer.start();
  running.defer(() => printer.stop());
  const backend = await onServer().open({ migrated: true });
  running.defer(() => backend.close());
  const [port, dataDir] = [await freePort(), directories.make()];
  const before = await ServiceHarness.start({ backend, config: { port } });
  await before.tenant('acme');
  const asked = { name: 'Dock Hamburg', tenant: 'acme' };
  const { body } = await before.admin('POST', '/agents/invitations', asked);
  await enrollAgent(invitationMade.parse(body).url, dataDir);
  const printers = async (of: ServiceHarness) => (await of.admin('GET', '/printers?tenant=acme')).text;
  const first = await runs(dataDir, printer);
  await expect.poll(() => printers(before), { timeout: 60_000 }).toContain('"status":"idle"');
  await first.stop();
  // Whatever the service has written down is 90 days older.
  const { rows } = await before.pool.query(
    `SELECT format('UPDATE %I.%I SET %s', table_schema, table_name,
       string_agg(format('%1$I = %1$I - make_interval(days => 90)', column_name), ', ')) AS sql
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema IN ('platen', 'lanes') AND data_type = 'timestamp with time zone' AND table_type = 'BASE TABLE'
       AND is_generated = 'NEVER' GROUP BY table_schema, table_name`,
  );
  for (const { sql } of z.array(z.object({ sql: z.string() })).parse(rows)) await before.pool.query(sql);
  await before.stop();

  const after = await ServiceHarness.start({ backend, config: { port } });
  running.defer(() => after.stop());
  await runs(dataDir, printer);
  await expect.poll(() => printers(after), { timeout: 60_000 }).toContain('"status":"idle"');
  const idT = await after.template('acme', NUMBERED);
  const job = { idT, printer: 'Gate', data: [{ n: '1' }] };
  expect((await after.admin('POST', '/tenants/acme/jobs', job)).status).toBe(201);
  await expect.poll(() => printer.odometer, { timeout: 60_000 }).toBe(1);
});

test('a code works once, and for the key that used it once more', async () => {
  const invitation = await invite();
  const [dataDir, elsewhere] = [directories.make(), directories.make()];
  const first = await enrollAgent(invitation, dataDir);
  expect(await enrollAgent(invitation, dataDir)).toEqual(first);
  await expect(enrollAgent(invitation, elsewhere)).rejects.toMatchObject({ code: 'invitation-spent' });
});

test('a code with a slip of the pen is no code', async () => {
  const invitation = await invite();
  const last = invitation.at(-1) === '7' ? '8' : '7';
  await expect(enrollAgent(invitation.slice(0, -1) + last, directories.make())).rejects.toThrow('is no code');
});

test('an ID that enrolled with another key stays with that key', async () => {
  const [{ agentId, origin }, second] = [await enrolled(), await enrolled()];
  const stolen = await RawAgent.join({ ...second, agentId, origin });
  expect(await stolen.next('bye')).toMatchObject({ code: 'proof-wrong' });
  expect((await stolen.closed).code).toBe(1_008);
});

test('a proof for another address is no proof here', async () => {
  const stolen = await raw(await enrolled(), { origin: 'https://evil.example' });
  expect(await stolen.next('bye')).toMatchObject({ code: 'proof-wrong' });
});

test('of two processes of one agent the second is refused, while the first one answers', async () => {
  const enrolment = await enrolled();
  const first = await raw(enrolment);
  await first.next('welcome');
  expect(await (await raw(enrolment)).next('bye')).toMatchObject({ code: 'taken' });
  first.socket.terminate();
  await expect
    .poll(
      async () =>
        (await raw(enrolment)).next('welcome').then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
});

test('the same process takes the place of its own earlier connection', async () => {
  const enrolment = await enrolled();
  const first = await raw(enrolment, { process: 'process-one' });
  await first.next('welcome');
  await (await raw(enrolment, { process: 'process-one' })).next('welcome');
  await first.closed;
});

test('a revoked agent goes at once, has no lease, and cannot join', async () => {
  const enrolment = await enrolled({ tenant: 'acme' });
  const queue = await joined(enrolment);
  const lane = laneOf({ scope: 'acme', printerId: PRINTER });
  const { agentId } = enrolment;
  await queue.publish(
    {
      ...{ kind: 'agent', agentId, name: 'x', version: '1', tenantId: 'acme', at: new Date().toISOString() },
      ...{ online: true, printers: [describePrinter({ id: PRINTER })] },
    },
    'acme',
  );
  const ask = () =>
    queue.askLeases(enrolment.agentId, [{ lane, term: 'process.1', fresh: true, reaches: true }], {
      ...{ contended: 15_000, alone: 60_000 },
    });
  expect(await ask()).toMatchObject([{ granted: 60_000 }]);
  const answer = await service.admin('POST', `/agents/${enrolment.agentId}/revoke`);
  expect(answer.status).toBe(204);
  const granted = () =>
    ask().then(
      ([one]) => one?.granted,
      () => 'away',
    );
  await expect.poll(granted, { timeout: 20_000 }).toBe(null);
  await expect(
    queue.publish(
      {
        ...{ kind: 'agent', agentId, name: 'x', version: '1', tenantId: 'acme', online: true, printers: [] },
        at: new Date().toISOString(),
      },
      'acme',
    ),
  ).rejects.toThrow('not connected to the service: the service has revoked this agent');
  expect(await (await raw(enrolment)).next('bye')).toMatchObject({ code: 'revoked' });
});

test('what another instance revoked goes within seconds', async () => {
  const agent = await raw(await enrolled());
  await agent.next('welcome');
  await service.pool.query('UPDATE platen.enrolled_agents SET revoked_at = now()');
  expect(await agent.next('bye')).toMatchObject({ code: 'revoked' });
});

test('while the service is away, what is asked fails at once', async () => {
  const own = await ServiceHarness.start({ redis: false });
  running.defer(() => own.stop());
  const { body } = await own.admin('POST', '/agents/invitations', { name: 'Dock' });
  const queue = await joined(await enrollAgent(invitationMade.parse(body).url, directories.make()));
  await own.stop();
  await expect(queue.ping()).rejects.toMatchObject({ code: 'unavailable' });
});
