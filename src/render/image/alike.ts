/**
 * Compares two pictures that were drawn in two ways. They differ a little where an edge runs through a pixel. So a pixel counts
 * as the same if the other picture has its colour there or right beside it.
 */
import type { Canvas } from '@napi-rs/canvas';
import { rowsAtOnce } from './in-bands.ts';
import { type Rgba, readPixels, words } from './pixels.ts';

/** By how much a channel may differ, of 255. */
const CLOSE = 12;

/** Whether two pictures have one size and show the same. */
export function alike(one: Canvas, other: Canvas): boolean {
  const { width, height } = one;
  if (other.width !== width || other.height !== height) return false;
  const rows = rowsAtOnce(width);
  for (let top = 0; top < height; top += rows) {
    // The band includes one row above and one below, because pixels are compared with their neighbours.
    const from = Math.max(0, top - 1);
    const count = Math.min(height, top + rows + 1) - from;
    const band = { x: 0, y: from, width, height: count };
    const own = { from: (top - from) * width, to: (Math.min(height, top + rows) - from) * width };
    const [a, b] = [one.getContext('2d'), other.getContext('2d')];
    if (!readPixels(a, band, (its) => readPixels(b, band, (others) => bandsAlike(its, others, width, own))))
      return false;
  }
  return true;
}

/** @param own the pixels that are compared */
function bandsAlike(a: Rgba, b: Rgba, width: number, own: { from: number; to: number }): boolean {
  const [ours, others] = [words(a), words(b)];
  for (let pixel = own.from; pixel < own.to; pixel++) {
    // Most pixels of two such pictures are equal, so this is compared first.
    if (ours[pixel] !== others[pixel] && !pixelAlike(a, b, 4 * pixel, width)) return false;
  }
  return true;
}

/** @param first where the pixel's first channel is */
function pixelAlike(a: Rgba, b: Rgba, first: number, width: number): boolean {
  for (let at = first; at < first + 4; at++) {
    if (Math.abs((a[at] ?? 0) - (b[at] ?? 0)) <= CLOSE) continue;
    if (!beside(a, b, at, width) || !beside(b, a, at, width)) return false;
  }
  return true;
}

/** Whether a value of `a` lies between the least and the greatest value that `b` has there and right beside it. */
function beside(a: Rgba, b: Rgba, at: number, width: number): boolean {
  const column = (at >> 2) % width;
  let [least, most] = [255, 0];
  for (let row = -1; row <= 1; row++)
    for (let step = -1; step <= 1; step++) {
      const value =
        column + step < 0 || column + step >= width ? undefined : b[at + 4 * (row * width + step)];
      if (value === undefined) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  const value = a[at] ?? 0;
  return value >= least - CLOSE && value <= most + CLOSE;
}
