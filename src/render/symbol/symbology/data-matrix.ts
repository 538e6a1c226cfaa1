/**
 * Encodes Data Matrix ECC 200 (ISO/IEC 16022): from a message to the smallest symbol that holds it. The size is known at once.
 * Error correction and drawing wait until somebody asks for the bitmap.
 */
import { because } from '../../../contract/reason.ts';
import type { Bitmap } from '../../image/bitmap.ts';
import { SymbolError } from '../bwip.ts';
import { FNC1 } from '../code128.ts';
import { dataMatrixCodewords, padCodewords } from './data-matrix-codewords.ts';
import { type DataMatrixSize, placementOf } from './data-matrix-placement.ts';
import type { MatrixSymbol } from './rules.ts';

/** Rows, columns, regions down and across, error correction codewords, blocks. */
type Metrics = readonly [number, number, number, number, number, number];

const SQUARES: readonly Metrics[] = [
  [10, 10, 1, 1, 5, 1],
  [12, 12, 1, 1, 7, 1],
  [14, 14, 1, 1, 10, 1],
  [16, 16, 1, 1, 12, 1],
  [18, 18, 1, 1, 14, 1],
  [20, 20, 1, 1, 18, 1],
  [22, 22, 1, 1, 20, 1],
  [24, 24, 1, 1, 24, 1],
  [26, 26, 1, 1, 28, 1],
  [32, 32, 2, 2, 36, 1],
  [36, 36, 2, 2, 42, 1],
  [40, 40, 2, 2, 48, 1],
  [44, 44, 2, 2, 56, 1],
  [48, 48, 2, 2, 68, 1],
  [52, 52, 2, 2, 84, 2],
  [64, 64, 4, 4, 112, 2],
  [72, 72, 4, 4, 144, 4],
  [80, 80, 4, 4, 192, 4],
  [88, 88, 4, 4, 224, 4],
  [96, 96, 4, 4, 272, 4],
  [104, 104, 4, 4, 336, 6],
  [120, 120, 6, 6, 408, 6],
  [132, 132, 6, 6, 496, 8],
  [144, 144, 6, 6, 620, 10],
];
const RECTANGLES: readonly Metrics[] = [
  [8, 18, 1, 1, 7, 1],
  [8, 32, 1, 2, 11, 1],
  [12, 26, 1, 1, 14, 1],
  [12, 36, 1, 2, 18, 1],
  [16, 36, 1, 2, 24, 1],
  [16, 48, 1, 2, 28, 1],
];

function size([rows, columns, down, across, check, blocks]: Metrics): DataMatrixSize {
  const regionRows = rows / down - 2;
  const regionColumns = columns / across - 2;
  const data = Math.floor((regionRows * down * regionColumns * across) / 8) - check;
  return { rows, columns, regionRows, regionColumns, data, check, blocks };
}

export type DataMatrixShape = 'square' | 'rectangle';

/** The smallest first. */
const SIZES: Readonly<Record<DataMatrixShape, readonly DataMatrixSize[]>> = {
  square: SQUARES.map(size),
  rectangle: RECTANGLES.map(size),
};

function sizeFor(shape: DataMatrixShape, codewords: number): DataMatrixSize | undefined {
  return SIZES[shape].find(({ data }) => codewords <= data);
}

const CAPACITY: Readonly<Record<DataMatrixShape, (codewords: number) => number>> = {
  square: (codewords) => sizeFor('square', codewords)?.data ?? Number.POSITIVE_INFINITY,
  rectangle: (codewords) => sizeFor('rectangle', codewords)?.data ?? Number.POSITIVE_INFINITY,
};

/** The largest symbol holds so many digits. No longer message fits into any symbol. */
const MOST_CHARACTERS = 3116;

const FNC1_FIRST = 232;
/** If `[)>`, RS, 05 or 06, GS stand before the data, and RS, EOT after it, one codeword replaces all of them (5.2.4.7). */
const MACROS = [
  { start: [0x5b, 0x29, 0x3e, 0x1e, 0x30, 0x35, 0x1d], codeword: 236 },
  { start: [0x5b, 0x29, 0x3e, 0x1e, 0x30, 0x36, 0x1d], codeword: 237 },
] as const;
const MACRO_END = [0x1e, 0x04];

/**
 * @param message bytes, or FNC1
 * @param eci the encoding of the bytes; if left out, the symbology's default, Latin-1
 * @throws SymbolError no symbol of the shape holds it
 */
