/** Makes the directory of the embedded database (PostgreSQL calls it a cluster), and the password of its owner. */
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, bareEnvironment } from './embedded-binaries.ts';
import { EmbeddedError, reasonOf } from './embedded-error.ts';
import { giveToOwner } from './embedded-lock.ts';
import type { Account } from './own-account.ts';

/** The cluster's owner, who is its superuser: see embedded-roles.ts. */
export const OWNER = 'platen';
/** The role of the service. */
export const SERVICE = 'platen_service';
export const DATABASE = 'platen';

/** The service's password. Whoever learns it cannot find out the owner's password from it. */
export function servicePassword(ownerPassword: string): string {
  return createHmac('sha256', ownerPassword).update(SERVICE).digest('base64url');
}

/** The database owner's password. It is made once, and kept in the directory. */
export async function ownPassword(directory: string): Promise<string> {
  const file = join(directory, 'postgres.key');
  if (existsSync(file)) return (await readFile(file, 'utf8')).trim();
  const password = randomBytes(24).toString('base64url');
  // The password must be on the disk before a cluster exists that asks for it.
  await writeFile(file, `${password}\n`, { mode: 0o600, flush: true });
  giveToOwner(file);
  return password;
}

interface Cluster {
  home: string;
  data: string;
  binaries: Binaries;
  runAs: Account | undefined;
  password: string;
  signal: AbortSignal | undefined;
}

/** Makes the cluster under another name and renames it when it is complete. So a half-made cluster is never used. */
export async function makeCluster({ home, data, binaries, runAs, password, signal }: Cluster): Promise<void> {
  // Each attempt has its own directory, because an initdb whose parent was killed goes on for half a second.
  for (const name of await readdir(home)) {
    if (!name.startsWith('half-')) continue;
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  const half = await mkdtemp(join(home, 'half-'));
  const passwordFile = join(home, 'initdb.key');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (runAs !== undefined) {
    await chown(half, runAs.uid, runAs.gid);
    await chown(passwordFile, runAs.uid, runAs.gid);
  }
  const args = [
    `--pgdata=${pathFromInside(half)}`,
    `--username=${OWNER}`,
    `--pwfile=../initdb.key`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  try {
    await promisify(execFile)(binaries.initdb, args, {
      ...runAs,
      cwd: half,
      env: bareEnvironment(),
      timeout: 60_000,
      ...(signal && { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new EmbeddedError('start-failed', `initdb failed in ${home}: ${reasonOf(cause)}`, { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(half, data);
}

/**
 * The path of the data directory, for a process that has this directory as its working directory. If root starts the database,
 * the database cannot walk down to a directory under `/root`. But it can use the working directory that root gave it.
 * PostgreSQL insists on an absolute path, and `/proc/self/cwd` is such a path to the working directory.
 */
export function pathFromInside(data: string): string {
  return process.platform === 'linux' && process.getuid?.() === 0 ? '/proc/self/cwd' : data;
}
