/** The languages' descriptors agree with each other: each name means one language. */
import { expect, test } from 'vitest';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import { languageId } from '../../src/contract/format.ts';

const languages = languageId.options.map((id) => LANGUAGES[id]);

test('each stands in the table under its own ID', () => {
  expect(languages.map(({ id }) => id)).toEqual(languageId.options);
});

test.each([
  ['endings', languages.map(({ ending }) => ending), /^\.[a-z]+$/],
  ['media types', languages.flatMap(({ mediaTypes }) => mediaTypes), /^[a-z]+\/[a-z0-9.-]+$/],
  ['names in device IDs', languages.flatMap(({ commandSets }) => commandSets), /^[^a-z]+$/],
])('%s are written as they are compared, and no two languages share one', (_, names, written) => {
  for (const name of names) expect(name).toMatch(written);
  expect(new Set(names).size).toBe(names.length);
});
