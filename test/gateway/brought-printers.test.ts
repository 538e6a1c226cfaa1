/** Which printers an agent at another site gets the jobs of: an ID that is somebody else's waits for a person. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openDataDir } from '../../src/agent/data-dir.ts';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import { agentView, printersDecided } from '../../src/contract/agent-view.ts';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import { BroughtPrinters } from '../../src/server/gateway/brought-printers.ts';
import { AddedPrinters } from '../../src/server/printers/added-printers.ts';
import { codeOf, describePrinter, jobIdOf, pointersOf } from '../kit/service/harness.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const service = useService({ redis: false });
const { directories, enrolled: enrolledAs } = useEnrolments(service);
const open = useRawAgents();
let named = 0;
/** Of each test its own. */
let printer: string;
let lane: Lane;

beforeAll(async () => {
  for (const tenant of ['acme', 'other']) await service.tenant(tenant);
});
beforeEach(() => {
  printer = `serial-${String(++named).padStart(12, '0')}`;
  lane = laneOf({ scope: 'acme', printerId: printer });
});

const enrolled = (asked: { tenant?: string; printers?: 'any' | 'approve' } = {}, dataDir?: string) =>
  enrolledAs({ tenant: 'acme', ...asked }, dataDir);

async function joined(place: Enrolment): Promise<RawAgent> {
  const agent = await RawAgent.join(place, { process: 'the-only-one' });
  open.push(agent);
  await agent.next('welcome');
  return agent;
}

function told(
  { agentId, scope }: Enrolment,
  ids = [printer],
  { i = 1, name = `Zebra of ${agentId}`, online = true } = {},
): object {
  const report = {
    ...{ kind: 'agent', agentId, name: 'Dock', version: '1', at: new Date().toISOString(), online },
    ...{ tenantId: scope, printers: ids.map((id) => describePrinter({ id, name })) },
  };
  return { i, what: 'told', report: JSON.stringify(report) };
}

/** @param act is given how many connections wait to bring printers */
async function whileAnotherBrings(
  act: (waiting: () => Promise<number | null>) => Promise<void>,
): Promise<void> {
  const database = await service.pool.connect();
  try {
    await database.query('BEGIN');
    await database.query("SELECT pg_advisory_xact_lock(hashtextextended('platen.brought_printers', 0))");
    const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%platen.brought_printers%'`;
    await act(async () => {
      // Else a transaction sees for ever which queries it has seen first.
      await database.query('SELECT pg_stat_clear_snapshot()');
      return (await database.query(sql)).rowCount;
    });
  } finally {
    await database.query('ROLLBACK');
    database.release();
  }
}

/** Reports printers, and resolves when the service has them. */
async function reports(
  place: Enrolment,
  agent: RawAgent,
  ids = [printer],
  name?: string,
  online?: boolean,
): Promise<void> {
  agent.say({ kind: 'say', entries: [told(place, ids, { name, online })] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 1, ok: true }] });
}

async function granted(agent: RawAgent, of = lane): Promise<unknown> {
  const ask = { lane: of, term: 'process.1', fresh: true, reaches: true };
  agent.say({ kind: 'lease', i: 2, asks: [ask], length: { contended: 15_000, alone: 60_000 } });
  return await agent.next('leased');
}
const yes = () => ({ answers: [{ lane, granted: 60_000 }] });
const no = () => ({ answers: [{ lane, granted: null }] });

async function notServedOf({ agentId }: Enrolment) {
  const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
  return agents.find(({ id }) => id === agentId)?.enrolled?.notServed;
}

const decide = (id: string, decision: object) => service.admin('POST', `/agents/${id}/printers`, decision);
const shown = async () => JSON.stringify((await service.admin('GET', '/printers?tenant=acme')).body);

test('whoever reports an ID first has it; another with the same ID gets no job, and is not shown, until a person approves', async () => {
  const [first, second] = [await enrolled(), await enrolled()];
  const [own, rogue] = [await joined(first), await joined(second)];
  await reports(first, own);
  expect(await granted(own)).toMatchObject(yes());
  own.say({ kind: 'giveBack', i: 3, lane, term: 'process.1' });
  await own.next('answers');
  await reports(second, rogue);
  expect(await granted(rogue)).toMatchObject(no());
  await expect.poll(shown).toContain(`Zebra of ${first.agentId}`);
  expect(await shown()).not.toContain(`Zebra of ${second.agentId}`);
  const name = `Zebra of ${second.agentId}`;
  expect(await notServedOf(second)).toMatchObject([{ id: printer, name, state: 'waiting' }]);
  expect(await notServedOf(first)).toEqual([]);

  const approved = await decide(second.agentId, { state: 'approved', printers: [printer] });
  expect(printersDecided.parse(approved.body)).toEqual({ printers: [printer] });
  await expect.poll(() => granted(rogue), { timeout: 20_000 }).toMatchObject(yes());
  expect(await notServedOf(second)).toEqual([]);
  // Refused, it has no lease any more, whatever it says.
  await decide(second.agentId, { state: 'refused', printers: [printer] });
  await expect.poll(() => granted(rogue), { timeout: 20_000 }).toMatchObject(no());
  expect(await notServedOf(second)).toMatchObject([{ id: printer, state: 'refused' }]);
  expect(await granted(await joined(second))).toMatchObject(no());
});

