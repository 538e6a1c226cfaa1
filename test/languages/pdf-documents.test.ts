/** Pages of others on a printer of vectors: poppler draws what goes to it, and the page that it is of. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { dots } from '../../src/contract/dots.ts';
import type { Orientation } from '../../src/contract/print-request.ts';
import {
  blacken,
  createBitmap,
  cropBitmap,
  type Rotation,
  turnBitmap,
} from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { LETTER, label, MM, placedAt, region, TRACKING } from '../kit/documents/carrier.ts';
import { type PdfSheet, pdfOf } from '../kit/documents/pdf.ts';
import { jobFor, pdfFonts, pdfInfo, pdfText, readSymbols } from '../kit/judges/judges.ts';
import { difference, edges, pageDots } from '../kit/judges/page-dots.ts';

interface Printed {
  readonly page?: object;
  readonly orientation?: Orientation;
  readonly pages?: readonly number[];
}

/** What a printer of PDF gets for these pages of each file, in one document. */
async function printed(
  files: readonly Uint8Array[],
  { page = {}, orientation = 'portrait', pages = [1] }: Printed = {},
): Promise<Buffer> {
  const source = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }], page };
  const records = files.flatMap((file) => {
    const base64 = Buffer.from(file).toString('base64');
    return pages.map((number) => ({ document: `${base64}#page=${number}` }));
  });
  const job = jobFor(documentTemplate.parse(source), records, { language: 'pdf', orientation });
  const encoder = await openEncoder(job);
  const runs = records.map((_, record) => ({ record, copies: 1 }));
  return Buffer.from((await encoder.document?.(runs)) ?? []);
}

