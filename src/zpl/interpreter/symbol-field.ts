/**
 * The barcodes that the rasteriser does not draw, or draws wrongly, as graphics, with the line that people read as texts.
 *
 * Source: ZPL II Programming Guide, the commands named. Where it names no size for the line, it has those of the rasteriser's.
 */
import { code11Checks, gs1, luhn, mod11 } from '../../values/check-digits.ts';
import { expandUpce, zeroSuppressed } from '../../values/upce.ts';
import { plainField } from '../field-data.ts';
import { GraphicError, graphicCommand, hexDigits } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import type { GraphicRoom } from './graphic-field.ts';
import { maxiCode } from './maxicode-field.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';

/** More than any of these symbols holds, bytes: longer data is not even tried. */
const LONGEST = 500;
/** Of the line that people read, modules: its height, and its distance from the bars. */
const LINE = 10;
const GAP = 2;
/** How far guard bars of EAN and UPC reach into that line, modules. */
const GUARD = 5;

/** What stands below bars: a text between two places, modules from the left. */
type Line = readonly { readonly text: string; readonly from: number; readonly to: number }[];

interface Bars {
  readonly widths: readonly number[];
  /** Two widths, whose ratio `^BY` sets. */
  readonly ratio?: true;
  readonly text: string;
  /** Of EAN and UPC: where its digits stand, and which bars reach down to them. */
  readonly retail?: { readonly line: Line; readonly isGuard: (at: number) => boolean };
}

/** Indexes of the parameters: height, whether there is a line, whether it is above. */
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

/** `^BA` writes what Code 93 shifts to with these characters. */
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
      const short = upce(data);
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
      // BWIPP has narrow and wide bars of 1 and 3 modules, and spaces of 2 and 4.
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
    // Its height is counted in modules.
    return separated(encoder.rows('code49', data), module, tall * module);
  },
  BB: ({ data, params }, module, tall, encoder) => {
    const [, , , columns, rows, mode] = params.split(',').map((value) => value.trim());
    if ((mode || 'F').toUpperCase() !== 'F') throw new GraphicError(`^BB is not drawn in mode ${mode}`);
    const options = { ...(columns && { columns }), ...(rows && { rows }) };
    return separated(encoder.rows('codablockf', data, options), module, tall);
  },
  BF: ({ data, params }, _, tall, encoder) => {
    const [columns, rows] = MICROPDF417[whole(params.split(',')[2], 0, 0, 33)] ?? [1, 11];
    const options = { columns: String(columns), rows: String(rows) };
    return { rows: encoder.rows('micropdf417', data, options), tall: () => tall };
  },
};

/** Every other row separates two others. */
function separated(rows: Stack['rows'], module: number, tall: number): Stack {
  return { rows, tall: (row) => (row % 2 === 0 ? module : tall) };
}

/** Whether a barcode of this name is drawn here. */
export function isSymbolField(name: string): boolean {
  return name === 'BD' || Object.hasOwn(LINEAR, name) || Object.hasOwn(STACKED, name);
}

/** A dark rectangle, dots from the upper left corner of a symbol that is not turned. */
type Dark = readonly [x: number, y: number, width: number, height: number];

