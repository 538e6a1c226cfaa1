/** The builder of GS1 values: the renderer takes what it writes, and refuses what it calls wrong. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SYMBOLOGIES } from '../../src/contract/template.ts';
import { SymbolError } from '../../src/render/symbol/bwip.ts';
import { elementString } from '../../src/render/symbol/gs1.ts';
import { encodeSymbol, isGs1 } from '../../src/render/symbol/symbol.ts';
import { gs1 } from '../../src/values/check-digits.ts';
import { adviceOn, checkDigit } from '../../web/designer/gs1/advice.ts';
import {
  elementsOf,
  joined,
  partsOf,
  textOfElements,
  withPlaces,
} from '../../web/designer/gs1/element-string.ts';
import { gs1Kind, SYMBOLOGY_FACTS } from '../../web/designer/symbologies.ts';
import {
  type AiFormat,
  formatOf,
  hasOwnLength,
  IDENTIFIERS,
  identifierOf,
  newAi,
} from '../../web/templates/gs1-identifiers.ts';

const NONE: ReadonlyMap<string, string> = new Map();
const AIS = Object.keys(IDENTIFIERS).flatMap((one) => identifierOf(one) ?? []);

/** The service's verdict; undefined: it takes it. */
function verdict(text: string): string | undefined {
  try {
    elementString(text);
    return undefined;
  } catch (error) {
    if (error instanceof SymbolError) return error.message;
    throw error;
  }
}

/** Data of this length that fits the format. */
function dataOf(format: AiFormat, ai: string, length: number): string {
  if (format.kind === 'date') return '270228'.slice(0, length).padEnd(length, '1');
  if (format.kind === 'text') return 'A1-'.repeat(40).slice(0, length);
  // These two need a country that exists, and a day with an hour.
  if (ai === '422') return '276'.padEnd(length, '0').slice(0, length);
  if (ai === '7003') return '2702281200'.padEnd(length, '0').slice(0, length);
  const digits = '1234567890'.repeat(3).slice(0, length);
  const checked = format.kind === 'digits' && format.check === true;
  return checked ? digits.slice(0, -1) + gs1(digits.slice(0, -1)) : digits;
}

function lengthsOf(format: AiFormat): [least: number, most: number] {
  switch (format.kind) {
    case 'date':
      return [6, 6];
    case 'digits':
      return [format.length, format.length];
    case 'amount':
      return [format.least, format.length];
    default:
      return [1, format.length];
  }
}

describe.each(AIS)('AI %s', (identifier) => {
  const ai = newAi(identifier);
  const format = formatOf(ai) ?? IDENTIFIERS[identifier];
  const [least, most] = lengthsOf(format);

  test('has the lengths that the renderer takes, and a separator where it has one', () => {
    for (const length of [least, most]) {
      const data = dataOf(format, ai, length);
      expect(verdict(`(${ai})${data}`), data).toBeUndefined();
      expect(adviceOn({ ai, data }, NONE), data).toBeUndefined();
    }
    for (const length of [least - 1, most + 1].filter((one) => one > 0)) {
      const data = dataOf(format, ai, length);
      expect(verdict(`(${ai})${data}`), data).toBeDefined();
      expect(adviceOn({ ai, data }, NONE), data).toBeDefined();
    }
    const second = ai === '90' ? '91' : '90';
    const two = elementString(`(${ai})${dataOf(format, ai, most)}(${second})X`);
    const length = ai.length + most + (hasOwnLength(ai) ? 0 : 1) + 3;
    expect(two.data).toHaveLength(length);
  });

  test('refuses the characters that it cannot hold', () => {
    const data = format.kind === 'text' ? 'a€' : 'x'.repeat(least);
    expect(verdict(`(${ai})${data.replace('€', '\u007f')}`)).toBeDefined();
    expect(adviceOn({ ai, data }, NONE)).toBeDefined();
  });
});

