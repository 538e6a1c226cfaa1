/**
 * Draws items as dots: the one place where outlines become black or white. The raster and the graphics of a
 * printer language both use it, so that they agree dot for dot.
 */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type {
  BarsItem,
  EllipseItem,
  Ink,
  Item,
  Rect,
  RoundedItem,
  StrokeItem,
  TextItem,
} from './display-list.ts';
import { type Bitmap, blacken, blackenRect, createBitmap, scaleBitmap, turnBitmap } from './image/bitmap.ts';
import { withPixels } from './image/pixels.ts';
import { drawLine, type InkBounds, inkBounds } from './text/measure.ts';
import { turnRect } from './turn.ts';

/** Dots of one colour on the label. */
export interface Stamp {
  readonly x: number;
  readonly y: number;
  readonly bitmap: Bitmap;
  readonly ink: Ink;
}

/** The smallest rectangle with all black dots; undefined: there are none. */
export function blackRect({ width, height, stride, data }: Bitmap): Rect | undefined {
  let [left, right, top, bottom] = [width, -1, height, -1];
  // A row's last byte may hold bits beyond its dots.
  const ours = 0xff << (7 - ((width - 1) & 7));
  for (let y = 0; y < height; y++) {
    for (let at = 0; at < stride; at++) {
      const byte = (data[y * stride + at] ?? 0) & (at === stride - 1 ? ours : 0xff);
      if (byte === 0) continue;
      left = Math.min(left, at * 8 + Math.clz32(byte) - 24);
      right = Math.max(right, at * 8 + Math.clz32(byte & -byte) - 24);
      top = Math.min(top, y);
      bottom = y;
    }
  }
  return right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

export function stampOf(item: Item): Stamp {
  switch (item.kind) {
    case 'fill': {
      const bitmap = createBitmap(item.width, item.height);
      blackenRect(bitmap, 0, 0, item.width, item.height);
      return { x: item.x, y: item.y, bitmap, ink: item.ink };
    }
    case 'bitmap':
      return { x: item.x, y: item.y, bitmap: scaleBitmap(item.bitmap, item.scale), ink: 'black' };
    case 'bars':
      return { x: item.x, y: item.y, bitmap: barsBitmap(item), ink: 'black' };
    case 'text':
      return textStamp(item);
    case 'rounded':
      return traced(item, traceRounded);
    case 'ellipse':
      return traced(item, traceEllipse);
    case 'stroke': {
      const reach = Math.ceil(item.thickness);
      const x = Math.min(item.x1, item.x2) - reach;
      const y = Math.min(item.y1, item.y2) - reach;
      const width = Math.abs(item.x2 - item.x1) + 2 * reach;
      const height = Math.abs(item.y2 - item.y1) + 2 * reach;
      const bitmap = drawn(width, height, (context) => traceStroke(context, item, -x, -y));
      return { x, y, bitmap, ink: item.ink };
    }
  }
}

type Trace<T> = (context: SKRSContext2D, item: T, x: number, y: number) => void;

function traced<T extends RoundedItem | EllipseItem>(item: T, trace: Trace<T>): Stamp {
  const bitmap = drawn(item.width, item.height, (context) => trace(context, item, 0, 0));
  return { x: item.x, y: item.y, bitmap, ink: item.ink };
}

/** Draws a box with round corners in the context's fill style. */
export function traceRounded(context: SKRSContext2D, item: RoundedItem, x: number, y: number): void {
  const { width, height, thickness, radius } = item;
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  if (!item.filled) {
    const inner = Math.max(0, radius - thickness);
    context.roundRect(x + thickness, y + thickness, width - 2 * thickness, height - 2 * thickness, inner);
  }
  context.fill('evenodd');
}

/** Draws an ellipse in the context's fill style. */
export function traceEllipse(context: SKRSContext2D, item: EllipseItem, x: number, y: number): void {
  const [rx, ry] = [item.width / 2, item.height / 2];
  const ring = (inset: number) => context.ellipse(x + rx, y + ry, rx - inset, ry - inset, 0, 0, 2 * Math.PI);
  context.beginPath();
  ring(0);
  if (!item.filled) {
    context.closePath();
    context.moveTo(x + item.width - item.thickness, y + ry);
    ring(item.thickness);
  }
  context.fill('evenodd');
}

/** Draws a line in the context's stroke style, moved by (dx, dy). */
export function traceStroke(context: SKRSContext2D, item: StrokeItem, dx: number, dy: number): void {
  context.lineWidth = item.thickness;
  context.lineCap = 'butt';
  context.beginPath();
  context.moveTo(item.x1 + dx, item.y1 + dy);
  context.lineTo(item.x2 + dx, item.y2 + dy);
  context.stroke();
}

const HALF = 128;
/**
 * In text whose em is below `size` dots, a dot is black from a coverage of `coverage` of 255 on. That is less than half.
 * Otherwise a stem of one dot that falls between two columns would vanish, and with it an l.
 */
const SMALL = { size: 24, coverage: 90 } as const;

/** The most dots drawn at once: the drawing library takes four bytes for each. */
const STRETCH = 1_000_000;

/** Converts a drawing, black on transparent, to dots. @param enough from this coverage on, of 255, a dot is black */
function drawn(
  width: number,
  height: number,
  draw: (context: SKRSContext2D) => void,
  enough: number = HALF,
): Bitmap {
  const bitmap = createBitmap(width, height);
  const rows = Math.max(1, Math.floor(STRETCH / width));
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    const inBlack = (context: SKRSContext2D) => {
      context.fillStyle = 'black';
      context.strokeStyle = 'black';
      if (top > 0) context.translate(0, -top);
      draw(context);
    };
    withPixels(width, count, inBlack, (rgba) => {
      for (let y = 0, at = 3; y < count; y++) {
        for (let x = 0; x < width; x++, at += 4) if ((rgba[at] ?? 0) >= enough) blacken(bitmap, x, top + y);
      }
    });
  }
  return bitmap;
}

