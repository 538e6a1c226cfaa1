/** Leases in PostgreSQL: a row for each lane, locked in one order so that concurrent questions cannot deadlock. */
import { z } from 'zod';
import { lane } from '../../contract/lane.ts';
import { HELD, type LeaseStore } from '../lease.ts';
import { CHANNEL, markedRing } from './bell.ts';

/**
 * now() is when the statement began. That is not before the agent asked; and after a wait for a lock it lies
 * in the past, so no lease is taken over before it has ended.
 */
const ASK = `
  WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::text[], $4::boolean[], $7::boolean[], $8::float8[], $9::bigint[])
      AS asked(lane, term, reaches, fresh, keeps, question)
  ), found AS (
    SELECT l.lane, asked.term, asked.reaches, asked.keeps, asked.question, l.question AS before, l.until,
      l.agent_id = $1 AND split_part(l.term, '.', 1) = split_part(asked.term, '.', 1) AS same,
      l.agent_id = $1 AND (asked.fresh OR split_part(l.term, '.', 1) = split_part(asked.term, '.', 1)) AS mine,
      l.rival_id <> $1 AND l.rival_until > now() AS contended,
      l.rival_id <> $1 AND l.rival_until > now() AND l.rival_reaches AS wanted
    FROM lanes.lease AS l JOIN asked USING (lane) ORDER BY l.lane FOR UPDATE OF l
  ), decided AS (
    SELECT *, mine OR (until <= now() AND (reaches OR NOT wanted)) AS granted,
      CASE WHEN contended THEN $5::integer ELSE $6::integer END AS ms
    FROM found
  )
  UPDATE lanes.lease AS l SET
    agent_id = CASE WHEN granted THEN $1 ELSE l.agent_id END,
    term = CASE WHEN granted THEN d.term ELSE l.term END,
    until = CASE WHEN NOT granted THEN l.until
      WHEN same AND d.question > before THEN now() + make_interval(secs => greatest(ms, keeps) / 1000.0)
      ELSE greatest(CASE WHEN mine THEN l.until END, now() + make_interval(secs => ms / 1000.0)) END,
    turn = CASE WHEN granted AND l.term <> d.term THEN 0 ELSE l.turn END,
    question = CASE WHEN granted THEN greatest(d.question, CASE WHEN same THEN before END) ELSE l.question END,
    rival_id = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_id ELSE $1 END,
    rival_reaches = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_reaches ELSE reaches END,
    rival_until = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_until
      ELSE now() + make_interval(secs => $5::integer / 1000.0) END
  FROM decided AS d WHERE l.lane = d.lane
  RETURNING l.lane, granted, ms, wanted, CASE WHEN granted THEN l.canceled ELSE '{}' END AS canceled`;

const answerRow = z.object({
  lane,
  granted: z.boolean(),
  ms: z.int(),
  wanted: z.boolean(),
  canceled: z.array(z.string()),
});
const holderRow = z.object({ lane, agent_id: z.string() });

/** @param query runs on a connection that finds the schema `lanes` */
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
        const insert = `INSERT INTO lanes.lease (lane) SELECT unnest($1::text[]) AS id ORDER BY id ON CONFLICT DO NOTHING`;
        await query(insert, [ids]);
        rows = (await query(ASK, values)).rows;
      }
      return z
        .array(answerRow)
        .parse(rows)
        .map(({ lane, granted, ms, wanted, canceled }) => ({
          lane,
          granted: granted ? ms : null,
          wanted,
          canceled,
        }));
    },
    async giveBack(agentId, of, term) {
      await query(
        `UPDATE lanes.lease SET agent_id = '', term = '', until = '-infinity'
         WHERE lane = $1 AND agent_id = $2 AND term = $3`,
        [of, agentId, term],
      );
    },
    async mark(of, name, on) {
      await query(
        `WITH marked AS (
           INSERT INTO lanes.lease AS l (lane, canceled) VALUES ($1, CASE WHEN $3 THEN ARRAY[$2] ELSE '{}' END)
           ON CONFLICT (lane) DO UPDATE SET canceled = array_remove(l.canceled, $2) || excluded.canceled)
         SELECT pg_notify('${CHANNEL}', $4) WHERE $3 OR $2 = '${HELD}'`,
        [of, name, on, markedRing(of)],
      );
    },
    async holders(lanes) {
      const { rows } = await query(
        `SELECT lane, agent_id FROM lanes.lease WHERE lane = ANY($1) AND until > now()`,
        [lanes],
      );
      const held = z.array(holderRow).parse(rows);
      return new Map(held.map((row) => [row.lane, row.agent_id]));
    },
  };
}
