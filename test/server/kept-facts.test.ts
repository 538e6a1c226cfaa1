/**
 * No job is accepted or refused by what an instance keeps of accounts, templates and printers once another
 * instance has changed it; and jobs that are posted together are accepted or refused each for itself.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { queuedJob } from '../../src/contract/queued-job.ts';
import { WHOLE_PAYLOAD } from '../../src/server/templates/job-templates.ts';
import { type OpenBackend, onServer } from '../kit/servers/backends.ts';
import {
  type Answer,
  codeOf,
  FORMAT_203,
  FORMAT_300,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  ServiceHarness,
  TEMPLATE,
} from '../kit/service/harness.ts';
import { takeKey } from '../kit/service/taken-key.ts';

const TENANT = 'acme';
let backend: OpenBackend;
/** Jobs go to this one; what they refer to is changed through the other one, or its agents. */
let service: ServiceHarness;
let other: ServiceHarness;
let token = '';
let idT = '';

beforeAll(async () => {
  backend = await onServer().open({ migrated: true });
  const config = { publicUrl: 'http://platen.test' };
  service = await ServiceHarness.start({ backend, config, database: { lock_timeout: 300 } });
  other = await ServiceHarness.start({ backend, config });
  await other.tenant(TENANT);
  token = await other.token(await other.integration(TENANT));
  idT = await other.template(TENANT);
  await other.agent([{}]);
});
afterAll(async () => {
  await service.stop();
  await other.stop();
  await backend.close();
});

function post(body: Record<string, unknown> = {}, key = newKey(), by = token): Promise<Answer> {
  const payload = { idT, printerId: PRINTER, data: [{ sku: 'a', name: 'b' }], ...body };
  return service.call('/v2/jobs', { token: by, tenant: TENANT, key, body: payload });
}

async function stored(answer: Answer) {
  const sql = `SELECT ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1`;
  const { rows } = await service.pool.query(sql, [jobIdOf(answer)]);
  return z.tuple([z.object({ payload: queuedJob })]).parse(rows)[0].payload;
}

test('an account that was revoked elsewhere is refused with its very next request, whatever else is wrong with it', async () => {
  const account = await other.integration(TENANT);
  const own = await service.token(account);
  expect((await post({}, newKey(), own)).status).toBe(201);
  await other.admin('DELETE', `/tenants/${TENANT}/integrations/${account.apiKey}`);
  const before = await service.pool.query('SELECT count(*) FROM platen.jobs');
  expect(codeOf(await post({}, newKey(), own))).toBe('token-invalid');
  expect(codeOf(await post({ idT: 'gone' }, newKey(), own))).toBe('token-invalid');
  expect((await service.pool.query('SELECT count(*) FROM platen.jobs')).rows).toEqual(before.rows);
});

test('a template that was imported again elsewhere prints as it is now', async () => {
  const named = { ...TEMPLATE, name: 'Changing' };
  const changing = await other.template(TENANT, named);
  expect((await stored(await post({ idT: changing }))).template).toMatchObject({ width: 101.6 });
  await other.template(TENANT, { ...named, width: 99 });
  expect((await stored(await post({ idT: changing }))).template).toMatchObject({ width: 99 });
  await other.admin('DELETE', `/tenants/${TENANT}/templates/${changing}`);
  expect(codeOf(await post({ idT: changing }))).toBe('template-not-found');
});

test('what an administrator allows or forbids a tenant counts for its next job', async () => {
  const raw = await other.template(TENANT, {
    name: 'Raw',
    language: 'zpl',
    source: '^XA^FO10,10^A0N,30^FD{{sku}}^FS^XZ',
  });
  for (const allowed of [undefined, true, undefined]) {
    await other.admin('PUT', `/tenants/${TENANT}/printer-commands`, { allowed: allowed ?? false });
    expect((await stored(await post({ idT: raw }))).printerCommands).toBe(allowed);
  }
});

test('a tenant that wants no label on other media is refused it, from its next job on, also elsewhere', async () => {
  const must = (is: boolean) => other.admin('PUT', `/tenants/${TENANT}/media-fit`, { must: is });
  const turned = { orientation: 'landscape' };
  const small = {
    id: 'serial-dddddddddddd',
    name: 'Small',
    formats: [{ ...FORMAT_203, width: 50, height: 25 }],
  };
  await other.agent([{}, small]);
  const first = await post(turned);
  expect([first.status, first.headers.get('platen-warnings')]).toEqual([201, 'size-mismatch=1']);
  expect((await must(true)).body).toMatchObject({ mediaMustFit: true });
  const refused = await post(turned);
  expect([refused.status, codeOf(refused), pointersOf(refused)]).toEqual([
    400,
    'media-mismatch',
    ['/format'],
  ]);
  expect((await post()).status).toBe(201);
  const [id] = z.array(z.string()).parse((await post()).body);
  for (const action of ['move', 'reprint']) {
    await service.pool.query('UPDATE platen.jobs SET status = $2 WHERE id = $1', [
      id,
      action === 'move' ? 'failed' : 'printed',
    ]);
    const answer = await other.admin('POST', `/jobs/${id}/${action}`, { printerId: small.id });
    expect([action, answer.status, codeOf(answer)]).toEqual([action, 400, 'media-mismatch']);
  }
  await must(false);
  expect((await post(turned)).status).toBe(201);
});

