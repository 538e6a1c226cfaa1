/**
 * Reports in PostgreSQL: one table, a row for each report, published with the turns of the lanes. A service takes many reports
 * in one transaction, which locks their agents, and deletes the rows at its end. If the service dies, its connection ends too,
 * and the next service goes on with the same rows.
 */
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import {
  BACKOFF,
  type ReportReader,
  type ReportReaderOptions,
  type ReportStore,
  readable,
} from '../report-batch.ts';
import { nameOf } from '../report-name.ts';
import type { StopLimits } from '../stop-limits.ts';
import { isWithin } from '../within.ts';
import { type PostgresBell, REPORTS } from './bell.ts';

/** Most reports in one batch. */
const MOST_TAKEN = 500;
/** Among so many of the oldest reports a batch looks for agents whose reports no other service has in hand. */
const LOOKED_AT = 2_000;
/** How often the table is looked at, ms: a ring may get lost. */
const LOOK = 5_000;
/** Least time from one batch to the next, ms: reports that come meanwhile share round trips and a commit. */
const GATHER = 20;
/** How soon to look again while another service has all reports in hand, ms. */
const TAKEN = 200;
/** A service that has a batch in hand for longer than this counts as dead, s. */
const IN_HAND = 30;
/** First half of the advisory lock's key; the second half is a hash of the agent's name. */
const LOCK_CLASS = 0x706c7270;

const TAKE = `
  BEGIN;
  SELECT report_id AS id, of_agent AS name, report AS json, age_ms AS age
  FROM lanes.take_reports(${LOCK_CLASS}, ${LOOKED_AT}, ${MOST_TAKEN}, '${IN_HAND}s')`;

const row = z.object({ id: z.string().regex(/^\d+$/), name: z.string(), json: z.string(), age: z.number() });
/** node-postgres answers several statements at once with a list of results. */
const takenRows = z.array(z.object({ rows: z.array(z.unknown()) }));

export function postgresReports(pool: Pool, bell: PostgresBell): ReportStore {
  return {
    async unread({ scope, agentId }) {
      const { rows } = await pool.query('SELECT FROM lanes.report WHERE name = $1', [
        nameOf({ scope, agentId }),
      ]);
      return rows.length;
    },
    reader: (options) => new PostgresReportReader(pool, bell, options),
  };
}

class PostgresReportReader implements ReportReader {
  readonly #pool: Pool;
  readonly #bell: PostgresBell;
  readonly #options: ReportReaderOptions;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #inHand: PoolClient | undefined;
  #rung = Promise.withResolvers<void>();
  #silence: () => void = () => undefined;

  constructor(pool: Pool, bell: PostgresBell, options: ReportReaderOptions) {
    this.#pool = pool;
    this.#bell = bell;
    this.#options = options;
  }

  start(): void {
    this.#silence = this.#bell.listen(REPORTS, () => this.#rung.resolve());
    this.#running = this.#run();
  }

  stop({ timeoutMs = 30_000 }: StopLimits = {}): Promise<void> {
    this.#stopping ??= (async () => {
      this.#stopped.abort();
      this.#rung.resolve();
      this.#silence();
      await isWithin(this.#running, timeoutMs);
      // A handler that is still at work no longer counts: the next reader gets the same rows.
      this.#letGo(new Error('stopped'));
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
        // Reports that came while a batch was being applied have rung already.
        if (taken === 'nothing' || taken === 'all') await this.#ringOr(LOOK);
        if (taken === 'in other hands') await this.#ringOr(TAKEN);
        if (taken === 'all') await this.#ringOr(Math.max(0, since + GATHER - performance.now()), false);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#options.errors.report('reports not handled, they are tried again', error);
        await this.#ringOr(Math.min(BACKOFF.first * 2 ** failures, BACKOFF.most), false);
        failures += 1;
      }
    }
  }

  /** @param rings false: only a stop ends the wait early */
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
      const { reports: batch } = await readable(
        this.#options,
        rows.map(({ age, ...found }) => ({ ...found, ageMs: Math.max(0, age) })),
      );
      if (batch.length > 0) await this.#options.handle(batch);
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

  /** With an error the connection is closed, which frees its locks. */
  #letGo(error?: Error): void {
    this.#inHand?.release(error);
    this.#inHand = undefined;
  }
}
