/** The regular expressions of the product whose proof takes seconds: see `regular-expressions.pure.test.ts`. */
import { expect, test } from 'vitest';
import { unproven } from './regular-expressions.ts';

test('none is quadratic or worse', async () => {
  const { wrong, checked } = await unproven('slow');
  expect(checked).toBeGreaterThan(0);
  expect(wrong).toEqual({});
});
