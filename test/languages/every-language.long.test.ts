/** The same tests for every language: what a printer makes of a label is the label, and its codes read as the data. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES, openEncoder, printsPages } from '../../drivers/languages/index.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { type LanguageId, languageId } from '../../src/contract/format.ts';
import type { LabelRecord, Orientation } from '../../src/contract/print-request.ts';
import { type QueuedJob, queuedJob } from '../../src/contract/queued-job.ts';
import { designedTemplate, rawZplTemplate, type Template } from '../../src/contract/template.ts';
import { type Bitmap, turnBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, dotsOf, drawPdf, jobFor, readSymbols } from '../kit/judges/judges.ts';
import { drawPwgRaster, printed } from '../kit/judges/printed.ts';
import { readSample, SAMPLE_CODES, SAMPLES } from './samples.ts';

/** Those that send the very dots of the raster; the others set text and barcodes in the printer. */
const AS_DOTS: readonly LanguageId[] = ['tspl', 'epl', 'pwg-raster', 'png'];

interface Options {
  dpi?: number;
  orientation?: Orientation;
  copies?: number;
}

/** A job on media as large as its labels. */
function jobOn(
  template: Template,
  records: readonly LabelRecord[],
  language: LanguageId,
  { copies = 1, dpi = 203, orientation = 'portrait' }: Options = {},
): QueuedJob {
  const { width = 50, height = 25 } = template;
  const job = jobFor(template, records, { dpi, orientation, language });
  const media = orientation === 'landscape' ? { width: height, height: width } : { width, height };
  return queuedJob.parse({ ...job, copies, format: { ...job.format, ...media } });
}

async function codesOn(bitmap: Bitmap, dpi = 203): Promise<string[]> {
  const symbols = await readSymbols(encodePng(bitmap, dpi));
  return symbols.map(({ text }) => text).sort();
}

/** What the raster of each label has, to be compared dot by dot. */
async function rasters(job: QueuedJob): Promise<Bitmap[]> {
  const { template, format, orientation, records } = job;
  if (template.language !== 'platen') throw new Error('a designed template was expected');
  const { layout } = await compileLabel(template, { dpi: format.dpi, orientation, job });
  return records.flatMap((record, index) => {
    const bitmap = rasterBitmap(layout(record, index));
    return Array.from({ length: job.copies }, () => bitmap);
  });
}

const qr = (value: string, more: object = {}) => ({
  type: 'barcode',
  symbology: 'qr',
  value,
  x: 5,
  y: 3,
  module: 0.5,
  ...more,
});

