/** Nothing that a text says is cut off by the label's edge. */
import { expect, test } from 'vitest';
import { compileLabel } from '../../src/render/label-layout.ts';
import { rasterBitmap } from '../../src/render/output/raster.ts';
import { design, inkBox } from '../kit/judges/judges.ts';

const DPI = 203;

test.each([
  [{ x: 30, y: 2 }, 0],
  [{ x: 30, y: 2, width: 60 }, 0],
  [{ x: 30, y: 12, align: 'right' }, 0],
  [{ x: 30, y: 12, align: 'center' }, 0],
  [{ x: 40, y: 5, height: 19.5 }, 90],
  [{ x: 30, y: 10 }, 180],
  [{ x: 2, y: -15, height: 35 }, 270],
])("what is clipped ends before the label's edge, by whole characters: %j", async (place, rotation) => {
  const text = 'Whole characters and no half ones\n2\n3\n4\n5\n6\n7';
  const clip = { type: 'text', size: 4, overflow: 'clip', text, rotation, ...place };
  const label = await compileLabel(design(50, 25, [clip]), { dpi: DPI, orientation: 'portrait' });
  const list = label.layout({});
  const [first] = list.items.filter((item) => item.kind === 'text');
  expect(text).toContain(first?.text);
  expect(first?.text.length).toBeGreaterThan(3);
  // With room around the label the ink is the same: nothing of it is beyond the edge.
  const inside = inkBox(rasterBitmap(list));
  const wide = { ...list, width: list.width + 400, height: list.height + 400 };
  const items = list.items.map((item) =>
    item.kind === 'text' ? { ...item, x: item.x + 200, y: item.y + 200 } : item,
  );
  const whole = inkBox(rasterBitmap({ ...wide, items }));
  expect([whole.right - whole.left, whole.bottom - whole.top]).toEqual([
    inside.right - inside.left,
    inside.bottom - inside.top,
  ]);
});

test('a word that is not its own without its mark: the edge cuts no mark, top or tail off', async () => {
  const at = (text: string, y: number, more: object = {}) =>
    compileLabel(design(50, 25, [{ type: 'text', x: 2, y, size: 4, text, ...more }]), {
      dpi: DPI,
      orientation: 'portrait',
    });
  for (const overflow of ['shrink', 'wrap', 'clip']) {
    for (const font of ['condensed', 'sans']) {
      const more = { overflow, font };
      const cut = { fault: { code: 'does-not-fit', reason: { code: 'text-over-edge' } } };
      await expect(at('Ära', -0.2, more)).rejects.toMatchObject(cut);
      await expect(at('gypsy', 21.6, more)).rejects.toMatchObject(cut);
      await expect(at('gypsy', -0.7, { ...more, x: 40, rotation: 180 })).rejects.toMatchObject(cut);
      // Only the line juts out, and none of its ink.
      await expect(at('Are', -0.2, more)).resolves.toBeDefined();
      await expect(at('ZERO', 21.9, more)).resolves.toBeDefined();
      await expect(at('ZERO', -0.7, { ...more, x: 40, rotation: 180 })).resolves.toBeDefined();
    }
  }
});
