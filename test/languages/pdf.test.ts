import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import { openPdf, pdfDocument } from '../../drivers/languages/pdf/encode.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { labelPage } from '../../src/render/output/page.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import {
  design,
  differingDots,
  dotsOf,
  drawPdf,
  inkBox,
  jobFor,
  pdfInfo,
  pdfText,
} from '../kit/judges/judges.ts';
import { rasterize } from '../kit/judges/label-picture.ts';

async function pdfOf(
  source: ReturnType<typeof design>,
  record = {},
  copies = 1,
  dpi = 203,
): Promise<Uint8Array> {
  const encoder = await openPdf(jobFor(source, [record], { dpi, language: 'pdf' }));
  expect([...encoder.begin(), ...encoder.end()]).toEqual([]);
  return encoder.label(0, copies);
}

describe('pages', () => {
  test.each([
    [101.6, 152.4, '288 x 432 pts'],
    [50, 25, '141.732 x 70.8661 pts'],
    [38.1, 19.05, '108 x 54 pts'],
    [100, 33.3, '283.465 x 94.3937 pts'],
  ])('%f × %f mm is exactly %s', async (width, height, size) => {
    expect(await pdfInfo(await pdfOf(design(width, height, [])))).toContain(size);
  });

  test('one for each copy, all the same, for little more than one', async () => {
    const source = design(50, 25, [{ type: 'text', x: 2, y: 2, size: 5, text: '{{v}}' }]);
    const one = await pdfOf(source, { v: 'copy' });
    const many = await pdfOf(source, { v: 'copy' }, 5);
    const info = await pdfInfo(many, 5);
    expect(info).toMatch(/Pages:\s+5/);
    expect(info.match(/141\.732 x 70\.8661 pts/g)).toHaveLength(5);
    expect(many.length - one.length).toBeLessThan(2000);
    const pages = await Promise.all([1, 5].map(async (page) => dotsOf(await drawPdf(many, 203, page))));
    const first = pages[0];
    const last = pages[1];
    if (first === undefined || last === undefined) throw new Error('no pages');
    expect(differingDots(first, last)).toBe(0);
  });

  test('of several labels keep their order, sizes and copies', async () => {
    const labels = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const source = design(40 + index, 20, [{ type: 'text', x: 2, y: 2, size: 5, text: `page ${index}` }]);
        const label = await compileLabel(source, { dpi: 203, orientation: 'portrait' });
        return { page: labelPage(label.layout({})), copies: index === 3 ? 2 : 1 };
      }),
    );
    const document = await pdfDocument(labels);
    const widths = [...(await pdfInfo(document, 21)).matchAll(/Page +\d+ size: +([\d.]+) x/g)].map((match) =>
      Math.round((Number(match[1]) * 25.4) / 72),
    );
    expect(widths).toEqual(labels.flatMap(({ page, copies }) => Array(copies).fill(page.widthMm)));
    const words = [...(await pdfText(document)).matchAll(/page (\d+)/g)].map((match) => Number(match[1]));
    expect(words).toEqual([0, 1, 2, 3, 3, ...Array.from({ length: 16 }, (_, index) => index + 4)]);
  });

  test('landscape turns the label onto the media', async () => {
    const encoder = await openPdf(jobFor(design(152.4, 101.6, []), [{}], { orientation: 'landscape' }));
    expect(await pdfInfo(await encoder.label(0, 1))).toContain('288 x 432 pts');
  });
});

test('text is text, in any script', async () => {
  const source = design(100, 40, [
    { type: 'text', x: 2, y: 2, size: 5, text: '{{a}}' },
    { type: 'text', x: 2, y: 12, size: 5, text: '{{b}}', font: 'sans' },
  ]);
  const text = await pdfText(await pdfOf(source, { a: 'Condensed 42', b: 'Москва 東京 Ωμέγα' }));
  expect(text).toContain('Condensed 42');
  expect(text).toContain('Москва 東京 Ωμέγα');
});

describe.each([203, 300, 600])('at %i dpi', (dpi) => {
  async function both(elements: readonly object[]): Promise<{ drawn: Bitmap; raster: Bitmap }> {
    const source = design(60, 40, elements);
    const list = (await compileLabel(source, { dpi, orientation: 'portrait' })).layout({});
    const raster = rasterBitmap(list);
    // Poppler rounds the page up to whole dots.
    const page = await dotsOf(await drawPdf(await pdfOf(source, {}, 1, dpi), dpi));
    expect(page.width - raster.width).toBeLessThanOrEqual(1);
    expect(page.height - raster.height).toBeLessThanOrEqual(1);
    return { drawn: cropBitmap(page, 0, 0, raster.width, raster.height), raster };
  }

  test('shapes and symbols are the very dots of the raster', async () => {
    const { drawn, raster } = await both([
      { type: 'box', x: 1, y: 1, width: 58, height: 38, thickness: 0.5 },
      { type: 'line', x: 1, y: 20, x2: 59, y2: 20, thickness: 0.5 },
      { type: 'box', x: 40, y: 24, width: 10, height: 10, filled: true },
      { type: 'barcode', symbology: 'datamatrix', x: 4, y: 3, value: 'ABC123', module: 0.75 },
      { type: 'barcode', symbology: 'code128', x: 3, y: 23, value: 'ABC123', height: 10, module: 0.25 },
    ]);
    expect(differingDots(drawn, raster)).toBe(0);
  });

  test('pictures and text are in their places', async () => {
    const square = Buffer.from(
      await rasterize({
        dpi,
        width: 8,
        height: 8,
        widthMm: 1,
        heightMm: 1,
        items: [{ kind: 'fill', x: 0, y: 0, width: 8, height: 8, ink: 'black' }],
      }),
    );
    for (const element of [
      { type: 'image', x: 30, y: 4, width: 8, height: 8, data: square.toString('base64') },
      { type: 'text', x: 3, y: 3, size: 6, text: 'Hxg 42-7' },
      { type: 'text', x: 3, y: 3, size: 6, text: 'नमस्ते', font: 'sans' },
    ]) {
      const { drawn, raster } = await both([element]);
      const [a, b] = [inkBox(drawn), inkBox(raster)];
      for (const side of ['left', 'top', 'right', 'bottom'] as const) {
        // Poppler blackens every dot that an outline touches, the raster those that are half covered.
        expect.soft(Math.abs(a[side] - b[side]), side).toBeLessThanOrEqual(element.type === 'image' ? 1 : 2);
      }
    }
  });
});

test('each language is in the table under its own name', () => {
  for (const [id, language] of Object.entries(LANGUAGES)) expect(language.id).toBe(id);
});
