/** Scales a label down for a list of labels. A pixel is as dark as the share of black among its dots. */
import { type Bitmap, isBlack } from './bitmap.ts';
import { encodeGreyPng } from './png-encoder.ts';

/** @param width pixels, less than the bitmap has dots */
export function smallerPng(bitmap: Bitmap, width: number): Uint8Array {
  const height = Math.max(1, Math.round((bitmap.height * width) / bitmap.width));
  const black = new Uint32Array(width * height);
  const dots = new Uint32Array(width * height);
  for (let y = 0; y < bitmap.height; y++) {
    const row = Math.min(height - 1, Math.floor((y * height) / bitmap.height)) * width;
    for (let x = 0; x < bitmap.width; x++) {
      const at = row + Math.floor((x * width) / bitmap.width);
      dots[at] = (dots[at] ?? 0) + 1;
      if (isBlack(bitmap, x, y)) black[at] = (black[at] ?? 0) + 1;
    }
  }
  const greys = new Uint8Array(width * height);
  for (const [at, count] of black.entries()) {
    greys[at] = 255 - Math.round((255 * count) / Math.max(1, dots[at] ?? 1));
  }
  return encodeGreyPng({ width, height, greys });
}
