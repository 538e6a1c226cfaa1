/** Quarter turns: from a box's own upright coordinates to where it lies on the label. */
import type { Item, Rect } from './display-list.ts';
import { type Rotation, turnBitmap } from './image/bitmap.ts';

/** The turn that `a` and then `b` make together. */
function addTurns(a: Rotation, b: Rotation): Rotation {
  const sum = (a + b) % 360;
  return sum === 90 || sum === 180 || sum === 270 ? sum : 0;
}

/** The width and height that contents have inside a box that is turned. */
export function upright(
  box: Pick<Rect, 'width' | 'height'>,
  turn: Rotation,
): { width: number; height: number } {
  return turn === 90 || turn === 270
    ? { width: box.height, height: box.width }
    : { width: box.width, height: box.height };
}

/** A point of the turned contents, given in their upright coordinates, on the label. */
export function turnPoint(box: Rect, turn: Rotation, u: number, v: number): { x: number; y: number } {
  switch (turn) {
    case 0:
      return { x: box.x + u, y: box.y + v };
    case 90:
      return { x: box.x + box.width - v, y: box.y + u };
    case 180:
      return { x: box.x + box.width - u, y: box.y + box.height - v };
    case 270:
      return { x: box.x + v, y: box.y + box.height - u };
  }
}

/** A rectangle of the turned contents, given in their upright coordinates, on the label. */
export function turnRect(box: Rect, turn: Rotation, inner: Rect): Rect {
  const a = turnPoint(box, turn, inner.x, inner.y);
  const b = turnPoint(box, turn, inner.x + inner.width, inner.y + inner.height);
  return {
    x: Math.min(a.x, b.x),
    y: Math.min(a.y, b.y),
    width: Math.abs(b.x - a.x),
    height: Math.abs(b.y - a.y),
  };
}

/** An item of a label as it lies on `media` once the whole label is turned by `turn`. */
export function turnItem(item: Item, turn: Rotation, media: Rect): Item {
  if (turn === 0) return item;
  switch (item.kind) {
    case 'fill':
    case 'rounded':
    case 'ellipse':
      return { ...item, ...turnRect(media, turn, item) };
    case 'bars':
      return { ...item, ...turnRect(media, turn, item), turn: addTurns(item.turn, turn) };
    case 'stroke': {
      const a = turnPoint(media, turn, item.x1, item.y1);
      const b = turnPoint(media, turn, item.x2, item.y2);
      return { ...item, x1: a.x, y1: a.y, x2: b.x, y2: b.y };
    }
    case 'text':
      return { ...item, ...turnPoint(media, turn, item.x, item.y), turn: addTurns(item.turn, turn) };
    case 'bitmap': {
      const width = item.bitmap.width * item.scale;
      const height = item.bitmap.height * item.scale;
      const { x, y } = turnRect(media, turn, { x: item.x, y: item.y, width, height });
      return { ...item, x, y, bitmap: turnBitmap(item.bitmap, turn) };
    }
  }
}
