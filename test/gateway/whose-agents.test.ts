/** Who may invite, list, rename, approve, let in and revoke agents at other sites: of which role, and whose agents. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Enrolment, enrollAgent } from '../../src/cli/enrolment.ts';
import { agentView, invitationMade, openInvitation } from '../../src/contract/agent-view.ts';
import { ROLES } from '../../src/contract/people.ts';
import { type Answer, codeOf } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';

const WHO = [...ROLES, 'keeper'] as const;
const WHOSE = ['acme', 'globex', 'shared'] as const;
const PRINTER = 'serial-0a1b2c3d4e5f';

const service = useService({ redis: false });
const { directories, enrolled: enrolledAs } = useEnrolments(service);
const people = new Map<string, SignedIn>();
let agents: Record<(typeof WHOSE)[number], Enrolment>;

beforeAll(async () => {
  for (const tenant of ['acme', 'globex', 'default']) await service.tenant(tenant);
  for (const role of ROLES) people.set(role, await SignedIn.as(service, 'acme', role));
  people.set('keeper', await SignedIn.asKeeper(service));
  const [acme, globex, shared] = [await enrolled('acme'), await enrolled('globex'), await enrolled()];
  agents = { acme, globex, shared };
});

async function enrolled(tenant?: string): Promise<Enrolment> {
  const place = await enrolledAs({ name: `Dock of ${tenant ?? 'all'}`, tenant });
  await service.pool.query(
    `INSERT INTO platen.brought_printers (agent_id, printer_id, name, state) VALUES ($1, $2, $3, 'waiting')`,
    [place.agentId, PRINTER, `Zebra of ${tenant ?? 'all'}`],
  );
  await service.pool.query(
    `UPDATE platen.enrolled_agents SET refused = 'stale', refused_at = now() WHERE id = $1`,
    [place.agentId],
  );
  return place;
}

function call(who: string, method: string, path: string, body?: object): Promise<Answer> {
  const person = people.get(who);
  if (person === undefined) throw new Error(`nobody is ${who}`);
  return person.call(`/app/agents${path}`, { method, ...(body !== undefined && { body }) });
}

async function state() {
  const { rows } = await service.pool.query(
    `SELECT e.id, e.name, e.revoked_at, e.let_in, b.state FROM platen.enrolled_agents e
     JOIN platen.brought_printers b ON b.agent_id = e.id ORDER BY e.id`,
  );
  const deeds = await service.pool.query(`SELECT count(*)::int AS deeds FROM platen.audit`);
  return [rows, deeds.rows];
}

/** What is done to an agent, the last for good. */
const DEEDS = [
  { what: 'rename', method: 'PUT', path: '/name', body: { name: 'Dock 2' } },
  { what: 'refuse', method: 'POST', path: '/printers', body: { state: 'refused', printers: [PRINTER] } },
  { what: 'approve', method: 'POST', path: '/printers', body: { state: 'approved', printers: [PRINTER] } },
  { what: 'let in', method: 'POST', path: '/let-in', body: undefined },
  { what: 'revoke', method: 'POST', path: '/revoke', body: undefined },
  { what: 'forget', method: 'DELETE', path: '', body: undefined },
] as const;

describe.each(WHO.filter((who) => who !== 'admin' && who !== 'keeper'))('%s', (who) => {
  test('sees the agents that it may print with, decides nothing, and is told of no code', async () => {
    const before = await state();
    for (const { method, path, body } of DEEDS) {
      for (const { agentId } of Object.values(agents)) {
        const answer = await call(who, method, `/${agentId}${path}`, body);
        expect([path, answer.status, codeOf(answer)]).toEqual([path, 403, 'permission-missing']);
      }
    }
    for (const path of ['/invitations', '/counts']) {
      expect(codeOf(await call(who, 'GET', path))).toBe('permission-missing');
    }
    expect(codeOf(await call(who, 'POST', '/invitations', { name: 'Mine' }))).toBe('permission-missing');
    expect(await state()).toEqual(before);
    expect(await listed(who)).toEqual([agents.acme.agentId, agents.shared.agentId].sort());
  });
});

