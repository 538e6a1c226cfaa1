/** Symbols that the printer draws itself; and what a record's value may not do to a symbol. */
import { expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import {
  design,
  differingDots,
  dotsOf,
  drawZpl,
  jobFor,
  labelText,
  readSymbols,
} from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';

test('a native symbol is a command, and so short; its bars are where the raster has them', async () => {
  const source = design(60, 40, [
    { type: 'barcode', symbology: 'gs1-128', value: '(00){{sscc}}', x: 0, y: 0, height: 20, module: 0.25 },
    {
      type: 'barcode',
      symbology: 'ean13',
      value: '{{ean}}',
      x: 0,
      y: 22,
      height: 10,
      module: 0.25,
      hri: 'below',
    },
  ]);
  const record = { sscc: '340123450000000017', ean: '400638133393' };
  const text = await labelText(await openZpl(jobFor(source, [record])));
  expect(text).toContain('^BY2^BCN,160,N,N,N,N^FD>;>800340123450000000017^FS');
  expect(text).toContain('^BY2^BEN,80,N,N^FD400638133393^FS');
  expect(text).not.toContain('^GF');
  const list = (await compileLabel(source, { dpi: 203, orientation: 'portrait' })).layout(record);
  // Down to where the digits begin: those are the printer's own.
  const bars = (bitmap: Bitmap) => cropBitmap(bitmap, 0, 0, bitmap.width, 255);
  const drawn = await dotsOf(await drawZpl(text, list.width, list.height));
  expect(differingDots(bars(drawn), bars(rasterBitmap(list)))).toBe(0);
});

test.each([
  ['code39', { ratio: 3 }, '^BY2,3^B3N,N,80,N,N^FD0123456789^FS'],
  ['code39', { ratio: 2.5 }, '^BY2,2.5^B3N,N,80,N,N^FD0123456789^FS'],
  ['itf', { ratio: 2.5, rotation: 90 }, '^BY2,2.5^B2R,80,N,N,N^FD0123456789^FS'],
  ['itf', { bearer: 'bars', checkDigit: 'mod10' }, undefined],
] as const)('%s %j as a command', async (symbology, options, command) => {
  const value = command === undefined ? '012345678' : '0123456789';
  const element = { type: 'barcode', symbology, value, x: 0, y: 0, height: 10, moduleDots: 2, ...options };
  const source = design(60, 60, [element]);
  const text = await labelText(await openZpl(jobFor(source, [{}])));
  if (command !== undefined) expect(text).toContain(command);
  expect(text).not.toContain('^GF');
  const list = (await compileLabel(source, { dpi: 203, orientation: 'portrait' })).layout({});
  const drawn = await dotsOf(await drawZpl(text, list.width, list.height));
  expect(differingDots(drawn, rasterBitmap(list))).toBe(0);
});

test('a ratio that does not come to tenths is left to a graphic', async () => {
  const element = { type: 'barcode', symbology: 'itf', value: '0123', x: 0, y: 0, height: 10, moduleDots: 3 };
  const text = await labelText(await openZpl(jobFor(design(60, 60, [{ ...element, ratio: 2.5 }]), [{}])));
  expect(text).toContain('^GF');
  expect(text).not.toContain('^B2');
});

test.each([
  ['gs1-datamatrix', 'DataMatrix'],
  ['gs1-qr', 'QRCode'],
  ['gs1-128', 'Code128'],
  ['databar-expanded', 'DataBarExp'],
] as const)('%s: brackets in a record are data when it is read', async (symbology, format) => {
  const value = '(01)04012345678901(10){{lot}}(21)x';
  const size = symbology === 'gs1-128' ? { height: 8 } : {};
  const element = { type: 'barcode', symbology, value, x: 3, y: 3, moduleDots: 2, ...size };
  const label = await compileLabel(design(120, 30, [element]), { dpi: 203, orientation: 'portrait' });
  const [found] = await readSymbols(await rasterize(label.layout({ lot: 'A(1)B' })));
  expect(found).toMatchObject({ format, text: '010401234567890110A(1)B\u001d21x' });
});
