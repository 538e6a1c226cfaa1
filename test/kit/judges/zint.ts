/**
 * zint, an encoder that others wrote, as the judge of symbols that no decoder at hand reads: what it makes of the
 * same data is compared with what is on the picture, bar by bar.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Rotation } from '../../../src/render/image/bitmap.ts';
import { type Bitmap, isBlack, turnBitmap } from '../../../src/render/image/bitmap.ts';
import { inkBox } from './judges.ts';

const run = promisify(execFile);

/** The rows of modules that zint makes, as text of 0 and 1. */
export async function zintRows(
  type: string,
  data: string,
  options: readonly string[] = [],
): Promise<string[]> {
  const { stdout } = await run('zint', ['-b', type, ...options, '-d', data, '--dump']);
  const rows = stdout.trim().split('\n');
  return rows.map((row) =>
    row
      .replace(/[^0-9A-F]/g, '')
      .replace(/./g, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')),
  );
}

/** A picture of something that was turned, turned back upright. */
export function turnedBack(picture: Bitmap, turn: Rotation): Bitmap {
  const back: Record<Rotation, Rotation> = { 0: 0, 90: 270, 180: 180, 270: 90 };
  return turnBitmap(picture, back[turn]);
}

/** The picture's one row of bars as modules, 1 dark, trailing light ones left out. */
export function barsOnPicture(picture: Bitmap, turn: Rotation, module: number): string {
  const bitmap = turnedBack(picture, turn);
  const { left, right, top, bottom } = inkBox(bitmap);
  const y = Math.floor((top + bottom) / 2);
  let bits = '';
  for (let x = left + module / 2; x < right; x += module)
    bits += isBlack(bitmap, Math.floor(x), y) ? '1' : '0';
  return bits;
}

/** The rows of modules on a picture; equal rows that follow each other are one. */
export function rowsOnPicture(picture: Bitmap, turn: Rotation, module: number): string[] {
  const bitmap = turnedBack(picture, turn);
  const { left, right, top, bottom } = inkBox(bitmap);
  const rows: string[] = [];
  for (let y = top + module / 2; y < bottom; y += module) {
    let bits = '';
    for (let x = left + module / 2; x < right; x += module)
      bits += isBlack(bitmap, Math.floor(x), Math.floor(y)) ? '1' : '0';
    if (rows.at(-1) !== bits) rows.push(bits);
  }
  return rows;
}

/** Rows without the light columns at both ends that all of them have. */
export function withoutMargins(rows: readonly string[]): string[] {
  const left = Math.min(...rows.map((row) => row.indexOf('1')).filter((at) => at >= 0));
  const right = Math.max(...rows.map((row) => row.lastIndexOf('1'))) + 1;
  return rows.map((row) => row.slice(left, right).padEnd(right - left, '0'));
}

/** The bars of a postal code as zint's rows have them: in each row, 1 for a bar that reaches it. */
export function postalOnPicture(picture: Bitmap, turn: Rotation, rows: 2 | 3): string[] {
  const bitmap = turnedBack(picture, turn);
  const { left, right, top, bottom } = inkBox(bitmap);
  const at = (part: number) => Math.floor(top + (bottom - top) * part);
  const heights = rows === 3 ? [at(0.1), at(0.5), at(0.9)] : [at(0.1), at(0.9)];
  const middles: number[] = [];
  const every = heights[1] ?? 0;
  for (let x = left; x < right; x++) {
    if (!isBlack(bitmap, x, every)) continue;
    const from = x;
    while (x < right && isBlack(bitmap, x, every)) x++;
    middles.push(Math.floor((from + x) / 2));
  }
  return heights.map((y) => middles.map((x) => (isBlack(bitmap, x, y) ? '1' : '0')).join(''));
}

/** zint's rows, without the spaces between bars. */
export function everyOther(rows: readonly string[], bars: number): string[] {
  return rows.map((row) => Array.from({ length: bars }, (_, index) => row.charAt(2 * index)).join(''));
}
