/** Numbers in a body are kept to the last digit, or refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InexactNumber, parseJson } from '../../src/server/json-body.ts';

test('every number that a JavaScript program sends is taken as it is', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(parseJson(`[${JSON.stringify(number)}]`)).toEqual([JSON.parse(JSON.stringify(number))]);
    }),
    { numRuns: 2_000 },
  );
});

/** What a whole number is printed as, read as a number: `1.5e+21` is 1500000000000000000000. */
function printed(number: number): bigint {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length);
}

test('a whole number is taken if and only if the number that would be printed is the same', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (number) => {
      const kept = printed(Number(number)) === number;
      expect(parseJson(`[${number}]`)).toEqual([kept ? Number(number) : new InexactNumber(String(number))]);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['1.10', 1.1],
  ['1.5000000000000000000', 1.5],
  ['100000000000000000000', 100000000000000000000],
  ['-0.00000000000000000001', -1e-20],
  ['1E+20', 1e20],
  ['0.0000000000000000000', 0],
])('%s is exact', (source, value) => {
  expect(parseJson(`{"a":${source}}`)).toEqual({ a: value });
});

test.each([
  '9007199254740993',
  '123456789.1234567890123',
  '0.1000000000000000055511151231257827',
  '1e400000000000000000',
])('%s is not', (source) => {
  expect(parseJson(`[{"a":${source}}]`)).toEqual([{ a: new InexactNumber(source) }]);
});
