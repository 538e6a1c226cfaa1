/** Printers as IPP offers them: what a client prints there is a job of its key's account, and what of it reaches whom. */
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Authorization } from '../../drivers/ipp/authorization.ts';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import { groupOf, type IppAttribute, numbersOf, stringsOf } from '../../drivers/ipp/message.ts';
import { statusName } from '../../drivers/ipp/names.ts';
import { integrationCreated, type Permission } from '../../src/contract/admin.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { integer, keyword } from '../../src/ipp/values.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { FORMAT_203, FORMAT_300, PRINTER } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService } from '../kit/service/use-service.ts';
import { ippRequest } from '../kit/wire/ipp-request.ts';
import { JobClient } from '../kit/wire/job-client.ts';

const ALL: Permission[] = ['jobs:enqueue', 'jobs:read', 'jobs:cancel', 'printers:read'];
const PDF = 'application/pdf';
const ANY = 'application/octet-stream';
const LABEL = pdfOf([{ width: 280, height: 420, content: '20 20 30 100 re f' }]);
const LIMIT = 64 * 1024;
const never = new AbortController().signal;
const small = { ...FORMAT_203, id: 'zpl-203-50x25', name: '50×25', width: 50, height: 25 };

const service = useService({ redis: false, config: { ipp: true, limits: { bodyBytes: LIMIT } } });
const keys: Record<'acme' | 'globex' | 'test', string> = { acme: '', globex: '', test: '' };
/** The addresses of acme's printer: by its UUID, and by its number. */
const at = { uuid: '', number: '' };

async function keyOf(tenant: string, options: { scope?: Permission[]; test?: boolean } = {}) {
  const body = { name: 'Office', scope: ALL, ...options };
  const made = (await service.admin('POST', `/tenants/${tenant}/integrations`, body)).body;
  return integrationCreated.parse(made).printNodeKey ?? '';
}

/** A client who sends a key as the password. */
function clientOf(key: string, { uri = at.number, user = 'maria' } = {}): JobClient {
  const authorization = new Authorization({ user: 'somebody', password: key, inClear: true }, () => true);
  const client = new JobClient(uri, { user, authorization });
  onTestFinished(() => client.close());
  return client;
}
const basic = (user: string, password = '') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const refused = (name: string, message = '') => ({
  name: 'IppStatusError',
  statusName: name,
  message: expect.stringContaining(message),
});
const httpOf = (uri: string) => uri.replace(/^ipp:/, 'http:');
/** As a client without credentials sends it, or with some that it makes up. */
async function post(
  uri: string,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
) {
  return await fetch(httpOf(uri), {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/ipp', ...headers },
    ...(body instanceof ReadableStream && { duplex: 'half' as const }),
    signal: AbortSignal.timeout(30_000),
  });
}
const statusOf = async (answer: Promise<Response>) =>
  statusName(decodeIpp(Buffer.from(await (await answer).arrayBuffer())).code);
const bytes = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const print = (client: JobClient, attributes: IppAttribute[] = [], document = LABEL) =>
  client.printJob({ name: 'Order 4711', format: PDF, attributes }, document, never);
async function jobOf(number: number): Promise<string> {
  const sql = `SELECT job_id::text AS id FROM platen.ipp_jobs WHERE tenant_id = 'acme' AND number = $1`;
  return z.object({ id: z.string() }).parse((await service.pool.query(sql, [number])).rows[0]).id;
}
async function addressesOf(key: string): Promise<string[][]> {
  const answer = await service.call('/ipp/print', { headers: basic('maria', key) });
  expect(answer.status).toBe(200);
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
}
async function offer(id: string, action = 'offer', scope = 'shared'): Promise<string> {
  const answer = await service.admin('POST', `/printers/${id}/${action}?scope=${scope}`, {});
  return printerDetails.parse(answer.body).ipp ?? '';
}

beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
  keys.acme = await keyOf('acme');
  keys.globex = await keyOf('globex');
  keys.test = await keyOf('acme', { test: true });
});
beforeEach(async () => {
  await service.agent([{ formats: [FORMAT_203, FORMAT_300, small] }]);
  await offer(PRINTER);
  const [, uuid = '', number = ''] = (await addressesOf(keys.acme)).find(([name]) => name === 'Zebra') ?? [];
  Object.assign(at, { uuid, number });
});

