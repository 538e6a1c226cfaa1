/** Data Matrix: module for module what another encoder makes of the same data, and read back by a decoder. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBitmap, isBlack, scaleBitmap, stampBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { bwipMatrix, SymbolError } from '../../src/render/symbol/bwip.ts';
import { FNC1 } from '../../src/render/symbol/code128.ts';
import { encodeSymbol } from '../../src/render/symbol/symbol.ts';
import { type DataMatrixShape, dataMatrix } from '../../src/render/symbol/symbology/data-matrix.ts';
import type { MatrixSymbol } from '../../src/render/symbol/symbology/rules.ts';
import { readSymbols } from '../kit/judges/judges.ts';

const codes = (text: string) => Array.from(text, (char) => char.charCodeAt(0));
const span = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const UPPER = span(65, 90);
const LOWER = span(97, 122);
const DIGITS = span(48, 57);
/** What the modes are good at, what they are just not good at, and what lies between. */
const ALPHABETS: readonly (readonly number[])[] = [
  DIGITS,
  UPPER,
  LOWER,
  [...UPPER, ...LOWER],
  [...UPPER, ...DIGITS, ...codes(' -/.')],
  [...UPPER, ...DIGITS, ...codes('\r*> ')],
  codes('\r*>'),
  [...DIGITS, ...codes('.- ')],
  span(32, 94),
  codes('_`{|'),
  span(0, 31),
  span(0, 127),
  span(128, 255),
  span(0, 255),
  [...UPPER, ...codes('Ã¤')],
  codes('Ð°Ñ\x80'),
];

/** Characters of one alphabet, or stretches of several. */
function characters(most: number) {
  const from = (alphabet: readonly number[], longest: number) =>
    fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: longest, size: 'max' });
  const stretch = fc.oneof(...ALPHABETS.map((alphabet) => from(alphabet, 16)));
  return fc.oneof(
    ...ALPHABETS.map((alphabet) => from(alphabet, most)),
    fc
      .array(stretch, { minLength: 2, maxLength: Math.max(2, most >> 3), size: 'max' })
      .map((all) => all.flat()),
  );
}

const messages = (most: number) =>
  fc.record({
    characters: characters(most),
    kind: fc.constantFrom('bytes', 'utf-8', 'gs1'),
    separators: fc.array(fc.nat(), { maxLength: 4 }),
    shape: fc.constantFrom<DataMatrixShape>('square', 'square', 'rectangle'),
  });
type Case = ReturnType<typeof messages> extends fc.Arbitrary<infer T> ? T : never;

/** Rows of modules, or that it was refused. */
function rows(
  make: () => { width: number; height: number; dark: (x: number, y: number) => boolean },
): string {
  try {
    const { width, height, dark } = make();
    return span(0, height - 1)
      .map((y) =>
        span(0, width - 1)
          .map((x) => (dark(x, y) ? '#' : '.'))
          .join(''),
      )
      .join('\n');
  } catch (error) {
    if (error instanceof SymbolError) return 'refused';
    throw error;
  }
}

function ours({ columns, rows, bitmap }: MatrixSymbol) {
  const picture = bitmap();
  return { width: columns, height: rows, dark: (x: number, y: number) => isBlack(picture, x, y) };
}

function theirs(text: string, options: Record<string, string | boolean>) {
  const { width, height, modules } = bwipMatrix('datamatrix', text, { binarytext: true, ...options });
  return { width, height, dark: (x: number, y: number) => modules[y * width + x] === 1 };
}

function expectSame({ characters, kind, separators, shape }: Case): void {
  const message = kind === 'gs1' ? [FNC1, ...characters] : [...characters];
  if (kind === 'gs1') for (const at of separators) message.splice(1 + (at % message.length), 0, FNC1);
  const spelt = message
    .map((code) => (code === FNC1 ? '^FNC1' : code === 94 ? '^^' : String.fromCharCode(code)))
    .join('');
  const text =
    kind === 'bytes' ? String.fromCharCode(...message) : kind === 'gs1' ? spelt : `^ECI000026${spelt}`;
  const options = {
    ...(kind === 'bytes' ? {} : { parsefnc: true }),
    ...(shape === 'rectangle' ? { format: shape } : {}),
  };
  const other = rows(() => theirs(text, options));
  const own = rows(() => ours(dataMatrix(message, shape, kind === 'utf-8' ? 26 : undefined)));
  expect(own, JSON.stringify(text)).toBe(other);
}

