import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graphicField } from '../../drivers/languages/zpl/graphic.ts';
import { type Bitmap, blacken, createBitmap, isBlack } from '../../src/render/image/bitmap.ts';
import { differingDots, dotsOf, drawZpl } from '../kit/judges/judges.ts';

function picture(width: number, height: number, black: (x: number, y: number) => boolean): Bitmap {
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (black(x, y)) blacken(bitmap, x, y);
    }
  }
  return bitmap;
}

test.each([
  ['run-length', (x: number, y: number) => x < 90 && y < 8 && (x > 3 || y > 1)],
  ['Z64', (x: number, y: number) => (x * 7919 + y * 104729) % 11 < 5],
])('%s data is drawn dot for dot', async (kind, black) => {
  const bitmap = picture(160, 40, black);
  const fields = graphicField(bitmap, 0, 0, bitmap);
  expect(fields.includes(':Z64:')).toBe(kind === 'Z64');
  expect(differingDots(await dotsOf(await drawZpl(`^XA${fields}^XZ`, 160, 40)), bitmap)).toBe(0);
});

test('any picture, and any part of it over the edge of the label', async () => {
  const label = { width: 80, height: 64 };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: -30, max: 70 }),
      fc.integer({ min: -30, max: 60 }),
      fc.integer({ min: 2, max: 97 }),
      async (width, height, x, y, seed) => {
        const bitmap = picture(width, height, (column, row) => (column * column * seed + row * 31) % 7 < 3);
        const expected = picture(label.width, label.height, (column, row) => {
          const [u, v] = [column - x, row - y];
          return u >= 0 && v >= 0 && u < width && v < height && isBlack(bitmap, u, v);
        });
        // A box beside it: the interpreter knows no label without a field.
        const fields = `^FO79,63^GB1,1,1^FS${graphicField(bitmap, x, y, label)}`;
        blacken(expected, 79, 63);
        const drawn = await dotsOf(await drawZpl(`^XA${fields}^XZ`, label.width, label.height));
        expect(differingDots(drawn, expected)).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test('a picture larger than ^GF can hold goes in bands', async () => {
  const bitmap = picture(1200, 1000, (x, y) => (x + y) % 50 < 20);
  const fields = graphicField(bitmap, 0, 0, bitmap);
  const sizes = [...fields.matchAll(/\^GFA,(\d+),/g)].map((match) => Number(match[1]));
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(99_999);
  expect(differingDots(await dotsOf(await drawZpl(`^XA${fields}^XZ`, 1200, 1000)), bitmap)).toBe(0);
});
