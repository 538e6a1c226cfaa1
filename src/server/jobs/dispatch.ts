/**
 * Adds accepted jobs to their printers' queues, in the order in which they were accepted.
 *
 * The database says what is still to be added (`dispatched_at is null`), so it does not matter which instance
 * adds it, or whether the one that accepted it still lives. For each printer one instance adds at a time, under an
 * advisory lock, and always from the oldest job on: a job never overtakes one that was acknowledged before it.
 * Jobs of this instance are kept in memory until then, only to save reading them back.
 */
import { type QueuedJob, queuedJob } from '../../contract/queued-job.ts';
import type { Logger } from '../../log.ts';
import { type Pool, type Queryable, transaction } from '../store/pool.ts';
import type { JobQueue } from './queue-port.ts';

/** Jobs added in one go. */
const BATCH = 200;
/** Bytes of payload, as stored, after which a batch ends. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Printers served at the same time; each holds a database connection. */
const PARALLEL = 4;
/** Jobs kept in memory at most, and records that such a job may have; the rest are read back. */
const REMEMBERED = 1_000;
const REMEMBERED_RECORDS = 100;
/** ms that the queue may take for one batch. */
const QUEUE_TIMEOUT = 10_000;

/** First half of the advisory lock's key; the second is the printer. */
const LOCK_CLASS = 0x706c6174;

/** Takes the lock under which a printer's jobs are added or canceled, until the transaction ends. */
export const LOCK_PRINTER = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext($1))`;

export class Dispatcher {
  readonly #pool: Pool;
  readonly #queue: JobQueue;
  readonly #logger: Logger;
  readonly #remembered = new Map<string, QueuedJob>();
  /** Printers that have something to add, in the order in which they asked. */
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #stopped = true;

  constructor(pool: Pool, queue: JobQueue, logger: Logger) {
    this.#pool = pool;
    this.#queue = queue;
    this.#logger = logger;
  }

  start(): void {
    this.#stopped = false;
  }

  /** Resolves once nothing is being added any more. What was not added yet is the next sweep's. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    await Promise.all(this.#running.values());
    this.#remembered.clear();
  }

  /** A job whose transaction has committed. */
  accept(job: QueuedJob): void {
    if (this.#remembered.size < REMEMBERED && job.records.length <= REMEMBERED_RECORDS) {
      this.#remembered.set(job.jobId, job);
    }
    this.dispatch(job.printerId);
  }

  /** Adds what there is to add for this printer, soon. */
  dispatch(printerId: string): void {
    if (this.#stopped) return;
    this.#waiting.add(printerId);
    this.#next();
  }

  #next(): void {
    for (const printerId of this.#waiting) {
      if (this.#running.size >= PARALLEL) return;
      if (this.#running.has(printerId)) continue;
      this.#waiting.delete(printerId);
      const done = this.#serve(printerId).finally(() => {
        this.#running.delete(printerId);
        this.#next();
      });
      this.#running.set(printerId, done);
    }
  }

  async #serve(printerId: string): Promise<void> {
    try {
      let more = true;
      while (more && !this.#stopped) more = await this.#addBatch(printerId);
    } catch (error) {
      // The jobs are safe in the database; the sweep tries again.
      this.#logger.warn({ err: error, printerId }, 'jobs could not be added to the queue yet');
    }
  }

  /** Returns whether there is more to add. */
  async #addBatch(printerId: string): Promise<boolean> {
    // All of these have committed, so the batch finds them, or somebody else has dealt with them.
    const mine = [...this.#remembered.values()].filter((job) => job.printerId === printerId);
    const { added, more } = await transaction(
      this.#pool,
      async (client) => {
        await client.query(LOCK_PRINTER, [printerId]);
        const due = await client.query<{ id: string; round: number; before: string }>(
          `SELECT id, round, coalesce(sum(pg_column_size(payload))
             OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
           FROM (SELECT id, seq, round, payload FROM platen.jobs
             WHERE printer_id = $1 AND dispatched_at IS NULL AND status = 'queued' ORDER BY seq LIMIT ${BATCH}) AS due
           ORDER BY seq`,
          [printerId],
        );
        // Added by another instance, and changed by a person since.
        for (const { id, round } of due.rows) if (round > 0) this.#remembered.delete(id);
        const ids = due.rows.filter((row) => Number(row.before) < BATCH_BYTES).map((row) => row.id);
        if (ids.length > 0) {
          await inTime(this.#queue.enqueueMany(await this.#payloads(client, ids)));
          await client.query('UPDATE platen.jobs SET dispatched_at = now() WHERE id = ANY($1)', [ids]);
        }
        return { added: ids, more: ids.length === BATCH || ids.length < due.rows.length };
      },
      // Losing this mark in a crash is harmless (the job is added again, which changes nothing), so nobody waits
      // for the disk.
      'BEGIN; SET LOCAL synchronous_commit = off',
    );
    for (const id of added) this.#remembered.delete(id);
    if (!more) for (const job of mine) this.#remembered.delete(job.jobId);
    if (added.length > 0) this.#logger.debug({ printerId, jobs: added }, 'jobs added to the queue');
    return more;
  }

  async #payloads(client: Queryable, ids: readonly string[]): Promise<QueuedJob[]> {
    const missing = ids.filter((id) => !this.#remembered.has(id));
    const read = new Map<string, QueuedJob>();
    if (missing.length > 0) {
      const { rows } = await client.query<{ id: string; payload: unknown }>(
        'SELECT id, payload FROM platen.jobs WHERE id = ANY($1)',
        [missing],
      );
      for (const row of rows) read.set(row.id, queuedJob.parse(row.payload));
    }
    return ids.flatMap((id) => this.#remembered.get(id) ?? read.get(id) ?? []);
  }
}

/** Rejects when the queue does not answer in time; what it does later is harmless. */
async function inTime(work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the queue does not answer')), QUEUE_TIMEOUT);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
