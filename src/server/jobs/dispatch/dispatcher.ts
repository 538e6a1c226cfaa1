/**
 * Adds accepted jobs to lanes that are not in this database, in the order in which they were accepted.
 *
 * The database says what is still to be added (`dispatched_at is null`), so it does not matter which instance adds it, or
 * whether the one that accepted it still lives. For each lane one instance adds at a time, under an advisory lock, and always
 * from the oldest job on: a job never overtakes one that was acknowledged before it. Jobs for several lanes are added together,
 * with as few statements as for one lane. This instance remembers its own jobs until they are added, only to save reading them
 * back.
 */

import { z } from 'zod';
import { faultFor } from '../../../contract/fault.ts';

import { jobId } from '../../../contract/job-id.ts';
import { statesBefore } from '../../../contract/job-life.ts';
import { type Lane, lane, laneOf } from '../../../contract/lane.ts';
import { type QueuedJob, queuedJob } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import type { Logger } from '../../../log.ts';
import { issuePaths } from '../../../queue/index.ts';
import { inSql, type Pool, type Queryable, rowsOf, transaction } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import type { Dispatching } from './dispatching.ts';
import type { JobQueue } from './queue-port.ts';

/** Jobs added in one go. */
const BATCH = 200;
/** Bytes of payload, as stored, after which a batch ends. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Lanes that are added to in one transaction, and such transactions at a time; each holds a database connection. */
const TOGETHER = 32;
const PARALLEL = 2;
/** Jobs kept in memory at most, and records that such a job may have; the rest are read back. */
const REMEMBERED = 1_000;
const REMEMBERED_RECORDS = 100;
/** ms that the queue may take for one batch. */
const QUEUE_TIMEOUT = 10_000;

/** First half of the advisory lock's key; the second is the lane. */
const LOCK_CLASS = 0x706c6174;

/** Takes the lock under which a lane's jobs are added or canceled, until the transaction ends. */
export const LOCK_LANE = `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext($1))`;

/**
 * The jobs to be added to these lanes: the first job of each lane, then the second of each, and so on, so
 * that no lane waits for the many jobs of another.
 */
const DUE = {
  name: 'jobs-due',
  text: `
  SELECT id, round, coalesce(sum(pg_column_size(payload) + coalesce(pg_column_size(t.template), 0))
    OVER (ORDER BY nth, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM (SELECT job.*, row_number() OVER (PARTITION BY job.lane ORDER BY seq) AS nth
    FROM unnest($1::text[]) AS own CROSS JOIN LATERAL (
      SELECT id, seq, round, lane, payload, tenant_id, template_hash FROM platen.jobs
      WHERE lane = own AND dispatched_at IS NULL AND status = 'queued' AND cancel_requested_at IS NULL
      ORDER BY seq LIMIT ${BATCH}) AS job
    ORDER BY nth, seq LIMIT ${BATCH}) AS due
  LEFT JOIN platen.job_templates t ON t.tenant_id = due.tenant_id AND t.hash = due.template_hash
  ORDER BY nth, seq`,
};

const NOT_YET = 'jobs could not be added to the queue yet';

/** `before`: bytes of the payloads before this one's; a sum comes as text. */
const dueJob = z.object({ id: jobId, round: z.int(), before: z.coerce.number() });
const payloadOf = z.object({ id: jobId, payload: z.unknown() });

type Unreadable = { id: string; issues: string };

export class Dispatcher implements Dispatching {
  readonly inLanes = false;
  readonly #pool: Pool;
  readonly #queue: JobQueue;
  readonly #logger: Logger;
  readonly #remembered = new Map<string, QueuedJob>();
  /** Lanes that have something to add, in the order in which they asked. */
  readonly #waiting = new Set<Lane>();
  readonly #busy = new Set<Lane>();
  /** Lanes for which the last attempt failed: each is tried by itself, in its turn, to hold up no other. */
  readonly #refused = new Set<Lane>();
  readonly #running = new Set<Promise<void>>();
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
    await Promise.all(this.#running);
    this.#remembered.clear();
    this.#refused.clear();
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
    while (this.#running.size < PARALLEL) {
      const free = [...this.#waiting].filter((lane) => !this.#busy.has(lane));
      const [first] = free;
      if (first === undefined) return;
      const sound = free.filter((lane) => !this.#refused.has(lane)).slice(0, TOGETHER);
      const lanes = this.#refused.has(first) ? [first] : sound;
      for (const lane of lanes) {
        this.#waiting.delete(lane);
        this.#busy.add(lane);
      }
      const done = this.#serve(lanes).finally(() => {
        this.#running.delete(done);
        for (const lane of lanes) this.#busy.delete(lane);
        this.#next();
      });
      this.#running.add(done);
    }
  }

