/** A display list as a black-and-white picture: what the printer's head would burn, dot for dot. */
import { setImmediate } from 'node:timers/promises';
import { type Bitmap, createBitmap, stampBitmap } from './bitmap.ts';
import type { DisplayList } from './display-list.ts';
import { stampOf } from './ink.ts';
import { encodePng } from './png.ts';

/** The label as dots. */
export function rasterBitmap(list: DisplayList): Bitmap {
  const sheet = createBitmap(list.width, list.height);
  for (const item of list.items) {
    const { x, y, bitmap, ink } = stampOf(item);
    stampBitmap(sheet, bitmap, x, y, ink === 'white');
  }
  return sheet;
}

/**
 * The label as a PNG, one bit a dot, that carries its resolution: the list's own dpi.
 * Lets the event loop turn once, without which the drawing library does not give its memory back.
 */
export async function rasterize(list: DisplayList): Promise<Uint8Array> {
  await setImmediate();
  return encodePng(rasterBitmap(list), list.dpi);
}
