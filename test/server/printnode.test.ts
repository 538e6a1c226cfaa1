/** PrintNode's interface: what its clients ask, answered in its forms, and what of it reaches whom. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { integrationCreated, integrationRotated, type Permission } from '../../src/contract/admin.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { type Answer, type CallOptions, FORMAT_300, newKey, PRINTER } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService } from '../kit/service/use-service.ts';
import { selfSigned } from '../kit/wire/certificate.ts';

const ALL: Permission[] = ['jobs:enqueue', 'jobs:read', 'jobs:cancel', 'printers:read'];
const PDF = pdfOf([{ width: 200, height: 300, content: '20 20 30 100 re f' }]).toString('base64');
const service = useService({
  redis: false,
  config: {
    ...{ printNode: true, webhookAllow: ['127.0.0.0/8'], sweepInterval: 100 },
    limits: { bodyBytes: 64 * 1024 },
  },
});
const keys: Record<'acme' | 'globex' | 'test', string> = { acme: '', globex: '', test: '' };
let printer = 0;

async function account(tenant: string, options: { scope?: Permission[]; test?: boolean } = {}) {
  const body = { name: 'PrintNode', scope: ALL, ...options };
  return integrationCreated.parse(
    (await service.admin('POST', `/tenants/${tenant}/integrations`, body)).body,
  );
}

type Asked = CallOptions & { by?: string };
/** Their clients leave the password empty. */
function ask(path: string, { by = keys.acme, headers, ...options }: Asked = {}): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${by}:`).toString('base64')}`;
  return service.call(`/printnode${path}`, { ...options, headers: { authorization, ...headers } });
}
function print(body: object = {}, options: Asked = {}): Promise<Answer> {
  const whole = { printerId: printer, contentType: 'pdf_base64', content: PDF, title: 'Order 4711', ...body };
  return ask('/printjobs', { body: whole, ...options });
}
const ids = z.array(z.object({ id: z.int() }));
const idsAt = async (path: string, by?: string) =>
  ids.parse((await ask(path, by === undefined ? {} : { by })).body).map(({ id }) => id);
const printed = async (body: object = {}) => z.int().parse((await print(body)).body);
async function jobOf(number: number): Promise<string> {
  const sql = `SELECT job_id::text AS id FROM platen.printnode_jobs WHERE tenant_id = 'acme' AND number = $1`;
  return z.object({ id: z.string() }).parse((await service.pool.query(sql, [number])).rows[0]).id;
}
const shownJob = async (number: number): Promise<unknown> =>
  (await service.admin('GET', `/jobs/${await jobOf(number)}`)).body;
const errorOf = (answer: Answer) => {
  const { uid, ...said } = z
    .object({ uid: z.string(), code: z.string(), message: z.string() })
    .parse(answer.body);
  expect(uid).toBe(answer.headers.get('x-request-id'));
  return { status: answer.status, ...said };
};

beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
  for (const tenant of ['acme', 'globex'] as const) keys[tenant] = (await account(tenant)).printNodeKey ?? '';
  keys.test = (await account('acme', { test: true })).printNodeKey ?? '';
});
beforeEach(async () => {
  await service.agent([{}]);
  [printer = 0] = await idsAt('/printers');
});

describe('the key', () => {
  test('is the account’s key and secret in one, and stands in no log', async () => {
    const made = await account('acme');
    expect(made.printNodeKey).toBe(`${made.apiKey}.${made.apiSecret}`);
    const rotated = integrationRotated.parse(
      (await service.admin('POST', `/tenants/acme/integrations/${made.apiKey}/secrets`, {})).body,
    );
    for (const by of [made.printNodeKey, rotated.printNodeKey])
      expect((await ask('/noop', { by: by ?? '' })).body).toBe('OK');
    await service.admin('DELETE', `/tenants/acme/integrations/${made.apiKey}`);
    expect((await ask('/noop', { by: made.printNodeKey ?? '' })).status).toBe(401);
    expect(service.log).not.toContain(made.apiSecret);
  });

  test.each(['', 'pk_x', 'a.b', 'ü.ü'])('%j is refused in PrintNode’s body, for any address', async (by) => {
    for (const path of ['/whoami', '/printjobs', '/nothing-here']) {
      expect(errorOf(await ask(path, { by }))).toEqual({
        ...{ status: 401, code: 'Unauthorized', message: 'API Key not found' },
      });
    }
    expect((await service.call('/printnode/ping')).body).toBe('OK');
  });

  test('that is wrong too often is told to wait, and the right one is not', async () => {
    const { apiKey, printNodeKey = '' } = await account('globex');
    const tries = [];
    for (let n = 0; n < 11; n++) tries.push((await ask('/noop', { by: `${apiKey}.sk_wrong` })).status);
    expect(tries).toEqual([...Array(10).fill(401), 429]);
    expect((await ask('/noop', { by: printNodeKey })).status).toBe(200);
  });

  test('may do what its integration may', async () => {
    const { printNodeKey: by = '' } = await account('acme', { scope: ['printers:read'] });
    expect((await ask('/printers', { by })).status).toBe(200);
    for (const answer of [
      await ask('/printjobs', { by }),
      await print({}, { by }),
      await ask('/printjobs/1', { by, method: 'DELETE' }),
    ])
      expect(errorOf(answer)).toMatchObject({ status: 403, code: 'Forbidden' });
  });
});

