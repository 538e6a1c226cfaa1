/** Which printers IPP offers, and who says so. */
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Authorization } from '../../drivers/ipp/authorization.ts';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { groupOf, numbersOf } from '../../drivers/ipp/message.ts';
import { statusName } from '../../drivers/ipp/names.ts';
import { integrationCreated, type Permission } from '../../src/contract/admin.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { codeOf, PRINTER } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';
import { JobClient } from '../kit/wire/job-client.ts';

const SCOPE: Permission[] = ['jobs:enqueue', 'jobs:read', 'jobs:cancel', 'printers:read'];
const OWN = 'serial-bbbbbbbbbbbb';
const LABEL = pdfOf([{ width: 280, height: 420, content: '20 20 30 100 re f' }]);
const never = new AbortController().signal;
const notThere = { name: 'IppStatusError', statusName: 'client-error-not-found' };

const service = useService({ redis: false, config: { ipp: true } });
const keys = { acme: '', globex: '' };

beforeAll(async () => {
  for (const tenant of ['acme', 'globex'] as const) {
    await service.tenant(tenant);
    const body = { name: 'Office', scope: SCOPE };
    const made = (await service.admin('POST', `/tenants/${tenant}/integrations`, body)).body;
    keys[tenant] = integrationCreated.parse(made).printNodeKey ?? '';
  }
});
beforeEach(async () => {
  await service.agent([{}]);
  await service.agent([{ id: OWN, name: 'Own' }], { agentId: 'agent-acme', tenantId: 'acme' });
  for (const [id, scope] of [
    [PRINTER, 'shared'],
    [OWN, 'acme'],
  ] as const)
    await act('withdraw', id, scope);
});

const act = (action: string, id: string = PRINTER, scope = 'shared') =>
  service.admin('POST', `/printers/${id}/${action}?scope=${scope}`, {});
const seen = async (id: string = PRINTER, scope = 'shared') =>
  printerDetails.parse((await service.admin('GET', `/printers/${id}?scope=${scope}`)).body);
async function offered(id: string = PRINTER, scope = 'shared'): Promise<string> {
  return printerDetails.parse((await act('offer', id, scope)).body).ipp ?? '';
}
function clientOf(key: string, uri: string): JobClient {
  const authorization = new Authorization({ user: 'maria', password: key, inClear: true }, () => true);
  const client = new JobClient(uri, { user: 'maria', authorization });
  onTestFinished(() => client.close());
  return client;
}
const print = (key: string, uri: string) =>
  clientOf(key, uri).printJob({ format: 'application/pdf' }, LABEL, never);
const listed = async (key: string) => {
  const authorization = `Basic ${Buffer.from(`maria:${key}`).toString('base64')}`;
  return (await service.call('/ipp/print', { headers: { authorization } })).text;
};
/** As one asks who has no key. */
async function looked(uri: string): Promise<Response> {
  return await fetch(uri.replace(/^ipp:/, 'http:'), {
    method: 'POST',
    body: new Uint8Array(encodeIpp(ippRequest('Get-Printer-Attributes', uri))),
    headers: { 'content-type': 'application/ipp' },
  });
}

