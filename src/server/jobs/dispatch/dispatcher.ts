/**
 * Adds accepted jobs to lanes that are not in this database, in the order in which they were accepted.
 *
 * The database says what is still to be added (`dispatched_at is null`), so it does not matter which instance
 * adds it, or whether the one that accepted it still lives. For each lane one instance adds at a time, under an
 * advisory lock, and always from the oldest job on: a job never overtakes one that was acknowledged before it.
 * Jobs of this instance are kept in memory until then, only to save reading them back.
 */

import { z } from 'zod';
import { jobId } from '../../../contract/job-id.ts';
import { type Lane, laneOf, printerOf, scopeOf } from '../../../contract/lane.ts';
import { type QueuedJob, queuedJob } from '../../../contract/queued-job.ts';
import { TEMPLATES_APART } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import { type Pool, type Queryable, rowsOf, transaction } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import type { Dispatching } from './dispatching.ts';
import type { JobQueue } from './queue-port.ts';

/** Jobs added in one go. */
const BATCH = 200;
/** Bytes of payload, as stored, after which a batch ends. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Lanes served at the same time; each holds a database connection. */
const PARALLEL = 4;
/** Jobs kept in memory at most, and records that such a job may have; the rest are read back. */
const REMEMBERED = 1_000;
const REMEMBERED_RECORDS = 100;
/** ms that the queue may take for one batch. */
const QUEUE_TIMEOUT = 10_000;

/** First half of the advisory lock's key; the second is the lane. */
const LOCK_CLASS = 0x706c6174;

/** Takes the lock under which a lane's jobs are added or canceled, until the transaction ends. */
export const LOCK_LANE = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext($1))`;

/** `before`: bytes of the payloads before this one's; a sum comes as text. */
const dueJob = z.object({ id: jobId, round: z.int(), before: z.coerce.number() });
const payloadOf = z.object({ id: jobId, payload: queuedJob });

export class Dispatcher implements Dispatching {
  readonly inLanes = false;
  readonly #pool: Pool;
  readonly #queue: JobQueue;
  readonly #logger: Logger;
  readonly #remembered = new Map<string, QueuedJob>();
  /** Lanes that have something to add, in the order in which they asked. */
  readonly #waiting = new Set<Lane>();
  readonly #running = new Map<Lane, Promise<void>>();
  #stopped = true;

  constructor(pool: Pool, queue: JobQueue, logger: Logger) {
    this.#pool = pool;
    this.#queue = queue;
    this.#logger = logger;
  }

  start(): void {
    this.#stopped = false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    await Promise.all(this.#running.values());
    this.#remembered.clear();
  }

  accept(job: QueuedJob): void {
    if (this.#remembered.size < REMEMBERED && job.records.length <= REMEMBERED_RECORDS) {
      this.#remembered.set(job.jobId, job);
    }
    this.dispatch(laneOf(job));
  }

  dispatch(lane: Lane): void {
    if (this.#stopped) return;
    this.#waiting.add(lane);
    this.#next();
  }

  #next(): void {
    for (const lane of this.#waiting) {
      if (this.#running.size >= PARALLEL) return;
      if (this.#running.has(lane)) continue;
      this.#waiting.delete(lane);
      const done = this.#serve(lane).finally(() => {
        this.#running.delete(lane);
        this.#next();
      });
      this.#running.set(lane, done);
    }
  }

  async #serve(lane: Lane): Promise<void> {
    try {
      let more = true;
      while (more && !this.#stopped) more = await this.#addBatch(lane);
    } catch (error) {
      // The jobs are safe in the database; the sweep tries again.
      this.#logger.warn({ err: error, lane }, 'jobs could not be added to the queue yet');
    }
  }

  /** Returns whether there is more to add. */
  async #addBatch(lane: Lane): Promise<boolean> {
    // All of these have committed: those that the batch does not find, another instance has dealt with.
    const mine = [...this.#remembered.values()].filter((job) => laneOf(job) === lane);
    const { added, more } = await transaction(
      this.#pool,
      async (client) => {
        await client.query(LOCK_LANE, [lane]);
        const due = await rowsOf(
          client,
          dueJob,
          `SELECT id, round, coalesce(sum(pg_column_size(payload) + coalesce(pg_column_size(t.template), 0))
             OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
           FROM (SELECT id, seq, round, payload, tenant_id, template_hash FROM platen.jobs
             WHERE lane = $1 AND dispatched_at IS NULL AND status = 'queued' AND cancel_requested_at IS NULL ORDER BY seq LIMIT ${BATCH}) AS due
           LEFT JOIN platen.job_templates t ON t.tenant_id = due.tenant_id AND t.hash = due.template_hash
           ORDER BY seq`,
          [lane],
        );
        // A later round: what this instance remembers is the first one.
        for (const { id, round } of due) if (round > 0) this.#remembered.delete(id);
        const ids = due.filter(({ before }) => before < BATCH_BYTES).map(({ id }) => id);
        if (ids.length > 0) {
          const apart = await allKnow(client, lane, TEMPLATES_APART);
          await inTime(this.#queue.enqueueMany(await this.#payloads(client, lane, ids), apart));
          await client.query('UPDATE platen.jobs SET dispatched_at = now() WHERE id = ANY($1)', [ids]);
        }
        return { added: ids, more: ids.length === BATCH || ids.length < due.length };
      },
      // Losing this mark in a crash is harmless (the job is added again, which changes nothing), so nobody waits
      // for the disk.
      'BEGIN; SET LOCAL synchronous_commit = off',
    );
    for (const id of added) this.#remembered.delete(id);
    if (!more) for (const job of mine) this.#remembered.delete(job.jobId);
    if (added.length > 0) this.#logger.debug({ lane, jobs: added }, 'jobs added to the queue');
    return more;
  }

  async #payloads(client: Queryable, lane: Lane, ids: readonly string[]): Promise<QueuedJob[]> {
    const missing = ids.filter((id) => !this.#remembered.has(id));
    const read = new Map<string, QueuedJob>();
    if (missing.length > 0) {
      const sql = `SELECT id, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = ANY($1)`;
      // A payload from before there were lanes lacks them.
      const own = { scope: scopeOf(lane), printerId: printerOf(lane) };
      for (const { id, payload } of await rowsOf(client, payloadOf, sql, [missing])) {
        read.set(id, { ...payload, ...own });
      }
    }
    return ids.flatMap((id) => this.#remembered.get(id) ?? read.get(id) ?? []);
  }
}

/** Whether every agent that may take the lane's jobs says that it understands this, and there is one. */
async function allKnow(client: Queryable, lane: Lane, what: string): Promise<boolean> {
  const [found] = await rowsOf(
    client,
    z.object({ all: z.boolean() }),
    `SELECT coalesce(bool_and($3 = ANY (a.knows)), false) AS all
     FROM platen.agents a JOIN platen.agent_printers p ON p.agent_id = a.id
     WHERE p.printer_id = $1 AND a.tenant_id IS NOT DISTINCT FROM $2 AND p.gone_at IS NULL`,
    [printerOf(lane), scopeOf(lane), what],
  );
  return found?.all === true;
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
