/**
 * Bounds how many templates a tenant has, and how large they are with their versions, so that nobody who imports
 * without end fills the database for all.
 */
import { z } from 'zod';
import { because } from '../../contract/reason.ts';
import type { ServerConfig } from '../config.ts';
import { refusedBecause } from '../problems.ts';
import { onlyRow, type Queryable } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';

export type TemplateLimits = Pick<ServerConfig['limits'], 'templates' | 'templateBytes'>;

const counted = z.object({ templates: z.int(), bytes: z.number() });

/**
 * Has whatever saves templates of the tenant wait for each other until the transaction ends, so that each is
 * counted before the next. Jobs are accepted meanwhile.
 * @throws ProblemError `tenant-not-found`
 */
export async function lockTemplates(client: Queryable, tenantId: string): Promise<void> {
  const sql = 'SELECT FROM platen.tenants WHERE id = $1 FOR NO KEY UPDATE';
  const { rowCount } = await client.query(sql, [tenantId]);
  if (rowCount === 0) throw tenantNotFound(tenantId);
}

/**
 * Call it when a template is saved, under `lockTemplates`. The oldest versions of the template make room for it.
 * @throws ProblemError `templates-limit`
 */
export async function requireRoom(
  client: Queryable,
  { tenantId, id, created }: { tenantId: string; id: string; created: boolean },
  limits: TemplateLimits,
): Promise<void> {
  let { templates, bytes } = await count(client, tenantId);
  if (created && templates > limits.templates) {
    const many = because('templates-many', { count: templates - 1, most: limits.templates });
    throw refusedBecause('templates-limit', many);
  }
  if (bytes <= limits.templateBytes) return;
  await dropVersions(client, id, bytes - limits.templateBytes);
  ({ bytes } = await count(client, tenantId));
  if (bytes <= limits.templateBytes) return;
  throw refusedBecause('templates-limit', because('templates-large', { bytes, most: limits.templateBytes }));
}

/** All templates of the tenant, and their bytes as they are stored. */
async function count(client: Queryable, tenantId: string): Promise<z.infer<typeof counted>> {
  return await onlyRow(
    client,
    counted,
    `SELECT count(*)::int AS templates, coalesce(sum(pg_column_size(t.body) + coalesce(pg_column_size(d.body), 0) + v.bytes), 0)::float8 AS bytes
     FROM platen.templates t LEFT JOIN platen.template_drafts d ON d.template_id = t.id CROSS JOIN LATERAL (
       SELECT coalesce(sum(pg_column_size(o.body)), 0) AS bytes FROM platen.template_versions o
       WHERE o.template_id = t.id) AS v
     WHERE t.tenant_id = $1`,
    [tenantId],
  );
}

/** Drops the oldest versions of a template, but never its newest, until `bytes` are free. */
async function dropVersions(client: Queryable, id: string, bytes: number): Promise<void> {
  await client.query(
    `DELETE FROM platen.template_versions WHERE template_id = $1 AND number IN (
       SELECT number FROM (
         SELECT number, max(number) OVER () AS newest,
           sum(pg_column_size(body)) OVER (ORDER BY number) - pg_column_size(body) AS before
         FROM platen.template_versions WHERE template_id = $1) AS o
       WHERE number < newest AND before < $2)`,
    [id, bytes],
  );
}
