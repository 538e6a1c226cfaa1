/** Finds the fix of a problem that exactly one change mends. A button beside the problem offers it. */
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { numeral } from '../texts/texts.ts';
import {
  change,
  changed,
  changeLabel,
  type LabelDocument,
  type LabelElement,
  move,
  placed,
  type Scene,
  within,
} from './document.ts';
import { type Box, MODULE, scaledModule } from './frame.ts';

/** A problem, and the key of the element that it is about. */
type Found = TemplateProblem & { readonly key: number | undefined };

/** `word`: the button's label, a key of `designer.fixes`; `about`: names what the fix changes. */
type Fix = {
  readonly word: 'declare' | 'removeUnused' | 'narrower' | 'ownWidth' | 'wrap' | 'wholeDots' | 'ontoLabel';
  readonly about?: string;
  readonly mend: (scene: Scene) => Scene;
};

/**
 * @param frame that of the problem's element, mm
 * @param dpi the resolution with which the label is shown
 * @param checked the label in which the problem was found, which may be older than the scene
 */
export function fixOf(
  problem: Found,
  scene: Scene,
  frame: Box | undefined,
  dpi: number,
  checked: Scene,
): Fix | undefined {
  switch (problem.code) {
    case 'field-undeclared':
      return declared(problem);
    case 'field-unused':
      return removed(problem, checked.document, 'fields');
    case 'image-unused':
      return removed(problem, checked.document, 'images');
    case 'font-unused':
      return removed(problem, checked.document, 'fonts');
    default:
      return frame === undefined || elementOf(scene, problem.key) !== elementOf(checked, problem.key)
        ? undefined
        : ofElement(problem, scene, frame, dpi);
  }
}

function declared({ reason }: Found): Fix | undefined {
  const name = reason?.values['field'];
  if (typeof name !== 'string') return undefined;
  const mend = (scene: Scene) => {
    const { fields = [] } = scene.document;
    const there = fields.some((field) => field.name === name);
    return there ? scene : changeLabel(scene, { fields: [...fields, { name }] });
  };
  return { word: 'declare', about: name, mend };
}

/** Removes the thing itself, and not what is at its place: once one before it is gone, another thing has that place. */
function removed(
  { pointer }: Found,
  checked: LabelDocument,
  list: 'fields' | 'images' | 'fonts',
): Fix | undefined {
  const [, place] = /^\/\w+\/(\d+)$/.exec(pointer) ?? [];
  const own = place === undefined ? undefined : checked[list]?.[Number(place)];
  if (own === undefined) return undefined;
  const mend = (now: Scene) => {
    const all = now.document[list] ?? [];
    const rest = all.filter((one) => one !== own);
    if (rest.length === all.length) return now;
    return changeLabel(now, { [list]: rest.length === 0 && list !== 'fields' ? undefined : rest });
  };
  return { word: 'removeUnused', about: own.name, mend };
}

function elementOf(scene: Scene, key: number | undefined): LabelElement | undefined {
  return placed(scene).find((own) => own.key === key)?.element;
}

/** Mends the element only while it is as it was checked: the second click of a double click changes nothing. */
function ofElement({ key, code, reason }: Found, scene: Scene, frame: Box, dpi: number): Fix | undefined {
  const element = elementOf(scene, key);
  if (element === undefined || key === undefined) return undefined;
  const once = (mend: (now: Scene) => Scene) => (now: Scene) =>
    elementOf(now, key) === element ? mend(now) : now;
  const set = (members: Readonly<Record<string, unknown>>) =>
    once((now) => change(now, [key], (one) => changed(one, members)));
  if (element.type === 'barcode' && code === 'module-rounded') {
    const module = (Math.max(1, Math.round(((element.module ?? MODULE) * dpi) / 25.4)) * 25.4) / dpi;
    return { word: 'wholeDots', about: numeral(within(module)), mend: set({ module: within(module) }) };
  }
  if (element.type === 'barcode' && code === 'does-not-fit') {
    const { moduleDots, module = MODULE } = element;
    const dots = moduleDots ?? Math.round((module * dpi) / 25.4);
    if (dots > 1) return { word: 'narrower', mend: set(scaledModule(element, (dots - 1) / dots, dpi)) };
    return element.width === undefined ? undefined : { word: 'ownWidth', mend: set({ width: undefined }) };
  }
  const overEdge = reason?.code === 'text-over-edge';
  if (element.type === 'text' && code === 'does-not-fit' && !overEdge) {
    const wraps = element.overflow === 'wrap' || element.width === undefined;
    return wraps ? undefined : { word: 'wrap', mend: set({ overflow: 'wrap', height: undefined }) };
  }
  if (code !== 'off-label' && !overEdge) return undefined;
  const { width, height } = scene.document;
  if (frame.width > width || frame.height > height) return undefined;
  const into = (from: number, side: number, room: number) => Math.max(0, Math.min(from, room - side)) - from;
  const by = { x: into(frame.x, frame.width, width), y: into(frame.y, frame.height, height) };
  if (by.x === 0 && by.y === 0) return undefined;
  return { word: 'ontoLabel', mend: once((now) => move(now, [key], by.x, by.y)) };
}
