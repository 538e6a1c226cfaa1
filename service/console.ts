/**
 * Builds the console from `web/` into `web/dist/`, as the service serves it: content hashes in the file
 * names, and compressed copies. Builds only if a source has changed, as the set-up runs before every npm
 * script.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';

/** What the pages are made of, from the root: their own sources, what they share with the service, and this file. */
const SOURCES = [
  'web/**/*.{ts,tsx,css,html,svg}',
  'src/{contract,tables,words}/**/*.ts',
  'templates/*.json',
  'service/console.ts',
  'package-lock.json',
];
const STAMP = '.sources';

/**
 * Leaves out of zod what nothing here calls. Schemas report faults in English only; its sixty other languages would be a third
 * of the page, and more than half of the package in a program. No schema is made from JSON Schema.
 */
export const leanZod: Plugin = {
  name: 'lean zod',
  setup(run) {
    run.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]from-json-schema\.js$/ }, () => ({
      contents: 'export const fromJSONSchema = undefined;',
    }));
    run.onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer, resolveDir }) =>
      /[\\/]zod[\\/]/.test(importer) ? { path: join(resolveDir, '../locales/en.js') } : null,
    );
  },
};

/** @returns whether anything had to be built */
export async function buildConsole(root: string): Promise<boolean> {
  const into = join(root, 'web/dist');
  const sources = fingerprint(root);
  const stamp = join(into, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return false;

  const made = (entryPoints: Record<string, string>, define: Record<string, string>) =>
    build({
      absWorkingDir: root,
      entryPoints,
      define,
      outdir: into,
      bundle: true,
      splitting: true,
      format: 'esm',
      minify: true,
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      entryNames: '[name]-[hash]',
      chunkNames: 'part-[hash]',
      legalComments: 'none',
      logLevel: 'error',
      plugins: [leanZod],
      write: false,
    });
  // The worker comes first: its file name is built into the pages.
  const worker = await made({ 'workbook-worker': 'web/print/workbook-worker.ts' }, {});
  const workerName = basename(worker.outputFiles[0]?.path ?? '');
  const pages = await made({ main: 'web/main.tsx' }, { WORKBOOK_WORKER: JSON.stringify(workerName) });
  const files = new Map(
    [...worker.outputFiles, ...pages.outputFiles].map(({ path, contents }) => [
      basename(path),
      Buffer.from(contents),
    ]),
  );
  const named = (ending: string) =>
    [...files.keys()].find((name) => name.startsWith('main-') && name.endsWith(ending));
  const html = readFileSync(join(root, 'web/index.html'), 'utf8')
    .replace('main.css', named('.css') ?? 'main.css')
    .replace('main.js', named('.js') ?? 'main.js');
  files.set('index.html', Buffer.from(html));
  files.set('icon.svg', readFileSync(join(root, 'web/icon.svg')));

  // Built beside it and then renamed, so that a service that runs meanwhile never serves half of the console.
  const beside = `${into}.${process.pid}`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true });
  for (const [name, bytes] of files) {
    writeFileSync(join(beside, name), bytes);
    writeFileSync(join(beside, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(beside, `${name}.br`), brotli(bytes));
  }
  writeFileSync(join(beside, STAMP), sources);
  rmSync(into, { recursive: true, force: true });
  try {
    renameSync(beside, into);
  } catch {
    // Another set-up was faster; its files are the same.
    cpSync(beside, into, { recursive: true });
    rmSync(beside, { recursive: true, force: true });
  }
  return true;
}

function brotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
}

function fingerprint(root: string): string {
  const hash = createHash('sha256');
  const files = globSync(SOURCES, { cwd: root, exclude: (name) => name === 'dist' });
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

if (import.meta.main) await buildConsole(join(import.meta.dirname, '..'));
