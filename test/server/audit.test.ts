/** Who did what: everything that is done under `/app` is in the audit, with the deed or not at all. */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { auditPage, CONSOLE_HEADER } from '../../src/contract/people.ts';
import { ADMIN_TOKEN, codeOf, jobIdOf, PRINTER, TEMPLATE } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';

const SECOND = 'serial-00000000aaaa';

const service = useService();
let admin: SignedIn;
beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
  await service.agent([{}]);
  admin = await SignedIn.as(service, 'acme', 'admin');
});

async function entries(query = '') {
  return auditPage.parse((await admin.call(`/app/audit?limit=1000${query}`)).body).entries;
}

test('what machines and people do is named, with what it was done to, and without label data', async () => {
  const template = await service.template('acme');
  const data = [{ sku: 'a secret value', name: 'x' }];
  const body = { idT: template, printerId: PRINTER, data };
  const printed = await service.admin('POST', '/tenants/acme/jobs', body);
  const mine = jobIdOf(await admin.call('/app/tenants/acme/jobs', { body }));
  await service.admin('POST', `/jobs/${mine}/cancel`);
  const made = await admin.call('/app/tenants/acme/integrations', { body: { name: 'ERP' } });
  const { apiKey, apiSecret } = z.object({ apiKey: z.string(), apiSecret: z.string() }).parse(made.body);
  await admin.call(`/app/tenants/acme/integrations/${apiKey}`, { method: 'DELETE' });
  await admin.call(`/app/tenants/acme/templates/${template}/name`, { method: 'PUT', body: { name: 'New' } });
  const found = await entries();
  const machine = { kind: 'machine', id: 'admin-token', name: 'admin token' };
  const person = { kind: 'person', id: admin.id, name: 'admin@example.com' };
  expect(found.slice(0, 7)).toMatchObject([
    { what: 'template.rename', object: template, who: person, tenant: 'acme', from: '127.0.0.1' },
    { what: 'integration.revoke', object: apiKey, who: person },
    { what: 'integration.create', object: apiKey, who: person, details: { name: 'ERP' } },
    { what: 'job.cancel', object: mine, who: machine, tenant: 'acme' },
    { what: 'job.print', object: mine, who: person },
    { what: 'job.print', object: jobIdOf(printed), who: machine, tenant: 'acme' },
    { what: 'template.import', object: template, who: machine },
  ]);
  const text = JSON.stringify(found);
  for (const secret of ['a secret value', apiSecret, ADMIN_TOKEN]) expect(text).not.toContain(secret);
  const { rows } = await service.pool.query('SELECT account FROM platen.jobs WHERE id = $1', [mine]);
  expect(rows).toEqual([{ account: 'admin@example.com' }]);
});

test('reading, and what was refused, is not in it', async () => {
  const before = (await entries()).length;
  await admin.call('/app/jobs');
  await admin.call('/app/tenants/acme/jobs/validate', { body: {} });
  await admin.call('/app/tenants/acme/quota', { method: 'PUT', body: { labels: 1 } });
  await admin.call('/app/tenants/acme/templates/nothing', { method: 'DELETE' });
  await service.admin('PUT', '/tenants/nobody/quota', { labels: 1 });
  await service.admin('PUT', '/tenants/nobody/printer-commands', { allowed: true });
  const { rows } = await service.pool.query(`SELECT FROM platen.audit WHERE tenant_id = 'nobody'`);
  expect(rows).toEqual([]);
  expect(await entries()).toHaveLength(before);
});

test('a wrong password is in it, for the person whose it is not', async () => {
  const guess = (login: string) =>
    service.call('/app/session', {
      body: { tenant: 'acme', login, password: 'a wrong guess' },
      headers: { [CONSOLE_HEADER]: '1' },
    });
  const wrong = async () => (await entries()).filter(({ what }) => what === 'session.wrong-password');
  expect(codeOf(await guess('nobody@example.com'))).toBe('sign-in-refused');
  expect(codeOf(await guess('admin@example.com'))).toBe('sign-in-refused');
  await expect.poll(wrong).toMatchObject([
    {
      who: { kind: 'person', name: 'admin@example.com' },
      object: admin.id,
      from: '127.0.0.1',
      details: {},
    },
  ]);
  const body = { current: 'another guess', password: 'a new password' };
  expect(codeOf(await admin.call('/app/session/password', { method: 'PUT', body }))).toBe('password-wrong');
  expect(await wrong()).toHaveLength(2);
  expect(JSON.stringify(await entries())).not.toContain('guess');
});

