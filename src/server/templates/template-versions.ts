/** The versions of a template, one for each time it was saved, and the printers that printed it lately. */
import { z } from 'zod';
import type { TemplateUses, TemplateVersion, TemplateVersionView } from '../../contract/template-versions.ts';
import { ProblemError } from '../problems.ts';
import { type Pool, type Queryable, rowOf, rowsOf } from '../store/pool.ts';

/** Versions of a template that are kept. */
const KEPT = 100;
/** The newest jobs that uses are counted from, and the days that they may be old. */
const LATEST = 1_000;
const DAYS = 30;

const versionRow = z.object({
  number: z.int(),
  name: z.string(),
  who: z.string().nullable(),
  at: z.date(),
});
const printerRow = z.object({ id: z.string(), name: z.string(), jobs: z.int(), last: z.date() });

/** Keeps what the template is now, unless nothing has changed. Call it in the transaction that saves it. */
export async function keepVersion(client: Queryable, id: string, who: string): Promise<void> {
  await client.query(
    `WITH newest AS (
       SELECT number, body FROM platen.template_versions WHERE template_id = $1 ORDER BY number DESC LIMIT 1)
     INSERT INTO platen.template_versions (template_id, number, name, body, who)
     SELECT t.id, coalesce(n.number, 0) + 1, t.name, t.body, $2
     FROM platen.templates t LEFT JOIN newest n ON true
     WHERE t.id = $1 AND t.body::text IS DISTINCT FROM n.body::text`,
    [id, who],
  );
  await client.query(
    `DELETE FROM platen.template_versions WHERE template_id = $1
       AND number <= (SELECT max(number) FROM platen.template_versions WHERE template_id = $1) - ${KEPT}`,
    [id],
  );
}

const OF_TENANT = `FROM platen.template_versions v JOIN platen.templates t ON t.id = v.template_id
  WHERE t.tenant_id = $1 AND t.id = $2`;

/** The newest first; of a template that is not the tenant's there are none. */
export async function versionsOf(pool: Pool, tenantId: string, id: string): Promise<TemplateVersionView[]> {
  if (!isId(id)) return [];
  const rows = await rowsOf(
    pool,
    versionRow,
    `SELECT v.number, v.name, v.who, v.at ${OF_TENANT} ORDER BY v.number DESC LIMIT ${KEPT}`,
    [tenantId, id],
  );
  return rows.map(shown);
}

/** @throws ProblemError `template-not-found` */
export async function versionOf(
  pool: Pool,
  tenantId: string,
  id: string,
  number: number,
): Promise<TemplateVersion> {
  const row = isId(id)
    ? await rowOf(
        pool,
        versionRow.extend({ body: z.unknown() }),
        `SELECT v.number, v.name, v.who, v.at, v.body ${OF_TENANT} AND v.number = $3`,
        [tenantId, id, number],
      )
    : undefined;
  if (row === undefined) throw new ProblemError('template-not-found', `there is no version ${number} of it`);
  return { ...shown(row), template: row.body };
}

/** Which printers have printed it lately; of the newest jobs alone. */
export async function usesOf(pool: Pool, tenantId: string, id: string): Promise<TemplateUses> {
  const rows = await rowsOf(
    pool,
    printerRow,
    `SELECT printer_id AS id, (array_agg(printer_name ORDER BY created_at DESC))[1] AS name, count(*)::int AS jobs,
       max(created_at) AS last
     FROM (SELECT printer_id, printer_name, created_at FROM platen.jobs
       WHERE tenant_id = $1 AND template_id = $2 AND created_at > now() - interval '${DAYS} days'
       ORDER BY created_at DESC, id DESC LIMIT ${LATEST}) AS latest
     GROUP BY printer_id ORDER BY last DESC LIMIT 50`,
    [tenantId, isId(id) ? id : ''],
  );
  const jobs = rows.reduce((sum, row) => sum + row.jobs, 0);
  return {
    days: DAYS,
    jobs,
    more: jobs >= LATEST,
    printers: rows.map(({ last, ...row }) => ({ ...row, last: last.toISOString() })),
  };
}

/** Anything else is no ID of ours and is not looked up: PostgreSQL refuses a NUL in a text. */
function isId(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

function shown({ at, number, name, who }: z.infer<typeof versionRow>): TemplateVersionView {
  return { number, name, who, at: at.toISOString() };
}
