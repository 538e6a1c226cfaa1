/** Text of a PDF as poppler's pdftotext reads it: what is found and copied is what was posted. */
import { expect, test } from 'vitest';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { cropBitmap } from '../../src/render/image/bitmap.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, dotsOf, drawPdf, jobFor, pdfText } from '../kit/judges/judges.ts';

const text = { type: 'text', x: 5, y: 5, size: 6, font: 'sans', text: '{{v}}' };

async function pdfOf(elements: readonly object[], records: LabelRecord[], copies = 1) {
  const template = design(100, 60, elements);
  const job = jobFor(template, records, { language: 'pdf', dpi: 203 });
  const encoder = await openPdf(job);
  if (encoder.document === undefined) throw new Error('PDF makes documents');
  return Buffer.from(await encoder.document(records.map((_, record) => ({ record, copies }))));
}

/** Without the marks that say where a direction begins. */
async function found(file: Uint8Array): Promise<string> {
  return (await pdfText(file)).replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
}

test.each([
  ['Arabic', 'مرحبا بالعالم'],
  ['Arabic with marks', 'مُحَمَّد لا إله'],
  ['Persian', 'سلام دنیا پنجگانه چاک'],
  ['Urdu', 'ٹھیک ہے'],
  ['Devanagari', 'नमस्ते क्षत्रिय हिन्दी'],
  ['ligatures of Latin', 'office fit fluffy Ærø'],
  ['Hebrew', 'שלום עולם'],
  ['Thai, Chinese, Greek', 'สวัสดี 漢字 Ωμέγα'],
])('%s', async (_, value) => {
  const file = await pdfOf([text], [{ v: value }]);
  expect(await found(file)).toContain(value);
});

test('two directions in a line: every word, and each run in its order', async () => {
  const file = await pdfOf([text], [{ v: 'شارع 42 Main Street (B) نهاية' }]);
  const words = await found(file);
  for (const word of ['شارع', '42 Main Street (B)', 'نهاية']) expect(words).toContain(word);
});

test.each([90, 180, 270])('turned by %i', async (rotation) => {
  const turned = { ...text, y: 5, width: 50, height: 50, rotation };
  expect(await found(await pdfOf([turned], [{ v: 'नमस्ते' }]))).toContain('नमस्ते');
  expect((await found(await pdfOf([turned], [{ v: 'سلام' }]))).replaceAll(/\s/g, '')).toMatch(/سلام|مالس/);
});

test('several pages and copies, more characters than a font has codes', async () => {
  const points = Array.from({ length: 90 }, (_, index) => String.fromCodePoint(0x905 + (index % 50)));
  const many = [0, 1, 2].map((line) => points.slice(line * 30, line * 30 + 30).join(''));
  const elements = many.map((_, line) => ({
    ...text,
    y: 5 + 12 * line,
    size: 4,
    text: `{{v}} {{l${line}}}`,
  }));
  const records = ['مرحبا', 'नमस्ते'].map((v) => ({
    v,
    l0: many[0] ?? '',
    l1: many[1] ?? '',
    l2: many[2] ?? '',
  }));
  const words = await found(await pdfOf(elements, records, 2));
  expect(
    words
      .split('\f')
      .slice(0, 4)
      .map((page) => /مرحبا|नमस्ते/.exec(page)?.[0]),
  ).toEqual(['مرحبا', 'مرحبا', 'नमस्ते', 'नमस्ते']);
});

test('what is seen stays as it is', async () => {
  const value = 'مرحبا नमस्ते office';
  const elements = [
    text,
    { ...text, y: 30, reverse: true },
    { type: 'box', x: 1, y: 1, width: 98, height: 58 },
  ];
  const file = await pdfOf(elements, [{ v: value }]);
  const label = await compileLabel(design(100, 60, elements), { dpi: 203, orientation: 'portrait' });
  const drawn = await dotsOf(await drawPdf(file, 203));
  const ours = rasterBitmap(label.layout({ v: value }));
  // Both texts are smoothed otherwise at their edges; one that is seen twice, or not, is thousands more.
  // Poppler rounds the page up to whole dots.
  expect(differingDots(cropBitmap(drawn, 0, 0, ours.width, ours.height), ours)).toBeLessThan(2 * 1_500);
});
