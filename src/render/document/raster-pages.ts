/**
 * Reads pages of PWG Raster (PWG 5102.4-2012), which are dots that another program has drawn: black (1 or 8 bits), grey (1 or
 * 8) or RGB (8). All sizes are read and all rows are walked over before any page is drawn. That takes time in proportion to the
 * file's length, whatever sizes it claims.
 */
import { because } from '../../contract/reason.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { type Resolution, requirePixels } from '../image/picture-file.ts';
import { encodeGreyPng } from '../image/png-encoder.ts';
import { LastDocument } from './last-document.ts';

const SYNC_WORD = 4;
const HEADER = 1796;
/** Most pages of a document. */
const MOST_PAGES = 2_000;
/** Most pixels of a side. The drawing library takes no longer picture, and each row is work of its own. */
const LONGEST = 1_000_000;
/** The range of resolutions that printers have, dpi. */
const DPI = { least: 50, most: 5_000 };
/** The code within a row that the standard reserves. It stands for no count. */
const RESERVED = 128;

/** What a pixel's bytes mean: for each ColorSpace of table 5, how many colours a pixel has, and whether a high value is ink. */
const SPACES: ReadonlyMap<number, { readonly colors: number; readonly inked: boolean }> = new Map([
  // Black: a set bit is ink.
  [3, { colors: 1, inked: true }],
  // W, sGray: a set bit is light.
  [0, { colors: 1, inked: false }],
  [18, { colors: 1, inked: false }],
  // RGB, sRGB, Adobe RGB.
  [1, { colors: 3, inked: false }],
  [19, { colors: 3, inked: false }],
  [20, { colors: 3, inked: false }],
]);

interface RasterPage {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly dpi: Resolution;
  /** Bytes of a row. */
  readonly stride: number;
  readonly colors: number;
  readonly bits: number;
  readonly inked: boolean;
  /** Where its rows begin. */
  readonly rows: number;
}

interface RasterDocument {
  readonly bytes: Buffer;
  readonly pages: readonly RasterPage[];
}

const last = new LastDocument<RasterDocument>();

/** @throws PictureFault */
export function rasterDocument(base64: string): RasterDocument {
  return last.of(base64, '', (text) => readDocument(Buffer.from(text, 'base64')));
}

/** A page as a PNG in grey. @param number from 1 @throws PictureFault */
export function rasterPicture(base64: string, number: number): Uint8Array {
  const { bytes, pages } = rasterDocument(base64);
  const page = pages[number - 1];
  if (page === undefined)
    throw new PictureFault(because('document-no-page', { page: number, pages: pages.length }));
  const { width, height, dpi } = page;
  const greys = new Uint8Array(width * height);
  readRows(bytes, page, number, (row, y, times) => {
    const start = y * width;
    greyRow(row, page, greys.subarray(start, start + width));
    for (let copy = 1; copy < times; copy++) greys.copyWithin((y + copy) * width, start, start + width);
  });
  return encodeGreyPng({ width, height, greys, dpi });
}

/** @throws PictureFault */
function readDocument(bytes: Buffer): RasterDocument {
  const pages: RasterPage[] = [];
  for (let at = SYNC_WORD; at < bytes.length || pages.length === 0; ) {
    const number = pages.length + 1;
    if (number > MOST_PAGES)
      throw new PictureFault(because('document-pages', { pages: number, most: MOST_PAGES }));
    const page = readHeader(bytes, at, number);
    at = readRows(bytes, page, number);
    pages.push(page);
  }
  return { bytes, pages };
}

