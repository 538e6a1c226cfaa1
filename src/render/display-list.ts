/**
 * A label ready to be drawn. Every language, the raster and the preview are made from it.
 *
 * Everything is in whole printer dots (origin top left, x right, y down, an item's box half-open). There are two reasons: a
 * barcode is only as good as its edges, and ZPL, PDF and PNG agree only if they share one set of positions.
 * Nothing is left to decide: text is broken into lines, sized and placed; symbols are scaled and checked.
 */
import type { NativeSymbol } from '../zpl/bars.ts';
import type { Bitmap, Rotation } from './image/bitmap.ts';
import type { PageForm } from './page-form.ts';
import type { QuietZone } from './symbol/symbology/rules.ts';
import type { Face } from './text/font-face.ts';

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The smallest rectangle around these rectangles; undefined if there are none. */
export function enclosing(rects: readonly Rect[]): Rect | undefined {
  if (rects.length === 0) return undefined;
  const x = Math.min(...rects.map((rect) => rect.x));
  const y = Math.min(...rects.map((rect) => rect.y));
  const right = Math.max(...rects.map((rect) => rect.x + rect.width));
  const bottom = Math.max(...rects.map((rect) => rect.y + rect.height));
  return { x, y, width: right - x, height: bottom - y };
}

export type Ink = 'black' | 'white';

/** A filled rectangle. */
export interface FillItem extends Rect {
  readonly kind: 'fill';
  readonly ink: Ink;
}

/** A box with round corners; drawn inwards. */
export interface RoundedItem extends Rect {
  readonly kind: 'rounded';
  readonly thickness: number;
  readonly radius: number;
  readonly filled: boolean;
  readonly ink: Ink;
}

/** An ellipse that touches the sides of its box; drawn inwards. */
export interface EllipseItem extends Rect {
  readonly kind: 'ellipse';
  readonly thickness: number;
  readonly filled: boolean;
  readonly ink: Ink;
}

/** A diagonal line with butt ends. */
export interface StrokeItem {
  readonly kind: 'stroke';
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly thickness: number;
  readonly ink: Ink;
}

/** One line of text. (x, y) is where its baseline starts; it runs on in the direction of `turn`. */
export interface TextItem {
  readonly kind: 'text';
  readonly x: number;
  readonly y: number;
  readonly turn: Rotation;
  readonly text: string;
  /** The em, dots. */
  readonly size: number;
  readonly face: Face;
  /** Added between characters, ems. */
  readonly spacing?: number;
  readonly ink: Ink;
  /** Whether a printer may set it in its own font: the template asks for that, or the printed widths are known (`font0.ts`). */
  readonly native: boolean;
}

/** A linear symbol without its quiet zones. The box is what the bars cover after the turn. */
export interface BarsItem extends Rect {
  readonly kind: 'bars';
  readonly turn: Rotation;
  /** Width of a module, dots. */
  readonly module: number;
  /** Width of a wide bar or space, dots, for symbologies with two widths. */
  readonly wide?: number;
  /** Widths of bar, space, bar, … in dots. Made on demand: a printer that draws bars itself needs none. */
  readonly widths: () => readonly number[];
  readonly native: NativeSymbol | undefined;
  /** The quiet zone of the whole symbol, if it differs from its symbology's. */
  readonly quiet?: QuietZone;
}

/** A picture of black dots: matrix symbols, images. White dots are transparent. */
export interface BitmapItem {
  readonly kind: 'bitmap';
  readonly x: number;
  readonly y: number;
  readonly bitmap: Bitmap;
  /** Each dot of the bitmap is a square of this many printer dots. */
  readonly scale: number;
}

export type Item = FillItem | RoundedItem | EllipseItem | StrokeItem | TextItem | BarsItem | BitmapItem;

export interface DisplayList {
  readonly dpi: number;
  /** The label as it lies on the media, dots. */
  readonly width: number;
  readonly height: number;
  /** The same, mm, as the template says. */
  readonly widthMm: number;
  readonly heightMm: number;
  /** In painting order. Items that do not depend on the record are the same objects for every record. */
  readonly items: readonly Item[];
  /** The same label as vectors, if it is a page that others have made; for languages that draw vectors. */
  readonly form?: PageForm;
}
