/** An agent at another site, from the invitation to the label, on a real service with its lanes in PostgreSQL. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Agent } from '../../src/agent/agent.ts';
import { queueSource } from '../../src/agent/source/queue-source.ts';
import { type Enrolment, enrollAgent } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/invitation.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { type AgentQueue, openGateway } from '../../src/queue/index.ts';
import { Directories, logger, QUICK, TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { describePrinter, ServiceHarness } from '../kit/service/harness.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const directories = new Directories();
const RETRY = { first: 20, most: 100, refused: 100 };
const PRINTER = 'serial-0a1b2c3d4e5f';
let service: ServiceHarness;
let running = new AsyncDisposableStack();

beforeAll(async () => {
  service = await ServiceHarness.start({ redis: false });
  await service.tenant('acme');
  await service.tenant('other');
});
afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});
afterAll(async () => {
  await service.stop();
  directories.remove();
});

async function invite(tenant?: string): Promise<string> {
  const asked = { name: 'Dock Hamburg', ...(tenant && { tenant }) };
  const answer = await service.admin('POST', '/agents/invitations', asked);
  return invitationMade.parse(answer.body).url;
}

async function enrolled(tenant?: string): Promise<Enrolment> {
  return await enrollAgent(await invite(tenant), directories.make());
}

function gatewayOf(place: Enrolment): Promise<AgentQueue> {
  return openGateway({ place: { ...place, version: '0' }, logger, retry: RETRY });
}

async function welcome(place: Enrolment): Promise<RawAgent> {
  const agent = await raw(place);
  await agent.next('welcome');
  return agent;
}

/** Resolves when the agent has joined. */
async function joined(place: Enrolment): Promise<AgentQueue> {
  const queue = await gatewayOf(place);
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

async function raw(place: Enrolment, as?: Parameters<typeof RawAgent.join>[1]): Promise<RawAgent> {
  const agent = await RawAgent.join(place, as);
  running.defer(() => agent.socket.terminate());
  return agent;
}

test('prints a label with what enrolling has left, and nothing else', async () => {
  const printer = new TestPrinter(directories);
  await printer.start();
  running.defer(() => printer.stop());
  const dataDir = directories.make();
  const place = await enrollAgent(await invite('acme'), dataDir);
  expect(place).toMatchObject({ name: 'Dock Hamburg', scope: 'acme', origin: new URL(service.url).origin });
  const queue = await joined(place);
  const agent = new Agent({
    config: {
      ...{ dataDir, name: place.name, tenantId: place.scope, timings: QUICK },
      printers: [{ uri: printer.uri, name: 'Dock', dpi: 203, width: 50, height: 25 }],
    },
    source: queueSource(queue),
    drivers: testDrivers,
    logger,
  });
  await agent.start();
  running.defer(() => agent.stop({ graceMs: 0 }));
  expect(agent.id).toBe(place.agentId);
  const printers = async () => JSON.stringify((await service.admin('GET', '/printers?tenant=acme')).body);
  await expect.poll(printers, { timeout: 20_000 }).toContain('"status":"idle"');
  const template = await service.template('acme', {
    ...{ name: 'One', width: 50, height: 25, fields: [{ name: 'n' }] },
    elements: [{ type: 'text', x: 2, y: 2, text: 'label {{n}}', size: 4 }],
  });
  const accepted = await service.admin('POST', '/tenants/acme/jobs', {
    ...{ idT: template, printer: 'Dock', numberCopies: 2 },
    data: [{ n: '1' }],
  });
  expect(accepted.status, accepted.text).toBe(201);
  await expect.poll(() => printer.odometer, { timeout: 30_000 }).toBe(2);
  const jobs = async () => JSON.stringify((await service.admin('GET', '/jobs?tenant=acme')).body);
  await expect.poll(jobs, { timeout: 20_000 }).toContain('"status":"printed"');
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
  const place = await enrolled();
  const first = await raw(place);
  await first.next('welcome');
  expect(await (await raw(place)).next('bye')).toMatchObject({ code: 'taken' });
  first.socket.terminate();
  await expect
    .poll(
      async () =>
        (await raw(place)).next('welcome').then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
});

test('the same process takes the place of its own earlier connection', async () => {
  const place = await enrolled();
  const first = await raw(place, { process: 'process-one' });
  await first.next('welcome');
  await (await raw(place, { process: 'process-one' })).next('welcome');
  await first.closed;
});

test('a revoked agent goes at once, has no lease, and cannot join', async () => {
  const place = await enrolled('acme');
  const queue = await joined(place);
  const lane = laneOf({ scope: 'acme', printerId: PRINTER });
  const { agentId } = place;
  await queue.publish(
    {
      ...{ kind: 'agent', agentId, name: 'x', version: '1', tenantId: 'acme', at: new Date().toISOString() },
      ...{ online: true, printers: [describePrinter({ id: PRINTER })] },
    },
    'acme',
  );
  const ask = () =>
    queue.askLeases(place.agentId, [{ lane, term: 'process.1', fresh: true, reaches: true }], {
      ...{ contended: 15_000, alone: 60_000 },
    });
  expect(await ask()).toMatchObject([{ granted: 60_000 }]);
  const answer = await service.admin('POST', `/agents/${place.agentId}/revoke`);
  expect(answer.status).toBe(204);
  const granted = () =>
    ask().then(
      ([one]) => one?.granted,
      () => 'away',
    );
  await expect.poll(granted, { timeout: 20_000 }).toBe(null);
  expect(await (await raw(place)).next('bye')).toMatchObject({ code: 'revoked' });
});

test('what another instance revoked goes within seconds', async () => {
  const agent = await raw(await enrolled());
  await agent.next('welcome');
  await service.pool.query('UPDATE platen.enrolled_agents SET revoked_at = now()');
  expect(await agent.next('bye')).toMatchObject({ code: 'revoked' });
});

const FOREIGN = laneOf({ scope: 'other', printerId: PRINTER });
const SHARED = laneOf({ scope: null, printerId: PRINTER });
const hand = { id: '0198c0de-0000-7000-8000-000000000001', delivery: 1, term: 'process.1' };
const foreign = [FOREIGN, SHARED].flatMap((lane) => [
  { what: 'ended', lane, ...hand },
  { what: 'back', lane, ...hand },
  { what: 'note', lane, ...hand, order: 1, note: '{}' },
  { what: 'take', lane, term: hand.term, beside: [], number: 1 },
]);

test.each(foreign)("$what at $lane, which is not the agent's, is refused", async (entry) => {
  const agent = await welcome(await enrolled('acme'));
  agent.say({ kind: 'say', entries: [{ i: 1, ...entry }] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 1, refused: true }] });
});

