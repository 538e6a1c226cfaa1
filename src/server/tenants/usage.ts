/**
 * What a tenant has printed, by day, template and printer: labels of accepted jobs, as the quota counts them; no tests. Days that
 * are over are counted once and kept; those that are not, and those that nobody has counted yet, are counted when
 * somebody looks, along the index `jobs_of_tenant`.
 */
import { z } from 'zod';
import { MOST_NAMED, MOST_USAGE_DAYS, type Usage } from '../../contract/admin.ts';
import { ProblemError } from '../problems.ts';
import { type Pool, rowsOf, sqlState, transaction } from '../store/pool.ts';

/** h after its end when a day is counted for good: a job that is accepted now may be dated a little earlier. */
const SETTLED = 1;
/** Days that one round of housekeeping counts. */
const ONE_ROUND = 31;
/** ms that one request may cost the database. */
const DEADLINE = 5_000;
const QUERY_CANCELED = '57014';

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;
/** The day's jobs of a tenant. */
const OF_DAY = (tenant: string, day: string) =>
  `j.tenant_id = ${tenant} AND NOT j.test AND j.created_at >= ${day}::timestamp AT TIME ZONE 'UTC'
     AND j.created_at < (${day} + 1)::timestamp AT TIME ZONE 'UTC'`;
const COUNTED = `j.template_id, j.printer_id, max(j.template_name) AS template_name, max(j.printer_name) AS printer_name,
     count(*) AS jobs, sum(coalesce(j.labels_counted, j.records::bigint * j.copies)) AS labels`;

const count = z.coerce.number().int();
const counted = z.object({
  kind: z.enum(['day', 'template', 'printer']),
  /** A day as `2026-11-22`, or an ID. */
  id: z.string(),
  name: z.string().nullable(),
  jobs: count,
  labels: count,
});

/** Counts the days that are over, for all tenants; of several instances the first one counts a day. */
export async function countUsage(pool: Pool): Promise<void> {
  const due = await rowsOf(
    pool,
    z.object({ day: z.string() }),
    `SELECT d::date::text AS day
     FROM generate_series(${TODAY} - $1::integer, (now() AT TIME ZONE 'UTC' - interval '${SETTLED} hours')::date - 1,
       interval '1 day') d
     WHERE NOT EXISTS (SELECT FROM platen.usage_days_done o WHERE o.day = d::date) ORDER BY d DESC LIMIT ${ONE_ROUND}`,
    [MOST_USAGE_DAYS],
  );
  for (const { day } of due) {
    await transaction(pool, async (client) => {
      const { rowCount } = await client.query(
        'INSERT INTO platen.usage_days_done (day) VALUES ($1) ON CONFLICT DO NOTHING',
        [day],
      );
      if (rowCount === 0) return;
      await client.query(
        `INSERT INTO platen.usage_days (tenant_id, day, template_id, printer_id, template_name, printer_name, jobs, labels)
         SELECT t.id, $1::date, c.* FROM platen.tenants t
         CROSS JOIN LATERAL (SELECT ${COUNTED} FROM platen.jobs j WHERE ${OF_DAY('t.id', '$1::date')} GROUP BY 1, 2) c`,
        [day],
      );
    });
  }
  for (const table of ['usage_days', 'usage_days_done']) {
    await pool.query(`DELETE FROM platen.${table} WHERE day < ${TODAY} - $1::integer`, [MOST_USAGE_DAYS]);
  }
}

/** @param days that end with today. @throws ProblemError `not-ready`: counting takes too long */
export async function usageOf(pool: Pool, tenantId: string, days: number): Promise<Usage> {
  const rows = await transaction(pool, async (client) => {
    await client.query(`SELECT set_config('statement_timeout', $1, true)`, [String(DEADLINE)]);
    return await rowsOf(client, counted, SQL, [tenantId, days]);
  }).catch((cause: unknown) => {
    if (sqlState(cause) !== QUERY_CANCELED) throw cause;
    throw new ProblemError('not-ready', 'counting takes too long: ask for fewer days, or later', { cause });
  });
  const of = (kind: z.infer<typeof counted>['kind']) => rows.filter((row) => row.kind === kind);
  const named = (kind: 'template' | 'printer') =>
    of(kind).map(({ id, name, jobs, labels }) => ({ id, name: name ?? id, jobs, labels }));
  return {
    days: of('day').map(({ id: day, jobs, labels }) => ({ day, jobs, labels })),
    templates: named('template'),
    printers: named('printer'),
  };
}

/** Exported for a test, which looks at how PostgreSQL goes about it. */
export const SQL = `
WITH span AS (SELECT d::date AS day FROM generate_series(${TODAY} - ($2::integer - 1), ${TODAY}, interval '1 day') d),
 counted AS (
  SELECT u.day, u.template_id, u.printer_id, u.template_name, u.printer_name, u.jobs, u.labels
  FROM platen.usage_days u WHERE u.tenant_id = $1 AND u.day >= ${TODAY} - ($2::integer - 1)
  UNION ALL
  SELECT s.day, c.* FROM span s CROSS JOIN LATERAL (
    SELECT ${COUNTED} FROM platen.jobs j WHERE ${OF_DAY('$1', 's.day')} GROUP BY 1, 2) c
  WHERE NOT EXISTS (SELECT FROM platen.usage_days_done o WHERE o.day = s.day)),
 days AS (
  SELECT 'day' AS kind, s.day::text AS id, null AS name, coalesce(sum(c.jobs), 0) AS jobs, coalesce(sum(c.labels), 0) AS labels
  FROM span s LEFT JOIN counted c USING (day) GROUP BY s.day ORDER BY s.day),
 templates AS (
  SELECT 'template', template_id, max(template_name), sum(jobs), sum(labels) FROM counted
  GROUP BY template_id ORDER BY sum(labels) DESC, template_id LIMIT ${MOST_NAMED}),
 printers AS (
  SELECT 'printer', printer_id, max(printer_name), sum(jobs), sum(labels) FROM counted
  GROUP BY printer_id ORDER BY sum(labels) DESC, printer_id LIMIT ${MOST_NAMED})
SELECT * FROM days UNION ALL SELECT * FROM templates UNION ALL SELECT * FROM printers`;
