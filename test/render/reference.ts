/**
 * Pictures under version control that labels are compared with. A changed picture fails, and the difference is
 * written as an image: red is what the reference has and the label has not, blue the other way round.
 * `UPDATE_REFERENCES=1 npx vitest run test/render/references.long.test.ts` makes them anew; look at each before
 * committing it.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCanvas, ImageData } from '@napi-rs/canvas';
import { type Bitmap, isBlack } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { dotsOf } from '../kit/judges/judges.ts';

const FOLDER = join(import.meta.dirname, 'references');
const DIFFERENCES = join(tmpdir(), 'platen-differences');

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The reference of that name; made from `drawn` when they are being made anew. */
export async function reference(name: string, drawn: Bitmap, dpi: number): Promise<Bitmap> {
  const path = join(FOLDER, `${name}.png`);
  if (process.env['UPDATE_REFERENCES'] === '1') {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(path, encodePng(drawn, dpi));
  }
  try {
    return await dotsOf(await readFile(path));
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(`There is no ${path}: see reference.ts`);
  }
}

function blackNear(bitmap: Bitmap, x: number, y: number, reach: number): boolean {
  for (let row = Math.max(0, y - reach); row <= Math.min(bitmap.height - 1, y + reach); row++) {
    for (let column = Math.max(0, x - reach); column <= Math.min(bitmap.width - 1, x + reach); column++) {
      if (isBlack(bitmap, column, row)) return true;
    }
  }
  return false;
}

/** Black dots of either that the other has not within `reach` dots, as a share of the reference's black dots. */
export function difference(reference: Bitmap, drawn: Bitmap, reach: number): number {
  if (reference.width !== drawn.width || reference.height !== drawn.height) return 1;
  let black = 0;
  let apart = 0;
  for (let y = 0; y < reference.height; y++) {
    for (let x = 0; x < reference.width; x++) {
      const [a, b] = [isBlack(reference, x, y), isBlack(drawn, x, y)];
      if (a) black++;
      if (a !== b && !blackNear(a ? drawn : reference, x, y, reach)) apart++;
    }
  }
  return apart / Math.max(1, black);
}

/** Writes both, one over the other; returns the path. */
export async function showDifference(name: string, reference: Bitmap, drawn: Bitmap): Promise<string> {
  const width = Math.max(reference.width, drawn.width);
  const height = Math.max(reference.height, drawn.height);
  const image = new ImageData(width, height);
  const black = (bitmap: Bitmap, x: number, y: number) =>
    x < bitmap.width && y < bitmap.height && isBlack(bitmap, x, y);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [a, b] = [black(reference, x, y), black(drawn, x, y)];
      const colour = a && b ? [160, 160, 160] : a ? [255, 0, 0] : b ? [0, 0, 255] : [255, 255, 255];
      image.data.set([...colour, 255], 4 * (y * width + x));
    }
  }
  const canvas = createCanvas(width, height);
  canvas.getContext('2d').putImageData(image, 0, 0);
  await mkdir(DIFFERENCES, { recursive: true });
  const path = join(DIFFERENCES, `${name}.png`);
  await writeFile(path, await canvas.encode('png'));
  return path;
}
