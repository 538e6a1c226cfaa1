/** The button beside a problem mends it: afterwards the check that found the problem does not find it any more. */
import { expect, test } from 'vitest';
import { designedTemplate } from '../../src/contract/template.ts';
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { type LabelDocument, placed, type Scene, sceneOf } from '../../web/designer/document.ts';
import { fixOf } from '../../web/designer/fixes.ts';
import { frameOf } from '../../web/designer/frame.ts';

const DPI = 203;
const label = (members: object): LabelDocument =>
  designedTemplate.parse({ name: 'Wrong', width: 50, height: 25, elements: [], ...members });
const text = { type: 'text', x: 2, y: 2, text: 'Ulm', size: 4 };
const ean13 = { type: 'barcode', symbology: 'ean13', value: '400638133393', x: 0, y: 2, height: 8 };
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

async function found(document: LabelDocument, code: TemplateProblem['code']) {
  const problems = await templateProblems(designedTemplate.parse(document), { dpi: DPI });
  return problems.find((problem) => problem.code === code);
}

test.each([
  ['field-undeclared', 'declare', { elements: [{ ...text, text: '{{city}}' }] }],
  ['field-unused', 'removeUnused', { fields: [{ name: 'city' }], elements: [text] }],
  ['image-unused', 'removeUnused', { images: [{ name: 'dot', data: DOT }], elements: [text] }],
  ['does-not-fit', 'narrower', { elements: [{ ...ean13, width: 30, module: 0.33 }] }],
  ['does-not-fit', 'ownWidth', { elements: [{ ...ean13, width: 10, module: 0.125 }] }],
  [
    'does-not-fit',
    'wrap',
    {
      elements: [
        { ...text, text: 'a long text goes on and on and on and on', size: 2, width: 14, height: 3 },
      ],
    },
  ],
  [
    'module-rounded',
    'wholeDots',
    { elements: [{ type: 'barcode', symbology: 'qr', value: 'x', x: 2, y: 2, module: 0.18 }] },
  ],
  ['does-not-fit', 'ontoLabel', { elements: [{ ...text, y: -0.7, width: 20 }] }],
  ['off-label', 'ontoLabel', { elements: [{ type: 'box', x: 45, y: 20, width: 10, height: 10 }] }],
] as const)('%s: %s', async (code, word, members) => {
  const before = sceneOf(label(members));
  const problem = await found(before.document, code);
  if (problem === undefined) throw new Error('there is nothing to mend');
  const [own] = placed(before);
  const key = problem.pointer.startsWith('/elements/') ? own?.key : undefined;
  const fix = fixOf({ ...problem, key }, before, own && frameOf(own.element), DPI, before);
  expect(fix?.word).toBe(word);
  const after = fix?.mend(before) ?? before;
  expect(designedTemplate.safeParse(after.document).error).toBeUndefined();
  expect(await found(after.document, code)).toBeUndefined();
});

test('what one thing alone does not mend has no button', async () => {
  const scene = sceneOf(label({ elements: [{ type: 'box', x: 1, y: 1, width: 90, height: 5 }] }));
  const problem = await found(scene.document, 'off-label');
  const [own] = placed(scene);
  if (problem === undefined || own === undefined) throw new Error('there is nothing wrong');
  expect(fixOf({ ...problem, key: own.key }, scene, frameOf(own.element), DPI, scene)).toBeUndefined();
});

test('a double click mends once: the second finds what is named, not what is now in its place', async () => {
  const before = sceneOf(label({ fields: [{ name: 'a' }, { name: 'b' }], elements: [text] }));
  const unused = await found(before.document, 'field-unused');
  if (unused === undefined) throw new Error('there is nothing to mend');
  const once = (scene: Scene) =>
    fixOf({ ...unused, key: undefined }, scene, undefined, DPI, before)?.mend(scene) ?? scene;
  const after = once(before);
  expect(after.document.fields).toEqual([{ name: 'b' }]);
  expect(once(after)).toBe(after);

  const wanting = sceneOf(label({ elements: [{ ...text, text: '{{city}}' }] }));
  const undeclared = await found(wanting.document, 'field-undeclared');
  if (undeclared === undefined) throw new Error('there is nothing to mend');
  const fix = fixOf({ ...undeclared, key: undefined }, wanting, undefined, DPI, wanting);
  const declared = fix?.mend(wanting) ?? wanting;
  expect(fix?.mend(declared)).toBe(declared);
});

test.each([
  ['does-not-fit', { elements: [{ ...ean13, width: 38, module: 0.5 }] }],
  ['off-label', { elements: [{ type: 'box', x: 45, y: 20, width: 10, height: 10 }] }],
] as const)('a double click mends an element once: %s', async (code, members) => {
  const before = sceneOf(label(members));
  const problem = await found(before.document, code);
  const [own] = placed(before);
  if (problem === undefined || own === undefined) throw new Error('there is nothing to mend');
  const fixIn = (scene: Scene) =>
    fixOf(
      { ...problem, key: own.key },
      scene,
      frameOf(placed(scene)[0]?.element ?? own.element),
      DPI,
      before,
    );
  const fix = fixIn(before);
  const after = fix?.mend(before) ?? before;
  expect(after).not.toBe(before);
  expect(fix?.mend(after)).toBe(after);
  // No fix is offered for what has changed since the check, until the label is checked again.
  expect(fixIn(after)).toBeUndefined();
  expect(fixIn(before)).toBeDefined();
});
