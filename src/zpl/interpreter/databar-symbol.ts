/**
 * `^BR`: GS1 DataBar, EAN and UPC, and GS1-128, alone or with a composite part above them.
 *
 * Source: ZPL II Programming Guide, ^BR. Its parameters are those of GS1's encoder for printers (gs1-barcode-engine). The
 * heights that the guide does not name, and `#` for FNC1 in the data, are taken from there.
 */
import { plainElements } from '../../values/gs1-elements.ts';
import { expandUpce } from '../../values/upce.ts';
import { GraphicError } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import { stackDots } from './stacked-symbol.ts';
import { checked, padded, requireData, upce } from './symbol-data.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';
import { extent, type UprightSymbol } from './upright-symbol.ts';

/** A row: its modules (1 is dark), and its height, dots. */
type Row = readonly [modules: readonly number[], tall: number];

interface Part {
  /** The encoder's name for the symbol. With `composite` behind it, it names the symbol with a composite part. */
  readonly name: string;
  /** Makes the lower part's data as the encoder takes it. @throws GraphicError */
  readonly read: (data: string) => string;
  /** Heights of its rows, modules. The command gives the heights of `separator` and `bars`. */
  readonly rows: readonly (number | 'separator' | 'bars')[];
  /** The encoder gives the symbol as bars if it stands alone. */
  readonly isLinear?: true;
  /** The heights in `rows` repeat. */
  readonly repeats?: true;
  /** The encoder gives no separate separator above it: with EAN and UPC the separator's rows are rows of the part above. */
  readonly isRetail?: true;
  /** If the part above is neither CC-A nor CC-B: the options that ask for it, and the height of its rows, modules. */
  readonly above?: { readonly options: Readonly<Record<string, string>>; readonly tall: number };
}

const linear = { isLinear: true } as const;
const retail = { isLinear: true, isRetail: true } as const;

/** Type 1 is the first. */
const PARTS: readonly Part[] = [
  { name: 'databaromni', read: gtin, rows: [33], ...linear },
  { name: 'databartruncated', read: gtin, rows: [13], ...linear },
  { name: 'databarstacked', read: gtin, rows: [5, 'separator', 7] },
  { name: 'databarstackedomni', read: gtin, rows: [33, 'separator', 'separator', 'separator', 33] },
  { name: 'databarlimited', read: gtin, rows: [10], ...linear },
  {
    name: 'databarexpandedstacked',
    read: elements,
    rows: [34, 'separator', 'separator', 'separator'],
    repeats: true,
  },
  { name: 'upca', read: retailDigits(11), rows: [74], ...retail },
  { name: 'upce', read: upceDigits, rows: [74], ...retail },
  { name: 'ean13', read: retailDigits(12), rows: [74], ...retail },
  { name: 'ean8', read: retailDigits(7), rows: [60], ...retail },
  { name: 'gs1-128', read: elements, rows: ['bars'], ...linear },
  {
    name: 'gs1-128',
    read: elements,
    rows: ['bars'],
    ...linear,
    above: { options: { ccversion: 'c' }, tall: 3 },
  },
];

/** Height of a row of CC-A and CC-B, modules. */
const ABOVE = 2;
/** The encoder does not check GS1's rules, because a printer prints what it is told. */
const UNCHECKED = { parse: true, dontlint: true };