  /** Never rejects: the jobs are safe in the database, and the sweep tries again. */
  async #serve(lanes: readonly Lane[]): Promise<void> {
    try {
      const left = lanes.length === 1 ? lanes : await this.#addTogether(lanes);
      for (const lane of left) await this.#addAlone(lane);
    } catch (error) {
      this.#logger.warn({ err: error, lanes: lanes.length }, NOT_YET);
    }
  }

  /** @returns lanes that have to be tried by themselves. @throws when the queue is away */
  async #addTogether(lanes: readonly Lane[]): Promise<readonly Lane[]> {
    const others = new Set<Lane>();
    try {
      for (let more = true; more && !this.#stopped; ) {
        const added = await this.#addBatch(lanes.filter((lane) => !others.has(lane)));
        more = added.more;
        for (const lane of added.locked) others.add(lane);
      }
      return [...others];
    } catch {
      // An agent may have broken a lane that it writes. If the queue answers, each lane is tried by itself.
      await this.#queue.ping();
      return lanes;
    }
  }

  async #addAlone(lane: Lane): Promise<void> {
    try {
      for (let more = true; more && !this.#stopped; ) more = (await this.#addBatch([lane])).more;
      this.#refused.delete(lane);
    } catch (error) {
      this.#refused.add(lane);
      this.#logger.warn({ err: error, lane }, NOT_YET);
    }
  }

  /** @returns whether there is more to add, and the lanes that were left out: another instance adds to them */
  async #addBatch(wanted: readonly Lane[]): Promise<{ more: boolean; locked: readonly Lane[] }> {
    // Remembered jobs are committed, so another instance has dealt with those that the batch does not find.
    const mine = [...this.#remembered.values()].filter((job) => wanted.includes(laneOf(job)));
    const { added, more, locked } = await transaction(
      this.#pool,
      async (client) => {
        const lanes = await lockedBy(client, wanted);
        const due = await rowsOf(client, dueJob, DUE, [lanes]);
        // A later round has another payload. This instance remembers only the payload of the first round.
        for (const { id, round } of due) if (round > 0) this.#remembered.delete(id);
        const ids = due.filter(({ before }) => before < BATCH_BYTES).map(({ id }) => id);
        if (ids.length > 0) {
          const { jobs, unreadable } = await this.#payloads(client, ids);
          if (unreadable.length > 0) await this.#fail(client, unreadable);
          await inTime(this.#queue.enqueue(...jobs));
          await client.query('UPDATE platen.jobs SET dispatched_at = now() WHERE id = ANY($1)', [ids]);
        }
        return {
          added: ids,
          more: ids.length === BATCH || ids.length < due.length,
          locked: wanted.filter((lane) => !lanes.includes(lane)),
        };
      },
      // A crash may lose this mark. That does no harm: the job is added again, which changes nothing. So nobody waits for the
      // disk.
      'BEGIN; SET LOCAL synchronous_commit = off',
    );
    for (const id of added) this.#remembered.delete(id);
    if (!more) {
      for (const job of mine) if (!locked.includes(laneOf(job))) this.#remembered.delete(job.jobId);
    }
    if (added.length > 0)
      this.#logger.debug({ lanes: wanted.length, jobs: added }, 'jobs added to the queue');
    return { more, locked };
  }

  async #payloads(
    client: Queryable,
    ids: readonly string[],
  ): Promise<{ jobs: QueuedJob[]; unreadable: Unreadable[] }> {
    const missing = ids.filter((id) => !this.#remembered.has(id));
    const read = new Map<string, QueuedJob>();
    const unreadable: Unreadable[] = [];
    if (missing.length > 0) {
      const sql = `SELECT id, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = ANY($1)`;
      for (const { id, payload } of await rowsOf(client, payloadOf, sql, [missing])) {
        const { data: job, error } = queuedJob.safeParse(payload);
        if (error !== undefined) {
          unreadable.push({ id, issues: issuePaths(error).join('; ').slice(0, 1_000) });
        } else read.set(id, job);
      }
    }
    return { jobs: ids.flatMap((id) => this.#remembered.get(id) ?? read.get(id) ?? []), unreadable };
  }

  /** Ends jobs that another version wrote and this one cannot read, so that they do not keep back the lane's other jobs. */
  async #fail(client: Queryable, jobs: readonly Unreadable[]): Promise<void> {
    for (const { id, issues } of jobs) {
      const { fault } = faultFor('payload-unreadable', because('job-unreadable', { issues }));
      await client.query(
        `UPDATE platen.jobs SET status = 'failed', error = $2, reasons = '{}', updated_at = now()
         WHERE id = $1 AND status IN (${inSql(statesBefore('failed', 'service'))})`,
        [id, JSON.stringify(fault)],
      );
      this.#logger.error({ jobId: id, issues }, 'a job that cannot be read fails, before it is in its lane');
    }
  }
}

/**
 * Locks lanes until the transaction ends. Waits for a single lane; of several lanes, locks only those that are free.
 * @returns the lanes that are locked
 */
async function lockedBy(client: Queryable, wanted: readonly Lane[]): Promise<Lane[]> {
  if (wanted.length === 1) {
    await client.query(LOCK_LANE, [wanted[0]]);
    return [...wanted];
  }
  const sql = `SELECT lane FROM unnest($1::text[]) AS lane WHERE pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(lane))`;
  return (await rowsOf(client, z.object({ lane }), sql, [wanted])).map((row) => row.lane);
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
