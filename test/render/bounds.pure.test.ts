/**
 * What a stranger may send that is small and much work: told by its header, or bounded, before the drawing library
 * begins with it, which cannot be stopped.
 */
import { describe, expect, test } from 'vitest';
import { isBlack } from '../../src/render/image/bitmap.ts';
import { createImageSet } from '../../src/render/image/image.ts';
import { readPictureFile } from '../../src/render/image/picture-file.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { breakLines } from '../../src/render/text/line-break.ts';
import { design } from '../kit/judges/judges.ts';

const svg = (inner: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="100" height="100">${inner}</svg>`,
  );

describe('breaking lines', () => {
  const texts: [string, string][] = [
    ['one word of Devanagari', 'क्षत्रिय'.repeat(4_000)],
    ['emoji', '😀'.repeat(16_000)],
    ['words', 'hello world '.repeat(2_700)],
    ['Thai', 'สวัสดีชาวโลก'.repeat(2_700)],
    ['hyphens', 'a-'.repeat(16_000)],
    ['letters', 'x'.repeat(32_000)],
  ];

  test.each(texts)('%s: what is measured grows with the text, not with its square', (_, text) => {
    let measured = 0;
    const lines = breakLines(
      (part) => {
        measured += part.length;
        return part.length / 2;
      },
      text,
      20,
      Number.POSITIVE_INFINITY,
    );
    expect(measured).toBeLessThan(20 * text.length);
    expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  test('lines are as full as they can be', () => {
    const width = (text: string) => text.length;
    expect(breakLines(width, 'aa bb cc dddddddd ee f', 5, 100)).toEqual([
      'aa bb',
      'cc',
      'ddddd',
      'ddd',
      'ee f',
    ]);
    expect(breakLines(width, '   aaaaa b', 5, 100)).toEqual(['aaaaa', 'b']);
    expect(breakLines(width, '', 5, 100)).toEqual(['']);
    expect(breakLines(width, 'aaaa', 0.5, 100)).toEqual(['a', 'a', 'a', 'a']);
    expect(breakLines(width, 'a b c d e f', 1, 2).length).toBeGreaterThan(2);
  });
});

describe('a picture file', () => {
  const png = (width: number, height: number) => {
    const bytes = Buffer.alloc(33);
    bytes.write('89504e470d0a1a0a0000000d49484452', 0, 'hex');
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };
  const frame = (width: number, height: number) => {
    const bytes = Buffer.from('ffc2000b080000000001011100', 'hex');
    bytes.writeUInt16BE(height, 5);
    bytes.writeUInt16BE(width, 7);
    return bytes;
  };
  const scan = Buffer.from('ffda0008010100003f0012ff00', 'hex');
  const start = Buffer.from('ffd8ffe000040000', 'hex');

  test('a PNG is measured by its header', () => {
    expect(() => readPictureFile(png(30_000, 30_000))).toThrow('30000 × 30000 pixels; the limit is 16000000');
    expect(() => readPictureFile(png(0, 5))).toThrow('no size');
    expect(() => readPictureFile(png(5, 5).subarray(0, 20))).toThrow('cut off');
    expect(readPictureFile(png(4_000, 4_000))).toMatchObject({ pixels: 16e6, layers: 1 });
  });

  test('a JPEG is measured by its frame, and its scans are counted', () => {
    expect(() => readPictureFile(Buffer.concat([start, frame(40_000, 1_000)]))).toThrow(
      '40000 × 1000 pixels',
    );
    expect(() => readPictureFile(start)).toThrow('no size');
    expect(() => readPictureFile(Buffer.concat([start, frame(9, 9), ...Array(101).fill(scan)]))).toThrow(
      'more than 100 scans',
    );
    expect(readPictureFile(Buffer.concat([start, frame(9, 9), scan, scan]))).toMatchObject({
      pixels: 81,
      layers: 1,
    });
    // What is in a segment, a preview for one, is no frame.
    const preview = Buffer.concat([Buffer.from('ffe1000f', 'hex'), frame(60_000, 60_000)]);
    expect(readPictureFile(Buffer.concat([start, preview, frame(9, 9), scan]))).toMatchObject({ layers: 1 });
  });

  test('the pictures of a template are counted together, each once', async () => {
    const images = createImageSet([]);
    const files = [1, 2, 3].map((index) => png(4_000, 4_000 - index).toString('base64'));
    const reasons: string[] = [];
    for (const file of [files[0], files[0], ...files]) {
      await images.embedded(file ?? '').catch((error: Error) => reasons.push(error.message));
    }
    // The first two have nothing but a header.
    expect(reasons.at(-1)).toBe('the pictures of the template have more than 32000000 pixels together');
    expect(reasons.slice(0, -1)).toEqual(Array(4).fill('the picture cannot be decoded'));
  });

  test.each([
    ['a filter', '<filter id="f"><feGaussianBlur stdDeviation="500"/></filter>', '<filter>'],
    ['a mask', '<mask id="m"/>', '<mask>'],
    ['a pattern', '<pattern id="p"/>', '<pattern>'],
    [
      'clip paths in clip paths',
      '<clipPath id="a"><path clip-path="url(#b)" d="M0 0"/></clipPath>',
      'clipped',
    ],
    ['a clipped clip path', '<clipPath id="a" clip-path="url(#b)"/>', 'clipped'],
    ['very many elements', '<path d="M0 0"/>'.repeat(5_001), 'more than 5000 elements'],
    ['layers', '<path opacity=".9" d="M0 0"/>'.repeat(1_001), 'more than 5000 elements'],
    [
      'see-through groups within each other',
      `${'<g opacity=".9">'.repeat(11)}${'</g>'.repeat(11)}`,
      'more than 10 see-through',
    ],
    ['dashes', `<g stroke-dasharray=".001">${'<path d="M0 0"/>'.repeat(100)}</g>`, 'dashed'],
    ['elements within elements', `${'<g>'.repeat(101)}${'</g>'.repeat(101)}`, '100 deep'],
    ['a tag that does not end', '<path d="', 'cut off'],
    ['a comment that does not end', '<!-- ', 'cut off'],
  ])('an SVG with %s is refused', (_, inner, reason) => {
    expect(() => readPictureFile(svg(inner))).toThrow(reason);
  });

  test('an SVG of drawing programs is drawn', () => {
    const inner = `<!-- <g><g> --><title>a > b</title><clipPath id="c"><rect width="9" height="9"/></clipPath>
      <g clip-path="url(#c)" stroke-dasharray="4 2"><path d="M0 0h9" data-x="</g>"/></g>`;
    expect(readPictureFile(svg(inner))).toEqual({ pixels: 0, pixelFile: undefined, layers: 10 });
  });
});

describe('dots', () => {
  const picture = { type: 'image', x: 0, y: 0, data: svg('<path d="M0 0L100 100H0z"/>').toString('base64') };

  test.each([
    ['a picture', { ...picture, width: 2_000, height: 2_000 }],
    ['an ellipse', { type: 'ellipse', x: 0, y: 0, width: 2_000, height: 2_000 }],
    ['a box with round corners', { type: 'box', x: 0, y: 0, width: 2_000, height: 2_000, radius: 5 }],
    ['a line', { type: 'line', x: 0, y: 0, x2: 2_000, y2: 2_000 }],
    ['a character', { type: 'text', x: 0, y: 0, size: 2_000, text: 'W', overflow: 'clip' }],
  ])('%s of 2 × 2 m on a small label is refused before it is drawn', async (_, element) => {
    expect(await templateProblems(design(50, 50, [element]))).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'template-invalid',
        pointer: '/elements/0',
        message: expect.stringContaining('million dots; the limit is 25 million'),
      }),
    ]);
  });

  test('a label of 2 × 2 m is refused; one that is too large at 600 dpi is warned of', async () => {
    expect(await templateProblems(design(2_000, 2_000, []))).toEqual([
      expect.objectContaining({ severity: 'error', pointer: '/width' }),
    ]);
    expect(await templateProblems(design(500, 500, []))).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('(at 600 dpi)') }),
    ]);
  });

  test('what is drawn in bands has no seams', async () => {
    const side = (1_500 * 25.4) / 203;
    const label = await compileLabel(design(side, side, [{ ...picture, width: side, height: side }]), {
      dpi: 203,
      orientation: 'portrait',
    });
    const bitmap = rasterBitmap(label.layout({}));
    expect([bitmap.width, bitmap.height]).toEqual([1_500, 1_500]);
    for (let row = 0; row < bitmap.height; row++) {
      let black = 0;
      for (let column = 0; column < bitmap.width; column++) if (isBlack(bitmap, column, row)) black++;
      expect(Math.abs(black - row)).toBeLessThanOrEqual(1);
    }
  });
});
