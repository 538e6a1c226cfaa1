/**
 * Brings the schema `platen` up to date: plain SQL files, in the order of their names, each in one transaction,
 * each once. A ledger keeps their checksums, so that an edited file is noticed and not skipped in silence.
 *
 * Any number of instances may start at once: an advisory lock lets one migrate while the others wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { z } from 'zod';
import type { Logger } from '../../log.ts';
import { PostgresClient, refuseLentConnections } from '../../queue/index.ts';
import { rowsOf, TIMEOUTS } from './pool.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** Any constant that nothing else on the database locks: "platen" in ASCII, as a number. */
const LOCK = '123610793796974';
/** ms. A migration may rewrite a large table. */
const STATEMENT_TIMEOUT = 10 * 60_000;

const migration = z.object({ name: z.string(), sha256: z.string() });

/** @throws when an applied migration has another text now, or one fails, of which nothing remains then. */
export async function migrate(database: pg.PoolConfig, logger: Logger): Promise<void> {
  const files = (await readdir(DIRECTORY)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  // A connection of its own: the pool's timeouts are those of requests, and its end frees the lock in any case.
  const config = {
    ...database,
    application_name: 'platen-migration',
    connectionTimeoutMillis: TIMEOUTS.connect,
    statement_timeout: STATEMENT_TIMEOUT,
    lock_timeout: STATEMENT_TIMEOUT,
    query_timeout: STATEMENT_TIMEOUT,
  };
  const client = new PostgresClient(config);
  await client.connect();
  try {
    await refuseLentConnections(client, config);
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
    await client.query(`
      CREATE SCHEMA IF NOT EXISTS platen;
      CREATE TABLE IF NOT EXISTS platen.migrations (
        name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const applied = await rowsOf(client, migration, 'SELECT name, sha256 FROM platen.migrations');
    const known = new Map(applied.map(({ name, sha256 }) => [name, sha256]));
    for (const name of files) {
      const sql = await readFile(new URL(name, DIRECTORY), 'utf8');
      const sha256 = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
      const before = known.get(name);
      if (before === sha256) continue;
      if (before !== undefined) {
        throw new Error(`migration ${name} was changed after it had been applied; add a new file instead`);
      }
      await client.query('BEGIN');
      await client.query(sql);
      await client.query('INSERT INTO platen.migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
      await client.query('COMMIT');
      logger.info({ migration: name }, 'database migrated');
    }
  } finally {
    await client.end();
  }
}
