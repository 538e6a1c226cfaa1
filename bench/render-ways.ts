/**
 * The ways to make a label that are measured: ours, and what others do in our place. Each makes the label of a
 * record, and returns its size in bytes.
 */

import { setImmediate } from 'node:timers/promises';
import {
  Alignment,
  Barcode,
  BarcodeType,
  Box,
  FontFamily,
  Label,
  Line,
  PrintDensity,
  Size,
  Text,
} from 'jszpl';
import { LANGUAGES } from '../drivers/languages/index.ts';
import { graphicField } from '../drivers/languages/zpl/graphic.ts';
import type { LanguageId } from '../src/contract/format.ts';
import { compileLabel } from '../src/render/label-layout.ts';
import { rasterBitmap, rasterize } from '../src/render/raster.ts';
import { DPI, jobOf, LABELS, type LabelName, record } from './render-label.ts';

/** Records in a job; measuring goes round them. */
export const RECORDS = 1_000;

export type Make = (number: number) => Promise<number>;

export const WAYS = {
  'ZPL, native, stored format': () => encoded('zpl', 'native'),
  'ZPL, native, each label whole': () => encoded('zpl', 'native', { storedFormats: false }),
  'ZPL, texts as graphics': () => encoded('zpl', 'drawn'),
  'PDF, vector': () => encoded('pdf', 'native'),
  PNG: png,
  'jszpl, native': async () => async (number) => Buffer.byteLength(jszplLabel(number)),
  'whole label rasterised, ^GFA': rasterised,
} satisfies Record<string, () => Promise<Make>>;
export type WayName = keyof typeof WAYS;
/** In the order of the table. */
export const WAY_NAMES = Object.keys(WAYS).filter((name): name is WayName => name in WAYS);

async function encoded(
  language: LanguageId,
  label: LabelName,
  format: { storedFormats?: boolean } = {},
): Promise<Make> {
  const encoder = await LANGUAGES[language].open(jobOf(label, RECORDS, { language, ...format }));
  return async (number) => (await encoder.label(number % RECORDS, 1)).length;
}

async function png(): Promise<Make> {
  const label = await compileLabel(LABELS.native, { dpi: DPI, orientation: 'portrait' });
  return async (number) => (await rasterize(label.layout(record(number)))).length;
}

async function rasterised(): Promise<Make> {
  const label = await compileLabel(LABELS.native, { dpi: DPI, orientation: 'portrait' });
  return async (number) => {
    await setImmediate();
    const list = label.layout(record(number));
    const field = graphicField(rasterBitmap(list), 0, 0, list);
    return `^XA^PW${list.width}^LL${list.height}${field}^PQ1^XZ`.length;
  };
}

/** The same label with jszpl, as its manual shows it: built anew for each record, in one of its bitmap fonts. */
function jszplLabel(number: number): string {
  const values = record(number);
  const label = new Label();
  label.printDensity = PrintDensity.dpmm8;
  label.width = new Size(101.6);
  label.height = new Size(152.4);
  const dots = (mm: number) => Math.round((mm * DPI) / 25.4);
  const place = <T extends Text | Box | Line | Barcode>(
    item: T,
    x: number,
    y: number,
    width: number,
    height: number,
  ): T => {
    Object.assign(item, {
      fixed: true,
      left: dots(x),
      top: dots(y),
      width: dots(width),
      height: dots(height),
    });
    label.content.push(item);
    return item;
  };
  place(new Box(), 2, 2, 97, 148).border = 4;
  const line = place(new Line(), 2, 36, 97, 1);
  Object.assign(line, { x1: dots(2), y1: dots(36), x2: dots(99), y2: dots(36), thickness: 2 });
  for (const [value, x, y] of [
    ['Ship to', 5, 5],
    [values['name'], 5, 11],
    [values['street'], 5, 18],
    [`${values['postcode']} ${values['city']}`, 5, 25],
    [`Order ${values['order']}`, 5, 40],
    [`Weight ${values['weight']} kg`, 55, 40],
  ] as const) {
    const text = place(new Text(), x, y, 90, 8);
    text.fontFamily = FontFamily.D;
    text.verticalAlignment = Alignment.Start;
    text.horizontalAlignment = Alignment.Start;
    text.text = String(value);
  }
  const code = place(new Barcode(), 5, 60, 90, 25);
  code.type = BarcodeType.Code128;
  code.data = String(values['sscc']);
  code.interpretationLine = true;
  return label.generateZPL();
}
