/**
 * Every regular expression of the product takes time in proportion to the text, whatever the text is: most of them
 * see what a stranger wrote, and one that does not today may tomorrow.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { files, gone, root, unproven } from './regular-expressions.ts';

test('none is quadratic or worse', async () => {
  const { wrong, checked } = await unproven('quick');
  expect(checked).toBeGreaterThan(200);
  expect(wrong).toEqual({});
});

test('each of those that the long run proves is still in the product', () => {
  expect(gone).toEqual([]);
});

test('those made at run time are made of our own words alone', () => {
  const makers = files.filter((file) => /\bRegExp\(/.test(readFileSync(join(root, file), 'utf8')));
  expect(makers).toEqual([
    // The name of a reply of the printer's, of a table here.
    'drivers/languages/zpl/replies.ts',
    // A reason of lpq's, of a table here.
    'drivers/send-queue.ts',
    // A count of digits.
    'src/render/symbol/symbology/linear.ts',
    'src/render/symbol/symbology/retail.ts',
  ]);
});
