/** What can go wrong with the embedded database, in one table. Messages name paths and processes, never a password. */
import { defineFaults } from '../../contract/define-faults.ts';

export class EmbeddedError extends defineFaults('EmbeddedError', {
  /** There are no PostgreSQL binaries for this platform: use `DATABASE_URL`. */
  'platform-unsupported': {},
  /** The binaries are there, but do not run under the account that they have to run under. */
  'binaries-unusable': {},
  /** Another live process uses this data directory. */
  'directory-in-use': { retrySafe: true },
  /** The data directory cannot be written, or belongs to another user. */
  'directory-unusable': {},
  /** `initdb` or `postgres` ended, or did not answer in time. */
  'start-failed': { retrySafe: true },
  /** A signal ended `postgres` at its start. A person sent it, or the system did because memory was short. */
  'killed-at-start': { retrySafe: true },
  /** The database ended without having been asked to. */
  lost: { retrySafe: true },
}) {}

/** The text of an error for a message: what the program wrote to stderr, or else the error's own message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return stderr === '' ? error.message : stderr;
}