describe('a printer', () => {
  test('is not offered until somebody says so, at no address that it has', async () => {
    expect((await seen()).ipp).toBe(null);
    expect(await listed(keys.acme)).toBe('');
    for (const name of [PRINTER, 'Zebra', '1', '2'])
      await expect(
        print(keys.acme, `${service.url.replace('http', 'ipp')}/ipp/print/${name}`),
      ).rejects.toMatchObject(notThere);
    const uri = await offered();
    expect(uri).toMatch(/^ipp:\/\/127\.0\.0\.1:\d+\/ipp\/print\/[0-9a-f-]{36}$/);
    expect((await seen()).ipp).toBe(uri);
    expect((await listed(keys.acme)).split('\t').slice(0, 2)).toEqual(['Zebra', uri]);
    expect((await looked(uri)).status).toBe(200);
    expect((await print(keys.acme, uri)).state).toBe('pending');
  });

  test('that is offered no more is there for nobody, and prints what came before; again it has its address', async () => {
    const uri = await offered();
    const { jobId } = await print(keys.acme, uri);
    expect(printerDetails.parse((await act('withdraw')).body).ipp).toBe(null);
    expect((await looked(uri)).status).toBe(401);
    await expect(print(keys.acme, uri)).rejects.toMatchObject(notThere);
    await expect(clientOf(keys.acme, uri).getJob(jobId, never)).rejects.toMatchObject(notThere);
    const { rows } = await service.pool.query(
      'SELECT j.status FROM platen.jobs j JOIN platen.ipp_jobs i ON i.job_id = j.id WHERE i.tenant_id = $1 AND i.number = $2',
      ['acme', jobId],
    );
    expect(rows).toEqual([{ status: 'queued' }]);
    expect(await offered()).toBe(uri);
    expect((await clientOf(keys.acme, uri).getJob(jobId, never)).state).toBe('pending');
  });

  test('that is shared takes jobs of each tenant’s key, which pays, and says to no stranger how many', async () => {
    const uri = await offered();
    const [mine, theirs] = [await print(keys.acme, uri), await print(keys.globex, uri)];
    for (const [tenant, { jobId }] of [
      ['acme', mine],
      ['globex', theirs],
    ] as const) {
      const { rows } = await service.pool.query(
        'SELECT j.tenant_id FROM platen.jobs j JOIN platen.ipp_jobs i ON i.job_id = j.id WHERE i.tenant_id = $1 AND i.number = $2',
        [tenant, jobId],
      );
      expect(rows).toEqual([{ tenant_id: tenant }]);
    }
    const answer = decodeIpp(Buffer.from(await (await looked(uri)).arrayBuffer()));
    expect(numbersOf(groupOf(answer, 'printer')?.attributes ?? [], 'queued-job-count')).toEqual([0]);
  });

  test('of a tenant’s own in the place of a shared one is not printed on at the other’s address', async () => {
    const uri = await offered();
    await service.agent([{ id: PRINTER, name: 'Ours' }], { agentId: 'agent-acme', tenantId: 'acme' });
    await expect(print(keys.acme, uri)).rejects.toMatchObject(notThere);
    expect((await print(keys.globex, uri)).state).toBe('pending');
    const own = await offered(PRINTER, 'acme');
    expect(own).not.toBe(uri);
    expect((await print(keys.acme, own)).state).toBe('pending');
    await expect(print(keys.globex, own)).rejects.toMatchObject(notThere);
  });

  test('whose agent calls it what would be another line has one line', async () => {
    await service.agent([{ name: 'Dock\tipp://elsewhere:631/print\t\nHall\r\u0085\u2028' }]);
    const uri = await offered();
    const lines = (await listed(keys.acme)).split(/[\n\r\u0085\u2028]/);
    expect(lines).toEqual([expect.stringContaining('Dock'), '']);
    expect(lines[0]?.split('\t')[1]).toBe(uri);
  });

  test('that people have hidden is not listed, and prints what comes to its address', async () => {
    const uri = await offered();
    await act('hide');
    onTestFinished(async () => void (await act('show')));
    expect(await listed(keys.acme)).toBe('');
    expect((await print(keys.acme, uri)).state).toBe('pending');
  });

  test('that was forgotten is not offered when it comes again, and has another address', async () => {
    const id = 'serial-999999999999';
    await service.agent([{}, { id, name: 'Old' }]);
    const uri = await offered(id);
    await service.agent([{}]);
    const gone = decodeIpp(Buffer.from(await (await looked(uri)).arrayBuffer()));
    expect(statusName(gone.code)).toBe('client-error-not-found');
    expect((await service.admin('DELETE', `/printers/${id}`)).status).toBe(204);
    expect((await looked(uri)).status).toBe(401);
    await service.agent([{}, { id, name: 'Old' }]);
    expect((await seen(id)).ipp).toBe(null);
    expect(await offered(id)).not.toBe(uri);
  });
});

test('who may act on a tenant’s printers offers its own, and no shared one; the audit says who', async () => {
  const admin = await SignedIn.as(service, 'acme', 'admin');
  const refused = await admin.call(`/app/printers/${PRINTER}/offer?scope=shared`, { body: {} });
  expect([refused.status, codeOf(refused)]).toEqual([403, 'permission-missing']);
  const offers = await admin.call(`/app/printers/${OWN}/offer`, { body: {} });
  expect(printerDetails.parse(offers.body).ipp).toMatch(/^ipp:/);
  // A viewer reads the address, and changes nothing.
  const viewer = await SignedIn.as(service, 'acme', 'viewer');
  expect(printerDetails.parse((await viewer.call(`/app/printers/${OWN}`)).body).ipp).toMatch(/^ipp:/);
  expect(codeOf(await viewer.call(`/app/printers/${OWN}/withdraw`, { body: {} }))).toBe('permission-missing');
  expect(codeOf(await act('offer', OWN, 'globex'))).toBe('printer-not-found');
  const { rows } = await service.pool.query(
    'SELECT what, who_name, tenant_id FROM platen.audit WHERE object = $1 ORDER BY id DESC LIMIT 1',
    [OWN],
  );
  expect(rows).toEqual([{ what: 'printer.offer', who_name: 'admin@example.com', tenant_id: 'acme' }]);
});

describe('a service that offers none', () => {
  const closed = useService({ redis: false });

  test('says so, and shows no address', async () => {
    await closed.agent([{}]);
    const answer = await closed.admin('POST', `/printers/${PRINTER}/offer`, {});
    expect([answer.status, codeOf(answer)]).toEqual([409, 'ipp-off']);
    const shown = (await closed.admin('GET', `/printers/${PRINTER}`)).body;
    expect(printerDetails.parse(shown)).not.toHaveProperty('ipp');
  });
});
