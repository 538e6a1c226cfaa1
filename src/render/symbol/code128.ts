/**
 * Encodes Code 128 (ISO/IEC 15417): from text to codewords to bars.
 *
 * Platen has an encoder of its own, because a printer that draws the symbol itself must be told where to change the code set.
 * Otherwise its symbol may not have the width that layout reserved. So every native label with a Code 128 needs the encoder. It
 * finds the shortest symbol by working backwards over the three code sets.
 */

import type { Code128Run } from '../../zpl/bars.ts';

/** Function 1 as an input character. It is the flag and the separator of GS1. */
export const FNC1 = -1;

type CodeSet = Code128Run['set'];

interface Code128 {
  readonly runs: readonly Code128Run[];
  /** Only plain characters: no shift, no FNC4. */
  readonly plain: boolean;
  /** Width without quiet zones, modules. */
  readonly modules: number;
}

const SETS: readonly CodeSet[] = ['A', 'B', 'C'];
const START: Readonly<Record<CodeSet, number>> = { A: 103, B: 104, C: 105 };
const CHANGE_TO: Readonly<Record<CodeSet, number>> = { A: 101, B: 100, C: 99 };
const FNC4: Readonly<Record<'A' | 'B', number>> = { A: 101, B: 100 };
const FNC1_CODEWORD = 102;
const SHIFT = 98;

/** Widths of bar, space, bar, space, bar, space of each codeword from 0, the three start codes included. */
const PATTERNS = (
  '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 ' +
  '122231 113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 ' +
  '322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 ' +
  '112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 ' +
  '331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 ' +
  '112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 ' +
  '124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 ' +
  '411311 113141 114131 311141 411131 211412 211214 211232 '
)
  .trim()
  .split(' ');
const STOP = '2331112';

/** The codewords for the character at `at` without leaving the set, and how many characters they hold; null: there are none. */
function step(
  input: readonly number[],
  at: number,
  set: CodeSet,
): { codewords: number[]; taken: number } | null {
  const char = input[at] ?? 0;
  if (char === FNC1) return { codewords: [FNC1_CODEWORD], taken: 1 };
  if (set === 'C') {
    const tens = char - 48;
    const ones = (input[at + 1] ?? 0) - 48;
    if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return null;
    return { codewords: [tens * 10 + ones], taken: 2 };
  }
  const base = char & 127;
  const high = char > 127 ? [FNC4[set]] : [];
  const own = base < 32 ? 'A' : base > 95 ? 'B' : set;
  const value = base < 32 ? base + 64 : base - 32;
  return { codewords: own === set ? [...high, value] : [...high, SHIFT, value], taken: 1 };
}

/**
 * The shortest symbol.
 * @param input characters 0 to 255 (Latin-1), or FNC1; at least one
 */
export function encodeCode128(input: readonly number[]): Code128 {
  const end = input.length;
  // stay[set][at]: the fewest codewords from `at` to the end, if the character at `at` is encoded in `set`.
  const stay: Record<CodeSet, Float64Array> = {
    A: new Float64Array(end + 2),
    B: new Float64Array(end + 2),
    C: new Float64Array(end + 2),
  };
  const onward = (at: number, set: CodeSet): number => {
    let fewest = stay[set][at] ?? 0;
    for (const other of SETS) fewest = Math.min(fewest, (stay[other][at] ?? 0) + 1);
    return at >= end ? 0 : fewest;
  };
  for (let at = end - 1; at >= 0; at--) {
    for (const set of SETS) {
      const taken = step(input, at, set);
      stay[set][at] =
        taken === null ? Number.POSITIVE_INFINITY : taken.codewords.length + onward(at + taken.taken, set);
    }
  }

  // Set B wins a draw, since people can read its data as plain text.
  const cheapest = (at: number, current: CodeSet | undefined): CodeSet => {
    const cost = (set: CodeSet) => (stay[set][at] ?? 0) + (current === undefined || set === current ? 0 : 1);
    const order: CodeSet[] = current === undefined ? ['B', 'C', 'A'] : [current, 'B', 'C', 'A'];
    return order.reduce((best, set) => (cost(set) < cost(best) ? set : best));
  };
  const runs: { set: CodeSet; codewords: number[] }[] = [];
  let plain = true;
  let count = 0;
  let at = 0;
  while (at < end) {
    let run = runs.at(-1);
    const set = cheapest(at, run?.set);
    if (run === undefined || run.set !== set) {
      run = { set, codewords: [] };
      runs.push(run);
      count++;
    }
    const taken = step(input, at, set);
    if (taken === null) throw new Error(`Code 128: no codeword in set ${set}`);
    if (taken.codewords.length > 1) plain = false;
    run.codewords.push(...taken.codewords);
    count += taken.codewords.length;
    at += taken.taken;
  }
  // Each codeword has 11 modules; the check character is one more, the stop pattern has 13.
  return { runs, plain, modules: 11 * (count + 1) + 13 };
}

/** The symbol with a single code set; null: the set lacks a character. */
export function encodeInSet(input: readonly number[], set: CodeSet): Code128 | null {
  const codewords: number[] = [];
  for (let at = 0; at < input.length; ) {
    const taken = step(input, at, set);
    if (taken === null || taken.codewords.length !== 1) return null;
    codewords.push(...taken.codewords);
    at += taken.taken;
  }
  return { runs: [{ set, codewords }], plain: true, modules: 11 * (codewords.length + 2) + 13 };
}

/** Bar, space, bar, … of a symbol, start, check and stop included, in modules. */
export function code128Widths(symbol: Code128): number[] {
  const codewords: number[] = [];
  for (const run of symbol.runs) {
    codewords.push(codewords.length === 0 ? START[run.set] : CHANGE_TO[run.set], ...run.codewords);
  }
  const check = codewords.reduce((sum, codeword, place) => sum + codeword * Math.max(place, 1), 0) % 103;
  const text = [...codewords, check].map((codeword) => PATTERNS[codeword] ?? '').join('') + STOP;
  return Array.from(text, Number);
}
