/**
 * Encodes PNG (ISO/IEC 15948) with one bit for each dot, or in grey. The drawing library writes only colour, which takes 32
 * times as much memory.
 */
import { crc32, deflateSync } from 'node:zlib';
import type { Bitmap } from './bitmap.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const WHITE_AND_BLACK = Uint8Array.of(0xff, 0xff, 0xff, 0, 0, 0);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** The chunk pHYs. Its arguments are pixels per inch, across and down. */
function density({ x, y }: { readonly x: number; readonly y: number }): Buffer {
  const data = Buffer.alloc(9);
  data.writeUInt32BE(Math.round(x / 0.0254), 0);
  data.writeUInt32BE(Math.round(y / 0.0254), 4);
  data[8] = 1;
  return chunk('pHYs', data);
}

/** One bit for each dot, with a palette of two colours, because a PAPPL printer takes one-bit greyscale for almost black. */
export function encodePng(bitmap: Bitmap, dpi: number): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(bitmap.width, 0);
  header.writeUInt32BE(bitmap.height, 4);
  // Bit depth 1, indexed colour.
  header.set([1, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    density({ x: dpi, y: dpi }),
    chunk('PLTE', WHITE_AND_BLACK),
    chunk('IDAT', deflateSync(filtered(bitmap.data, bitmap.stride, bitmap.height))),
    chunk('IEND', new Uint8Array()),
  ]);
}

/** Eight bits of grey for each pixel; 0 is black. */
export function encodeGreyPng({ width, height, greys, dpi }: GreyPicture): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 8, greyscale.
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...(dpi === undefined ? [] : [density(dpi)]),
    chunk('IDAT', deflateSync(filtered(greys, width, height))),
    chunk('IEND', new Uint8Array()),
  ]);
}

interface GreyPicture {
  readonly width: number;
  readonly height: number;
  readonly greys: Uint8Array;
  readonly dpi?: { readonly x: number; readonly y: number };
}

/** The rows, each behind a filter type byte of 0: not filtered. */
function filtered(data: Uint8Array, stride: number, height: number): Buffer {
  const rows = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    rows.set(data.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  }
  return rows;
}