test('an ID under which an agent without a key has reported is nobody else’s, whoever has a code of its tenant', async () => {
  const dataDir = directories.make();
  const data = openDataDir(dataDir);
  data.close();
  for (const online of [true, false]) {
    await service.agent([{ id: printer }], { agentId: data.agentId, tenantId: 'acme', online });
    await expect(enrolled({}, dataDir)).rejects.toMatchObject({ code: 'agent-known' });
  }
  const { rows } = await service.pool.query('SELECT FROM platen.enrolled_agents WHERE id = $1', [
    data.agentId,
  ]);
  expect(rows).toEqual([]);
  // With another directory it may come, and its printers wait.
  const place = await enrolled();
  const agent = await joined(place);
  await reports(place, agent);
  expect(await granted(agent)).toMatchObject(no());
  expect(await notServedOf(place)).toMatchObject([{ id: printer, state: 'waiting' }]);
  await decide(place.agentId, { state: 'approved' });
  await expect.poll(() => granted(agent), { timeout: 20_000 }).toMatchObject(yes());
});

test('an agent whose printer is refused takes no job there, however long its lease would last', async () => {
  const place = await enrolled();
  const agent = await joined(place);
  await reports(place, agent);
  expect(await granted(agent)).toMatchObject(yes());
  await expect.poll(shown).toContain(`Zebra of ${place.agentId}`);
  const idT = await service.template('acme');
  const job = { idT, printerId: printer, data: [{ sku: '1', name: '1' }] };
  expect((await service.admin('POST', '/tenants/acme/jobs', job)).status).toBe(201);
  await decide(place.agentId, { state: 'refused', printers: [printer] });
  await expect.poll(() => granted(agent), { timeout: 20_000 }).toMatchObject(no());
  const take = { i: 4, what: 'take', lane, term: 'process.1', beside: [], number: 1 };
  agent.say({ kind: 'say', entries: [take] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 4, job: null }] });
});

test('a printer that is refused is not shown as its agent’s any more, whether or not the agent says so', async () => {
  const place = await enrolled();
  await reports(place, await joined(place));
  await expect.poll(shown).toContain(`Zebra of ${place.agentId}`);
  await decide(place.agentId, { state: 'refused', printers: [printer] });
  expect(await shown()).not.toContain(`Zebra of ${place.agentId}`);
});

test('moved, it leaves its printers behind, and its former tenant adds none to it', async () => {
  const place = await enrolled();
  const agent = await joined(place);
  await reports(place, agent);
  await expect.poll(shown).toContain(`Zebra of ${place.agentId}`);
  const { agentId } = place;
  await reports(place, agent, [printer], 'Zebra at rest', false);
  await expect.poll(shown).toContain('Zebra at rest');
  const added = new AddedPrinters(service.pool, () => []);
  expect(await added.scopeOf(agentId, 'acme')).toBe('acme');
  expect((await service.admin('POST', `/agents/${agentId}/move`, { tenant: 'other' })).status).toBe(204);
  expect(await agent.next('move')).toMatchObject({ scope: 'other' });
  agent.say({ kind: 'moved' });
  expect(await agent.next('bye')).toMatchObject({ code: 'restart' });
  await expect(added.scopeOf(agentId, 'acme')).rejects.toMatchObject({ code: 'not-found' });
  expect(await added.scopeOf(agentId, 'other')).toBe('other');
  for (const tenant of ['acme', 'other']) {
    const { text } = await service.admin('GET', `/printers?tenant=${tenant}`);
    expect(text).not.toContain(printer);
  }
});

test('a device whose name has a character that no database takes is brought all the same', async () => {
  const place = await enrolled();
  const agent = await joined(place);
  await reports(place, agent, [printer], 'Zebra\0');
  expect(await granted(agent)).toMatchObject(yes());
});

