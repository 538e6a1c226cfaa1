/** Which tenants may use a shared printer. */
import { z } from 'zod';
import type { Lane } from '../../contract/lane.ts';
import { type Queryable, rowsOf } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';

const tenantRow = z.object({ id: z.string() });

/**
 * Grants a shared printer to these tenants and to no others, in the caller's transaction.
 * @param tenants null: to every tenant, also to those that are still to come
 * @throws ProblemError `tenant-not-found`
 */
export async function setGrants(db: Queryable, of: Lane, tenants: readonly string[] | null): Promise<void> {
  // Whoever erases one of them waits, and takes its grant away then.
  const sql = 'SELECT id FROM platen.tenants WHERE id = ANY($1) ORDER BY id FOR KEY SHARE';
  const known = tenants && (await rowsOf(db, tenantRow, sql, [tenants])).map(({ id }) => id);
  const missing = tenants?.find((id) => !known?.includes(id));
  if (missing !== undefined) throw tenantNotFound(missing);
  await db.query(
    `INSERT INTO platen.lane_settings (lane, granted_to) VALUES ($1, $2)
     ON CONFLICT (lane) DO UPDATE SET granted_to = excluded.granted_to`,
    [of, known],
  );
}
