/**
 * Graphics in ZPL: ^GFA (ZPL II Programming Guide, "Graphic Field"), its data in the shorter of two forms.
 *
 * Run-length: the guide's "Alternative Data Compression Scheme", hex digits with repeat counts G–Y (1–19) and
 * g–z (20–400), `,` for the rest of a row white, `:` for a row like the one before. Z64: zlib, base64, and a
 * CRC-16/XMODEM over the base64 text.
 */
import { deflateSync } from 'node:zlib';
import { type Bitmap, cropBitmap } from '../../../src/render/bitmap.ts';

/** The largest byte count that ^GF takes. */
const MOST_BYTES = 99_999;

function repeated(digit: string, times: number): string {
  let left = times;
  let text = '';
  while (left >= 400) {
    text += 'z';
    left -= 400;
  }
  if (left >= 20) text += String.fromCharCode(0x66 + Math.floor(left / 20));
  if (left % 20 > 0 && times > 1) text += String.fromCharCode(0x46 + (left % 20));
  return text + digit;
}

/** The guide's run-length form of whole rows. */
export function runLength(data: Uint8Array, stride: number): string {
  const digits = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex').toUpperCase();
  let text = '';
  let before = '';
  for (let start = 0; start < digits.length; start += 2 * stride) {
    const row = digits.slice(start, start + 2 * stride);
    if (row === before) {
      text += ':';
      continue;
    }
    before = row;
    let end = row.length;
    while (row[end - 1] === '0') end -= 1;
    const used = row.slice(0, end);
    text += used.replace(/(.)\1*/g, (run, digit: string) => repeated(digit, run.length));
    if (used.length < row.length) text += ',';
  }
  return text;
}

const crcTable = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ (crcTable[((crc >> 8) ^ byte) & 0xff] ?? 0)) & 0xffff;
  return crc;
}

function z64(data: Uint8Array): string {
  const text = deflateSync(data, { level: 9 }).toString('base64');
  return `:Z64:${text}:${crc16(Buffer.from(text, 'latin1')).toString(16).padStart(4, '0').toUpperCase()}`;
}

/** Below this many characters zlib's own overhead cannot win. */
const SHORT = 80;

function graphicData(bitmap: Bitmap): string {
  const runs = runLength(bitmap.data, bitmap.stride);
  if (runs.length <= SHORT) return runs;
  const packed = z64(bitmap.data);
  return packed.length < runs.length ? packed : runs;
}

/**
 * The fields that draw a bitmap at (x, y), in bands that ^GF can hold. What lies off the label is left out: ^FO
 * takes no negative coordinates.
 * @param reverse white dots on black (^FR)
 */
export function graphicField(
  bitmap: Bitmap,
  x: number,
  y: number,
  label: { width: number; height: number },
  reverse = false,
): string {
  const left = Math.max(0, -x);
  const top = Math.max(0, -y);
  const width = Math.min(bitmap.width, label.width - x) - left;
  const height = Math.min(bitmap.height, label.height - y) - top;
  if (width <= 0 || height <= 0) return '';
  const visible = cropBitmap(bitmap, left, top, width, height);
  const rows = Math.max(1, Math.floor(MOST_BYTES / visible.stride));
  let fields = '';
  for (let from = 0; from < height; from += rows) {
    const band = cropBitmap(visible, 0, from, width, Math.min(rows, height - from));
    const bytes = band.data.length;
    const at = `^FO${x + left},${y + top + from}${reverse ? '^FR' : ''}`;
    fields += `${at}^GFA,${bytes},${bytes},${band.stride},${graphicData(band)}^FS`;
  }
  return fields;
}
