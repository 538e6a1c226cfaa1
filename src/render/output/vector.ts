/**
 * Draws a display list on a context of the drawing library, mostly a PDF page. The context's unit is one printer dot.
 */
import { createCanvas, ImageData, type PDFDocument, type SKRSContext2D } from '@napi-rs/canvas';
import type { BarsItem, BitmapItem, DisplayList, Item, TextItem } from '../display-list.ts';
import { type Bitmap, isBlack } from '../image/bitmap.ts';
import { traceEllipse, traceRounded, traceStroke, uprightBars } from '../ink.ts';
import { drawLine } from '../text/measure.ts';
import { fillsPage, type Page } from './page.ts';

/** A canvas or a PDF page. The library's type for a PDF page lacks members that the page has. */
type AnyContext = SKRSContext2D | ReturnType<PDFDocument['beginPage']>;

function drawsPictures(context: AnyContext): context is SKRSContext2D {
  return 'drawImage' in context;
}

/** Draws a line of text, by calling `draw` or in a way of its own. The context's origin is the start of the line. */
type AroundText = (context: SKRSContext2D, item: TextItem, draw: () => void) => void;

/** Draws a page at the context's origin. */
export function drawPage(
  context: AnyContext,
  page: Page,
  around: AroundText = (_context, _item, draw) => draw(),
): void {
  if (!drawsPictures(context)) throw new Error('This drawing context cannot draw pictures');
  for (const label of page.labels) {
    context.save();
    if (!fillsPage(page, label)) {
      context.translate(label.x, label.y);
      context.beginPath();
      context.rect(0, 0, label.list.width, label.list.height);
      context.clip();
    }
    drawList(context, label.list, around);
    context.restore();
  }
}

function drawList(context: SKRSContext2D, list: DisplayList, around: AroundText): void {
  for (const item of list.items) drawItem(context, item, around);
}

function drawItem(context: SKRSContext2D, item: Item, around: AroundText): void {
  const ink = 'ink' in item ? item.ink : 'black';
  context.fillStyle = ink;
  context.strokeStyle = ink;
  switch (item.kind) {
    case 'fill':
      context.fillRect(item.x, item.y, item.width, item.height);
      break;
    case 'rounded':
      traceRounded(context, item, item.x, item.y);
      break;
    case 'ellipse':
      traceEllipse(context, item, item.x, item.y);
      break;
    case 'stroke':
      traceStroke(context, item, 0, 0);
      break;
    case 'text':
      context.save();
      context.translate(item.x, item.y);
      context.rotate((item.turn * Math.PI) / 180);
      around(context, item, () => drawLine(context, item, 0, 0));
      context.restore();
      break;
    case 'bars':
      drawBars(context, item);
      break;
    case 'bitmap':
      if (item.scale > 1) drawModules(context, item);
      else drawPicture(context, item);
      break;
  }
}

function drawBars(context: SKRSContext2D, item: BarsItem): void {
  const { x, y, width: w, height: h, turn } = item;
  for (const { at, width } of uprightBars(item)) {
    if (turn === 0) context.fillRect(x + at, y, width, h);
    else if (turn === 180) context.fillRect(x + w - at - width, y, width, h);
    else context.fillRect(x, turn === 90 ? y + at : y + h - at - width, w, width);
  }
}

/**
 * Fills each run of dark modules in a row as a rectangle by itself. PDF interpreters keep the edges of a single rectangle on
 * its dots, but let the edges of a path of many rectangles bleed into the next dots.
 */
function drawModules(context: SKRSContext2D, { x, y, bitmap, scale }: BitmapItem): void {
  for (let row = 0; row < bitmap.height; row++) {
    for (let from = 0; from < bitmap.width; from++) {
      if (!isBlack(bitmap, from, row)) continue;
      let to = from + 1;
      while (to < bitmap.width && isBlack(bitmap, to, row)) to++;
      context.fillRect(x + from * scale, y + row * scale, (to - from) * scale, scale);
      from = to;
    }
  }
}

function drawPicture(context: SKRSContext2D, { x, y, bitmap }: BitmapItem): void {
  const canvas = createCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d').putImageData(rgbaOf(bitmap), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, x, y);
}

function rgbaOf(bitmap: Bitmap): ImageData {
  const image = new ImageData(bitmap.width, bitmap.height);
  for (let row = 0; row < bitmap.height; row++) {
    for (let column = 0; column < bitmap.width; column++) {
      // Black dots become opaque, and the ground stays transparent.
      if (isBlack(bitmap, column, row)) image.data[4 * (row * bitmap.width + column) + 3] = 255;
    }
  }
  return image;
}
