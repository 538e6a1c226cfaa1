/** Test keys: their jobs print on virtual printers and nowhere else, whoever asks, and live apart from all other jobs. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  integrationCreated,
  integrationView,
  type Permission,
  tenantView,
} from '../../src/contract/admin.ts';
import { integratorPrinters } from '../../src/contract/integrator-view.ts';
import { jobDetails } from '../../src/contract/job-details.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { Withdrawals } from '../../src/server/jobs/outcome/withdrawals.ts';
import { noteVirtuals } from '../../src/server/printers/virtual-printers.ts';
import {
  type Answer,
  type CallOptions,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
} from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

/** The ID of a shared printer, which is its lane's name too. */
const VIRTUAL = laneOf({ scope: null, printerId: 'serial-aaaaaaaaaaaa' });
const SECOND = 'serial-bbbbbbbbbbbb';
const URI = 'socket://127.0.0.1:40001';
const SECOND_URI = 'socket://127.0.0.1:40002';
const OWN_AGENT = { agentId: 'agent-virtual', name: 'Virtual' };
const ALL: Permission[] = ['jobs:enqueue', 'jobs:read', 'jobs:cancel', 'printers:read'];

const service = useService({ redis: false });
const keys = { test: '', live: '', globex: '' };
let idT = '';

async function token(tenant: string, isTest: boolean): Promise<string> {
  const body = { name: 'test', scope: ALL, test: isTest };
  const made = await service.admin('POST', `/tenants/${tenant}/integrations`, body);
  return await service.token(integrationCreated.parse(made.body));
}

beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
  keys.test = await token('acme', true);
  keys.live = await token('acme', false);
  keys.globex = await token('globex', true);
  idT = await service.template('acme');
});
beforeEach(async () => {
  await service.pool.query('TRUNCATE platen.agents, platen.virtual_printers CASCADE');
  await service.agent([{}]);
  const printers = [
    { id: VIRTUAL, name: 'test-printed', uri: URI },
    { id: SECOND, name: 'test-held', uri: SECOND_URI },
  ];
  await service.agent(printers, OWN_AGENT);
  await noteVirtuals(service.pool, { agentId: OWN_AGENT.agentId, printers });
});

const as = (who: keyof typeof keys, path: string, options: CallOptions = {}) =>
  service.call(`/v2${path}`, { token: keys[who], tenant: who === 'globex' ? 'globex' : 'acme', ...options });
const post = (who: keyof typeof keys, body: object = {}, key = newKey()) =>
  as(who, '/jobs', { key, body: { idT, printerId: VIRTUAL, data: [{ sku: '1' }], ...body } });
const validate = (who: keyof typeof keys, body: object) =>
  as(who, '/jobs/validate', { body: { idT, data: [{ sku: '1' }], ...body } });
const act = (job: string, what: string, body: object = {}) =>
  service.admin('POST', `/jobs/${job}/${what}`, body);
const newJob = async (who: keyof typeof keys = 'test', body: object = {}) => jobIdOf(await post(who, body));
async function inState(status: string, more = ''): Promise<string> {
  const id = await newJob();
  await service.pool.query(`UPDATE platen.jobs SET status = $2 ${more} WHERE id = $1`, [id, status]);
  return id;
}
const isRefused = (answer: Answer) =>
  expect([answer.status, codeOf(answer), answer.text]).toEqual([
    400,
    'printer-not-virtual',
    expect.stringContaining('the printer is not virtual, and a test key prints on virtual printers only'),
  ]);
const details = async (id: string) => jobDetails.parse((await service.admin('GET', `/jobs/${id}`)).body);
/** Tests that are at a printer that is not virtual. */
const strayed = async () =>
  (
    await service.pool.query(
      'SELECT FROM platen.jobs WHERE test AND NOT platen.only_virtual(scope, printer_id)',
    )
  ).rowCount;

