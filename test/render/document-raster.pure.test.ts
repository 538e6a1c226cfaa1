/** PWG Raster as a document: each kind of dots, and files that are not what they say. */
import { describe, expect, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { compileDocument, documentPages } from '../../src/render/document/document.ts';
import { type Bitmap, isBlack } from '../../src/render/image/bitmap.ts';
import { PictureFault } from '../../src/render/image/picture-fault.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { rasterOf, rasterPage, row, whitePage } from '../kit/documents/raster.ts';

const template = documentTemplate.parse({
  ...{ name: 'Carrier', language: 'document', fields: [{ name: 'document' }] },
});
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

async function drawn(bytes: Uint8Array, page = 1): Promise<Bitmap> {
  const target = { dpi: 203, orientation: 'portrait', media: { width: 50, height: 30 } } as const;
  const list = await compileDocument(template, target).layout({ document: `${base64(bytes)}#page=${page}` });
  return rasterBitmap(list);
}
/** The first rows and columns, `#` where they are black. */
const shown = (bitmap: Bitmap, width: number, height: number) =>
  Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => (isBlack(bitmap, x, y) ? '#' : '.')).join(''),
  );
async function refusal(bytes: Uint8Array, page = 1): Promise<string | undefined> {
  const drawing = await drawn(bytes, page).then(
    () => undefined,
    (error: unknown) => (error instanceof JobFaultError ? error.fault.reason?.code : String(error)),
  );
  // Both look at all of it before anything is drawn.
  const counting = await documentPages(base64(bytes), {}).then(
    () => undefined,
    (error: unknown) => (error instanceof PictureFault ? error.said.code : String(error)),
  );
  expect(counting).toBe(drawing);
  return drawing;
}

describe('dots', () => {
  test.each([
    ['black_1', { bits: 1, space: 3 }, Buffer.from([0, 0, 0b1010_0000, 2, 0, 0b0100_0000])],
    ['sgray_1', { bits: 1, space: 18 }, Buffer.from([0, 0, 0b0101_1111, 2, 0, 0b1011_1111])],
    ['black_8', { space: 3 }, Buffer.concat([row(1, 255, 0, 200), row(3, 0, 129, 0)])],
    ['sgray_8', { space: 18 }, Buffer.concat([row(1, 0, 255, 55), row(3, 255, 120, 255)])],
    [
      'srgb_8',
      { space: 19, pixel: 24 },
      // Three pixels as they are; a run of one, and two as they are. Blue is darker than half, and yellow is not.
      Buffer.from([
        ...[0, 254, 0, 0, 0, 255, 255, 0, 0, 0, 255],
        ...[2, 0, 255, 255, 255, 255, 0, 0, 0, 255, 255, 0],
      ]),
    ],
  ])('of %s are black where they are darker than half', async (_, fields, rows) => {
    const bitmap = await drawn(rasterOf(rasterPage({ width: 3, height: 4, ...fields }, rows)));
    expect(shown(bitmap, 3, 4)).toEqual(['#.#', '.#.', '.#.', '.#.']);
  });

  test('of another resolution keep their size', async () => {
    const black = rasterPage({ width: 4, height: 4, across: 102, down: 406 }, row(4, 0, 0, 0, 0));
    const { width, height } = await drawn(rasterOf(black));
    expect([width, height]).toEqual([400, 240]);
    const bitmap = await drawn(rasterOf(black));
    expect(shown(bitmap, 9, 3)).toEqual(['########.', '########.', '.........']);
  });

  test('of each page are its own', async () => {
    const page = (x: number) =>
      rasterPage({ width: 3, height: 1 }, row(1, ...[0, 1, 2].map((at) => (at === x ? 0 : 255))));
    const file = rasterOf(page(0), page(2), page(1));
    expect(await documentPages(base64(file), {})).toEqual([1, 1, 1]);
    for (const [number, dots] of [
      [1, '#..'],
      [2, '..#'],
      [3, '.#.'],
    ] as const)
      expect(shown(await drawn(file, number), 3, 1)).toEqual([dots]);
    expect(await drawn(file, 4).catch((error: unknown) => String(error))).toContain('no page 4: it has 3');
  });
});

