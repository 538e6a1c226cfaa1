/** What people do to the label with keys, clipboard, gestures and fields, and how much of it one undo takes back. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LabelDocument } from '../../web/designer/document.ts';
import { Editor } from '../../web/designer/editor.ts';
import { Gestures } from '../../web/designer/gestures.ts';
import { paste, pressOnLabel } from '../../web/designer/keys.ts';
import { chosenLanguage, numeral } from '../../web/texts/texts.ts';

const LABEL: LabelDocument = {
  name: 'At hand',
  width: 50,
  height: 25,
  elements: [
    { type: 'text', x: 5, y: 5, width: 20, height: 5, text: 'Ulm', size: 4 },
    { type: 'line', x: 5, y: 15, x2: 25, y2: 15 },
  ],
};
/** With Shift an arrow moves by a millimetre. */
const KEY = { shiftKey: true, altKey: false, ctrlKey: false, metaKey: false };

// There is no service that draws in this test.
vi.mock('../../web/templates/preview.ts', () => ({ draw: () => new Promise(() => undefined) }));

function opened(): { editor: Editor; text: number; line: number } {
  const editor = new Editor(LABEL);
  onTestFinished(() => editor.end());
  const [text = -1, line = -1] = editor.scene.value.layers.map(({ key }) => key);
  return { editor, text, line };
}
const at = (editor: Editor, index: number) => editor.scene.value.document.elements[index];

test('a pasted line lies beside the other, as long and as level', () => {
  const { editor } = opened();
  editor.do((scene) => paste(scene, LABEL.elements.slice(1)));
  expect(at(editor, 2)).toEqual({ type: 'line', x: 7, y: 17, x2: 27, y2: 17 });
});

test('choices in a row are undone one by one, what is typed in a row as one', () => {
  const { editor, text } = opened();
  editor.set([text], { bold: true });
  editor.set([text], { align: 'center' });
  for (const typed of ['Ulm,', 'Ulm, Ba', 'Ulm, Bad']) editor.set([text], { text: typed }, 'text');
  editor.undo();
  expect(at(editor, 0)).toMatchObject({ text: 'Ulm', bold: true, align: 'center' });
  editor.undo();
  expect(at(editor, 0)).toMatchObject({ bold: true });
  expect(at(editor, 0)).not.toHaveProperty('align');
});

test('a lasso that the system breaks off catches nothing, then or at the next tap', () => {
  const { editor } = opened();
  const gestures = new Gestures(editor);
  const draw = () => {
    gestures.press({ x: 0, y: 0 }, undefined, false);
    gestures.drag({ x: 50, y: 25 }, false);
  };
  draw();
  gestures.cancel();
  expect(gestures.lasso.value).toBeUndefined();
  gestures.press({ x: 40, y: 20 }, undefined, false);
  gestures.release();
  expect(editor.chosen.value).toEqual([]);
  draw();
  gestures.release();
  expect(editor.chosen.value).toHaveLength(2);
});

test('letters are the same keys with Caps Lock', () => {
  const { editor, text } = opened();
  const press = (key: string, more: object = {}) =>
    pressOnLabel({ ...KEY, shiftKey: false, key, ...more }, editor, () => undefined);
  editor.select([text]);
  expect(press('R')).toBe(true);
  expect(at(editor, 0)).toMatchObject({ rotation: 90 });
  expect(press('D', { ctrlKey: true })).toBe(true);
  expect(editor.chosen.value).toHaveLength(1);
  expect(press('A', { ctrlKey: true })).toBe(true);
  expect(editor.chosen.value).toHaveLength(3);
  // These shortcuts are the browser's own.
  expect(press('a', { ctrlKey: true, shiftKey: true })).toBe(false);
  expect(press('d', { ctrlKey: true, shiftKey: true })).toBe(false);
});

test.each([
  ['portrait', 'ArrowRight', { x: 6, y: 5 }, { width: 21, height: 5 }, { x2: 26, y2: 15 }],
  ['portrait', 'ArrowDown', { x: 5, y: 6 }, { width: 20, height: 6 }, { x2: 25, y2: 16 }],
  // The label is shown turned by 90° clockwise, with its top edge on the right.
  ['landscape', 'ArrowRight', { x: 5, y: 4 }, { width: 20, height: 6 }, { x2: 25, y2: 14 }],
  ['landscape', 'ArrowDown', { x: 6, y: 5 }, { width: 21, height: 5 }, { x2: 26, y2: 15 }],
] as const)('in %s, %s moves and grows as it is seen', (orientation, key, place, sides, end) => {
  const { editor, text, line } = opened();
  editor.orientation.value = orientation;
  const press = (alt: boolean) => pressOnLabel({ ...KEY, key, altKey: alt }, editor, () => undefined);
  editor.select([text]);
  press(false);
  expect(at(editor, 0)).toMatchObject(place);
  press(true);
  expect(at(editor, 0)).toMatchObject(sides);
  editor.select([line]);
  press(true);
  expect(at(editor, 1)).toMatchObject(end);
});

test.each([
  ['en', '12.5', '0.125', '1200'],
  ['de', '12,5', '0,125', '1200'],
])('a field of a page in "%s" shows numbers as they are written there', (language, ...shown) => {
  chosenLanguage.value = language;
  onTestFinished(() => {
    chosenLanguage.value = '';
  });
  expect([12.5, 0.125, 1_200].map(numeral)).toEqual(shown);
});