describe('the key', () => {
  test('is asked for, as the password, as the user name, or in its two parts', async () => {
    const asked = bytes(encodeIpp(ippRequest('Get-Printer-Attributes', at.number)));
    const without = await post(at.number, asked);
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="platen"']);
    const [apiKey = '', apiSecret = ''] = keys.acme.split('.');
    for (const [user, password] of [
      ['maria', keys.acme],
      [keys.acme, ''],
      [apiKey, apiSecret],
    ] as const) {
      expect((await post(at.number, asked, basic(user, password))).status).toBe(200);
    }
    for (const [user, password] of [
      ['maria', `${apiKey}.sk_wrong`],
      [apiKey, 'wrong'],
      ['', ''],
    ] as const) {
      expect((await post(at.number, asked, basic(user, password))).status).toBe(401);
    }
    expect(service.log).not.toContain(apiSecret);
  });

  test('is not needed to see what a printer can do, where somebody knows its UUID', async () => {
    const asked = bytes(encodeIpp(ippRequest('Get-Printer-Attributes', at.uuid)));
    const seen = await post(at.uuid, asked);
    const printer = groupOf(decodeIpp(Buffer.from(await seen.arrayBuffer())), 'printer')?.attributes ?? [];
    expect(stringsOf(printer, 'media-supported')).toEqual(['na_index-4x6_4x6in', 'custom_50x25mm_50x25mm']);
    expect(stringsOf(printer, 'uri-authentication-supported')).toEqual(['basic']);
    for (const operation of ['Print-Job', 'Validate-Job', 'Create-Job', 'Get-Jobs', 'Cancel-Job'] as const) {
      expect((await post(at.uuid, bytes(encodeIpp(ippRequest(operation, at.uuid))))).status).toBe(401);
    }
    // Longer than what is read of a stranger.
    expect((await post(at.uuid, bytes(asked, Buffer.alloc(LIMIT)))).status).toBe(401);
    const other = at.uuid.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect((await post(other, asked)).status).toBe(401);
  });

  test('may do what its integration may', async () => {
    const client = clientOf(await keyOf('acme', { scope: ['printers:read'] }));
    await expect(print(client)).rejects.toMatchObject(
      refused('client-error-forbidden', 'the key lacks the permission jobs:enqueue'),
    );
    await expect(client.getJobs(never, ['job-id'])).rejects.toMatchObject(refused('client-error-forbidden'));
  });

  test('of another tenant finds neither printer nor job', async () => {
    const { jobId } = await print(clientOf(keys.acme));
    await service.agent([{ id: 'serial-ffffffff', name: 'Acme’s own' }], {
      ...{ agentId: 'agent-acme', tenantId: 'acme' },
    });
    await offer('serial-ffffffff', 'offer', 'acme');
    const own = (await addressesOf(keys.acme)).find(([name]) => name === 'Acme’s own');
    expect((await addressesOf(keys.globex)).map(([name]) => name)).toEqual(['Zebra']);
    // A number is the tenant's own: that of another's printer is none, or another printer.
    const byId = at.number.replace(/[^/]+$/, 'serial-ffffffff');
    for (const uri of [own?.[1] ?? '', byId, at.number.replace(/[^/]+$/, '999')]) {
      const asked = bytes(encodeIpp(ippRequest('Get-Printer-Attributes', uri)));
      expect(await statusOf(post(uri, asked, basic('maria', keys.globex)))).toBe('client-error-not-found');
      const client = clientOf(keys.globex, { uri });
      await expect(print(client)).rejects.toMatchObject(refused('client-error-not-found'));
    }
    const [[, theirs = ''] = []] = await addressesOf(keys.globex);
    // Of a shared printer the address is the same, and the jobs are the key's.
    expect(theirs).toBe(at.uuid);
    const client = clientOf(keys.globex, { uri: theirs });
    expect(await client.getJobs(never, ['job-id'])).toEqual([]);
    await expect(client.getJob(jobId, never)).rejects.toMatchObject(refused('client-error-not-found'));
    await expect(client.cancelJob(jobId, never)).rejects.toMatchObject(refused('client-error-not-found'));
  });

  test('for tests is for virtual printers', async () => {
    const client = clientOf(keys.test, { uri: at.number });
    await expect(print(client)).rejects.toMatchObject(refused('client-error-not-found'));
  });
});

