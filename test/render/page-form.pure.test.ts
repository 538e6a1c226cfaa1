/** Pages of others as forms: where they lie, and that what several draw with is written once. */
import { expect, test } from 'vitest';
import { afterwards, inverse, type Matrix, type PageForm, PlacedForms } from '../../src/render/page-form.ts';

const at = ([a, b, c, d, e, f]: Matrix, [x, y]: readonly [number, number]) => [
  a * x + c * y + e,
  b * x + d * y + f,
];

test('a matrix afterwards, and back', () => {
  const scaled: Matrix = [2, 0, 0, 3, 5, 7];
  const turned: Matrix = [0, 1, -1, 0, 100, 0];
  const both = afterwards(scaled, turned);
  expect(at(both, [1, 1])).toEqual([90, 7]);
  const back = inverse(both);
  expect(back && at(back, [90, 7])).toEqual([1, 1]);
  expect(inverse([1, 1, 1, 1, 0, 0])).toBeUndefined();
});

test('objects of one file are written once, under numbers of their own in each file', () => {
  const written: string[] = [];
  let last = 10;
  const forms = new PlacedForms({
    reserve: () => ++last,
    add: (number, text) => {
      written[number] = text;
    },
  });
  const font = ['font of ', { to: 'widths' }];
  const form = (file: string): PageForm => ({
    file,
    objects: new Map([
      ['font', font],
      ['widths', ['widths for ', { to: 'font' }]],
    ]),
    form: ['form with ', { to: 'font' }, ' and ', { to: 'nothing' }],
    matrix: [1, 0, 0, 1, 0, 0],
  });
  expect([forms.place(form('a')), forms.place(form('a')), forms.place(form('b'))]).toEqual([13, 14, 17]);
  expect(written.slice(11)).toEqual([
    ...['font of 12 0 R', 'widths for 11 0 R', 'form with 11 0 R and 0 0 R', 'form with 11 0 R and 0 0 R'],
    ...['font of 16 0 R', 'widths for 15 0 R', 'form with 15 0 R and 0 0 R'],
  ]);
});
