/** Groups are selected, moved, put in line, scaled and copied as one, and ungrouping leaves no trace of them. */
import { expect, test } from 'vitest';
import { designedTemplate } from '../../src/contract/template.ts';
import { align } from '../../web/designer/align.ts';
import {
  add,
  duplicate,
  type LabelDocument,
  mark,
  placed,
  type Scene,
  sceneOf,
  select,
  selection,
} from '../../web/designer/document.ts';
import { frameOf } from '../../web/designer/frame.ts';
import { group, ungroup } from '../../web/designer/groups.ts';
import { scaled } from '../../web/designer/scaling.ts';

const LABEL: LabelDocument = {
  name: 'Grouped',
  width: 100,
  height: 50,
  elements: [
    { type: 'box', x: 10, y: 10, width: 20, height: 10 },
    { type: 'text', x: 12, y: 12, width: 16, height: 6, text: 'A', size: 5 },
    { type: 'line', x: 40, y: 10, x2: 60, y2: 20 },
    { type: 'barcode', symbology: 'qr', x: 70, y: 10, value: 'x', module: 0.5 },
  ],
};

const framed = (scene: Scene) => selection(scene).map((own) => ({ ...own, frame: frameOf(own.element) }));
const keysOf = (scene: Scene) => scene.layers.map(({ key }) => key);
const groupsOf = (scene: Scene) => scene.document.elements.map((element) => element.group);

function grouped(): { scene: Scene; keys: number[] } {
  const scene = sceneOf(LABEL);
  const keys = keysOf(scene);
  return { scene: group(select(scene, keys.slice(0, 2)), keys.slice(0, 2)), keys };
}

test('whoever chooses one chooses all of the group, unless it is meant alone or locked', () => {
  const { scene, keys } = grouped();
  expect(groupsOf(scene)).toEqual(['1', '1', undefined, undefined]);
  expect(designedTemplate.safeParse(scene.document).success).toBe(true);
  expect(select(scene, keys.slice(1, 2)).selected.toSorted()).toEqual(keys.slice(0, 2));
  expect(select(scene, keys.slice(1, 2), true).selected).toEqual(keys.slice(1, 2));
  const locked = mark(scene, keys[0] ?? -1, { locked: true });
  expect(select(locked, keys.slice(1, 2)).selected).toEqual(keys.slice(1, 2));
});

test('the group is gone as it came: the same text, byte for byte', () => {
  const { scene, keys } = grouped();
  expect(JSON.stringify(ungroup(scene, keys).document)).toBe(JSON.stringify(LABEL));
  expect(group(scene, keys.slice(0, 1))).toBe(scene);
});

test('copies are a group of their own; a copy of one member alone is in none', () => {
  const { scene, keys } = grouped();
  const copied = duplicate(scene, keys.slice(0, 2), { x: 2, y: 2 });
  expect(groupsOf(copied)).toEqual(['1', '1', undefined, undefined, '2', '2']);
  expect(groupsOf(duplicate(scene, keys.slice(0, 1), { x: 2, y: 2 }))).toEqual([
    ...groupsOf(scene),
    undefined,
  ]);
  // In a label without groups the group keeps its own name.
  const elsewhere = add(sceneOf({ ...LABEL, elements: [] }), scene.document.elements.slice(0, 2));
  expect(groupsOf(elsewhere)).toEqual(['1', '1']);
});

test('it is put in line as one', () => {
  const { scene, keys } = grouped();
  const moved = align(scene, framed(select(scene, keys)), 'right');
  const [box, text, , code] = moved.document.elements;
  // The box, which is wider than the text, ends where the barcode ends; the text moves with it.
  const right = frameOf(code ?? LABEL.elements[0] ?? { type: 'line', x: 0, y: 0, x2: 0, y2: 0 });
  expect((box?.x ?? 0) + 20).toBeCloseTo(right.x + right.width, 3);
  expect((text?.x ?? 0) - (box?.x ?? 0)).toBeCloseTo(2, 3);
  const alone = align(scene, framed(select(scene, keys.slice(0, 2))), 'left');
  expect(alone.document.elements.slice(0, 2).map(({ x }) => x)).toEqual([0, 2]);
});

test('pulled at a corner everything in it grows by the same factor; modules stay whole dots', () => {
  const scene = sceneOf(LABEL);
  const all = select(scene, keysOf(scene));
  const frames = framed(all);
  const larger = scaled(all, frames, 'se', { dx: 200, dy: 0 }, 203);
  expect(designedTemplate.safeParse(larger.document).success).toBe(true);
  const [box, text, line, code] = larger.document.elements;
  const whole = Math.max(...frames.map(({ frame }) => frame.x + frame.width)) - 10;
  const factor = (whole + 200) / whole;
  expect(box).toMatchObject({ x: 10, y: 10 });
  expect(box?.type === 'box' && box.width / 20).toBeCloseTo(factor, 2);
  expect(text?.type === 'text' && text.size / 5).toBeCloseTo(factor, 2);
  expect(line?.type === 'line' && (line.x2 - line.x) / 20).toBeCloseTo(factor, 2);
  const dots = code?.type === 'barcode' ? ((code.module ?? 0) * 203) / 25.4 : 0;
  expect(dots).toBeCloseTo(Math.round(dots), 1);
  expect(dots).toBeGreaterThan(4);
  const back = placed(scaled(all, frames, 'se', { dx: 0, dy: 0 }, 203)).map(({ element }) => element);
  expect(back).toEqual(LABEL.elements);
});
