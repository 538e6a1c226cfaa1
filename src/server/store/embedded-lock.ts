/**
 * One process per data directory.
 *
 * The lock is SQLite's own file lock (fcntl, LockFileEx). The operating system releases it when its holder ends, however that
 * happens. So there cannot be a stale lock. The holder's process ID is written beside the lock, only for the error message.
 */
import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedError, reasonOf } from './embedded-error.ts';

interface DirectoryLock {
  release(): void;
}

/**
 * Takes the lock of `directory`, or fails at once.
 * @throws EmbeddedError `directory-in-use`, `directory-unusable`
 */
export function lockDirectory(directory: string): DirectoryLock {
  const lockFile = join(directory, 'postgres.lock');
  const holderFile = join(directory, 'postgres.holder');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile, { timeout: 0 });
    // BEGIN IMMEDIATE takes SQLite's RESERVED lock, which has only one holder. Nothing is ever written to the file.
    database.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
    writeFileSync(holderFile, `${process.pid}\n`, { mode: 0o600 });
    giveToOwner(lockFile);
    giveToOwner(holderFile);
  } catch (error) {
    database?.close();
    if (isBusy(error)) {
      const holder = readHolder(holderFile);
      throw new EmbeddedError(
        'directory-in-use',
        `${directory} is in use by ${holder === undefined ? 'another Platen process' : `Platen process ${holder}`}`,
      );
    }
    throw new EmbeddedError('directory-unusable', `${directory} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  const held = database;
  return {
    release() {
      rmSync(holderFile, { force: true });
      held.close();
    },
  };
}

/** Gives a file that root has made to the owner of its directory. Otherwise the owner could not start Platen here later. */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(file));
  chownSync(file, uid, gid);
}

function isBusy(error: unknown): boolean {
  // SQLITE_BUSY, the low byte of the extended code.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

function readHolder(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isSafeInteger(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
