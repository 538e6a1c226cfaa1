/** The lanes in PostgreSQL: the schema `lanes` (`schema/`) of the service's own database. */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool, type PoolConfig } from 'pg';
import { z } from 'zod';
import { KNOWN_MS, type LaneStore } from '../lane-store.ts';
import { QueueError, reasonOf } from '../queue-error.ts';
import type { ErrorLogger } from '../queue-log.ts';
import { nameOf } from '../report-name.ts';
import { Turns } from '../turns.ts';
import { isConnectionError } from './away.ts';
import { PostgresBell } from './bell.ts';
import { PostgresClient } from './client.ts';
import { postgresLeases } from './lease.ts';
import { migrate, type SchemaFiles } from './migrate.ts';
import { NotificationConnection } from './notification-connection.ts';
import { postgresReports } from './reports.ts';
import { postgresTurns } from './turns.ts';

interface PostgresOptions {
  /** Where the database is; the limits of its connections are set here. */
  database: PoolConfig;
  errors: ErrorLogger;
  /** How long to try to connect at the start, ms. */
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
}

/** How often ended jobs are deleted, ms; and how many at a time. */
const FORGET_MS = 60_000;
const FORGOTTEN = 2_000;

/** The schema `lanes`. */
const LANES: SchemaFiles = { name: 'lanes', directory: new URL('./schema/', import.meta.url) };

const FORGET = `
  DELETE FROM lanes.job WHERE (queue_id, lane) IN (SELECT queue_id, lane FROM lanes.job
    WHERE ended_at < now() - make_interval(secs => ${KNOWN_MS / 1_000}) ORDER BY ended_at LIMIT ${FORGOTTEN} FOR UPDATE SKIP LOCKED)`;

const lookedAt = z.object({
  state: z.enum(['waiting', 'active', 'ended']),
  deliveries: z.int(),
  begun: z.boolean(),
  endedMs: z.number().nullable(),
});
const takenOut = z.object({ out: z.boolean() });

/**
 * Connects, and brings the schema up to date.
 * @throws QueueError `refused` (password, database, permission), `unavailable` after `startTimeoutMs`; the
 *   signal's reason when aborted
 */
export async function openPostgres(options: PostgresOptions): Promise<LaneStore> {
  const { errors } = options;
  const config: PoolConfig = {
    max: 10,
    Client: PostgresClient,
    ...options.database,
    application_name: 'platen-queue',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    query_timeout: 15_000,
  };
  const pool = new Pool(config);
  pool.on('error', (error) => {
    // `pool.end` does not wait for its connections: one may still report that the database stopped.
    if (!pool.ending) errors.report('queue connection lost', error);
  });
  try {
    await makeLanes(options);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return storeOn(pool, new NotificationConnection(config, errors), errors);
}

function storeOn(pool: Pool, notifications: NotificationConnection, errors: ErrorLogger): LaneStore {
  const bell = new PostgresBell(notifications);
  const turns = new Turns(postgresTurns(pool), errors);
  const ping = async () => void (await pool.query('SELECT 1'));
  const takeOut = async (lane: string, queueId: string, abandoned: boolean) => {
    const { rows } = await pool.query('SELECT lanes.take_out($1, $2, $3) AS out', [lane, queueId, abandoned]);
    return takenOut.parse(rows[0]).out;
  };
  const forget = setInterval(() => {
    forgetEnded(pool).catch((error: unknown) => errors.report('ended jobs are not forgotten yet', error));
  }, FORGET_MS).unref();
  return {
    kind: 'postgres',
    notifications,
    leases: postgresLeases(
      (sql, values) => pool.query(sql, [...values]),
      (lane) => bell.ring(lane, ''),
    ),
    reports: postgresReports(pool, bell),
    async add(lane, jobs) {
      await pool.query('SELECT lanes.add($1, $2, $3)', [
        jobs.map(({ queueId }) => queueId),
        jobs.map(() => lane),
        jobs.map(({ json }) => json),
      ]);
    },
    async look(lane, queueId) {
      const { rows } = await pool.query(
        `SELECT CASE WHEN ended_at IS NOT NULL THEN 'ended' WHEN term IS NULL THEN 'waiting' ELSE 'active' END AS state,
           deliveries, note IS NOT NULL AS begun,
           (extract(epoch FROM now() - ended_at) * 1000)::float8 AS "endedMs"
         FROM lanes.job WHERE queue_id = $1 AND lane = $2`,
        [queueId, lane],
      );
      return rows.length === 0 ? null : lookedAt.parse(rows[0]);
    },
    remove: (lane, queueId) => takeOut(lane, queueId, false),
    takeAway: (lane, queueId) => takeOut(lane, queueId, true),
    async publish(report, of) {
      await turns.publish(nameOf({ scope: of, agentId: report.agentId }), report);
      // The report is in the same database as the job and its lane: neither is lost without the others.
      return null;
    },
    turnsOf: () => turns,
    listen: (lane, ring) => bell.listen(lane, ring),
    answers: () => true,
    ping,
    async close() {
      clearInterval(forget);
      turns.close();
      await notifications.close();
      await pool.end();
    },
  };
}

/** Deletes in small steps until none is left or the next minute begins, since more jobs may end in a minute than one step takes. */
async function forgetEnded(pool: Pool): Promise<void> {
  const until = performance.now() + FORGET_MS;
  for (let forgotten = FORGOTTEN; forgotten === FORGOTTEN && performance.now() < until && !pool.ending; ) {
    forgotten = (await pool.query(FORGET)).rowCount ?? 0;
  }
}

async function makeLanes({ database, startTimeoutMs, signal }: PostgresOptions): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    try {
      await migrate(database, LANES);
      return;
    } catch (error) {
      if (error instanceof QueueError) throw error;
      if (!isConnectionError(error)) {
        throw new QueueError('refused', `The database cannot hold the queues: ${reasonOf(error)}`);
      }
      if (Date.now() > deadline) {
        throw new QueueError('unavailable', `The queue's database does not answer: ${reasonOf(error)}`);
      }
      await wait(Math.min(200, startTimeoutMs), undefined, { ...(signal && { signal }) });
    }
  }
}
