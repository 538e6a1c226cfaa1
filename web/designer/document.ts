/**
 * The scene of the designer: the template's JSON as it is saved, and what only the designer knows of its
 * elements. Every operation returns a new scene, which shares all unchanged parts with the old one: what nobody
 * has touched is saved as it was, byte for byte.
 */
import type { z } from 'zod';
import { LIMITS } from '../../src/contract/limits.ts';
import { designedTemplate, templateElement } from '../../src/contract/template.ts';

/** The template as its author wrote it: members that are left out have their defaults. */
export type LabelDocument = z.input<typeof designedTemplate>;
export type LabelElement = z.input<typeof templateElement>;
export type ElementType = LabelElement['type'];

/** What only the designer knows of an element. None of it is saved. */
type Layer = {
  /** Identifies the element, even after its place among the others has changed. */
  readonly key: number;
  readonly locked: boolean;
  readonly hidden: boolean;
};

export type Scene = {
  readonly document: LabelDocument;
  /** One for each element, in the order of the elements. */
  readonly layers: readonly Layer[];
  /** Keys of the selected elements. */
  readonly selected: readonly number[];
};

/** One element with its layer. */
export type Placed = Layer & { readonly at: number; readonly element: LabelElement };

export function isElement(value: unknown): value is LabelElement {
  return templateElement.safeParse(value).success;
}

export function isLabel(value: unknown): value is LabelDocument {
  return designedTemplate.safeParse(value).success;
}

let lastKey = 0;
function layer(): Layer {
  lastKey += 1;
  return { key: lastKey, locked: false, hidden: false };
}

export function sceneOf(document: LabelDocument): Scene {
  return { document, layers: document.elements.map(layer), selected: [] };
}

export function placed({ document, layers }: Scene): Placed[] {
  return document.elements.flatMap((element, at) => {
    const own = layers[at];
    return own === undefined ? [] : [{ ...own, at, element }];
  });
}

export function selection(scene: Scene): Placed[] {
  return placed(scene).filter(({ key }) => scene.selected.includes(key));
}

/**
 * Selects elements, each with all of its group. Locked and hidden elements are left out.
 * @param alone without the rest of their groups
 */
export function select(scene: Scene, keys: readonly number[], alone = false): Scene {
  const all = placed(scene);
  const takes = new Set(all.flatMap(({ key, locked, hidden }) => (locked || hidden ? [] : [key])));
  const wanted = alone ? keys : keys.flatMap((key) => [key, ...groupOf(all, key)]);
  return { ...scene, selected: [...new Set(wanted)].filter((key) => takes.has(key)) };
}

function groupOf(all: readonly Placed[], key: number): number[] {
  const group = all.find((own) => own.key === key)?.element.group;
  if (group === undefined) return [];
  return all.filter(({ element }) => element.group === group).map((own) => own.key);
}

/** The first of `1`, `2`, … that no group has as its name. */
export function freeGroup(taken: ReadonlySet<string | undefined>): string {
  let number = 1;
  while (taken.has(String(number))) number += 1;
  return String(number);
}

/** Prepares elements that are added: their groups get names that are new on the label, and a group of only one is dropped. */
function regrouped(scene: Scene, elements: readonly LabelElement[]): LabelElement[] {
  const taken = new Set(scene.document.elements.map(({ group }) => group));
  const names = new Map<string, string>();
  return elements.map((element) => {
    const { group } = element;
    if (group === undefined) return element;
    if (elements.filter((other) => other.group === group).length === 1) {
      return changed(element, { group: undefined });
    }
    const name = names.get(group) ?? (taken.has(group) ? freeGroup(taken) : group);
    names.set(group, name);
    taken.add(name);
    return changed(element, { group: name });
  });
}

/** Rounds to 0.001 mm: finer than a dot of any printer, and short in the file. */
export function rounded(mm: number): number {
  return Math.round(mm * 1000) / 1000 + 0;
}

export function within(mm: number, least = -LIMITS.labelSide, most = LIMITS.labelSide): number {
  return Math.min(most, Math.max(least, rounded(mm)));
}

/** Changes each of these elements with `how`. Locked elements stay as they are. */
export function change(
  scene: Scene,
  keys: readonly number[],
  how: (element: LabelElement, own: Placed) => LabelElement,
): Scene {
  let changed = false;
  const elements = placed(scene).map((own) => {
    if (own.locked || !keys.includes(own.key)) return own.element;
    const next = how(own.element, own);
    changed ||= next !== own.element;
    return next;
  });
  return changed ? { ...scene, document: { ...scene.document, elements } } : scene;
}

/** Sets members of an element; `undefined` removes a member. If the schema refuses the result, nothing is changed. */
export function changed(element: LabelElement, members: Readonly<Record<string, unknown>>): LabelElement {
  const next = withMembers(element, members);
  return isElement(next) ? next : element;
}

