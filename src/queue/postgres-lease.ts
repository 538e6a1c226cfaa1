/** Leases in PostgreSQL: a row for each lane, locked in one order so that concurrent questions cannot deadlock. */
import type { PoolClient } from 'pg';
import { z } from 'zod';
import { lane } from '../contract/lane.ts';
import type { LeaseStore } from './lease.ts';

const TABLE = 'platen_lease';

/** Run after BullMQ's migrations, at every start. */
export async function makeLeases(client: PoolClient, schema: string): Promise<void> {
  await client.query('BEGIN');
  try {
    // Several services and agents may start at once.
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('${TABLE}'))`);
    await client.query(`
      CREATE TABLE IF NOT EXISTS ${schema}.${TABLE} (
        printer_id text PRIMARY KEY,
        agent_id text NOT NULL DEFAULT '',
        term text NOT NULL DEFAULT '',
        until timestamptz NOT NULL DEFAULT '-infinity',
        rival_id text NOT NULL DEFAULT '',
        rival_reaches boolean NOT NULL DEFAULT false,
        rival_until timestamptz NOT NULL DEFAULT '-infinity');
      ALTER TABLE ${schema}.${TABLE} ADD COLUMN IF NOT EXISTS canceled text[] NOT NULL DEFAULT '{}',
        ADD COLUMN IF NOT EXISTS question bigint NOT NULL DEFAULT 0`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** now() is when the statement began: not before the agent asked, and for one that waited, too early to take a lease. */
const ASK = `
  WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::text[], $4::boolean[], $7::boolean[], $8::float8[], $9::bigint[])
      AS asked(printer_id, term, reaches, fresh, keeps, question)
  ), found AS (
    SELECT l.printer_id, asked.term, asked.reaches, asked.keeps, asked.question, l.question AS before, l.until,
      l.agent_id = $1 AND split_part(l.term, '.', 1) = split_part(asked.term, '.', 1) AS same,
      l.agent_id = $1 AND (asked.fresh OR split_part(l.term, '.', 1) = split_part(asked.term, '.', 1)) AS mine,
      l.rival_id <> $1 AND l.rival_until > now() AS contended,
      l.rival_id <> $1 AND l.rival_until > now() AND l.rival_reaches AS wanted
    FROM ${TABLE} AS l JOIN asked USING (printer_id) ORDER BY l.printer_id FOR UPDATE OF l
  ), decided AS (
    SELECT *, mine OR (until <= now() AND (reaches OR NOT wanted)) AS granted,
      CASE WHEN contended THEN $5::integer ELSE $6::integer END AS ms
    FROM found
  )
  UPDATE ${TABLE} AS l SET
    agent_id = CASE WHEN granted THEN $1 ELSE l.agent_id END,
    term = CASE WHEN granted THEN d.term ELSE l.term END,
    until = CASE WHEN NOT granted THEN l.until
      WHEN same AND d.question > before THEN now() + make_interval(secs => greatest(ms, keeps) / 1000.0)
      ELSE greatest(CASE WHEN mine THEN l.until END, now() + make_interval(secs => ms / 1000.0)) END,
    question = CASE WHEN granted THEN greatest(d.question, CASE WHEN same THEN before END) ELSE l.question END,
    rival_id = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_id ELSE $1 END,
    rival_reaches = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_reaches ELSE reaches END,
    rival_until = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_until
      ELSE now() + make_interval(secs => $5::integer / 1000.0) END
  FROM decided AS d WHERE l.printer_id = d.printer_id
  RETURNING l.printer_id, granted, ms, wanted, CASE WHEN granted THEN l.canceled ELSE '{}' END AS canceled`;

const answerRow = z.object({
  printer_id: lane,
  granted: z.boolean(),
  ms: z.int(),
  wanted: z.boolean(),
  canceled: z.array(z.string()),
});
const holderRow = z.object({ printer_id: lane, agent_id: z.string() });

/** @param query on a connection that finds the table */
export function postgresLeases(
  query: (sql: string, values: readonly unknown[]) => Promise<{ rows: unknown[] }>,
): LeaseStore {
  return {
    async ask(agentId, asks, length) {
      const ids = asks.map((ask) => ask.lane);
      const terms = asks.map(({ term }) => term);
      const reach = asks.map(({ reaches }) => reaches);
      const fresh = asks.map((ask) => ask.fresh);
      const keeps = asks.map((ask) => ask.keeps?.ms ?? 0);
      const questions = asks.map((ask) => ask.keeps?.question ?? 0);
      const { contended, alone } = length;
      const values = [agentId, ids, terms, reach, contended, alone, fresh, keeps, questions];
      let { rows } = await query(ASK, values);
      if (rows.length < asks.length) {
        const insert = `INSERT INTO ${TABLE} (printer_id) SELECT unnest($1::text[]) AS id ORDER BY id ON CONFLICT DO NOTHING`;
        await query(insert, [ids]);
        rows = (await query(ASK, values)).rows;
      }
      return z
        .array(answerRow)
        .parse(rows)
        .map(({ printer_id, granted, ms, wanted, canceled }) => ({
          lane: printer_id,
          granted: granted ? ms : null,
          wanted,
          canceled,
        }));
    },
    async giveBack(agentId, of, term) {
      await query(
        `UPDATE ${TABLE} SET agent_id = '', term = '', until = '-infinity'
         WHERE printer_id = $1 AND agent_id = $2 AND term = $3`,
        [of, agentId, term],
      );
    },
    async mark(of, name, on) {
      await query(
        `INSERT INTO ${TABLE} AS l (printer_id, canceled) VALUES ($1, CASE WHEN $3 THEN ARRAY[$2] ELSE '{}' END)
         ON CONFLICT (printer_id) DO UPDATE SET canceled = array_remove(l.canceled, $2) || excluded.canceled`,
        [of, name, on],
      );
    },
    async holders(lanes) {
      const { rows } = await query(
        `SELECT printer_id, agent_id FROM ${TABLE} WHERE printer_id = ANY($1) AND until > now()`,
        [lanes],
      );
      const held = z.array(holderRow).parse(rows);
      return new Map(held.map(({ printer_id, agent_id }) => [printer_id, agent_id]));
    },
  };
}
