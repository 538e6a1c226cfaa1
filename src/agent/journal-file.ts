/**
 * Waits for the disk on one of the threads that the runtime has for files, so the agent's own thread never waits. Jobs that
 * write while a wait goes on share the next wait. So one wait serves many jobs.
 *
 * With `synchronous = FULL`, SQLite itself syncs the log at each commit, once the commit is in the log. This class does that in
 * its place. SQLite still syncs all else by itself: the beginning of the log, and both log and database before it begins the
 * log anew. So the log stays one file as long as the database is open, and what a sync of the log covers is durable.
 *
 * Source: https://sqlite.org/pragma.html#pragma_synchronous, https://sqlite.org/wal.html#performance_considerations
 */
import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';
import { within } from '../../drivers/transports/pauses.ts';
import { defineFaults } from '../contract/define-faults.ts';

export class JournalError extends defineFaults('JournalError', { 'journal-not-synced': {} }) {}

/** How long to wait for a disk that does not answer, ms. */
const LONGEST_MS = 30_000;

const [opened, synced, closed] = [promisify(open), promisify(fdatasync), promisify(close)];

interface Waiting {
  upTo: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class JournalFile {
  /** The path of SQLite's log; null: the database is in memory. */
  readonly #log: string | null;
  #file: number | null = null;
  /** How many writes there were, and how many of them are durable. */
  #written = 0;
  #durable = 0;
  #waiting: Waiting[] = [];
  #syncing: Promise<void> | null = null;
  /** The sync under way. It goes on even if it took too long for those who waited. */
  #underWay: Promise<void> | null = null;
  /** A sync has failed. Nothing counts as durable any more, until another process reads what is on the disk. */
  #failed: JournalError | null = null;

  /** @param database the database's file; null: the database is in memory */
  constructor(database: string | null) {
    this.#log = database === null ? null : `${database}-wal`;
  }

  /** To be called after each write: starts to make it durable. */
  written(): void {
    this.#written += 1;
    this.#start();
  }

  /** Resolves when all that has been written by now is durable. @throws JournalError */
  async done(): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    if (this.#log === null || this.#durable === this.#written) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ upTo: this.#written, resolve, reject });
    this.#start();
    await promise;
  }

  /** Waits for a sync under way, and closes the log. Nothing may be written any more. */
  async close(): Promise<void> {
    await this.#syncing;
    const file = this.#file;
    this.#file = null;
    if (file !== null) await closed(file);
  }

  #start(): void {
    if (this.#log !== null && this.#failed === null) this.#syncing ??= this.#sync(this.#log);
  }

  /** Never rejects. */
  async #sync(log: string): Promise<void> {
    while (this.#durable < this.#written) {
      try {
        this.#file ??= await opened(log, 'r+');
        this.#underWay ??= this.#once(this.#file, log);
        await within(this.#underWay, LONGEST_MS, () => notSynced(log, `no answer within ${LONGEST_MS} ms`));
      } catch (error) {
        const failed = error instanceof JournalError ? error : notSynced(log, error);
        for (const { reject } of this.#waiting.splice(0)) reject(failed);
        break;
      }
      const waiting = this.#waiting;
      this.#waiting = waiting.filter(({ upTo }) => upTo > this.#durable);
      for (const { upTo, resolve } of waiting) if (upTo <= this.#durable) resolve();
    }
    this.#syncing = null;
  }

  async #once(file: number, log: string): Promise<void> {
    const upTo = this.#written;
    try {
      await synced(file);
      this.#durable = upTo;
    } catch (error) {
      // The system may have dropped what it could not write. Then the next sync would succeed, but not make that durable.
      this.#failed = notSynced(log, error);
      throw this.#failed;
    } finally {
      this.#underWay = null;
    }
  }
}

export function notSynced(log: string, cause: unknown): JournalError {
  const detail = `${log} cannot be written to the disk, and nothing is printed without it: ${String(cause)}`;
  return new JournalError('journal-not-synced', detail, { cause });
}