describe('a job', () => {
  test('is a job here, of the key’s account and in the name that the client has said', async () => {
    const { jobId, state } = await print(clientOf(keys.acme));
    expect(state).toBe('pending');
    const id = await jobOf(jobId);
    expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({
      ...{ status: 'queued', account: keys.acme.split('.')[0], sender: 'maria', copies: 1 },
      ...{ printer: { id: PRINTER }, template: { name: 'IPP document' }, format: FORMAT_203.name },
    });
    const told = await clientOf(keys.acme).getJobAttributes(jobId, never);
    expect(stringsOf(told, 'job-name')).toEqual(['Order 4711']);
    expect(stringsOf(told, 'job-originating-user-name')).toEqual(['maria']);
    expect(stringsOf(told, 'job-uri')).toEqual([`${at.number}/${jobId}`]);
  });

  test('goes through the states that it has here', async () => {
    const client = clientOf(keys.acme);
    const { jobId } = await print(client);
    const id = await jobOf(jobId);
    let seq = 0;
    const reported = async (changes: object) => {
      seq += 1;
      await service.report(jobReport(id, { seq, ...changes }));
      const { state, reasons } = await client.getJob(jobId, never);
      return [state, ...reasons];
    };
    expect(await reported({ status: 'printing' })).toEqual(['processing', 'job-printing']);
    expect(await reported({ status: 'printing', reasons: ['media-empty'] })).toEqual([
      ...['processing-stopped', 'printer-stopped'],
    ]);
    const error = { code: 'outcome-unknown', message: 'the printer was switched off' };
    expect(
      await reported({
        status: 'held',
        error,
        labels: { sent: 1, printed: 0 },
        uncertain: { from: 0, to: 1 },
      }),
    ).toEqual(['pending-held', 'job-hold-until-specified']);
    expect(stringsOf(await client.getJobAttributes(jobId, never), 'job-state-message')).toEqual([
      error.message,
    ]);
    expect(await reported({ status: 'printed', labels: { sent: 1, printed: 1 } })).toEqual([
      ...['completed', 'job-completed-successfully'],
    ]);
    expect(numbersOf(await client.getJobAttributes(jobId, never), 'job-impressions-completed')).toEqual([1]);
  });

  test('is canceled, and not twice', async () => {
    const client = clientOf(keys.acme);
    const { jobId } = await print(client);
    await client.cancelJob(jobId, never);
    expect((await client.getJob(jobId, never)).state).toBe('canceled');
    await expect(client.cancelJob(jobId, never)).rejects.toMatchObject(refused('client-error-not-possible'));
    expect((await service.admin('GET', `/jobs/${await jobOf(jobId)}`)).body).toMatchObject({
      status: 'canceled',
    });
  });

  test('takes media, copies, orientation and scaling', async () => {
    const attributes: IppAttribute[] = [
      integer('copies', 3),
      keyword('media', 'custom_50x25mm_50x25mm'),
      { name: 'orientation-requested', values: [{ tag: 'enum', value: 5 }] },
      keyword('print-scaling', 'auto-fit'),
      { name: 'page-ranges', values: [{ tag: 'rangeOfInteger', min: 1, max: 1 }] },
    ];
    const { jobId } = await print(clientOf(keys.acme), attributes);
    const id = await jobOf(jobId);
    const { rows } = await service.pool.query(
      `SELECT j.copies, j.format, t.template->'page' AS page FROM platen.jobs j
       JOIN platen.job_templates t ON t.tenant_id = j.tenant_id AND t.hash = j.template_hash WHERE j.id = $1`,
      [id],
    );
    expect(rows).toMatchObject([
      { copies: 3, format: '50×25', page: { turn: 90, fit: 'shrink', pages: '1-1' } },
    ]);
    const told = await clientOf(keys.acme).getJobAttributes(jobId, never, ['job-template']);
    expect(Object.fromEntries(told.map(({ name, values: [value] }) => [name, value]))).toMatchObject({
      copies: { value: 3 },
      media: { value: 'custom_50x25mm_50x25mm' },
      'orientation-requested': { value: 5 },
      'print-scaling': { value: 'auto-fit' },
    });
  });

  test('comes in two requests, and its document makes one job however often it is sent', async () => {
    const client = clientOf(keys.acme);
    const jobId = await client.createJob({ name: 'two steps' }, never);
    expect(await client.getJob(jobId, never)).toMatchObject({
      ...{ state: 'pending', reasons: ['job-data-insufficient'] },
    });
    await client.sendDocument(jobId, ANY, LABEL, never);
    const id = await jobOf(jobId);
    await expect(client.sendDocument(jobId, ANY, LABEL, never)).rejects.toMatchObject(
      refused('server-error-multiple-document-jobs-not-supported'),
    );
    expect(await jobOf(jobId)).toBe(id);
    const forgotten = await client.createJob({ name: 'no document' }, never);
    await client.cancelJob(forgotten, never);
    expect((await client.getJob(forgotten, never)).state).toBe('canceled');
    await expect(client.sendDocument(forgotten, ANY, LABEL, never)).rejects.toMatchObject(
      refused('client-error-not-possible'),
    );
  });

  test('two requests with its document at a time make one job', async () => {
    const client = clientOf(keys.acme);
    const jobId = await client.createJob({ name: 'twice' }, never);
    const before = await service.pool.query('SELECT FROM platen.jobs');
    const sent = [client, clientOf(keys.acme)].map((each) => each.sendDocument(jobId, ANY, LABEL, never));
    const outcomes = (await Promise.allSettled(sent)).map(({ status }) => status);
    expect(outcomes).toContain('fulfilled');
    const after = await service.pool.query('SELECT FROM platen.jobs');
    expect(Number(after.rowCount) - Number(before.rowCount)).toBe(1);
  });

  test('is listed with those of its printer', async () => {
    const client = clientOf(keys.acme, { user: 'lists' });
    const over = (await print(client)).jobId;
    await client.cancelJob(over, never);
    const { jobId } = await print(client);
    const mine: IppAttribute = { name: 'my-jobs', values: [{ tag: 'boolean', value: true }] };
    const listed = async (which: string) =>
      (await client.request('Get-Jobs', [keyword('which-jobs', which), mine], never)).groups
        .filter(({ tag }) => tag === 'job')
        .flatMap(({ attributes }) => numbersOf(attributes, 'job-id'));
    expect(await listed('not-completed')).toEqual([jobId]);
    expect(await listed('completed')).toEqual([over]);
    expect(await listed('all')).toEqual([over, jobId]);
  });

  test('loses its names with its data', async () => {
    const { jobId } = await print(clientOf(keys.acme));
    await service.pool.query('UPDATE platen.jobs SET payload = NULL WHERE id = $1', [await jobOf(jobId)]);
    const told = await clientOf(keys.acme).getJobAttributes(jobId, never);
    expect(stringsOf(told, 'job-originating-user-name')).toEqual(['anonymous']);
  });
});

