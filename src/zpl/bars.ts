/**
 * Finds the printer's own ZPL command and its data for a linear barcode, or the reason why the printer might draw another
 * symbol. This is not in the ZPL driver, because a template can insist on the command ("render": "native"), and the template
 * check has to tell whether that is possible. Section names are those of the ZPL II Programming Guide.
 */
import { because, type Reason } from '../contract/reason.ts';
import { escapeFieldData } from './field-data.ts';

/** What a printer needs to draw a linear symbol itself, dot for dot as we would draw it. */
export type NativeSymbol =
  | { readonly symbology: 'code128'; readonly runs: readonly Code128Run[] }
  | { readonly symbology: 'ean13'; readonly digits: string }
  /** The characters between start and stop, including a check digit. */
  | { readonly symbology: 'code39' | 'itf'; readonly data: string };

export type CodeSet = 'A' | 'B' | 'C';

/**
 * What chooses a code set in the data of ^BC, and at its beginning, by the character after `>` ("Code 128 Invocation
 * Characters").
 */
export const CODE_SET_CHANGES: Readonly<Record<string, CodeSet>> = { 5: 'C', 6: 'B', 7: 'A' };
export const CODE_SET_STARTS: Readonly<Record<string, CodeSet>> = {
  ...CODE_SET_CHANGES,
  ...{ 9: 'A', ':': 'B', ';': 'C' },
};

/** Consecutive codewords of Code 128 in one code set, without the codeword that changes to it. */
export interface Code128Run {
  readonly set: CodeSet;
  readonly codewords: readonly number[];
}

interface ZplBars {
  readonly command: 'BC' | 'BE' | 'B2' | 'B3';
  /** Field data that needs no escapes. */
  readonly data: string;
  /** Ratio of wide to narrow, for commands that take it. */
  readonly ratio?: number;
}

/** Why a symbol cannot be printed with a command. */
interface NoZplBars {
  readonly reason: Reason;
}

/** ^BY takes modules of 1 to 10 dots. */
const MOST_MODULE = 10;

/**
 * Why no command can print bars of this size, whatever their data; undefined if one can.
 * @param module width in dots
 * @param wide width of a wide bar or space, dots, for symbologies with two widths
 */
export function sizeRefusal(module: number, wide?: number): Reason | undefined {
  if (module > MOST_MODULE) return because('native-module', { most: MOST_MODULE, module });
  // ^BY takes the ratio in tenths; if wide / module is no whole number of tenths, printers round differently.
  if (wide !== undefined && !Number.isInteger((10 * wide) / module)) {
    return because('native-ratio', { wide, module });
  }
  return undefined;
}

/** @param wide width of a wide bar or space, dots, for symbologies with two widths */
export function zplBars(native: NativeSymbol, module: number, wide?: number): ZplBars | NoZplBars {
  const reason = sizeRefusal(module, wide);
  if (reason !== undefined) return { reason };
  switch (native.symbology) {
    case 'code128':
      return code128Data(native.runs);
    case 'ean13':
      // ^BE ("EAN-13 Bar Code") takes 12 digits. The printer adds the check digit.
      return { command: 'BE', data: native.digits.slice(0, 12) };
    case 'code39':
      return { command: 'B3', data: native.data, ratio: (wide ?? module) / module };
    case 'itf':
      return { command: 'B2', data: native.data, ratio: (wide ?? module) / module };
  }
}

/**
 * What invokes the code sets of ^BC ("Code 128 Bar Code", table "Code 128 Invocation Characters"). Set A is not used, because
 * ^BC reads its data as pairs of digits.
 *
 * Two more cases are drawn as graphics: a change from B to C in the middle, and a single character of set B after an invocation
 * at the end. Printers handle both, but ZPL interpreters (zebrash, in our virtual printer and in other programs' previews) draw
 * another symbol.
 */
const START = { B: '>:', C: '>;' } as const;
const TO_B = '>6';
const FNC1 = 102;

function code128Data(runs: readonly Code128Run[]): ZplBars | NoZplBars {
  let data = '';
  for (const [index, { set, codewords }] of runs.entries()) {
    if (set === 'A') return { reason: because('code128-set-a', {}) };
    if (index > 0 && set === 'C') {
      return { reason: because('code128-set-c', {}) };
    }
    data += index === 0 ? START[set] : TO_B;
    for (const codeword of codewords) {
      if (codeword === FNC1) data += '>8';
      else if (set === 'C') data += String(codeword).padStart(2, '0');
      else {
        const char = String.fromCharCode(codeword + 32);
        // `>` would start an invocation. A symbol with a character that needs an escape is drawn as a graphic.
        if (codeword > 94 || char === '>' || escapeFieldData(char) !== char) {
          return { reason: because('code128-escape', {}) };
        }
        data += char;
      }
    }
  }
  if (runs.at(-1)?.set === 'B' && data.at(-3) === '>') {
    return { reason: because('code128-last', {}) };
  }
  return { command: 'BC', data };
}
