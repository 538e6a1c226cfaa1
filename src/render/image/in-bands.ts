/** Makes what is drawn black and white, in bands, so that a sheet-sized picture takes no more memory than its dots. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { ImageElement } from '../../contract/template.ts';
import { type Bitmap, blacken, createBitmap } from './bitmap.ts';
import { withPixels } from './pixels.ts';

/** The most dots drawn at once: the library cannot be stopped once it has begun, and takes four bytes for each dot. */
export const STRETCH = 1_000_000;

/** As many rows of such a width as are drawn at once. */
export function rowsAtOnce(width: number): number {
  return Math.max(1, Math.floor(STRETCH / width));
}

/**
 * @param rows of one band
 * @param draw draws on white the band that begins in row `top` of the whole
 */
export function inBands(
  { width, height }: { readonly width: number; readonly height: number },
  rows: number,
  method: ImageElement['halftone'],
  draw: (context: SKRSContext2D, top: number) => void,
): Bitmap {
  const bitmap = createBitmap(width, height);
  const grey = new Float32Array(width * (rows + 1));
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    const onWhite = (context: SKRSContext2D) => {
      context.fillStyle = 'white';
      context.fillRect(0, 0, width, count);
      draw(context, top);
    };
    withPixels(width, count, onWhite, (rgba) => {
      addGrey(grey, rgba, width * count);
      for (let y = 0; y < count; y++) {
        for (let x = 0; x < width; x++) {
          const level = grey[y * width + x] ?? 255;
          const black = level < 128;
          if (black) blacken(bitmap, x, top + y);
          if (method === 'dither') spread(grey, width, x, y, level - (black ? 0 : 255));
        }
      }
      // The dithering errors below the band become the first row of the next band.
      grey.copyWithin(0, count * width, (count + 1) * width);
      grey.fill(0, width);
    });
  }
  return bitmap;
}

/** Adds ITU-R BT.601 luma to the dithering errors of the band above. */
function addGrey(grey: Float32Array, rgba: ArrayLike<number>, count: number): void {
  for (let at = 0; at < count; at++) {
    const luma =
      0.299 * (rgba[4 * at] ?? 0) + 0.587 * (rgba[4 * at + 1] ?? 0) + 0.114 * (rgba[4 * at + 2] ?? 0);
    grey[at] = (grey[at] ?? 0) + luma;
  }
}

/** Floyd–Steinberg: the error goes to the neighbours that come later; from the last row, to the next band. */
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
