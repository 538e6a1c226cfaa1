/** Draws a display list as a black-and-white picture: what the printer's head would burn, dot for dot. */
import { setImmediate } from 'node:timers/promises';
import type { DisplayList, Item, Rect } from '../display-list.ts';
import { type Bitmap, createBitmap, stampBitmap } from '../image/bitmap.ts';
import { encodePng } from '../image/png-encoder.ts';
import { blackRect, type Stamp, stampOf } from '../ink.ts';
import { fillsPage, type Page } from './page.ts';

/** What items look like, for as long as the renderer keeps an item. It uses an item again for content that a job repeats. */
const drawnBefore = new WeakMap<Item, Stamp>();

function stamp(item: Item): Stamp {
  const known = drawnBefore.get(item);
  if (known !== undefined) return known;
  const made = stampOf(item);
  drawnBefore.set(item, made);
  return made;
}

/** The rectangle around the dots that an item blackens or clears. Undefined: there are none. */
export function inkRect(item: Item): Rect | undefined {
  const { x, y, bitmap } = stamp(item);
  const rect = blackRect(bitmap);
  return rect && { ...rect, x: x + rect.x, y: y + rect.y };
}

export function rasterBitmap(list: DisplayList): Bitmap {
  const sheet = createBitmap(list.width, list.height);
  for (const item of list.items) {
    const { x, y, bitmap, ink } = stamp(item);
    stampBitmap(sheet, bitmap, x, y, ink === 'white');
  }
  return sheet;
}

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
 * The page as a PNG with one bit for each dot, and with its resolution. Waits for a turn of the event loop, because otherwise
 * the drawing library does not free its memory.
 */
export async function rasterizePage(page: Page): Promise<Uint8Array> {
  await setImmediate();
  return encodePng(pageBitmap(page), page.dpi);
}
