/** Tenants and their print quota: labels per calendar month (UTC). */
import { z } from 'zod';
import type { TenantView } from '../../contract/admin.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';

/** A bigint comes as text. */
const labelCount = z.coerce.number().int();
const quotaRow = z.object({ quota_labels: labelCount.nullable() });
const tenantRow = quotaRow.extend({
  id: z.string(),
  name: z.string(),
  printer_commands: z.boolean(),
  used: labelCount,
});

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

const VIEW = `SELECT t.id, t.name, t.quota_labels, t.printer_commands,
    (SELECT coalesce(sum(u.labels), 0) FROM platen.usage u WHERE u.tenant_id = t.id AND u.month = ${MONTH}) AS used
  FROM platen.tenants t`;

export class Tenants {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async exists(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query('SELECT 1 FROM platen.tenants WHERE id = $1', [id]);
    return rowCount === 1;
  }

  /** Makes the tenant unless it is there; returns it. */
  async ensure(tenant: { id: string; name?: string | undefined }): Promise<TenantView> {
    await insert(this.#pool, tenant);
    return this.get(tenant.id);
  }

  /** @throws ProblemError `tenant-exists` */
  async create(tenant: { id: string; name?: string | undefined }, also: Also): Promise<TenantView> {
    await transaction(this.#pool, async (client) => {
      if (!(await insert(client, tenant)))
        throw new ProblemError('tenant-exists', `there is a tenant "${tenant.id}"`);
      await also(client);
    });
    return this.get(tenant.id);
  }

  /** @throws ProblemError `tenant-not-found` */
  async get(id: string): Promise<TenantView> {
    const row = await rowOf(this.#pool, tenantRow, `${VIEW} WHERE t.id = $1`, [id]);
    if (row === undefined) throw tenantNotFound(id);
    return view(row);
  }

  async list(): Promise<TenantView[]> {
    return (await rowsOf(this.#pool, tenantRow, `${VIEW} ORDER BY t.id`)).map(view);
  }

  /**
   * What the month has used already counts.
   * @param labels per calendar month; null: no limit
   * @throws ProblemError `tenant-not-found`
   */
  async setQuota(id: string, labels: number | null, also: Also): Promise<TenantView> {
    // The lock waits for jobs that are being accepted under the old limit (their insert holds a key share lock).
    await transaction(this.#pool, async (client) => {
      await client.query('SELECT 1 FROM platen.tenants WHERE id = $1 FOR UPDATE', [id]);
      await change(client, 'UPDATE platen.tenants SET quota_labels = $2 WHERE id = $1', id, labels);
      await also(client);
    });
    return this.get(id);
  }

  /**
   * Lets the tenant's raw templates set printers up, or no longer; templates that are there stay as they are.
   * @throws ProblemError `tenant-not-found`
   */
  async setPrinterCommands(id: string, allowed: boolean, also: Also): Promise<TenantView> {
    await transaction(this.#pool, async (client) => {
      await change(client, 'UPDATE platen.tenants SET printer_commands = $2 WHERE id = $1', id, allowed);
      await also(client);
    });
    return this.get(id);
  }
}

/** @throws ProblemError `tenant-not-found`, so that nothing is written of a change that was refused */
async function change(db: Queryable, sql: string, id: string, to: number | boolean | null): Promise<void> {
  const { rowCount } = await db.query(sql, [id, to]);
  if (rowCount === 0) throw tenantNotFound(id);
}

function tenantNotFound(id: string): ProblemError {
  return new ProblemError('tenant-not-found', `there is no tenant "${id}"`);
}

async function insert(db: Queryable, tenant: { id: string; name?: string | undefined }): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO platen.tenants (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [tenant.id, tenant.name ?? tenant.id],
  );
  return rowCount === 1;
}

/** Whether the tenant's raw templates may set printers up; false also where there is no such tenant. */
export async function printerCommandsOf(pool: Queryable, id: string): Promise<boolean> {
  const sql = 'SELECT printer_commands FROM platen.tenants WHERE id = $1';
  const row = await rowOf(pool, tenantRow.pick({ printer_commands: true }), sql, [id]);
  return row?.printer_commands ?? false;
}

function view(row: z.infer<typeof tenantRow>): TenantView {
  return {
    id: row.id,
    name: row.name,
    printerCommands: row.printer_commands,
    quota: { labels: row.quota_labels, used: row.used },
  };
}

/** @param quota what the month allows, and what is used of it */
export function quotaExceeded(quota: { labels: number; used: number }, labels: number): ProblemError {
  const left = Math.max(0, quota.labels - quota.used);
  return refusedBecause('quota-exceeded', because('quota-left', { labels, left, most: quota.labels }));
}

/** Checks the quota as accepting a job does, but takes nothing. @throws ProblemError `quota-exceeded` */
export async function checkQuota(db: Queryable, tenantId: string, labels: number): Promise<void> {
  const row = await onlyRow(db, quotaRow.extend({ used: labelCount }), `${VIEW} WHERE t.id = $1`, [tenantId]);
  if (row.quota_labels === null || row.used + labels <= row.quota_labels) return;
  throw quotaExceeded({ labels: row.quota_labels, used: row.used }, labels);
}