describe.each(languageId.options)('%s', (language) => {
  const asDots = AS_DOTS.includes(language);

  test.each(SAMPLES)('%s reads as its data', async (name) => {
    const { template: whole, records } = await readSample(name);
    // One label: `sheets.long.test.ts` has sheets of them.
    const { sheet: _, ...template } = whole;
    for (const dpi of name.startsWith('shelf') || name.startsWith('tube') ? [203, 300, 600] : [203]) {
      const job = jobOn(template, records.slice(0, 1), language, { dpi });
      const [label, ...more] = await printed(job);
      expect(more).toEqual([]);
      if (label === undefined) throw new Error('no label');
      const [record = {}] = records;
      expect.soft(await codesOn(label, dpi), `${dpi} dpi`).toEqual(SAMPLE_CODES[name]?.(record).sort());
      if (!asDots) continue;
      const [raster] = await rasters(job);
      expect.soft(raster && differingDots(raster, label), `${dpi} dpi`).toBe(0);
    }
  });

  test('each record as often as it is to be printed, in order', async () => {
    const values = ['one', 'two', 'three'];
    const job = jobOn(
      design(50, 25, [qr('{{v}}')]),
      values.map((v) => ({ v })),
      language,
      { copies: 2 },
    );
    const labels = await printed(job);
    expect(await Promise.all(labels.map((label) => codesOn(label)))).toEqual(
      values.flatMap((v) => [[v], [v]]),
    );
  });

  test.each([0, 90, 180, 270])('turned by %i°', async (rotation) => {
    const code = {
      type: 'barcode',
      symbology: 'code128',
      value: 'TURN-42',
      x: 5,
      y: 5,
      height: 10,
      module: 0.25,
    };
    const text = { type: 'text', x: 30, y: 30, size: 4, text: 'Ωμέγα 7', font: 'sans' };
    const job = jobOn(
      design(60, 60, [
        { ...code, rotation },
        { ...text, rotation },
      ]),
      [{}],
      language,
    );
    const [label] = await printed(job);
    if (label === undefined) throw new Error('no label');
    expect(await codesOn(label)).toEqual(['TURN-42']);
    const [raster] = await rasters(job);
    if (asDots) expect(raster && differingDots(raster, label)).toBe(0);
  });

  test('the whole label turned onto the media', async () => {
    const job = jobOn(design(60, 30, [qr('landscape')]), [{}], language, { orientation: 'landscape' });
    const [label] = await printed(job);
    if (label === undefined) throw new Error('no label');
    expect([label.width, label.height]).toEqual([240, 480]);
    expect(await codesOn(label)).toEqual(['landscape']);
    const [raster] = await rasters(job);
    if (asDots) expect(raster && differingDots(raster, label)).toBe(0);
  });

  test('a label with nothing on it is a label, and so is one that is all black', async () => {
    const elements = [[], [{ type: 'box', x: 0, y: 0, width: 20.02, height: 10.01, filled: true }]];
    for (const [index, element] of elements.entries()) {
      const job = jobOn(design(20.02, 10.01, element), [{}], language);
      const labels = await printed(job);
      expect(labels).toHaveLength(1);
      const ink = labels[0]?.data.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
      expect(ink).toBe(index === 0 ? 0 : 160 * 80);
    }
  });

  test.each(['portrait', 'landscape'] as const)('a document, in %s', async (orientation) => {
    const code = await rasters(jobOn(design(60, 30, [qr('4006381333931')]), [{}], 'zpl'));
    const [picture] = code;
    if (picture === undefined) throw new Error('no picture');
    const document = Buffer.from(encodePng(picture, 203)).toString('base64');
    const size = { width: 60, height: 30 };
    const source = { name: 'Carrier', language: 'document', ...size, fields: [{ name: 'document' }] };
    const records = [{ document }, { document }];
    const labels = await printed(jobOn(documentTemplate.parse(source), records, language, { orientation }));
    expect(labels).toHaveLength(2);
    for (const label of labels) {
      expect(await codesOn(label)).toEqual(['4006381333931']);
      const whole = turnBitmap(picture, orientation === 'landscape' ? 90 : 0);
      if (asDots) expect(differingDots(whole, label)).toBe(0);
    }
  });

  test('raw ZPL', async () => {
    const template = rawZplTemplate.parse({
      name: 'Raw',
      language: 'zpl',
      source: '^XA^FO60,20^BY4^BCN,80,N,N,N^FD{{v}}^FS^PQ1^XZ',
      width: 76.2,
      height: 25.4,
      dpi: 203,
    });
    const [label] = await printed(jobOn(template, [{ v: 'RAW-42' }], language));
    expect(label && (await codesOn(label))).toEqual(['RAW-42']);
  });
});

test.each(languageId.options.filter(printsPages))(
  '%s: sheets of 2 × 2 labels, in order',
  async (language) => {
    const source = designedTemplate.parse({
      ...design(24, 14, [qr('{{v}}', { x: 3, y: 2, module: 0.4 })]),
      sheet: { width: 52, height: 32, columns: 2, rows: 2, left: 1, top: 1, pitchX: 26, pitchY: 16 },
    });
    const values = ['1', '2', '3', '4', '5'];
    const records = values.map((v) => ({ v }));
    const encoder = await openEncoder(jobOn(source, records, language));
    // As the agent does it: whole sheets, and where a document has one page, one sheet.
    const plan = LANGUAGES[language].pagesPerDocument === 1 ? [[0, 1, 2, 3], [4]] : [[0, 1, 2, 3, 4]];
    const documents = await Promise.all(
      plan.map(async (document) => {
        const runs = document.map((record) => ({ record, copies: 1 }));
        return Buffer.concat([
          encoder.begin(),
          (await encoder.document?.(runs)) ?? Buffer.of(),
          encoder.end(),
        ]);
      }),
    );
    const size = { width: 416, height: 256, dpi: 203 };
    const [document = Buffer.of()] = documents;
    const pages =
      language === 'png'
        ? await Promise.all(documents.map((picture) => dotsOf(picture)))
        : language === 'pwg-raster'
          ? await drawPwgRaster(document, size)
          : await Promise.all([1, 2].map(async (page) => dotsOf(await drawPdf(document, 203, page))));
    expect(await Promise.all(pages.map((page) => codesOn(page)))).toEqual([['1', '2', '3', '4'], ['5']]);
    for (const { width, height } of pages) expect([width, height]).toEqual([size.width, size.height]);
  },
);

test.each(['tspl', 'epl', 'pwg-raster'] as const)(
  '%s: dots of another head are refused',
  async (language) => {
    const template = rawZplTemplate.parse({
      name: 'Raw',
      language: 'zpl',
      source: '^XA^FO9,9^GB20,20,20^FS^XZ',
      width: 50,
      height: 25,
      dpi: 203,
    });
    await expect(printed(jobOn(template, [{}], language, { dpi: 300 }))).rejects.toMatchObject({
      fault: { code: 'language-unsupported', message: expect.stringContaining('203 dpi') },
    });
  },
);
