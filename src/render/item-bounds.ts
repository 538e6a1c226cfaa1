/** Finds where on the label an item may leave dots, without drawing it where possible. */
import type { Item, Rect } from './display-list.ts';
import { stampOf, textRect } from './ink.ts';
import { inkBounds } from './text/measure.ts';

/** A rectangle, dots, that holds every dot of the item; not necessarily the smallest. */
export function itemBounds(item: Item): Rect {
  if (item.kind === 'fill' || item.kind === 'bars' || item.kind === 'rounded' || item.kind === 'ellipse')
    return item;
  if (item.kind === 'text') return textRect(item, inkBounds(item));
  const { x, y, bitmap } = stampOf(item);
  return { x, y, width: bitmap.width, height: bitmap.height };
}