test('whatever it calls right is right, or depends on other AIs; whatever it would write is right', () => {
  const data = fc.oneof(
    fc.stringMatching(/^\d{0,20}$/),
    fc.stringMatching(/^[!-'*-z]{0,24}$/),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...AIS.map(newAi)), data, (ai, typed) => {
      if (ai === '422' || ai === '7003' || ai.startsWith('82')) return;
      const found = adviceOn({ ai, data: typed }, NONE);
      if (found === undefined) {
        // Whether a month has such a day is left to the service.
        if (formatOf(ai)?.kind !== 'date') expect(verdict(`(${ai})${typed}`), typed).toBeUndefined();
        return;
      }
      expect(verdict(`(${ai})${typed}`) ?? 'GTIN', typed).toBeDefined();
      if (found.fix !== undefined && found.advice.what !== 'notDigits' && found.advice.what !== 'isoDate') {
        expect(verdict(`(${ai})${found.fix}`), found.fix).toBeUndefined();
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['01', '4006381333931', 'leadingZeros', '04006381333931'],
  ['01', '0400638133393', 'noCheckDigit', '04006381333931'],
  ['01', '04006381333930', 'wrongCheckDigit', '04006381333931'],
  ['00', '34012345000000001', 'noCheckDigit', '340123450000000017'],
  ['00', '3 4012345 000000001 7', 'notDigits', '340123450000000017'],
  ['17', '2027-05-31', 'isoDate', '270531'],
  ['17', '271331', 'notDate', undefined],
  ['10', 'LÖT', 'character', undefined],
  ['3103', '1,250', 'notDigits', undefined],
] as const)('(%s)%s: %s, and what mends it', (ai, data, what, fix) => {
  const found = adviceOn({ ai, data }, NONE);
  expect(found?.advice.what).toBe(what);
  expect(found?.fix).toBe(fix);
});

test('a field is looked at by its sample, and mended by a filter', () => {
  const samples = new Map([
    ['ean', '4006381333931'],
    ['base', '0400638133393'],
    ['until', '2027-05-31'],
    ['lot', 'L4711'],
  ]);
  const fix = (ai: string, data: string) => adviceOn({ ai, data }, samples)?.fix;
  expect(fix('01', '{{ean}}')).toBe('{{ean | padleft:14:0}}');
  expect(fix('01', '{{ base }}')).toBe('{{base | checkdigit:gs1}}');
  expect(fix('17', '{{until}}')).toBe('{{until | date:yyMMdd}}');
  expect(adviceOn({ ai: '10', data: 'A{{lot}}' }, samples)).toBeUndefined();
  // Only the service knows what a filter makes of the data, or what a field without a sample holds.
  expect(adviceOn({ ai: '01', data: '{{ean | padleft:14:0}}' }, samples)).toBeUndefined();
  expect(adviceOn({ ai: '01', data: '{{other}}' }, samples)).toBeUndefined();
});

test('an amount is written with the decimals of its AI', () => {
  const three = "{{w | number:3:'' | padleft:6:0}}";
  const two = "{{w | number:2:'' | padleft:6:0}}";
  expect(withPlaces(three, '3', '2')).toBe(two);
  expect(adviceOn({ ai: '3103', data: three }, NONE)).toBeUndefined();
  const found = adviceOn({ ai: '3102', data: three }, NONE);
  expect(found).toEqual({ advice: { what: 'otherPlaces', has: 3, needs: 2 }, fix: two });
  const grams = "{{w | times:1000 | number:0:'' | padleft:6:0}}";
  expect(withPlaces(grams, '0', '2')).toBe(grams);
  expect(adviceOn({ ai: '3103', data: grams }, NONE)).toBeUndefined();
  expect(adviceOn({ ai: '10', data: three }, NONE)).toBeUndefined();
});

describe('a value taken apart and put together', () => {
  test.each([
    ['(01){{gtin}}(10){{lot}}', ['01', '10']],
    ["(10){{lot | replace:'(':''}}(21)A", ['10', '21']],
    ['', []],
    ['(3103)001250', ['3103']],
  ])('%s', (text, ais) => {
    const elements = elementsOf(text);
    expect(elements?.map(({ ai }) => ai)).toEqual(ais);
    expect(textOfElements(elements ?? [])).toBe(text);
  });

  test.each(['{{gs1}}', 'x(01)1', '(01', '(1)2', '(01)2)', '((01)2', '({{ai}})2'])('%s is none', (text) => {
    expect(elementsOf(text)).toBeUndefined();
  });

  test('any text is the same again, or is left alone', () => {
    const piece = fc.oneof(
      fc.constantFrom('(', ')', '{{', '}}', '(01)', '(10)', "{{a | replace:'(':')'}}", '{{b}}', '|'),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, composite) => {
        const text = pieces.join('');
        const elements = elementsOf(text);
        if (elements !== undefined) expect(textOfElements(elements)).toBe(text);
        if (!composite || text.includes('|')) expect(joined(partsOf(text, composite), composite)).toBe(text);
      }),
    );
  });
});

test.each(SYMBOLOGIES)(
  '%s: its value is of AIs where the renderer says so, and its example is built',
  (name) => {
    const kind = gs1Kind(name);
    expect(kind !== undefined).toBe(isGs1(name));
    if (kind === undefined) return;
    const { example } = SYMBOLOGY_FACTS[name];
    const parts = partsOf(example, kind === 'composite');
    expect(elementsOf(parts.text)?.length).toBeGreaterThan(0);
    expect(joined(parts, kind === 'composite')).toBe(example);
    expect(() => encodeSymbol(name, example, {})).not.toThrow();
  },
);

test('the check digit is the renderer’s', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{1,30}$/), (digits) => checkDigit(digits) === String(gs1(digits))),
  );
});
