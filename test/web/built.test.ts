/** What the set-up builds of the console is small and complete, and is built again only when a source has changed. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildConsole } from '../../service/console.ts';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'web/dist');

beforeAll(async () => void (await buildConsole(root)));

test('what is built is not built again', async () => {
  expect(await buildConsole(root)).toBe(false);
});

test('the first page is at most 45 KB, compressed, and 175 KB with all that it imports', async () => {
  const html = await readFile(join(dist, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
  expect(files.length).toBe(3);
  const all = new Set(['index.html', ...files]);
  const bytes = async () => {
    const sizes = await Promise.all([...all].map((file) => stat(join(dist, `${file}.br`))));
    return sizes.reduce((sum, { size }) => sum + size, 0);
  };
  expect(await bytes()).toBeGreaterThan(10_000);
  expect(await bytes()).toBeLessThanOrEqual(45_000);
  // A loop over a set also visits what is added to it meanwhile.
  for (const file of all) {
    if (!file.endsWith('.js')) continue;
    const source = await readFile(join(dist, file), 'utf8');
    for (const [, part = ''] of source.matchAll(/(?:from|import)"\.\/(part-\w+\.js)"/g)) all.add(part);
  }
  expect(all.size).toBeGreaterThan(5);
  expect(await bytes()).toBeLessThanOrEqual(175_000);
});

test('the page has no script or style of its own, and names no other server', async () => {
  const html = await readFile(join(dist, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|https?:/);
  const styles = (await readdir(dist)).filter((name) => name.endsWith('.css'));
  for (const name of styles) expect(await readFile(join(dist, name), 'utf8')).not.toMatch(/url\(|@import/);
});
