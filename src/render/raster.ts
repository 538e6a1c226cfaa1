/** A display list as a black-and-white picture: what the printer's head would burn, dot for dot. */
import { setImmediate } from 'node:timers/promises';
import { type Bitmap, createBitmap, stampBitmap } from './bitmap.ts';
import type { DisplayList, Item, Rect } from './display-list.ts';
import { blackRect, type Stamp, stampOf } from './ink.ts';
import { fillsPage, type Page } from './page.ts';
import { encodePng } from './png-encoder.ts';

/** What drawing made, as long as the renderer keeps the item: it uses one again for what a job says again. */
const drawnBefore = new WeakMap<Item, Stamp>();

function stamp(item: Item): Stamp {
  const known = drawnBefore.get(item);
  if (known !== undefined) return known;
  const made = stampOf(item);
  drawnBefore.set(item, made);
  return made;
}

/** Where an item's black dots are, or those that it clears. */
export function inkRect(item: Item): Rect | undefined {
  const { x, y, bitmap } = stamp(item);
  const rect = blackRect(bitmap);
  return rect && { ...rect, x: x + rect.x, y: y + rect.y };
}

/** The label as dots. */
export function rasterBitmap(list: DisplayList): Bitmap {
  const sheet = createBitmap(list.width, list.height);
  for (const item of list.items) {
    const { x, y, bitmap, ink } = stamp(item);
    stampBitmap(sheet, bitmap, x, y, ink === 'white');
  }
  return sheet;
}

/** The page as dots. */
export function pageBitmap(page: Page): Bitmap {
  const drawn = new Map<DisplayList, Bitmap>();
  const sheet = createBitmap(page.width, page.height);
  for (const label of page.labels) {
    const { x, y, list } = label;
    const bitmap = drawn.get(list) ?? rasterBitmap(list);
    if (fillsPage(page, label)) return bitmap;
    drawn.set(list, bitmap);
    stampBitmap(sheet, bitmap, x, y, false);
  }
  return sheet;
}

/**
 * The page as a PNG, one bit a dot, that carries its resolution.
 * Lets the event loop turn once, without which the drawing library does not give its memory back.
 */
export async function rasterizePage(page: Page): Promise<Uint8Array> {
  await setImmediate();
  return encodePng(pageBitmap(page), page.dpi);
}
