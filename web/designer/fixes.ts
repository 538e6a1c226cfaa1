/** The fix of a problem, where exactly one change mends it: a button beside the problem. */
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { change, changed, changeLabel, move, placed, type Scene, within } from './document.ts';
import { type Box, MODULE, scaledModule } from './frame.ts';

/** A problem, with the key of the element that it is about. */
type Found = TemplateProblem & { readonly key: number | undefined };

/** `word` is the label of the button, a key of `designer.fixes`; `about` names what the fix changes. */
export type Fix = {
  readonly word: 'declare' | 'removeUnused' | 'narrower' | 'ownWidth' | 'wrap' | 'wholeDots' | 'ontoLabel';
  readonly about?: string;
  readonly mend: (scene: Scene) => Scene;
};

/**
 * @param frame of the problem's element, mm
 * @param dpi resolution that the label is shown with
 */
export function fixOf(problem: Found, scene: Scene, frame: Box | undefined, dpi: number): Fix | undefined {
  switch (problem.code) {
    case 'field-undeclared':
      return declared(problem);
    case 'field-unused':
      return removed(problem, scene, 'fields');
    case 'image-unused':
      return removed(problem, scene, 'images');
    case 'font-unused':
      return removed(problem, scene, 'fonts');
    default:
      return frame === undefined ? undefined : ofElement(problem, scene, frame, dpi);
  }
}

function declared({ reason }: Found): Fix | undefined {
  const name = reason?.values['field'];
  if (typeof name !== 'string') return undefined;
  const mend = (scene: Scene) => changeLabel(scene, { fields: [...(scene.document.fields ?? []), { name }] });
  return { word: 'declare', about: name, mend };
}

function removed({ pointer }: Found, scene: Scene, list: 'fields' | 'images' | 'fonts'): Fix | undefined {
  const [, place] = /^\/\w+\/(\d+)$/.exec(pointer) ?? [];
  const name = scene.document[list]?.[Number(place)]?.name;
  if (place === undefined || name === undefined) return undefined;
  const mend = (now: Scene) => {
    const rest = (now.document[list] ?? []).filter((_, at) => at !== Number(place));
    return changeLabel(now, { [list]: rest.length === 0 && list !== 'fields' ? undefined : rest });
  };
  return { word: 'removeUnused', about: name, mend };
}

function ofElement({ key, code }: Found, scene: Scene, frame: Box, dpi: number): Fix | undefined {
  const element = placed(scene).find((own) => own.key === key)?.element;
  if (element === undefined || key === undefined) return undefined;
  const set = (members: Readonly<Record<string, unknown>>) => (now: Scene) =>
    change(now, [key], (one) => changed(one, members));
  if (element.type === 'barcode' && code === 'module-rounded') {
    const module = (Math.max(1, Math.round(((element.module ?? MODULE) * dpi) / 25.4)) * 25.4) / dpi;
    return { word: 'wholeDots', about: within(module).toString(), mend: set({ module: within(module) }) };
  }
  if (element.type === 'barcode' && code === 'does-not-fit') {
    const { moduleDots, module = MODULE } = element;
    const dots = moduleDots ?? Math.round((module * dpi) / 25.4);
    if (dots > 1) return { word: 'narrower', mend: set(scaledModule(element, (dots - 1) / dots, dpi)) };
    return element.width === undefined ? undefined : { word: 'ownWidth', mend: set({ width: undefined }) };
  }
  if (element.type === 'text' && code === 'does-not-fit') {
    const wraps = element.overflow === 'wrap' || element.width === undefined;
    return wraps ? undefined : { word: 'wrap', mend: set({ overflow: 'wrap', height: undefined }) };
  }
  if (code !== 'off-label') return undefined;
  const { width, height } = scene.document;
  if (frame.width > width || frame.height > height) return undefined;
  const into = (from: number, side: number, room: number) => Math.max(0, Math.min(from, room - side)) - from;
  const by = { x: into(frame.x, frame.width, width), y: into(frame.y, frame.height, height) };
  if (by.x === 0 && by.y === 0) return undefined;
  return { word: 'ontoLabel', mend: (now) => move(now, [key], by.x, by.y) };
}