describe('a test is refused at a real printer', () => {
  const real = { printerId: PRINTER };
  test.each<[door: string, knock: () => Promise<Answer>]>([
    ['POST /v2/jobs by ID', () => post('test', real)],
    ['POST /v2/jobs by name', () => post('test', { printerId: undefined, printer: 'Zebra' })],
    ['POST /v2/jobs without data', () => post('test', { ...real, data: undefined })],
    ['validate by ID', () => validate('test', real)],
    ['validate by name', () => validate('test', { printer: 'Zebra' })],
    ['a move while it waits', async () => act(await newJob(), 'move', real)],
    ['a move while it prints', async () => act(await inState('printing'), 'move', real)],
    ['a move when it has failed', async () => act(await inState('failed'), 'move', real)],
    ['a move when it is held', async () => act(await inState('held'), 'move', { ...real, from: 0 })],
    ['a reprint', async () => act(await inState('printed', ', printed = 1'), 'reprint', real)],
    ['a reprint by name', async () => act(await inState('printed'), 'reprint', { printer: 'Zebra' })],
  ])('%s', async (_door, knock) => {
    const answer = await knock();
    isRefused(answer);
    expect(await strayed()).toBe(0);
  });

  test('and the answer names the field', async () => {
    expect(pointersOf(await post('test', { printerId: PRINTER }))).toEqual(['/printerId']);
    const byName = await post('test', { printerId: undefined, printer: 'Zebra' });
    expect(pointersOf(byName)).toEqual(['/printer']);
  });

  test('many moved at once: each stays where it is, and says why', async () => {
    const ids = [await newJob(), await newJob()];
    const answer = await service.admin('POST', '/jobs/bulk', {
      ...{ action: 'move', ids, to: { printerId: PRINTER }, dryRun: false },
    });
    expect(answer.text).toContain('the printer is not virtual');
    for (const id of ids)
      expect(await details(id)).toMatchObject({ status: 'queued', printer: { id: VIRTUAL } });
  });

  test.each<[door: string, status: string, what: string, body: object]>([
    ['a release', 'held', 'resume', { from: 0 }],
    ['a retry', 'failed', 'resume', {}],
    ['a reprint', 'printed', 'reprint', {}],
  ])('that was virtual when the job was sent: %s', async (_door, status, what, body) => {
    const id = await inState(status);
    await service.pool.query('DELETE FROM platen.virtual_printers');
    isRefused(await act(id, what, body));
    expect(await details(id)).toMatchObject({ status, reprints: [] });
  });
});

describe('who says that a printer is virtual', () => {
  test('is the service alone: an agent that reports the address of a virtual printer has none', async () => {
    await service.agent([{ id: 'serial-cccccccccccc', name: 'Liar', uri: URI }], { agentId: 'agent-liar' });
    isRefused(await post('test', { printerId: 'serial-cccccccccccc' }));
  });

  test('counts while every agent that has it reaches it there: one that has the same printer elsewhere might take the job', async () => {
    expect((await post('test')).status).toBe(201);
    await service.agent([{ id: VIRTUAL, name: 'test-printed' }], { agentId: 'agent-stolen' });
    isRefused(await post('test'));
    await service.agent([], { agentId: 'agent-stolen' });
    expect((await post('test')).status).toBe(201);
  });

  test('a test that waits is held once an agent might take it that has the same printer elsewhere', async () => {
    const [test, live] = [await newJob(), await newJob('live', { printerId: VIRTUAL })];
    // Where its own service has started again, at other ports, or is away, it waits on.
    await noteVirtuals(service.pool, { agentId: OWN_AGENT.agentId, printers: [{ uri: SECOND_URI }] });
    const { pool, queues: queue, logger } = service;
    await new Withdrawals({ pool, queue, logger, changed: () => {} }).sweep();
    expect(await details(test)).toMatchObject({ status: 'queued' });
    await service.agent([{ id: VIRTUAL, name: 'test-printed' }], { agentId: 'agent-stolen' });
    await expect
      .poll(() => details(test), { timeout: 60_000 })
      .toMatchObject({
        ...{ status: 'held', uncertain: null, labels: { printed: 0 } },
        error: { code: 'permission-withdrawn', reason: { code: 'printer-real' } },
      });
    expect(await service.queues.look(VIRTUAL, test)).toBeNull();
    expect(await details(live)).toMatchObject({ status: 'queued' });
    isRefused(await act(test, 'resume'));
    await service.agent([], { agentId: 'agent-stolen' });
    await noteVirtuals(service.pool, { agentId: OWN_AGENT.agentId, printers: [{ uri: URI }] });
    expect((await act(test, 'resume')).body).toMatchObject({ status: 'queued' });
  });

  test('not by a tenant’s own agent, whose printer comes before the shared one', async () => {
    await service.agent([{ id: VIRTUAL, uri: URI }], { agentId: 'agent-acme', tenantId: 'acme' });
    isRefused(await post('test'));
    isRefused(await validate('test', { printerId: VIRTUAL }));
    const page = integratorPrinters.parse((await as('test', '/printers')).body);
    expect(page.printers.map(({ id }) => id)).toEqual([SECOND]);
  });

  test('each instance for itself: printers that it has no more are virtual no more', async () => {
    const printers = [{ uri: SECOND_URI }];
    await noteVirtuals(service.pool, { agentId: 'agent-other', printers: [{ uri: URI }] });
    await noteVirtuals(service.pool, { agentId: OWN_AGENT.agentId, printers });
    isRefused(await post('test'));
    expect((await post('test', { printerId: SECOND })).status).toBe(201);
  });
});

