/** Boxes, lines and ellipses in black and white: the same dots from the printer's own drawing as in the raster. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPdf } from '../../drivers/languages/pdf/encode.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, differingDots, dotsOf, drawPdf, drawZpl, jobFor, labelText } from '../kit/judges/judges.ts';
import { difference } from './reference.ts';

const DPI = 203;
/** Half of the label is black, with white in it: what is white crosses both. */
const GROUND = [
  { type: 'box', x: 0, y: 0, width: 15, height: 20, filled: true },
  { type: 'box', x: 2, y: 2, width: 5, height: 5, filled: true, color: 'white' },
];

async function outputs(elements: readonly object[]) {
  const label = design(30, 20, [...GROUND, ...elements]);
  const list = (await compileLabel(label, { dpi: DPI, orientation: 'portrait' })).layout({});
  const job = jobFor(label, [{}]);
  const text = await labelText(await openZpl(job));
  return {
    png: rasterBitmap(list),
    zpl: await dotsOf(await drawZpl(text, list.width, list.height)),
    pdf: await dotsOf(await drawPdf(await (await openPdf(job)).label(0, 1), DPI)),
  };
}

const side = fc.integer({ min: 4, max: 60 }).map((tenths) => tenths / 4);
const at = fc.integer({ min: 0, max: 60 }).map((tenths) => tenths / 4);
const thickness = fc.constantFrom(0.25, 0.5, 1, 3);
const color = fc.constantFrom('white', 'black');
const frame = { x: at, y: at, width: side, height: side, thickness, color, filled: fc.boolean() };
const shape = fc.oneof(
  fc.record({ type: fc.constant('box'), ...frame }),
  fc.record({ type: fc.constant('box'), ...frame, radius: fc.constantFrom(1, 2, 5) }),
  fc.record({ type: fc.constant('ellipse'), ...frame }),
  fc.record({ type: fc.constant('line'), x: at, y: at, x2: at, y2: at, thickness, color }),
);

test('whatever is drawn in black and white on what, a printer draws the raster’s dots', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { minLength: 1, maxLength: 5 }), async (elements) => {
      const drawn = await outputs(elements);
      expect(differingDots(drawn.zpl, drawn.png)).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test.each([
  ['rounded box', { type: 'box', x: 9, y: 3, width: 12, height: 14, radius: 3, filled: true }],
  ['rounded frame', { type: 'box', x: 9, y: 3, width: 12, height: 14, radius: 3, thickness: 1 }],
  ['ellipse', { type: 'ellipse', x: 9, y: 3, width: 12, height: 14, filled: true }],
  ['ring', { type: 'ellipse', x: 9, y: 3, width: 12, height: 14, thickness: 1 }],
  ['diagonal', { type: 'line', x: 3, y: 3, x2: 27, y2: 17, thickness: 1 }],
])('a white %s clears black, leaves white paper white, and stays under what follows', async (_, element) => {
  const before = await outputs([]);
  const after = { type: 'box', x: 14, y: 9, width: 2, height: 2, filled: true };
  const drawn = await outputs([{ ...element, color: 'white' }, after]);
  const same = await outputs([after]);
  expect(differingDots(drawn.zpl, drawn.png)).toBe(0);
  expect(difference(drawn.png, drawn.pdf, 1)).toBe(0);
  for (const output of ['png', 'zpl', 'pdf'] as const) {
    expect(differingDots(drawn[output], same[output])).toBeGreaterThan(300);
    // Nothing is black that was not, but for what was drawn after it.
    const black = (bitmap: (typeof drawn)['png']) =>
      bitmap.data.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
    expect(black(drawn[output])).toBeLessThan(black(before[output]));
  }
});
