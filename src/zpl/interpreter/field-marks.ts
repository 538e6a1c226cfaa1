/**
 * Finds where the fields of a format are, without drawing them: where each begins, the size of boxes, lines and graphics, the
 * width of text blocks, and the height of characters and bars. The length of a text or a barcode depends on its data, and is
 * not known here. It counts as 0.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */
import { barHeightParameter, isBarcode, isFont } from '../commands.ts';
import { whole } from '../parameters.ts';

/** Where a field is on the label, dots, half-open. */
export interface FieldMark {
  /** The command that gives the field something to print: `GB`, `FD`. */
  readonly name: string;
  /** Bytes of the stream before that command. */
  readonly at: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Commands with a field's data; ^FN has the number of data that comes later. */
const DATA = new Set(['FD', 'FV', 'SN', 'FN']);

interface Size {
  readonly width: number;
  readonly height: number;
}

/** What a field's commands have said so far. */
interface Field {
  /** The place by ^FO or ^FT, from the label home. `typeset`: it is by ^FT, so y is the baseline or the lower edge. */
  readonly x: number;
  readonly y: number;
  readonly typeset: boolean;
  /** By the third parameter of ^FO and ^FT: x is the right edge. */
  readonly fromRight: boolean;
  /** The width of the block, by ^FB or ^TB. */
  readonly block?: number;
  /** The height of the field's bars or characters, and which way it is turned. */
  readonly tall?: number;
  readonly turn?: string;
  readonly marked?: true;
}

const START: Field = { x: 0, y: 0, typeset: false, fromRight: false };

function numbers(params: string): (number | undefined)[] {
  return params.split(',').map((value) => {
    const number = Number.parseInt(value, 10);
    return Number.isNaN(number) ? undefined : number;
  });
}

/** The size of what `^GB`, `^GC`, `^GD`, `^GE` and `^GF` print; undefined for other commands. */
function graphicSize(name: string, params: string): Size | undefined {
  const [first, second, third, fourth] = numbers(params);
  if (name === 'GC') return { width: first ?? 3, height: first ?? 3 };
  if (name === 'GB' || name === 'GD' || name === 'GE') {
    const least = third ?? 1;
    return { width: Math.max(first ?? least, least), height: Math.max(second ?? least, least) };
  }
  // ^GFa,b,c,d: c is the number of bytes in all, d in a row.
  if (name === 'GF') return rowsOf(third, fourth);
  return undefined;
}

function rowsOf(bytes = 0, row = 0): Size {
  return { width: 8 * row, height: row > 0 ? Math.ceil(bytes / row) : 0 };
}

export class FieldMarks {
  readonly marks: FieldMark[] = [];
  #home = { x: 0, y: 0 };
  #field: Field = START;
  /** Defaults of fields, from ^FW, ^CF and ^BY. */
  #turn = 'N';
  #characters = 0;
  #bars = 10;

  home(x: number, y: number): void {
    this.#home = { x, y };
  }

  /**
   * Takes the next command of the format.
   * @param params with all measures in dots
   * @param at bytes of the stream before it
   */
  command(name: string, params: string, at: number): void {
    const [first, second, third] = numbers(params);
    const turn = /^\s*([NRIB])/i.exec(params)?.[1]?.toUpperCase();
    if (name === 'FS') this.#field = START;
    else if (name === 'FO' || name === 'FT') {
      // ^FT without coordinates goes on where the last field ended, which is not known here.
      const known = name === 'FO' || (first !== undefined && second !== undefined);
      const place = known ? { x: first ?? 0, y: second ?? 0 } : { x: 0, y: 0 };
      this.#field = { ...this.#field, ...place, typeset: name === 'FT', fromRight: third === 1 };
    } else if (name === 'FW') this.#turn = turn ?? this.#turn;
    else if (name === 'CF') this.#characters = second ?? this.#characters;
    else if (name === 'BY') this.#bars = third ?? this.#bars;
    else if (name === 'FB' || name === 'TB') {
      const block = name === 'FB' ? first : second;
      if (block !== undefined) this.#field = { ...this.#field, block };
    } else if (isFont(name)) {
      this.#field = { ...this.#field, tall: second ?? this.#characters, turn: turn ?? this.#turn };
    } else if (isBarcode(name)) {
      const index = barHeightParameter(name);
      const tall = index === undefined ? 0 : (numbers(params)[index] ?? this.#bars);
      this.#field = { ...this.#field, tall, turn: turn ?? this.#turn };
    } else if (DATA.has(name)) this.#data(name, at);
    else this.graphic(name, at, graphicSize(name, params));
  }

  /** A stored graphic, or another of known size. */
  graphic(name: string, at: number, size: Size | undefined): void {
    if (size !== undefined) this.#mark(name, at, size);
  }

  #data(name: string, at: number): void {
    if (this.#field.marked) return;
    const { block = 0, tall = this.#characters, turn = this.#turn, typeset } = this.#field;
    const sideways = turn === 'R' || turn === 'B';
    // How far characters and bars reach from a ^FT depends on the font and the turn, so it counts as 0.
    const across = typeset ? 0 : tall;
    this.#mark(name, at, sideways ? { width: across, height: block } : { width: block, height: across });
    this.#field = { ...this.#field, marked: true };
  }

  #mark(name: string, at: number, { width, height }: Size): void {
    const { x, y, typeset, fromRight } = this.#field;
    // A field whose right edge is x is at least a dot wide.
    const left = this.#home.x + x - (fromRight ? Math.max(1, width) : 0);
    const top = this.#home.y + y - (typeset ? height : 0);
    this.marks.push({ name, at, x: left, y: top, width, height });
  }
}

/** How often `^XG` repeats each dot, by one of its parameters: 1 to 10 times. */
export function enlarged(parameter: string): number {
  return whole(parameter, 1, 1, 10);
}

/** The enlarged size of a stored picture, or of a graphic that `~DG` defines: `~DGR:LOGO.GRF,total,row,…`. */
export function storedSize(
  stored: Size | { readonly definition: string },
  times: { readonly across: number; readonly down: number },
): Size {
  const { width, height } = 'definition' in stored ? definedSize(stored.definition) : stored;
  return { width: width * times.across, height: height * times.down };
}

function definedSize(definition: string): Size {
  const [, bytes, row] = numbers(definition.slice(0, 200));
  return rowsOf(bytes, row);
}
