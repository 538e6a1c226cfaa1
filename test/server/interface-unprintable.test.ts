/** Values that cannot be printed: refused at the door, by enqueueing and validation alike. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { CheckPool } from '../../src/rendering/check-pool.ts';
import { serverConfig } from '../../src/server/config.ts';
import { Templates } from '../../src/server/templates/templates.ts';
import { codeOf, jobIdOf, newKey, pointersOf } from '../kit/service/harness.ts';
import { InterfaceSite } from '../kit/service/interface-site.ts';

const site = new InterfaceSite();
beforeAll(() => site.start());
afterAll(() => site.stop());

const EAN = { type: 'barcode', symbology: 'ean13', value: '{{ean}}', x: 5, y: 5, height: 20 };
const GOOD = '4006381333931';

async function template(elements: object[], more: object = {}, tenant = 'acme'): Promise<string> {
  return await site.service.template(tenant, {
    name: `Template ${newKey()}`,
    width: 101.6,
    height: 152.4,
    elements,
    ...more,
  });
}

const both = (body: Record<string, unknown>) =>
  Promise.all([site.enqueue({ body }), site.validate({ body })]);

describe('a value that cannot be printed', () => {
  test.each([
    ['a letter in an EAN', EAN, { ean: 'A006381333931' }, '/data/1/ean'],
    ['a wrong check digit', EAN, { ean: '4006381333932' }, '/data/1/ean'],
    [
      'a text that does not fit',
      { type: 'text', x: 5, y: 5, width: 20, size: 5, text: 'To {{ean}}' },
      { ean: 'far too long a name '.repeat(20) },
      '/data/1/ean',
    ],
    [
      'a character that no font has',
      { type: 'text', x: 5, y: 5, width: 20, size: 5, text: '{{ean}}' },
      { ean: '\u{13000}' },
      '/data/1/ean',
    ],
    [
      'a date that is none',
      { type: 'text', x: 5, y: 5, width: 60, size: 5, text: '{{who}} {{ean | date}}' },
      { ean: 'soon', who: 'x' },
      '/data/1/ean',
    ],
    ['one of several fields', { ...EAN, value: '{{a}}{{b}}' }, { a: '400638133393', b: 'x' }, '/data/1'],
  ])('%s: 400 with record and field', async (_, element, record, pointer) => {
    const idT = await template([element]);
    const good = {
      ean: GOOD,
      a: '400638133393',
      b: '1',
      who: 'x',
      ...('who' in record && { ean: '2026-11-22' }),
    };
    const before = await site.jobCount();
    for (const answer of await both(site.payload({ idT, data: [good, record] }))) {
      expect([answer.status, codeOf(answer)]).toEqual([400, 'data-unprintable']);
      expect(pointersOf(answer)).toEqual([pointer]);
      // Counted from 1 for people; the pointer counts from 0.
      expect(answer.body).toMatchObject({ detail: expect.stringContaining('record 2') });
      for (const value of Object.values(record))
        if (value.length > 3) expect(answer.text).not.toContain(value);
    }
    expect(await site.jobCount()).toBe(before);
  });

  test('why is told as a code with its values, for pages in other languages', async () => {
    const idT = await template([EAN]);
    for (const answer of await both(site.payload({ idT, data: [{ ean: '4006381333932' }, { ean: 'x' }] }))) {
      expect(answer.body).toMatchObject({
        errors: [
          { reason: { code: 'check-digit-wrong', values: { expected: 1 } } },
          { reason: { code: 'digits-or-checked', values: { code: 'EAN-13', digits: 12, checked: 13 } } },
        ],
      });
    }
    const wrong = await site.enqueue({ body: { ...site.payload({ idT }), numberCopies: 'two', colour: 1 } });
    expect(wrong.body).toMatchObject({
      code: 'payload-invalid',
      errors: expect.arrayContaining([
        expect.objectContaining({
          pointer: '/numberCopies',
          reason: { code: 'whole-number', values: { least: 1, most: expect.any(Number) } },
        }),
        expect.objectContaining({
          pointer: '/colour',
          reason: { code: 'member-unknown', values: { member: '"colour"' } },
        }),
      ]),
    });
  });

  test('in raw ZPL', async () => {
    const source = '^XA^FO10,10^BXN,5,200^FD{{code}}^FS^XZ';
    const idT = await site.service.template('acme', { name: 'Matrix', language: 'zpl', source });
    for (const answer of await both(site.payload({ idT, data: [{ code: 'a~b' }] }))) {
      expect([codeOf(answer), ...pointersOf(answer)]).toEqual(['data-unprintable', '/data/0/code']);
    }
  });

  test('all records are told, not the first alone; at most a hundred', async () => {
    const idT = await template([EAN]);
    const data = Array.from({ length: 40 }, (_, index) => ({ ean: index % 2 === 0 ? GOOD : 'x' }));
    const answer = await site.enqueue({ body: site.payload({ idT, data }) });
    expect(pointersOf(answer)).toHaveLength(20);
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('and 19 more') });
  });

  test.each([
    ['no data at all', undefined, '/data'],
    ['a record without the field', [{}], '/data/0/ean'],
    ['another field', [{ ean: GOOD }, { other: 'x' }], '/data/1/ean'],
    ['null', [{ ean: null }], '/data/0/ean'],
  ])('a barcode that gets no value, %s: 400, as it is certain to fail', async (_, data, pointer) => {
    const idT = await template([EAN]);
    for (const answer of await both(site.payload({ idT, data }))) {
      expect([answer.status, codeOf(answer), ...pointersOf(answer)]).toEqual([
        400,
        'data-unprintable',
        pointer,
      ]);
      if (!JSON.stringify(data ?? []).includes('null'))
        expect(answer.text).toContain('the record has no \\"ean\\"');
    }
  });

  test('a missing field that prints as nothing, or as its default, is a warning', async () => {
    const when = { ...EAN, when: '{{ean}}' };
    const defaulted = { fields: [{ name: 'ean', default: GOOD }] };
    for (const idT of [await template([when]), await template([EAN], defaulted)]) {
      const [enqueued, validated] = await both(site.payload({ idT, data: [{}, { ean: GOOD }] }));
      expect([enqueued?.status, enqueued?.headers.get('platen-warnings')]).toEqual([201, 'field-missing=1']);
      expect([validated?.status, validated?.body]).toMatchObject([
        200,
        { warnings: [{ code: 'field-missing', record: 0, field: 'ean' }] },
      ]);
    }
  });

  test('a template that no record could be printed from at this resolution', async () => {
    // Too wide at 203 dpi, where a module is two dots.
    const wide = { ...EAN, symbology: 'code128', value: 'ABCDEFGHIJKLMNOPQ', module: 0.19, width: 49 };
    const idT = await template([wide]);
    for (const answer of await both(site.payload({ idT, data: [{}] }))) {
      expect([codeOf(answer), ...pointersOf(answer)]).toEqual(['format-incompatible', '/format']);
    }
  });
});

describe('the order of checks', () => {
  test('routing comes before values, values before the quota', async () => {
    const idT = await template([EAN], {}, 'broke');
    const bad = { idT, data: [{ ean: 'x' }], numberCopies: 4 };
    const ask = (body: Record<string, unknown>) =>
      site.enqueue({ token: site.tokens.broke, tenant: 'broke', body: site.payload(body) });
    expect(codeOf(await ask({ ...bad, printerId: 'nobody' }))).toBe('printer-unknown');
    expect(codeOf(await ask(bad))).toBe('data-unprintable');
    expect(codeOf(await ask({ ...bad, data: [{ ean: GOOD }] }))).toBe('quota-exceeded');
  });

  test('a key is not used up, and an identical retry gets its answer whatever became of the template', async () => {
    const name = `Template ${newKey()}`;
    const size = { name, width: 101.6, height: 152.4 };
    const idT = await site.service.template('acme', { ...size, elements: [EAN] });
    const key = newKey();
    expect(codeOf(await site.enqueue({ key, body: site.payload({ idT, data: [{ ean: 'x' }] }) }))).toBe(
      'data-unprintable',
    );
    const body = site.payload({ idT, data: [{ ean: GOOD }] });
    const first = await site.enqueue({ key, body });
    expect(first.status).toBe(201);
    const other = { ...EAN, symbology: 'ean8' };
    expect(await site.service.template('acme', { ...size, elements: [other] })).toBe(idT);
    const again = await site.enqueue({ key, body });
    expect([again.status, jobIdOf(again)]).toEqual([200, jobIdOf(first)]);
    expect(codeOf(await site.enqueue({ body }))).toBe('data-unprintable');
  });
});

test('a template that takes too long to lay out is refused, and the element named', async () => {
  const checks = new CheckPool({ threads: 2, logger: createLogger({ level: 'silent' }) });
  try {
    const { limits } = serverConfig.parse({});
    const templates = new Templates(site.service.pool, checks, limits, { wait: 10_000, run: 1_000 });
    const data = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0L9 9H0z"/></svg>',
    ).toString('base64');
    const picture = { type: 'image', x: 0, y: 0, width: 480, height: 480, data };
    const body = { name: 'Heavy', width: 500, height: 500, elements: Array(1_000).fill(picture) };
    const error: unknown = await templates.import('acme', body, 'admin').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'payload-invalid',
      errors: [
        { pointer: expect.stringMatching(/^\/elements\/\d+$/), detail: expect.stringContaining('1 s') },
      ],
    });
  } finally {
    await checks.stop();
  }
});

test('an import is told all that is wrong with it, and not what the schema found alone', async () => {
  const text = { type: 'text', x: 2, y: 2, width: 40, size: 4, text: 'Fixed' };
  const body = {
    name: 'Faulty',
    width: 60,
    height: 40,
    elements: [
      { ...text, rotation: 45 },
      { ...text, text: '{{product' },
      { ...EAN, value: '4006381333932' },
      { ...text, when: 'organic' },
    ],
  };
  const answer = await site.service.admin('POST', '/tenants/acme/templates', body);
  expect([answer.status, codeOf(answer)]).toEqual([400, 'payload-invalid']);
  expect(pointersOf(answer).toSorted()).toEqual([
    '/elements/0/rotation',
    '/elements/1',
    '/elements/2',
    '/elements/3/when',
  ]);
  expect(answer.text).toContain('expected 0, 90, 180 or 270');
  expect(answer.text).toContain('expected 1');
});
