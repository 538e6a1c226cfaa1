/**
 * Connections to PostgreSQL. Every statement, every wait for a lock and every idle transaction has a time limit. So if the
 * database is stuck, requests fail and do not hang.
 */
import pg from 'pg';
import type { z } from 'zod';
import type { Logger } from '../../log.ts';
import { PostgresClient } from '../../queue/index.ts';

export type Pool = pg.Pool;
/** What runs a query: the pool, or the one connection of a transaction. */
export type Queryable = Pick<pg.ClientBase, 'query'>;
/** A callback in the transaction of a change, mostly for the audit. So both are committed, or neither is. */
export type Also<T = void> = (db: Queryable, what: T) => Promise<void>;

const TIMEOUTS = {
  /** ms for one statement on the server. */
  statement: 15_000,
  /** ms that a statement waits for a lock; also how long a repeated request waits for the first one. */
  lock: 10_000,
  /** ms until the client gives up on a server that does not answer at all. */
  answer: 20_000,
  /** ms to get a connection. */
  connect: 10_000,
} as const;

/** A pool with the timeouts above, unless `database` sets others, and `max` connections. The caller ends it. */
export function createPool(options: { database: pg.PoolConfig; max: number; logger: Logger }): Pool {
  const pool = new pg.Pool({
    application_name: 'platen-server',
    max: options.max,
    connectionTimeoutMillis: TIMEOUTS.connect,
    idleTimeoutMillis: 30_000,
    statement_timeout: TIMEOUTS.statement,
    lock_timeout: TIMEOUTS.lock,
    idle_in_transaction_session_timeout: TIMEOUTS.statement,
    query_timeout: TIMEOUTS.answer,
    keepAlive: true,
    Client: PostgresClient,
    ...options.database,
  });
  // If an idle connection breaks, the next query opens a new one. Without this listener, the error would end the process.
  pool.on('error', (error) => {
    if (!pool.ending) options.logger.warn({ err: error }, 'database connection lost');
  });
  return pool;
}

/** Runs `work` in one transaction, which is committed if `work` resolves and rolled back if it throws. */
export async function transaction<T>(
  pool: Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      broken = rollbackError instanceof Error ? rollbackError : new Error('rollback failed');
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** SQLSTATE: a row refers to a row that does not exist, or a row to be deleted is still referred to. */
export const FOREIGN_KEY_VIOLATION = '23503';

/** SQLSTATE of a database error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** A statement that each connection plans only once, by its name. To plan a large statement costs more than to run it. */
interface Planned {
  name: string;
  text: string;
}

/** The rows that a statement answers with, each parsed by the schema. @throws ZodError for a row that does not fit it */
export async function rowsOf<Row extends z.ZodType>(
  db: Queryable,
  row: Row,
  sql: string | Planned,
  values: readonly unknown[] = [],
): Promise<z.output<Row>[]> {
  const asked =
    typeof sql === 'string' ? db.query(sql, [...values]) : db.query({ ...sql, values: [...values] });
  const { rows } = await asked;
  return rows.map((found) => row.parse(found));
}

/** The first row, if there is one. @throws as `rowsOf` */
export async function rowOf<Row extends z.ZodType>(
  ...query: Parameters<typeof rowsOf<Row>>
): Promise<z.output<Row> | undefined> {
  const [found] = await rowsOf<Row>(...query);
  return found;
}

/** The row of a statement that always answers with one row. @throws Error if there is none, and as `rowsOf` */
export async function onlyRow<Row extends z.ZodType>(
  ...query: Parameters<typeof rowsOf<Row>>
): Promise<z.output<Row>> {
  const found = await rowOf<Row>(...query);
  if (found === undefined) throw new Error('the database answered without a row');
  return found;
}

/** A list for SQL's IN: `'queued', 'printing'`. Nothing is escaped, so it is only for words from our own code. */
export function inSql(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
