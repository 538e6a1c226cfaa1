/**
 * Linear barcodes that the rasteriser does not draw, or draws wrongly.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */
import { code11Checks, gs1, luhn, mod11 } from '../../values/check-digits.ts';
import { expandUpce } from '../../values/upce.ts';
import { GraphicError } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import { checked, isYes, padded, requireData, upce } from './symbol-data.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';
import { type Dark, type LineText, readLine, type UprightSymbol } from './upright-symbol.ts';

/** How far guard bars of EAN and UPC reach into the line below them, modules. */
const GUARD = 5;

interface Bars {
  readonly widths: readonly number[];
  /** The bars have two widths, whose ratio `^BY` sets. */
  readonly ratio?: true;
  readonly text: string;
  /** Only for EAN and UPC: where the digits stand, modules from the left, and which bars reach down to them. */
  readonly retail?: { readonly line: readonly LineText[]; readonly isGuard: (at: number) => boolean };
}

/** Its numbers are indexes of parameters: the height, whether there is a line, whether the line is above. */
interface LinearSymbology {
  readonly height: number;
  readonly line?: number;
  readonly above: number;
  /** The guide's default for "above". */
  readonly isAbove?: true;
  bars(data: string, params: readonly string[], encoder: SymbolEncoder): Bars;
}

const PLAIN = { height: 1, line: 2, above: 3 } as const;
const CHECKED = { height: 2, line: 3, above: 4 } as const;

/** Characters by which `^BA` writes Code 93's shifts. */
const SHIFTS: Readonly<Record<string, string>> = { '&': '^SFT$', "'": '^SFT%', '(': '^SFT/', ')': '^SFT+' };

