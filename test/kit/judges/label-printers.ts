/**
 * Readers of TSPL and EPL2, written from the makers' manuals and not from our own drivers. They return the
 * dots of each label, the number of copies, and the commands that set something. There is no other
 * interpreter that could judge pictures in these languages. LPrint and CUPS write EPL2, and these readers
 * have to read theirs too (`lprint.long.test.ts`).
 *
 * They are strict: a command that is not in the manual, or that a label of dots does not need, is an error.
 */
import { type Bitmap, createBitmap } from '../../../src/render/image/bitmap.ts';

export interface PrintedLabel {
  bitmap: Bitmap;
  copies: number;
  /** Commands that set something, in the order in which they came, since the label before. */
  settings: string[];
}

/** The bytes that a printer reads, one command after the other. */
class Stream {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Up to a line feed, without it and a carriage return before it. */
  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end < 0) throw new Error(`no end of line after byte ${this.#at}`);
    const text = this.#bytes.toString('latin1', this.#at, end).replace(/\r$/, '');
    if (!/^[\x20-\x7e]*$/.test(text)) throw new Error(`no text at byte ${this.#at}: ${JSON.stringify(text)}`);
    this.#at = end + 1;
    return text;
  }

  /** Takes what matches at this point. */
  take(pattern: RegExp): RegExpExecArray | null {
    const match = new RegExp(`^(?:${pattern.source})`).exec(
      this.#bytes.toString('latin1', this.#at, this.#at + 100),
    );
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  data(length: number): Buffer {
    const data = this.#bytes.subarray(this.#at, this.#at + length);
    if (data.length < length) throw new Error(`${length} bytes of data were announced, ${data.length} came`);
    this.#at += length;
    return data;
  }
}

/** An image buffer, in which data of 0 bits is black. */
class ImageBuffer {
  readonly width: number;
  readonly height: number;
  #bitmap: Bitmap;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#bitmap = createBitmap(width, height);
  }

  clear(): void {
    this.#bitmap = createBitmap(this.width, this.height);
  }

  /** Puts the data down over what is there. What reaches over the label by more than a byte's padding is an error. */
  overwrite(x: number, y: number, stride: number, height: number, data: Uint8Array): void {
    if (x + stride * 8 > this.width + 7 || y + height > this.height) {
      throw new Error(
        `graphic at ${x},${y} of ${stride} bytes by ${height} leaves ${this.width} × ${this.height}`,
      );
    }
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < Math.min(stride * 8, this.width - x); column++) {
        const at = (y + row) * this.#bitmap.stride + ((x + column) >> 3);
        const bit = 0x80 >> ((x + column) & 7);
        const white = ((data[row * stride + (column >> 3)] ?? 0xff) & (0x80 >> (column & 7))) !== 0;
        const byte = this.#bitmap.data[at] ?? 0;
        this.#bitmap.data[at] = white ? byte & ~bit : byte | bit;
      }
    }
  }

  get picture(): Bitmap {
    return { ...this.#bitmap, data: Uint8Array.from(this.#bitmap.data) };
  }
}

function dotsOf(mm: string, dpi: number): number {
  return Math.round((Number(mm) * dpi) / 25.4);
}

const TSPL_SETTING =
  /^(?:GAP|BLINE|SPEED|DENSITY|DIRECTION|REFERENCE|CODEPAGE|COUNTRY|SET (?:RIBBON|TEAR|PEEL|CUTTER)) [A-Z0-9., ]+$|^(?:GAP|BLINE) [0-9.]+ mm,[0-9.]+ mm$/;

/** @throws Error where a printer would do something else than print labels of dots */
export function readTspl(bytes: Uint8Array, dpi: number): PrintedLabel[] {
  // A printer carries out an immediate command wherever it stands, also in data.
  const immediate = Buffer.from(bytes).indexOf('\x1b!', 0, 'latin1');
  if (immediate >= 0) throw new Error(`an immediate command at byte ${immediate}`);
  const stream = new Stream(bytes);
  const labels: PrintedLabel[] = [];
  let buffer: ImageBuffer | undefined;
  let settings: string[] = [];
  const sized = () => {
    if (buffer === undefined) throw new Error('a label without SIZE');
    return buffer;
  };
  while (!stream.ended) {
    const graphic = stream.take(/BITMAP (\d+),(\d+),(\d+),(\d+),([012]),/);
    if (graphic !== null) {
      const [x = 0, y = 0, stride = 0, height = 0, mode] = graphic.slice(1).map(Number);
      const data = stream.data(stride * height);
      // 1, OR: a dot of either is black, and what is drawn on is blank after CLS.
      if (mode === 2) throw new Error('XOR is not what a label of dots needs');
      sized().overwrite(x, y, stride, height, data);
      // The manual ends a command with a line end; LPrint leaves it out after data.
      stream.take(/\r?\n/);
      continue;
    }
    const line = stream.line();
    const size = /^SIZE ([\d.]+) mm, ?([\d.]+) mm$/.exec(line);
    const print = /^PRINT (\d+)(?:,(\d+))?$/.exec(line);
    if (line === '') continue;
    if (size !== null) buffer = new ImageBuffer(dotsOf(size[1] ?? '', dpi), dotsOf(size[2] ?? '', dpi));
    else if (line === 'CLS') sized().clear();
    else if (print !== null) {
      labels.push({ bitmap: sized().picture, copies: Number(print[1]) * Number(print[2] ?? 1), settings });
      settings = [];
    } else if (TSPL_SETTING.test(line)) settings.push(line);
    else throw new Error(`no command of a label of dots: ${JSON.stringify(line.slice(0, 60))}`);
  }
  return labels;
}

const EPL_SETTING = /^(?:[DS]\d{1,2}|Z[TB]|O[A-Z0-9,]*|C|R\d+,\d+|JF|JB|I8,[A0],\d+)$/;

/**
 * @param height the label's length, dots, where no Q says it
 * @throws Error where a printer would do something else than print labels of dots
 */
export function readEpl(bytes: Uint8Array, height: number): PrintedLabel[] {
  const stream = new Stream(bytes);
  const labels: PrintedLabel[] = [];
  let size = { width: 832, height };
  let buffer = new ImageBuffer(size.width, size.height);
  let settings: string[] = [];
  while (!stream.ended) {
    // Zebra: "either a comma or carriage return/line feed between p4 and DATA".
    const graphic = stream.take(/GW(\d+),(\d+),(\d+),(\d+)(?:,|\r*\n)/);
    if (graphic !== null) {
      const [x = 0, y = 0, stride = 0, rows = 0] = graphic.slice(1).map(Number);
      buffer.overwrite(x, y, stride, rows, stream.data(stride * rows));
      continue;
    }
    const line = stream.line();
    const width = /^q(\d+)$/.exec(line);
    const form = /^Q(\d+),B?\d+$/.exec(line);
    const print = /^P(\d+)(?:,(\d+))?$/.exec(line);
    if (line === '') continue;
    if (width !== null || form !== null) {
      // Both make a new, blank buffer.
      size = { width: Number(width?.[1] ?? size.width), height: Number(form?.[1] ?? size.height) };
      buffer = new ImageBuffer(size.width, size.height);
      if (form !== null) settings.push(line);
    } else if (line === 'N') buffer.clear();
    else if (print !== null) {
      labels.push({ bitmap: buffer.picture, copies: Number(print[1]) * Number(print[2] ?? 1), settings });
      settings = [];
    } else if (EPL_SETTING.test(line)) settings.push(line);
    else throw new Error(`no command of a label of dots: ${JSON.stringify(line.slice(0, 60))}`);
  }
  return labels;
}
