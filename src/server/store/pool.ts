/**
 * Connections to PostgreSQL. Every statement, every wait for a lock and every idle transaction is bounded, so that
 * a stuck database makes requests fail and never makes them hang.
 */
import pg from 'pg';
import type { z } from 'zod';
import type { Logger } from '../../log.ts';
import { PostgresClient } from '../../queue/index.ts';

export type Pool = pg.Pool;
/** What runs a query: the pool, or the one connection of a transaction. */
export type Queryable = Pick<pg.ClientBase, 'query'>;
/** A callback in the transaction of a change, mostly for the audit: both are committed, or neither. */
export type Also<T = void> = (db: Queryable, what: T) => Promise<void>;

const TIMEOUTS = {
  /** ms for one statement on the server. */
  statement: 15_000,
  /** ms that a statement waits for a lock; also how long a retry waits for the request it repeats. */
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
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on('error', (error) => {
    if (!pool.ending) options.logger.warn({ err: error }, 'database connection lost');
  });
  return pool;
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
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

/** SQLSTATE where what a row refers to is not there, or is still referred to. */
export const FOREIGN_KEY_VIOLATION = '23503';

/** SQLSTATE of a database error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** A statement that each connection plans once, by its name: planning a large one costs more than running it. */
interface Planned {
  name: string;
  text: string;
}

/** What a statement answers, each row read by the schema. @throws ZodError for a row that is something else */
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

/** The row of a statement that always answers with one. @throws as `rowsOf` */
export async function onlyRow<Row extends z.ZodType>(
  ...query: Parameters<typeof rowsOf<Row>>
): Promise<z.output<Row>> {
  const found = await rowOf<Row>(...query);
  if (found === undefined) throw new Error('the database answered without a row');
  return found;
}

/** A list for SQL's IN: `'queued', 'printing'`. For words of our own only. */
export function inSql(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