const LINEAR: Readonly<Record<string, LinearSymbology>> = {
  B1: {
    ...CHECKED,
    bars: (data, [, one], encoder) => {
      requireData('B1', data, /^[0-9-]+$/);
      const text = data + code11Checks(data, isYes(one, 'N') ? 1 : 2);
      return { widths: encoder.widths('code11', text), ratio: true, text };
    },
  },
  B8: {
    ...PLAIN,
    bars: (data, _, encoder) => {
      const digits = checked(padded('B8', data, 7));
      const line = [place(digits.slice(0, 4), 3, 31), place(digits.slice(4), 36, 64)];
      const isGuard = (at: number) => at < 3 || (at > 31 && at < 36) || at >= 64;
      return { widths: encoder.widths('ean8', digits), text: digits, retail: { line, isGuard } };
    },
  },
  B9: {
    ...PLAIN,
    bars: (data, [, , , , check], encoder) => {
      const short = upce('B9', data);
      const digits = short + gs1(expandUpce(short));
      const right = isYes(check, 'Y') ? [place(digits.slice(7), 52, 60)] : [];
      const line = [place(digits.slice(0, 1), -9, -1), place(digits.slice(1, 7), 3, 45), ...right];
      return {
        widths: encoder.widths('upce', digits),
        text: digits,
        retail: { line, isGuard: (at) => at < 3 || at >= 45 },
      };
    },
  },
  BA: {
    ...PLAIN,
    bars: (data, _, encoder) => {
      requireData('BA', data, /^[\x20-\x60]+$/);
      const text = data.replace(/[&'()]/g, (shift) => SHIFTS[shift] ?? '');
      const widths = encoder.widths('code93', text, { includecheck: true, parsefnc: true });
      return { widths, text: data };
    },
  },
  BI: {
    ...PLAIN,
    bars: (data, _, encoder) => {
      requireData('BI', data, /^\d+$/);
      return { widths: encoder.widths('industrial2of5', data), ratio: true, text: data };
    },
  },
  BJ: {
    ...PLAIN,
    bars: (data, _, encoder) => {
      requireData('BJ', data, /^\d+$/);
      // By the guide, the bars hold all data, as with ^BI. It shows no start. Two bars, as IATA's, tell it from Industrial.
      return { widths: encoder.widths('iata2of5', data), ratio: true, text: data };
    },
  },
  BK: {
    ...CHECKED,
    bars: (data, params, encoder) => {
      const [start, stop] = [params[5], params[6]].map((letter) => letter?.toUpperCase() || 'A');
      const text = `${start}${data.toUpperCase()}${stop}`;
      requireData('BK', text, /^[A-D][0-9$:/.+-]+[A-D]$/);
      return { widths: encoder.widths('rationalizedCodabar', text), ratio: true, text };
    },
  },
  BL: {
    height: 1,
    above: 2,
    bars: (data, _, encoder) => {
      requireData('BL', data, /^[0-9A-Z $%+./-]+$/);
      const widths = encoder.widths('code39', data, { includecheck: true });
      return { widths, ratio: true, text: `*${data}*` };
    },
  },
  BM: {
    ...CHECKED,
    bars: (data, [, check, , , , shown], encoder) => {
      requireData('BM', data, /^\d{1,14}$/);
      const digits = msi(data, check?.toUpperCase() || 'B');
      return { widths: encoder.widths('msi', digits), ratio: true, text: isYes(shown, 'N') ? digits : data };
    },
  },
  BP: {
    ...CHECKED,
    bars: (data, _, encoder) => {
      requireData('BP', data, /^[0-9A-F]+$/);
      // BWIPP has narrow and wide bars of 1 and 3 modules, and narrow and wide spaces of 2 and 4.
      const widths = encoder.widths('plessey', data).map((width) => (width > 2 ? 2 : 1));
      return { widths, ratio: true, text: data };
    },
  },
  BS: {
    ...PLAIN,
    isAbove: true,
    bars: (data, _, encoder) => {
      const digits = padded('BS', data, data.length > 2 ? 5 : 2);
      return { widths: encoder.widths(`ean${digits.length}`, digits), text: digits };
    },
  },
  BU: {
    ...PLAIN,
    bars: (data, [, , , , check], encoder) => {
      const digits = checked(padded('BU', data, 11));
      const right = isYes(check, 'Y') ? [place(digits.slice(11), 96, 104)] : [];
      const middle = [place(digits.slice(1, 6), 10, 45), place(digits.slice(6, 11), 50, 85)];
      const line = [place(digits.slice(0, 1), -9, -1), ...middle, ...right];
      const isGuard = (at: number) => at < 10 || (at >= 45 && at < 50) || at >= 85;
      return { widths: encoder.widths('upca', digits), text: digits, retail: { line, isGuard } };
    },
  },
};

/** The sizes that `^BY` sets, dots, and the ratio of wide to narrow. */
export interface BarSizes {
  readonly module: number;
  readonly ratio: number;
  readonly height: number;
}

export function isLinear(name: string): boolean {
  return Object.hasOwn(LINEAR, name);
}

/** @throws GraphicError */
export function linearSymbol(
  { name, data }: SymbolField,
  params: readonly string[],
  { module, ratio, height }: BarSizes,
  encoder: SymbolEncoder,
): UprightSymbol {
  const symbology = LINEAR[name];
  if (symbology === undefined) throw new GraphicError(`^${name} is not drawn`);
  const tall = whole(params[symbology.height], height, 1, 32_000);
  const bars = symbology.bars(data, params, encoder);
  const isShown = symbology.line === undefined || isYes(params[symbology.line], 'Y');
  const isAbove = isYes(params[symbology.above], symbology.isAbove === true ? 'Y' : 'N');
  const retail = isShown && !isAbove ? bars.retail : undefined;
  const dark = barDots(bars, module, Math.round(module * ratio), tall, retail?.isGuard);
  if (!isShown) return { dark, tall };
  if (retail === undefined) return { dark, tall, line: readLine(bars.text, { dark, module, isAbove }) };
  const texts = retail.line.map(({ text, from, to }) => ({ text, from: from * module, to: to * module }));
  return { dark, tall, line: { texts, isAbove, module } };
}

/**
 * `^BT`, TLC39, which has sizes of its own. Only its six digits in Code 39 are drawn.
 * @throws GraphicError a serial number follows them
 */
export function tlc39Symbol(
  { data, dpi }: SymbolField,
  [, width, ratio, height]: readonly string[],
  encoder: SymbolEncoder,
): UprightSymbol {
  requireData('BT', data, /^\d{6}/);
  if (data.startsWith(',', 6)) {
    throw new GraphicError('^BT is not drawn with a serial number, which goes into a part above the Code 39');
  }
  const module = whole(width, dpi < 500 ? 2 : 4, 1, 10);
  const wide = Number.parseFloat(ratio ?? '');
  const tall = whole(height, dpi < 250 ? 40 : dpi < 500 ? 60 : 120, 1, 9999);
  const bars: Bars = { widths: encoder.widths('code39', data.slice(0, 6)), ratio: true, text: '' };
  const dark = barDots(
    bars,
    module,
    Math.round(module * (wide >= 2 && wide <= 3 ? wide : 2)),
    tall,
    undefined,
  );
  return { dark, tall };
}

function barDots(
  bars: Bars,
  module: number,
  wide: number,
  tall: number,
  isGuard: ((at: number) => boolean) | undefined,
): Dark[] {
  const dark: Dark[] = [];
  let [x, at] = [0, 0];
  bars.widths.forEach((width, index) => {
    const dots = bars.ratio === true ? (width > 1 ? wide : module) : width * module;
    if (index % 2 === 0) dark.push([x, 0, dots, isGuard?.(at) === true ? tall + GUARD * module : tall]);
    x += dots;
    at += width;
  });
  return dark;
}

function place(text: string, from: number, to: number): LineText {
  return { text, from, to };
}

/** @param check which check digits `^BM` adds: A none, B mod 10, C mod 10 twice, D mod 11 and mod 10 */
function msi(data: string, check: string): string {
  if (check === 'A') return data;
  if (check !== 'D') return check === 'C' ? twice(data) : data + luhn(data);
  const digit = mod11(data);
  if (digit === undefined) throw new GraphicError('^BM has no check digit for this data');
  return data + digit + luhn(data + digit);
}

function twice(data: string): string {
  const once = data + luhn(data);
  return once + luhn(once);
}