describe('a document', () => {
  test('is unpacked', async () => {
    const gzip = keyword('compression', 'gzip');
    const answer = await clientOf(keys.acme).request('Print-Job', [gzip], never, [], gzipSync(LABEL));
    expect(statusName(answer.code)).toBe('successful-ok');
  });

  test.each([
    ['what is none', ANY, Buffer.from('hello'), 'client-error-document-unprintable-error'],
    ['another than it says', PDF, Buffer.from('^XA^XZ'), 'client-error-document-format-error'],
    ['of another format', 'image/urf', Buffer.from('UNIRAST'), 'client-error-document-format-not-supported'],
    ['nothing', PDF, Buffer.alloc(0), 'client-error-bad-request'],
    ['too long', ANY, Buffer.alloc(LIMIT), 'client-error-request-entity-too-large'],
  ])('%s is refused with its reason', async (_, format, document, status) => {
    await expect(clientOf(keys.acme).printJob({ format }, document, never)).rejects.toMatchObject(
      refused(status),
    );
  });

  test('without a length that is too long is refused, and so is one that unpacks to too much', async () => {
    const head = encodeIpp(ippRequest('Print-Job', at.number));
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(head)),
      pull: (controller) => controller.enqueue(new Uint8Array(16_384)),
    });
    const answer = post(at.number, endless, basic('maria', keys.acme));
    expect(await statusOf(answer)).toBe('client-error-request-entity-too-large');
    const gzip = keyword('compression', 'gzip');
    const bomb = gzipSync(Buffer.alloc(4 * LIMIT));
    await expect(clientOf(keys.acme).request('Print-Job', [gzip], never, [], bomb)).rejects.toMatchObject(
      refused('client-error-request-entity-too-large'),
    );
  });
});

test('the quota is told of before the document, and with it', async () => {
  await service.tenant('few', 0);
  const key = await keyOf('few');
  const [[, uri = ''] = []] = await addressesOf(key);
  const client = clientOf(key, { uri });
  await expect(client.request('Validate-Job', [], never)).rejects.toMatchObject(
    refused('client-error-account-limit-reached'),
  );
  await expect(print(client)).rejects.toMatchObject(refused('client-error-account-limit-reached'));
});

test('what is no IPP is refused', async () => {
  const garbage = post(at.number, new Uint8Array([1, 2, 3]), basic('maria', keys.acme));
  expect(await statusOf(garbage)).toBe('client-error-bad-request');
  const json = await post(at.number, new Uint8Array([1]), {
    ...basic('maria', keys.acme),
    'content-type': 'text/plain',
  });
  expect(json.status).toBe(400);
  const long: IppAttribute = { name: 'job-name', values: [{ tag: 'name', value: 'x'.repeat(30_000) }] };
  const endless = encodeIpp(ippRequest('Validate-Job', at.number, long, long, long));
  // Without the tag that ends them.
  const sent = post(at.number, bytes(endless.subarray(0, -1)), basic('maria', keys.acme));
  expect((await sent).status).toBe(400);
  const wrong = ippRequest('Get-Printer-Attributes', at.number.replace(/\d+$/, '999'));
  const answer = post(at.number, bytes(encodeIpp(wrong)), basic('maria', keys.acme));
  expect(await statusOf(answer)).toBe('client-error-not-found');
});