test('who am I, on which computers are which printers', async () => {
  expect((await ask('/whoami')).body).toMatchObject({ firstname: 'acme', state: 'active', numComputers: 1 });
  const [computer] = await idsAt('/computers');
  const shown = {
    ...{ id: printer, name: 'Zebra', default: false, state: 'online' },
    computer: { id: computer, name: 'Shared', state: 'connected', inet: null },
    capabilities: { dpis: ['203x203', '300x300'], papers: { '4×6 300 dpi': [1016, 1524] } },
  };
  for (const path of [
    '/printers',
    `/printers/${printer}`,
    `/computers/${computer}/printers`,
    `/computers/${computer}/printers/1-${printer}`,
  ])
    expect((await ask(path)).body).toMatchObject([shown]);
  expect(await idsAt(`/printers/${printer + 1}`)).toEqual([]);
  expect(await idsAt('/computers/9999/printers')).toEqual([]);
  expect(errorOf(await ask('/printers/one'))).toMatchObject({ status: 400, code: 'BadRequest' });
  // The printer is the same for good, and another tenant counts by itself.
  expect(await idsAt('/printers')).toEqual([printer]);
  await service.admin('POST', `/printers/${PRINTER}/hide`);
  expect(await idsAt('/printers')).toEqual([]);
  await service.admin('POST', `/printers/${PRINTER}/show`);
});

test('agents that tenants share are one computer without their name, and a tenant’s own are named', async () => {
  const second = 'serial-0000shared2';
  const own = { agentId: 'agent-acme', name: 'Agent of acme', tenantId: 'acme' };
  await service.agent([{ id: second, name: 'Second' }], { agentId: 'agent-two', name: 'Agent two' });
  await service.agent([{ id: 'serial-00000own1', name: 'Own' }], own);
  const named = z.array(z.object({ name: z.string() }));
  const at = async (path: string, by: string) => {
    const answer = await ask(path, { by });
    expect(JSON.stringify(answer.body)).not.toMatch(/Agent (?:one|two)|agent-/);
    return named.parse(answer.body).map(({ name }) => name);
  };
  expect((await at('/computers', keys.acme)).toSorted()).toEqual(['Agent of acme', 'Shared']);
  expect(await at('/computers', keys.globex)).toEqual(['Shared']);
  expect((await at('/printers', keys.globex)).toSorted()).toEqual(['Second', 'Zebra']);
  await service.agent([], { agentId: 'agent-two', name: 'Agent two' });
  await service.agent([], own);
});

