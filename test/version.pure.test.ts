/** The version is in package.json. Where a page or another package has to repeat it, it is the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

test('the files that the first pages tell to install have this version', () => {
  const named = ['README.md', 'docs/container.md'].flatMap((page) =>
    [...read(page).matchAll(/\bplaten[a-z-]*[_:-](\d+\.\d+\.\d+)/g)].map(([, said]) => ({ page, said })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ said }) => said !== version)).toEqual([]);
});

test('the client for JavaScript has it, and the record of changes begins with it or what comes after', () => {
  expect(JSON.parse(read('clients/javascript/package.json'))).toMatchObject({ version });
  const headings = [...read('CHANGELOG.md').matchAll(/^## (\S+)/gm)].map(([, heading]) => heading);
  expect(headings.filter((heading) => heading !== 'Unreleased')[0]).toBe(version);
});
