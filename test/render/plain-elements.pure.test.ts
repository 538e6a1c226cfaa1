/** GS1 data without brackets, as printers take them, by the lengths that GS1 has set. */
import { expect, test } from 'vitest';
import { plainElements } from '../../src/values/gs1-elements.ts';

test.each([
  ['0104012345678901', [['01', '04012345678901']]],
  [
    '010401234567890110AB12#21X',
    [
      ['01', '04012345678901'],
      ['10', 'AB12'],
      ['21', 'X'],
    ],
  ],
  [
    '0104012345678901#10A',
    [
      ['01', '04012345678901'],
      ['10', 'A'],
    ],
  ],
  [
    '3103001750392212345',
    [
      ['3103', '001750'],
      ['3922', '12345'],
    ],
  ],
  [
    '41440123456789018008240101',
    [
      ['414', '4012345678901'],
      ['8008', '240101'],
    ],
  ],
  ['17260131', [['17', '260131']]],
  ['91(a)', [['91', '(a)']]],
])('%s', (text, elements) => {
  expect(plainElements(text, '#')).toEqual(elements);
});

test.each([
  [''],
  ['#'],
  ['10'],
  ['10#'],
  ['01123'],
  ['05123'],
  ['3103#01750'],
  ['AB'],
  ['310A001750'],
  ['10A##'],
])('%s is none', (text) => {
  expect(plainElements(text, '#')).toBeUndefined();
});
