/**
 * Bars as the printer's own ZPL command: which it is and what data it gets, or why it would not surely be the same
 * symbol. Here and not with the ZPL driver because a template can insist on the command ("render": "native"), and a
 * check says whether it can have it. Section names are those of the ZPL II Programming Guide.
 */
import { because, type Reason } from '../contract/reason.ts';
import { escapeFieldData } from './field-data.ts';

/** What a printer needs to draw a linear symbol itself, dot for dot as we would. */
export type NativeSymbol =
  | { readonly symbology: 'code128'; readonly runs: readonly Code128Run[] }
  | { readonly symbology: 'ean13'; readonly digits: string }
  /** The characters between start and stop, a check digit among them. */
  | { readonly symbology: 'code39' | 'itf'; readonly data: string };

/** Codewords of Code 128 in one code set, the change into it not among them. */
export interface Code128Run {
  readonly set: 'A' | 'B' | 'C';
  readonly codewords: readonly number[];
}

export interface ZplBars {
  readonly command: 'BC' | 'BE' | 'B2' | 'B3';
  /** Field data; needs no escapes. */
  readonly data: string;
  /** Wide to narrow, of commands that have it. */
  readonly ratio?: number;
}

/** Why there is no command for a symbol, for people. */
export interface NoZplBars {
  readonly reason: Reason;
}

/** ^BY takes modules of 1 to 10 dots. */
const MOST_MODULE = 10;

/**
 * The command's size in dots, apart from its data: undefined when there is nothing to say against it.
 * @param wide of a wide bar or space, dots; of a symbology with two widths
 */
export function sizeRefusal(module: number, wide?: number): Reason | undefined {
  if (module > MOST_MODULE) return because('native-module', { most: MOST_MODULE, module });
  // ^BY takes a ratio in tenths; where that does not come to whole dots, printers round each its way.
  if (wide !== undefined && !Number.isInteger((10 * wide) / module)) {
    return because('native-ratio', { wide, module });
  }
  return undefined;
}

/** @param wide of a wide bar or space, dots; of a symbology with two widths */
export function zplBars(native: NativeSymbol, module: number, wide?: number): ZplBars | NoZplBars {
  const reason = sizeRefusal(module, wide);
  if (reason !== undefined) return { reason };
  switch (native.symbology) {
    case 'code128':
      return code128Data(native.runs);
    case 'ean13':
      // ^BE ("EAN-13 Bar Code"): 12 digits, the printer adds the check digit.
      return { command: 'BE', data: native.digits.slice(0, 12) };
    case 'code39':
      return { command: 'B3', data: native.data, ratio: (wide ?? module) / module };
    case 'itf':
      return { command: 'B2', data: native.data, ratio: (wide ?? module) / module };
  }
}

/**
 * Code sets of ^BC ("Code 128 Bar Code", table "Code 128 Invocation Characters"). Set A pairs digits: not used.
 *
 * Left to a graphic besides: a change from B to C in the middle, and one lone character of set B after an
 * invocation at the end. Printers do both, but interpreters of ZPL (zebrash, in our virtual printer and in
 * others' previews) draw another symbol.
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
        // > would invoke a code set, and what needs an escape is left to a graphic.
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
