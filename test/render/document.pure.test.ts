/** Document templates: what becomes of pictures that others have made, dot by dot, and what is refused. */
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { dots } from '../../src/contract/dots.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { compileDocument, type DocumentTarget } from '../../src/render/document/document.ts';
import {
  type Bitmap,
  blacken,
  createBitmap,
  cropBitmap,
  isBlack,
  turnBitmap,
} from '../../src/render/image/bitmap.ts';
import { encodePng } from '../../src/render/image/png-encoder.ts';
import { blackRect } from '../../src/render/ink.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { inkOf } from '../kit/judges/page-dots.ts';

const MEDIA = { width: 50, height: 30 };
const WIDTH = dots(MEDIA.width, 203);
const HEIGHT = dots(MEDIA.height, 203);

/** Bars and single dots, no two quarters alike. */
function pattern(width: number, height: number): Bitmap {
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if ((x * 7 + y * 3 + (x ^ y)) % 11 < 4 || x < 3) blacken(bitmap, x, y);
  }
  return bitmap;
}

/** At (x, y) on white. */
function placed(bitmap: Bitmap, x: number, y: number, width: number, height: number): Bitmap {
  const sheet = createBitmap(width, height);
  for (let row = 0; row < bitmap.height; row++) {
    for (let column = 0; column < bitmap.width; column++) {
      if (isBlack(bitmap, column, row)) blacken(sheet, x + column, y + row);
    }
  }
  return sheet;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const pngOf = (bitmap: Bitmap, dpi = 203) => base64(encodePng(bitmap, dpi));

const templateOf = (more: object = {}) =>
  documentTemplate.parse({ name: 'Carrier', language: 'document', fields: [{ name: 'document' }], ...more });

async function drawn(document: unknown, more: object = {}, target: Partial<DocumentTarget> = {}) {
  const compiled = compileDocument(templateOf(more), {
    ...{ dpi: 203, orientation: 'portrait', media: MEDIA },
    ...target,
  });
  return rasterBitmap(await compiled.layout({ document: document as string }));
}

async function refusalOf(document: unknown, more: object = {}, target: Partial<DocumentTarget> = {}) {
  try {
    await drawn(document, more, target);
  } catch (error) {
    if (error instanceof JobFaultError) {
      const { code, reason, field, record } = error.fault;
      return [code, reason?.code, field, record];
    }
    throw error;
  }
  return 'drawn';
}

const wrong = (reason: string) => ['value-invalid', reason, 'document', 0];
const UNFIT = ['does-not-fit', 'document-unfit', 'document', 0];

describe('a picture', () => {
  test('of the printer’s resolution is printed dot by dot', async () => {
    const bitmap = pattern(WIDTH, HEIGHT);
    expect(await drawn(pngOf(bitmap))).toEqual(bitmap);
    // 8 dots a mm, as scanners and carriers write it.
    expect(await drawn(pngOf(bitmap, 203.2))).toEqual(bitmap);
  });

  test('that says no resolution is printed dot by dot, on a printer of any', async () => {
    const bitmap = pattern(200, 100);
    const whole = encodePng(bitmap, 203);
    const at = Buffer.from(whole).indexOf('pHYs') - 4;
    const silent = base64(Buffer.concat([whole.subarray(0, at), whole.subarray(at + 21)]));
    for (const dpi of [203, 300]) {
      const [width, height] = [dots(50, dpi), dots(30, dpi)];
      expect(await drawn(silent, {}, { dpi })).toEqual(placed(bitmap, 0, 0, width, height));
    }
  });

  test('of another resolution keeps its size; the template’s `dpi` outranks the file’s', async () => {
    const bitmap = pattern(200, 100);
    const halved = blackRect(await drawn(pngOf(bitmap, 406)));
    expect(halved).toEqual({ x: 0, y: 0, width: 100, height: 50 });
    expect(await drawn(pngOf(bitmap, 96), { dpi: 203 })).toEqual(placed(bitmap, 0, 0, WIDTH, HEIGHT));
  });

  test('that is larger than the label by white alone is printed; black is never cut off', async () => {
    const bitmap = pattern(WIDTH, HEIGHT);
    expect(await drawn(pngOf(placed(bitmap, 0, 0, WIDTH + 300, HEIGHT + 300)))).toEqual(bitmap);
    expect(await refusalOf(pngOf(placed(bitmap, 1, 0, WIDTH + 300, HEIGHT)))).toEqual(UNFIT);
    expect(await refusalOf(pngOf(placed(bitmap, 0, 1, WIDTH, HEIGHT + 300)))).toEqual(UNFIT);
  });

  test('of greys is black and white by half, or dithered', async () => {
    const canvas = createCanvas(100, 100);
    const context = canvas.getContext('2d');
    context.fillStyle = '#999';
    context.fillRect(0, 0, 100, 100);
    const grey = base64(canvas.toBuffer('image/png'));
    expect(blackRect(await drawn(grey))).toBeUndefined();
    const dithered = await drawn(grey, { page: { halftone: 'dither' } });
    // #999 is 40 % black.
    expect(inkOf(dithered) / 10_000).toBeCloseTo(0.4, 1);
  });

  test('that is blank is a blank label', async () => {
    expect(await drawn(pngOf(createBitmap(100, 100)))).toEqual(createBitmap(WIDTH, HEIGHT));
  });

  test('JPEG: black where the picture is', async () => {
    const canvas = createCanvas(WIDTH, HEIGHT);
    const context = canvas.getContext('2d');
    context.fillStyle = 'white';
    context.fillRect(0, 0, WIDTH, HEIGHT);
    context.fillStyle = 'black';
    context.fillRect(16, 24, 80, 40);
    const bitmap = await drawn(base64(canvas.toBuffer('image/jpeg', 95)), { dpi: 203 });
    expect(blackRect(bitmap)).toEqual({ x: 16, y: 24, width: 80, height: 40 });
  });
});

describe('a page', () => {
  const label = pattern(WIDTH, HEIGHT);
  /** The label, 10 mm from the left and 20 mm from the top of a larger page. */
  const page = pngOf(placed(label, dots(10, 203), dots(20, 203), dots(100, 203), dots(80, 203)));

  test('is cut to a region in mm, or to its ink', async () => {
    const region = { x: 10, y: 20, ...MEDIA };
    expect(await drawn(page, { page: { region } })).toEqual(label);
    expect(await drawn(page, { page: { region: 'ink' } })).toEqual(placed(cut(label), 0, 0, WIDTH, HEIGHT));
    expect(await refusalOf(page)).toEqual(UNFIT);
  });

  test.each([90, 180, 270] as const)('is turned by %i°, clockwise', async (turn) => {
    const lying = turnBitmap(label, turn);
    const media = turn === 180 ? MEDIA : { width: MEDIA.height, height: MEDIA.width };
    const region = { x: 10, y: 20, ...MEDIA };
    expect(await drawn(page, { page: { region, turn } }, { media })).toEqual(lying);
  });

  test('lies on the media as any label does, in landscape too', async () => {
    const media = { width: MEDIA.height, height: MEDIA.width };
    const upright = pngOf(label);
    const target = { media, orientation: 'landscape' } as const;
    expect(await drawn(upright, {}, target)).toEqual(turnBitmap(label, 90));
    expect(await drawn(upright, MEDIA, target)).toEqual(turnBitmap(label, 90));
  });

  test('is made smaller with `shrink`, and larger with `fill`, and keeps its shape', async () => {
    const large = pngOf(filled(2 * WIDTH, HEIGHT));
    const small = pngOf(filled(WIDTH / 4, HEIGHT / 4));
    const sizeOf = async (document: string, fit: string) => {
      const { width, height } = blackRect(await drawn(document, { page: { fit } })) ?? MEDIA;
      return [width, height];
    };
    expect(await refusalOf(large)).toEqual(UNFIT);
    expect(await sizeOf(large, 'shrink')).toEqual([WIDTH, HEIGHT / 2]);
    expect(await sizeOf(large, 'fill')).toEqual([WIDTH, HEIGHT / 2]);
    expect(await sizeOf(small, 'shrink')).toEqual([WIDTH / 4, HEIGHT / 4]);
    expect(await sizeOf(small, 'fill')).toEqual([WIDTH, HEIGHT]);
  });
});

function filled(width: number, height: number): Bitmap {
  const bitmap = createBitmap(Math.round(width), Math.round(height));
  bitmap.data.fill(0xff);
  return bitmap;
}

function cut(bitmap: Bitmap): Bitmap {
  const { x, y, width, height } = blackRect(bitmap) ?? { x: 0, y: 0, ...bitmap };
  return cropBitmap(bitmap, x, y, width, height);
}

describe('refused', () => {
  const whole = Buffer.from(encodePng(pattern(WIDTH, HEIGHT), 203));
  const jpeg = (() => {
    const canvas = createCanvas(300, 200);
    canvas.getContext('2d').fillRect(20, 20, 200, 100);
    return canvas.toBuffer('image/jpeg', 90);
  })();

  test.each([
    ['nothing', '', 'document-none'],
    ['null', null, 'document-none'],
    ['text', 'not base64!', 'document-base64'],
    ['a data URL', `data:image/png;base64,${base64(whole)}`, 'document-base64'],
    ['base64 of several lines', base64(whole).replace(/.{76}/, '$&\r\n'), 'document-base64'],
    ['a PDF of which the end lacks', base64(Buffer.from('%PDF-1.7\n')), 'document-cut-off'],
    [
      'SVG',
      base64(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')),
      'document-kind',
    ],
    ['30,000 × 30,000 pixels', base64(vast(30_000)), 'picture-large'],
    ['no pixels', base64(vast(0)), 'picture-no-size'],
  ])('%s', async (_, document, reason) => {
    expect(await refusalOf(document)).toEqual(wrong(reason));
  });

  test('a PNG or JPEG that is cut off, wherever it is', async () => {
    for (const share of [0.01, 0.2, 0.5, 0.9, 0.99, 0.999]) {
      for (const file of [whole, jpeg]) {
        const document = base64(file.subarray(0, Math.max(4, Math.floor(file.length * share))));
        expect((await refusalOf(document))[0]).toBe('value-invalid');
      }
    }
  });

  test('a PNG with a byte changed, and one whose rows are too few', async () => {
    for (const share of [0.3, 0.6, 0.9]) {
      const spoiled = Buffer.from(whole);
      const at = Math.floor(whole.length * share);
      spoiled[at] = (spoiled[at] ?? 0) ^ 0x10;
      expect((await refusalOf(base64(spoiled)))[0]).toBe('value-invalid');
    }
    // The header of a higher picture before the rows of this one.
    const higher = Buffer.from(encodePng(pattern(WIDTH, HEIGHT + 1), 203));
    expect(await refusalOf(base64(Buffer.concat([higher.subarray(0, 33), whole.subarray(33)])))).toEqual(
      wrong('picture-cut-off'),
    );
  });

  test('more dots than can be drawn', async () => {
    const wide = pngOf(filled(3_000, 3_000), 203);
    expect(await refusalOf(wide, {}, { dpi: 600 })).toEqual(wrong('dots-many'));
  });
});

/** A PNG's header of so many pixels. */
function vast(side: number): Buffer {
  const header = Buffer.from(encodePng(createBitmap(8, 8), 203));
  header.writeUInt32BE(side, 16);
  header.writeUInt32BE(side, 20);
  return header;
}
