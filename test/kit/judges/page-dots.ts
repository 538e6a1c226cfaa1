/** What poppler draws of a page, in dots, and how far two pictures are apart. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Bitmap, blacken, createBitmap, isBlack } from '../../../src/render/image/bitmap.ts';

/** The page as `pdftoppm` draws it in greys, black where it is darker than half. */
export function pageDots(file: Uint8Array, page = 1): Bitmap {
  const folder = mkdtempSync(join(tmpdir(), 'platen-pdf-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'in.pdf'), file);
  const pages = ['-f', String(page), '-l', String(page), '-singlefile'];
  execFileSync('pdftoppm', ['-r', '203', '-gray', ...pages, join(folder, 'in.pdf'), join(folder, 'out')]);
  const pgm = readFileSync(join(folder, 'out.pgm'));
  const [head = '', size = ''] = /^P5\s+(\d+ \d+)\s+255\s/.exec(pgm.toString('latin1', 0, 40)) ?? [];
  const [width = 0, height = 0] = size.split(' ').map(Number);
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if ((pgm[head.length + y * width + x] ?? 255) < 128) blacken(bitmap, x, y);
  return bitmap;
}

export function inkOf(bitmap: Bitmap): number {
  let ink = 0;
  for (const byte of bitmap.data) for (let bit = 0; bit < 8; bit++) ink += (byte >> bit) & 1;
  return ink;
}

/** The share of the reference's ink that differs. */
export function difference(one: Bitmap, other: Bitmap): number {
  const width = Math.min(one.width, other.width);
  let differs = 0;
  for (let y = 0; y < Math.min(one.height, other.height); y++)
    for (let x = 0; x < width; x++) if (isBlack(one, x, y) !== isBlack(other, x, y)) differs += 1;
  return differs / inkOf(other);
}

/** Where black begins and ends in a row. */
export function edges(bitmap: Bitmap, y: number): number[] {
  const found: number[] = [];
  for (let x = 1; x < bitmap.width; x++)
    if (isBlack(bitmap, x, y) !== isBlack(bitmap, x - 1, y)) found.push(x);
  return found;
}
