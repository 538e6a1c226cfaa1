/**
 * Encodes labels as PWG Raster (PWG 5102.4-2012), which every driverless printer takes. Its pages are dots. Each page is
 * exactly the label or the sheet of labels, and there is one page for each copy.
 *
 * A stream begins with a word that gives the byte order. Then each page has a header of 1796 bytes, and its rows. Equal rows
 * are sent once, with a repeat count. A row consists of runs, which repeat one dot group, and of dot groups as they are (§5.4,
 * after Apple's PackBits). A dot group fills whole bytes: it is eight dots at one bit for each dot, and otherwise one dot.
 *
 * The dots are black or white. They are sent in the first of these types that the printer lists
 * (`pwg-raster-document-type-supported`): grey, of which only the ends of the scale are used; one bit for each dot; or colour.
 * A printer that lists none of them gets `sgray_8`.
 */
import { setImmediate } from 'node:timers/promises';
import type { RasterType } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { Bitmap } from '../../../src/render/image/bitmap.ts';
import type { Page } from '../../../src/render/output/page.ts';
import { pageBitmap } from '../../../src/render/output/raster.ts';
import { otherDpi } from '../label-dots.ts';
import type { LabelEncoder } from '../language.ts';
import { encoderOfPages, type PageRun } from '../pages.ts';

const SYNC_WORD = Buffer.from('RaS2', 'latin1');
const HEADER_BYTES = 1796;
const MOST_REPEATED = 256;
const MOST_IN_RUN = 128;

interface PixelType {
  /** ColorSpace, table 5: 3 Black, 18 Sgray, 19 Srgb. */
  space: number;
  colors: number;
  bitsPerColor: number;
}

const TYPES: Readonly<Record<RasterType, PixelType>> = {
  black_1: { space: 3, colors: 1, bitsPerColor: 1 },
  sgray_8: { space: 18, colors: 1, bitsPerColor: 8 },
  srgb_8: { space: 19, colors: 3, bitsPerColor: 8 },
};

export async function openPwgRaster(job: QueuedJob): Promise<LabelEncoder> {
  const { dpi, rasterType = 'sgray_8' } = job.format;
  const document = async (pages: AsyncIterable<PageRun>) => {
    const parts: Uint8Array[] = [];
    for await (const { page, copies } of pages) {
      if (page.dpi !== dpi) throw otherDpi(page.dpi, dpi);
      await setImmediate();
      const one = rasterPage(page, rasterType);
      for (let copy = 0; copy < copies; copy++) parts.push(one);
    }
    return Buffer.concat(parts);
  };
  return await encoderOfPages(job, document, SYNC_WORD);
}

function rasterPage(page: Page, type: RasterType): Uint8Array {
  const bitmap = pageBitmap(page);
  const pixel = TYPES[type];
  return Buffer.concat([header(page, pixel), ...rows(bitmap, pixel)]);
}

/** The header (§5.3, table 4). Members that are not set are 0, which leaves them to the printer. */
function header(page: Page, { space, colors, bitsPerColor }: PixelType): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const number = (value: number, at: number) => bytes.writeUInt32BE(value, at);
  const bitsPerPixel = colors * bitsPerColor;
  bytes.write('PwgRaster', 0, 'latin1');
  number(page.dpi, 276);
  number(page.dpi, 280);
  // NumCopies is 1. Copies are pages of their own, so that the printer counts labels.
  number(1, 340);
  // PageSize, points.
  number(Math.round((page.widthMm * 72) / 25.4), 352);
  number(Math.round((page.heightMm * 72) / 25.4), 356);
  number(page.width, 372);
  number(page.height, 376);
  number(bitsPerColor, 384);
  number(bitsPerPixel, 388);
  number(Math.ceil((page.width * bitsPerPixel) / 8), 392);
  number(space, 400);
  number(colors, 420);
  // CrossFeedTransform, FeedTransform: unchanged.
  number(1, 456);
  number(1, 460);
  const size = `${hundredths(page.widthMm)}x${hundredths(page.heightMm)}mm`;
  // PageSizeName: a self-describing media size name (PWG 5101.1 §5.1).
  bytes.write(`custom_${size}_${size}`, 1732, 'latin1');
  return bytes;
}

function hundredths(mm: number): number {
  return Math.round(mm * 100) / 100;
}

function rows(bitmap: Bitmap, pixel: PixelType): Uint8Array[] {
  const { data, stride, height } = bitmap;
  const parts: Uint8Array[] = [];
  const group = pixel.bitsPerColor === 1 ? 1 : pixel.colors;
  for (let y = 0; y < height; ) {
    const row = data.subarray(y * stride, (y + 1) * stride);
    let next = y + 1;
    while (next < height && next - y < MOST_REPEATED) {
      if (Buffer.compare(row, data.subarray(next * stride, (next + 1) * stride)) !== 0) break;
      next++;
    }
    parts.push(Uint8Array.of(next - y - 1), packed(pixels(row, bitmap.width, pixel), group));
    y = next;
  }
  return parts;
}

/** A row's bytes. At one bit for each dot they are the bitmap's. Otherwise each colour of a dot has a byte; 0 is black. */
function pixels(row: Uint8Array, width: number, { bitsPerColor, colors }: PixelType): Uint8Array {
  if (bitsPerColor === 1) return row;
  const bytes = new Uint8Array(width * colors).fill(0xff);
  for (let x = 0; x < width; x++) {
    if (((row[x >> 3] ?? 0) & (0x80 >> (x & 7))) !== 0) bytes.fill(0, x * colors, (x + 1) * colors);
  }
  return bytes;
}

/** @param group bytes of a dot group */
function packed(row: Uint8Array, group: number): Uint8Array {
  const count = row.length / group;
  const out: number[] = [];
  const same = (a: number, b: number) => {
    for (let byte = 0; byte < group; byte++) {
      if (row[a * group + byte] !== row[b * group + byte]) return false;
    }
    return true;
  };
  for (let at = 0; at < count; ) {
    let end = at + 1;
    if (end < count && same(at, end)) {
      while (end < count && end - at < MOST_IN_RUN && same(at, end)) end++;
      out.push(end - at - 1, ...row.subarray(at * group, (at + 1) * group));
    } else {
      while (end < count && end - at < MOST_IN_RUN && !(end + 1 < count && same(end, end + 1))) end++;
      // A single group is sent as a run of one, because its count as one literal, 257 - 1, does not fit into a byte.
      out.push(end - at === 1 ? 0 : 257 - (end - at), ...row.subarray(at * group, end * group));
    }
    at = end;
  }
  return Uint8Array.from(out);
}
