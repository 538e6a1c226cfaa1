/**
 * One case for each row and rule of the interface document (`shared/interface.md`), with the status and the
 * problem code. `rule` says which.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IntegrationCreated } from '../../src/contract/admin.ts';
import {
  type Answer,
  type CallOptions,
  codeOf,
  FORMAT_203,
  FORMAT_PDF,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  ServiceHarness,
} from './harness.ts';

const ZPL_TEMPLATE = { name: 'Raw', language: 'zpl', source: '^XA^FO10,10^A0N,30^FD{{sku}}^FS^XZ' };
const NO_FIELDS = {
  name: 'Fragile',
  width: 101.6,
  height: 152.4,
  elements: [{ type: 'text', x: 4, y: 4, text: 'FRAGILE', size: 6 }],
};
const GLOBEX_PRINTER = 'serial-aaaaaaaaaaaa';
const TWIN_1 = 'serial-111111111111';
const TWIN_2 = 'serial-222222222222';
const LEFT = 'serial-999999999999';
const PDF_ONLY = 'serial-555555555555';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let service: ServiceHarness;
let account: IntegrationCreated;
let reader: IntegrationCreated;
const tokens = { good: '', reader: '', other: '', broke: '' };
const ids = { template: '', other: '', raw: '', plain: '', broke: '' };

beforeAll(async () => {
  service = await ServiceHarness.start({
    config: { limits: { bodyBytes: 64 * 1024, records: 50, labels: 1_000 } },
  });
  await service.tenant('acme');
  await service.tenant('globex');
  await service.tenant('broke', 3);
  account = await service.integration('acme');
  reader = await service.integration('acme', ['jobs:read']);
  tokens.good = await service.token(account);
  tokens.reader = await service.token(reader);
  tokens.other = await service.token(await service.integration('globex'));
  tokens.broke = await service.token(await service.integration('broke'));
  ids.template = await service.template('acme');
  ids.raw = await service.template('acme', ZPL_TEMPLATE);
  ids.plain = await service.template('acme', NO_FIELDS);
  ids.other = await service.template('globex');
  ids.broke = await service.template('broke');
  await service.agent([
    {},
    { id: TWIN_1, name: 'Twin' },
    { id: TWIN_2, name: 'Twin' },
    { id: LEFT, name: 'Left behind' },
    { id: PDF_ONLY, name: 'Office', formats: [FORMAT_PDF] },
  ]);
  await service.agent([
    {},
    { id: TWIN_1, name: 'Twin' },
    { id: TWIN_2, name: 'Twin' },
    { id: PDF_ONLY, name: 'Office', formats: [FORMAT_PDF] },
  ]);
  await service.agent([{ id: GLOBEX_PRINTER, name: 'Globex only' }], {
    agentId: 'agent-globex',
    tenantId: 'globex',
  });
});
afterAll(async () => {
  await service.stop();
});

/** A good request; a case changes what it is about. */
function payload(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { idT: ids.template, printerId: PRINTER, data: [{ sku: 'A-1', name: 'Bolt' }], ...changes };
}

function enqueue(options: CallOptions = {}): Promise<Answer> {
  return service.call('/v2/jobs', {
    token: tokens.good,
    tenant: 'acme',
    key: newKey(),
    body: payload(),
    ...options,
  });
}

function validate(options: CallOptions = {}): Promise<Answer> {
  return service.call('/v2/jobs/validate', {
    token: tokens.good,
    tenant: 'acme',
    body: payload(),
    ...options,
  });
}

async function jobCount(): Promise<number> {
  const { rows } = await service.pool.query<{ count: number }>('SELECT count(*)::int FROM platen.jobs');
  return rows[0]?.count ?? -1;
}

type Case = {
  rule: string;
  /** Made when it runs: IDs are known only then. */
  request: () => CallOptions;
  status: number;
  code?: string;
  /** JSON pointers that the answer must name. */
  at?: string[];
};

