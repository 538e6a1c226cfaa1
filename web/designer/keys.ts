/** The keys of the designer, and its clipboard. */
import {
  add,
  change,
  duplicate,
  isElement,
  type LabelElement,
  move,
  moved,
  placed,
  remove,
  reorder,
  type Scene,
  select,
} from './document.ts';
import { type Editor, STEP } from './editor.ts';
import { handlesOf, resized } from './frame.ts';
import { scaled } from './scaling.ts';

const ARROWS: Readonly<Record<string, { x: number; y: number }>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
/** How far a copy lies from its original, mm. */
const BESIDE = { x: 2, y: 2 };
const MOST_BESIDE = 1_000;

/** The key, with letters in lower case despite Caps Lock; the event itself says whether Shift is held. */
function keyOf({ key }: Pick<KeyboardEvent, 'key'>): string {
  return key.length === 1 ? key.toLowerCase() : key;
}

/** Keys that work wherever the focus is. @returns whether the key was one of them */
export function pressAnywhere(event: KeyboardEvent, editor: Editor, save: () => void): boolean {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
  const key = keyOf(event);
  if (key === 's') save();
  else if (key === 'z' && !event.shiftKey) editor.undo();
  else if (key === 'y' || (key === 'z' && event.shiftKey)) editor.redo();
  else return false;
  return true;
}

type Pressed = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>;

/** Keys that work with the focus on the label. @returns whether the key was one of them */
export function pressOnLabel(event: Pressed, editor: Editor, showAll: () => void): boolean {
  const { selected } = editor.scene.value;
  const key = keyOf(event);
  const arrow = ARROWS[key];
  if (arrow !== undefined && selected.length > 0) {
    const unit = event.shiftKey ? 1 : 25.4 / editor.dpi.value;
    const [across, down] = [arrow.x * unit, arrow.y * unit];
    // In landscape the label is shown turned by 90° clockwise. Arrows move elements as people see the label.
    const landscape = editor.orientation.value === 'landscape';
    const by = landscape ? { dx: down, dy: -across } : { dx: across, dy: down };
    const sides = landscape ? { dx: down, dy: across } : by;
    if (event.altKey) grow(editor, by, sides);
    else editor.do((scene) => move(scene, selected, by.dx, by.dy), `nudge ${selected.join()}`);
    return true;
  }
  if (event.ctrlKey || event.metaKey) {
    if (key === 'a' && !event.shiftKey) {
      editor.do((scene) =>
        select(
          scene,
          placed(scene).map(({ key }) => key),
        ),
      );
      return true;
    }
    if (key === 'g') {
      if (event.shiftKey) editor.ungroup();
      else editor.group();
      return true;
    }
    if (key !== 'd' || event.shiftKey) return false;
    editor.do((scene) => duplicate(scene, selected, BESIDE));
    editor.focusChosen();
    return true;
  }
  if (event.altKey) return false;
  switch (key) {
    case 'Delete':
    case 'Backspace':
      editor.do((scene) => remove(scene, selected));
      return true;
    case 'Enter':
      return editor.typeOnLabel();
    case 'Escape':
      editor.select([]);
      return true;
    case '+':
    case '=':
      editor.magnify(STEP);
      return true;
    case '-':
      editor.magnify(1 / STEP);
      return true;
    case '0':
      showAll();
      return true;
    case 'r':
      editor.turn();
      return true;
    case ']':
      editor.do((scene) => reorder(scene, selected, 'forward'));
      return true;
    case '[':
      editor.do((scene) => reorder(scene, selected, 'backward'));
      return true;
    default:
      return false;
  }
}

type By = { dx: number; dy: number };

/** @param by how far the end of a line moves @param sides what is added to the width and height of anything else */
function grow(editor: Editor, by: By, sides: By): void {
  const { selected } = editor.scene.value;
  if (selected.length > 1) {
    const { framed, dpi } = editor;
    editor.do((scene) => scaled(scene, framed, 'se', sides, dpi.value), `grow ${selected.join()}`);
    return;
  }
  editor.do(
    (scene) =>
      change(scene, selected, (element, own) => {
        const handle = handlesOf(element).find((one) => one === 'se' || one === 'end');
        if (handle === undefined) return element;
        const pull = handle === 'end' ? by : sides;
        return resized(element, editor.frame(own), handle, pull, editor.dpi.value);
      }),
    `grow ${selected.join()}`,
  );
}

/** Copies the selected elements as JSON text, which can be pasted into other labels and into a text editor. */
export function copyChosen(event: ClipboardEvent, editor: Editor): void {
  const elements = editor.selected.map(({ element }) => element);
  if (elements.length === 0 || event.clipboardData === null) return;
  event.clipboardData.setData('text/plain', JSON.stringify(elements, null, 2));
  event.preventDefault();
  if (event.type === 'cut') editor.do((scene) => remove(scene, scene.selected));
}

/** @returns whether the clipboard had an element to paste */
export function pasteInto(event: ClipboardEvent, editor: Editor): boolean {
  const elements = elementsIn(event.clipboardData?.getData('text/plain') ?? '');
  if (elements.length === 0) return false;
  event.preventDefault();
  editor.do((scene) => paste(scene, elements));
  editor.focusChosen();
  return true;
}

/** Adds elements and selects them. Where they would cover others, they are put beside those. */
export function paste(scene: Scene, elements: readonly LabelElement[]): Scene {
  const by = freeStep(scene, elements);
  return add(
    scene,
    elements.map((element) => moved(element, by * BESIDE.x, by * BESIDE.y)),
  );
}

/** By how many times `BESIDE` pasted elements are moved, so that none lies exactly on another one of its type. */
function freeStep(scene: Scene, elements: readonly LabelElement[]): number {
  const corner = (type: string, x: number, y: number) => `${type} ${x.toFixed(2)} ${y.toFixed(2)}`;
  const taken = new Set(placed(scene).map(({ element }) => corner(element.type, element.x, element.y)));
  let by = 0;
  while (
    by < MOST_BESIDE &&
    elements.some(({ type, x, y }) => taken.has(corner(type, x + by * BESIDE.x, y + by * BESIDE.y)))
  )
    by += 1;
  return by;
}

function elementsIn(text: string) {
  try {
    const found: unknown = JSON.parse(text);
    return (Array.isArray(found) ? found : [found]).filter(isElement);
  } catch {
    return [];
  }
}
