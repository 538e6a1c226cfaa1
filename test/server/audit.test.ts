/** Who did what: everything that is done under `/app` is in the audit, with the deed or not at all. */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { auditPage } from '../../src/contract/people.ts';
import { ADMIN_TOKEN, jobIdOf, PRINTER } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';

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
  expect(await entries()).toHaveLength(before);
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
