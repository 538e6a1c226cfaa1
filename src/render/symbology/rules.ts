/** What the renderer has to know of a symbology, and what a value becomes in it. */
import type { Reason } from '../../contract/reason.ts';
import type { BarcodeElement, SymbologyOption } from '../../contract/template.ts';
import type { NativeSymbol } from '../../zpl/bars.ts';
import type { Bitmap } from '../bitmap.ts';
import { SymbolError } from '../bwip.ts';

export interface QuietZone {
  /** Of what these are so many: symbols of a fixed size have theirs in mm. */
  readonly unit: 'modules' | 'mm';
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Bars and spaces, all of one height. */
export interface LinearSymbol {
  readonly kind: 'linear';
  /** Width without quiet zones, modules; wide elements of a symbology with two widths are not in it. */
  readonly modules: number;
  /** Wide elements of a symbology with two widths; each is `ratio` modules, rounded to whole dots. */
  readonly wides: number;
  /** Bar, space, bar, … in modules. Where `wides` counts them, everything over 1 is a wide element. */
  readonly widths: () => readonly number[];
  readonly native: NativeSymbol | undefined;
  /** The human-readable interpretation, check digits included where the standard prints them. */
  readonly text: string;
  /** Of this symbol, where it is not that of all symbols of its symbology. */
  readonly quiet?: QuietZone;
  readonly retail?: RetailParts;
  readonly bearer?: 'bars' | 'box';
}

/** What EAN and UPC have besides bars: guards, digits in groups, an add-on (GS1 General Specifications, EAN/UPC). */
export interface RetailParts {
  /** Width without the add-on, modules. */
  readonly modules: number;
  /** Bars that reach lower where digits stand below, modules. Told, so that nobody has to make all bars for it. */
  readonly guards: readonly { readonly at: number; readonly width: number }[];
  /** Digits whose middle is at a module. */
  readonly groups: readonly { readonly text: string; readonly middle: number }[];
  /** A digit in the quiet zone. */
  readonly left?: string;
  readonly right?: string;
  readonly addOn?: {
    /** Where it begins, and how wide it is, modules. */
    readonly at: number;
    readonly modules: number;
    readonly widths: () => readonly number[];
    readonly text: string;
  };
}

/** Square modules in rows: matrix symbols, and stacked ones with their rows at full height. */
export interface MatrixSymbol {
  readonly kind: 'matrix';
  /** Modules, without quiet zone. */
  readonly columns: number;
  readonly rows: number;
  /** A dot a module. */
  readonly bitmap: () => Bitmap;
}

/** Bars of a postal service; its sizes, mm, leave no choice. */
export interface PostalSizes {
  readonly bar: number;
  /** Middle of a bar to the middle of the next. */
  readonly pitch: number;
  /** The part that every bar has, and how far bars reach above and below it. */
  readonly tracker: number;
  readonly ascender: number;
  readonly descender: number;
}

export interface PostalSymbol {
  readonly kind: 'postal';
  /** Full, ascender, descender, tracker. */
  readonly bars: readonly ('F' | 'A' | 'D' | 'T')[];
  readonly sizes: PostalSizes;
}

export interface MaxiCodeSymbol {
  readonly kind: 'maxicode';
  /** Dark hexagons: 30 × row + column. */
  readonly dark: readonly number[];
}

export type BarcodeSymbol = LinearSymbol | MatrixSymbol | PostalSymbol | MaxiCodeSymbol;

export type SymbolOptions = Pick<BarcodeElement, SymbologyOption>;

export interface SymbologyRules {
  readonly kind: 'linear' | 'stacked' | 'matrix' | 'four-state' | 'maxicode';
  readonly quiet: QuietZone;
  /** A printer may have a command that makes the same symbol; others are drawn for every printer. */
  readonly command?: true;
  /** The value is a GS1 element string. */
  readonly gs1?: true;
  readonly options: readonly SymbologyOption[];
  /** What an option may be, where the contract leaves more room. @throws SymbolError */
  readonly checkOptions?: (options: SymbolOptions) => void;
  /** Wide to narrow, of a symbology with two widths. */
  readonly ratio?: number;
  /** The least height of the bars, modules; also what they get when the template says nothing. */
  readonly leastHeight?: number;
  /** @throws SymbolError */
  readonly encode: (value: string, options: SymbolOptions) => BarcodeSymbol;
  /**
   * Modules a side that the symbol surely does not exceed, found without encoding it; undefined: not known.
   * @throws SymbolError
   */
  readonly bound?: (value: string, options: SymbolOptions) => number | undefined;
}

export function beside(left: number, right = left): QuietZone {
  return { unit: 'modules', left, right, top: 0, bottom: 0 };
}

export function around(modules: number): QuietZone {
  return { unit: 'modules', left: modules, right: modules, top: modules, bottom: modules };
}

/** @throws SymbolError `otherwise` */
export function requireValue(value: string, pattern: RegExp, otherwise: Reason): void {
  if (!pattern.test(value)) throw new SymbolError(otherwise);
}

/** A linear symbol of one module width whose bars are known. */
export function linear(widths: readonly number[], text: string, native?: NativeSymbol): LinearSymbol {
  const modules = widths.reduce((sum, width) => sum + width, 0);
  return { kind: 'linear', modules, wides: 0, widths: () => widths, native, text };
}
