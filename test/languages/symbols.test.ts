/**
 * Every symbology, turned every way, at every resolution, in every output, read by a decoder we did not write.
 * The matrix of what was read is printed: nothing is left out in silence.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { pdf } from '../../drivers/languages/pdf.ts';
import { zpl } from '../../drivers/languages/zpl/language.ts';
import type { Symbology } from '../../src/contract/template.ts';
import { type Bitmap, cropBitmap } from '../../src/render/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap, rasterize } from '../../src/render/raster.ts';
import {
  design,
  differingDots,
  dotsOf,
  drawPdf,
  drawZpl,
  jobFor,
  labelText,
  readSymbols,
} from '../render/judges.ts';

interface Case {
  symbology: Symbology;
  value: string;
  format: string;
  reads: string;
  element: object;
}

const cases: readonly Case[] = [
  {
    symbology: 'code128',
    value: 'Platen-12345678',
    format: 'Code128',
    reads: 'Platen-12345678',
    element: { height: 8, module: 0.25 },
  },
  {
    symbology: 'gs1-128',
    value: '(01)04012345678901(10)AB-12',
    format: 'Code128',
    reads: '010401234567890110AB-12',
    element: { height: 8, module: 0.17 },
  },
  {
    symbology: 'ean13',
    value: '4006381333931',
    format: 'EAN13',
    reads: '4006381333931',
    element: { height: 8, module: 0.33 },
  },
  {
    symbology: 'qr',
    value: 'https://platen.example/ü?日本',
    format: 'QRCode',
    reads: 'https://platen.example/ü?日本',
    element: { module: 0.4 },
  },
  {
    symbology: 'datamatrix',
    value: 'S-2026/ü-Ω-0042',
    format: 'DataMatrix',
    reads: 'S-2026/ü-Ω-0042',
    element: { module: 0.4 },
  },
  {
    symbology: 'gs1-datamatrix',
    value: '(01)04012345678901(10)A(1)B(21)x',
    format: 'DataMatrix',
    reads: '010401234567890110A(1)B\u001d21x',
    element: { module: 0.4 },
  },
];

const OUTPUTS = ['zpl', 'zpl graphic', 'png', 'pdf'] as const;
const matrix: string[] = [];

afterAll(() => {
  process.stdout.write(`${matrix.join('\n')}\n`);
});

describe.each([203, 300, 600])('at %i dpi', (dpi) => {
  describe.each([0, 90, 180, 270])('turned %i°', (rotation) => {
    test.each(cases)('$symbology is read', async ({ symbology, value, format, reads, element }) => {
      const template = (render: string) =>
        design(
          52,
          52,
          [{ type: 'barcode', symbology, value: '{{code}}', x: 3, y: 3, rotation, render, ...element }],
          [{ name: 'code', default: value }],
        );
      // Brackets in a GS1 value are data when they come out of a record, unless it is the whole value.
      const record = symbology === 'gs1-datamatrix' ? undefined : { code: value };
      const source = (render: string) =>
        record === undefined
          ? design(52, 52, [
              {
                type: 'barcode',
                symbology,
                value: '(01)04012345678901(10){{lot}}(21)x',
                x: 3,
                y: 3,
                rotation,
                render,
                ...element,
              },
            ])
          : template(render);
      const data = record ?? { lot: 'A(1)B' };
      const list = (await compileLabel(source('auto'), { dpi, orientation: 'portrait' })).layout(data);
      const pictures: Record<(typeof OUTPUTS)[number], Uint8Array> = {
        zpl: await draw(source('auto')),
        'zpl graphic': await draw(source('graphic')),
        png: await rasterize(list),
        pdf: await drawPdf(await (await pdf.open(jobFor(source('auto'), [data], { dpi }))).label(0, 1), dpi),
      };
      async function draw(label: ReturnType<typeof source>): Promise<Buffer> {
        const encoder = await zpl.open(jobFor(label, [data], { dpi }));
        return drawZpl(await labelText(encoder), list.width, list.height);
      }

      for (const output of OUTPUTS) {
        const found = await readSymbols(pictures[output]);
        expect
          .soft(
            found.map((symbol) => symbol.text),
            output,
          )
          .toEqual([reads]);
        expect
          .soft(
            found.map((symbol) => symbol.format),
            output,
          )
          .toEqual([format]);
      }
      // To one dot, natively or not: the very same dots.
      const dots = await dotsOf(pictures.png);
      expect.soft(differingDots(await dotsOf(pictures.zpl), dots), 'zpl dots').toBe(0);
      expect.soft(differingDots(await dotsOf(pictures['zpl graphic']), dots), 'graphic dots').toBe(0);
      matrix.push(
        `${symbology.padEnd(15)} ${dpi} dpi ${String(rotation).padStart(3)}°: ${OUTPUTS.join(', ')}`,
      );
    });
  });
});

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
  const text = await labelText(await zpl.open(jobFor(source, [record])));
  expect(text).toContain('^BY2^BCN,160,N,N,N,N^FD>;>800340123450000000017^FS');
  expect(text).toContain('^BY2^BEN,80,N,N^FD400638133393^FS');
  expect(text).not.toContain('^GF');
  const list = (await compileLabel(source, { dpi: 203, orientation: 'portrait' })).layout(record);
  // Down to where the digits begin: those are the printer's own.
  const bars = (bitmap: Bitmap) => cropBitmap(bitmap, 0, 0, bitmap.width, 255);
  const drawn = await dotsOf(await drawZpl(text, list.width, list.height));
  expect(differingDots(bars(drawn), bars(rasterBitmap(list)))).toBe(0);
});
