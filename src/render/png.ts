/** PNG (ISO/IEC 15948) of one bit a dot; the drawing library writes colour only, 32 times the size in memory. */
import { crc32, deflateSync } from 'node:zlib';
import type { Bitmap } from './bitmap.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

export function encodePng(bitmap: Bitmap, dpi: number): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(bitmap.width, 0);
  header.writeUInt32BE(bitmap.height, 4);
  // Bit depth 1, greyscale: 0 is black, so the bits are turned over.
  header.set([1, 0, 0, 0, 0], 8);
  const perMetre = Math.round(dpi / 0.0254);
  const density = Buffer.alloc(9);
  density.writeUInt32BE(perMetre, 0);
  density.writeUInt32BE(perMetre, 4);
  density[8] = 1;
  const rows = Buffer.alloc((bitmap.stride + 1) * bitmap.height);
  for (let y = 0; y < bitmap.height; y++) {
    const to = y * (bitmap.stride + 1) + 1;
    for (let at = 0; at < bitmap.stride; at++) {
      rows[to + at] = ~(bitmap.data[y * bitmap.stride + at] ?? 0) & 0xff;
    }
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('pHYs', density),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array()),
  ]);
}
