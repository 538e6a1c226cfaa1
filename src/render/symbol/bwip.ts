/** Wraps bwip-js: gives symbols as modules, and turns its errors into reasons that a person can read. */
import bwipjs from 'bwip-js/node';
import { z } from 'zod';
import { because, type Reason, type ReasonCode } from '../../contract/reason.ts';
import { SaidFault } from '../../values/said-fault.ts';

/** The error for a wrong check digit. It states the right digit, which is not part of the value. */
export function wrongCheckDigit(expected: string | number): SymbolError {
  return new SymbolError(because('check-digit-wrong', { expected }));
}

/** Thrown for a value that a symbology cannot hold. The message says why, without any part of the value. */
export class SymbolError extends SaidFault {
  override readonly name = 'SymbolError';
  /** bwip-js's name of the fault, if bwip-js found it: `GS1badChecksum`. */
  readonly fault: string | undefined;

  constructor(said: Reason, fault?: string) {
    super(said);
    this.fault = fault;
  }
}

const linear = z.tuple([z.object({ sbs: z.array(z.number()) })]);
const matrix = z.tuple([z.object({ pixs: z.array(z.number()), pixx: z.number(), pixy: z.number() })]);
const cells = z.tuple([z.object({ pixs: z.array(z.number()) })]);
const postal = z.tuple([z.object({ bbs: z.array(z.number()), bhs: z.array(z.number()) })]);

/** Messages look like `bwipp.GS1badMonth#3346: AI 17: Invalid month`; the AI can be any text of the value. */
function symbolError(error: unknown, bcid: string): SymbolError {
  // If a value is just above this encoder's limit, the encoder fails only when it finds no finder pattern for it.
  if (error instanceof TypeError && bcid.startsWith('databarexpanded')) {
    return new SymbolError(because('value-too-long-for-symbol', {}));
  }
  const match = error instanceof Error ? /^bwipp\.(\w+)#\d+: (.*)$/s.exec(error.message) : null;
  if (match === null) throw error;
  const [, fault = '', said = ''] = match;
  return new SymbolError(reasonOf(said, fault), fault);
}

/** Faults of bwip-js's GS1 checker that have a reason of their own. */
const GS1_REASONS = new Map<string, GsReason>([
  ['GS1unknownAI', 'gs1-unknown-ai'],
  ['GS1badMonth', 'gs1-month'],
  ['GS1badDay', 'gs1-day'],
  ['GS1badDateLength', 'gs1-date-length'],
  ['GS1notNumeric', 'gs1-not-digits'],
  ['GS1valueTooShort', 'gs1-too-short'],
  ['GS1valueTooLong', 'gs1-too-long'],
  ['GS1badCSET82character', 'gs1-character'],
  ['GS1badCSET39character', 'gs1-character'],
  ['GS1badCSET64character', 'gs1-character'],
  ['GS1badChecksum', 'gs1-check-character'],
  ['GS1badAlphaCheckCharacters', 'gs1-check-character'],
  ['GS1badHour', 'gs1-time'],
  ['GS1badMinute', 'gs1-time'],
  ['GS1badSecond', 'gs1-time'],
]);
type GsReason = Extract<
  ReasonCode,
  | 'gs1-unknown-ai'
  | 'gs1-month'
  | 'gs1-day'
  | 'gs1-date-length'
  | 'gs1-not-digits'
  | 'gs1-too-short'
  | 'gs1-too-long'
  | 'gs1-character'
  | 'gs1-check-character'
  | 'gs1-time'
>;

/** The library's names for one fault: the value is longer than any symbol holds. */
const TOO_LONG = /(?:too(?:Long|Large)|NoValidSymbol|insufficientCapacity)$/i;
/** The message about AIs that exclude each other, or are repeated; a family of AIs is written `31nn`. */
const TOGETHER = /^(?:AIs|Repeated AIs) \((\d{2,4})\)(?: and \((\d{1,4}n{0,3})\))?/;

function reasonOf(said: string, fault: string): Reason {
  const ai = /^AI ([^:]*): (.*)$/s.exec(said);
  const reason = (ai?.[2] ?? said).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  const plain = /^[\w .,:()'/+-]{1,200}$/.test(reason) ? reason : 'the value is not valid';
  if (ai === null) {
    const [, first, other] = TOGETHER.exec(said) ?? [];
    if (fault === 'GS1exclusiveAIs' && first !== undefined && other !== undefined)
      return because('gs1-exclusive', { ai: first, other });
    if (fault === 'GS1repeatedDifferingAIs' && first !== undefined)
      return because('gs1-repeated', { ai: first });
    if (TOO_LONG.test(fault)) return because('value-too-long-for-symbol', {});
    return because('value-not-held', { said: plain });
  }
  // A record's brackets may hold any text, which must not reach an error message.
  if (!/^\d{1,6}$/.test(ai[1] ?? '')) return because('gs1-no-ai', {});
  return because(GS1_REASONS.get(fault) ?? 'gs1-rule', { ai: ai[1] ?? '', said: plain });
}

function encode(bcid: string, text: string, options: Record<string, string | boolean>): unknown {
  try {
    return bwipjs.raw({ bcid, text, ...options });
  } catch (error) {
    throw symbolError(error, bcid);
  }
}

/** Widths of bar, space, …, bar in modules. @throws SymbolError */
export function bwipWidths(
  bcid: string,
  text: string,
  options: Record<string, string | boolean> = {},
): number[] {
  const widths = linear.parse(encode(bcid, text, options))[0].sbs;
  // If a symbology's characters end with a gap, there is a gap behind the last bar too. It is left out.
  return widths.length % 2 === 0 ? widths.slice(0, -1) : widths;
}

/** Rows of modules, 1 is dark. @throws SymbolError */
export function bwipMatrix(
  bcid: string,
  text: string,
  options: Record<string, string | boolean> = {},
): { width: number; height: number; modules: readonly number[] } {
  const [{ pixs, pixx, pixy }] = matrix.parse(encode(bcid, text, options));
  return { width: pixx, height: pixy, modules: pixs };
}

/** The rows of a stacked symbol. Each row is given once, not once for each module of its height. @throws SymbolError */
export function bwipRows(
  bcid: string,
  text: string,
  options: Record<string, string | boolean> = {},
): number[][] {
  const { width, modules } = bwipMatrix(bcid, text, options);
  return Array.from({ length: modules.length / width }, (_, row) =>
    modules.slice(row * width, (row + 1) * width),
  );
}

/** The dark modules of a MaxiCode: 30 × row + column. @throws SymbolError */
export function bwipDark(
  bcid: string,
  text: string,
  options: Record<string, string | boolean> = {},
): number[] {
  return cells.parse(encode(bcid, text, options))[0].pixs;
}

/**
 * Bars of a postal code: full, ascender, descender, tracker. bwip-js gives heights, and distances from the
 * bottom of the lowest bar, in inches. In every code, bars that end above 0.12 in reach up, and bars that
 * begin at 0 reach down, unless all begin there.
 * @throws SymbolError
 */
export function bwipPostal(
  bcid: string,
  text: string,
  options: Record<string, string | boolean> = {},
): ('F' | 'A' | 'D' | 'T')[] {
  const [{ bbs, bhs }] = postal.parse(encode(bcid, text, options));
  const twoHeights = bbs.every((bottom) => bottom === 0);
  return bhs.map((height, index) => {
    const bottom = bbs[index] ?? 0;
    const up = bottom + height > 0.12;
    const down = bottom === 0 && !twoHeights;
    return up ? (down ? 'F' : 'A') : down ? 'D' : 'T';
  });
}