/** Sets members of the label itself, as `changed` does of an element. */
export function changeLabel(scene: Scene, members: Readonly<Record<string, unknown>>): Scene {
  const next = withMembers(scene.document, members);
  return isLabel(next) ? { ...scene, document: next } : scene;
}

function withMembers(thing: object, members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries({ ...thing, ...members }).filter(([, value]) => value !== undefined),
  );
}

/** Adds elements on top of all others and selects them, but no more than a template may have. */
export function add(scene: Scene, elements: readonly LabelElement[]): Scene {
  const room = LIMITS.elements - scene.document.elements.length;
  const added = regrouped(scene, elements.slice(0, Math.max(0, room)).filter(isElement));
  if (added.length === 0) return scene;
  const layers = added.map(layer);
  return {
    document: { ...scene.document, elements: [...scene.document.elements, ...added] },
    layers: [...scene.layers, ...layers],
    selected: layers.map(({ key }) => key),
  };
}

export function remove(scene: Scene, keys: readonly number[]): Scene {
  const rest = placed(scene).filter(({ key, locked }) => locked || !keys.includes(key));
  return rest.length === scene.layers.length ? scene : arranged(scene, rest);
}

/** Copies elements, and moves the copies by `by` (mm). The copies are then selected in place of the originals. */
export function duplicate(scene: Scene, keys: readonly number[], by: { x: number; y: number }): Scene {
  const copies = placed(scene).filter(({ key }) => keys.includes(key));
  return add(
    scene,
    copies.map(({ element }) => moved(element, by.x, by.y)),
  );
}

type Direction = 'forward' | 'backward' | 'front' | 'back';

/** Moves elements in the drawing order, in which a later element lies above an earlier one. */
export function reorder(scene: Scene, keys: readonly number[], to: Direction): Scene {
  const order = placed(scene);
  const chosen = (own: Placed) => keys.includes(own.key);
  if (to === 'front' || to === 'back') {
    const [taken, others] = [order.filter(chosen), order.filter((own) => !chosen(own))];
    return arranged(scene, to === 'front' ? [...others, ...taken] : [...taken, ...others]);
  }
  const step = to === 'forward' ? -1 : 1;
  const start = to === 'forward' ? order.length - 2 : 1;
  for (let at = start; at >= 0 && at < order.length; at += step) {
    const [own, next] = [order[at], order[at - step]];
    if (own === undefined || next === undefined || !chosen(own) || chosen(next)) continue;
    order[at] = next;
    order[at - step] = own;
  }
  return arranged(scene, order);
}

/** Moves one element to a place in the drawing order, counted from 0. */
export function moveLayer(scene: Scene, key: number, to: number): Scene {
  const order = placed(scene);
  const own = order.find((one) => one.key === key);
  if (own === undefined) return scene;
  const others = order.filter((one) => one.key !== key);
  return arranged(scene, [...others.slice(0, to), own, ...others.slice(to)]);
}

function arranged(scene: Scene, order: readonly Placed[]): Scene {
  const keys = new Set(order.map(({ key }) => key));
  if (order.length === scene.layers.length && order.every(({ at }, place) => at === place)) return scene;
  return {
    document: { ...scene.document, elements: order.map(({ element }) => element) },
    layers: order.map(({ key, locked, hidden }) => ({ key, locked, hidden })),
    selected: scene.selected.filter((key) => keys.has(key)),
  };
}

/** Locks or hides an element, or undoes that. A locked one cannot be changed, a hidden one is not drawn; neither stays selected. */
export function mark(scene: Scene, key: number, marks: { locked?: boolean; hidden?: boolean }): Scene {
  const layers = scene.layers.map((own) => (own.key === key ? { ...own, ...marks } : own));
  return select({ ...scene, layers }, scene.selected, true);
}

/** Moves an element by `dx` and `dy`, mm. */
export function moved(element: LabelElement, dx: number, dy: number): LabelElement {
  const to = (from: number, by: number) => (by === 0 ? from : within(from + by));
  const [x, y] = [to(element.x, dx), to(element.y, dy)];
  if (x === element.x && y === element.y) return element;
  if (element.type !== 'line') return { ...element, x, y };
  return { ...element, x, y, x2: to(element.x2, dx), y2: to(element.y2, dy) };
}

export function move(scene: Scene, keys: readonly number[], dx: number, dy: number): Scene {
  return change(scene, keys, (element) => moved(element, dx, dy));
}

/** The content of a text or a barcode, and the name of the property that holds it. */
export function contentOf(element: LabelElement): { name: 'text' | 'value'; text: string } | undefined {
  if (element.type === 'text') return { name: 'text', text: element.text };
  return element.type === 'barcode' ? { name: 'value', text: element.value } : undefined;
}