describe('tests and other jobs', () => {
  const seen = async (who: keyof typeof keys, options: CallOptions = {}) =>
    jobPage.parse((await as(who, '/jobs', options)).body).jobs.map(({ id }) => id);

  test('are not seen with each other’s keys, nor by another tenant’s test key', async () => {
    const key = newKey();
    const [mine, live] = [jobIdOf(await post('test', {}, key)), jobIdOf(await post('live', {}, key))];
    expect(mine).not.toBe(live);
    for (const [who, own, other] of [
      ['test', mine, live],
      ['live', live, mine],
    ] as const) {
      const ids = await seen(who);
      expect([ids.includes(own), ids.includes(other)]).toEqual([true, false]);
      expect((await as(who, `/jobs/${own}`)).status).toBe(200);
      expect(codeOf(await as(who, `/jobs/${other}`))).toBe('job-not-found');
      expect(codeOf(await as(who, `/jobs/${other}/cancel`, { body: {} }))).toBe('job-not-found');
      // By the key that both have sent each finds its own, and a retry gets its own answer.
      expect(await seen(who, { key })).toEqual([own]);
      expect(jobIdOf(await post(who, {}, key))).toBe(own);
    }
    expect(await seen('globex')).toEqual([]);
    for (const id of [mine, live]) expect(codeOf(await as('globex', `/jobs/${id}`))).toBe('job-not-found');
    expect((await as('test', `/jobs/${mine}/cancel`, { body: {} })).status).toBe(200);
  });

  test('a test key finds the printers that it may name, and no others', async () => {
    const named = async (who: 'test' | 'live') =>
      integratorPrinters
        .parse((await as(who, '/printers')).body)
        .printers.map(({ name }) => name)
        .sort();
    expect(await named('test')).toEqual(['test-held', 'test-printed']);
    expect(await named('live')).toEqual(['Zebra', 'test-held', 'test-printed']);
    const page = integratorPrinters.parse((await as('test', '/printers?limit=1')).body);
    expect(page).toMatchObject({ printers: [{ id: VIRTUAL }], next: VIRTUAL });
    const unknown = await post('test', { printerId: 'serial-dddddddddddd' });
    expect(unknown.text).not.toContain('Zebra');
  });

  test('a test is marked wherever it is shown, and so is what is made of it', async () => {
    const id = await newJob();
    expect((await as('test', `/jobs/${id}`)).body).toMatchObject({ test: true });
    expect(await details(id)).toMatchObject({ test: true });
    const live = await newJob('live');
    expect(Object.keys(await details(live))).not.toContain('test');
    const over = await inState('printed');
    const again = z.object({ id: z.string() }).parse((await act(over, 'reprint')).body).id;
    expect(await details(again)).toMatchObject({ test: true, printer: { id: VIRTUAL } });
    expect((await act(again, 'move', { printerId: SECOND })).body).toMatchObject({ test: true });
    const listed = async (query: string) =>
      jobPage.parse((await service.admin('GET', `/jobs${query}`)).body).jobs.map((job) => job.id);
    expect(await listed('?test=true')).toEqual(expect.arrayContaining([id, over, again]));
    expect(await listed('?test=true')).not.toContain(live);
    expect(await listed('?test=false')).not.toContain(id);
  });

  test('the integration is marked in its list and in the audit', async () => {
    const views = z
      .array(integrationView)
      .parse((await service.admin('GET', '/tenants/acme/integrations')).body);
    expect(views.map(({ test }) => test)).toEqual([true, false]);
    const audit = await service.admin('GET', '/audit?tenant=acme');
    expect(audit.text).toMatch(/"test":true/);
  });

  test('count apart: neither quota, nor what was printed, knows of the other', async () => {
    const tenant = await service.tenant('initech', 3);
    await service.pool.query('UPDATE platen.tenants SET test_labels = 5 WHERE id = $1', [tenant]);
    const template = await service.template(tenant);
    const [test, live] = [await token(tenant, true), await token(tenant, false)];
    const send = (token: string, numberCopies: number) =>
      service.call('/v2/jobs', {
        ...{ token, tenant, key: newKey() },
        body: { idT: template, printerId: VIRTUAL, numberCopies },
      });
    expect((await send(test, 4)).status).toBe(201);
    expect((await send(live, 3)).status).toBe(201);
    for (const token of [test, live]) {
      const answer = await send(token, 2);
      expect([answer.status, codeOf(answer)]).toEqual([403, 'quota-exceeded']);
      const checked = await service.call('/v2/jobs/validate', {
        ...{ token, tenant },
        body: { idT: template, printerId: VIRTUAL, numberCopies: 2 },
      });
      expect(codeOf(checked)).toBe('quota-exceeded');
    }
    expect((await send(test, 1)).status).toBe(201);
    const shown = tenantView.parse((await service.admin('GET', `/tenants/${tenant}`)).body);
    expect(shown.quota).toEqual({ labels: 3, used: 3, tests: { labels: 5, used: 5 } });
    const usage = await service.admin('GET', `/tenants/${tenant}/usage?days=1`);
    expect(usage.body).toMatchObject({ days: [{ jobs: 1, labels: 3 }] });
  });

  test('many at once, of both kinds: each is accepted as what it is', async () => {
    const who = Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? 'test' : 'live') as 'test' | 'live');
    const ids = await Promise.all(who.map((one) => newJob(one)));
    const sql = 'SELECT test FROM platen.jobs WHERE id = ANY($1) ORDER BY array_position($1, id)';
    const { rows } = await service.pool.query(sql, [ids]);
    expect(rows.map(({ test }) => (test ? 'test' : 'live'))).toEqual(who);
  });
});

test('the mark is of now, not of when the token was made, and nobody can change it by a request', async () => {
  const made = integrationCreated.parse(
    (await service.admin('POST', '/tenants/acme/integrations', { name: 'x', scope: ALL })).body,
  );
  const token = await service.token(made);
  const body = { idT, printerId: PRINTER };
  const send = () => service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body });
  expect((await send()).status).toBe(201);
  // By hand, in the database: what this instance looked up seconds ago says otherwise.
  const mark = 'UPDATE platen.integrations SET test = true WHERE api_key = $1';
  await service.pool.query(mark, [made.apiKey]);
  expect(codeOf(await send())).toBe('token-invalid');
  isRefused(await send());
  for (const method of ['PUT', 'PATCH', 'POST']) {
    const answer = await service.admin(method, `/tenants/acme/integrations/${made.apiKey}`, { test: false });
    expect(answer.status).toBeGreaterThanOrEqual(404);
  }
});
