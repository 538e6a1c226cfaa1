/**
 * Judges that we did not write: zebrash draws ZPL, zxing reads barcodes, poppler draws PDF, tesseract reads text.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { prepareZXingModule, type ReaderOptions, readBarcodes } from 'zxing-wasm/reader';
import type { LabelEncoder } from '../../../drivers/languages/language.ts';
import type { PrinterFormat } from '../../../src/contract/format.ts';
import type { LabelRecord, Orientation } from '../../../src/contract/print-request.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { designedTemplate, type Template, template } from '../../../src/contract/template.ts';
import { type Bitmap, blacken, createBitmap } from '../../../src/render/image/bitmap.ts';
import { rasterise } from '../../../src/zpl/interpreter/rasteriser.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** A template as a tenant would write it, defaults left out. */
export function design(
  width: number,
  height: number,
  elements: readonly object[],
  fields: readonly object[] = [],
) {
  return designedTemplate.parse({ name: 'Test label', width, height, fields, elements });
}

export function jobFor(
  source: Template,
  records: readonly LabelRecord[],
  options: { dpi?: number; orientation?: Orientation; language?: PrinterFormat['language'] } = {},
): QueuedJob {
  return {
    v: 1,
    jobId: '00000000-0000-4000-8000-000000000000',
    tenantId: 'test',
    scope: null,
    printerId: 'address-00000000',
    templateId: 't',
    template: template.parse(source),
    format: {
      id: 'f',
      name: 'f',
      language: options.language ?? 'zpl',
      dpi: options.dpi ?? 203,
      width: 101.6,
      height: 152.4,
    },
    orientation: options.orientation ?? 'portrait',
    copies: 1,
    records: [...records],
    createdAt: '2026-11-21T00:00:00.000Z',
  };
}

/** The ZPL of one label, with what a job sends first before it. */
export async function labelText(encoder: LabelEncoder, record = 0, copies = 1): Promise<string> {
  return Buffer.concat([encoder.begin(), await encoder.label(record, copies)]).toString('utf8');
}

/** Draws one label's ZPL on a sheet of that many dots. */
export async function drawZpl(zpl: string, width: number, height: number): Promise<Buffer> {
  // The resolution only turns millimetres into dots there; 8 a millimetre keeps the sum exact.
  const [png, ...more] = await rasterise(zpl, width / 8, height / 8, 8);
  if (png === undefined || more.length > 0) throw new Error(`expected one label, got ${more.length + 1}`);
  return Buffer.from(png, 'base64');
}

/** Draws a page of a PDF at a resolution, black and white. */
export async function drawPdf(pdf: Uint8Array, dpi: number, page = 1): Promise<Buffer> {
  return withFile(pdf, 'label.pdf', async (file) => {
    const out = file.replace(/\.pdf$/, '');
    const at = ['-f', String(page), '-l', String(page)];
    await run('pdftoppm', ['-r', String(dpi), '-png', '-mono', '-singlefile', ...at, file, out]);
    return readFile(`${out}.png`);
  });
}

/** The output of `pdfinfo`. */
export async function pdfInfo(pdf: Uint8Array, pages = 1): Promise<string> {
  return withFile(pdf, 'label.pdf', async (file) => {
    const { stdout } = await run('pdfinfo', ['-f', '1', '-l', String(pages), file]);
    return stdout;
  });
}

export async function pdfText(pdf: Uint8Array): Promise<string> {
  return withFile(pdf, 'label.pdf', async (file) => {
    const { stdout } = await run('pdftotext', ['-layout', file, '-']);
    return stdout;
  });
}

/** The fonts of a PDF, as `pdffonts` lists them. */
export async function pdfFonts(
  pdf: Uint8Array,
): Promise<{ name: string; type: string; embedded: boolean; subset: boolean }[]> {
  return withFile(pdf, 'label.pdf', async (file) => {
    const { stdout } = await run('pdffonts', [file]);
    // name, type, encoding, emb, sub, uni, object ID: columns, the last five of one word each.
    return stdout
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => {
        const words = line.trim().split(/\s+/);
        return {
          name: line.slice(0, 36).trim(),
          type: line.slice(37, 54).trim(),
          embedded: words.at(-5) === 'yes',
          subset: words.at(-4) === 'yes',
        };
      });
  });
}

async function withFile<T>(bytes: Uint8Array, name: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-judge-'));
  try {
    await writeFile(join(folder, name), bytes);
    return await use(join(folder, name));
  } finally {
    await rm(folder, { recursive: true });
  }
}

let prepared = false;

/** The barcodes on a picture. */
export async function readSymbols(png: Uint8Array, options: ReaderOptions = {}) {
  if (!prepared) {
    const wasm = await readFile(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
    prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer } });
    prepared = true;
  }
  return readBarcodes(png, { textMode: 'Plain', ...options });
}

/** The text on a picture, enlarged and given a margin, as tesseract likes it. */
export async function readText(png: Uint8Array, languages = 'eng'): Promise<string> {
  const image = await loadImage(Buffer.from(png));
  const scale = 2;
  const canvas = createCanvas(image.width * scale + 80, image.height * scale + 80);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 40, 40, image.width * scale, image.height * scale);
  return withFile(await canvas.encode('png'), 'text.png', async (file) => {
    const { stdout } = await run('tesseract', [file, '-', '-l', languages, '--psm', '6']);
    return stdout.trim();
  });
}

/** The text on a picture of that resolution, neither enlarged nor given a margin. */
export async function readTextAsIs(png: Uint8Array, language: string, dpi: number): Promise<string> {
  return withFile(png, 'text.png', async (file) => {
    const args = [file, '-', '-l', language, '--psm', '6', '--dpi', String(dpi)];
    const { stdout } = await run('tesseract', args);
    return stdout.trim();
  });
}

/** A picture as dots, by the drawing library's own PNG reader. */
export async function dotsOf(png: Uint8Array): Promise<Bitmap> {
  const image = await loadImage(Buffer.from(png));
  // Read once: each access goes through to native code.
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const rgba = context.getImageData(0, 0, width, height).data;
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if ((rgba[4 * (y * width + x)] ?? 255) < 128) blacken(bitmap, x, y);
  }
  return bitmap;
}

/** The box around all that is black, dots; half-open. */
export function inkBox(bitmap: Bitmap): { left: number; top: number; right: number; bottom: number } {
  let [left, top, right, bottom] = [bitmap.width, bitmap.height, 0, 0];
  for (let y = 0; y < bitmap.height; y++) {
    for (let x = 0; x < bitmap.width; x++) {
      if (((bitmap.data[y * bitmap.stride + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0) continue;
      left = Math.min(left, x);
      top = Math.min(top, y);
      right = Math.max(right, x + 1);
      bottom = Math.max(bottom, y + 1);
    }
  }
  return { left, top, right, bottom };
}

/** How many dots of two pictures differ; pictures of different sizes differ in every dot. */
export function differingDots(a: Bitmap, b: Bitmap): number {
  if (a.width !== b.width || a.height !== b.height) return Math.max(a.width * a.height, b.width * b.height);
  let count = 0;
  for (let at = 0; at < a.data.length; at++) {
    for (let bits = (a.data[at] ?? 0) ^ (b.data[at] ?? 0); bits !== 0; bits &= bits - 1) count++;
  }
  return count;
}