/** §5.3, table 4. @throws PictureFault */
function readHeader(bytes: Buffer, at: number, page: number): RasterPage {
  if (at + HEADER > bytes.length) throw new PictureFault(because('raster-cut-off', { page }));
  const require = (member: string, isRight: boolean) => {
    if (!isRight) throw new PictureFault(because('raster-broken', { page, member }));
  };
  const number = (offset: number) => bytes.readUInt32BE(at + offset);
  require('PwgRaster', bytes.toString('latin1', at, at + 10) === 'PwgRaster\0');
  const [width, height] = [number(372), number(376)];
  requirePixels({ width, height });
  require('Width', width <= LONGEST);
  require('Height', height <= LONGEST);
  const dpi = { x: number(276), y: number(280) };
  for (const along of [dpi.x, dpi.y]) require('HWResolution', along >= DPI.least && along <= DPI.most);
  const [bits, pixel, stride] = [number(384), number(388), number(392)];
  const space = SPACES.get(number(400));
  const isKnown = space !== undefined && (bits === 8 || (bits === 1 && space.colors === 1));
  if (!isKnown) throw new PictureFault(because('raster-type', { page }));
  const { colors, inked } = space;
  require('BitsPerPixel', pixel === bits * colors);
  require('BytesPerLine', stride === Math.ceil((width * pixel) / 8));
  // 0: the colours of a pixel stand together.
  require('ColorOrder', number(396) === 0);
  // Other printers ignore this count, and take the job's copies. If it counted here as well, copies of copies would come out.
  const count = number(340);
  if (count > 1) throw new PictureFault(because('raster-copies', { page, count }));
  return { width, height, dpi, stride, colors, bits, inked, rows: at + HEADER };
}

/**
 * Goes over the rows of a page (§5.4). Each is sent once, with the number of equal rows. It consists of runs, which repeat a
 * group of dots, and of groups that stand as they are.
 * @param take gets each row's bytes; the next row overwrites them
 * @returns where the page ends
 * @throws PictureFault
 */
function readRows(
  bytes: Buffer,
  { height, stride, colors, bits, rows }: RasterPage,
  page: number,
  take?: (row: Uint8Array, y: number, times: number) => void,
): number {
  const next = (at: number): number => {
    const byte = bytes[at];
    if (byte === undefined) throw new PictureFault(because('raster-cut-off', { page }));
    return byte;
  };
  const broken = () => new PictureFault(because('raster-broken', { page, member: 'Rows' }));
  // A group is a byte, or a pixel's colours. At one bit a dot, the byte has eight dots.
  const group = bits === 1 ? 1 : colors;
  const row = new Uint8Array(take === undefined ? 0 : stride);
  let at = rows;
  for (let y = 0; y < height; ) {
    const times = next(at++) + 1;
    if (y + times > height) throw broken();
    for (let x = 0; x < stride; ) {
      const code = next(at++);
      const repeats = code < RESERVED;
      const length = (repeats ? code + 1 : 257 - code) * group;
      const sent = repeats ? group : length;
      if (code === RESERVED || x + length > stride) throw broken();
      if (at + sent > bytes.length) throw new PictureFault(because('raster-cut-off', { page }));
      if (take !== undefined) {
        const groups = bytes.subarray(at, at + sent);
        if (group === 1 && repeats) row.fill(groups[0] ?? 0, x, x + length);
        else for (let from = 0; from < length; from += sent) row.set(groups, x + from);
      }
      x += length;
      at += sent;
    }
    take?.(row, y, times);
    y += times;
  }
  return at;
}

/** The greys of a row: ITU-R BT.601 luma, as for all pictures. */
function greyRow(row: Uint8Array, { colors, bits, inked }: RasterPage, greys: Uint8Array): void {
  const light = inked ? 0 : 255;
  for (let x = 0; x < greys.length; x++) {
    if (bits === 1) {
      const isSet = ((row[x >> 3] ?? 0) & (0x80 >> (x & 7))) !== 0;
      greys[x] = isSet ? light : 255 - light;
    } else if (colors === 1) {
      greys[x] = inked ? 255 - (row[x] ?? 0) : (row[x] ?? 0);
    } else {
      const at = 3 * x;
      greys[x] = Math.round(0.299 * (row[at] ?? 0) + 0.587 * (row[at + 1] ?? 0) + 0.114 * (row[at + 2] ?? 0));
    }
  }
}
