import { expect, test } from 'vitest';
import { jobFault } from '../../src/contract/fault.ts';

const fault = { code: 'value-invalid', message: 'the value is too long' };

test.each([
  ['a value that is too long', { code: 'x', values: { value: 'a'.repeat(1_001) } }],
  ['too many values', { code: 'x', values: Object.fromEntries([...Array(21).keys()].map((n) => [n, n])) }],
  ['a code that is none', { code: 7, values: {} }],
  ['no object', 'because'],
])('a reason with %s is left out, and the fault counts', (_, reason) => {
  expect(jobFault.parse({ ...fault, reason })).toEqual({ ...fault, reason: undefined });
});

test('one that can be read is kept', () => {
  const reason = { code: 'of-a-later-version', values: { least: 3, what: 'dots' } };
  expect(jobFault.parse({ ...fault, reason })).toEqual({ ...fault, reason });
});

test('with the reasons that it ends with, of which one that cannot be read is left out', () => {
  const last = { code: 'filter-number', values: { text: 'x' } };
  const why = { code: 'filter-refused', values: { name: 'plus', why: 'x' }, why: last };
  const inside = { code: 'not-a-placeholder', values: { found: '{{', why: 'x' }, why };
  const reason = { code: 'format-no-template', values: { format: '"f"', why: 'x' }, why: inside };
  expect(jobFault.parse({ ...fault, reason })).toEqual({ ...fault, reason });
  const odd = { ...reason, why: { ...inside, code: 7 } };
  expect(jobFault.parse({ ...fault, reason: odd })).toEqual({
    ...fault,
    reason: { ...reason, why: undefined },
  });
});
