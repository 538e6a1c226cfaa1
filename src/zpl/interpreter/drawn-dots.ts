/**
 * Reads the dots of what the rasteriser has drawn: a PNG with one grey byte for each dot. It does without the drawing library,
 * which would take four bytes for each dot, and hold them longer.
 *
 * Source: W3C Portable Network Graphics, second edition, 9 "Filtering".
 */
import { inflateSync } from 'node:zlib';
import type { LabelPage } from './draw.ts';

const SIGNATURE = 8;
/** The header's bytes for depth, colour, compression, filters and interlacing: 8 bits of grey, and the defaults. */
const GREY = Buffer.from([8, 0, 0, 0, 0]);
/** From this grey on, a dot is white. */
const THRESHOLD = 128;

/**
 * Calls `black` with the place of each black dot on the media, in no order. Dots of the picture that are not printed are left
 * out.
 * @throws RangeError: the picture is not as the rasteriser draws it
 */
export function forEachDot(picture: Buffer, page: LabelPage, black: (x: number, y: number) => void): void {
  const { width, height, rows } = greyRows(picture);
  const { inverted, mirrored, mediaWidth, mediaHeight } = page;
  const right = Math.min(width, page.width);
  const bottom = Math.min(height, page.length);
  // ^PO turns by 180°, ^PM mirrors left and right, both within the printable part.
  const flips = inverted !== mirrored;
  const stride = width + 1;
  let above: Uint8Array = new Uint8Array(width);
  for (let row = 0; row < bottom; row++) {
    const line = rows.subarray(row * stride + 1, (row + 1) * stride);
    unfilter(rows[row * stride] ?? 0, line, above);
    above = line;
    const y = inverted ? page.length - 1 - row : row;
    if (y < 0 || y >= mediaHeight) continue;
    for (let column = 0; column < right; column++) {
      if ((line[column] ?? 255) >= THRESHOLD) continue;
      const x = flips ? page.width - 1 - column : column;
      if (x >= 0 && x < mediaWidth) black(x, y);
    }
  }
}

/** @returns the rows, each behind the byte of its filter */
function greyRows(png: Buffer): { width: number; height: number; rows: Uint8Array } {
  const parts: Buffer[] = [];
  for (let at = SIGNATURE; at + 8 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const size = (width + 1) * height;
  if (!png.subarray(24, 29).equals(GREY)) throw new RangeError('not a grey picture');
  const rows = inflateSync(Buffer.concat(parts), { maxOutputLength: size });
  if (rows.length !== size) throw new RangeError('a picture cut off');
  return { width, height, rows };
}

/** Turns differences into greys, in place. @param above the row above */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array): void {
  if (filter === 0) return;
  let [left, aboveLeft] = [0, 0];
  for (let at = 0; at < line.length; at++) {
    const up = above[at] ?? 0;
    const grey = ((line[at] ?? 0) + predicted(filter, left, up, aboveLeft)) & 0xff;
    line[at] = grey;
    left = grey;
    aboveLeft = up;
  }
}

function predicted(filter: number, left: number, up: number, aboveLeft: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) throw new RangeError(`no filter ${filter}`);
  const [byLeft, byUp] = [Math.abs(up - aboveLeft), Math.abs(left - aboveLeft)];
  const byBoth = Math.abs(left + up - 2 * aboveLeft);
  if (byLeft <= byUp && byLeft <= byBoth) return left;
  return byUp <= byBoth ? up : aboveLeft;
}
