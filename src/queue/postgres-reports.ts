/**
 * Reports in PostgreSQL: one table, a row for each. Those that an agent publishes while a statement is under way go
 * together with the next. A service takes many in one transaction, which holds the locks of their agents and ends with
 * the rows deleted: if the service dies, so does its connection, and the next one goes on with the same rows.
 */
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import type { Scope } from '../contract/lane.ts';
import type { Report } from '../contract/report.ts';
import { within } from './queue-error.ts';
import {
  BACKOFF,
  type Reported,
  type ReportPlan,
  type ReportSource,
  type ReportStore,
  readable,
} from './report-batch.ts';
import { nameOf } from './report-stream.ts';
import type { StopOptions } from './stop-options.ts';

const TABLE = 'platen_report';

/** Run after BullMQ's migrations, at every start. */
export async function makeReports(client: PoolClient, schema: string): Promise<void> {
  await client.query('BEGIN');
  try {
    // Several services and agents may start at once.
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('${TABLE}'))`);
    await client.query(`
      CREATE TABLE IF NOT EXISTS ${schema}.${TABLE} (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL,
        json text NOT NULL,
        published_at timestamptz NOT NULL DEFAULT now())`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Rings, with what the listeners of `bell` hear. */
export interface Bell {
  /** The channel, and what is said on it. */
  channel: string;
  payload: string;
  /** Calls `ring` until the returned function is called, and whenever a ring may have been missed. */
  listen(ring: () => void): () => void;
}

/** Reports in one statement, and in one batch. */
const MOST_PUBLISHED = 500;
const MOST_TAKEN = 500;
/** The oldest, among which those of agents that nobody has in hand are looked for. */
const LOOKED_AT = 2_000;
/** A ring may get lost, ms. */
const LOOK = 5_000;
/** While another service has all that there is in hand, ms. */
const TAKEN = 200;
/** After this time with a batch a service counts as dead, s. */
const IN_HAND = 30;
/** First half of the advisory lock's key; the second is the agent. */
const LOCK_CLASS = 0x706c7270;

// The rows are deleted when they have been applied: a deletion that is lost in a crash means that they are applied again.
const TAKE = `
  BEGIN;
  SET LOCAL synchronous_commit = off;
  SET LOCAL idle_in_transaction_session_timeout = '${IN_HAND}s';
  WITH oldest AS MATERIALIZED (SELECT id, name FROM ${TABLE} ORDER BY id LIMIT ${LOOKED_AT}),
    mine AS MATERIALIZED (SELECT name FROM (SELECT DISTINCT name FROM oldest) AS names
      WHERE pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(name)))
  SELECT r.id::text, r.name, r.json, extract(epoch FROM now() - r.published_at)::float8 * 1000 AS age
  FROM ${TABLE} AS r JOIN oldest USING (id) JOIN mine ON mine.name = r.name
  ORDER BY r.id LIMIT ${MOST_TAKEN} FOR UPDATE OF r`;

const row = z.object({ id: z.string().regex(/^\d+$/), name: z.string(), json: z.string(), age: z.number() });
/** What node-postgres gives for several statements at once. */
const takenRows = z.array(z.object({ rows: z.array(z.unknown()) }));

type Waiting = { name: string; json: string; resolve: () => void; reject: (error: unknown) => void };

export class PostgresReports implements ReportStore {
  readonly #pool: Pool;
  readonly #bell: Bell;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(pool: Pool, bell: Bell) {
    this.#pool = pool;
    this.#bell = bell;
  }

  publish(report: Report, of: Scope): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const name = nameOf({ scope: of, agentId: report.agentId });
    this.#waiting.push({ name, json: JSON.stringify(report), resolve, reject });
    if (!this.#running) void this.#insert();
    return promise;
  }

  reader(plan: ReportPlan): ReportSource {
    return new PostgresReportReader(this.#pool, this.#bell, plan);
  }

  /** One statement at a time: side by side, a later report could come before an earlier one. */
  async #insert(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_PUBLISHED);
      try {
        await this.#pool.query(
          `WITH added AS (INSERT INTO ${TABLE} (name, json)
             SELECT name, json FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS r(name, json, n) ORDER BY n RETURNING 1)
           SELECT pg_notify($3, $4) FROM added LIMIT 1`,
          [
            batch.map(({ name }) => name),
            batch.map(({ json }) => json),
            this.#bell.channel,
            this.#bell.payload,
          ],
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = false;
  }
}

class PostgresReportReader implements ReportSource {
  readonly #pool: Pool;
  readonly #bell: Bell;
  readonly #plan: ReportPlan;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #inHand: PoolClient | undefined;
  #rung = Promise.withResolvers<void>();
  #silence: () => void = () => undefined;

  constructor(pool: Pool, bell: Bell, plan: ReportPlan) {
    this.#pool = pool;
    this.#bell = bell;
    this.#plan = plan;
  }

  start(): void {
    this.#silence = this.#bell.listen(() => this.#rung.resolve());
    this.#running = this.#run();
  }

  stop({ timeoutMs = 30_000 }: StopOptions = {}): Promise<void> {
    this.#stopping ??= (async () => {
      this.#stopped.abort();
      this.#rung.resolve();
      this.#silence();
      await within(timeoutMs, 'reports in hand', this.#running).catch(() => undefined);
      // Whoever is still at it has nothing to say any more, and its rows are the next one's.
      this.#letGo(new Error('stopped'));
      this.#plan.onStopped();
    })();
    return this.#stopping;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped.signal.aborted) {
      this.#rung = Promise.withResolvers<void>();
      try {
        const taken = await this.#batch();
        failures = 0;
        if (taken === 'nothing') await this.#ringOr(LOOK);
        if (taken === 'in other hands') await this.#ringOr(TAKEN);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#plan.errors.report('reports not handled, they are tried again', error);
        await this.#ringOr(Math.min(BACKOFF.first * 2 ** failures, BACKOFF.most), false);
        failures += 1;
      }
    }
  }

  /** @param rings false: only a stop ends it before its time */
  async #ringOr(ms: number, rings = true): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    const { signal } = this.#stopped;
    const stop = () => over.resolve();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    await (rings ? Promise.race([over.promise, this.#rung.promise]) : over.promise);
    signal.removeEventListener('abort', stop);
    clearTimeout(timer);
  }

  async #batch(): Promise<'some' | 'nothing' | 'in other hands'> {
    this.#inHand = await this.#pool.connect();
    const client = this.#inHand;
    try {
      const results = takenRows.parse(await client.query(TAKE));
      const rows = z.array(row).parse(results.at(-1)?.rows);
      const batch = rows.flatMap(({ age, ...found }): Reported[] => {
        const report = readable(this.#plan, found);
        return report === null ? [] : [{ report, ageMs: Math.max(0, age) }];
      });
      if (batch.length > 0) await this.#plan.handle(batch);
      if (rows.length === 0) {
        const left = await client.query(`COMMIT; SELECT FROM ${TABLE} LIMIT 1`);
        this.#letGo();
        return takenRows.parse(left).at(-1)?.rows.length === 0 ? 'nothing' : 'in other hands';
      }
      const ids = rows.map(({ id }) => id).join(', ');
      await client.query(`DELETE FROM ${TABLE} WHERE id IN (${ids}); COMMIT`);
      this.#letGo();
      return 'some';
    } catch (error) {
      this.#letGo(error instanceof Error ? error : new Error('reports not handled'));
      throw error;
    }
  }

  /** With an error the connection ends, and its locks with it. */
  #letGo(error?: Error): void {
    this.#inHand?.release(error);
    this.#inHand = undefined;
  }
}