describe('a print job', () => {
  test('is a job, listed and told of until it is done', async () => {
    const answer = await print({
      source: 'Shop',
      qty: 2,
      options: { copies: 3, bin: 'Tray 1', duplex: 'x' },
    });
    expect([answer.status, answer.headers.get('platen-ignored')]).toEqual([201, 'bin, duplex']);
    const number = z.int().parse(answer.body);
    expect(await shownJob(number)).toMatchObject({
      ...{ status: 'queued', copies: 6, records: 1, template: { name: 'PrintNode document' } },
    });
    const shown = {
      ...{ id: number, printer: { id: printer, name: 'Zebra' }, title: 'Order 4711', source: 'Shop' },
      ...{ contentType: 'pdf_base64', state: 'new' },
    };
    for (const path of [
      `/printjobs/${number}`,
      `/printers/${printer}/printjobs`,
      `/printers/${printer}/printjobs/${number}`,
    ])
      expect((await ask(path)).body).toMatchObject([shown]);
    const id = await jobOf(number);
    await service.report(jobReport(id, { labels: { sent: 1, printed: 0 } }));
    expect((await ask(`/printjobs/${number}`)).body).toMatchObject([{ state: 'in_progress' }]);
    await service.report(jobReport(id, { seq: 1, status: 'printed', labels: { sent: 6, printed: 6 } }));
    expect((await ask(`/printjobs/${number}/states`)).body).toMatchObject([
      ['new', 'in_progress', 'done'].map((state) => ({ printJobId: number, state })),
    ]);
    expect((await ask('/printjobs/states?limit=1')).body).toMatchObject([[{ printJobId: number }, {}, {}]]);
    const picture = await service.picture(`/jobs/${id}/labels/0.png`);
    expect(picture.length).toBeGreaterThan(100);
  });

  test('that nobody knows the end of waits to be confirmed, and is no error', async () => {
    const number = await printed();
    const fault = { code: 'outcome-unknown', message: 'Somebody has to look' };
    const report = { seq: 1, status: 'held', fault, labels: { sent: 1, printed: 0 } };
    await service.report(jobReport(await jobOf(number), { ...report, uncertain: { from: 0, to: 1 } }));
    expect((await ask(`/printjobs/${number}`)).body).toMatchObject([{ state: 'pending_confirmation' }]);
  });

  test('of raw ZPL has a label for each of its formats', async () => {
    const content = Buffer.from('^XA^FO20,20^GB50,50,50^FS^XZ'.repeat(2)).toString('base64');
    const number = await printed({ contentType: 'raw_base64', content });
    expect(await shownJob(number)).toMatchObject({ status: 'queued', labels: { total: 2 } });
  });

  test('goes to the paper that is asked for, turned and chosen by page', async () => {
    const options = { paper: FORMAT_300.name, rotate: 90, fit_to_page: true, pages: '1' };
    expect(await shownJob(await printed({ options }))).toMatchObject({ format: FORMAT_300.name });
    const { rows } = await service.pool.query(
      `SELECT t.template -> 'page' AS page FROM platen.jobs j JOIN platen.job_templates t ON t.hash = j.template_hash
       ORDER BY j.seq DESC LIMIT 1`,
    );
    expect(rows).toMatchObject([{ page: { turn: 90, fit: 'shrink', pages: '1' } }]);
  });

  test('is made once for each X-Idempotency-Key', async () => {
    const headers = { 'x-idempotency-key': newKey() };
    const number = z.int().parse((await print({}, { headers })).body);
    for (const body of [{}, { options: { rotate: 180 } }])
      expect(errorOf(await print(body, { headers }))).toMatchObject({ status: 409, code: 'Conflict' });
    expect(errorOf(await print({}, { headers })).message).toContain(`print job ${number}`);
    expect((await print({}, { headers, by: keys.globex })).status).not.toBe(409);
  });

  test.each<[string, object, RegExp]>([
    ['no printer', { printerId: 123_456 }, /printerId .*123456/],
    ['a printer by name', { printerId: 'Zebra' }, /^\/printerId: /],
    ['raw bytes that are no ZPL', { contentType: 'raw_base64' }, /content .*ZPL/],
    ['another type', { contentType: 'pdf_raw' }, /^\/contentType: /],
    ['no PDF', { content: Buffer.from('^XA^XZ').toString('base64') }, /content .*PDF/],
    ['no base64', { content: `${PDF.slice(0, -4)}#page=1` }, /content .*PDF/],
    ['half a PDF', { content: PDF.slice(0, 400) }, /record 1: /],
    ['no copies', { options: { copies: 0 } }, /^\/options\/copies: /],
    ['a paper that is not there', { options: { paper: 'A4' } }, /4×6/],
    ['an angle', { options: { rotate: 45 } }, /^\/options\/rotate: /],
  ])('of %s is refused', async (_, body, message) => {
    const error = errorOf(await print(body));
    expect(error).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(error.message).toMatch(message);
  });

  test('larger than the limit, or as a form, is refused', async () => {
    expect(errorOf(await print({ content: PDF.repeat(200) }))).toMatchObject({
      ...{ status: 413, code: 'PayloadTooLarge' },
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(errorOf(await ask('/printjobs', { raw: 'printerId=1', headers }))).toMatchObject({ status: 400 });
  });

  test('is canceled while it waits', async () => {
    const number = await printed();
    expect((await ask(`/printjobs/${number}`, { method: 'DELETE', by: keys.globex })).body).toEqual([]);
    expect((await ask(`/printjobs/${number}`, { method: 'DELETE' })).body).toEqual([number]);
    expect((await ask(`/printjobs/${number}`)).body).toMatchObject([{ state: 'deleted' }]);
    expect((await ask(`/printjobs/${number}`, { method: 'DELETE' })).body).toEqual([]);
  });

  test('expires where nothing of it was sent by its time', async () => {
    const [late, begun] = [await printed({ expireAfter: 3_600 }), await printed({ expireAfter: 3_600 })];
    await service.report(jobReport(await jobOf(begun), { labels: { sent: 1, printed: 0 } }));
    const sql = `UPDATE platen.printnode_jobs SET expires_at = now() WHERE tenant_id = 'acme' AND number = ANY($1)`;
    await service.pool.query(sql, [[late, begun]]);
    const settled = `SELECT count(*)::int AS left FROM platen.printnode_jobs WHERE settled IS NULL AND number = ANY($1)`;
    await expect
      .poll(async () => (await service.pool.query(settled, [[late, begun]])).rows[0].left, {
        timeout: 60_000,
      })
      .toBe(0);
    expect((await ask(`/printjobs/${late},${begun}?dir=asc`)).body).toMatchObject([
      { state: 'expired' },
      { state: 'in_progress' },
    ]);
  });

  test('leaves no title where its data is gone', async () => {
    const number = await printed({ title: 'A name of somebody' });
    await service.pool.query('UPDATE platen.jobs SET payload = NULL, template_hash = NULL WHERE id = $1', [
      await jobOf(number),
    ]);
    expect((await ask(`/printjobs/${number}`)).body).toMatchObject([{ title: null, source: null }]);
    expect(service.log).not.toContain('A name of somebody');
  });
});

test('jobs page by page, in both directions, and none of another tenant’s or of a test key’s', async () => {
  const made = [await printed(), await printed(), await printed()];
  const [first = 0, second = 0, third = 0] = made;
  expect(await idsAt('/printjobs?limit=2')).toEqual([third, second]);
  expect(await idsAt(`/printjobs?limit=2&after=${second}`)).toContain(first);
  expect(await idsAt(`/printjobs?dir=asc&after=${first}`)).toEqual([second, third]);
  expect(await idsAt(`/printjobs/${first},${third}-`)).toEqual([third, first]);
  expect(errorOf(await ask('/printjobs?limit=0')).message).toContain('limit');
  for (const by of [keys.globex, keys.test]) {
    expect(await idsAt(`/printjobs/${made.join(',')}`, by)).toEqual([]);
    expect((await ask(`/printjobs/${made.join(',')}/states`, { by })).body).toEqual([]);
  }
  // A test key has no printer but virtual ones.
  expect(await idsAt('/printers', keys.test)).toEqual([]);
  expect(errorOf(await print({}, { by: keys.test }))).toMatchObject({ status: 400 });
});

describe('a document at an address', () => {
  const before = getCACertificates('default');
  let base = '';
  let authorization: string | undefined;
  const own = selfSigned();
  const server = createServer(own, (request, response) => {
    authorization = request.headers.authorization;
    const path = request.url ?? '';
    if (path === '/large') response.writeHead(200).end(Buffer.alloc(100_000, 32));
    else if (path === '/moved') response.writeHead(302, { location: `${base}/label.pdf` }).end();
    else if (path === '/label.pdf') response.writeHead(200).end(Buffer.from(PDF, 'base64'));
    else response.writeHead(404).end();
  });
  beforeAll(async () => {
    setDefaultCACertificates([...before, own.cert]);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    setDefaultCACertificates(before);
    server.closeAllConnections();
    server.close();
  });

  test('is read, with the credentials that are said', async () => {
    const credentials = { user: 'shop', pass: 'a secret' };
    const authentication = { type: 'BasicAuth', credentials };
    const answer = await print({ contentType: 'pdf_uri', content: `${base}/label.pdf`, authentication });
    expect([answer.status, answer.text]).toEqual([201, expect.stringMatching(/^\d+$/)]);
    expect(authorization).toBe(`Basic ${Buffer.from('shop:a secret').toString('base64')}`);
    expect(service.log).not.toContain('a secret');
  });

  test.each([
    ['/gone.pdf', 'it answered 404'],
    ['/moved', 'it answered 302'],
    ['/large', 'it has more than 49152 bytes'],
    ['https://10.0.0.1/label.pdf', 'the address is not a public one'],
    ['https://[::ffff:10.0.0.1]/', 'the address is not a public one'],
    ['http://example.com/label.pdf', 'an https URL'],
    ['https://user@example.com/', 'without a user name'],
  ])('%s is not', async (address, message) => {
    const content = address.startsWith('/') ? base + address : address;
    const error = errorOf(await print({ contentType: 'pdf_uri', content }));
    expect(error).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(error.message).toContain(message);
  });
});