function inFolder<T>(use: (file: (name: string) => string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'platen-pdf-'));
  try {
    return use((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** How many pictures poppler finds in a PDF. */
function pictures(pdf: Uint8Array): number {
  return inFolder((file) => {
    writeFileSync(file('in.pdf'), pdf);
    const listed = execFileSync('pdfimages', ['-list', file('in.pdf')], { encoding: 'utf8' });
    return listed.trim().split('\n').slice(2).length;
  });
}

/** The same pages as cairo writes them: fonts as subsets, objects in streams. */
function byCairo(pdf: Uint8Array): Buffer {
  return inFolder((file) => {
    writeFileSync(file('in.pdf'), pdf);
    execFileSync('pdftocairo', ['-pdf', file('in.pdf'), file('out.pdf')]);
    return readFileSync(file('out.pdf'));
  });
}

const sheet = (content: string, more: Partial<PdfSheet> = {}) => pdfOf([{ ...LETTER, content, ...more }]);
const placed = sheet(placedAt(30, 320, label(TRACKING)));
const turned = sheet(`0 1 -1 0 532 100 cm\n${label(TRACKING)}`);
/** Where the turned label lies: 6 × 4 inches. */
const onSide = { x: 100 / MM, y: (792 - 388) / MM, width: 432 / MM, height: 288 / MM };

describe('the page itself is sent', () => {
  test.each<[string, Uint8Array, ReturnType<typeof region>, Rotation]>([
    ['of a letter page the region with the label', placed, region(30, 40), 0],
    [
      'two up, the second',
      sheet(placedAt(10, 320, label('1234')) + placedAt(306, 320, label(TRACKING))),
      region(306, 40),
      0,
    ],
    ['a label on its side, turned', turned, onSide, 90],
    ['as another program wrote it', byCairo(placed), region(30, 40), 0],
    [
      'a page that says itself that it is turned',
      sheet(placedAt(30, 320, label(TRACKING)), { rotate: 180 }),
      region(294, 320),
      180,
    ],
  ])('%s', async (_, file, where, turn) => {
    const pdf = await printed([file], { page: { region: where, turn } });
    expect(await pdfInfo(pdf)).toContain('288 x 432 pts');
    expect(await pdfText(pdf)).toContain(TRACKING);
    expect(pictures(pdf)).toBe(0);
    const drawn = pageDots(pdf);
    const box = [where.x, where.y, where.width, where.height].map((mm) => dots(mm, 203));
    const [x = 0, y = 0, width = 0, height = 0] = box;
    const expected = turnBitmap(cropBitmap(pageDots(file), x, y, width, height), turn);
    expect(difference(drawn, expected)).toBeLessThan(0.03);
    const row = dots((432 - 100) / MM, 203);
    const [ours, theirs] = [edges(drawn, row), edges(expected, row)];
    expect(ours.length).toBe(theirs.length);
    expect(ours.length).toBeGreaterThan(60);
    expect(Math.max(...ours.map((at, index) => Math.abs(at - (theirs[index] ?? 0))))).toBeLessThanOrEqual(1);
    expect((await readSymbols(encodePng(drawn, 203))).map(({ text }) => text)).toEqual([TRACKING]);
  });

  test('turned onto the media, and in another size', async () => {
    const upright = pageDots(await printed([turned], { page: { region: onSide, turn: 90 } }));
    const landscape = await printed([turned], { page: { region: onSide }, orientation: 'landscape' });
    expect(await pdfText(landscape)).toContain(TRACKING);
    expect(difference(pageDots(landscape), upright)).toBeLessThan(0.03);
    // On whole dots.
    const half = sheet(`q 0.5 0 0 0.5 72 72 cm\n${label(TRACKING)}Q`);
    const small = { x: 72 / MM, y: 504 / MM, width: 144 / MM, height: 216 / MM };
    const filled = await printed([half], { page: { region: small, fit: 'fill' } });
    expect(pictures(filled)).toBe(0);
    expect(difference(pageDots(filled), upright)).toBeLessThan(0.06);
    expect((await readSymbols(encodePng(pageDots(filled), 203))).map(({ text }) => text)).toEqual([TRACKING]);
  });

  test('with its fonts, and nothing of the page around the region is drawn', async () => {
    const around = sheet(`0 0 29 792 re f 0 0 612 319 re f\n${placedAt(30, 320, label(TRACKING))}`);
    const pdf = await printed([byCairo(around)], { page: { region: region(30, 40) } });
    expect(await pdfFonts(pdf)).toEqual([expect.objectContaining({ embedded: true, subset: true })]);
    const without = await printed([byCairo(placed)], { page: { region: region(30, 40) } });
    expect(difference(pageDots(pdf), pageDots(without))).toBe(0);
  });

  test('a scan as it is, each of its pixels a dot', async () => {
    const scan = createBitmap(812, 1218);
    for (let y = 0; y < scan.height; y++)
      for (let x = 0; x < scan.width; x++) if ((x * 7 + y * 3 + (x ^ y)) % 11 < 4) blacken(scan, x, y);
    const file = pdfOf([{ ...LETTER, content: 'q 287.5 0 0 431.3 20.2 340.1 cm /S0 Do Q' }], [scan]);
    const pdf = await printed([file], { page: { region: 'ink' } });
    expect(pictures(pdf)).toBe(1);
    expect(pdf.includes('/Subtype/Form')).toBe(true);
    expect(difference(pageDots(pdf), scan)).toBeLessThan(0.03);
  });
});

describe('several labels in a document', () => {
  const noise = new Uint8Array(101 * 400);
  for (let at = 0, seed = 1; at < noise.length; at++) {
    seed = (seed * 48_271) % 2_147_483_647;
    noise[at] = seed;
  }
  const scan = { width: 808, height: 400, data: noise };
  const pages = Array.from({ length: 20 }, (_, at) => ({
    width: 288,
    height: 432,
    content: `BT /F 12 Tf 20 400 Td (Label ${at + 1} of twenty) Tj ET q 200 0 0 99 20 40 cm /S0 Do Q`,
  }));
  const file = byCairo(pdfOf(pages, [scan]));

  test('have the fonts and pictures of one file once', async () => {
    const numbers = pages.map((_, at) => at + 1);
    const one = await printed([file]);
    const all = await printed([file], { pages: numbers });
    expect(one.length).toBeGreaterThan(noise.length);
    expect(all.length).toBeLessThan(one.length + 19 * 1_500);
    expect(await pdfInfo(all)).toMatch(/Pages:\s+20/);
    const texts = [...(await pdfText(all)).matchAll(/Label (\d+) of twenty/g)].map(([, number]) =>
      Number(number),
    );
    expect(texts).toEqual(numbers);
    expect(difference(pageDots(all, 7), pageDots(file, 7))).toBeLessThan(0.001);
  });

  test('are of several files, and pictures among them', async () => {
    const other = pdfOf([{ width: 288, height: 432, content: label('1234') }]);
    const png = encodePng(cropBitmap(pageDots(placed), 85, 113, 812, 1218), 203);
    const pdf = await printed([file, png, other, file]);
    expect(await pdfInfo(pdf)).toMatch(/Pages:\s+4/);
    expect(await pdfText(pdf)).toMatch(/Label 1 of twenty[\s\S]*1234[\s\S]*Label 1 of twenty/);
    const symbols = await readSymbols(encodePng(pageDots(pdf, 2), 203));
    expect(symbols.map(({ text }) => text)).toEqual([TRACKING]);
    expect(difference(pageDots(pdf, 4), pageDots(file, 1))).toBeLessThan(0.001);
  });
});
