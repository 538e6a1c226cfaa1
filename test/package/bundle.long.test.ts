/** A bundle's bytes do not depend on the order in which its threads and programs were found: esbuild reads files side by side. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundle, nameIn, treeOf } from '../../service/package/bundle.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'platen-bundle-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @returns the contents of its files, by name */
async function bundled(into: string, entries: Iterable<readonly [string, string]>) {
  await bundle({ root, entries: Object.fromEntries(entries), into });
  const files = treeOf(into).filter((file) => file.endsWith('.js'));
  return new Map(files.map((file) => [file, readFileSync(join(into, file), 'utf8')]));
}

test.each(['src/agent-main.ts', 'src/main.ts'])(
  'the same bytes of %s, in whatever order its parts were found',
  async (entry) => {
    const main = ['platen', entry] as const;
    const found = await bundled(join(directory, entry, 'found'), [main]);
    const parts = globSync(['{src,drivers}/**/*.ts'], { cwd: root })
      .map((source) => [nameIn(root, join(root, source)), source] as const)
      .filter(([name]) => found.has(`${name}.js`));
    expect(parts.length).toBeGreaterThan(1);
    const reversed = [main, ...parts].sort(([one], [other]) => (one < other ? 1 : -1));
    const again = await bundled(join(directory, entry, 'again'), reversed);
    expect([...again.keys()]).toEqual([...found.keys()]);
    for (const [file, text] of found) expect(again.get(file) === text, file).toBe(true);
  },
  60_000,
);
