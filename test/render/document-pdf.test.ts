/** PDF documents on dot printers, beside what Debian's `pdftoppm` draws of the same files. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bwipjs from 'bwip-js/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { dots } from '../../src/contract/dots.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { compileDocument } from '../../src/render/document/document.ts';
import {
  type Bitmap,
  blacken,
  createBitmap,
  cropBitmap,
  isBlack,
  turnBitmap,
} from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { type PdfSheet, pdfOf } from '../kit/documents/pdf.ts';
import { readSymbols } from '../kit/judges/judges.ts';

const MM = 72 / 25.4;
const MEDIA = { width: 101.6, height: 152.4 };
const LETTER = { width: 612, height: 792 };

/** Operators of a carrier's label, 4 × 6 inches with its bottom left corner at (0, 0); modules of three dots. */
function label(tracking: string): string {
  const [{ sbs }] = bwipjs.raw('code128', tracking, {}) as unknown as [{ sbs: number[] }];
  const module = (3 * 72) / 203;
  let x = 20.3;
  const bars = sbs.map((width, at) => {
    const bar = at % 2 === 0 ? `${x.toFixed(3)} 40.2 ${(width * module).toFixed(3)} 130 re f\n` : '';
    x += width * module;
    return bar;
  });
  return `0 g
6 6 276 420 re 1.5 w S
6 300 m 282 300 l S 6 200 m 282 200 l S
20 320 m 60 320 l 40 380 l h f 80 320 60 60 re f* 200 350 m 230 350 240 380 200 380 c 170 390 160 330 200 350 c f
BT /F 9 Tf 110 20 Td (${tracking}) Tj ET
${bars.join('')}`;
}

const at = (x: number, y: number, content: string) => `q 1 0 0 1 ${x} ${y} cm\n${content}Q\n`;
const TRACKING = '00340434161094042557';

const templateOf = (page: object = {}) =>
  documentTemplate.parse({ name: 'Carrier', language: 'document', fields: [{ name: 'document' }], page });

async function drawn(file: Buffer, page: object = {}, number = 1, media = MEDIA): Promise<Bitmap> {
  const { layout } = compileDocument(templateOf(page), { dpi: 203, orientation: 'portrait', media });
  return rasterBitmap(await layout({ document: `${file.toString('base64')}#page=${number}` }));
}

