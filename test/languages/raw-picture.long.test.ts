/** Raw ZPL on what does not speak ZPL: as a picture, as large as the template says, dot for dot. */
import { describe, expect, test } from 'vitest';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import { type RawZplTemplate, rawZplTemplate } from '../../src/contract/template.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import {
  differingDots,
  dotsOf,
  drawPdf,
  drawZpl,
  inkBox,
  jobFor,
  pdfInfo,
  readSymbols,
} from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';

function raw(source: string, more: Partial<RawZplTemplate> = {}): RawZplTemplate {
  return rawZplTemplate.parse({
    name: 'Raw',
    language: 'zpl',
    source,
    width: 76.2,
    height: 25.4,
    dpi: 203,
    ...more,
  });
}
const target = { dpi: 203, width: 76.2, height: 25.4 };
const SOURCE = '^XA^FO40,20^BY2^BCN,80,N,N,N^FD{{v}}^FS^FO40,120^A0N,40,40^FDNo. {{v}}^FS^XZ';

async function picture(template: RawZplTemplate, v = 'x') {
  return rasterBitmap(await compileRawPictures(template, target).layout({ v }));
}

test.each([203, 300, 600])('written for %i dpi, the dots of an interpreter that is not ours', async (dpi) => {
  const template = raw(SOURCE, { dpi });
  const list = await compileRawPictures(template, target).layout({ v: 'ABC-123' });
  expect(list).toMatchObject({ dpi, widthMm: 76.2, heightMm: 25.4 });
  expect(list.width).toBe(3 * dpi);
  const theirs = await dotsOf(
    await drawZpl(compileRawZpl(template).fill({ v: 'ABC-123' }, 1), list.width, list.height),
  );
  expect(differingDots(rasterBitmap(list), theirs)).toBe(0);
  const [symbol] = await readSymbols(await rasterize(list));
  expect(symbol?.text).toBe('ABC-123');
});

test('in a PDF: pages of the size of the label, a page a copy, and its barcode reads', async () => {
  const job = jobFor(raw(SOURCE), [{ v: 'first' }, { v: 'second^XZ' }], { language: 'pdf', dpi: 300 });
  const encoder = await openPdf(job);
  const file = await encoder.label(1, 2);
  const info = await pdfInfo(file, 2);
  expect(info).toMatch(/Pages:\s+2/);
  expect(info).toMatch(/Page +2 size:\s+216 x 72 pts/);
  for (const page of [1, 2]) {
    const [symbol] = await readSymbols(await drawPdf(file, 203, page));
    expect(symbol?.text).toBe('second^XZ');
  }
});

test('without a size of its own it is as large as the media', async () => {
  const { width, height, dpi, ...unsized } = raw(SOURCE);
  const job = jobFor(rawZplTemplate.parse(unsized), [{ v: 'x' }], { language: 'pdf', dpi: 300 });
  expect(await pdfInfo(await (await openPdf(job)).label(0, 1))).toMatch(/Page.* size:\s+288 x 432 pts/);
});

test('what concerns the label as a whole is done: upside down, units, stored graphics', async () => {
  const box = '^FO10,20^GB100,50,50^FS';
  const upright = inkBox(await picture(raw(`^XA${box}^XZ`)));
  expect(upright).toEqual({ left: 10, top: 20, right: 110, bottom: 70 });
  const turned = inkBox(await picture(raw(`^XA^POI^PW609^LL203${box}^XZ`)));
  expect(turned).toEqual({ left: 499, top: 133, right: 599, bottom: 183 });
  expect(inkBox(await picture(raw('^XA^MUM^FO1,2^GB10,5,5^FS^XZ')))).toEqual({
    left: 8,
    top: 16,
    right: 88,
    bottom: 56,
  });
  const stored = raw('~DGR:A.GRF,8,1,FFFFFFFFFFFFFFFF^XA^FO10,20^XGR:A.GRF,2,1^FS^XZ');
  expect(inkBox(await picture(stored))).toEqual({ left: 10, top: 20, right: 26, bottom: 28 });
});

test('a template that prints nothing is a blank label; one that cannot be drawn is an error without its data', async () => {
  expect((await picture(raw('^XA^XZ'))).data.every((byte) => byte === 0)).toBe(true);
  const fault = { code: 'template-invalid', element: '/source', record: 3 };
  for (const source of [
    '^XA^FO9,9^XGR:NONE.GRF^FS^FD{{v}}^FS^XZ',
    '^XA^FO9,9^GFA,8,8,0,!^FS^FD{{v}}^FS^XZ',
  ]) {
    const failed = compileRawPictures(raw(source), target).layout({ v: 'secret' }, 3);
    await expect(failed).rejects.toMatchObject({ fault });
    await expect(failed).rejects.not.toThrow(/secret/);
  }
});

describe('^BD', () => {
  const size = { width: 40, height: 40 };
  const secondary = '[)>_1E01_1D961Z00136071_1DUPSN_1D123X56_1DNEW YORK_1DNY_1E_04';
  const read = '\u001e01\u001d96';
  test.each([
    [
      'mode 2, which is that of carriers',
      `^BD2^FH^FD002840100450000${secondary}`,
      `${read}100450000\u001d840\u001d002\u001d1Z`,
    ],
    [
      'mode 3, a postal code of letters',
      `^BD3^FH^FD066826RS19  ${secondary}`,
      `${read}RS19  \u001d826\u001d066\u001d1Z`,
    ],
    ['without a mode it is 2', `^BD^FD002840100450000ABC`, '100450000\u001d840\u001d002\u001dABC'],
    ['mode 4', '^BD4^FD123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    ['mode 5', '^BD5^FDPlain text', 'Plain text'],
    ['at its lower corner', '^FT40,253^BD4^FDPlain text', 'Plain text'],
  ])('%s: reads in a PDF', async (_, field, expected) => {
    const template = raw(`^XA^FO40,50${field}^FS^XZ`, size);
    const encoder = await openPdf(jobFor(template, [{}], { language: 'pdf', dpi: 203, ...size }));
    const file = Buffer.concat([encoder.begin(), await encoder.label(0, 1), encoder.end()]);
    const [symbol] = await readSymbols(await drawPdf(file, 203));
    expect(symbol?.format).toBe('MaxiCode');
    expect(symbol?.text).toContain(expected);
    expect(
      inkBox(rasterBitmap(await compileRawPictures(template, { ...target, ...size }).layout({}))),
    ).toMatchObject({
      left: expect.closeTo(40, -0.7),
      top: expect.closeTo(50, -0.7),
    });
  });

  test('data that no carrier has is told', async () => {
    const layout = compileRawPictures(raw('^XA^BD2^FDHello^FS^XZ', size), target).layout({});
    await expect(layout).rejects.toThrow('a MaxiCode of mode 2 begins with class of service');
    const long = compileRawPictures(raw(`^XA^BD4^FD${'x'.repeat(501)}^FS^XZ`, size), target).layout({});
    await expect(long).rejects.toThrow('a MaxiCode of too much data');
  });
});
