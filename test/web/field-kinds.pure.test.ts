/** How a value is typed follows from what the template does with it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FieldKind, fieldKinds } from '../../web/print/field-kinds.ts';

const place = { x: 1, y: 1 };
const text = (text: string, more: object = {}) => ({ type: 'text', ...place, text, size: 3, ...more });
const code = (symbology: string, value: string) => ({ type: 'barcode', ...place, symbology, value });
const template = (elements: object[], more: object = {}) => ({
  name: 'T',
  width: 50,
  height: 30,
  elements,
  ...more,
});

const cases: [string, object, FieldKind][] = [
  ['no more than text', template([text('{{f}}')]), { kind: 'text' }],
  ['an EAN', template([code('ean13', '{{f}}'), text('{{f}}')]), { kind: 'digits', least: 12, most: 13 }],
  [
    'a check digit that is added',
    template([code('ean13', '{{f | checkdigit:gs1}}')]),
    { kind: 'digits', least: 12, most: 12 },
  ],
  [
    'zeros that are added',
    template([code('ean13', '{{f|padleft:12:0|checkdigit:gs1}}')]),
    { kind: 'digits', least: 1, most: 12 },
  ],
  ['ITF of any length', template([code('itf', '{{ f }}')]), { kind: 'digits' }],
  [
    'an SSCC among other data',
    template([code('gs1-128', '(10){{lot}}(00){{f}}(37){{n}}')]),
    { kind: 'digits', least: 18, most: 18 },
  ],
  ['a count', template([code('gs1-128', '(02){{g}}(37){{f}}')]), { kind: 'digits', least: 1, most: 8 }],
  ['a lot, which may have letters', template([code('gs1-128', '(10){{f}}')]), { kind: 'text' }],
  ['a part of a code', template([code('ean13', '20{{f}}')]), { kind: 'text' }],
  ['dashes that are taken out', template([code('ean13', "{{f | replace:'-':''}}")]), { kind: 'text' }],
  [
    'an add-on, which its sample has',
    template([code('ean13', '{{f}}')], { fields: [{ name: 'f', sample: '4006381333931+12' }] }),
    { kind: 'text' },
  ],
  ['a day', template([text('{{f | trim | date:dd.MM.yyyy}}')]), { kind: 'date', time: false }],
  ['a day that is shifted', template([text('{{f | days:30}}')]), { kind: 'date', time: false }],
  [
    'a day in words',
    template([text("{{f | date:'[at the hours of] d MMMM'}}")]),
    { kind: 'date', time: false },
  ],
  [
    'a time',
    template([text('{{f}}'), code('code128', "{{f | date:'yyMMddHHmm'}}")]),
    { kind: 'date', time: true },
  ],
  [
    'a time in its sample',
    template([text('{{f | date}}{{f}}')], { fields: [{ name: 'f', sample: '2026-11-21T07:45' }] }),
    { kind: 'date', time: true },
  ],
  ['an amount', template([text('{{f | number:2}}')]), { kind: 'number' }],
  [
    'an amount that may be words',
    template([text('{{f | number:2}}')], { fields: [{ name: 'f', default: 'free' }] }),
    { kind: 'text' },
  ],
  [
    'something or nothing',
    template([text('x', { when: '{{f}}' }), text('y', { when: '{{f | not}}' })]),
    { kind: 'yes-no' },
  ],
  [
    'given values alone',
    template([text('x', { when: '{{f | equals:NEG:neg}}' }), text('y', { when: "{{f|equals:'POS'}}" })]),
    { kind: 'choice', values: ['NEG', 'neg', 'POS'] },
  ],
  [
    'given values that are printed',
    template([text('{{f}}', { when: '{{f | equals:NEG}}' })]),
    { kind: 'suggested', values: ['NEG'] },
  ],
  [
    'a picture by its name',
    template([{ type: 'image', ...place, width: 5, height: 5, image: '{{f}}' }], {
      images: [{ name: 'flame', data: 'iVBORw0K' }],
    }),
    { kind: 'choice', values: ['flame'] },
  ],
  ['lines', template([text('{{f}}', { overflow: 'wrap', width: 40, height: 20 })]), { kind: 'lines' }],
  [
    'lines that stand in a code too',
    template([text('{{f}}', { overflow: 'wrap' }), code('qr', '{{f}}')]),
    { kind: 'text' },
  ],
  [
    'a date of raw ZPL',
    { name: 'T', language: 'zpl', source: '^XA^FD{{f | date:yyyy}}^FS^XZ' },
    { kind: 'date', time: false },
  ],
];

test.each(cases)('%s', (_, body, kind) => {
  expect(fieldKinds(body).get('f')).toEqual(kind);
});

test('what the job knows itself is nobody’s to type, and what is no template has no fields', () => {
  expect([...fieldKinds(template([text('{{$now | date:yyyy}} {{f}}')])).keys()]).toEqual(['f']);
  expect(fieldKinds({ name: 'T' }).size).toBe(0);
});

test('the samples', async () => {
  const kinds = async (name: string) => {
    const file = join(import.meta.dirname, '../../templates', `${name}.json`);
    const all = fieldKinds(JSON.parse(await readFile(file, 'utf8')));
    return Object.fromEntries(
      [...all].flatMap(([field, { kind }]) => (kind === 'text' ? [] : [[field, kind]])),
    );
  };
  expect({
    pallet: await kinds('gs1-logistic-4x6'),
    price: await kinds('price-70x38'),
    blood: await kinds('blood-bag-isbt128-100x100'),
    ghs: await kinds('ghs-chemical-100x70'),
  }).toMatchInlineSnapshot(`
    {
      "blood": {
        "address": "lines",
        "collected": "date",
        "expires": "date",
        "irradiated": "yes-no",
        "productDetail": "lines",
        "productName": "lines",
        "rh": "suggested",
        "volume": "number",
      },
      "ghs": {
        "expires": "date",
        "hazards": "lines",
        "pictogram1": "choice",
        "pictogram2": "choice",
        "pictogram3": "choice",
        "precautions": "lines",
        "supplier": "lines",
      },
      "pallet": {
        "bestBefore": "date",
        "count": "digits",
        "gtin": "digits",
        "recipient": "lines",
        "sender": "lines",
        "sscc": "digits",
      },
      "price": {
        "article": "digits",
        "oldPrice": "number",
        "price": "number",
        "unitPrice": "number",
      },
    }
  `);
});
