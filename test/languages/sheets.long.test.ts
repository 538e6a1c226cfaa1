/** Sheets of labels: where each label lies, on how many pages, in every language of pages; judged from outside. */
import { describe, expect, test } from 'vitest';
import { openEncoder, printsPages } from '../../drivers/languages/index.ts';
import { openPages } from '../../drivers/languages/pages.ts';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import { type LanguageId, languageId } from '../../src/contract/format.ts';
import type { LabelRecord, Orientation } from '../../src/contract/print-request.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { LabelSheet } from '../../src/contract/sheet.ts';
import { type DesignedTemplate, designedTemplate } from '../../src/contract/template.ts';
import { type Bitmap, cropBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { pageBitmap } from '../../src/render/output/raster.ts';
import {
  differingDots,
  dotsOf,
  drawPdf,
  inkBox,
  jobFor,
  labelText,
  pdfInfo,
  readSymbols,
} from '../kit/judges/judges.ts';
import { drawPwgRaster } from '../kit/judges/printed.ts';
import { codesByCell } from '../kit/judges/sheet-cells.ts';
import { readSample, SAMPLE_CODES } from './samples.ts';

const NAME = 'address-sheet-a4-3x8.json';
const DPI = 203;

async function sample(): Promise<{ template: DesignedTemplate; sheet: LabelSheet; record: LabelRecord }> {
  const { template, records } = await readSample(NAME);
  const [record] = records;
  if (template.sheet === undefined || record === undefined) throw new Error('the sample is a sheet');
  return { template, sheet: template.sheet, record };
}

function sheetJob(
  template: DesignedTemplate,
  records: LabelRecord[],
  language: LanguageId = 'pdf',
  options: { copies?: number; orientation?: Orientation } = {},
): QueuedJob {
  const { copies = 1, orientation = 'portrait' } = options;
  return { ...jobFor(template, records, { dpi: DPI, language, orientation }), copies };
}

async function documentOf(job: QueuedJob): Promise<Uint8Array> {
  const encoder = await openEncoder(job);
  if (encoder.document === undefined) throw new Error('a language of pages was expected');
  const labels = job.records.map((_, record) => ({ record, copies: job.copies }));
  return Buffer.concat([encoder.begin(), await encoder.document(labels), encoder.end()]);
}

/** The pages as the shared part makes them, without a language. */
async function bitmapsOf(job: QueuedJob): Promise<Bitmap[]> {
  const { pages } = await openPages(job);
  const bitmaps: Bitmap[] = [];
  for await (const { page, copies } of pages(
    job.records.map((_, record) => ({ record, copies: job.copies })),
  )) {
    for (let copy = 0; copy < copies; copy++) bitmaps.push(pageBitmap(page));
  }
  return bitmaps;
}

describe('A4, three by eight', () => {
  test.each([
    [1, 1],
    [24, 1],
    [25, 2],
    [48, 2],
    [49, 3],
  ])('%i labels are %i pages of exactly A4, each label in its cell', async (labels, count) => {
    const { template, sheet, record } = await sample();
    const records = Array.from({ length: labels }, (_, index) => ({ ...record, reference: `MBR-${index}` }));
    const document = await documentOf(sheetJob(template, records));
    const info = await pdfInfo(document, count);
    expect(info).toMatch(new RegExp(`Pages:\\s+${count}\n`));
    expect(info.match(/595\.276 x 841\.89 pts \(A4\)/g)).toHaveLength(count);
    const pages = await Promise.all(
      Array.from({ length: count }, async (_, page) =>
        codesByCell(await drawPdf(document, DPI, page + 1), sheet, DPI),
      ),
    );
    expect(pages.map(({ length }) => length)).toEqual(
      Array.from({ length: count }, (_, page) => Math.min(24, labels - 24 * page)),
    );
    expect(pages.flat()).toEqual(records.map(({ reference }) => reference));
  });

  test('copies lie next to each other, across the border of a page', async () => {
    const { template, sheet } = await sample();
    const { records } = await readSample(NAME);
    const document = await documentOf(sheetJob(template, records, 'pdf', { copies: 7 }));
    const codes = records.flatMap((record) => Array(7).fill(SAMPLE_CODES[NAME]?.(record)[0]));
    expect(codes).toHaveLength(35);
    const pages = [1, 2].map(async (page) => codesByCell(await drawPdf(document, DPI, page), sheet, DPI));
    expect(await Promise.all(pages)).toEqual([codes.slice(0, 24), codes.slice(24)]);
  });

  test('many copies of one label: pages that are all the same, and the rest', async () => {
    const { template, sheet, record } = await sample();
    const document = await documentOf(sheetJob(template, [record, record], 'pdf', { copies: 60 }));
    expect(await pdfInfo(document)).toMatch(/Pages:\s+5\n/);
    const pages = [1, 2, 3, 4, 5].map(
      async (page) => (await codesByCell(await drawPdf(document, DPI, page), sheet, DPI)).length,
    );
    expect(await Promise.all(pages)).toEqual([24, 24, 24, 24, 24]);
    const one = await documentOf(sheetJob(template, [record], 'pdf', { copies: 24 }));
    const ten = await documentOf(sheetJob(template, [record], 'pdf', { copies: 240 }));
    expect(ten.length - one.length).toBeLessThan(4_000);
  });
});

/** Two by two, with an edge around each label. */
const SMALL: LabelSheet = {
  width: 60,
  height: 50,
  columns: 2,
  rows: 2,
  left: 4,
  top: 5,
  pitchX: 28,
  pitchY: 22,
};
function small(elements: readonly object[], sheet: LabelSheet = SMALL): DesignedTemplate {
  return designedTemplate.parse({ name: 'Small', width: 24, height: 20, sheet, elements });
}
const qr = { type: 'barcode', symbology: 'qr', value: '{{v}}', x: 1, y: 1, module: 0.5 };
const values = (count: number) => Array.from({ length: count }, (_, v) => ({ v: `v${v}` }));
const mm = (length: number) => Math.round((length * DPI) / 25.4);

describe.each(languageId.options.filter(printsPages))('%s', (language) => {
  /** The job's pages as a printer would draw them. */
  async function drawn(job: QueuedJob, { width, height }: Bitmap, count: number): Promise<Bitmap[]> {
    const document = await documentOf(job);
    if (language === 'png') return [await dotsOf(document)];
    if (language === 'pwg-raster') return await drawPwgRaster(document, { width, height, dpi: DPI });
    const pages = Array.from({ length: count }, async (_, page) =>
      // Poppler rounds the page up to whole dots.
      cropBitmap(await dotsOf(await drawPdf(document, DPI, page + 1)), 0, 0, width, height),
    );
    return await Promise.all(pages);
  }

  /** The same, after a look that they are, dot for dot, what the shared part makes. */
  async function exactly(job: QueuedJob): Promise<Bitmap[]> {
    const made = await bitmapsOf(job);
    const [first] = made;
    if (first === undefined) throw new Error('no page');
    const found = await drawn(job, first, made.length);
    expect(found.map((page, index) => differingDots(page, made[index] ?? page))).toEqual(made.map(() => 0));
    return found;
  }

  test('each label is where its cell is', async () => {
    const frame = { type: 'box', x: 0, y: 0, width: 24, height: 20, thickness: 0.5 };
    // A picture is one page.
    const job = sheetJob(small([qr, frame]), values(language === 'png' ? 3 : 7), language);
    const pages = await exactly(job);
    expect(pages).toHaveLength(language === 'png' ? 1 : 2);
    const codes = await Promise.all(pages.map(async (page) => codesByCell(encodePng(page, DPI), SMALL, DPI)));
    expect(codes.flat()).toEqual(job.records.map(({ v }) => v));
  });

  test('a label that draws beyond its edge leaves its neighbours alone', async () => {
    const over = { type: 'box', x: -50, y: 8, width: 120, height: 2, filled: true };
    const job = sheetJob(small([over]), [{}], language);
    const [made] = await bitmapsOf(job);
    if (made === undefined) throw new Error('no page');
    const [page = made] = await drawn(job, made, 1);
    const { left, right, top, bottom } = inkBox(page);
    // Poppler blackens every dot that what is cut off touches.
    const touched = language === 'pdf' ? 1 : 0;
    expect([top, bottom]).toEqual([mm(5) + mm(8), mm(5) + mm(10)]);
    expect(Math.abs(left - mm(4))).toBeLessThanOrEqual(touched);
    expect(Math.abs(right - mm(4) - mm(24))).toBeLessThanOrEqual(touched);
  });

  test('landscape turns the whole page, with its grid and its labels, onto the media', async () => {
    const bar = { type: 'box', x: 2, y: 17, width: 20, height: 1, filled: true };
    const job = sheetJob(small([qr, bar]), values(3), language, { orientation: 'landscape' });
    const [page] = await exactly(job);
    if (page === undefined) throw new Error('no page');
    expect([page.width, page.height]).toEqual([mm(50), mm(60)]);
    // The first row of the sheet runs down the right side.
    const seen = (await readSymbols(encodePng(page, DPI))).map(({ text, position, orientation }) => {
      const { topLeft, bottomRight } = position;
      const right = (topLeft.x + bottomRight.x) / 2 > page.width / 2;
      const low = (topLeft.y + bottomRight.y) / 2 > page.height / 2;
      return [text, right ? 'right' : 'left', low ? 'low' : 'high', orientation];
    });
    expect(seen.sort()).toEqual([
      ['v0', 'right', 'high', 90],
      ['v1', 'right', 'low', 90],
      ['v2', 'left', 'high', 90],
    ]);
  });
});

test.each(languageId.options.filter((language) => !printsPages(language)))(
  '%s prints the labels one at a time, as without a sheet',
  async (language) => {
    const { sheet: _, ...alone } = small([qr]);
    const texts = [small([qr]), designedTemplate.parse(alone)].map(async (template) => {
      const encoder = await openEncoder(sheetJob(template, values(2), language));
      return [await labelText(encoder, 0, 3), await labelText(encoder, 1, 3)];
    });
    const [withSheet, without] = await Promise.all(texts);
    expect(withSheet).toEqual(without);
  },
);

test('a page with one label on it has its margins', async () => {
  const alone: LabelSheet = { width: 40, height: 40, columns: 1, rows: 1, left: 10, top: 12 };
  const frame = { type: 'box', x: 0, y: 0, width: 24, height: 20, filled: true };
  const encoder = await openPdf(sheetJob(small([frame], alone), [{}]));
  const page = await dotsOf(await drawPdf(await encoder.label(0, 1), DPI));
  expect(inkBox(page)).toEqual({
    left: mm(10),
    top: mm(12),
    right: mm(10) + mm(24),
    bottom: mm(12) + mm(20),
  });
});