/** The rectangle on the label that holds all dots of a text. @param bounds around the start of its baseline, dots */
export function textRect({ x, y, turn }: TextItem, { left, right, up, down }: InkBounds): Rect {
  const inner = { x: -left, y: -up, width: left + right, height: up + down };
  return turnRect({ x, y, width: 0, height: 0 }, turn, inner);
}

function textStamp(item: TextItem): Stamp {
  const bounds = inkBounds(item);
  const { left, right, up, down } = bounds;
  const width = Math.max(1, left + right);
  const height = Math.max(1, up + down);
  const enough = item.size < SMALL.size ? SMALL.coverage : HALF;
  const upright = drawn(width, height, (context) => drawLine(context, item, left, up), enough);
  const { x, y } = textRect(item, bounds);
  return { x, y, bitmap: turnBitmap(upright, item.turn), ink: item.ink };
}

/** The bars of a linear symbol upright: where each starts and how wide it is, dots. */
export function uprightBars(item: BarsItem): { at: number; width: number }[] {
  const bars: { at: number; width: number }[] = [];
  let at = 0;
  item.widths().forEach((width, index) => {
    if (index % 2 === 0 && width > 0) bars.push({ at, width });
    at += width;
  });
  return bars;
}

function barsBitmap(item: BarsItem): Bitmap {
  const bitmap = createBitmap(item.width, item.height);
  for (const { at, width } of uprightBars(item)) {
    if (item.turn === 0) blackenRect(bitmap, at, 0, width, item.height);
    else if (item.turn === 180) blackenRect(bitmap, item.width - at - width, 0, width, item.height);
    else blackenRect(bitmap, 0, item.turn === 90 ? at : item.height - at - width, item.width, width);
  }
  return bitmap;
}
