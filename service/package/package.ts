/**
 * `npm run package [-- --out DIR] [--version V] [--only NAME]… [--image]`: Debian packages for this machine's processor,
 * the agent for Windows, a software bill of materials for each, archives for `platen update`, and their checksums; with
 * `--image` the container image too, for which Debian's archive must be in reach. The same commit
 * gives the same bytes. What needs a program that is not here is named before anything is built, and left out.
 * PLATEN_SIGNING_KEY names the file with the maintainer's private key (Ed25519, PEM), with which updates are signed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import metadata from '../../package.json' with { type: 'json' };
import { versionText } from '../../src/cli/update/manifest.ts';
import { INSTALLER_PROGRAMS } from '../windows/installer.ts';
import { versionArchive } from './archive.ts';
import { agentDeb, type Build, cjkFontsDeb, serviceDeb } from './debian.ts';
import { IMAGE_PROGRAMS, image } from './image.ts';
import { windowsInstaller, windowsPackage } from './windows.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist') },
    version: { type: 'string', default: metadata.version },
    only: { type: 'string', multiple: true },
    image: { type: 'boolean', default: false },
  },
});

interface Product {
  /** The word after `--only`. */
  name: string;
  /** What it is called where it is left out. */
  title: string;
  /** Programs that make it, by the packages of Debian that have them. */
  programs: Readonly<Record<string, readonly string[]>>;
  /** @returns the names of the files */
  make: (build: Build) => Promise<string[]>;
}

const DPKG = { dpkg: ['dpkg-deb'] };
const TAR = { tar: ['tar'], gzip: ['gzip'] };
const IMAGE = 'image';
const WINDOWS = 'platen-agent-windows';
const signing = signingKey();
const PRODUCTS: readonly Product[] = [
  { name: 'platen-agent', title: 'the Debian package of the agent', programs: DPKG, make: agentDeb },
  { name: 'platen', title: 'the Debian package of the service', programs: DPKG, make: serviceDeb },
  { name: 'platen-fonts-cjk', title: 'the Debian package of the fonts', programs: DPKG, make: cjkFontsDeb },
  { name: WINDOWS, title: 'the archive for Windows', programs: { tar: ['tar'] }, make: windowsPackage },
  { name: WINDOWS, title: 'the installer for Windows', programs: INSTALLER_PROGRAMS, make: windowsInstaller },
  ...(['agent', 'platen'] as const).map((edition) => ({
    name: 'archives',
    title: `the archive of ${edition === 'agent' ? 'the agent' : 'the service'} for platen update`,
    programs: TAR,
    make: async (build: Build) => await versionArchive({ ...build, ...signing }, edition),
  })),
  { name: IMAGE, title: 'the container image', programs: IMAGE_PROGRAMS, make: image },
];

const wanted = PRODUCTS.filter(
  ({ name }) => (name === IMAGE && values.image) || (values.only?.includes(name) ?? name !== IMAGE),
);
const missing = new Map(wanted.map((product) => [product, missingFor(product)]));
check();

const out = resolve(values.out);
// What was made before stays until all is made.
const part = `${out}.part`;
rmSync(part, { recursive: true, force: true });
mkdirSync(part, { recursive: true });
try {
  const build = { root, out: part, version: values.version, time: commitTime() };
  const files: string[] = [];
  for (const product of wanted) {
    if (missing.get(product) === '') files.push(...(await product.make(build)));
  }
  const sums = files.map((file) => `${sha256(join(part, file))}  ${file}\n`);
  writeFileSync(join(part, 'SHA256SUMS'), sums.join(''));
  rmSync(out, { recursive: true, force: true });
  renameSync(part, out);
  process.stdout.write(sums.join(''));
} finally {
  rmSync(part, { recursive: true, force: true });
}

/** Before anything is built, which takes minutes: says what will not be, and ends where nothing else was asked for. */
function check(): void {
  const names = [...new Set(PRODUCTS.map(({ name }) => name))];
  const unknown = values.only?.find((name) => !names.includes(name));
  if (unknown !== undefined) refuse(`--only ${unknown}: expected one of ${names.join(', ')}`);
  const { error } = versionText.safeParse(values.version);
  if (error) refuse(`--version ${values.version}: ${error.issues[0]?.message}`);
  for (const [{ title }, programs] of missing) {
    if (programs !== '') process.stderr.write(`package: leaves out ${title}: install ${programs}\n`);
  }
  if ([...missing.values()].every((programs) => programs !== '')) refuse('nothing can be built here');
}

function refuse(why: string): never {
  process.stderr.write(`package: ${why}\n`);
  process.exit(2);
}

/** The packages of Debian that are to be installed for it, and why; empty: none. */
function missingFor({ programs }: Product): string {
  return Object.entries(programs)
    .flatMap(([name, each]) => {
      const gone = each.filter((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error);
      return gone.length === 0 ? [] : [`${name} (there is no ${gone.join(', ')})`];
    })
    .join(', ');
}

function signingKey(): { signingKey?: string } {
  const file = process.env['PLATEN_SIGNING_KEY'] || undefined;
  if (file === undefined) return {};
  try {
    const pem = readFileSync(file, 'utf8');
    if (createPrivateKey(pem).asymmetricKeyType === 'ed25519') return { signingKey: pem };
  } catch {
    // Said below: an error of the key's reader might hold some of the key.
  }
  return refuse(`PLATEN_SIGNING_KEY: ${file} is no Ed25519 private key in PEM`);
}

/** The time of the commit, which everything in the packages gets. */
function commitTime(): Date {
  const told = process.env['SOURCE_DATE_EPOCH'];
  const seconds = told ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return new Date(Number(seconds) * 1000);
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
