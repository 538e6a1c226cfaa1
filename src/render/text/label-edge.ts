/** Nothing prints beyond the label's edge. Finds how much room a text has up to the edge, and whether the edge cuts it. */
import type { Rect, TextItem } from '../display-list.ts';
import type { Rotation } from '../image/bitmap.ts';
import { textRect } from '../ink.ts';
import { isInside } from '../place.ts';
import { turnRect } from '../turn.ts';
import { inkHeight, inkReach } from './measure.ts';

type Label = Pick<Rect, 'width' | 'height'>;

/** Text stays readable if its ink reaches over the edge by this share of the em. */
const OVERHANG = 0.05;

/** How far a point is from the label's edges, dots, as a text with this turn sees it: on along its line, back, and down. */
export function roomFrom(
  { x, y }: Pick<Rect, 'x' | 'y'>,
  turn: Rotation,
  { width, height }: Label,
): { onward: number; back: number; down: number } {
  const [left, right, up, under] = [x, width - x, y, height - y];
  switch (turn) {
    case 0:
      return { onward: right, back: left, down: under };
    case 90:
      return { onward: under, back: up, down: left };
    case 180:
      return { onward: left, back: right, down: up };
    case 270:
      return { onward: up, back: under, down: right };
  }
}

/**
 * Whether the edge cuts a line so that it cannot be read, or is read as another text (Ä as A).
 * @param width its advance, dots
 */
export function isCut(line: TextItem, width: number, label: Label): boolean {
  if (!isInside(label, around(line, width, 0, line.size / 2))) return true;
  if (isInside(label, textRect(line, inkReach(line)))) return false;
  const { up, down } = inkHeight(line);
  const spare = Math.ceil(line.size * OVERHANG);
  return !isInside(label, around(line, width, down - spare, up - spare));
}

/** Where a line lies on the label, from `under` dots below its baseline to `over` dots above it. */
function around({ x, y, turn }: TextItem, width: number, under: number, over: number): Rect {
  const [down, up] = [Math.floor(under), Math.floor(over)];
  const upright = { x: 0, y: -up, width: Math.floor(width), height: Math.max(0, up + down) };
  return turnRect({ x, y, width: 0, height: 0 }, turn, upright);
}
