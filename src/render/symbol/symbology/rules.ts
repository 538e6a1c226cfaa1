/** Types for symbologies: the rules that the renderer needs, and the symbols that values become. */
import type { Reason } from '../../../contract/reason.ts';
import type { BarcodeElement, SymbologyOption } from '../../../contract/template.ts';
import type { NativeSymbol } from '../../../zpl/bars.ts';
import type { Bitmap } from '../../image/bitmap.ts';
import { SymbolError } from '../bwip.ts';

export interface QuietZone {
  /** The unit of the four sides: symbols of a fixed size have their quiet zones in mm. */
  readonly unit: 'modules' | 'mm';
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Bars and spaces, all of one height. */
export interface LinearSymbol {
  readonly kind: 'linear';
  /** Width without quiet zones, modules. The wide elements of a symbology with two widths are not counted. */
  readonly modules: number;
  /** How many wide elements there are, in a symbology with two widths. Each is `ratio` modules, rounded to whole dots. */
  readonly wides: number;
  /** Bar, space, bar, … in modules. If `wides` is not 0, every width over 1 is a wide element. */
  readonly widths: () => readonly number[];
  readonly native: NativeSymbol | undefined;
  /** The human-readable interpretation, check digits included where the standard prints them. */
  readonly text: string;
  /** This symbol's quiet zone, if it differs from its symbology's. */
  readonly quiet?: QuietZone;
  readonly retail?: RetailParts;
  readonly bearer?: 'bars' | 'box';
}

/** What EAN and UPC have besides bars: guards, digits in groups, an add-on (GS1 General Specifications, EAN/UPC). */
export interface RetailParts {
  /** Width without the add-on, modules. */
  readonly modules: number;
  /** The bars that reach lower if digits stand below, modules. They are known without making all bars. */
  readonly guards: readonly { readonly at: number; readonly width: number }[];
  /** Groups of digits, and the module of each group's middle. */
  readonly groups: readonly { readonly text: string; readonly middle: number }[];
  /** The digit in the left quiet zone, and in the right one. */
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

/** Square modules in rows: matrix symbols, and stacked symbols, whose rows are repeated up to their height. */
export interface MatrixSymbol {
  readonly kind: 'matrix';
  /** Modules, without quiet zone. */
  readonly columns: number;
  readonly rows: number;
  /** One dot a module. */
  readonly bitmap: () => Bitmap;
}

/** Sizes of a postal service's bars, mm; a template cannot choose others. */
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
  /** True: a printer may have a command for the same symbol. Other symbologies are always drawn. */
  readonly command?: true;
  /** The value is a GS1 element string. */
  readonly gs1?: true;
  readonly options: readonly SymbologyOption[];
  /** Checks the values of options, if the contract allows more than the symbology. @throws SymbolError */
  readonly checkOptions?: (options: SymbolOptions) => void;
  /** Default ratio of wide to narrow, of a symbology with two widths. */
  readonly ratio?: number;
  /** The least height of the bars, modules. They get this height if the template names none. */
  readonly leastHeight?: number;
  /** @throws SymbolError */
  readonly encode: (value: string, options: SymbolOptions) => BarcodeSymbol;
  /**
   * An upper bound for the symbol's side, modules, found without encoding it; undefined: not known.
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
