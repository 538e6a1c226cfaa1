/** The designer's document: an edit leaves a valid template, and undoing it restores it byte for byte. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dots } from '../../src/contract/dots.ts';
import { designedTemplate, SYMBOLOGIES } from '../../src/contract/template.ts';
import { encodeSymbol, symbologyRules } from '../../src/render/symbol/symbol.ts';
import { ALIGNMENTS, align, distribute } from '../../web/designer/align.ts';
import {
  add,
  change,
  changed,
  changeLabel,
  duplicate,
  isLabel,
  type LabelDocument,
  mark,
  move,
  moveLayer,
  placed,
  remove,
  reorder,
  type Scene,
  sceneOf,
  select,
  selection,
} from '../../web/designer/document.ts';
import { frameOf, handlesOf, resized, turned } from '../../web/designer/frame.ts';
import { begin, redo, step, undo } from '../../web/designer/history.ts';
import { newElement, newPicture, withSymbology } from '../../web/designer/new-elements.ts';
import { drawnTo, linesOf, rasterOf, snapped } from '../../web/designer/snapping.ts';
import { SYMBOLOGY_FACTS } from '../../web/designer/symbologies.ts';

function sample(name: string): LabelDocument {
  const text = readFileSync(new URL(`../../templates/${name}.json`, import.meta.url), 'utf8');
  const found: unknown = JSON.parse(text);
  if (!isLabel(found)) throw new Error(`${name} is no designed template`);
  return found;
}
const SAMPLES = ['shelf-50x25', 'ghs-chemical-100x70', 'cable-wrap-25x57', 'address-sheet-a4-3x8'].map(
  sample,
);

const mm = fc.double({ min: -5_000, max: 5_000, noNaN: true });
const which = fc.array(fc.nat(20), { maxLength: 4 });
type Deed = (scene: Scene) => Scene;

/** Everything that a person can do, with any numbers that a mouse may give. */
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.tuple(which, mm, mm).map(
    ([at, dx, dy]): Deed =>
      (scene) =>
        move(scene, keysAt(scene, at), dx, dy),
  ),
  fc.tuple(fc.nat(20), fc.nat(9), mm, mm, fc.constantFrom(203, 300, 600)).map(
    ([at, handle, dx, dy, dpi]): Deed =>
      (scene) =>
        change(scene, keysAt(scene, [at]), (element) => {
          const handles = handlesOf(element);
          const one = handles[handle % Math.max(1, handles.length)];
          return one === undefined ? element : resized(element, frameOf(element), one, { dx, dy }, dpi);
        }),
  ),
  which.map(
    (at): Deed =>
      (scene) =>
        change(scene, keysAt(scene, at), (element) => turned(element, frameOf(element))),
  ),
  which.map(
    (at): Deed =>
      (scene) =>
        duplicate(scene, keysAt(scene, at), { x: 2, y: 2 }),
  ),
  which.map(
    (at): Deed =>
      (scene) =>
        remove(scene, keysAt(scene, at)),
  ),
  fc.tuple(which, fc.constantFrom('forward', 'backward', 'front', 'back')).map(
    ([at, to]): Deed =>
      (scene) =>
        reorder(scene, keysAt(scene, at), to),
  ),
  fc.tuple(fc.nat(20), fc.integer({ min: -3, max: 30 })).map(
    ([at, to]): Deed =>
      (scene) =>
        moveLayer(scene, keysAt(scene, [at])[0] ?? -1, to),
  ),
  fc.tuple(fc.nat(20), fc.boolean(), fc.boolean()).map(
    ([at, locked, hidden]): Deed =>
      (scene) =>
        mark(scene, keysAt(scene, [at])[0] ?? -1, { locked, hidden }),
  ),
  fc
    .tuple(
      which,
      fc.constantFrom(
        'x',
        'width',
        'size',
        'text',
        'rotation',
        'filled',
        'module',
        'when',
        'type',
        'nonsense',
      ),
      fc.oneof(mm, fc.string(), fc.boolean(), fc.constant(undefined), fc.constantFrom(90, 180)),
    )
    .map(
      ([at, name, value]): Deed =>
        (scene) =>
          change(scene, keysAt(scene, at), (element) => changed(element, { [name]: value })),
    ),
  fc
    .tuple(
      fc.constantFrom('name', 'width', 'height', 'fields', 'dpi'),
      fc.oneof(mm, fc.string(), fc.constant([{ name: 'a' }])),
    )
    .map(
      ([name, value]): Deed =>
        (scene) =>
          changeLabel(scene, { [name]: value }),
    ),
  fc.constantFrom('text', 'barcode', 'box', 'ellipse', 'line').map(
    (type): Deed =>
      (scene) =>
        add(scene, [newElement(type, scene.document, 'new')]),
  ),
  fc.constant<Deed>((scene) => add(scene, [newPicture('AAAA', scene.document, { width: 4, height: 3 })])),
  fc.tuple(fc.nat(20), fc.constantFrom(...SYMBOLOGIES)).map(
    ([at, symbology]): Deed =>
      (scene) =>
        change(scene, keysAt(scene, [at]), (element) =>
          element.type === 'barcode' ? withSymbology(element, symbology) : element,
        ),
  ),
  fc.tuple(which, fc.constantFrom(...ALIGNMENTS)).map(
    ([at, to]): Deed =>
      (scene) =>
        align(scene, framed(scene, at), to),
  ),
  fc.tuple(which, fc.constantFrom('x', 'y')).map(
    ([at, along]): Deed =>
      (scene) =>
        distribute(scene, framed(scene, at), along),
  ),
  which.map(
    (at): Deed =>
      (scene) =>
        select(scene, keysAt(scene, at)),
  ),
);

