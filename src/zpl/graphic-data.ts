/**
 * Packs rows of dots into the data of graphics (`^GF`, `~DG`), and unpacks its run-length form.
 *
 * Run-length is the guide's "Alternative Data Compression Scheme": hex digits with repeat counts G–Y (1–19) and
 * g–z (20–400), `,` for the rest of a row white, `!` for the rest black, `:` for a row like the one before. Z64 is zlib,
 * base64, and a CRC-16/XMODEM over the base64 text.
 */
import { deflateSync } from 'node:zlib';

/** The most bytes that one graphic may unpack to; 24 dots/mm, 4 × 12 inches. */
const MOST_UNPACKED = 8 * 1024 * 1024;
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

/** `^GFA` of whole rows. @param stride bytes of a row @param text the data, in any of its forms */
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

/**
 * Unpacks run-length data to hex digits; an incomplete last row is not padded.
 * @throws GraphicError `stride` is not positive, or the data unpacks to more than `MOST_UNPACKED` bytes
 */
export function unpackRuns(data: string, stride: number): string {
  const row = stride * 2;
  if (!(row > 0)) throw new GraphicError('a graphic with no bytes per row');
  const rows: string[] = [];
  let line = '';
  let run = 0;
  const end = () => {
    while (line.length >= row) {
      rows.push(line.slice(0, row));
      line = line.slice(row);
    }
    if (rows.length * stride > MOST_UNPACKED) throw new GraphicError('a graphic that is too large');
  };
  for (const char of data) {
    if (char >= 'G' && char <= 'Y') run += char.charCodeAt(0) - ONES;
    else if (char >= 'g' && char <= 'z') run += (char.charCodeAt(0) - TWENTIES) * 20;
    else {
      if (char === ',') line = line.padEnd(row, '0');
      else if (char === '!') line = line.padEnd(row, 'F');
      else if (char === ':') line = rows.at(-1) ?? ''.padEnd(row, '0');
      else line += char.repeat(Math.min(run || 1, MOST_UNPACKED));
      run = 0;
      end();
    }
  }
  return rows.join('') + line;
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

/** Below this many characters Z64 is never shorter, because of zlib's own overhead. */
const SHORT = 80;

/** The data of a graphic as run-length or Z64, whichever is shorter. @param stride bytes of a row */
export function graphicData(data: Uint8Array, stride: number): string {
  const runs = runLength(data, stride);
  if (runs.length <= SHORT) return runs;
  const packed = z64(data);
  return packed.length < runs.length ? packed : runs;
}
