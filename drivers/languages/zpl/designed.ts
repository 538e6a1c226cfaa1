/**
 * Turns display lists into ZPL: a label becomes the fields of one format (^XA … ^XZ).
 *
 * The printer itself draws only what it draws exactly as the renderer does: filled boxes, the barcodes of `src/zpl/bars.ts`,
 * and text that its own font is sure to have. All else is sent as a graphic, with the same dots as the raster. Section names in
 * comments are those of the ZPL II Programming Guide.
 */
import type { BarsItem, DisplayList, FillItem, Item, TextItem } from '../../../src/render/display-list.ts';
import type { Rotation } from '../../../src/render/image/bitmap.ts';
import { stampOf } from '../../../src/render/ink.ts';
import { zplBars } from '../../../src/zpl/bars.ts';
import { escapeFieldData } from '../../../src/zpl/field-data.ts';
import { graphicField } from './graphic.ts';

type Sheet = Pick<DisplayList, 'width' | 'height'>;

/** Field orientation, as in ^A, ^BC: normal, rotated, inverted, bottom-up. */
const ORIENTATION: Readonly<Record<Rotation, string>> = { 0: 'N', 90: 'R', 180: 'I', 270: 'B' };

/** ^FO, ^FT, ^GB take 0 to 32000 dots. */
const MOST_DOTS = 32_000;
/** ^A takes heights of a scalable font from 10 dots on. For a smaller one the printer would take the height of ^CF. */
const LEAST_HEIGHT = 10;

/** One white dot. A blank label is a label too, but a format without any field feeds none. */
export const BLANK = '^FO0,0^GB1,1,1,W^FS';

/**
 * A field that the printer draws itself. `frame` holds its place and appearance; `data` holds its content, if it has any. They
 * are separate, because a stored format keeps the frame, and a record sends the data.
 */
export interface NativeField {
  readonly frame: string;
  /** As `escapeFieldData` returns it. */
  readonly data: string | undefined;
  readonly escaped: boolean;
}

/** The part of a field from ^FD ("Field Data") to its end. */
export function dataEnd(data: string, escaped: boolean): string {
  return `${escaped ? '^FH' : ''}^FD${data}^FS`;
}

/** The field with its data, for a label that is sent whole. */
export function completeField({ frame, data, escaped }: NativeField): string {
  return data === undefined ? frame : frame + dataEnd(data, escaped);
}

/** The fields of one item. `canvas`: whether the drawing library was used, and so left garbage (`raster.ts`). */
export function itemFields(item: Item, sheet: Sheet): { zpl: string; canvas: boolean } {
  const native = nativeField(item, sheet);
  return native === undefined ? drawnFields(item, sheet) : { zpl: completeField(native), canvas: false };
}

/** Fields that were made before, by item. For content that a job's labels repeat, the renderer keeps the same item. */
const drawnBefore = new WeakMap<Item, string>();

/** The fields of an item as a graphic. @param sheet the label that the item was laid out for */
export function drawnFields(item: Item, sheet: Sheet): { zpl: string; canvas: boolean } {
  const known = drawnBefore.get(item);
  if (known !== undefined) return { zpl: known, canvas: false };
  const { x, y, bitmap, ink } = stampOf(item);
  const canvas = item.kind !== 'bitmap' && item.kind !== 'bars';
  // ^FR ("Field Reverse Print") swaps black and white. White text already stands on black. Any other white item is first drawn
  // in black, so that ^FR turns it white.
  const ground = ink === 'white' && item.kind !== 'text' ? graphicField(bitmap, x, y, sheet) : '';
  const zpl = ground + graphicField(bitmap, x, y, sheet, ink === 'white');
  drawnBefore.set(item, zpl);
  return { zpl, canvas };
}

/** The item as a field. Undefined: no command is certain to draw it as the renderer does. */
export function nativeField(item: Item, sheet: Sheet): NativeField | undefined {
  switch (item.kind) {
    case 'fill':
      return { frame: fillField(item, sheet), data: undefined, escaped: false };
    case 'text':
      return item.native ? textField(item) : undefined;
    case 'bars':
      return barsField(item);
    default:
      return undefined;
  }
}

/**
 * A filled rectangle: a ^GB ("Graphic Box") whose line is as thick as the rectangle is wide or high. For a square the line is
 * only half as thick, which fills it too. With full thickness zebrash (see `src/zpl/interpreter/draw.ts`) would make it a dot
 * larger.
 */
function fillField(item: FillItem, sheet: Sheet): string {
  const x = Math.max(0, item.x);
  const y = Math.max(0, item.y);
  const width = Math.min(item.x + item.width, sheet.width) - x;
  const height = Math.min(item.y + item.height, sheet.height) - y;
  if (width <= 0 || height <= 0) return '';
  const colour = item.ink === 'white' ? ',W' : '';
  const thickness = width === height ? Math.ceil(width / 2) : Math.min(width, height);
  return `^FO${x},${y}^GB${width},${height},${thickness}${colour}^FS`;
}

/**
 * Text in the scalable font (^A0). It is placed by its baseline (^FT, "Field Typeset"), so that its place does not depend on
 * the font's ascent. Both height and width are given, because otherwise the ^CF of an earlier job could set the width.
 */
function textField(item: TextItem): NativeField | undefined {
  if (item.x < 0 || item.y < 0 || item.x > MOST_DOTS || item.y > MOST_DOTS) return undefined;
  if (item.size < LEAST_HEIGHT) return undefined;
  const data = escapeFieldData(item.text);
  const reverse = item.ink === 'white' ? '^FR' : '';
  const font = `^A0${ORIENTATION[item.turn]},${item.size},${item.size}`;
  return { frame: `^FT${item.x},${item.y}${font}${reverse}`, data, escaped: data !== item.text };
}

/** The bars as a field. Undefined: no command is certain to draw the same bars. */
function barsField({ x, y, width, height, turn, module, wide, native }: BarsItem): NativeField | undefined {
  const bars = native === undefined ? undefined : zplBars(native, module, wide);
  if (bars === undefined || 'reason' in bars) return undefined;
  const tall = turn === 90 || turn === 270 ? width : height;
  const orientation = ORIENTATION[turn];
  // The printer must add no digits below the bars, and no check digit, because the data has it already.
  const command = {
    BC: `^BC${orientation},${tall},N,N,N,N`,
    BE: `^BE${orientation},${tall},N,N`,
    B2: `^B2${orientation},${tall},N,N,N`,
    B3: `^B3${orientation},N,${tall},N,N`,
  }[bars.command];
  const ratio = bars.ratio === undefined ? '' : `,${bars.ratio}`;
  return { frame: `^FO${x},${y}^BY${module}${ratio}${command}`, data: bars.data, escaped: false };
}