function keysAt(scene: Scene, at: readonly number[]): number[] {
  const { layers } = scene;
  return at.flatMap((one) => layers[one % Math.max(1, layers.length)]?.key ?? []);
}

function framed(scene: Scene, at: readonly number[]) {
  return selection(select(scene, keysAt(scene, at))).map((own) => ({ ...own, frame: frameOf(own.element) }));
}

test('any sequence of deeds leaves a template; undone it is the text that it was, done again what it became', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SAMPLES), fc.array(deed, { maxLength: 25 }), (document, deeds) => {
      const before = JSON.stringify(document);
      let history = begin(sceneOf(document));
      for (const work of deeds) {
        history = step(history, work(history.now));
        const { document: now, layers } = history.now;
        expect(designedTemplate.safeParse(now).error).toBeUndefined();
        expect(layers).toHaveLength(now.elements.length);
        expect(new Set(layers.map(({ key }) => key)).size).toBe(layers.length);
      }
      const after = JSON.stringify(history.now.document);
      const steps = history.past.length;
      for (let at = 0; at < steps; at += 1) history = undo(history);
      expect(JSON.stringify(history.now.document)).toBe(before);
      expect(undo(history)).toBe(history);
      for (let at = 0; at < steps; at += 1) history = redo(history);
      expect(JSON.stringify(history.now.document)).toBe(after);
    }),
    { numRuns: 300 },
  );
});

test('what is not touched is the same text: members, their order and their numbers', () => {
  for (const document of SAMPLES) {
    const scene = sceneOf(document);
    const key = scene.layers[1]?.key ?? -1;
    const next = move(scene, [key], 1, 0);
    const [before, after] = [document.elements, next.document.elements].map((list) =>
      list.map((one) => JSON.stringify(one)),
    );
    expect(after?.filter((text, at) => text !== before?.[at])).toHaveLength(1);
    expect(JSON.stringify({ ...next.document, elements: [] })).toBe(
      JSON.stringify({ ...document, elements: [] }),
    );
    const still = (element: unknown) =>
      JSON.stringify(element, (name, value: unknown) => (name === 'x' || name === 'x2' ? undefined : value));
    expect(still(next.document.elements[1])).toBe(still(document.elements[1]));
  }
});

test('typing is one step, as long as it is the same field; choosing something else ends it', () => {
  const [document] = SAMPLES;
  let history = begin(sceneOf(document ?? { name: 'x', width: 1, height: 1, elements: [] }));
  const [key = -1, other = -1] = history.now.layers.map((layer) => layer.key);
  const type = (of: number, text: string) => {
    history = step(
      history,
      change(history.now, [of], (element) => changed(element, { text })),
      `${of} text`,
    );
  };
  for (const text of ['a', 'ab', 'abc']) type(key, text);
  expect(history.past).toHaveLength(1);
  type(other, 'x');
  expect(history.past).toHaveLength(2);
  history = step(history, select(history.now, [key]));
  type(other, 'xy');
  expect(history.past).toHaveLength(3);
  history = undo(undo(history));
  expect(placed(history.now)[0]?.element).toMatchObject({ text: 'abc' });
});

test('what is locked is neither moved nor removed, and neither that nor what is hidden is chosen', () => {
  const [document = { name: 'x', width: 1, height: 1, elements: [] }] = SAMPLES;
  const scene = sceneOf(document);
  const [locked = -1, hidden = -1, free = -1] = scene.layers.map(({ key }) => key);
  const marked = mark(mark(select(scene, [locked, hidden]), locked, { locked: true }), hidden, {
    hidden: true,
  });
  expect(marked.selected).toEqual([]);
  expect(select(marked, [locked, hidden, free]).selected).toEqual([free]);
  expect(remove(move(marked, [locked], 5, 5), [locked]).document).toBe(document);
});

describe('snapping', () => {
  test('every place comes to lie on whole dots', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 200, noNaN: true }),
        fc.constantFrom(203, 300, 600),
        (place, dpi) => {
          const on = snapped(place, rasterOf('dots', dpi));
          expect(Math.abs((on * dpi) / 25.4 - dots(on, dpi))).toBeLessThan(0.02);
          expect(dots(on, dpi)).toBe(Math.round((place * dpi) / 25.4));
        },
      ),
    );
    expect(snapped(7.3, rasterOf('half', 203))).toBe(7.5);
    expect(snapped(7.3, rasterOf('none', 203))).toBe(7.3);
  });

  test('an edge that comes near another is caught by it, and says so; beyond reach it keeps to the raster', () => {
    const lines = linesOf([{ x: 10, y: 10, width: 20, height: 5 }], { width: 100, height: 50 });
    const box = { x: 40, y: 30, width: 10, height: 5 };
    const near = drawnTo({ box, dx: -30.4, dy: 0.3, lines, reach: 0.5, raster: 0.5 });
    expect([near.dx, near.dy]).toEqual([-30, 0.5]);
    expect(near.guides).toEqual(
      [
        { axis: 'x', at: 10 },
        { axis: 'x', at: 20 },
      ].slice(0, near.guides.length),
    );
    expect(near.guides[0]).toEqual({ axis: 'x', at: 10 });
  });
});

describe('symbologies', () => {
  test.each(SYMBOLOGIES)(
    '%s: its options and its kind are those of the renderer, and its example prints',
    (name) => {
      const { options, kind, example } = SYMBOLOGY_FACTS[name];
      const rules = symbologyRules(name);
      expect(options.toSorted()).toEqual([...rules.options].sort());
      const symbol = encodeSymbol(name, example, {});
      expect(kind === 'fixed').toBe(symbol.kind === 'postal' || symbol.kind === 'maxicode');
      expect(kind === 'bars').toBe(symbol.kind === 'linear' && rules.leastHeight === undefined);
    },
  );
});
