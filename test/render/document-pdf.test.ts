/** PDF documents on dot printers, beside what Debian's `pdftoppm` draws of the same files. */
import { describe, expect, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { dots } from '../../src/contract/dots.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { compileDocument } from '../../src/render/document/document.ts';
import { type Bitmap, blacken, createBitmap, cropBitmap, turnBitmap } from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { LETTER, label, MM, placedAt, region, TRACKING } from '../kit/documents/carrier.ts';
import { type PdfSheet, pdfOf } from '../kit/documents/pdf.ts';
import { readSymbols } from '../kit/judges/judges.ts';
import { difference, edges, pageDots } from '../kit/judges/page-dots.ts';

const MEDIA = { width: 101.6, height: 152.4 };

const templateOf = (page: object = {}) =>
  documentTemplate.parse({ name: 'Carrier', language: 'document', fields: [{ name: 'document' }], page });

async function drawn(file: Buffer, page: object = {}, number = 1, media = MEDIA): Promise<Bitmap> {
  const { layout } = compileDocument(templateOf(page), { dpi: 203, orientation: 'portrait', media });
  return rasterBitmap(await layout({ document: `${file.toString('base64')}#page=${number}` }));
}

describe('a carrier’s page', () => {
  const sheet = (content: string, more: Partial<PdfSheet> = {}) => pdfOf([{ ...LETTER, content, ...more }]);
  const placed = sheet(placedAt(30, 320, label(TRACKING)));

  test.each([
    ['a letter page with the label in a region', placed, region(30, 40)],
    [
      'two up, the second',
      sheet(placedAt(10, 320, label('1234')) + placedAt(306, 320, label(TRACKING))),
      region(306, 40),
    ],
  ])('%s', async (_, file, where) => {
    const bitmap = await drawn(file, { region: where });
    const expected = cropBitmap(
      pageDots(file),
      ...([dots(where.x, 203), dots(where.y, 203), bitmap.width, bitmap.height] as const),
    );
    expect(difference(bitmap, expected)).toBeLessThan(0.03);
    const row = dots((432 - 100) / MM, 203);
    const [ours, theirs] = [edges(bitmap, row), edges(expected, row)];
    expect(ours.length).toBe(theirs.length);
    expect(Math.max(...ours.map((x, index) => Math.abs(x - (theirs[index] ?? 0))))).toBeLessThanOrEqual(1);
  });

  test('is the same where the page is turned, and the template turns it back', async () => {
    const turned = sheet(placedAt(30, 320, label(TRACKING)), { rotate: 90 });
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
