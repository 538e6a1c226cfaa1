/**
 * Brings a schema up to date: plain SQL files, in the order of their names, each in one transaction, each once. The table
 * `migrations` of the schema keeps their checksums, so that an edited file is noticed and not skipped in silence. Entries of files that this
 * version does not have are left alone: a later version may have applied them before somebody went back to this one.
 *
 * Any number of instances may start at once: an advisory lock lets one migrate while the others wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseError, type PoolConfig } from 'pg';
import { z } from 'zod';
import { PostgresClient, refuseLentConnections } from './client.ts';

/** ms. A migration may rewrite a large table. */
const STATEMENT_TIMEOUT = 10 * 60_000;
/** ms to get a connection. */
const CONNECT_TIMEOUT = 10_000;

/** How often a file is tried again after a deadlock with an instance at work. */
const TRIES = 10;
/**
 * ms that a file waits for a table that somebody reads (a back-up, say), and ms that it then lets others go first: while it
 * waits, whatever instances at work ask of that table waits behind it.
 */
const LOCK = { wait: 1_000, pause: 500 };

const migration = z.object({ name: z.string(), sha256: z.string() });

/** A schema of the service's database, and the directory of its SQL files. */
export interface SchemaFiles {
  name: 'platen' | 'lanes';
  directory: URL;
}

/** The schema's files, in their order. */
export async function migrationFiles({
  directory,
}: SchemaFiles): Promise<{ name: string; sha256: string; sql: string }[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, directory), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex') };
    }),
  );
}

/**
 * @param only these files; left out: all
 * @returns the files that it has applied
 * @throws QueueError `refused` behind a pooler that lends connections for one transaction; Error when an applied file has
 *   another text now; pg's error when a file fails; nothing of that file remains
 */
export async function migrate(
  database: PoolConfig,
  of: SchemaFiles,
  only?: readonly string[],
): Promise<string[]> {
  const schema = of.name;
  const files = (await migrationFiles(of)).filter(({ name }) => only?.includes(name) ?? true);
  // Uses a connection of its own: a pool's timeouts are made for requests, and the end of the connection frees the lock in any
  // case.
  const config = {
    ...database,
    application_name: 'platen-migration',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    statement_timeout: STATEMENT_TIMEOUT,
    lock_timeout: STATEMENT_TIMEOUT,
    query_timeout: STATEMENT_TIMEOUT,
  };
  const client = new PostgresClient(config);
  try {
    await client.connect();
    await refuseLentConnections(client, config);
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [`platen migrates ${schema}`]);
    await client.query(`
      CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS ${schema}.migrations (
        name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const { rows } = await client.query(`SELECT name, sha256 FROM ${schema}.migrations`);
    const known = new Map(rows.map((row) => migration.parse(row)).map(({ name, sha256 }) => [name, sha256]));
    const applied: string[] = [];
    for (const { name, sql, sha256 } of files) {
      const before = known.get(name);
      if (before === sha256) continue;
      if (before !== undefined) {
        throw new Error(
          `the database was made by another version, whose ${name} was different: begin with an empty database or data directory, or go back to that version; if you have edited the file, undo that and add a new one instead`,
        );
      }
      await apply(client, sql, `INSERT INTO ${schema}.migrations (name, sha256) VALUES ($1, $2)`, [
        name,
        sha256,
      ]);
      applied.push(name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

async function apply(client: PostgresClient, sql: string, entry: string, values: string[]): Promise<void> {
  const late = performance.now() + STATEMENT_TIMEOUT;
  for (let left = TRIES; ; ) {
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${LOCK.wait}`);
      await client.query(sql);
      await client.query(entry, values);
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!(error instanceof DatabaseError)) throw error;
      // SQLSTATE 55P03: somebody has the table.
      if (error.code === '55P03' && performance.now() < late) {
        await wait(LOCK.pause);
        continue;
      }
      // 40P01: the file and a statement of an instance at work waited for each other.
      if (error.code !== '40P01' || left === 0) throw error;
      left -= 1;
    }
  }
}
