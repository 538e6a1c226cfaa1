/**
 * The ways to make a label that are measured: ours, and what others do in our place. Each makes the label of a
 * record, and returns its size in bytes.
 */

import { setImmediate } from 'node:timers/promises';
import { openEncoder } from '../drivers/languages/index.ts';
import { graphicField } from '../drivers/languages/zpl/graphic.ts';
import type { LanguageId } from '../src/contract/format.ts';
import { compileLabel } from '../src/render/label-layout.ts';
import { rasterBitmap } from '../src/render/output/raster.ts';
import { rasterize } from '../test/kit/judges/label-picture.ts';
import { DPI, jobOf, LABELS, type LabelName, record } from './render-label.ts';

/** Records in a job; the measurement begins again with the first after the last. */
export const RECORDS = 1_000;

export type Make = (number: number) => Promise<number>;

export const WAYS = {
  'ZPL, native, stored format': () => encoded('zpl', 'native'),
  'ZPL, native, each label whole': () => encoded('zpl', 'native', { storedFormats: false }),
  'ZPL, texts as graphics': () => encoded('zpl', 'drawn'),
  'PDF, vector': () => encoded('pdf', 'native'),
  PNG: png,
  'ZPL, a string put together by hand': async () => async (number) => Buffer.byteLength(handmade(number)),
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
  const encoder = await openEncoder(jobOf(label, RECORDS, { language, ...format }));
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

/** The same label as an integrator without a service writes it: in the printer's own fonts, nothing checked or escaped. */
function handmade(number: number): string {
  const values = record(number);
  const dots = (mm: number) => Math.round((mm * DPI) / 25.4);
  const text = (x: number, y: number, value: string) => `^FO${dots(x)},${dots(y)}^ADN,36,20^FD${value}^FS`;
  return [
    '^XA^CI28',
    `^FO${dots(2)},${dots(2)}^GB${dots(97)},${dots(148)},4^FS`,
    `^FO${dots(2)},${dots(36)}^GB${dots(97)},0,2^FS`,
    text(5, 5, 'Ship to'),
    text(5, 11, String(values['name'])),
    text(5, 18, String(values['street'])),
    text(5, 25, `${values['postcode']} ${values['city']}`),
    text(5, 40, `Order ${values['order']}`),
    text(55, 40, `Weight ${values['weight']} kg`),
    `^FO${dots(5)},${dots(60)}^BY2^BCN,${dots(25)},Y^FD${values['sscc']}^FS`,
    '^XZ',
  ].join('');
}