test('short data: the modules that another encoder makes', () => {
  fc.assert(fc.property(messages(24), expectSame), { numRuns: 2_500 });
});

test('long data: the modules that another encoder makes', () => {
  fc.assert(fc.property(messages(300), expectSame), { numRuns: 150 });
});

test.each(['square', 'rectangle'] as const)('every %s size, at its fullest and one more', (shape) => {
  const options = shape === 'square' ? {} : { format: shape };
  const sizeOf = (length: number) => {
    const { columns, rows: tall } = dataMatrix(codes('0'.repeat(length)), shape);
    return `${columns}x${tall}`;
  };
  const most = shape === 'square' ? 3116 : 98;
  const lengths = span(1, most / 2).map((half) => 2 * half);
  const fullest = lengths.filter((length) => length === most || sizeOf(length) !== sizeOf(length + 2));
  expect(fullest.length).toBe(shape === 'square' ? 24 : 6);
  for (const length of fullest.flatMap((full) => [full - 1, full + 1])) {
    const digits = '1234567890'.repeat(312).slice(0, length);
    expect(rows(() => ours(dataMatrix(codes(digits), shape)))).toBe(rows(() => theirs(digits, options)));
  }
  expect(() => sizeOf(most + 2)).toThrow(SymbolError);
});

/** The symbol on white, a module four dots. */
function picture({ columns, rows: tall, bitmap }: MatrixSymbol): Uint8Array {
  const sheet = createBitmap(columns + 8, tall + 8);
  stampBitmap(sheet, bitmap(), 4, 4, false);
  return encodePng(scaleBitmap(sheet, 4), 203);
}

async function read(symbol: MatrixSymbol): Promise<string[]> {
  return (await readSymbols(picture(symbol), { formats: ['DataMatrix'] })).map(({ text }) => text);
}

test('a decoder reads what went in', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'ABCabc123*> .-^_ÄЖ李'), minLength: 1, maxLength: 200 }),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom('square', 'rectangle'), async (value, shape) => {
      let symbol: MatrixSymbol;
      try {
        const made = encodeSymbol('datamatrix', value, { shape });
        if (made.kind !== 'matrix') throw new Error('a Data Matrix is a matrix');
        symbol = made;
      } catch (error) {
        if (error instanceof SymbolError) return;
        throw error;
      }
      expect(await read(symbol)).toEqual([value]);
    }),
    { numRuns: 120 },
  );
});

// ISO/IEC 16022, 5.2.4.7: nothing goes before the codeword of a macro; BWIPP may go to another mode before it.
test.each([
  '',
  'A',
  '123456',
  'ABCDEFGHIJKLMNOPQRSTUVW',
  'abcdefghijklmnopqrst',
  '*'.repeat(30),
  '\x1d1T\x01',
])('macros 05 and 06 around %j', async (data) => {
  for (const format of ['05', '06']) {
    const text = `[)>\x1e${format}\x1d${data}\x1e\x04`;
    const symbol = dataMatrix(codes(text), 'square');
    expect(await read(symbol)).toEqual([text]);
    expect(symbol.columns).toBeLessThanOrEqual(bwipMatrix('datamatrix', text, { binarytext: true }).width);
  }
});

test('more than a symbol holds is refused, whatever it is', () => {
  for (const alphabet of ALPHABETS) {
    const long = Array.from({ length: 4_000 }, (_, index) => alphabet[index % alphabet.length] ?? 0);
    expect(() => dataMatrix(long, 'square')).toThrow(/longer than a square Data Matrix/);
    expect(() => dataMatrix(long.slice(0, 200), 'rectangle')).toThrow(/longer than a rectangle Data Matrix/);
  }
});
