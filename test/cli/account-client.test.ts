/** What a watched folder asks with an integration's account, of a real service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { accountIn } from '../../src/cli/watch/account-client.ts';
import { USUAL_SCOPE } from '../../src/contract/admin.ts';
import { PRINTER } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService({ redis: false });
const tenant = useTenant(service);
const directory = mkdtempSync(join(tmpdir(), 'platen-account-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(content: unknown): string {
  const path = join(directory, 'account.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test('it lists what it may print with, makes a job once, and sees it', async () => {
  const account = file(await service.integration(tenant.id, [...USUAL_SCOPE]));
  const client = await accountIn(account, AbortSignal.timeout(60_000))();
  expect(await client.templates(tenant.id)).toMatchObject([
    { id: tenant.idT, name: 'Shelf label', language: 'platen', fields: ['sku', 'name'] },
  ]);
  expect(await client.printers(tenant.id)).toMatchObject([{ id: PRINTER }]);
  const request = { idT: tenant.idT, printerId: PRINTER, data: [{ sku: '1' }] };
  const first = await client.enqueue(tenant.id, request, 'key');
  expect(first).toMatchObject({
    again: false,
    warnings: ['fields missing in the records: 1 [field-missing]'],
  });
  expect(await client.enqueue(tenant.id, request, 'key')).toMatchObject({ id: first.id, again: true });
  expect(await client.job(first.id)).toMatchObject({ id: first.id, tenant: tenant.id });
});

test('lists are read to their end', async () => {
  const ids = [tenant.idT];
  for (let count = 0; count < 100; count++)
    ids.push(await service.template(tenant.id, { name: `T ${count}`, language: 'zpl', source: '^XA^XZ' }));
  const client = await accountIn(
    file(await service.integration(tenant.id, [...USUAL_SCOPE])),
    AbortSignal.timeout(60_000),
  )();
  const listed = await client.templates(tenant.id);
  expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
});

test('a file without an account, and an account that is refused, are said; a new secret counts', async () => {
  const account = await service.integration(tenant.id, [...USUAL_SCOPE]);
  const connect = accountIn(file({ apiKey: 'x' }), AbortSignal.timeout(60_000));
  await expect(connect()).rejects.toThrow('holds no account');
  file({ ...account, apiSecret: 'wrong-secret' });
  const refused = connect();
  await expect(refused).rejects.toMatchObject({ status: 401, code: 'account-refused' });
  await expect(refused).rejects.not.toThrow('wrong-secret');
  file(account);
  expect(await (await connect()).templates(tenant.id)).not.toEqual([]);
});

test('a token that is not taken any more is not used again', async () => {
  const account = await service.integration(tenant.id, [...USUAL_SCOPE]);
  const connect = accountIn(file(account), AbortSignal.timeout(60_000));
  const client = await connect();
  expect(await connect()).toBe(client);
  await service.admin('DELETE', `/tenants/${tenant.id}/integrations/${account.apiKey}`);
  await expect(client.templates(tenant.id)).rejects.toMatchObject({ status: 401 });
  await expect(connect()).rejects.toMatchObject({ code: 'account-refused' });
});