const CALLER_CASES: Case[] = [
  {
    rule: 'Authentication 4: a missing token is 401',
    request: () => ({ token: undefined }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'Authentication 4: an invalid token is 401',
    request: () => ({ token: 'not.a.token' }),
    status: 401,
    code: 'token-invalid',
  },
  {
    rule: 'Authentication 4: another scheme than Bearer is 401',
    request: () => ({ token: undefined, headers: { authorization: 'Basic cGtfeDpza195' } }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'the token comes before the tenant',
    request: () => ({ token: undefined, tenant: undefined }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'the token comes before anything about the body',
    request: () => ({ token: undefined, raw: '{' }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'Errors 400: tenant context missing',
    request: () => ({ tenant: undefined }),
    status: 400,
    code: 'tenant-missing',
  },
  {
    rule: 'Errors 400: tenant context malformed',
    request: () => ({ tenant: 'No Such_Tenant!' }),
    status: 400,
    code: 'tenant-invalid',
  },
  {
    rule: 'Errors 403: a tenant that the account does not belong to',
    request: () => ({ tenant: 'globex' }),
    status: 403,
    code: 'tenant-forbidden',
  },
  {
    rule: 'Errors 403: a tenant that does not exist tells nothing more',
    request: () => ({ tenant: 'nobody' }),
    status: 403,
    code: 'tenant-forbidden',
  },
  {
    rule: 'Authentication 3: without jobs:enqueue it is 403',
    request: () => ({ token: tokens.reader }),
    status: 403,
    code: 'permission-missing',
  },
  {
    rule: 'the tenant comes before the payload',
    request: () => ({ tenant: undefined, raw: '{' }),
    status: 400,
    code: 'tenant-missing',
  },
  {
    rule: 'the permission comes before the payload',
    request: () => ({ token: tokens.reader, raw: '{' }),
    status: 403,
    code: 'permission-missing',
  },
];

const PAYLOAD_CASES: Case[] = [
  {
    rule: 'Common headers: Content-Type is application/json',
    request: () => ({ raw: '{}', headers: { 'content-type': 'text/plain' } }),
    status: 400,
    code: 'content-type-unsupported',
  },
  {
    rule: 'a body is needed',
    request: () => ({ method: 'POST', body: undefined }),
    status: 400,
    code: 'body-missing',
  },
  { rule: 'an empty body is none', request: () => ({ raw: ' ' }), status: 400, code: 'body-missing' },
  { rule: 'Errors 400: not JSON', request: () => ({ raw: '{"idT":' }), status: 400, code: 'json-invalid' },
  {
    rule: 'Errors 400: not UTF-8',
    request: () => ({ raw: new Uint8Array(Buffer.from('{"idT":"\xfc"}', 'latin1')) }),
    status: 400,
    code: 'json-invalid',
  },
  {
    rule: 'the payload is an object',
    request: () => ({ body: [] }),
    status: 400,
    code: 'payload-invalid',
    at: [''],
  },
  {
    rule: 'Limits 3: a body over the limit',
    request: () => ({ body: payload({ data: [{ sku: 'x'.repeat(70_000) }] }) }),
    status: 413,
    code: 'body-too-large',
  },
  {
    rule: 'idT is required',
    request: () => ({ body: payload({ idT: undefined }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/idT'],
  },
  {
    rule: 'idT is a string',
    request: () => ({ body: payload({ idT: 5 }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/idT'],
  },
  {
    rule: 'printerId or printer is required',
    request: () => ({ body: payload({ printerId: undefined }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/printerId'],
  },
  {
    rule: 'orientation is portrait or landscape',
    request: () => ({ body: payload({ orientation: 'upside-down' }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/orientation'],
  },
  ...[0, -1, 1.5, '2', null].map((numberCopies) => ({
    rule: `Limits 2: copies are positive whole numbers, not ${JSON.stringify(numberCopies)}`,
    request: () => ({ body: payload({ numberCopies }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/numberCopies'],
  })),
  {
    rule: 'an unknown field is named, so that a misspelt one is noticed',
    request: () => ({ body: payload({ numberCopy: 3, printr: 'x' }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/numberCopy', '/printr'],
  },
  {
    rule: 'data is an array',
    request: () => ({ body: payload({ data: {} }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'data has a record',
    request: () => ({ body: payload({ data: [] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'a record is an object',
    request: () => ({ body: payload({ data: [{ sku: 'a' }, 'b'] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/1'],
  },
  {
    rule: 'values are not nested',
    request: () => ({ body: payload({ data: [{ sku: { a: 1 } }, { 'a/b~c': [1] }] }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0/sku', '/data/1/a~1b~0c'],
  },
  {
    rule: 'a number that would lose digits is refused, not printed wrong',
    request: () => ({ raw: JSON.stringify(payload()).replace('"A-1"', '340123450000000018123') }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data/0/sku'],
  },
  ...['__proto__', '_\\u005fproto__', '__\\u0070roto__'].map((key) => ({
    rule: `a field named ${key} is refused, not left out in silence`,
    request: () => ({ raw: JSON.stringify(payload()).replace('"sku"', `"${key}"`) }),
    status: 400,
    code: 'json-invalid',
  })),
  {
    rule: 'Limits 3: records in data',
    request: () => ({ body: payload({ data: Array.from({ length: 51 }, () => ({ sku: 'a' })) }) }),
    status: 400,
    code: 'payload-invalid',
    at: ['/data'],
  },
  {
    rule: 'Limits 3: labels of a job',
    request: () => ({ body: payload({ numberCopies: 501, data: [{}, {}] }) }),
    status: 400,
    code: 'labels-limit',
    at: ['/numberCopies'],
  },
  {
    rule: 'Errors 404: no such template',
    request: () => ({ body: payload({ idT: 'no-such-template' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'Errors 404: a template ID with characters that no ID has',
    request: () => ({ body: payload({ idT: 'a\0b' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: "Errors 404: another tenant's template",
    request: () => ({ body: payload({ idT: ids.other }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'the payload comes before the template',
    request: () => ({ body: payload({ idT: 'no-such-template', numberCopies: 0 }) }),
    status: 400,
    code: 'payload-invalid',
  },
  {
    rule: 'the template comes before the printer',
    request: () => ({ body: payload({ idT: 'no-such-template', printerId: 'nowhere' }) }),
    status: 404,
    code: 'template-not-found',
  },
  {
    rule: 'routing: an unknown printer ID',
    request: () => ({ body: payload({ printerId: 'serial-000000000000' }) }),
    status: 400,
    code: 'printer-unknown',
    at: ['/printerId'],
  },
  {
    rule: 'routing: an unknown printer name',
    request: () => ({ body: payload({ printerId: undefined, printer: 'Nowhere' }) }),
    status: 400,
    code: 'printer-unknown',
    at: ['/printer'],
  },
  {
    rule: 'routing: a name is matched exactly, not in part',
    request: () => ({ body: payload({ printerId: undefined, printer: 'Zebr' }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'routing: a name is matched exactly, capitals too',
    request: () => ({ body: payload({ printerId: undefined, printer: 'zebra' }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'routing: a name with a NUL is unknown, not an error of the database',
    request: () => ({ body: payload({ printerId: 'a\0b', printer: 'a\0b' }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'routing: a name that several printers have',
    request: () => ({ body: payload({ printerId: undefined, printer: 'Twin' }) }),
    status: 400,
    code: 'printer-ambiguous',
    at: ['/printer'],
  },
  {
    rule: 'agent assignment: a printer that no agent has any more',
    request: () => ({ body: payload({ printerId: LEFT }) }),
    status: 400,
    code: 'printer-unassigned',
    at: ['/printerId'],
  },
  {
    rule: "routing: another tenant's printer is unknown",
    request: () => ({ body: payload({ printerId: GLOBEX_PRINTER }) }),
    status: 400,
    code: 'printer-unknown',
  },
  {
    rule: 'format: neither a name nor an ID of the printer',
    request: () => ({ body: payload({ format: 'A4' }) }),
    status: 400,
    code: 'format-unknown',
    at: ['/format'],
  },
  {
    rule: 'format: a ZPL template in a PDF format',
    request: () => ({ body: payload({ idT: ids.raw, format: FORMAT_PDF.id }) }),
    status: 400,
    code: 'format-incompatible',
    at: ['/format'],
  },
  {
    rule: 'format: a ZPL template on a printer without ZPL',
    request: () => ({ body: payload({ idT: ids.raw, printerId: PDF_ONLY }) }),
    status: 400,
    code: 'format-incompatible',
  },
  {
    rule: 'Errors 403: the quota, which comes last',
    request: () => ({
      token: tokens.broke,
      tenant: 'broke',
      body: payload({ idT: ids.broke, numberCopies: 4 }),
    }),
    status: 403,
    code: 'quota-exceeded',
  },
  {
    rule: 'the printer comes before the quota',
    request: () => ({
      token: tokens.broke,
      tenant: 'broke',
      body: payload({ idT: ids.broke, numberCopies: 4, printerId: 'nowhere' }),
    }),
    status: 400,
    code: 'printer-unknown',
  },
];

const KEY_CASES: Case[] = [
  {
    rule: 'Idempotency-Key is required',
    request: () => ({ key: undefined }),
    status: 400,
    code: 'idempotency-key-missing',
  },
  {
    rule: 'Idempotency-Key has no blanks',
    request: () => ({ key: 'two words' }),
    status: 400,
    code: 'idempotency-key-invalid',
  },
  {
    rule: 'Idempotency-Key has at most 255 characters',
    request: () => ({ key: 'k'.repeat(256) }),
    status: 400,
    code: 'idempotency-key-invalid',
  },
  {
    rule: 'the permission comes before the Idempotency-Key',
    request: () => ({ token: tokens.reader, key: undefined }),
    status: 403,
    code: 'permission-missing',
  },
];

function expectProblem(answer: Answer, expected: Case): void {
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({
    status: expected.status,
    code: expected.code,
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  if (expected.at !== undefined) expect(pointersOf(answer)).toEqual(expected.at);
  if (expected.status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
}

describe('what POST /v2/jobs refuses', () => {
  test.each([...CALLER_CASES, ...KEY_CASES, ...PAYLOAD_CASES])('$rule → $status $code', async (each) => {
    const before = await jobCount();
    expectProblem(await enqueue(each.request()), each);
    expect(await jobCount()).toBe(before);
  });
});

describe('what POST /v2/jobs/validate refuses, the same', () => {
  test.each([...CALLER_CASES, ...PAYLOAD_CASES])('$rule → $status $code', async (each) => {
    expectProblem(await validate(each.request()), each);
  });
});

describe('what POST /v2/jobs takes', () => {
  const taken: {
    rule: string;
    body: () => Record<string, unknown>;
    labels: number;
    printer?: string;
    format?: string;
  }[] = [
    { rule: 'the smallest request by printer ID', body: () => payload(), labels: 1, format: FORMAT_203.name },
    {
      rule: 'routing by exact name',
      body: () => payload({ printerId: undefined, printer: 'Zebra' }),
      labels: 1,
      printer: PRINTER,
    },
    {
      rule: 'printerId is preferred over printer',
      body: () => payload({ printerId: TWIN_2, printer: 'Zebra' }),
      labels: 1,
      printer: TWIN_2,
    },
    {
      rule: 'printer is the fallback for an unknown printerId',
      body: () => payload({ printerId: 'serial-000000000000', printer: 'Zebra' }),
      labels: 1,
      printer: PRINTER,
    },
    {
      rule: 'copies apply to each record',
      body: () => payload({ numberCopies: 3, data: [{}, {}] }),
      labels: 6,
    },
    { rule: 'landscape', body: () => payload({ orientation: 'landscape' }), labels: 1 },
    {
      rule: 'a format by name',
      body: () => payload({ format: FORMAT_PDF.name }),
      labels: 1,
      format: FORMAT_PDF.name,
    },
    {
      rule: 'a format by ID',
      body: () => payload({ format: FORMAT_PDF.id }),
      labels: 1,
      format: FORMAT_PDF.name,
    },
    {
      rule: 'a ZPL template takes the first ZPL format',
      body: () => payload({ idT: ids.raw }),
      labels: 1,
      format: FORMAT_203.name,
    },
    {
      rule: 'strings, numbers, booleans and null as values, and any text in them',
      body: () =>
        payload({
          data: [
            { sku: '^XZ~JR "\n\0\ud800', name: 0.30000000000000004 },
            { sku: true, name: null },
          ],
        }),
      labels: 2,
    },
    {
      rule: 'missing and unknown fields are warnings only',
      body: () => payload({ data: [{ colour: 'red' }] }),
      labels: 1,
    },
  ];
  test.each(taken)('$rule', async ({ body, labels, printer, format }) => {
    const answer = await enqueue({ body: body() });
    expect(answer.text).toMatch(/^\["[^"]+"\]$/);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const job = await service.admin('GET', `/jobs/${jobIdOf(answer)}`);
    expect(jobIdOf(answer)).toMatch(UUID);
    expect(job.body).toMatchObject({
      tenant: 'acme',
      status: 'queued',
      labels: { total: labels, sent: 0, printed: 0 },
      printer: { id: printer ?? PRINTER },
      ...(format === undefined ? {} : { format }),
    });
  });

  test('Enqueue: a template-only request answers one ID, not an array', async () => {
    const answer = await enqueue({ body: payload({ idT: ids.plain, data: undefined, numberCopies: 2 }) });
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(JSON.stringify(answer.body));
    expect(answer.body).toMatch(UUID);
    expect((await service.admin('GET', `/jobs/${jobIdOf(answer)}`)).body).toMatchObject({
      labels: { total: 2 },
    });
  });

  test('the queued job is complete, and keeps the template as it was', async () => {
    const answer = await enqueue({
      body: payload({ numberCopies: 2, data: [{ sku: '\0\ud800', name: 12 }] }),
    });
    await service.template('acme', { name: 'Shelf label', width: 50, height: 25, elements: [] });
    const delivered = Promise.withResolvers<unknown>();
    const consumer = await service.queues.consume(PRINTER, async ({ job }) => {
      if (job.jobId === jobIdOf(answer)) delivered.resolve(job);
      return 'done';
    });
    expect(await delivered.promise).toMatchObject({
      jobId: jobIdOf(answer),
      tenantId: 'acme',
      template: { name: 'Shelf label', width: 101.6 },
      copies: 2,
      orientation: 'portrait',
      format: FORMAT_203,
      records: [{ sku: '\0\ud800', name: 12 }],
    });
    await consumer.stop();
    await service.template('acme');
  });
});

describe('Idempotency-Key', () => {
  test('an identical retry gets the same body with 200 and Idempotency-Replayed', async () => {
    const key = newKey();
    const first = await enqueue({ key });
    const retry = await enqueue({ key });
    expect([first.status, retry.status]).toEqual([201, 200]);
    expect(retry.text).toBe(first.text);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(retry.headers.get('idempotency-replayed')).toBe('true');
  });

  test('the same JSON in another order and spacing is identical', async () => {
    const key = newKey();
    const first = await enqueue({ key });
    const body = Object.fromEntries(Object.entries(payload()).reverse());
    const retry = await enqueue({ key, raw: JSON.stringify(body, null, 2) });
    expect(retry.status).toBe(200);
    expect(retry.text).toBe(first.text);
  });

  test('another payload under the same key is 400 and queues nothing', async () => {
    const key = newKey();
    await enqueue({ key });
    const before = await jobCount();
    const other = await enqueue({ key, body: payload({ numberCopies: 2 }) });
    expect([other.status, codeOf(other)]).toEqual([400, 'idempotency-key-reused']);
    expect(await jobCount()).toBe(before);
  });

  test('a refused request leaves no key behind', async () => {
    const key = newKey();
    expect((await enqueue({ key, body: payload({ idT: 'no-such-template' }) })).status).toBe(404);
    expect((await enqueue({ key })).status).toBe(201);
  });

  test('keys belong to a tenant', async () => {
    const key = newKey();
    const first = await enqueue({ key });
    const other = await enqueue({
      key,
      token: tokens.other,
      tenant: 'globex',
      body: payload({ idT: ids.other }),
    });
    expect([first.status, other.status]).toEqual([201, 201]);
    expect(jobIdOf(other)).not.toBe(jobIdOf(first));
  });

  test('a retry is answered even when its printer has gone since', async () => {
    const key = newKey();
    const printers = [
      {},
      { id: TWIN_1, name: 'Twin' },
      { id: TWIN_2, name: 'Twin' },
      { id: PDF_ONLY, name: 'Office', formats: [FORMAT_PDF] },
    ];
    const body = payload({ printerId: 'serial-777777777777' });
    await service.agent([...printers, { id: 'serial-777777777777', name: 'Short-lived' }]);
    const first = await enqueue({ key, body });
    await service.agent(printers);
    expect(codeOf(await enqueue({ body }))).toBe('printer-unassigned');
    expect((await enqueue({ key, body })).text).toBe(first.text);
  });

  test('a key is forgotten after 24 hours', async () => {
    const key = newKey();
    const first = await enqueue({ key });
    await service.pool.query(
      `UPDATE platen.idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = $1`,
      [key],
    );
    const later = await enqueue({ key, body: payload({ numberCopies: 2 }) });
    expect(later.status).toBe(201);
    expect(jobIdOf(later)).not.toBe(jobIdOf(first));
    expect((await enqueue({ key, body: payload({ numberCopies: 2 }) })).text).toBe(later.text);
  });
});

describe('POST /v2/jobs/validate', () => {
  test('answers labels and route, creates no job and takes no allowance', async () => {
    const before = await jobCount();
    const answer = await validate({
      token: tokens.broke,
      tenant: 'broke',
      body: payload({ idT: ids.broke, numberCopies: 3 }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      valid: true,
      labels: 3,
      route: {
        printerId: PRINTER,
        printer: 'Zebra',
        agentId: 'agent-one',
        format: { id: FORMAT_203.id, name: FORMAT_203.name },
      },
      warnings: [],
      warningCount: 0,
    });
    expect(await jobCount()).toBe(before);
    expect((await service.admin('GET', '/tenants/broke')).body).toMatchObject({
      quota: { labels: 3, used: 0 },
    });
  });

  test('warns of missing and unknown fields with record and field', async () => {
    const answer = await validate({
      body: payload({
        data: [
          { sku: 'a', name: 'b' },
          { sku: 'c', Name: 'd' },
        ],
      }),
    });
    expect(answer.body).toMatchObject({
      warnings: [
        { code: 'field-missing', record: 1, field: 'name' },
        { code: 'field-unknown', record: 1, field: 'Name' },
      ],
      warningCount: 2,
    });
  });

  test('a template with fields and no data: every field is missing', async () => {
    const answer = await validate({ body: payload({ data: undefined }) });
    expect(answer.body).toMatchObject({
      warnings: [
        { code: 'field-missing', field: 'sku' },
        { code: 'field-missing', field: 'name' },
      ],
    });
  });

  test('warns of a label that the media does not fit', async () => {
    const answer = await validate({ body: payload({ orientation: 'landscape' }) });
    expect(answer.body).toMatchObject({ warnings: [{ code: 'size-mismatch' }] });
  });

  test('warns of a value that the barcode cannot hold, without repeating it', async () => {
    const idT = await service.template('acme', {
      name: 'EAN',
      width: 101.6,
      height: 152.4,
      elements: [{ type: 'barcode', symbology: 'ean13', value: '{{ean}}', x: 5, y: 5, height: 20 }],
    });
    const answer = await validate({
      body: payload({ idT, data: [{ ean: '4006381333931' }, { ean: '4006381333932' }] }),
    });
    expect(answer.body).toMatchObject({
      valid: true,
      warnings: [{ code: 'value-invalid', record: 1 }],
      warningCount: 1,
    });
    expect(answer.text).not.toContain('4006381333932');
  });

  test('lists a thousand warnings at most, and counts them all', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, index]));
    const data = Array.from({ length: 20 }, () => ({ sku: 'a', name: 'b', ...fields }));
    const answer = await validate({ body: payload({ data }) });
    expect(answer.body).toMatchObject({ warningCount: 2_000, warnings: { length: 1_000 } });
  });
});

describe('quota', () => {
  test('counts records × copies, blocks what goes over, and a refused job takes nothing', async () => {
    const tenant = await service.tenant('counted', 10);
    const token = await service.token(await service.integration(tenant));
    const idT = await service.template(tenant);
    const post = (numberCopies: number) =>
      enqueue({ token, tenant, body: payload({ idT, numberCopies, data: [{}, {}] }) });
    expect((await post(4)).status).toBe(201);
    expect(codeOf(await post(2))).toBe('quota-exceeded');
    expect((await post(1)).status).toBe(201);
    expect(codeOf(await post(1))).toBe('quota-exceeded');
    expect((await service.admin('GET', `/tenants/${tenant}`)).body).toMatchObject({
      quota: { labels: 10, used: 10 },
    });
  });

  test('last month does not count', async () => {
    const tenant = await service.tenant('monthly', 1);
    const token = await service.token(await service.integration(tenant));
    const idT = await service.template(tenant);
    const post = () => enqueue({ token, tenant, body: payload({ idT }) });
    expect((await post()).status).toBe(201);
    expect((await post()).status).toBe(403);
    await service.pool.query(
      `UPDATE platen.usage SET month = (month - interval '1 month')::date WHERE tenant_id = $1`,
      [tenant],
    );
    expect((await post()).status).toBe(201);
  });

  test('what was printed before a quota was set counts in it', async () => {
    const tenant = await service.tenant('latecomer');
    const token = await service.token(await service.integration(tenant));
    const idT = await service.template(tenant);
    const post = () => enqueue({ token, tenant, body: payload({ idT, numberCopies: 2 }) });
    for (let i = 0; i < 3; i += 1) expect((await post()).status).toBe(201);
    await service.tenant(tenant, 7);
    expect((await post()).status).toBe(403);
    await service.tenant(tenant, 8);
    expect((await post()).status).toBe(201);
  });
});

describe('Versioning: only the two routes', () => {
  test.each([
    ['GET', '/v2/jobs', 405],
    ['DELETE', '/v2/jobs/validate', 405],
    ['POST', '/v1/jobs', 404],
    ['GET', '/v2/jobs/0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 404],
    ['GET', '/nothing', 404],
    ['GET', '/%zz', 400],
  ])('%s %s → %i', async (method, path, status) => {
    const answer = await service.call(path, { method, token: tokens.good, tenant: 'acme' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    if (status === 405) expect(answer.headers.get('allow')).toContain('POST');
  });
});
