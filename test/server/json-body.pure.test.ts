/** Numbers in a body are kept to the last digit, or refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLabelRecord, labelRecord } from '../../src/contract/print-request.ts';
import { BodyTooRich, ForbiddenKey, InexactNumber, readJson } from '../../src/server/json-body.ts';
import { whole } from '../../src/server/stretches.ts';

const parseJson = (text: string) => whole(readJson(text));

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
  '1e-400',
  '1E-324',
  '1e400',
  `1.${'0'.repeat(400)}`,
])('%s is not', (source) => {
  expect(parseJson(`[{"a":${source}}]`)).toEqual([{ a: new InexactNumber(source) }]);
});

/** The value as JSON has it, with `by` wherever it says 'here'. Not by `JSON.parse`, which misreads names with escapes. */
function meant(value: unknown, by: InexactNumber): unknown {
  if (value === 'here') return by;
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map((one) => meant(one, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, meant(one, by)]));
}

test('wherever such a number stands, it is found there and nowhere else', () => {
  const inexact = 12345678901234567891n;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string(), (value, name) => {
      fc.pre(!JSON.stringify([value, name]).includes('__proto__'));
      const body = { before: value, [`${name}"\\`]: [value, { x: 0.5 }, 'here', value], after: value };
      const read: unknown = parseJson(JSON.stringify(body).replaceAll('"here"', String(inexact)));
      expect(read).toEqual(meant(body, new InexactNumber(String(inexact))));
    }),
    { numRuns: 1_000 },
  );
});

test('a body with more in it than a request can hold is refused before it is made', () => {
  const array = (count: number) => `[${'1,'.repeat(count - 1)}1]`;
  const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"f${at}":","`).join(',')}}`;
  const holders = (count: number) => `[${'[],'.repeat(count - 2)}{}]`;
  const deep = (count: number) => '['.repeat(count) + ']'.repeat(count);
  for (const [most, text] of [
    [600_000, array],
    [2_000, object],
    [30_000, holders],
    [100, deep],
  ] as const) {
    expect(() => parseJson(text(most))).not.toThrow();
    expect(() => parseJson(text(most + 1))).toThrow(BodyTooRich);
  }
});

test.each(['__proto__', '__pr\\u006ft\\u006f__', '\\u005F_proto__'])('the key %s is refused', (key) => {
  expect(() => parseJson(`{"data":[{"a":1,"${key}":1}]}`)).toThrow(ForbiddenKey);
  expect(parseJson(`{"data":["${key}"]}`)).toEqual({ data: ['__proto__'] });
});

test('a name that an object has twice is refused and named, wherever it stands', () => {
  const repeated = (text: string) => {
    try {
      return parseJson(text);
    } catch (error) {
      return error instanceof ForbiddenKey ? error.message : error;
    }
  };
  expect(repeated('{"numberCopies":1,"numberCopies":3}')).toBe('one of its objects has "numberCopies" twice');
  expect(repeated('{"data":[{"a":{}},{"sku":"1","b":[{}],"s\\u006bu":"2"}]}')).toBe(
    'one of its objects has "sku" twice',
  );
  expect(repeated(`{"${'x'.repeat(100)}":1,"${'x'.repeat(100)}":1}`)).toBe(
    `one of its objects has "${'x'.repeat(60)}" twice`,
  );
  expect(repeated('[{"a":1,"b":{"a":":"}},{"a":"{","":1}]')).toEqual([
    { a: 1, b: { a: ':' } },
    { a: '{', '': 1 },
  ]);
});

test('a name with an escape is itself, whatever was read before', () => {
  // What JSON.parse would take the next ones for: the beginning of how they are written, as long as they are.
  for (const [planted, name] of [
    ['Gr\\u0', 'Größe'],
    ['\\"', '"x'],
    ['a\\', 'a"'],
  ] as const) {
    const body = (key: string) => ({ before: 1, [key]: 2, after: { [key]: [3] } });
    const escaped = (key: string) =>
      JSON.stringify(body(key)).replaceAll('ö', '\\u00f6').replaceAll('ß', '\\u00df');
    expect(parseJson(escaped(planted))).toEqual(body(planted));
    expect(parseJson(escaped(name))).toEqual(body(name));
    expect(Object.keys(Object(parseJson(escaped(name))))).toEqual(['before', name, 'after']);
  }
});

test('the quick look at a record says what the schema says', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('', 'x'.repeat(200), 'x'.repeat(201), 'constructor'));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('x'.repeat(32_768), 'x'.repeat(32_769), Number.POSITIVE_INFINITY, Number.NaN, undefined),
  );
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(name, value), value, fc.array(value)), (record) => {
      fc.pre(typeof record !== 'object' || record === null || !Object.hasOwn(record, '__proto__'));
      expect(isLabelRecord(record)).toBe(labelRecord.safeParse(record).success);
    }),
    { numRuns: 2_000 },
  );
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 1]));
  expect([isLabelRecord(fields(500)), isLabelRecord(fields(501))]).toEqual([true, false]);
});
