/** Finds where on the label an item may leave dots, without drawing it where possible. */
import type { Item, Rect } from './display-list.ts';
import { stampOf } from './ink.ts';
import { inkBounds } from './measure.ts';

/** A rectangle, dots, that holds every dot of the item; not necessarily the smallest. */
export function itemBounds(item: Item): Rect {
  if (item.kind === 'fill' || item.kind === 'bars' || item.kind === 'rounded' || item.kind === 'ellipse')
    return item;
  if (item.kind === 'text') {
    const { left, right, up, down } = inkBounds(item);
    const along = left + right;
    const across = up + down;
    switch (item.turn) {
      case 0:
        return { x: item.x - left, y: item.y - up, width: along, height: across };
      case 90:
        return { x: item.x - down, y: item.y - left, width: across, height: along };
      case 180:
        return { x: item.x - right, y: item.y - down, width: along, height: across };
      case 270:
        return { x: item.x - up, y: item.y - right, width: across, height: along };
    }
  }
  const { x, y, bitmap } = stampOf(item);
  return { x, y, width: bitmap.width, height: bitmap.height };
}
