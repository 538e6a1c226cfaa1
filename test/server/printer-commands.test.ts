/** Raw templates of a tenant set no printer up, unless an administrator allows it. */
import { beforeAll, expect, test } from 'vitest';
import { codeOf, jobIdOf, PRINTER, pointersOf } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService();
beforeAll(async () => {
  await service.tenant('acme');
  await service.tenant('initech');
  await service.agent([{}]);
});

const PAUSES = { name: 'Pauses', language: 'zpl', source: '^XA^FO1,1^FDa^FS\n^PP^XZ', width: 50, height: 25 };

test('refused at import by name, allowed by an administrator for one tenant, and carried by its jobs', async () => {
  const refused = await service.admin('POST', '/tenants/acme/templates', PAUSES);
  expect([refused.status, codeOf(refused), pointersOf(refused)]).toEqual([
    400,
    'payload-invalid',
    ['/source'],
  ]);
  expect(refused.text).toMatch(
    /line 2: \^PP is for all that use the printer: it pauses the printer\. Leave it out/,
  );

  const allowed = await service.admin('PUT', '/tenants/acme/printer-commands', { allowed: true });
  expect(allowed.body).toMatchObject({ id: 'acme', printerCommands: true });
  const idT = await service.template('acme', PAUSES);
  expect((await service.admin('POST', '/tenants/initech/templates', PAUSES)).status).toBe(400);

  const body = { idT, printerId: PRINTER };
  const job = jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body));
  const { rows } = await service.pool.query('SELECT payload FROM platen.jobs WHERE id = $1', [job]);
  expect(rows).toMatchObject([{ payload: { printerCommands: true } }]);

  await service.admin('PUT', '/tenants/acme/printer-commands', { allowed: false });
  const later = await service.admin('POST', '/tenants/acme/jobs', body);
  expect([later.status, later.text]).toEqual([
    400,
    expect.stringMatching(/\^PP is for all that use the printer/),
  ]);
});

test('the setting wants a tenant, and yes or no', async () => {
  expect(codeOf(await service.admin('PUT', '/tenants/nobody/printer-commands', { allowed: true }))).toBe(
    'tenant-not-found',
  );
  const answer = await service.admin('PUT', '/tenants/acme/printer-commands', { allowed: 'yes' });
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/allowed']]);
});

test('a job of a template that sets nothing up carries no such thing', async () => {
  await service.admin('PUT', '/tenants/initech/printer-commands', { allowed: true });
  const idT = await service.template('initech', { name: 'Designed', width: 50, height: 25, elements: [] });
  const job = jobIdOf(await service.admin('POST', '/tenants/initech/jobs', { idT, printerId: PRINTER }));
  const { rows } = await service.pool.query('SELECT payload FROM platen.jobs WHERE id = $1', [job]);
  expect(Object.keys(rows[0].payload)).not.toContain('printerCommands');
});
