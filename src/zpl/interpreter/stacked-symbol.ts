/**
 * Stacked barcodes that the rasteriser does not draw.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */
import { GraphicError } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import { isYes } from './symbol-data.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';
import { type Dark, extent, type UprightSymbol } from './upright-symbol.ts';

/** Rows of a stacked symbol, and how tall each is, dots. */
interface Stack {
  readonly rows: readonly (readonly number[])[];
  readonly tall: (row: number) => number;
}

/** The sizes of MicroPDF417 in the order of `^BF`'s modes: columns × rows. */
const MICROPDF417 = [
  ...[11, 14, 17, 20, 24, 28].map((rows) => [1, rows]),
  ...[8, 11, 14, 17, 20, 23, 26].map((rows) => [2, rows]),
  ...[6, 8, 10, 12, 15, 20, 26, 32, 38, 44].map((rows) => [3, rows]),
  ...[4, 6, 8, 10, 12, 15, 20, 26, 32, 38, 44].map((rows) => [4, rows]),
];

const STACKED: Readonly<
  Record<string, (field: SymbolField, module: number, tall: number, encoder: SymbolEncoder) => Stack>
> = {
  B4: ({ data, params }, module, tall, encoder) => {
    const mode = params.split(',')[3]?.trim().toUpperCase() || 'A';
    if (mode !== 'A') throw new GraphicError(`^B4 is not drawn in mode ${mode}`);
    // The height is a number of modules.
    return separated(encoder.rows('code49', data), module, tall * module);
  },
  B7: ({ data, params }, _, tall, encoder) => {
    const [, height, level, columns, rows, truncated] = params.split(',');
    const symbol = pdf417(data, [whole(columns, 0, 0, 30), whole(rows, 0, 0, 90)], {
      name: isYes(truncated, 'N') ? 'pdf417compact' : 'pdf417',
      level: whole(level, 0, 0, 8),
      encoder,
    });
    // If the command has no height for rows, the height of ^BY is the whole symbol's.
    const isGiven = whole(height, 0, 0, 1) > 0;
    const each = isGiven ? tall : Math.max(1, Math.floor(tall / symbol.length));
    return { rows: symbol, tall: () => each };
  },
  BB: ({ data, params }, module, tall, encoder) => {
    const [, , , columns, rows, mode] = params.split(',').map((value) => value.trim());
    const kind = (mode || 'F').toUpperCase();
    if (kind !== 'F' && kind !== 'E') throw new GraphicError(`^BB is not drawn in mode ${mode}`);
    const options = { ...(columns && { columns }), ...(rows && { rows }) };
    // Mode E is mode F with FNC1 before the data.
    const symbol =
      kind === 'F'
        ? encoder.rows('codablockf', data, options)
        : encoder.rows('codablockf', `^FNC1${data.replaceAll('^', '^^')}`, { ...options, parsefnc: true });
    return separated(symbol, module, tall);
  },
  BF: ({ data, params }, _, tall, encoder) => {
    const [columns, rows] = MICROPDF417[whole(params.split(',')[2], 0, 0, 33)] ?? [1, 11];
    const options = { columns: String(columns), rows: String(rows) };
    return { rows: encoder.rows('micropdf417', data, options), tall: () => tall };
  },
};

/** The most columns and the least rows of a PDF417. */
const MOST_COLUMNS = 30;
const LEAST_ROWS = 3;
/**
 * If the command names neither columns nor rows, the symbol gets at least two columns, and only as many as it needs to have no
 * more than this many rows. The rasteriser and other programs that were compared with printers draw it so. (The guide speaks of
 * twice as many rows as columns.)
 */
const USUAL_ROWS = 30;
const USUAL_COLUMNS = 2;

/** A column or row count of 0 means that the command names none. @throws GraphicError */
function pdf417(
  data: string,
  [columns, rows]: readonly [columns: number, rows: number],
  {
    name,
    level,
    encoder,
  }: { readonly name: string; readonly level: number; readonly encoder: SymbolEncoder },
): Stack['rows'] {
  // "\&" is a line end, "\\" a backslash.
  const text = data.replace(/\\[\\&]/g, (found) => (found === '\\&' ? '\r\n' : '\\'));
  const encode = (across: number, options: Record<string, string> = {}) =>
    encoder.rows(name, text, {
      columns: String(across),
      eclevel: String(level),
      fixedeclevel: true,
      ...options,
    });
  if (rows === 0 && columns > 0) return encode(columns);
  const most = rows > 0 ? Math.max(LEAST_ROWS, rows) : USUAL_ROWS;
  let begin = columns || (rows > 0 ? 1 : USUAL_COLUMNS);
  if (columns === 0) {
    // A symbol of the most columns shows how many codewords there are at least, and so with how many columns to begin.
    const { length } = encode(MOST_COLUMNS);
    const codewords = length > LEAST_ROWS ? MOST_COLUMNS * (length - 1) : 0;
    begin = Math.max(begin, Math.ceil((codewords + 1) / most));
  }
  for (let across = begin; across <= (columns || MOST_COLUMNS); across++) {
    const symbol = encode(across, rows > 0 ? { rows: String(most) } : {});
    if (symbol.length <= most) return symbol;
  }
  throw new GraphicError('^B7 has too few rows for this data');
}

/** For symbols in which every other row only separates two others. */
function separated(rows: Stack['rows'], module: number, tall: number): Stack {
  return { rows, tall: (row) => (row % 2 === 0 ? module : tall) };
}

export function isStacked(name: string): boolean {
  return Object.hasOwn(STACKED, name);
}

/**
 * @param module of `^BY`, dots
 * @param height of `^BY`, dots; it is used if the command names no height for a row
 * @throws GraphicError
 */
export function stackedSymbol(
  field: SymbolField,
  params: readonly string[],
  { module, height }: { readonly module: number; readonly height: number },
  encoder: SymbolEncoder,
): UprightSymbol {
  const stack = STACKED[field.name];
  if (stack === undefined) throw new GraphicError(`^${field.name} is not drawn`);
  const dark = stackDots(stack(field, module, whole(params[1], height, 1, 32_000), encoder), module);
  return { dark, tall: extent(dark).down };
}

/** @param module dots */
export function stackDots({ rows, tall }: Stack, module: number): Dark[] {
  const dark: Dark[] = [];
  let y = 0;
  rows.forEach((row, index) => {
    const height = tall(index);
    row.forEach((isDark, x) => {
      if (isDark === 1) dark.push([x * module, y, module, height]);
    });
    y += height;
  });
  return dark;
}
