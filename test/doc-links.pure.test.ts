/** Every link of the documentation to a page, a heading or a picture of this repository leads there. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/*.md', 'clients/*/*.md'], { cwd: root }).map((page) =>
  join(root, page),
);

/** A page without its code, where nothing is a link or a heading. */
const textOf = (page: string) =>
  readFileSync(page, 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .replaceAll(/^(?: {4}|\t).*$/gm, '');

/** As GitHub makes the anchors of headings. */
function anchorsOf(page: string): Set<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const slugs = headings.map((heading) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(slugs);
}

test('no link is broken', () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of pages) {
    for (const [, target = ''] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      const leads =
        existsSync(file) && (anchor === undefined || !file.endsWith('.md') || anchorsOf(file).has(anchor));
      if (!leads) broken.push(`${relative(root, page)}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(300);
});