async function listed(who: string, query = ''): Promise<string[]> {
  const all = z.array(agentView).parse((await call(who, 'GET', query)).body);
  return all.map(({ id }) => id).sort();
}

test('to an admin another tenant’s agent is as if it did not exist, and so is one that all share', async () => {
  const before = await state();
  for (const whose of ['globex', 'shared'] as const) {
    for (const { what, method, path, body } of DEEDS) {
      const answer = await call('admin', method, `/${agents[whose].agentId}${path}`, body);
      expect([whose, what, answer.status, codeOf(answer)]).toEqual([whose, what, 404, 'agent-not-found']);
      const there = await call('admin', method, `/${agents[whose].agentId}${path}?tenant=globex`, body);
      expect([whose, what, there.status, codeOf(there)]).toEqual([whose, what, 403, 'tenant-forbidden']);
    }
  }
  expect(await state()).toEqual(before);
  const answer = await call('admin', 'GET', '');
  expect(answer.text).not.toContain('globex');
  expect(answer.text).not.toContain('Zebra of all');
  expect(await listed('admin')).toEqual([agents.acme.agentId, agents.shared.agentId].sort());
  expect((await call('admin', 'GET', '/counts')).body).toEqual({ waiting: 1 });
  expect(await listed('keeper')).toEqual(
    Object.values(agents)
      .map(({ agentId }) => agentId)
      .sort(),
  );
  expect((await call('keeper', 'GET', '/counts')).body).toEqual({ waiting: 3 });
});

test('an admin invites for the own tenant alone, whoever runs the service for any or for all', async () => {
  for (const [who, body, expected] of [
    ['admin', { name: 'One' }, 'acme'],
    ['admin', { name: 'Two', tenant: 'acme' }, 'acme'],
    ['keeper', { name: 'Three', tenant: 'globex' }, 'globex'],
    ['keeper', { name: 'Four' }, null],
  ] as const) {
    const { url } = invitationMade.parse((await call(who, 'POST', '/invitations', body)).body);
    expect(await enrollAgent(url, directories.make())).toMatchObject({ name: body.name, scope: expected });
  }
  for (const [who, tenant, code] of [
    ['admin', 'globex', 'tenant-forbidden'],
    ['admin', 'nobody', 'tenant-forbidden'],
    ['keeper', 'nobody', 'tenant-not-found'],
  ] as const) {
    const answer = await call(who, 'POST', '/invitations', { name: 'Five', tenant });
    expect([who, tenant, codeOf(answer)]).toEqual([who, tenant, code]);
  }
  for (const tenant of ['acme', 'globex']) {
    await service.admin('POST', '/agents/invitations', { name: `Open of ${tenant}`, tenant });
  }
  const open = async (who: string) =>
    z
      .array(openInvitation)
      .parse((await call(who, 'GET', '/invitations')).body)
      .map(({ name }) => name)
      .sort();
  expect(await open('admin')).toEqual(['Open of acme']);
  expect(await open('keeper')).toEqual(['Open of acme', 'Open of globex']);
});

test('who may do what concerns all tenants moves an agent, and nobody else', async () => {
  const { agentId } = agents.acme;
  const move = (who: string, tenant: string | null, id = agentId) =>
    call(who, 'POST', `/${id}/move`, { tenant });
  for (const who of ROLES.filter((role) => role !== 'admin')) {
    expect([who, codeOf(await move(who, 'globex'))]).toEqual([who, 'permission-missing']);
  }
  expect(codeOf(await move('admin', 'globex'))).toBe('tenant-forbidden');
  expect(codeOf(await move('admin', 'acme'))).toBe('tenant-forbidden');
  expect(codeOf(await move('keeper', 'nobody'))).toBe('tenant-not-found');
  expect(codeOf(await move('keeper', 'globex', 'agent-of-nobody'))).toBe('agent-not-found');
  const moves = async () => {
    const all = z.array(agentView).parse((await call('keeper', 'GET', '')).body);
    return all.find(({ id }) => id === agentId)?.enrolled?.moves;
  };
  expect((await move('keeper', 'globex')).status).toBe(204);
  expect(await moves()).toBe(true);
  // It is not connected: until it is, it may stay as well.
  expect((await move('keeper', 'acme')).status).toBe(204);
  expect(await moves()).toBe(false);
  const { rows } = await service.pool.query(
    "SELECT tenant_id FROM platen.audit WHERE what = 'agent.move' AND object = $1 ORDER BY tenant_id",
    [agentId],
  );
  expect(rows.map(({ tenant_id }) => tenant_id)).toEqual(['acme', 'acme', 'globex']);
  await service.pool.query("DELETE FROM platen.audit WHERE what = 'agent.move'");
});

