/** What the pictures of raw templates show of a ^BC, and of barcodes that are not drawn. */
import { expect, test } from 'vitest';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import { readSymbols } from '../kit/judges/judges.ts';

const MEDIA = { dpi: 203, width: 100, height: 30 };

async function read(barcode: string, data: string) {
  const source = `^XA^FO40,40^BY2^${barcode}^FD${data}^FS^XZ`;
  const template = rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source, ...MEDIA });
  const list = await compileRawPictures(template, MEDIA).layout({});
  const [found] = await readSymbols(encodePng(rasterBitmap(list), MEDIA.dpi));
  return [found?.symbologyIdentifier, found?.text];
}

test.each([
  ['a single character', '7', ']C0', '7'],
  ['a character behind an escape', 'a>0b>0c', ']C0', 'a>b>c'],
  ['a change to set C', '>;12>6AB>51234', ']C0', '12AB1234'],
  ["a carrier's licence plate", 'JVGL>509999999999994760001', ']C0', 'JVGL09999999999994760001'],
  ['there and back', '>:AB>512>6C', ']C0', 'AB12C'],
  ['from set A', '>93334>512', ']C0', 'AB12'],
  ['GS1, with a change to set C', '>;>80012345678>6A>51234>8', ']C1', '0012345678A1234\u001d'],
  ['in ^FH', '>:AB_3E51234', ']C0', 'AB1234'],
])('%s', async (_, data, kind, text) => {
  const hex = data.includes('_') ? '^FH' : '';
  expect(await read(`BCN,80,N,N,N${hex}`, data)).toEqual([kind, text]);
});

test('a backslash in a PDF417 is one', async () => {
  expect(await read('B7N,5,5,,,N', 'C:\\\\labels')).toEqual([']L2', 'C:\\labels']);
});

test('what cannot be drawn is refused, and not left out or set as text', async () => {
  const undrawable = { fault: { reason: { code: 'zpl-undrawable' } } };
  await expect(read('BTN', '123456,A1')).rejects.toMatchObject(undrawable);
  await expect(read('BCN,80,N,N,N', '>:A>8B>51234')).rejects.toMatchObject(undrawable);
});
