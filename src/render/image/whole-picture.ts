/**
 * Checks that a PNG or JPEG file is complete. If it was cut off, the drawing library would draw the rows that are there and say
 * nothing, and half a label would print.
 */
import { crc32, createInflate } from 'node:zlib';
import { because } from '../../contract/reason.ts';
import { PictureFault } from './picture-fault.ts';
import type { PixelFile } from './picture-file.ts';

/** How many samples a pixel has, by PNG's colour type. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Where the pixels of each of Adam7's passes start, and how far apart they are: x, y, across, down (PNG, 8.2). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** How many bytes all rows have before compression, each with its filter byte (PNG, 7.2). */
function pngBytes(header: Buffer): number {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bits = header.readUInt8(8) * (CHANNELS[header.readUInt8(9)] ?? 0);
  const rows = (across: number, down: number) =>
    across > 0 ? down * (1 + Math.ceil((across * bits) / 8)) : 0;
  if (header.readUInt8(12) === 0) return rows(width, height);
  const passes = ADAM7.map(([x, y, across, down]) =>
    rows(Math.ceil((width - x) / across), Math.max(0, Math.ceil((height - y) / down))),
  );
  return passes.reduce((sum, one) => sum + one, 0);
}

/** @param file its header. @throws PictureFault */
export async function requireWhole(bytes: Buffer, file: PixelFile): Promise<void> {
  if (!file.ends) throw new PictureFault(because('picture-cut-off', {}));
  if (file.kind === 'png') await requireWholePng(bytes);
}

async function requireWholePng(bytes: Buffer): Promise<void> {
  const packed: Buffer[] = [];
  let expected = 0;
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) throw new PictureFault(because('picture-cut-off', {}));
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) throw new PictureFault(because('picture-cut-off', {}));
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end))
      throw new PictureFault(because('picture-broken', {}));
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') expected = pngBytes(bytes.subarray(at + 8, end));
    if (type === 'IDAT') packed.push(bytes.subarray(at + 8, end));
    if (type === 'IEND') break;
    at = end + 4;
  }
  let rows = 0;
  const inflate = createInflate();
  inflate.end(Buffer.concat(packed));
  try {
    for await (const chunk of inflate) {
      rows += chunk.length;
      if (rows >= expected) return;
    }
  } catch {
    throw new PictureFault(because('picture-broken', {}));
  }
  throw new PictureFault(because('picture-cut-off', {}));
}
