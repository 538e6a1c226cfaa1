/**
 * Reports in PostgreSQL: one table, a row for each; they are published with the turns of the lanes. A service takes many in one transaction, which holds the locks of their agents and ends with
 * the rows deleted: if the service dies, so does its connection, and the next one goes on with the same rows.
 */
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import type { PostgresBell } from './postgres-bell.ts';
import { REPORTS } from './postgres-schema.ts';
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
import type { Turns } from './turns.ts';

/** Reports in one batch. */
const MOST_TAKEN = 500;
/** The oldest, among which those of agents that nobody has in hand are looked for. */
const LOOKED_AT = 2_000;
/** A ring may get lost, ms. */
const LOOK = 5_000;
/** Between two batches, ms: what comes so soon shares the next one's round trips and its commit. */
const GATHER = 20;
/** While another service has all that there is in hand, ms. */
const TAKEN = 200;
/** After this time with a batch a service counts as dead, s. */
const IN_HAND = 30;
/** First half of the advisory lock's key; the second is the agent. */
const LOCK_CLASS = 0x706c7270;

const TAKE = `
  BEGIN;
  SELECT report_id AS id, of_agent AS name, report AS json, age_ms AS age
  FROM lanes.take_reports(${LOCK_CLASS}, ${LOOKED_AT}, ${MOST_TAKEN}, '${IN_HAND}s')`;

const row = z.object({ id: z.string().regex(/^\d+$/), name: z.string(), json: z.string(), age: z.number() });
/** What node-postgres gives for several statements at once. */
const takenRows = z.array(z.object({ rows: z.array(z.unknown()) }));

export function postgresReports(pool: Pool, bell: PostgresBell, turns: Turns): ReportStore {
  return {
    async publish(report, of) {
      await turns.publish(nameOf({ scope: of, agentId: report.agentId }), report);
      // A job is in the same database, and its lane.
      return null;
    },
    async unread({ scope, agentId }) {
      const { rows } = await pool.query('SELECT FROM lanes.report WHERE name = $1', [
        nameOf({ scope, agentId }),
      ]);
      return rows.length;
    },
    reader: (plan) => new PostgresReportReader(pool, bell, plan),
  };
}

class PostgresReportReader implements ReportSource {
  readonly #pool: Pool;
  readonly #bell: PostgresBell;
  readonly #plan: ReportPlan;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #inHand: PoolClient | undefined;
  #rung = Promise.withResolvers<void>();
  #silence: () => void = () => undefined;

  constructor(pool: Pool, bell: PostgresBell, plan: ReportPlan) {
    this.#pool = pool;
    this.#bell = bell;
    this.#plan = plan;
  }

  start(): void {
    this.#silence = this.#bell.listen((name) => {
      if (name === null || name === REPORTS) this.#rung.resolve();
    });
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
      const since = performance.now();
      try {
        const taken = await this.#batch();
        failures = 0;
        // What comes while a batch is applied has rung.
        if (taken === 'nothing' || taken === 'all') await this.#ringOr(LOOK);
        if (taken === 'in other hands') await this.#ringOr(TAKEN);
        if (taken === 'all') await this.#ringOr(Math.max(0, since + GATHER - performance.now()), false);
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

  async #batch(): Promise<'some' | 'all' | 'nothing' | 'in other hands'> {
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
        const left = await client.query(`COMMIT; SELECT FROM lanes.report LIMIT 1`);
        this.#letGo();
        return takenRows.parse(left).at(-1)?.rows.length === 0 ? 'nothing' : 'in other hands';
      }
      const ids = rows.map(({ id }) => id).join(',');
      await client.query(`SELECT lanes.drop_reports('{${ids}}'); COMMIT`);
      this.#letGo();
      return rows.length < MOST_TAKEN / 2 ? 'all' : 'some';
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
