/** Checks that elements lie on the label, and outside the quiet zones of barcodes. */

import type { BarcodeElement, DesignedTemplate } from '../contract/template.ts';
import { enclosing, type Item, type Rect } from './display-list.ts';
import { isBlack } from './image/bitmap.ts';
import { type Stamp, stampOf } from './ink.ts';
import { itemBounds } from './item-bounds.ts';
import type { LabelGrid } from './label-grid.ts';
import { isInside } from './place.ts';
import { quietZone } from './symbol/symbol.ts';
import { moduleOf, quietDots } from './symbol/symbol-box.ts';

/** The most bytes of drawn items that are kept during a check. */
const MOST_KEPT = 32 * 1024 * 1024;

/** An item's rectangle as the author placed it; undefined for text, which its layout has checked. */
function extent(item: Item): Rect | undefined {
  switch (item.kind) {
    case 'text':
      return undefined;
    case 'bitmap':
      return {
        x: item.x,
        y: item.y,
        width: item.bitmap.width * item.scale,
        height: item.bitmap.height * item.scale,
      };
    case 'stroke':
      return {
        x: Math.min(item.x1, item.x2),
        y: Math.min(item.y1, item.y2),
        width: Math.abs(item.x2 - item.x1),
        height: Math.abs(item.y2 - item.y1),
      };
    default:
      return item;
  }
}

function meet(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Whether any item reaches beyond the label's edge. */
export function itemsOffLabel(items: readonly Item[], label: LabelGrid): boolean {
  return items.some((item) => {
    const rect = extent(item);
    return rect !== undefined && !isInside(label, rect);
  });
}

/** Whether no item is on the label, even partly. */
export function itemsWhollyOff(items: readonly Item[], label: LabelGrid): boolean {
  const sheet = { x: 0, y: 0, width: label.width, height: label.height };
  return (
    items.length > 0 &&
    items.every((item) => {
      const rect = extent(item);
      return rect !== undefined && !meet(sheet, rect);
    })
  );
}

/** The symbol with its quiet zones on the label; undefined if nothing is drawn. */
function quietRect(element: BarcodeElement, items: readonly Item[], dpi: number): Rect | undefined {
  const around = (list: readonly Item[]) => enclosing(list.flatMap((item) => extent(item) ?? []));
  const all = around(items);
  // Guard bars and bearer bars belong to the symbol. But the quiet zones are measured without them, because bearer bars reach
  // across the quiet zones, or stand outside of them.
  const symbol = around(items.filter(({ kind }) => kind !== 'fill'));
  if (all === undefined || symbol === undefined) return all;
  const [own] = items.flatMap((item) => (item.kind === 'bars' ? (item.quiet ?? []) : []));
  const quiet = quietDots(own ?? quietZone(element.symbology), moduleOf(element, dpi), dpi);
  // Clockwise from the top; `side` gives them as they lie after the rotation.
  const sides = [quiet.top, quiet.right, quiet.bottom, quiet.left];
  const turns = element.rotation / 90;
  const side = (at: number) => sides[(at + 4 - turns) % 4] ?? 0;
  const quietly = {
    x: symbol.x - side(3),
    y: symbol.y - side(0),
    width: symbol.width + side(1) + side(3),
    height: symbol.height + side(0) + side(2),
  };
  return enclosing([quietly, all]);
}

/**
 * Whether an item draws dots, black or white, in a rectangle. Its box alone may overlap the rectangle, because a frame around a
 * symbol is allowed.
 */
function marks(item: Item, rect: Rect, stamp: (item: Item) => Stamp): boolean {
  if (item.kind === 'fill' || item.kind === 'bars') return meet(item, rect);
  // The bounds of text are known without drawing. A stroke is wider than its extent, so it is always drawn.
  const around = item.kind === 'text' ? itemBounds(item) : extent(item);
  if (around !== undefined && item.kind !== 'stroke' && !meet(around, rect)) return false;
  const { x, y, bitmap } = stamp(item);
  for (let row = Math.max(0, rect.y - y); row < Math.min(bitmap.height, rect.y + rect.height - y); row++) {
    for (
      let column = Math.max(0, rect.x - x);
      column < Math.min(bitmap.width, rect.x + rect.width - x);
      column++
    ) {
      if (isBlack(bitmap, column, row)) return true;
    }
  }
  return false;
}

/**
 * Finds elements that print in a barcode's quiet zones or on it. Returns the indices of both in the template.
 * @param drawn the items of the elements that are drawn
 * @param at called with the JSON pointer of each barcode before it is checked
 */
export function quietZoneConflicts(
  template: DesignedTemplate,
  drawn: ReadonlyMap<number, readonly Item[]>,
  dpi: number,
  at: (pointer: string) => void,
): [barcode: number, other: number][] {
  const conflicts: [number, number][] = [];
  // Each item is drawn once for all barcodes, as far as the memory for it reaches.
  const stamps = new Map<Item, Stamp>();
  let room = MOST_KEPT;
  const stamp = (item: Item): Stamp => {
    const known = stamps.get(item);
    if (known !== undefined) return known;
    const made = stampOf(item);
    room -= made.bitmap.data.length;
    if (room >= 0) stamps.set(item, made);
    return made;
  };
  for (const [index, items] of drawn) {
    const element = template.elements[index];
    const rect = element?.type === 'barcode' ? quietRect(element, items, dpi) : undefined;
    if (rect === undefined) continue;
    at(`/elements/${index}`);
    for (const [other, theirs] of drawn) {
      if (other !== index && theirs.some((item) => marks(item, rect, stamp))) conflicts.push([index, other]);
    }
  }
  return conflicts;
}
