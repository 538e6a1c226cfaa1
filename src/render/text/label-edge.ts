/** The label's edge, which cuts off whatever is printed beyond it: how far a text is from it, and whether it is cut. */
import type { Rect, TextItem } from '../display-list.ts';
import type { Rotation } from '../image/bitmap.ts';
import { textRect } from '../ink.ts';
import { isInside } from '../place.ts';
import { turnRect } from '../turn.ts';
import { inkHeight, inkReach } from './measure.ts';

type Label = Pick<Rect, 'width' | 'height'>;

/** The share of the em by which ink may reach over the edge and stay readable. */
const OVERHANG = 0.05;

/** Dots from a point to the edges, as a text that is turned so goes: onward in its line, back, and down its lines. */
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

/** Whether the edge cuts a line of text so that it cannot be read, or reads as another (Ä as A). @param width its advance */
export function isCut(line: TextItem, width: number, label: Label): boolean {
  if (!isInside(label, around(line, width, 0, line.size / 2))) return true;
  if (isInside(label, textRect(line, inkReach(line)))) return false;
  const { up, down } = inkHeight(line);
  const spare = Math.ceil(line.size * OVERHANG);
  return !isInside(label, around(line, width, down - spare, up - spare));
}

/** A line from so far under its baseline to so far over it, as it lies on the label. */
function around({ x, y, turn }: TextItem, width: number, under: number, over: number): Rect {
  const [down, up] = [Math.floor(under), Math.floor(over)];
  const upright = { x: 0, y: -up, width: Math.floor(width), height: Math.max(0, up + down) };
  return turnRect({ x, y, width: 0, height: 0 }, turn, upright);
}