test('a printer that people have set otherwise meanwhile prints as it is set now', async () => {
  const set = async (settings: object) =>
    expect((await other.admin('PUT', `/printers/${PRINTER}/settings`, settings)).status).toBe(200);
  const printed = async () => (await stored(await post())).format;
  expect(await printed()).not.toHaveProperty('darkness');
  await set({ darkness: 12 });
  expect(await printed()).toMatchObject({ id: FORMAT_203.id, darkness: 12 });
  await set({ darkness: 13, labelTop: -8 });
  expect(await printed()).toMatchObject({ darkness: 13, labelTop: -8 });
  await set({});
  expect(await printed()).toEqual(FORMAT_203);
});

test('a printer of which its agent says something else is what it is now', async () => {
  const id = 'serial-cccccccccccc';
  const say = (printer: object) => other.agent([{}, { id, name: 'Moving', ...printer }]);
  await say({ formats: [FORMAT_203] });
  expect((await stored(await post({ printerId: id }))).format.dpi).toBe(203);
  await say({ formats: [FORMAT_300] });
  expect((await stored(await post({ printerId: id }))).format.dpi).toBe(300);
  expect((await stored(await post({ printerId: undefined, printer: 'Moving' }))).printerId).toBe(id);
  // Something that is not there was not kept: it may be there now.
  expect(codeOf(await post({ printerId: id, format: FORMAT_203.id }))).toBe('format-unknown');
  await say({ formats: [FORMAT_300, FORMAT_203] });
  expect((await stored(await post({ printerId: id, format: FORMAT_203.id }))).format.dpi).toBe(203);

  await other.agent([{ id: 'serial-dddddddddddd', name: 'Moving' }], { agentId: 'agent-two' });
  expect(codeOf(await post({ printerId: undefined, printer: 'Moving' }))).toBe('printer-ambiguous');
  await other.agent([{}]);
  expect(codeOf(await post({ printerId: id }))).toBe('printer-unassigned');
});

test("a tenant's own printer takes the jobs from the moment that its agent tells of it", async () => {
  const id = 'serial-eeeeeeeeeeee';
  await other.agent([{}, { id, name: 'Shared' }]);
  expect((await stored(await post({ printerId: id }))).scope).toBe(null);
  await other.agent([{ id, name: 'Own' }], { agentId: 'agent-own', tenantId: TENANT });
  expect((await stored(await post({ printerId: id }))).scope).toBe(TENANT);
});

test('one request that waits too long for another does not fail those beside it', async () => {
  const key = newKey();
  const taken = await takeKey(other.pool, TENANT, key);
  const [held, ...beside] = await Promise.all([post({}, key), ...Array.from({ length: 20 }, () => post())]);
  await taken.release();
  expect([held.status, codeOf(held)]).toEqual([500, 'enqueue-failed']);
  expect(beside.map(({ status }) => status)).toEqual(Array(20).fill(201));
  expect((await post({}, key)).status).toBe(201);
});

test('of jobs that come together those that fit into the quota are accepted, also smaller ones after one that does not', async () => {
  await other.tenant('tight', 10);
  const own = {
    token: await service.token(await other.integration('tight')),
    tenant: 'tight',
    idT: await other.template('tight'),
  };
  const answers = await Promise.all(
    [3, 8, 4, 9, 3].map((numberCopies) =>
      service.call('/v2/jobs', {
        ...own,
        key: newKey(),
        body: { idT: own.idT, printerId: PRINTER, numberCopies },
      }),
    ),
  );
  const codes = answers.map((answer) => codeOf(answer) ?? answer.status);
  expect(codes.every((code) => code === 201 || code === 'quota-exceeded')).toBe(true);
  const { rows } = await service.pool.query(
    `SELECT sum(copies)::int AS labels, count(*)::int AS jobs, (SELECT count(*)::int FROM platen.idempotency_keys
       WHERE tenant_id = 'tight') AS keys, (SELECT sum(labels)::int FROM platen.usage WHERE tenant_id = 'tight') AS used
     FROM platen.jobs WHERE tenant_id = 'tight'`,
  );
  const [{ labels, jobs, keys, used }] = z
    .tuple([z.object({ labels: z.int(), jobs: z.int(), keys: z.int(), used: z.int() })])
    .parse(rows);
  expect(jobs).toBe(codes.filter((code) => code === 201).length);
  expect([used, keys]).toEqual([labels, jobs]);
  expect(labels).toBeLessThanOrEqual(10);
  // Whatever the order, no refused job would still fit.
  const refused = [3, 8, 4, 9, 3].filter((_, index) => codes[index] === 'quota-exceeded');
  expect(Math.min(...refused)).toBeGreaterThan(10 - labels);
});
