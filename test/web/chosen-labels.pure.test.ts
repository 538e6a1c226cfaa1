/** Labels that are chosen by a click or by their numbers: one choice, in both forms. */
import { expect, test } from 'vitest';
import { chosenIn, countOf, has, textOf, toggled } from '../../web/jobs/chosen-labels.ts';

test.each([
  ['', [], 0],
  ['3', [2], 1],
  ['7-9, 3', [2, 6, 7, 8], 4],
  ['1-4, 3-6', [0, 1, 2, 3, 4, 5], 6],
])('%j', (text, labels, count) => {
  const chosen = chosenIn(text, 10) ?? [];
  expect(Array.from({ length: 10 }, (_, label) => label).filter((label) => has(chosen, label))).toEqual(
    labels,
  );
  expect(countOf(chosen)).toBe(count);
  expect(chosenIn(textOf(chosen), 10)).toEqual(chosen);
});

test('a click chooses a label, and another one takes it back', () => {
  let chosen = chosenIn('2-4', 10) ?? [];
  for (const [label, text] of [
    [2, '2, 4'],
    [2, '2-4'],
    [0, '1-4'],
    [3, '1-3'],
    [8, '1-3, 9'],
  ] as const) {
    chosen = toggled(chosen, label);
    expect(textOf(chosen)).toBe(text);
  }
});

test('what names no labels of the job is no choice', () => {
  for (const text of ['11', '0', '3-1', 'all']) expect(chosenIn(text, 10)).toBeUndefined();
});