/** @throws GraphicError */
export function databarSymbol(
  { data, dpi }: SymbolField,
  [, type, magnification, separator, height, width]: readonly string[],
  encoder: SymbolEncoder,
): UprightSymbol {
  const part = PARTS[whole(type, 1, 1, PARTS.length) - 1];
  if (part === undefined) throw new GraphicError(`^BR is not drawn as type ${type}`);
  const module = whole(magnification, dpi < 250 ? 2 : dpi < 500 ? 3 : 6, 1, 10);
  const sizes = {
    module,
    separator: module * whole(separator, 1, 1, 2),
    bars: whole(height, 25, 1, 32_000),
  };
  const [below = '', above, ...more] = data.split('|');
  if (more.length > 0) throw new GraphicError('^BR cannot hold this data');
  const text = part.read(below);
  // A row has an even number of segments. If the command names none, there is a single row.
  const segments =
    part.repeats === true ? { segments: String(2 * Math.ceil(whole(width, 22, 2, 22) / 2)) } : {};
  const options = { ...UNCHECKED, ...segments };
  const alone = rowsAlone(part, text, options, sizes, encoder);
  const rows =
    above === undefined
      ? alone
      : rowsOfBoth(part, `${text}|${elements(above)}`, options, sizes, alone, encoder);
  const dark = stackDots(
    { rows: rows.map(([modules]) => modules), tall: (at) => rows[at]?.[1] ?? module },
    module,
  );
  return { dark, tall: extent(dark).down };
}

interface Sizes {
  readonly module: number;
  readonly separator: number;
  readonly bars: number;
}

function rowsAlone(
  part: Part,
  text: string,
  options: Record<string, string | boolean>,
  sizes: Sizes,
  encoder: SymbolEncoder,
): Row[] {
  if (part.isLinear === true) {
    const bars = encoder.widths(part.name, text, options);
    const modules = bars.flatMap((width, at) => Array.from({ length: width }, () => (at + 1) % 2));
    return [[modules, tallOf(part, 0, sizes)]];
  }
  return encoder.rows(part.name, text, options).map((modules, at): Row => [modules, tallOf(part, at, sizes)]);
}

/** @param alone the lower part by itself; it has as many rows in the whole symbol */
function rowsOfBoth(
  part: Part,
  text: string,
  options: Record<string, string | boolean>,
  sizes: Sizes,
  alone: readonly Row[],
  encoder: SymbolEncoder,
): Row[] {
  const rows = encoder.rows(`${part.name}composite`, text, { ...options, ...part.above?.options });
  const lower = rows.length - alone.length;
  const parted = part.isRetail !== true;
  return rows.map((modules, at): Row => {
    if (at >= lower) return [modules, alone[at - lower]?.[1] ?? sizes.module];
    if (parted && at === lower - 1) return [modules, sizes.separator];
    const above = part.repeats === true ? fromLeft(modules) : modules;
    return [above, sizes.module * (part.above?.tall ?? ABOVE)];
  });
}

/** Moves a row above a DataBar Expanded: it must begin two modules from the left, but the encoder puts it in the middle. */
function fromLeft(modules: readonly number[]): readonly number[] {
  const bars = modules.slice(modules.indexOf(1), modules.lastIndexOf(1) + 1);
  return [0, 0, ...bars];
}

function tallOf({ rows, repeats }: Part, at: number, { module, separator, bars }: Sizes): number {
  const tall = rows[repeats === true ? at % rows.length : at] ?? 1;
  if (tall === 'separator') return separator;
  return tall === 'bars' ? bars : tall * module;
}

function gtin(data: string): string {
  requireData('BR', data, /^\d{1,13}$/);
  return `(01)${checked(data.padStart(13, '0'))}`;
}

function retailDigits(length: number): (data: string) => string {
  return (data) => checked(padded('BR', data, length));
}

function upceDigits(data: string): string {
  const short = upce('BR', data);
  return short + checked(expandUpce(short)).slice(-1);
}

/** Writes an element string in the encoder's syntax: brackets delimit AIs, and `^` begins an ordinal. */
function elements(data: string): string {
  const found = plainElements(data, '#');
  if (found === undefined || /[^\x21-\x7e]/.test(data)) throw new GraphicError('^BR cannot hold this data');
  const plain = (value: string) =>
    value.replace(/[\^()]/g, (char) => `^${String(char.charCodeAt(0)).padStart(3, '0')}`);
  return found.map(([ai, value]) => `(${ai})${plain(value)}`).join('');
}