test('a code that nobody has used is withdrawn by whoever may invite, once, and is in the audit', async () => {
  const made = invitationMade.parse(
    (await call('keeper', 'POST', '/invitations', { name: 'Lost', tenant: 'globex' })).body,
  );
  const withdraw = (who: string) => call(who, 'DELETE', `/invitations/${made.id}`);
  for (const who of ROLES.filter((role) => role !== 'admin')) {
    expect([who, codeOf(await withdraw(who))]).toEqual([who, 'permission-missing']);
  }
  expect(codeOf(await withdraw('admin'))).toBe('invitation-spent');
  expect((await withdraw('keeper')).status).toBe(204);
  expect(codeOf(await withdraw('keeper'))).toBe('invitation-spent');
  expect(codeOf(await call('keeper', 'DELETE', '/invitations/no-id'))).toBe('invitation-spent');
  await expect(enrollAgent(made.url, directories.make())).rejects.toMatchObject({ code: 'invitation-spent' });
  const { rows } = await service.pool.query(
    "SELECT object, tenant_id FROM platen.audit WHERE what = 'agent.withdraw'",
  );
  expect(rows).toEqual([{ object: 'Lost', tenant_id: 'globex' }]);
});

test.each([
  ['admin', 'acme'],
  ['keeper', 'globex'],
  ['keeper', 'shared'],
] as const)('%s keeps the agent of %s, and it is in that tenant’s audit', async (who, whose) => {
  const { agentId, scope } = agents[whose];
  for (const { what, method, path, body } of DEEDS) {
    const answer = await call(who, method, `/${agentId}${path}`, body);
    expect([what, answer.status]).toEqual([what, path === '/printers' ? 200 : 204]);
  }
  const { rows } = await service.pool.query(
    'SELECT what, tenant_id FROM platen.audit WHERE object = $1 ORDER BY at, id',
    [agentId],
  );
  expect(rows).toEqual(
    [
      ...['agent.enroll', 'agent.rename', 'agent.printers', 'agent.printers'],
      ...['agent.let-in', 'agent.revoke', 'agent.forget'],
    ].map((what) => ({ what, tenant_id: scope })),
  );
});

test('a tenant that has 500 agents and open codes gets no more from its own people', async () => {
  await service.pool.query(
    `INSERT INTO platen.enrolled_agents (id, tenant_id, name, public_key, origin, approve)
     SELECT 'agent-' || n, 'acme', 'Dock', 'none', 'https://platen.example', false FROM generate_series(1, 500) n`,
  );
  const invite = () => call('admin', 'POST', '/invitations', { name: 'Too many' });
  expect(codeOf(await invite())).toBe('agents-limit');
  // One more fits: of several that come at once one gets it.
  await service.pool.query(
    `UPDATE platen.enrolled_agents SET revoked_at = now() WHERE tenant_id = 'acme' AND id IN (
       SELECT id FROM platen.enrolled_agents WHERE tenant_id = 'acme' AND revoked_at IS NULL LIMIT 1 + (
         SELECT count(*) - 500 FROM (SELECT id::text FROM platen.enrolled_agents WHERE tenant_id = 'acme' AND revoked_at IS NULL
           UNION ALL SELECT id::text FROM platen.agent_invitations
             WHERE tenant_id = 'acme' AND used_at IS NULL AND expires_at > now()) AS counted))`,
  );
  const made = await Promise.all(Array.from({ length: 8 }, invite));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
  expect((await call('keeper', 'POST', '/invitations', { name: 'Not theirs', tenant: 'acme' })).status).toBe(
    201,
  );
});
