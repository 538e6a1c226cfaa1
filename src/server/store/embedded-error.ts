/** What can go wrong with the embedded database, in one table. Messages name paths and processes, never a password. */
import { defineFaults } from '../../contract/define-faults.ts';

export class EmbeddedError extends defineFaults('EmbeddedError', {
  /** No PostgreSQL binaries for this platform: use `DATABASE_URL`. */
  'platform-unsupported': {},
  /** The binaries are there but do not run as the user they have to run as. */
  'binaries-unusable': {},
  /** Another live process has this data directory. */
  'directory-in-use': { retrySafe: true },
  /** The data directory cannot be written, or belongs to another user. */
  'directory-unusable': {},
  /** `initdb` or `postgres` ended, or did not answer in time. */
  'start-failed': { retrySafe: true },
  /** A signal ended `postgres` at its start: a person's, or the system's for want of memory. */
  'killed-at-start': { retrySafe: true },
  /** The database ended without having been asked to. */
  lost: { retrySafe: true },
}) {}

/** For a message: what a program said on stderr, where it said something. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return stderr === '' ? error.message : stderr;
}
