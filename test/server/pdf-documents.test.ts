/** PDF documents that records bring: the service makes a label of each page. */
import { describe, expect, test } from 'vitest';
import { valueMark } from '../../src/contract/job-search.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { codeOf, pointersOf } from '../kit/service/harness.ts';
import { TestTenant, useService, useTenant } from '../kit/service/use-service.ts';

const CARRIER = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
const service = useService({ redis: false });
const acme = useTenant(service, { quota: 10, template: CARRIER });

const pdf = (count: number): Buffer =>
  pdfOf(
    Array.from({ length: count }, (_, at) => ({
      ...{ width: 200, height: 300 },
      content: `${20 + 40 * at} 20 30 100 re f`,
    })),
  );
const three = pdf(3).toString('base64');
const lessThanNone = Buffer.from(
  pdf(10).toString('latin1').replace('/Count 10', '/Count -9'),
  'latin1',
).toString('base64');
/** A thousand pages in two hundred bytes or so each. */
const thousand = pdf(1_000).toString('base64');
const quota = async () => (await service.admin('GET', '/tenants/acme')).body;

describe('a PDF of three pages in one record', () => {
  test('is three labels, of the job, the quota and the pictures', async () => {
    expect((await acme.validate({ data: [{ document: three }] })).body).toMatchObject({
      valid: true,
      labels: 3,
    });
    const id = await acme.newJob({ data: [{ document: three }] });
    expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({ labels: { total: 3 } });
    expect(await quota()).toMatchObject({ quota: { labels: 10, used: 3 } });
    const pictures = await Promise.all(
      [0, 1, 2].map((at) => service.picture(`/jobs/${id}/labels/${at}.png`)),
    );
    expect(new Set(pictures.map((png) => png.toString('base64'))).size).toBe(3);
  });

  test('is as many as the template chooses, and copies of them', async () => {
    const idT = await service.template('acme', { ...CARRIER, name: 'Last pages', page: { pages: '2-' } });
    const answer = await acme.validate({ idT, data: [{ document: three }], numberCopies: 2 });
    expect(answer.body).toMatchObject({ valid: true, labels: 4 });
  });

  test('is refused by a quota that has room for a record, and not for its pages', async () => {
    const before = await quota();
    const answer = await acme.enqueue({ data: [{ document: three }], numberCopies: 3 });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'quota-exceeded']);
    expect(await quota()).toEqual(before);
  });
});

test.each([
  ['cut off', pdf(3).subarray(0, -40).toString('base64'), 'document-cut-off'],
  ['broken', Buffer.from('%PDF-1.7\nnothing\n%%EOF\n').toString('base64'), 'document-broken'],
  ['said to have less than no page', lessThanNone, 'document-broken'],
  ['no file, but a page of another', '#page=1&record=0', 'document-none'],
])('a document that is %s is refused with its field', async (_, document, reason) => {
  for (const answer of [
    await acme.validate({ data: [{ document }] }),
    await acme.enqueue({ data: [{ document }] }),
  ]) {
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'data-unprintable',
        errors: [{ pointer: '/data/0/document', reason: { code: reason } }],
      },
    });
  }
});

test.each([
  ['no data at all', undefined],
  ['a record without it', [{}]],
  ['null', [{ document: null }]],
  ['an empty text', [{ document: '' }]],
])('a label that gets no document, %s: 400, as it is certain to fail', async (_, data) => {
  for (const answer of [await acme.validate({ data }), await acme.enqueue({ data })])
    expect([answer.status, codeOf(answer)]).toEqual([400, 'data-unprintable']);
});

test.each(['0', '3-,', 'all', '1..2'])('pages %j are refused with their place', async (pages) => {
  const body = { ...CARRIER, name: 'Wrong', page: { pages } };
  const answer = await service.admin('POST', '/tenants/acme/templates', body);
  expect(answer).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/page/pages', reason: { code: 'page-numbers' } }] },
  });
});

test('a document may be as long as its request; other values keep their limit, and the request its own', async () => {
  const long = Buffer.concat([pdf(1), Buffer.alloc(100_000, '\n%'), Buffer.from('\n%%EOF\n')]).toString(
    'base64',
  );
  expect(long.length).toBeGreaterThan(LIMITS.valueLength);
  const taken = await acme.validate({ data: [{ document: long, order: 'x'.repeat(LIMITS.valueLength) }] });
  expect(taken.body).toMatchObject({ valid: true, labels: 1 });
  const refused = await acme.validate({
    data: [{ document: long, order: 'x'.repeat(LIMITS.valueLength + 1) }],
  });
  expect([refused.status, pointersOf(refused)]).toEqual([400, ['/data/0/order']]);
  const large = await acme.validate({ data: [{ document: 'A'.repeat(6 * 1024 * 1024) }] });
  expect([large.status, codeOf(large)]).toEqual([413, 'body-too-large']);
  expect(large.text).toMatch(/5 MiB|5,?242,?880/);
});

describe('a small file of many pages', () => {
  test('takes the values beside it once, and the job is found by them', async () => {
    const globex = new TestTenant(service, 'globex');
    await globex.open({ template: CARRIER, scope: ['jobs:enqueue', 'labels:render'] });
    const filling = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, 'x'.repeat(30_000)]));
    const data = [{ ...filling, order: 'order 4711', document: thousand }];
    const id = await globex.newJob({ data });
    const { rows } = await service.pool.query(
      'SELECT records, length(payload::text) AS size FROM platen.jobs WHERE id = $1',
      [id],
    );
    expect(rows).toMatchObject([{ records: 1_000 }]);
    expect(Number(rows[0].size)).toBeLessThan(2 * JSON.stringify(data).length);
    const asked = await service.admin('POST', '/tenants/globex/jobs/value-mark', { value: 'order 4711' });
    const { mark } = valueMark.parse(asked.body);
    expect((await service.admin('GET', `/jobs?tenant=globex&value=${mark}`)).body).toMatchObject({
      jobs: [{ id }],
    });

    const idT = await service.template('globex', { ...CARRIER, name: 'Again', page: { pages: '1-,1-,1-' } });
    const four = Array.from({ length: 4 }, () => ({ document: thousand }));
    const labels = await service.call('/v2/labels', {
      ...{ token: globex.token, tenant: 'globex' },
      body: { idT, data: four },
    });
    expect([labels.status, codeOf(labels)]).toEqual([400, 'labels-limit']);
  });

  test('is drawn from, whichever page it is', async () => {
    const initech = new TestTenant(service, 'initech');
    await initech.open({ template: CARRIER, scope: ['jobs:enqueue', 'labels:render'] });
    const idT = await service.template('initech', { ...CARRIER, name: 'Again' });
    const page = (label: number) =>
      service.call('/v2/labels', {
        ...{ token: initech.token, tenant: 'initech' },
        body: { idT, data: [{ document: thousand }], label },
      });
    const last = await page(999);
    expect(last.status, last.text).toBe(200);
    const none = await page(1_000);
    expect([none.status, pointersOf(none)]).toEqual([400, ['/label']]);
  });
});
