/**
 * Makes graphics of the barcodes that the rasteriser does not draw, or draws wrongly. The line that people read becomes texts.
 *
 * Source: ZPL II Programming Guide, the commands named. It names no sizes for the line, so the line has those of the
 * rasteriser's.
 */
import { plainField } from '../field-data.ts';
import { GraphicError, graphicCommand, hexDigits } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import { databarSymbol } from './databar-symbol.ts';
import type { GraphicRoom } from './graphic-field.ts';
import { isLinear, linearSymbol, tlc39Symbol } from './linear-symbol.ts';
import { maxiCode } from './maxicode-field.ts';
import { isPostal, postalSymbol } from './postal-symbol.ts';
import { isStacked, stackedSymbol } from './stacked-symbol.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';
import { type Dark, extent, type LineText, type ReadLine, type UprightSymbol } from './upright-symbol.ts';

/** None of these symbols holds so many bytes, but PDF417. Longer data is not even tried. */
const LONGEST = 500;
const LONGEST_PDF417 = 3072;
/** The height of the line that people read, and its distance from the bars, modules. */
const LINE = 10;
const GAP = 2;

/** Whether a barcode of this name is drawn here. */
export function isSymbolField(name: string): boolean {
  return /^B[DRT]$/.test(name) || isLinear(name) || isPostal(name) || isStacked(name);
}

/** The field in a form that the rasteriser draws. @throws GraphicError */
export function symbolField(field: SymbolField, encoder: SymbolEncoder, room: GraphicRoom): string {
  if (field.data.length > (field.name === 'B7' ? LONGEST_PDF417 : LONGEST)) {
    throw new GraphicError(`${field.name === 'BD' ? 'a MaxiCode' : `^${field.name}`} of too much data`);
  }
  if (field.name === 'BD') {
    const { data, stride, height } = maxiCode(field, encoder);
    room.draw(8 * data.length);
    return graphicAt(
      placed(field.origin, 'N', { across: 8 * stride, down: height, tall: height }),
      data,
      stride,
    );
  }
  const params = field.params.split(',').map((value) => value.trim());
  const turn = (/^[NRIB]/i.exec(params[0] ?? '')?.[0] ?? usualTurn(field)).toUpperCase();
  const symbol = upright(field, params, encoder);
  const size = { ...extent(symbol.dark), tall: symbol.tall };
  const { bits, stride } = turnedBits(symbol.dark, turn, size, room);
  const corner = placed(field.origin, turn, size);
  const { line } = symbol;
  const texts = line?.texts.map((text) => lineText(text, line, turn, corner, size)) ?? [];
  return [graphicAt(corner, bits, stride), ...texts].join('^FS');
}

/** The turn of a command that names none. For ^BR the guide says R, whatever ^FW says. */
function usualTurn({ name, turn }: SymbolField): string {
  return name === 'BR' ? 'R' : turn;
}

function upright(field: SymbolField, params: readonly string[], encoder: SymbolEncoder): UprightSymbol {
  const [width, wide, tall] = field.by.split(',');
  const module = whole(width, 2, 1, 100);
  const height = whole(tall, 10, 1, 32_000);
  if (field.name === 'BT') return tlc39Symbol(field, params, encoder);
  if (field.name === 'BR') return databarSymbol(field, params, encoder);
  if (isStacked(field.name)) return stackedSymbol(field, params, { module, height }, encoder);
  const given = Number.parseFloat(wide ?? '');
  const ratio = given >= 2 && given <= 3 ? given : 3;
  const sizes = { module, ratio, height };
  if (isPostal(field.name)) return postalSymbol(field, params, sizes, encoder);
  return linearSymbol(field, params, sizes, encoder);
}

interface Corner {
  readonly left: number;
  readonly top: number;
}

/** The size of a symbol that is not turned, dots. */
interface Size {
  readonly across: number;
  readonly down: number;
  /** How much of `down` the bars take, without the longer part of guard bars. */
  readonly tall: number;
}

/** How many dots the symbol has before its bars. That is 0 unless it is turned so that its base comes first. */
function beforeBars(turn: string, { down, tall }: Size): number {
  return turn === 'R' || turn === 'I' ? down - tall : 0;
}

/**
 * The upper left corner of the turned symbol. `^FO` places this corner. `^FT` places the beginning of the symbol's base; guard
 * bars reach below the base. Turned by 90°, the base runs down on the left of the symbol; by 180°, it runs to the left above
 * it; by 270°, it runs up on its right.
 */
function placed(origin: string | undefined, turn: string, size: Size): Corner {
  const [first, second, right] = (origin ?? '').slice(3).split(',');
  const x = whole(first, 0, -32_000, 32_000);
  const y = whole(second, 0, -32_000, 32_000);
  const { across, down, tall } = size;
  const sideways = turn === 'R' || turn === 'B';
  const typeset = origin?.startsWith('^FT') ?? false;
  const before = typeset ? beforeBars(turn, size) : 0;
  let [left, top] = [x, y];
  if (right?.trim() === '1' && (!typeset || turn === 'N')) left -= sideways ? down : across;
  else if (typeset && turn === 'R') left -= before;
  else if (typeset && turn === 'I') left -= across;
  else if (typeset && turn === 'B') left -= tall;
  if (typeset && turn === 'N') top -= tall;
  else if (typeset && turn === 'I') top -= before;
  else if (typeset && turn === 'B') top -= across;
  return { left: Math.max(0, left), top: Math.max(0, top) };
}

function graphicAt({ left, top }: Corner, bits: Uint8Array, stride: number): string {
  return `^FO${left},${top}${graphicCommand(bits.length, stride, hexDigits(bits))}`;
}

/** @throws GraphicTooLarge */
function turnedBits(
  dark: readonly Dark[],
  turn: string,
  { across, down }: Size,
  room: GraphicRoom,
): { bits: Uint8Array; stride: number } {
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
  return { bits, stride };
}

/** `R`: clockwise by 90°, `I`: by 180°, `B`: by 270°. */
function turned([x, y, width, height]: Dark, turn: string, across: number, down: number): Dark {
  if (turn === 'R') return [down - y - height, x, height, width];
  if (turn === 'I') return [across - x - width, down - y - height, width, height];
  if (turn === 'B') return [y, across - x - width, height, width];
  return [x, y, width, height];
}

/** A text in the middle between two places along the bars, below or above them. */
function lineText(
  { text, from: begin, to }: LineText,
  { module, isAbove }: ReadLine,
  turn: string,
  { left, top }: Corner,
  box: Size,
): string {
  const size = LINE * module;
  // A text that is longer than its bars is still one line.
  const room = Math.max(to - begin, text.length * size);
  const from = (begin + to - room) / 2;
  const along = turn === 'N' || turn === 'R' ? from : box.across - from - room;
  const bars = beforeBars(turn, box);
  // If the symbol is turned by 90° or 180°, what is below the bars comes first.
  const isFirst = isAbove !== (turn === 'R' || turn === 'I');
  const beside = isFirst ? bars - GAP * module - size : bars + box.tall + GAP * module;
  const [x, y] = turn === 'R' || turn === 'B' ? [left + beside, top + along] : [left + along, top + beside];
  const [column, row] = [x, y].map((dots) => Math.max(0, Math.round(dots)));
  const block = `^FB${Math.round(room)},1,0,C`;
  return `^FO${column},${row}${block}^A0${turn},${size},${size}${plainField('FD', Buffer.from(text, 'latin1'), undefined)}`;
}
