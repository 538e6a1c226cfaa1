/**
 * Splits a label's ink into a few tight blocks, for languages that take pictures without compression, so that the white paper
 * between the blocks is not sent.
 *
 * The picture is processed in bands of `BAND` rows. Adjacent inked bytes of a band form a span. A span is merged into a block
 * of the band above if that wastes less white than a block of its own would cost. So a frame around the label becomes four thin
 * blocks, and its contents do not become one large block. Blocks may overlap; then both have the same dots there. All blocks
 * together are never larger than one block of everything, unless `apart` demands it.
 */
import type { Bitmap } from '../../src/render/image/bitmap.ts';

export interface InkBlock {
  /** Distance from the picture's left edge, dots, a multiple of 8. */
  readonly x: number;
  readonly y: number;
  /** Bytes in a row. */
  readonly stride: number;
  readonly height: number;
  /** Rows of whole bytes, with the most significant bit left. Here 0 is black. */
  readonly data: Uint8Array;
}

/** Half-open, in bytes across and rows down. */
interface Region {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** How many rows a band has. */
const BAND = 8;

/**
 * The blocks, from top to bottom; none for a blank picture.
 * @param overhead what one block costs besides its data, bytes
 * @param apart two bytes that may not follow each other in a block's data
 */
export function inkBlocks(bitmap: Bitmap, overhead: number, apart?: readonly [number, number]): InkBlock[] {
  const whole = trimmed(bitmap, { left: 0, right: bitmap.stride, top: 0, bottom: bitmap.height });
  if (whole === undefined) return [];
  const tight = spanBlocks(bitmap, whole, overhead).flatMap((region) => trimmed(bitmap, region) ?? []);
  const cost = tight.reduce((sum, region) => sum + area(region) + overhead, 0);
  const regions = cost < area(whole) + overhead ? tight : [whole];
  const blocks = regions.map((region) => blockOf(bitmap, region));
  return apart === undefined ? blocks : blocks.flatMap((block) => separated(block, apart));
}

function spanBlocks(bitmap: Bitmap, whole: Region, overhead: number): Region[] {
  const done: Region[] = [];
  let open: Region[] = [];
  for (let top = whole.top; top < whole.bottom; top += BAND) {
    const bottom = Math.min(whole.bottom, top + BAND);
    const above = new Set(open);
    open = spans(bitmap, { ...whole, top, bottom }, overhead / BAND).map((span) => {
      for (const block of above) {
        const both = union(block, span);
        if (area(both) - area(block) - area(span) > overhead) continue;
        above.delete(block);
        return both;
      }
      return span;
    });
    done.push(...above);
  }
  return [...done, ...open].sort((a, b) => a.top - b.top || a.left - b.left);
}

/** The spans of inked bytes in a band. A span may have gaps of at most `gap` bytes in it. */
function spans({ data, stride }: Bitmap, band: Region, gap: number): Region[] {
  const found: Region[] = [];
  for (let left = band.left; left < band.right; left++) {
    let ink = 0;
    for (let y = band.top; y < band.bottom; y++) ink |= data[y * stride + left] ?? 0;
    if (ink === 0) continue;
    const last = found.at(-1);
    if (last !== undefined && left - last.right <= gap)
      found[found.length - 1] = { ...last, right: left + 1 };
    else found.push({ ...band, left, right: left + 1 });
  }
  return found;
}

function union(a: Region, b: Region): Region {
  return {
    left: Math.min(a.left, b.left),
    right: Math.max(a.right, b.right),
    top: Math.min(a.top, b.top),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

/** The size of a region, bytes. */
function area({ left, right, top, bottom }: Region): number {
  return (right - left) * (bottom - top);
}

/** The region without the blank rows and columns at its edges; undefined: the region is blank. */
function trimmed({ data, stride }: Bitmap, { left, right, top, bottom }: Region): Region | undefined {
  const ink = { left: right, right: left, top: bottom, bottom: top };
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      if (data[y * stride + x] === 0) continue;
      ink.left = Math.min(ink.left, x);
      ink.right = Math.max(ink.right, x + 1);
      ink.top = Math.min(ink.top, y);
      ink.bottom = y + 1;
    }
  }
  return ink.top < ink.bottom ? ink : undefined;
}

function blockOf({ data, stride }: Bitmap, { left, right, top, bottom }: Region): InkBlock {
  const width = right - left;
  const turned = new Uint8Array(width * (bottom - top));
  for (let y = top, to = 0; y < bottom; y++) {
    for (let x = left; x < right; x++) turned[to++] = ~(data[y * stride + x] ?? 0);
  }
  return { x: left * 8, y: top, stride: width, height: bottom - top, data: turned };
}

/** Splits a block until no part's data has the two bytes one after the other. */
function separated(block: InkBlock, apart: readonly [number, number]): InkBlock[] {
  const { stride, height, data } = block;
  const at = Buffer.from(data.buffer, data.byteOffset, data.byteLength).indexOf(Uint8Array.from(apart));
  if (at < 0) return [block];
  const column = (at % stride) + 1;
  const row = Math.floor(at / stride) + 1;
  const halves =
    column < stride
      ? [part(block, 0, column, 0, height), part(block, column, stride, 0, height)]
      : [part(block, 0, stride, 0, row), part(block, 0, stride, row, height)];
  return halves.flatMap((half) => separated(half, apart));
}

function part({ x, y, stride, data }: InkBlock, left: number, right: number, top: number, bottom: number) {
  const rows = Array.from({ length: bottom - top }, (_, row) =>
    data.subarray((top + row) * stride + left, (top + row) * stride + right),
  );
  return {
    x: x + left * 8,
    y: y + top,
    stride: right - left,
    height: bottom - top,
    data: new Uint8Array(Buffer.concat(rows)),
  };
}
