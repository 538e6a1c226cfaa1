/** Secrets that a data directory keeps for itself, where the environment names none. Only the owner can read them. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from './explain.ts';
import { CommandFailure } from './failure.ts';
import { SERVICE_FILE, serviceFile } from './which-service.ts';

const KEY_FILE = 'platen.key';

/** The admin token of this data directory; where there is none, a new one, which is not saved yet. */
export async function ownAdminToken(dataDir: string): Promise<string> {
  const file = join(dataDir, SERVICE_FILE);
  try {
    return serviceFile.parse(JSON.parse(await readFile(file, 'utf8'))).adminToken;
  } catch (error) {
    if (isMissing(error)) return randomBytes(32).toString('base64url');
    throw new CommandFailure(`${file} cannot be read: ${explain(error)}. Delete it to have a new one made.`);
  }
}

/** The key with which this directory's service seals secrets in its database; made at the first start. */
export async function ownSecretKey(dataDir: string): Promise<string> {
  const file = join(dataDir, KEY_FILE);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (!isMissing(error)) throw new CommandFailure(`${file} cannot be read: ${explain(error)}`);
  }
  const key = randomBytes(32).toString('base64url');
  await writeSecret(file, `${key}\n`);
  return key;
}

/** Writes the file atomically. */
export async function writeSecret(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