test.each(['enrolled', 'on the queue itself'])(
  'the ID of a shared printer, of an agent that is %s, waits where the tenant may use that one',
  async (kind) => {
    if (kind === 'enrolled') {
      const shared = await enrolledAs();
      await reports(shared, await joined(shared));
      await expect.poll(shown).toContain(`Zebra of ${shared.agentId}`);
    } else await service.agent([{ id: printer }], { agentId: `agent-${printer}`, tenantId: null });
    const grants = await service.admin('PUT', `/printers/${printer}/grants`, { tenants: ['acme'] });
    expect(grants.status).toBe(200);
    const [thief, elsewhere] = [await enrolled(), await enrolled({ tenant: 'other' })];
    const [agent, far] = [await joined(thief), await joined(elsewhere)];
    await reports(thief, agent);
    expect(await granted(agent)).toMatchObject(no());
    expect(await notServedOf(thief)).toMatchObject([{ id: printer, state: 'waiting' }]);
    // To a tenant that may not use it, it is as if it did not exist.
    await reports(elsewhere, far);
    const there = laneOf({ scope: 'other', printerId: printer });
    expect(await granted(far, there)).toMatchObject({ answers: [{ lane: there, granted: 60_000 }] });
  },
);

test('an agent hears of the lanes of its approved printers alone', async () => {
  const [first, second] = [await enrolled(), await enrolled()];
  const [own, rogue] = [await joined(first), await joined(second)];
  await reports(first, own);
  const its = `${printer.slice(0, -2)}zz`;
  await reports(second, rogue, [printer, its]);
  const lanes = [lane, laneOf({ scope: 'acme', printerId: its })];
  rogue.say({ kind: 'listen', lanes });
  expect(await granted(rogue)).toMatchObject(no());
  // Those of one commit are heard in this order.
  await service.pool.query("SELECT pg_notify('platen_lanes', rung) FROM unnest($1::text[]) AS rung", [lanes]);
  expect(await rogue.next('ring')).toMatchObject({ lane: lanes[1] });
});

test('an ID that nobody has reported is nobody’s lane', async () => {
  expect(await granted(await joined(await enrolled()))).toMatchObject(no());
});

test('an ID of an agent that is no other site’s waits too', async () => {
  await service.agent([{ id: printer }], { agentId: 'agent-of-the-house', tenantId: 'acme' });
  const place = await enrolled();
  const agent = await joined(place);
  await reports(place, agent);
  expect(await granted(agent)).toMatchObject(no());
});

test('of two agents that bring one ID at the same moment one waits', async () => {
  const places = await Promise.all([enrolled(), enrolled(), enrolled(), enrolled()]);
  const agents = await Promise.all(places.map((place) => joined(place)));
  await Promise.all(places.map((place, at) => reports(place, agents[at] ?? expect.fail())));
  const waiting = await Promise.all(places.map(async (place) => (await notServedOf(place))?.length));
  expect(waiting.sort()).toEqual([0, 1, 1, 1]);
});

test('the same ID in another scope is another printer, and what was revoked has none', async () => {
  const [first, elsewhere] = [await enrolled(), await enrolled({ tenant: 'other' })];
  await reports(first, await joined(first));
  const far = await joined(elsewhere);
  await reports(elsewhere, far);
  const there = laneOf({ scope: 'other', printerId: printer });
  expect(await granted(far, there)).toMatchObject({ answers: [{ lane: there, granted: 60_000 }] });
  expect((await service.admin('POST', `/agents/${first.agentId}/revoke`)).status).toBe(204);
  const heir = await enrolled();
  const agent = await joined(heir);
  await reports(heir, agent);
  expect(await granted(agent)).toMatchObject(yes());
});

test('revoked and enrolled again, it has nothing that another agent has meanwhile, and nothing that was refused', async () => {
  const [dataDir, refused] = [directories.make(), `${printer.slice(0, -2)}no`];
  const first = await enrolled({}, dataDir);
  await reports(first, await joined(first), [printer, refused]);
  await decide(first.agentId, { state: 'refused', printers: [refused] });
  expect((await service.admin('POST', `/agents/${first.agentId}/revoke`)).status).toBe(204);
  const heir = await enrolled();
  await reports(heir, await joined(heir));
  const again = await enrolled({}, dataDir);
  expect(again.agentId).toBe(first.agentId);
  const agent = await joined(again);
  await reports(again, agent, [printer, refused]);
  expect(await granted(agent)).toMatchObject(no());
  expect(await notServedOf(again)).toMatchObject([
    { id: printer, state: 'waiting' },
    { id: refused, state: 'refused' },
  ]);
});

