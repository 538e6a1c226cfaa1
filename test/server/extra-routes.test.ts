/** What a deployment exposes beside the interface: the list of jobs, a cancellation, templates and printers. */
import { beforeAll, describe, expect, test } from 'vitest';
import { PERMISSIONS } from '../../src/contract/admin.ts';
import { integratorPrinters, integratorTemplates } from '../../src/contract/integrator-view.ts';
import { jobView } from '../../src/contract/job.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { dotsOf, drawPdf, drawZpl, readSymbols } from '../kit/judges/judges.ts';
import {
  type CallOptions,
  codeOf,
  FORMAT_203,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
} from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const OWN = 'serial-111111111111';
const HIDDEN = 'serial-222222222222';
const OF_GLOBEX = 'serial-333333333333';
const LABEL = {
  name: 'Pallet',
  width: 100,
  height: 50,
  fields: [
    { name: 'ean', sample: '4006381333931' },
    { name: 'city', default: 'Ulm' },
  ],
  elements: [
    { type: 'text', x: 1, y: 1, text: '{{city}}', size: 4, when: '{{fragile}}' },
    { type: 'barcode', x: 1, y: 10, symbology: 'ean13', value: '{{ean}}', height: 10 },
  ],
};
const service = useService({ redis: false });
const tokens = { acme: '', globex: '', enqueues: '' };
const ids = { pallet: '', globex: '' };

beforeAll(async () => {
  for (const tenant of ['acme', 'globex'] as const) {
    await service.tenant(tenant);
    tokens[tenant] = await service.token(await service.integration(tenant, [...PERMISSIONS]));
  }
  tokens.enqueues = await service.token(await service.integration('acme'));
  ids.pallet = await service.template('acme', LABEL);
  ids.globex = await service.template('globex');
  await service.agent([{}]);
  await service.agent(
    [
      { id: OWN, name: 'Own' },
      { id: HIDDEN, name: 'Hidden' },
    ],
    { agentId: 'agent-acme', tenantId: 'acme' },
  );
  await service.agent([{ id: OF_GLOBEX, name: 'Of globex' }], {
    agentId: 'agent-globex',
    tenantId: 'globex',
  });
});

const call = (path: string, options: CallOptions = {}) =>
  service.call(`/v2${path}`, { token: tokens.acme, tenant: 'acme', ...options });
const asGlobex = {
  tenant: 'globex',
  get token() {
    return tokens.globex;
  },
};

async function enqueue(printerId: string = PRINTER, key = newKey()): Promise<string> {
  const body = { idT: ids.pallet, printerId, data: [{ ean: '4006381333931' }] };
  return jobIdOf(await call('/jobs', { key, body }));
}

const jobs = async (query = '', options: CallOptions = {}) =>
  jobPage.parse((await call(`/jobs${query}`, options)).body);

describe('GET /v2/templates', () => {
  test('says what a record of each template has, and of no other tenant', async () => {
    const { templates, next } = integratorTemplates.parse((await call('/templates')).body);
    expect(next).toBeNull();
    expect(templates).toMatchObject([
      {
        id: ids.pallet,
        name: 'Pallet',
        language: 'platen',
        size: { width: 100, height: 50 },
        fields: [
          { name: 'ean', printedAs: ['ean13'], ifMissing: null, sample: '4006381333931' },
          { name: 'city', printedAs: ['text'], ifMissing: 'Ulm', sample: null },
          { name: 'fragile', printedAs: ['condition'], ifMissing: null, sample: null },
        ],
      },
    ]);
    const other = integratorTemplates.parse((await call('/templates', asGlobex)).body);
    expect(other.templates.map(({ id }) => id)).toEqual([ids.globex]);
  });

  test('page by page', async () => {
    const tenant = await service.tenant('initech');
    const token = await service.token(await service.integration(tenant, ['templates:read']));
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.push(await service.template(tenant, { ...LABEL, name: `Label ${n}` }));
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = integratorTemplates.parse(
        (await call(`/templates?limit=3${after}`, { token, tenant })).body,
      );
      seen.push(...page.templates.map(({ id }) => id));
      if (page.next === null) break;
      after = `&after=${page.next}`;
    }
    expect(seen).toEqual(made.toSorted());
  });
});