/** The field as the rasteriser draws it. @throws GraphicError */
export function symbolField(field: SymbolField, encoder: SymbolEncoder, room: GraphicRoom): string {
  if (field.data.length > LONGEST) {
    throw new GraphicError(`${field.name === 'BD' ? 'a MaxiCode' : `^${field.name}`} of too much data`);
  }
  const [x = '', y = '', right] = (field.origin ?? '').slice(3).split(',');
  const typeset = field.origin?.startsWith('^FT') ?? false;
  /** @param height of the bars, which `^FT` places: guard bars reach below */
  const at = (width: number, height: number): readonly [number, number] => [
    Math.max(0, whole(x, 0, -32_000, 32_000) - (right?.trim() === '1' ? width : 0)),
    Math.max(0, whole(y, 0, -32_000, 32_000) - (typeset ? height : 0)),
  ];
  if (field.name === 'BD') {
    const { data, stride, height } = maxiCode(field, encoder);
    room.draw(8 * data.length);
    const [left, top] = at(8 * stride, height);
    return `^FO${left},${top}${graphicCommand(data.length, stride, hexDigits(data))}`;
  }
  const module = whole(field.by.split(',')[0], 2, 1, 100);
  const params = field.params.split(',').map((value) => value.trim());
  const turn = (/^[NRIB]/i.exec(params[0] ?? '')?.[0] ?? field.turn).toUpperCase();
  const height = whole(field.by.split(',')[2], 10, 1, 32_000);
  const stack = STACKED[field.name];
  if (stack !== undefined) {
    const tall = whole(params[1], height, 1, 32_000);
    const dark = stackDots(stack(field, module, tall, encoder), module);
    return graphicAt(dark, turn, at, room).zpl;
  }
  const symbology = LINEAR[field.name];
  if (symbology === undefined) throw new GraphicError(`^${field.name} is not drawn`);
  const tall = whole(params[symbology.height], height, 1, 32_000);
  const bars = symbology.bars(field.data, params, encoder);
  const isShown = symbology.line === undefined || isYes(params[symbology.line], 'Y');
  const isAbove = isYes(params[symbology.above], symbology.isAbove === true ? 'Y' : 'N');
  const retail = isShown && !isAbove ? bars.retail : undefined;
  const ratio = Number.parseFloat(field.by.split(',')[1] ?? '');
  const wide = Math.round(module * (ratio >= 2 && ratio <= 3 ? ratio : 3));
  const dark = barDots(bars, module, wide, tall, retail?.isGuard);
  const { zpl, left, top, across } = graphicAt(
    dark,
    turn,
    (width, all) => at(width, Math.min(all, tall)),
    room,
  );
  if (!isShown) return zpl;
  const line = retail?.line ?? [place(bars.text, 0, across / module)];
  const texts = line.map(({ text, from, to }) =>
    lineText(text, { from: from * module, to: to * module, module, turn, isAbove, left, top, across, tall }),
  );
  return [zpl, ...texts].join('^FS');
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

function stackDots({ rows, tall }: Stack, module: number): Dark[] {
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

/** A graphic of the turned symbol. `across`: its width before it is turned. @throws GraphicTooLarge */
function graphicAt(
  dark: readonly Dark[],
  turn: string,
  at: (width: number, height: number) => readonly [number, number],
  room: GraphicRoom,
): { zpl: string; left: number; top: number; across: number } {
  const across = Math.max(...dark.map(([x, , width]) => x + width));
  const down = Math.max(...dark.map(([, y, , height]) => y + height));
  const [width, height] = turn === 'R' || turn === 'B' ? [down, across] : [across, down];
  room.draw(width * height);
  const stride = Math.ceil(width / 8);
  const bits = new Uint8Array(stride * height);
  for (const rectangle of dark) {
    const [x, y, wide, tall] = turned(rectangle, turn, across, down);
    for (let row = y; row < y + tall; row++) {
      for (let column = x; column < x + wide; column++) {
        const byte = row * stride + (column >> 3);
        bits[byte] = (bits[byte] ?? 0) | (0x80 >> (column & 7));
      }
    }
  }
  const [left, top] = at(width, height);
  const zpl = `^FO${left},${top}${graphicCommand(bits.length, stride, hexDigits(bits))}`;
  return { zpl, left, top, across };
}

/** `R`: clockwise by 90°, `I`: by 180°, `B`: by 270°. */
function turned([x, y, width, height]: Dark, turn: string, across: number, down: number): Dark {
  if (turn === 'R') return [down - y - height, x, height, width];
  if (turn === 'I') return [across - x - width, down - y - height, width, height];
  if (turn === 'B') return [y, across - x - width, height, width];
  return [x, y, width, height];
}

interface LinePlace {
  readonly from: number;
  readonly to: number;
  readonly module: number;
  readonly turn: string;
  readonly isAbove: boolean;
  readonly left: number;
  readonly top: number;
  readonly across: number;
  readonly tall: number;
}

/** A text in the middle between two places along the bars, below or above them. */
function lineText(text: string, place: LinePlace): string {
  const { module, turn, isAbove, left, top, across, tall } = place;
  const size = LINE * module;
  // A text that is longer than its bars is still one line.
  const room = Math.max(place.to - place.from, text.length * size);
  const from = (place.from + place.to - room) / 2;
  const along = turn === 'N' || turn === 'R' ? from : across - from - room;
  const before = -GAP * module - size;
  const behind = tall + GAP * module;
  // Turned by 90° or 180°, what is below the bars comes first.
  const isFirst = isAbove !== (turn === 'R' || turn === 'I');
  const beside = isFirst ? before : behind;
  const [x, y] = turn === 'R' || turn === 'B' ? [left + beside, top + along] : [left + along, top + beside];
  const [column, row] = [x, y].map((dots) => Math.max(0, Math.round(dots)));
  const block = `^FB${Math.round(room)},1,0,C`;
  return `^FO${column},${row}${block}^A0${turn},${size},${size}${plainField('FD', Buffer.from(text, 'latin1'), undefined)}`;
}

function place(text: string, from: number, to: number): Line[number] {
  return { text, from, to };
}

function isYes(value: string | undefined, fallback: 'Y' | 'N'): boolean {
  return (value?.trim() || fallback).toUpperCase() === 'Y';
}

function requireData(name: string, data: string, pattern: RegExp): void {
  if (!pattern.test(data)) throw new GraphicError(`^${name} cannot hold this data`);
}

/** The last digits of the data, with zeros before them, as the printer does it for EAN and UPC. */
function padded(name: string, data: string, length: number): string {
  requireData(name, data, /^\d+$/);
  return data.padStart(length, '0').slice(-length);
}

const checked = (digits: string): string => digits + gs1(digits);

/**
 * Number system and six digits. The data are a manufacturer's number and an item's, five digits each, by the guide; printers
 * take the six digits of the symbol, too, and the number system (0 or 1) before either.
 */
function upce(data: string): string {
  requireData('B9', data, /^(?:\d{1,10}|[01]\d{10})$/);
  if (data.length === 6) return `0${data}`;
  if (data.length === 7 && /^[01]/.test(data)) return data;
  const whole = data.length === 11 ? data : `0${data.padStart(10, '0')}`;
  const six = zeroSuppressed(whole.slice(1, 6), whole.slice(6));
  if (six === undefined) throw new GraphicError('^B9 cannot hold this data: no UPC-E stands for it');
  return whole.slice(0, 1) + six;
}

/** @param check `^BM`'s: A none, B mod 10, C twice mod 10, D mod 11 and mod 10 */
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
