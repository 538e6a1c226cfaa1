/**
 * What comes out of a printer of each language, as pictures: drawn by judges that we did not write (zebrash for ZPL,
 * poppler for PDF, ippeveps and Ghostscript for PWG raster, the drawing library's reader for PNG), or for TSPL and EPL2,
 * for which there are none, by readers written from the manuals (`label-printers.ts`).
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openEncoder } from '../../../drivers/languages/index.ts';
import type { LabelEncoder } from '../../../drivers/languages/language.ts';
import { dots } from '../../../src/contract/dots.ts';
import type { LanguageId } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { type Bitmap, cropBitmap } from '../../../src/render/image/bitmap.ts';
import { dotsOf, drawPdf, drawZpl } from './judges.ts';
import { type PrintedLabel, readEpl, readTspl } from './label-printers.ts';

const run = promisify(execFile);

interface Size {
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
}

/** The labels of a job in the order in which they come out, each as large as the format says, copies one by one. */
export async function printed(job: QueuedJob): Promise<Bitmap[]> {
  const { dpi } = job.format;
  const size = { width: dots(job.format.width, dpi), height: dots(job.format.height, dpi), dpi };
  const encoder = await openEncoder(job);
  return await PRINTERS[job.format.language](job, encoder, size);
}

const PRINTERS: Readonly<
  Record<LanguageId, (job: QueuedJob, encoder: LabelEncoder, size: Size) => Promise<Bitmap[]>>
> = {
  zpl: async (job, encoder, { width, height }) => {
    const labels = [];
    for (const index of job.records.keys()) {
      const text = Buffer.from(await encoder.label(index, job.copies)).toString();
      const picture = await dotsOf(await drawZpl(Buffer.from(encoder.begin()) + text, width, height));
      const copies = Number(/\^PQ(\d+)/.exec(text)?.[1] ?? 1);
      labels.push(...Array.from({ length: copies }, () => picture));
    }
    return labels;
  },
  tspl: async (job, encoder, size) => eachCopy(readTspl(await wholeJob(job, encoder), size.dpi), size),
  epl: async (job, encoder, size) => eachCopy(readEpl(await wholeJob(job, encoder), size.height), size),
  pdf: async (job, encoder, size) => {
    const document = await wholeJob(job, encoder);
    const pages = Array.from({ length: job.records.length * job.copies }, (_, index) => index + 1);
    // Poppler rounds the page up to whole dots.
    return Promise.all(
      pages.map(async (page) => corner(await dotsOf(await drawPdf(document, size.dpi, page)), size)),
    );
  },
  'pwg-raster': async (job, encoder, size) => drawPwgRaster(await wholeJob(job, encoder), size),
  png: async (job, encoder) => {
    const labels = [];
    for (const index of job.records.keys()) {
      for (let copy = 0; copy < job.copies; copy++) labels.push(await dotsOf(await encoder.label(index, 1)));
    }
    return labels;
  },
};

/** A job as one document or stream. */
export async function wholeJob({ records, copies }: QueuedJob, encoder: LabelEncoder): Promise<Buffer> {
  const parts = [encoder.begin()];
  if (encoder.document === undefined) {
    for (const index of records.keys()) parts.push(await encoder.label(index, copies));
  } else parts.push(await encoder.document(records.map((_, record) => ({ record, copies }))));
  return Buffer.concat([...parts, encoder.end()]);
}

function eachCopy(labels: readonly PrintedLabel[], size: Size): Bitmap[] {
  return labels.flatMap(({ bitmap, copies }) => Array.from({ length: copies }, () => corner(bitmap, size)));
}

function corner(bitmap: Bitmap, { width, height }: Size): Bitmap {
  if (bitmap.width < width || bitmap.height < height) return bitmap;
  return cropBitmap(bitmap, 0, 0, width, height);
}

/** Each page of a raster stream: CUPS's sample command makes PostScript of it, Ghostscript dots. */
export async function drawPwgRaster(stream: Uint8Array, { width, height, dpi }: Size): Promise<Bitmap[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-judge-'));
  try {
    const raster = join(folder, 'labels.pwg');
    await writeFile(raster, stream);
    const { stdout } = await run('ippeveps', [raster], {
      env: { ...process.env, CONTENT_TYPE: 'image/pwg-raster' },
      encoding: 'buffer',
      maxBuffer: 256 * 1024 * 1024,
    });
    await writeFile(join(folder, 'labels.ps'), stdout);
    const options = ['-q', '-dNOPAUSE', '-dBATCH', '-dSAFER', '-sDEVICE=pngmono', `-r${dpi}`];
    const out = `-sOutputFile=${join(folder, 'page-%05d.png')}`;
    await run('gs', [...options, `-g${width}x${height}`, out, join(folder, 'labels.ps')]);
    const pages = (await readdir(folder)).filter((file) => file.startsWith('page-')).sort();
    return await Promise.all(pages.map(async (file) => dotsOf(await readFile(join(folder, file)))));
  } finally {
    await rm(folder, { recursive: true });
  }
}
