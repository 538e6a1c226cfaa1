/** What a designer is told: what is wrong, and what would be right. */
import { describe, expect, test } from 'vitest';
import { designedTemplate } from '../../src/contract/template.ts';
import { templateRemains } from '../../src/contract/template-remains.ts';
import { encodeSymbol } from '../../src/render/symbol/symbol.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { parsePlaceholders } from '../../src/values/merge.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { design } from '../kit/judges/judges.ts';

const text = { type: 'text', x: 2, y: 2, width: 40, size: 4, text: 'Fixed' };

describe('a placeholder that is not closed', () => {
  test.each(['{{product', 'To {{product}', '{{a}} {{b', '{{ {{a}}', '{{'])('%s', (source) => {
    expect(() => parsePlaceholders(source, '/elements/0')).toThrow('is not closed: expected {{name}}');
  });

  test.each(['{"a":{"b":1}}', '{a}', '{{{a}}}', 'a }} b'])('%s is none', (source) => {
    expect(() => parsePlaceholders(source)).not.toThrow();
  });

  test('is an error of the template, in designed ones and in raw ZPL', async () => {
    expect(await templateProblems(design(60, 40, [{ ...text, text: 'No. {{product' }]))).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'template-invalid',
        pointer: '/elements/0',
        message: expect.stringContaining('"{{product" is not a placeholder: it is not closed'),
      }),
    ]);
    const raw = { name: 'Raw', language: 'zpl' as const, source: '^XA^FD{{product^FS^XZ', fields: [] };
    expect(() => compileRawZpl(raw)).toThrow('it is not closed');
  });
});

test.each([
  ['organic', '{{organic}}'],
  ['no', '{{no}}'],
])('"when": "%s" is a field without its braces', async (when, expected) => {
  expect(await templateProblems(design(60, 40, [{ ...text, when }]))).toEqual([
    expect.objectContaining({
      severity: 'error',
      pointer: '/elements/0/when',
      message: expect.stringContaining(`expected a placeholder, ${expected}`),
    }),
  ]);
});

test.each(['', '0', '1', 'true', 'False'])('"when": "%s" switches an element', async (when) => {
  expect(await templateProblems(design(60, 40, [{ ...text, when }]))).toEqual([]);
});

test.each([
  [{ ...text, rotation: 45 }, 'expected 0, 90, 180 or 270'],
  [{ type: 'barcode', symbology: 'gs1_128', value: '1', x: 0, y: 0 }, 'did you mean "gs1-128"?'],
  [{ type: 'barcode', symbology: 'EAN-13', value: '1', x: 0, y: 0 }, 'did you mean "ean13"?'],
  [{ type: 'barcode', symbology: 'datamatirx', value: '1', x: 0, y: 0 }, 'did you mean "datamatrix"?'],
  [{ type: 'barcode', symbology: 'sausages', value: '1', x: 0, y: 0 }, 'expected one of code128, '],
])('the schema says what is expected: %o', (element, message) => {
  const result = designedTemplate.safeParse({ name: 'T', width: 60, height: 40, elements: [element] });
  expect(result.error?.issues.map((issue) => issue.message)).toEqual([expect.stringContaining(message)]);
});

test('what the schema cannot read does not hide what it can', () => {
  const body = {
    nmae: 'T',
    width: 60,
    height: 40,
    elements: [
      { ...text, rotation: 45 },
      { ...text, text: '{{product' },
      { ...text, size: 'big' },
    ],
  };
  const issues = designedTemplate.safeParse(body).error?.issues ?? [];
  expect(issues.map(({ path }) => path.join('.'))).toEqual(
    expect.arrayContaining(['name', 'elements.0.rotation', 'elements.2.size']),
  );
  const remains = templateRemains(body, issues);
  expect(remains?.template.elements[1]).toMatchObject({ text: '{{product' });
  expect(
    ['/elements/0', '/elements/1/when', '/elements/2/x', '/width'].map((at) => remains?.isLost(at)),
  ).toEqual([true, false, true, false]);
  // With another size all places would be others.
  const wide = { ...body, width: 'wide' };
  expect(templateRemains(wide, designedTemplate.safeParse(wide).error?.issues ?? [])).toBeUndefined();
});

test.each([
  ['ean13', '4006381333932', 'the check digit is wrong: expected 1'],
  ['ean8', '12345678', 'expected 0'],
  ['upca', '123456789011', 'expected 2'],
  ['upce', '01234560', 'expected 5'],
  ['itf14', '10012345678909', 'expected 2'],
  ['pzn', '12345677', 'expected 8'],
  ['code32', '012345671', 'expected 6'],
  ['leitcode', '21348075016402', 'expected 1'],
  ['ean13-composite', '4006381333932|(10)A', 'expected 1'],
  ['gs1-128', '(00)123456789012345678', 'AI (00): the check digit is wrong: expected 5'],
  [
    'gs1-datamatrix',
    '(01)04012345678901(414)4012345678902',
    'AI (414): the check digit is wrong: expected 1',
  ],
  ['databar', '(01)04012345678902', 'AI (01): the check digit is wrong: expected 1'],
  ['gs1-128', '(08)123', 'AI (08): unrecognised AI'],
  ['gs1-128', '(8)123', 'AI (8): unrecognised AI'],
  ['gs1-qr', '(01)04012345678901(12345)1', 'AI (12345): unrecognised AI'],
  ['gs1-qr', '(SECRET)1', 'what stands in brackets is no AI: expected 2 to 4 digits'],
] as const)('%s %s: %s', (symbology, value, message) => {
  expect(() => encodeSymbol(symbology, value, {})).toThrow(message);
});
