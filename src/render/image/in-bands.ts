/** Makes drawings black and white. It works in bands, so that a sheet-sized picture takes hardly more memory than its dots. */
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';
import type { ImageElement } from '../../contract/template.ts';
import { type Bitmap, blacken, createBitmap } from './bitmap.ts';
import { type Rgba, readPixels, withPixels, words } from './pixels.ts';

/** The most dots drawn at once, because the library cannot be stopped once it has begun, and takes four bytes for each dot. */
export const STRETCH = 1_000_000;

/** How many rows of this width are drawn at once. */
export function rowsAtOnce(width: number): number {
  return Math.max(1, Math.floor(STRETCH / width));
}

interface Size {
  readonly width: number;
  readonly height: number;
}
type Method = ImageElement['halftone'];

/**
 * @param rows of one band
 * @param draw draws, on white, the band that begins in the whole picture's row `top`
 */
export function inBands(
  size: Size,
  rows: number,
  method: Method,
  draw: (context: SKRSContext2D, top: number) => void,
): Bitmap {
  const { width } = size;
  return blackAndWhite(size, rows, method, (top, count, take) => {
    const onWhite = (context: SKRSContext2D) => {
      context.fillStyle = 'white';
      context.fillRect(0, 0, width, count);
      draw(context, top);
    };
    withPixels(width, count, onWhite, take);
  });
}

/** Does the same with a canvas that is already drawn, on white. */
export function inBandsOf(canvas: Canvas, method: Method): Bitmap {
  const context = canvas.getContext('2d');
  const { width } = canvas;
  return blackAndWhite(canvas, rowsAtOnce(width), method, (top, count, take) =>
    readPixels(context, { x: 0, y: top, width, height: count }, take),
  );
}

/** @param band gives the pixels of some rows from `top` on to `take` */
function blackAndWhite(
  { width, height }: Size,
  rows: number,
  method: Method,
  band: (top: number, count: number, take: (rgba: Rgba) => void) => void,
): Bitmap {
  const bitmap = createBitmap(width, height);
  const grey = new Float32Array(method === 'dither' ? width * (rows + 1) : 0);
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    band(top, count, (rgba) => {
      if (method === 'threshold') blackenDark(bitmap, rgba, top);
      else dither(bitmap, grey, rgba, { top, count });
    });
  }
  return bitmap;
}

/** @param grey holds the errors from the band above, and takes those for the band below */
function dither(
  bitmap: Bitmap,
  grey: Float32Array,
  rgba: Rgba,
  { top, count }: { top: number; count: number },
): void {
  const { width } = bitmap;
  for (let at = 0; at < width * count; at++) grey[at] = (grey[at] ?? 0) + luma(rgba, at);
  for (let y = 0; y < count; y++) {
    for (let x = 0; x < width; x++) {
      const level = grey[y * width + x] ?? 255;
      const black = level < DARK;
      if (black) blacken(bitmap, x, top + y);
      spread(grey, width, x, y, level - (black ? 0 : 255));
    }
  }
  // The dithering errors below the band become the first row of the next band.
  grey.copyWithin(0, count * width, (count + 1) * width);
  grey.fill(0, width);
}

/** What is darker than this, of 255, becomes black. */
const DARK = 128;
const WHITE = 0xff_ff_ff_ff;

/**
 * Blackens the dark pixels of a band whose first row is `top`. White pixels are skipped fast, because most of a page is white.
 */
function blackenDark(bitmap: Bitmap, rgba: Rgba, top: number): void {
  const pixels = words(rgba);
  for (let at = 0; at < pixels.length; at++) {
    if (pixels[at] === WHITE || luma(rgba, at) >= DARK) continue;
    blacken(bitmap, at % bitmap.width, top + Math.floor(at / bitmap.width));
  }
}

/** ITU-R BT.601. */
function luma(rgba: Rgba, pixel: number): number {
  const at = 4 * pixel;
  return 0.299 * (rgba[at] ?? 0) + 0.587 * (rgba[at + 1] ?? 0) + 0.114 * (rgba[at + 2] ?? 0);
}

/** Floyd–Steinberg: the error goes to the neighbours that come later, and from the last row to the next band. */
function spread(grey: Float32Array, width: number, x: number, y: number, error: number): void {
  const add = (column: number, row: number, share: number): void => {
    if (column < 0 || column >= width) return;
    const at = row * width + column;
    grey[at] = (grey[at] ?? 0) + (error * share) / 16;
  };
  add(x + 1, y, 7);
  add(x - 1, y + 1, 3);
  add(x, y + 1, 5);
  add(x + 1, y + 1, 1);
}
