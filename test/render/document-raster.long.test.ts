/** PWG Raster as CUPS' filters write it, beside what Ghostscript, which they have draw, and our own renderer draw of the PDF. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { compileDocument, documentPages } from '../../src/render/document/document.ts';
import type { Bitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { label, TRACKING } from '../kit/documents/carrier.ts';
import { pdfOf } from '../kit/documents/pdf.ts';
import { dotsOf, readSymbols } from '../kit/judges/judges.ts';
import { difference } from '../kit/judges/page-dots.ts';
import { temporaryDirectory } from '../kit/printers/bench-printer.ts';

const MEDIA = { width: 101.6, height: 152.4 };
const template = documentTemplate.parse({
  ...{ name: 'Carrier', language: 'document', fields: [{ name: 'document' }] },
});

async function drawn(file: Uint8Array, page = 1): Promise<Bitmap> {
  const target = { dpi: 203, orientation: 'portrait', media: MEDIA } as const;
  const document = `${Buffer.from(file).toString('base64')}#page=${page}`;
  return rasterBitmap(await compileDocument(template, target).layout({ document }));
}

/** As `lp` has a driverless printer's documents made. @param type of `pwg-raster-document-type-supported` */
async function rasterOf(pdf: Uint8Array, type: string, dpi: number): Promise<Buffer> {
  const directory = await temporaryDirectory();
  const file = join(directory, 'label.pdf');
  await writeFile(file, pdf);
  const options = [`PageSize=Custom.4x6in`, `Resolution=${dpi}dpi`, `pwg-raster-document-type=${type}`];
  const args = ['-m', 'image/pwg-raster', ...options.flatMap((one) => ['-o', one]), file];
  const { stdout } = await promisify(execFile)('/usr/sbin/cupsfilter', args, {
    ...{ encoding: 'buffer', maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
  });
  return stdout;
}

const page = (content: string) => ({ width: 288, height: 432, content });
const carrier = pdfOf([page(label(TRACKING)), page(label('1234'))]);

/** A page as Ghostscript draws it at 203 dpi: it blackens each dot that is touched. */
async function ghostscript(pdf: Uint8Array, page: number): Promise<Bitmap> {
  const directory = await temporaryDirectory();
  const [file, out] = [join(directory, 'label.pdf'), join(directory, 'out.png')];
  await writeFile(file, pdf);
  const pages = [`-dFirstPage=${page}`, `-dLastPage=${page}`];
  const args = [
    '-q',
    '-sDEVICE=pnggray',
    '-r203',
    '-g812x1218',
    '-dNOINTERPOLATE',
    ...pages,
    '-o',
    out,
    file,
  ];
  await promisify(execFile)('gs', args, { timeout: 60_000 });
  return await dotsOf(await readFile(out));
}

test.each([
  ['Black_1', 203],
  ['SGray_8', 203],
  ['SRGB_8', 203],
  ['SGray_8', 600],
])('%s at %i dpi is drawn as the PDF is, page by page', async (type, dpi) => {
  const raster = await rasterOf(carrier, type, dpi);
  expect(raster.subarray(0, 4).toString()).toBe('RaS2');
  expect(await documentPages(raster.toString('base64'), {})).toEqual([1, 1]);
  for (const [number, text] of [
    [1, TRACKING],
    [2, '1234'],
  ] as const) {
    const bitmap = await drawn(raster, number);
    // Of the printer's own resolution each dot is one.
    if (dpi === 203) expect(bitmap).toEqual(await ghostscript(carrier, number));
    const expected = await drawn(carrier, number);
    expect([bitmap.width, bitmap.height]).toEqual([expected.width, expected.height]);
    expect(difference(bitmap, expected)).toBeLessThan(dpi === 203 ? 0.2 : 0.05);
    const symbols = await readSymbols(encodePng(bitmap, 203));
    expect(symbols.map((one) => one.text)).toEqual([text]);
  }
});