test('invited so, each printer of an agent waits, and all are approved at once, which is in the audit', async () => {
  const place = await enrolled({ printers: 'approve' });
  const agent = await joined(place);
  const more = `${printer.slice(0, -2)}zz`;
  await reports(place, agent, [printer, more]);
  expect(await granted(agent)).toMatchObject(no());
  expect(await notServedOf(place)).toHaveLength(2);
  const { body } = await decide(place.agentId, { state: 'approved' });
  expect(printersDecided.parse(body).printers.sort()).toEqual([printer, more]);
  expect(printersDecided.parse((await decide(place.agentId, { state: 'approved' })).body).printers).toEqual(
    [],
  );
  await expect.poll(() => granted(agent), { timeout: 20_000 }).toMatchObject(yes());
  const { rows } = await service.pool.query(
    'SELECT what, who_name, tenant_id, details FROM platen.audit WHERE object = $1 ORDER BY at, id LIMIT 2',
    [place.agentId],
  );
  const approved = { state: 'approved', count: 2, printers: expect.arrayContaining([printer, more]) };
  expect(rows).toEqual([
    { what: 'agent.enroll', who_name: 'Dock', tenant_id: 'acme', details: {} },
    { what: 'agent.printers', who_name: 'admin token', tenant_id: 'acme', details: approved },
  ]);
});

test('a decision names the agent, the printers and what they are to be', async () => {
  const { agentId } = await enrolled();
  expect(codeOf(await decide('agent-of-nobody', { state: 'approved' }))).toBe('agent-not-found');
  const unknown = await decide(agentId, { state: 'approved', printers: [printer] });
  expect([codeOf(unknown), unknown.text]).toEqual(['printer-not-found', expect.stringContaining(printer)]);
  expect(pointersOf(await decide(agentId, { state: 'waiting', printers: [] }))).toEqual([
    '/state',
    '/printers',
  ]);
});

test('an agent that has nearly as many as it may brings a new one, though it reports those that it has with it', async () => {
  const { agentId } = await enrolled();
  const sql = `INSERT INTO platen.brought_printers (agent_id, printer_id, name, state)
     SELECT $1, 'mac-' || lpad(n::text, 12, '0'), 'x', 'approved' FROM generate_series(1, 4990) AS n`;
  await service.pool.query(sql, [agentId]);
  const known = Array.from({ length: 20 }, (_, n) => `mac-${String(n + 1).padStart(12, '0')}`);
  const printers = [...known, printer].map((id) => ({ id, name: 'x' }));
  const of = await new BroughtPrinters(service.pool).bring(agentId, printers);
  expect(of.get(printer)).toBe('approved');
});

test('an agent that brings printers in many reports takes one connection to the database, and no more', async () => {
  const place = await enrolled();
  const agent = await joined(place);
  const entries = Array.from({ length: 64 }, (_, n) =>
    told(place, [`mac-${String(n).padStart(12, 'a')}`], { i: n + 1 }),
  );
  await whileAnotherBrings(async (waiting) => {
    agent.say({ kind: 'say', entries });
    await expect.poll(waiting).toBeGreaterThan(0);
    expect((await service.admin('GET', '/tenants')).status).toBe(200);
    expect(await waiting()).toBe(1);
  });
  for (let came = 0; came < entries.length; ) {
    const { answers } = await agent.next('answers');
    came += Array.isArray(answers) ? answers.length : 0;
  }
});

test('after a restore an agent says how a job has ended before it tells its printers: both count', async () => {
  const idT = await service.template('acme');
  const place = await enrolled();
  const { agentId } = place;
  const before = await joined(place);
  await reports(place, before);
  await expect.poll(shown).toContain(printer);
  const accepted = await service.admin('POST', '/tenants/acme/jobs', {
    ...{ idT, printerId: printer, data: [{ sku: 'a', name: 'b' }] },
  });
  expect(accepted.status).toBe(201);
  const jobId = jobIdOf(accepted);
  before.socket.terminate();
  await before.closed;
  // The back-up was made before the agent brought the printer; the job of another agent's then is held, all of it uncertain.
  await service.pool.query('DELETE FROM platen.agents WHERE id = $1', [agentId]);
  await service.pool.query('DELETE FROM platen.brought_printers WHERE agent_id = $1', [agentId]);
  await service.pool.query(
    `UPDATE platen.jobs SET status = 'held', uncertain_from = 0, uncertain_to = 1,
       error = '{"code":"outcome-unknown","message":"restored"}' WHERE id = $1`,
    [jobId],
  );
  const again = await joined(place);
  const at = new Date().toISOString();
  const ended = {
    ...{ kind: 'job', jobId, agentId, printerId: printer, at, delivery: 1, seq: 1, status: 'printed' },
    ...{ labels: { sent: 1, printed: 1 }, reasons: [] },
  };
  await whileAnotherBrings(async (waiting) => {
    again.say({ kind: 'say', entries: [{ i: 1, what: 'told', report: JSON.stringify(ended) }] });
    again.say({ kind: 'say', entries: [told(place, [printer], { i: 2 })] });
    await expect.poll(waiting).toBe(1);
  });
  await expect
    .poll(async () => (await service.admin('GET', `/jobs/${jobId}`)).body)
    .toMatchObject({ status: 'printed' });
});