export function dataMatrix(message: readonly number[], shape: DataMatrixShape, eci?: number): MatrixSymbol {
  const tooLong = () => new SymbolError(because('too-long-for-symbol', { code: `${shape} Data Matrix` }));
  if (message.length > MOST_CHARACTERS) throw tooLong();
  const { head, rest } = headed(message, eci);
  const codewords = dataMatrixCodewords(rest, head, CAPACITY[shape]);
  const size = sizeFor(shape, codewords.length);
  if (size === undefined) throw tooLong();
  return {
    kind: 'matrix',
    columns: size.columns,
    rows: size.rows,
    bitmap: () => draw(size, withCheck(size, padCodewords(codewords, size.data))),
  };
}

/** Splits off the codewords at the very start of a symbol: an ECI, GS1's FNC1, or a macro. */
function headed(message: readonly number[], eci?: number): { head: number[]; rest: readonly number[] } {
  // ECIs up to 126 are one codeword.
  if (eci !== undefined) return { head: [241, eci + 1], rest: message };
  if (message[0] === FNC1) return { head: [FNC1_FIRST], rest: message.slice(1) };
  const rest = message.slice(7, -2);
  const ends = message.length >= 9 && MACRO_END.every((char, at) => message.at(at - 2) === char);
  const macro = ends && MACROS.find(({ start }) => start.every((char, at) => message[at] === char));
  return macro ? { head: [macro.codeword], rest } : { head: [], rest: message };
}

/** Powers of 2 in GF(256) with the polynomial 301, twice over, and their logarithms. */
const POWERS = new Uint8Array(510);
const LOGS = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  POWERS[power] = value;
  POWERS[power + 255] = value;
  LOGS[value] = power;
  value = value < 128 ? value * 2 : (value * 2) ^ 301;
}

/** `value` times 2 to the power of `log`, in GF(256). */
function product(value: number, log: number): number {
  return value === 0 ? 0 : (POWERS[(LOGS[value] ?? 0) + log] ?? 0);
}

/** By degree, the logarithms of a generator polynomial's coefficients, highest first, without that of x^degree, which is 1. */
const generators = new Map<number, Uint8Array>();

function generatorOf(degree: number): Uint8Array {
  const known = generators.get(degree);
  if (known !== undefined) return known;
  // (x + 2)(x + 2²) … (x + 2^degree)
  const coefficients = new Uint8Array(degree + 1);
  coefficients[0] = 1;
  for (let root = 1; root <= degree; root++) {
    for (let at = root; at > 0; at--) {
      coefficients[at] = (coefficients[at] ?? 0) ^ product(coefficients[at - 1] ?? 0, root);
    }
  }
  const made = coefficients.subarray(1).map((value) => LOGS[value] ?? 0);
  generators.set(degree, made);
  return made;
}

/** Data codewords with their error correction codewords, in the order of placement. */
function withCheck({ data, check, blocks }: DataMatrixSize, codewords: readonly number[]): Uint8Array {
  const all = new Uint8Array(data + check);
  all.set(codewords);
  const degree = check / blocks;
  const generator = generatorOf(degree);
  for (let block = 0; block < blocks; block++) {
    const remainder = new Uint8Array(degree);
    for (let at = block; at < data; at += blocks) {
      const factor = (remainder[0] ?? 0) ^ (all[at] ?? 0);
      remainder.copyWithin(0, 1);
      remainder[degree - 1] = 0;
      if (factor === 0) continue;
      const log = LOGS[factor] ?? 0;
      for (let term = 0; term < degree; term++) {
        remainder[term] = (remainder[term] ?? 0) ^ (POWERS[log + (generator[term] ?? 0)] ?? 0);
      }
    }
    // If blocks differ in length (144 × 144: eight of 156, two of 155), the first check codeword belongs to the block after the
    // one that has the last data codeword.
    const first = (block - (data % blocks) + blocks) % blocks;
    for (let at = 0; at < degree; at++) all[data + first + at * blocks] = remainder[at] ?? 0;
  }
  return all;
}

function draw(size: DataMatrixSize, codewords: Uint8Array): Bitmap {
  const { borders, dots } = placementOf(size);
  const data = borders.data.slice();
  for (let bit = 0; bit < dots.length; bit++) {
    if (((codewords[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) === 0) continue;
    const dot = dots[bit] ?? 0;
    data[dot >> 3] = (data[dot >> 3] ?? 0) | (0x80 >> (dot & 7));
  }
  return { ...borders, data };
}
