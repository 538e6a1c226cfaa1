/**
 * Packs rows of dots into the data of graphics (`^GF`, `~DG`), and unpacks it.
 *
 * Run-length is the guide's "Alternative Data Compression Scheme": hex digits, with repeat counts G–Y (1–19) and g–z (20–400).
 * `,` makes the rest of a row white, `!` makes it black, and `:` repeats the row before. Z64 is zlib, then base64, and a
 * CRC-16/XMODEM over the base64 text. B64 is the same without zlib.
 */
import { deflateSync, inflateSync } from 'node:zlib';

/** A repeat count is its character's code minus this: G is 1, g is 1 × 20. */
const ONES = 0x46;
const TWENTIES = 0x66;
const MOST_REPEATS = 400;

/** Thrown for a graphic that cannot be drawn; the message says why. */
export class GraphicError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GraphicError';
  }
}

export function hexDigits(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex').toUpperCase();
}

/** The command `^GFA` for whole rows. @param stride bytes in a row @param text the data, in any of its forms */
export function graphicCommand(bytes: number, stride: number, text: string): string {
  return `^GFA,${bytes},${bytes},${stride},${text}`;
}

function repeated(digit: string, times: number): string {
  const rest = times % MOST_REPEATS;
  let text = 'z'.repeat(Math.floor(times / MOST_REPEATS));
  if (rest >= 20) text += String.fromCharCode(TWENTIES + Math.floor(rest / 20));
  if (rest % 20 > 0 && times > 1) text += String.fromCharCode(ONES + (rest % 20));
  return text + digit;
}

const DIGITS = '0123456789ABCDEF';

function nibble(data: Uint8Array, at: number): number {
  const byte = data[at >> 1] ?? 0;
  return at % 2 === 0 ? byte >> 4 : byte & 15;
}

function sameRow(data: Uint8Array, row: number, before: number, stride: number): boolean {
  for (let at = 0; at < stride; at++) if (data[row + at] !== data[before + at]) return false;
  return true;
}

function runLength(data: Uint8Array, stride: number): string {
  let text = '';
  for (let row = 0; row < data.length; row += stride) {
    if (row > 0 && sameRow(data, row, row - stride, stride)) {
      text += ':';
      continue;
    }
    const last = 2 * Math.min(row + stride, data.length);
    let end = last;
    while (end > 2 * row && nibble(data, end - 1) === 0) end -= 1;
    for (let at = 2 * row; at < end; ) {
      const from = at;
      const value = nibble(data, at);
      while (at < end && nibble(data, at) === value) at += 1;
      const digit = DIGITS[value] ?? '';
      text += at - from === 1 ? digit : repeated(digit, at - from);
    }
    if (end < last) text += ',';
  }
  return text;
}

/** Thrown for a graphic that unpacks to more bytes than it may. */
export class GraphicTooLarge extends GraphicError {
  constructor() {
    super('a graphic that is too large');
    this.name = 'GraphicTooLarge';
  }
}

/**
 * Unpacks the data of a graphic, in any of its forms, to hex digits. An incomplete last row is not padded.
 * @param data without line ends
 * @param stride bytes in a row
 * @param most the most bytes that it may unpack to
 * @throws GraphicTooLarge; GraphicError: the data cannot be read
 */
export function unpackGraphic(data: string, stride: number, most: number): string {
  const [, form, coded = ''] = /^:(Z64|B64):([^:]*)/i.exec(data) ?? [];
  if (form === undefined) {
    if (/[^0-9A-Fa-f]/.test(data)) return unpackRuns(data, stride, most);
    if (data.length > 2 * most) throw new GraphicTooLarge();
    return data;
  }
  const bytes = Buffer.from(coded, 'base64');
  if (form.toUpperCase() === 'Z64') return hexDigits(inflated(bytes, most));
  if (bytes.length > most) throw new GraphicTooLarge();
  return hexDigits(bytes);
}

/**
 * Bytes of the pieces in which data is inflated. If they have zlib's default size, their memory stays in the process after use.
 */
const SMALLEST_PIECE = 16 * 1024;
const LARGEST_PIECE = 1024 * 1024;

function inflated(bytes: Buffer, most: number): Buffer {
  const chunkSize = Math.min(LARGEST_PIECE, Math.max(SMALLEST_PIECE, 32 * bytes.length));
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, most), chunkSize });
  } catch (error) {
    if (error instanceof RangeError) throw new GraphicTooLarge();
    throw new GraphicError('a graphic whose compressed data is broken');
  }
}

const ZERO = '0'.charCodeAt(0);
const FULL = 'F'.charCodeAt(0);

function unpackRuns(data: string, stride: number, most: number): string {
  const row = stride * 2;
  if (!(row > 0)) throw new GraphicError('a graphic with no bytes per row');
  let digits = Buffer.alloc(4096);
  let length = 0;
  const add = (count: number, digit: number): void => {
    const from = length;
    length += count;
    if (length > 2 * most) throw new GraphicTooLarge();
    if (length > digits.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * digits.length));
      digits.copy(larger);
      digits = larger;
    }
    digits.fill(digit, from, length);
  };
  let run = 0;
  for (const char of data) {
    if (char >= 'G' && char <= 'Y') run += char.charCodeAt(0) - ONES;
    else if (char >= 'g' && char <= 'z') run += (char.charCodeAt(0) - TWENTIES) * 20;
    else {
      const begun = length % row;
      if (char === ',') add(row - begun, ZERO);
      else if (char === '!') add(row - begun, FULL);
      else if (char === ':') {
        length -= begun;
        const from = length;
        add(row, ZERO);
        if (from > 0) digits.copy(digits, from, from - row, from);
      } else add(run || 1, char.charCodeAt(0));
      run = 0;
    }
  }
  return digits.toString('latin1', 0, length);
}

const crcTable = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ (crcTable[((crc >> 8) ^ byte) & 0xff] ?? 0)) & 0xffff;
  return crc;
}

function z64(data: Uint8Array): string {
  const text = deflateSync(data, { level: 9 }).toString('base64');
  return `:Z64:${text}:${crc16(Buffer.from(text, 'latin1')).toString(16).padStart(4, '0').toUpperCase()}`;
}

/** Up to this many characters Z64 is never shorter, because of zlib's own overhead. */
const SHORT = 80;

/** The data of a graphic as run-length or Z64, whichever is shorter. @param stride bytes of a row */
export function graphicData(data: Uint8Array, stride: number): string {
  const runs = runLength(data, stride);
  if (runs.length <= SHORT) return runs;
  const packed = z64(data);
  return packed.length < runs.length ? packed : runs;
}
