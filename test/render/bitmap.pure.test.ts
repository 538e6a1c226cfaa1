/** Pictures put on each other by whole bytes: the dots that dot by dot gives. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bitmap, blacken, createBitmap, isBlack, stampBitmap } from '../../src/render/image/bitmap.ts';
import { blackRect } from '../../src/render/ink.ts';

const bitmaps = fc
  .record({ width: fc.integer({ min: 1, max: 40 }), height: fc.integer({ min: 1, max: 9 }) })
  .chain(({ width, height }) =>
    fc
      .uint8Array({ minLength: Math.ceil(width / 8) * height, maxLength: Math.ceil(width / 8) * height })
      .map((data): Bitmap => ({ width, height, stride: Math.ceil(width / 8), data })),
  );

/** Without what a byte holds beyond the last dot. */
function dots(bitmap: Bitmap): Bitmap {
  const copy = createBitmap(bitmap.width, bitmap.height);
  for (let y = 0; y < bitmap.height; y++) {
    for (let x = 0; x < bitmap.width; x++) if (isBlack(bitmap, x, y)) blacken(copy, x, y);
  }
  return copy;
}

test('a picture anywhere on another, black or white', () => {
  const place = fc.integer({ min: -50, max: 50 });
  fc.assert(
    fc.property(bitmaps, bitmaps, place, place, fc.boolean(), (paper, top, x, y, white) => {
      const under = dots(paper);
      const expected = createBitmap(under.width, under.height);
      for (let row = 0; row < under.height; row++) {
        for (let column = 0; column < under.width; column++) {
          const [inX, inY] = [column - x, row - y];
          const covered =
            inX >= 0 && inX < top.width && inY >= 0 && inY < top.height && isBlack(top, inX, inY);
          if (covered ? !white : isBlack(under, column, row)) blacken(expected, column, row);
        }
      }
      stampBitmap(under, top, x, y, white);
      expect([...under.data]).toEqual([...expected.data]);
    }),
    { numRuns: 3_000 },
  );
});

test('the least rectangle around what is black', () => {
  fc.assert(
    fc.property(bitmaps, (bitmap) => {
      const black = Array.from({ length: bitmap.width * bitmap.height }, (_, at) => ({
        x: at % bitmap.width,
        y: Math.floor(at / bitmap.width),
      })).filter(({ x, y }) => isBlack(bitmap, x, y));
      const [xs, ys] = [black.map(({ x }) => x), black.map(({ y }) => y)];
      const [x, y] = [Math.min(...xs), Math.min(...ys)];
      const expected = { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
      expect(blackRect(bitmap)).toEqual(black.length === 0 ? undefined : expected);
    }),
  );
});