test("another tenant's leases, rings and reports are not this agent's", async () => {
  const place = await enrolled('acme');
  const agent = await welcome(place);
  const ask = { lane: FOREIGN, term: hand.term, fresh: true, reaches: true };
  agent.say({ kind: 'lease', i: 1, asks: [ask], length: { contended: 15_000, alone: 60_000 } });
  expect(await agent.next('leased')).toEqual({ kind: 'leased', i: 1, answers: [] });
  agent.say({ kind: 'giveBack', i: 2, lane: FOREIGN, term: hand.term });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 2, refused: true }] });
  agent.say({ kind: 'listen', lanes: [FOREIGN] });
  await service.queues.markHeld(FOREIGN, true);
  const report = {
    ...{ kind: 'agent', agentId: place.agentId, name: 'x', version: '1', at: new Date().toISOString() },
    ...{ online: true, printers: [], tenantId: 'other' },
  };
  const reports = [report, { ...report, tenantId: 'acme', agentId: 'agent-of-others' }];
  agent.say({
    kind: 'say',
    entries: reports.map((one, at) => ({ i: 3 + at, what: 'told', report: JSON.stringify(one) })),
  });
  const answers = [
    { i: 3, ok: false },
    { i: 4, ok: false },
  ];
  expect(await agent.next('answers')).toEqual({ kind: 'answers', answers });
  expect(agent.said).toEqual([]);
});

test.each([
  ['no JSON', '{'],
  ['an unknown kind', '{"kind":"sing"}'],
  ['an entry with a lane that is none', JSON.stringify({ kind: 'say', entries: [{ i: 1, what: 'take' }] })],
])('%s ends the connection, with the reason', async (_, text) => {
  const agent = await raw(await enrolled());
  await agent.next('welcome');
  agent.say(text);
  expect(await agent.next('bye')).toMatchObject({ code: 'frame-wrong' });
});

test('a stranger is heard for 16 KiB, and an agent for 1 MiB a frame', async () => {
  const place = await enrolled();
  const stranger = new RawAgent(place.origin);
  running.defer(() => stranger.socket.terminate());
  await new Promise((resolve) => stranger.socket.once('open', resolve));
  stranger.say('x'.repeat(20_000));
  await stranger.closed;
  const agent = await raw(place);
  await agent.next('welcome');
  agent.say('x'.repeat(1_100_000));
  expect((await agent.closed).code).toBe(1_009);
});

test('of the strangers who prove nothing, there are 200 at most: the next takes the place of the first', async () => {
  const { origin } = await enrolled();
  const strangers: RawAgent[] = [];
  for (let count = 0; count < 201; count += 1) {
    const stranger = new RawAgent(origin);
    running.defer(() => stranger.socket.terminate());
    await new Promise((resolve) => stranger.socket.once('open', resolve));
    strangers.push(stranger);
  }
  await strangers[0]?.closed;
  const open = strangers.filter(({ socket }) => socket.readyState === socket.OPEN);
  expect(open.length).toBeLessThanOrEqual(200);
  expect(open.at(-1)).toBe(strangers.at(-1));
});

test('while the service is away, what is asked fails at once', async () => {
  const own = await ServiceHarness.start({ redis: false });
  running.defer(() => own.stop());
  const { body } = await own.admin('POST', '/agents/invitations', { name: 'Dock' });
  const queue = await joined(await enrollAgent(invitationMade.parse(body).url, directories.make()));
  await own.stop();
  await expect(queue.ping()).rejects.toMatchObject({ code: 'unavailable' });
});