describe('GET /v2/printers', () => {
  const printers = async (query = '', options: CallOptions = {}) =>
    integratorPrinters.parse((await call(`/printers${query}`, options)).body);

  test('has the shared ones and the tenant’s own, as people call them, and neither hidden ones nor another’s', async () => {
    await service.admin('PUT', `/printers/${OWN}/name`, { name: 'Dock 7' });
    await service.admin('POST', `/printers/${HIDDEN}/hide`);
    const { printers: seen } = await printers();
    expect(seen.map(({ id, name, status }) => [id, name, status])).toEqual([
      [PRINTER, 'Zebra', 'idle'],
      [OWN, 'Dock 7', 'idle'],
    ]);
    expect(seen[0]?.formats[0]).toEqual(FORMAT_203);
    const other = await printers('', asGlobex);
    expect(other.printers.map(({ id }) => id)).toEqual([PRINTER, OF_GLOBEX]);
  });

  test('page by page; a hidden one only makes its page shorter', async () => {
    const first = await printers('?limit=2');
    expect([first.printers.map(({ id }) => id), first.next]).toEqual([[PRINTER, OWN], OWN]);
    expect(await printers(`?limit=2&after=${first.next}`)).toEqual({ printers: [], next: null });
  });
});

describe('GET /v2/jobs', () => {
  test('by Idempotency-Key, status, printer and time; page by page', async () => {
    const key = newKey();
    const [first, second] = [await enqueue(), await enqueue(OWN, key)];
    expect((await jobs()).jobs.slice(0, 2).map(({ id }) => id)).toEqual([second, first]);
    expect((await jobs('', { key })).jobs).toMatchObject([{ id: second, status: 'queued' }]);
    expect(await jobs('?status=printed', { key })).toEqual({ jobs: [], next: null });
    expect(await jobs('', { key: newKey() })).toEqual({ jobs: [], next: null });
    expect(await jobs('', { key, ...asGlobex })).toEqual({ jobs: [], next: null });
    expect((await jobs(`?status=queued&printer=${OWN}`)).jobs.map(({ id }) => id)).toEqual([second]);
    expect((await jobs('?until=2020-01-01T00:00:00Z')).jobs).toEqual([]);
    const page = await jobs('?limit=1');
    expect((await jobs(`?limit=1&after=${page.next}`)).jobs[0]?.id).toBe(first);
    expect((await jobs('', asGlobex)).jobs).toEqual([]);
  });

  test.each([
    ['?status=lost', '/status/0'],
    ['?limit=0', '/limit'],
    ['?after=x', '/after'],
    ['?tenant=globex', '/tenant'],
    ['?since=0000-01-01T00:00:00Z', '/since'],
  ])('%s is refused at %s', async (query, pointer) => {
    const answer = await call(`/jobs${query}`);
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', [pointer]]);
  });

  test('with a key that is none: as POST refuses it', async () => {
    expect(codeOf(await call('/jobs', { key: 'with space' }))).toBe('idempotency-key-invalid');
  });
});

describe('POST /v2/jobs/{id}/cancel', () => {
  test('cancels a job that waits, once, and names the account in its history', async () => {
    const id = await enqueue();
    const answer = await call(`/jobs/${id}/cancel`, { body: { why: 'Ordered twice' } });
    expect(answer.status).toBe(200);
    expect(jobView.parse(answer.body)).toMatchObject({ id, status: 'canceled', labels: { printed: 0 } });
    expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({
      events: expect.arrayContaining([
        expect.objectContaining({
          kind: 'canceled',
          who: expect.stringMatching(/^pk_/),
          why: 'Ordered twice',
        }),
      ]),
    });
    expect(codeOf(await call(`/jobs/${id}/cancel`, { method: 'POST' }))).toBe('job-not-queued');
  });

  test('of another tenant’s job, or of none: as if there were no such job, which stays', async () => {
    const id = await enqueue();
    for (const one of [id, 'validate', 'nonsense']) {
      const answer = await call(`/jobs/${one}/cancel`, { method: 'POST', ...asGlobex });
      expect(answer.status, one).toBe(404);
    }
    expect((await call(`/jobs/${id}`)).body).toMatchObject({ status: 'queued' });
  });

  test('a body is without `force`', async () => {
    const answer = await call(`/jobs/${await enqueue()}/cancel`, { body: { force: true } });
    expect(pointersOf(answer)).toEqual(['/force']);
  });
});