test('a tenant sees its own; the machine all, page by page', async () => {
  await service.admin('POST', '/tenants/globex/people', { login: 'bob' });
  await service.admin('PUT', '/tenants/globex/quota', { labels: 7 });
  const all = auditPage.parse((await service.admin('GET', '/audit?limit=1000')).body).entries;
  expect(all[0]).toMatchObject({ tenant: 'globex', what: 'tenant.set-quota', details: { labels: 7 } });
  expect((await entries()).every(({ tenant }) => tenant === 'acme')).toBe(true);
  const paged: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const query: string = next === '' ? '' : `&before=${next}`;
    const page = auditPage.parse((await service.admin('GET', `/audit?limit=2${query}`)).body);
    paged.push(...page.entries.map(({ id }) => id));
    next = page.next;
  }
  expect(paged).toEqual(all.map(({ id }) => id));
});

test('what cannot be written down is not done, where the deed has a transaction, and never said to be done', async () => {
  await service.pool.query('ALTER TABLE platen.audit RENAME TO audit_away');
  const invited = await service.admin('POST', '/tenants/acme/people', { login: 'unwritten' });
  const quota = await service.admin('PUT', '/tenants/acme/quota', { labels: 5 });
  await service.pool.query('ALTER TABLE platen.audit_away RENAME TO audit');
  expect([invited.status, quota.status]).toEqual([500, 500]);
  const people = await service.admin('GET', '/tenants/acme/people');
  expect(people.text).not.toContain('unwritten');
});

test('a failed audit leaves nothing half done: jobs, templates, printers, tenants, integrations', async () => {
  const template = await service.template('acme', { ...TEMPLATE, name: 'Stays' });
  const body = { idT: template, printerId: PRINTER, data: [{ sku: '1', name: 'x' }] };
  const print = async () => jobIdOf(await admin.call('/app/tenants/acme/jobs', { body }));
  const [job, over] = [await print(), await print()];
  await admin.call(`/app/jobs/${over}/cancel`, { body: {} });
  await service.agent([{}, { id: SECOND, name: 'Second' }]);
  const made = await admin.call('/app/tenants/acme/integrations', { body: { name: 'Stays' } });
  const { apiKey } = z.object({ apiKey: z.string() }).parse(made.body);
  const acme = '/app/tenants/acme';
  const deeds: [method: string, path: string, body?: object][] = [
    ['POST', `${acme}/jobs`, body],
    ['POST', `/app/jobs/${job}/cancel`, {}],
    ['POST', `/app/jobs/${job}/move`, { printerId: SECOND }],
    ['POST', `/app/jobs/${over}/reprint`, {}],
    ['POST', '/app/jobs/bulk', { action: 'cancel', ids: [job], dryRun: false }],
    ['POST', `/app/printers/${PRINTER}/hold`, {}],
    ['PUT', `/app/printers/${PRINTER}/name`, { name: 'Half done' }],
    ['PUT', `/app/printers/${PRINTER}/about`, { place: 'Half done', group: '', note: '' }],
    ['POST', `/app/printers/${PRINTER}/clear`, { dryRun: false }],
    ['POST', `/app/printers/${PRINTER}/test`, { tenant: 'acme' }],
    ['POST', `${acme}/templates`, { ...TEMPLATE, name: 'Half done' }],
    ['PUT', `${acme}/templates/${template}/name`, { name: 'Half renamed' }],
    ['DELETE', `${acme}/templates/${template}`],
    ['PUT', `${acme}/quota`, { labels: 5 }],
    ['PUT', `${acme}/printer-commands`, { allowed: true }],
    ['PUT', `${acme}/media-fit`, { must: false }],
    ['POST', '/app/tenants', { id: 'half-done' }],
    ['POST', `${acme}/integrations`, { name: 'Half done' }],
    ['POST', `${acme}/integrations/${apiKey}/secrets`, {}],
    ['DELETE', `${acme}/integrations/${apiKey}`],
  ];
  const all = async () => {
    const tables = ['jobs', 'templates', 'tenants', 'integrations', 'lane_settings', 'job_events', 'usage'];
    const found = tables.map((table) =>
      service.pool.query(`SELECT t::text FROM platen.${table} t ORDER BY 1`),
    );
    return (await Promise.all(found)).map(({ rows }) => rows);
  };
  const before = await all();
  await service.pool.query('ALTER TABLE platen.audit RENAME TO audit_away');
  const answers: [string, number][] = [];
  for (const [method, path, sent] of deeds) {
    const { status } = await service.admin(method, path.slice('/app'.length), sent);
    answers.push([`${method} ${path}`, status]);
  }
  const after = await all();
  await service.pool.query('ALTER TABLE platen.audit_away RENAME TO audit');
  expect(answers).toEqual(deeds.map(([method, path]) => [`${method} ${path}`, 500]));
  expect(after).toEqual(before);
  // And each of them is done where it can be written down: what was refused above was refused for that alone.
  for (const [method, path, sent] of deeds.filter(([, path]) => !/cancel|bulk|reprint/.test(path))) {
    const { status, text } = await service.admin(method, path.slice('/app'.length), sent);
    expect([method, path, status, text]).toEqual([method, path, expect.toBeOneOf([200, 201]), text]);
  }
});

