/** The operator's page is one screen, and explains what a job may say. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PRINTER_REASONS } from '../../src/contract/printer.ts';

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'operator.md'), 'utf8');

test('one screen', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(60);
});

test('the reasons that it explains are those that a job may say', () => {
  const [, table = ''] = page.split('| You see |');
  const [symptoms = ''] = table.split('\n## ');
  const cells = symptoms.split('\n').flatMap((line) => line.split('|')[1] ?? []);
  const words = cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z]+-[a-z]+)`/g)].map(([, word = '']) => word),
  );
  expect(words.length).toBeGreaterThan(5);
  for (const word of words.filter((one) => one !== 'quota-exceeded')) expect(PRINTER_REASONS).toContain(word);
});