describe('POST /v2/labels', () => {
  const EANS = ['4006381333931', '9780201379624'];
  const data = EANS.map((ean) => ({ ean }));

  /** What the service answers with, byte for byte. */
  const render = (body: object) =>
    fetch(`${service.url}/v2/labels`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${tokens.acme}`, 'x-tenant': 'acme' },
        'content-type': 'application/json',
      },
      body: JSON.stringify({ idT: ids.pallet, ...body }),
      signal: AbortSignal.timeout(60_000),
    });

  test.each([0, 1])('draws label %i of two, a pixel for each dot, and makes no job', async (label) => {
    const before = (await jobs()).jobs.length;
    const answer = await render({ data, label, dpi: 300 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('x-total-count')).toBe('2');
    const png = Buffer.from(await answer.arrayBuffer());
    expect((await readSymbols(png)).map(({ text }) => text)).toEqual([EANS[label]]);
    const { width, height } = await dotsOf(png);
    expect([width, height]).toEqual([1181, 591]);
    expect((await jobs()).jobs.length).toBe(before);
  });

  test('as a PDF of the label’s size, and as the ZPL that draws the same', async () => {
    const pdf = await render({ data, label: 1, language: 'pdf' });
    expect([pdf.headers.get('content-type'), pdf.headers.get('x-total-count')]).toEqual([
      'application/pdf',
      '2',
    ]);
    const page = await drawPdf(Buffer.from(await pdf.arrayBuffer()), 300);
    expect((await readSymbols(page)).map(({ text }) => text)).toEqual([EANS[1]]);

    const zpl = await render({ data, label: 1, language: 'zpl', dpi: 300 });
    expect(zpl.headers.get('content-type')).toBe('application/vnd.zebra-zpl');
    const source = await zpl.text();
    expect((await readSymbols(await drawZpl(source, 1181, 591))).map(({ text }) => text)).toEqual([EANS[1]]);
  });

  test('turned, at 203 dpi where none is named', async () => {
    const answer = await render({ data, orientation: 'landscape' });
    const { width, height } = await dotsOf(Buffer.from(await answer.arrayBuffer()));
    expect([width, height]).toEqual([400, 799]);
    const pdf = await render({ data, orientation: 'landscape', language: 'pdf' });
    const page = await dotsOf(await drawPdf(Buffer.from(await pdf.arrayBuffer()), 203));
    expect(page.height).toBeGreaterThan(1.9 * page.width);
  });

  test('raw ZPL in its own orientation only', async () => {
    const source = '^XA^FO50,50^BY2^BCN,100,Y,N,N^FD{{code}}^FS^XZ';
    const raw = { name: 'Raw', language: 'zpl', source, fields: [{ name: 'code' }], width: 60, height: 30 };
    const idT = await service.template('acme', raw);
    const answer = await render({ idT, data: [{ code: 'RAW-1' }] });
    const png = Buffer.from(await answer.arrayBuffer());
    expect((await readSymbols(png)).map(({ text }) => text)).toEqual(['RAW-1']);
    const pdf = await render({ idT, data: [{ code: 'RAW-2' }], language: 'pdf' });
    const page = await drawPdf(Buffer.from(await pdf.arrayBuffer()), 812);
    expect((await readSymbols(page)).map(({ text }) => text)).toEqual(['RAW-2']);
    const turned = await call('/labels', { body: { idT, data: [{ code: 'A' }], orientation: 'landscape' } });
    expect([codeOf(turned), pointersOf(turned)]).toEqual(['format-incompatible', ['/orientation']]);
  });

  test('a document', async () => {
    const printed = await render({ data });
    const document = Buffer.from(await printed.arrayBuffer());
    const carrier = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
    const idT = await service.template('acme', carrier);
    const answer = await render({ idT, data: [{ document: document.toString('base64') }] });
    const png = Buffer.from(await answer.arrayBuffer());
    expect((await readSymbols(png)).map(({ text }) => text)).toEqual([EANS[0]]);
    const { width, height } = await dotsOf(png);
    expect([width, height]).toEqual([812, 1218]);
    const ours = Buffer.from(await (await render({ data, language: 'pdf' })).arrayBuffer()).toString(
      'base64',
    );
    const again = await render({ idT, data: [{ document: ours }], language: 'pdf' });
    const pdf = Buffer.from(await again.arrayBuffer());
    expect(pdf.includes('/Subtype/Form')).toBe(true);
    expect((await readSymbols(await drawPdf(pdf, 300))).map(({ text }) => text)).toEqual([EANS[0]]);
    const broken = await call('/labels', { body: { idT, data: [{ document: 'AAAA' }] } });
    expect([codeOf(broken), pointersOf(broken)]).toEqual(['data-unprintable', ['/data/0/document']]);
    const long = await call('/labels', { body: { idT: ids.pallet, data: [{ ean: '1'.repeat(40_000) }] } });
    expect([codeOf(long), pointersOf(long)]).toEqual(['payload-invalid', ['/data/0/ean']]);
  });

  test.each([
    ['payload-invalid', '/label', { data, label: 2 }],
    ['payload-invalid', '/data', { data: Array.from({ length: 101 }, () => ({})) }],
    ['payload-invalid', '/dpi', { data, dpi: 5_000 }],
    ['payload-invalid', '/copies', { data, copies: 2 }],
    ['payload-invalid', '/language', { data, language: 'tspl' }],
    ['data-unprintable', '/data/1/ean', { data: [data[0], { ean: '4006381333930' }] }],
  ])('%s at %s', async (code, pointer, body) => {
    const answer = await call('/labels', { body: { idT: ids.pallet, ...body } });
    expect([answer.status, codeOf(answer), pointersOf(answer)]).toEqual([400, code, [pointer]]);
  });

  test('another tenant’s template is as if it did not exist', async () => {
    const answer = await call('/labels', { body: { idT: ids.globex } });
    expect(codeOf(answer)).toBe('template-not-found');
  });

  test('more dots than can be drawn are refused in words', async () => {
    const idT = await service.template('acme', { ...LABEL, name: 'Vast', width: 1_000, height: 500 });
    const answer = await call('/labels', { body: { idT, dpi: 1_200 } });
    expect([answer.status, codeOf(answer)]).toEqual([422, 'label-undrawable']);
    expect(answer.text).toContain('million dots at 1200 dpi');
  });
});

test.each([
  ['GET', '/jobs', 'jobs:read'],
  ['POST', '/jobs/0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f/cancel', 'jobs:cancel'],
  ['GET', '/templates', 'templates:read'],
  ['GET', '/printers', 'printers:read'],
  ['POST', '/labels', 'labels:render'],
])('%s %s needs %s', async (method, path, scope) => {
  expect(codeOf(await call(path, { method, token: '' }))).toBe('token-missing');
  const answer = await call(path, { method, token: tokens.enqueues });
  expect(codeOf(answer)).toBe('permission-missing');
  expect(answer.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
});

test('Labelary’s interface is not there unless it is turned on', async () => {
  const answer = await service.call('/labelary/v1/printers/8dpmm/labels/4x6/0/', { raw: '^XA^XZ' });
  expect([answer.status, codeOf(answer)]).toEqual([404, 'not-found']);
});
