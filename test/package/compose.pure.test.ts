/** The compose file against what the service reads: its images are nowhere where tests run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const compose = readFileSync(join(root, 'service/compose.yaml'), 'utf8');
const [, service = ''] = /^ {2}platen:\n([\s\S]*?)\n\n/m.exec(compose) ?? [];

test('the variables of the service are those that its table of variables has', () => {
  const table = readFileSync(join(root, 'docs/deployment.md'), 'utf8');
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(service) ?? [];
  const set = [...block.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = '']) => name);
  expect(set).toContain('DATABASE_URL');
  expect(set.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test("each secret is the person's own, and what the page has them write is all that is asked for", () => {
  const page = readFileSync(join(root, 'docs/container.md'), 'utf8');
  const asked = new Set([...compose.matchAll(/\$\{([A-Z_]+):\?\}/g)].map(([, name = '']) => name));
  const written = [...page.matchAll(/^ {4}([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect([...asked].sort()).toEqual(written.sort());
  expect(compose.match(/\$\{[^}]*\}/g)?.filter((one) => !one.endsWith(':?}'))).toEqual([]);
});
