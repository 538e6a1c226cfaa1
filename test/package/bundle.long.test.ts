/** A bundle: its bytes do not depend on the order in which its threads and programs were found (esbuild reads files side by side), and all is in it. */
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { bundle, nameIn, treeOf } from '../../service/package/bundle.ts';
import { pdfOf } from '../kit/documents/pdf.ts';

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

test('the thread for PDF documents has what takes a page out of one', async () => {
  const into = join(directory, 'thread');
  await bundled(into, [['platen', 'src/agent-main.ts']]);
  mkdirSync(join(directory, 'node_modules'));
  for (const kept of ['pdfjs-dist', '@napi-rs'])
    symlinkSync(join(root, 'node_modules', kept), join(directory, 'node_modules', kept));
  expect(existsSync(join(directory, 'node_modules', '@cantoo'))).toBe(false);
  const file = nameIn(root, join(root, 'src/render/document/pdf-worker.ts'));
  const thread = new Worker(join(into, `${file}.js`));
  onTestFinished(async () => void (await thread.terminate()));
  const signal = AbortSignal.timeout(30_000);
  expect(await once(thread, 'message', { signal })).toEqual(['loaded']);
  const bytes = new Uint8Array(pdfOf([{ width: 100, height: 100, content: '0 0 50 50 re f' }]));
  const part = { x: 0, y: 0, width: 100, height: 100 };
  const how = { page: 1, dpi: 72, part, zoom: 1, halftone: 'threshold', form: true };
  thread.postMessage({ id: 1, kind: 'draw', file: { key: 'a', bytes }, ...how });
  const [reply] = await once(thread, 'message', { signal });
  expect(reply).toMatchObject({ id: 1, made: { form: { file: 'a', matrix: [1, 0, 0, -1, 0, 100] } } });
}, 60_000);