describe('refused', () => {
  const whole = rasterOf(whitePage(300, 300), whitePage(20, 20));

  test.each([
    ['no resolution', whitePage(8, 8, { across: 0 }), 'raster-broken'],
    ['a resolution that nobody prints at', whitePage(8, 8, { down: 2 ** 32 - 1 }), 'raster-broken'],
    ['no width', rasterPage({ width: 0 }, row(8)), 'picture-no-size'],
    ['no height', rasterPage({ height: 0 }, row(1)), 'picture-no-size'],
    [
      '2³² pixels each way',
      rasterPage({ width: 2 ** 32 - 1, height: 2 ** 32 - 1, stride: 8 }, row(1)),
      'picture-large',
    ],
    ['16 million pixels and one row', rasterPage({ width: 4_000, height: 4_001 }, row(1)), 'picture-large'],
    [
      'a million rows of a pixel, and one',
      rasterPage({ width: 1, height: 1_000_001 }, row(1, 0)),
      'raster-broken',
    ],
    [
      'a row of a million pixels, and one',
      rasterPage({ width: 1_000_001, height: 1 }, row(1, 0)),
      'raster-broken',
    ],
    ['rows shorter than the page', rasterPage({ stride: 7 }, row(8, 0, 0, 0, 0, 0, 0, 0)), 'raster-broken'],
    ['rows longer than the page', rasterPage({ stride: 2 ** 31 }, row(8, 0)), 'raster-broken'],
    ['more rows than the page', rasterPage({}, row(9, 0, 0, 0, 0, 0, 0, 0, 0)), 'raster-broken'],
    ['a run beyond its row', rasterPage({}, Buffer.from([7, 127, 0])), 'raster-broken'],
    [
      'dots beyond their row',
      rasterPage({}, Buffer.from([7, 129, ...new Array<number>(128).fill(0)])),
      'raster-broken',
    ],
    ['a code that is reserved', rasterPage({}, Buffer.from([7, 128])), 'raster-broken'],
    ['colours in planes', whitePage(8, 8, { order: 2 }), 'raster-broken'],
    ['CMYK', whitePage(8, 8, { space: 6, pixel: 32, stride: 32 }), 'raster-type'],
    ['16 bits', whitePage(8, 8, { bits: 16, pixel: 16, stride: 16 }), 'raster-type'],
    ['copies beside those of the job', whitePage(8, 8, { copies: 2 }), 'raster-copies'],
    ['no page', Buffer.from('PwgRaster\0', 'latin1'), 'raster-cut-off'],
  ])('%s', async (_, page, reason) => {
    expect(await refusal(rasterOf(page))).toBe(reason);
    // So is a good page before it.
    expect(await refusal(rasterOf(whitePage(20, 20), page))).toBe(reason);
  });

  test('what is cut off anywhere', async () => {
    const first = 4 + whitePage(300, 300).length;
    for (let length = 14; length < whole.length; length += 13) {
      // At the end of a page nobody can tell that another should follow.
      if (length !== first) expect(await refusal(whole.subarray(0, length))).toBe('raster-cut-off');
    }
    expect(await refusal(whole)).toBe(undefined);
  });

  test('more pages than anybody prints', async () => {
    const pages = new Array<Buffer>(2_001).fill(whitePage(1, 1));
    expect(await refusal(rasterOf(...pages))).toBe('document-pages');
    expect(await refusal(rasterOf(...pages.slice(1)))).toBe(undefined);
  });
});

test('nothing but named errors comes of files with bytes changed', async () => {
  const good = rasterOf(
    rasterPage(
      { width: 40, height: 40 },
      Buffer.concat([row(20, ...new Array<number>(40).fill(7)), row(20, ...new Array<number>(40).fill(200))]),
    ),
  );
  let drawings = 0;
  // By what stands before it is known as a raster.
  for (let at = 14; at < good.length; at += 3) {
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    const reason = await refusal(bytes);
    if (reason === undefined) drawings += 1;
    else expect(reason).toMatch(/^(?:raster|picture|document)-[a-z-]+$/);
  }
  // Of most bytes of a header nothing depends.
  expect(drawings).toBeGreaterThan(300);
});