/** The page as `pdftoppm` draws it in greys, black where it is darker than half. */
function reference(file: Buffer, page = 1): Bitmap {
  const folder = mkdtempSync(join(tmpdir(), 'platen-pdf-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'in.pdf'), file);
  const pages = ['-f', String(page), '-l', String(page), '-singlefile'];
  execFileSync('pdftoppm', ['-r', '203', '-gray', ...pages, join(folder, 'in.pdf'), join(folder, 'out')]);
  const pgm = readFileSync(join(folder, 'out.pgm'));
  const [head = '', size = ''] = /^P5\s+(\d+ \d+)\s+255\s/.exec(pgm.toString('latin1', 0, 40)) ?? [];
  const [width = 0, height = 0] = size.split(' ').map(Number);
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if ((pgm[head.length + y * width + x] ?? 255) < 128) blacken(bitmap, x, y);
  return bitmap;
}

function inkOf(bitmap: Bitmap): number {
  let ink = 0;
  for (const byte of bitmap.data) for (let bit = 0; bit < 8; bit++) ink += (byte >> bit) & 1;
  return ink;
}

/** The share of the reference's ink that differs. */
function difference(one: Bitmap, other: Bitmap): number {
  const width = Math.min(one.width, other.width);
  let differs = 0;
  for (let y = 0; y < Math.min(one.height, other.height); y++)
    for (let x = 0; x < width; x++) if (isBlack(one, x, y) !== isBlack(other, x, y)) differs += 1;
  return differs / inkOf(other);
}

/** Where black begins and ends in a row. */
function edges(bitmap: Bitmap, y: number): number[] {
  const found: number[] = [];
  for (let x = 1; x < bitmap.width; x++)
    if (isBlack(bitmap, x, y) !== isBlack(bitmap, x - 1, y)) found.push(x);
  return found;
}

function region(x: number, yFromTop: number) {
  return { x: x / MM, y: yFromTop / MM, width: 288 / MM, height: 432 / MM };
}

describe('a carrier’s page', () => {
  const sheet = (content: string, more: Partial<PdfSheet> = {}) => pdfOf([{ ...LETTER, content, ...more }]);
  const placed = sheet(at(30, 320, label(TRACKING)));

  test.each([
    ['a letter page with the label in a region', placed, region(30, 40)],
    [
      'two up, the second',
      sheet(at(10, 320, label('1234')) + at(306, 320, label(TRACKING))),
      region(306, 40),
    ],
  ])('%s', async (_, file, where) => {
    const bitmap = await drawn(file, { region: where });
    const expected = cropBitmap(
      reference(file),
      ...([dots(where.x, 203), dots(where.y, 203), bitmap.width, bitmap.height] as const),
    );
    expect(difference(bitmap, expected)).toBeLessThan(0.03);
    const row = dots((432 - 100) / MM, 203);
    const [ours, theirs] = [edges(bitmap, row), edges(expected, row)];
    expect(ours.length).toBe(theirs.length);
    expect(Math.max(...ours.map((x, index) => Math.abs(x - (theirs[index] ?? 0))))).toBeLessThanOrEqual(1);
  });

  test('is the same where the page is turned, and the template turns it back', async () => {
    const turned = sheet(at(30, 320, label(TRACKING)), { rotate: 90 });
    const symbols = await readSymbols(encodePng(await drawn(turned, { region: 'ink', turn: 270 }), 203));
    expect(symbols.map(({ text }) => text)).toEqual([TRACKING]);
    const one = await drawn(turned, { region: 'ink', turn: 270 });
    const other = await drawn(placed, { region: 'ink' });
    expect(difference(one, other)).toBeLessThan(0.1);
  });
});

test('a scan of the printer’s resolution is printed dot by dot, where it lies on a page too', async () => {
  const scan = createBitmap(812, 1218);
  for (let y = 0; y < scan.height; y++)
    for (let x = 0; x < scan.width; x++) if ((x * 7 + y * 3 + (x ^ y)) % 11 < 4) blacken(scan, x, y);
  const whole = pdfOf([{ width: 288, height: 432, content: 'q 288 0 0 432 0 0 cm /S0 Do Q' }], [scan]);
  expect(await drawn(whole)).toEqual(scan);
  const upsideDown = pdfOf(
    [{ width: 288, height: 432, rotate: 180, content: 'q 288 0 0 432 0 0 cm /S0 Do Q' }],
    [scan],
  );
  expect(await drawn(upsideDown)).toEqual(turnBitmap(scan, 180));
  const corner = pdfOf([{ ...LETTER, content: 'q 287.5 0 0 431.3 20.2 340.1 cm /S0 Do Q' }], [scan]);
  expect(await drawn(corner, { region: 'ink' })).toEqual(scan);
});

describe('refused', () => {
  async function refusal(file: Buffer, page = 1): Promise<string> {
    try {
      await drawn(file, {}, page);
      return 'drawn';
    } catch (error) {
      if (error instanceof JobFaultError) return error.fault.reason?.code ?? error.fault.code;
      throw error;
    }
  }
  const small = { width: 100, height: 100 };
  const good = pdfOf([{ ...small, content: '0 0 50 50 re f' }]);

  test('by name: cut off, broken, encrypted, without the page, a picture that cannot be read', async () => {
    expect(await refusal(good)).toBe('drawn');
    expect(await refusal(good.subarray(0, good.length - 40))).toBe('document-cut-off');
    expect(await refusal(Buffer.from('%PDF-1.7\nnothing\n%%EOF\n'))).toBe('document-broken');
    expect(await refusal(good, 2)).toBe('document-no-page');
    const locked = Buffer.from(
      good
        .toString('latin1')
        .replace(
          '/Root 1 0 R',
          '/Root 1 0 R/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)/U(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)>>',
        ),
      'latin1',
    );
    expect(await refusal(locked)).toBe('document-encrypted');
    const short = { width: 4_000, height: 4_000, data: Uint8Array.of(1) };
    const spoiled = pdfOf([{ ...small, content: 'q 100 0 0 100 0 0 cm /S0 Do Q' }], [{ ...short }]);
    const text = spoiled.toString('latin1').replaceAll('/Filter/FlateDecode>>', '/Filter/JPXDecode>>');
    expect(
      await refusal(
        Buffer.from(text.replace('/Decode[1 0]/Filter/FlateDecode', '/Filter/DCTDecode     '), 'latin1'),
      ),
    ).toBe('document-faulty');
  });

  test('a page whose compressed content is damaged, wherever that is, or its picture where that can be told', async () => {
    let seed = 1;
    const noise = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    const scan = { width: 808, height: 400, data: new Uint8Array(101 * 400).map(noise) };
    const boxes = Array.from({ length: 4_000 }, () => `${noise() % 97} ${noise() % 89} 3 1 re f`).join('\n');
    const whole = pdfOf([{ ...small, content: `q 100 0 0 100 0 0 cm /S0 Do Q\n${boxes}` }], [scan]);
    expect(await refusal(whole)).toBe('drawn');
    const streams = [...whole.toString('latin1').matchAll(/\/Length (\d+)>>stream\n/g)];
    expect(streams).toHaveLength(2);
    // Noise is stored as it is: only a checksum, at which pdf.js does not look, tells of damage within.
    for (const [number, found] of streams.entries())
      for (const share of number === 0 ? [0, 0.25, 0.5, 0.75] : [0]) {
        const damaged = Buffer.from(whole);
        const start = found.index + found[0].length + 2 + Math.floor(Number(found[1]) * share);
        damaged.fill(0xff, start, start + 40);
        expect.soft(await refusal(damaged), `${found[0]} ${share}`).toBe('document-faulty');
      }
  });
});
