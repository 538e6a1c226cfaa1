/** What the quick check of a GS1 element string takes for valid, the full check takes for valid too. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bwipWidths, SymbolError } from '../../src/render/symbol/bwip.ts';
import { isWellKnown } from '../../src/render/symbol/gs1-well-known.ts';
import { gs1 } from '../../src/values/check-digits.ts';

const digits = (least: number, most = least) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: least, maxLength: most });
const key = (length: number) => digits(length - 1).map((body) => `${body}${gs1(body)}`);
const words = (most: number) =>
  fc.string({
    unit: fc.constantFrom(...'!"%&\'*+,-./0189:;<=>?AMZ_amz'),
    minLength: 1,
    maxLength: most,
    size: 'max',
  });
const date = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 31 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(''));

const AIS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  '00': key(18),
  '01': key(14),
  '02': key(14),
  '03': key(14),
  '10': words(20),
  '11': date,
  '13': date,
  '15': date,
  '16': date,
  '17': date,
  '20': digits(2),
  '21': words(20),
  '22': words(20),
  '30': digits(1, 8),
  '37': digits(1, 8),
  '235': words(28),
  '240': words(30),
  '241': words(30),
  '400': words(30),
  '403': words(30),
  '410': key(13),
  '413': key(13),
  '414': key(13),
  '415': key(13),
  '416': key(13),
  '417': key(13),
  '420': words(20),
  '421': digits(3, 9),
  '3100': digits(6),
  '3103': digits(6),
  '3105': digits(6),
  '3106': digits(6),
  '3150': digits(6),
  '3160': digits(6),
  '3302': digits(6),
  '3922': digits(1, 15),
};
/** One character more, fewer, or another: what may be wrong with it. */
const harm = fc.constantFrom<((data: string) => string)[]>(
  (data) => data,
  (data) => data,
  (data) => data,
  (data) => `${data}1`,
  (data) => data.slice(1),
  (data) => data.replace(/.$/s, 'x'),
  (data) => data.replace(/^./s, '#'),
  (data) => data.replace(/.$/s, '9'),
);
const element = fc
  .constantFrom(...Object.keys(AIS))
  .chain((ai) => fc.tuple(fc.constant(ai), AIS[ai] ?? fc.constant(''), harm))
  .map(([ai, data, change]): [string, string] => [ai, change(data)]);

/** Without asking for AIs that go with others: a label may have them in another symbol. */
function isValid(elements: readonly (readonly [string, string])[]): boolean {
  try {
    bwipWidths('gs1-128', elements.map(([ai, data]) => `(${ai})${data}`).join(''), { parse: false });
    return true;
  } catch (error) {
    if (error instanceof SymbolError) return false;
    throw error;
  }
}

test('what is told to be valid at a glance is valid', () => {
  let told = 0;
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 5 }), (elements) => {
      const known = isWellKnown(elements);
      if (known) expect(isValid(elements), JSON.stringify(elements)).toBe(true);
      told += known ? 1 : 0;
    }),
    { numRuns: 6_000 },
  );
  expect(told).toBeGreaterThan(600);
});

test.each([
  [
    ['00', '340123450000000017'],
    ['02', '04006381333931'],
    ['15', '270531'],
    ['37', '48'],
    ['10', 'L4711'],
  ],
  [
    ['01', '04006381333931'],
    ['17', '280229'],
    ['10', 'A/1'],
    ['21', 'x'],
  ],
  [
    ['01', '04006381333931'],
    ['3103', '001250'],
    ['13', '261100'],
  ],
])('%j is well known', (...elements) => {
  expect(isWellKnown(elements.map(([ai = '', data = '']) => [ai, data]))).toBe(true);
});

test.each([
  [
    'a date that was never',
    [
      ['01', '04006381333931'],
      ['17', '270229'],
    ],
  ],
  ['a month that is none', [['15', '271331']]],
  [
    'two that exclude each other',
    [
      ['01', '04006381333931'],
      ['02', '04006381333931'],
    ],
  ],
  [
    'a count of what is no content',
    [
      ['01', '04006381333931'],
      ['37', '5'],
    ],
  ],
  [
    'a measure twice',
    [
      ['01', '04006381333931'],
      ['3100', '000001'],
      ['3103', '000002'],
    ],
  ],
  ['a wrong check digit', [['00', '340123450000000018']]],
])('%s is left to the full check, which refuses it', (_, elements) => {
  const pairs = elements.map(([ai = '', data = '']): [string, string] => [ai, data]);
  expect(isWellKnown(pairs)).toBe(false);
  expect(isValid(pairs)).toBe(false);
});
