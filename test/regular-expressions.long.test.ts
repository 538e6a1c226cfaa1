/** The regular expressions of the product whose proof takes seconds: see `regular-expressions.pure.test.ts`. */
import { expect, test } from 'vitest';
import { unproven } from './regular-expressions.ts';

test('none is quadratic or worse, and each is still in the product', async () => {
  const { wrong, checked, slow } = await unproven('slow');
  expect(checked).toBe(slow);
  expect(wrong).toEqual({});
});
