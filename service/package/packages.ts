/**
 * The npm packages that a build is made of: those of this machine in `node_modules`, and those of another system
 * fetched from the registry, in the version that `package-lock.json` has, and with its hash.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import windowsParts from './windows-parts.json' with { type: 'json' };

const run = promisify(execFile);

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().default(''), integrity: z.string().default('') }),
  ),
});

export interface NpmPackage {
  /** In `package-lock.json`: `node_modules/koffi`. */
  locked: string;
  directory: string;
  /** `sha512-…`; empty where the lock file has none. */
  integrity: string;
}

/** The packages by their place in the lock file; for Windows, with those that have another version there. */
export function lockedPackages(root: string, platform: string) {
  const { packages } = lockFile.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  return platform.startsWith('win32') ? { ...packages, ...windowsParts.packages } : packages;
}

/** The locked version of a package, fetched if it is not installed. @param name of the package: `koffi` */
export async function npmPackage(root: string, platform: string, name: string): Promise<NpmPackage> {
  const locked = `node_modules/${name}`;
  const { version = '', integrity = '' } = lockedPackages(root, platform)[locked] ?? {};
  const installed = join(root, locked);
  if (versionIn(installed) === version) return { locked, directory: installed, integrity };
  const directory = join(root, 'node_modules/.cache/platen', `${name.replaceAll(/[/@]/g, '_')}_${version}`);
  if (!existsSync(directory)) await fetchInto(directory, name, version, integrity);
  return { locked, directory, integrity };
}

function versionIn(directory: string): string | null {
  const file = join(directory, 'package.json');
  if (!existsSync(file)) return null;
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

/** @throws Error where the hash is not the locked one */
async function fetchInto(directory: string, name: string, version: string, integrity: string): Promise<void> {
  if (!integrity.startsWith('sha512-')) throw new Error(`package-lock.json has no hash of ${name}`);
  const cache = dirname(directory);
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'part-'));
  try {
    const args = ['pack', '--silent', '--pack-destination', part, `${name}@${version}`];
    const { stdout } = await run('npm', args, { cwd: part, timeout: 300_000 });
    const file = join(part, stdout.trim().split('\n').at(-1) ?? '');
    const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (integrity !== hash) throw new Error(`${name}@${version} has ${hash}, and is locked as ${integrity}`);
    await run('tar', ['-xzf', file, '-C', part]);
    // Another build may have been faster.
    if (!existsSync(directory)) renameSync(join(part, 'package'), directory);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}