test('of many jobs at once each is in it', async () => {
  await service.admin('PUT', '/tenants/acme/quota', { labels: null });
  await service.admin('POST', `/printers/${PRINTER}/resume`, {});
  const body = { idT: await service.template('acme'), printerId: PRINTER, data: [{ sku: '1', name: 'x' }] };
  const print = async () => jobIdOf(await admin.call('/app/tenants/acme/jobs', { body }));
  const ids = [await print(), await print()];
  const bulk = { action: 'cancel', ids };
  await admin.call('/app/jobs/bulk', { body: { ...bulk, dryRun: true } });
  expect((await entries())[0]).toMatchObject({ what: 'job.print' });
  await admin.call('/app/jobs/bulk', { body: { ...bulk, dryRun: false } });
  const found = (await entries()).slice(0, 2);
  expect(found).toMatchObject(ids.map(() => ({ what: 'jobs.bulk', details: { action: 'cancel' } })));
  expect(new Set(found.map(({ object }) => object))).toEqual(new Set(ids));
});

test('is searched by what it was done to, by who, and by kind, within a tenant', async () => {
  const called = 'Found by 100 %_';
  const mine = await service.template('acme', { ...TEMPLATE, name: called });
  const theirs = await service.template('globex', { ...TEMPLATE, name: called });
  await admin.call(`/app/tenants/acme/templates/${mine}`, { method: 'DELETE' });
  const about = async (query: string) => (await entries(query)).map(({ object }) => object);
  const other = await service.template('acme', { ...TEMPLATE, name: 'Found by 100 xx' });
  // Of a template that is gone, what names it; percent and underscore are what they are.
  expect(await about(`&text=${encodeURIComponent('by 100 %_')}`)).toEqual([mine]);
  expect(await about('&text=by 100 x')).toEqual([other]);
  expect(await about(`&text=${mine}`)).toEqual([mine, mine]);
  expect(await about(`&text=${theirs}`)).toEqual([]);
  expect(await about('&text=by 100&about=printer')).toEqual([]);
  const whole = await entries();
  expect(await about('&about=template')).toEqual(
    whole.filter(({ what }) => what.startsWith('template.')).map(({ object }) => object),
  );
  const hers = await entries('&text=ADMIN@example');
  expect(hers.length).toBeGreaterThan(0);
  for (const entry of hers) expect(JSON.stringify(entry)).toContain('admin@example');
  const [newest] = whole;
  const since = await entries(`&since=${encodeURIComponent(newest?.at ?? '')}`);
  expect([since[0], since.length < whole.length]).toEqual([newest, true]);
  expect(await entries('&since=2999-01-01T00:00:00Z')).toEqual([]);
  expect((await admin.call('/app/audit?about=nothing')).status).toBe(400);
});
