/** Tenants and their print quota: labels per calendar month (UTC). */
import { z } from 'zod';
import type { TenantView } from '../../contract/admin.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';

/** A bigint comes as text. */
const labelCount = z.coerce.number().int();
const quotaRow = z.object({ quota_labels: labelCount.nullable() });
/** What an administrator has decided about a tenant's jobs. */
export const tenantRules = { printer_commands: z.boolean(), media_must_fit: z.boolean() };
const tenantRow = quotaRow.extend({
  test_labels: labelCount,
  used_by_tests: labelCount,
  id: z.string(),
  name: z.string(),
  ...tenantRules,
  used: labelCount,
});

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

const USED = (tests: string) => `(SELECT coalesce(sum(u.labels), 0) FROM platen.usage u
    WHERE u.tenant_id = t.id AND u.month = ${MONTH} AND u.test = ${tests})`;
const VIEW = `SELECT t.id, t.name, t.quota_labels, t.test_labels, t.printer_commands, t.media_must_fit,
    ${USED('false')} AS used, ${USED('true')} AS used_by_tests
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
    return await this.#set('quota_labels = $2', id, labels, also);
  }

  /**
   * Lets the tenant's raw templates set printers up, or no longer. Templates stay as they are; of jobs that wait
   * `Withdrawals` holds those that were accepted with a permission that is no longer there.
   * @throws ProblemError `tenant-not-found`
   */
  async setPrinterCommands(id: string, allowed: boolean, also: Also): Promise<TenantView> {
    const sql = 'printer_commands = $2, commands_withdrawn_at = CASE WHEN $2 THEN NULL ELSE now() END';
    return await this.#set(sql, id, allowed, also);
  }

  /** Has jobs refused whose label does not fit the printer's media, or only warned of. @throws ProblemError `tenant-not-found` */
  async setMediaMustFit(id: string, must: boolean, also: Also): Promise<TenantView> {
    return await this.#set('media_must_fit = $2', id, must, also);
  }

  async #set(assignment: string, id: string, to: number | boolean | null, also: Also): Promise<TenantView> {
    await transaction(this.#pool, async (client) => {
      // Jobs that are being accepted as it was before hold a key share lock: this waits for them.
      await client.query('SELECT 1 FROM platen.tenants WHERE id = $1 FOR UPDATE', [id]);
      await change(client, `UPDATE platen.tenants SET ${assignment} WHERE id = $1`, id, to);
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

async function insert(db: Queryable, tenant: { id: string; name?: string | undefined }): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO platen.tenants (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [tenant.id, tenant.name ?? tenant.id],
  );
  return rowCount === 1;
}

/**
 * Whether the tenant's raw templates may set printers up; false also where there is no such tenant.
 * @param lock `FOR KEY SHARE`: it stays so until the transaction ends
 */
export async function printerCommandsOf(
  db: Queryable,
  id: string,
  lock: '' | 'FOR KEY SHARE' = '',
): Promise<boolean> {
  const sql = `SELECT printer_commands FROM platen.tenants WHERE id = $1 ${lock}`;
  const row = await rowOf(db, tenantRow.pick({ printer_commands: true }), sql, [id]);
  return row?.printer_commands ?? false;
}

function view(row: z.infer<typeof tenantRow>): TenantView {
  return {
    id: row.id,
    name: row.name,
    printerCommands: row.printer_commands,
    mediaMustFit: row.media_must_fit,
    quota: {
      ...{ labels: row.quota_labels, used: row.used },
      tests: { labels: row.test_labels, used: row.used_by_tests },
    },
  };
}

/** @param quota what the month allows, and what is used of it */
export function quotaExceeded(quota: { labels: number; used: number }, labels: number): ProblemError {
  const left = Math.max(0, quota.labels - quota.used);
  return refusedBecause('quota-exceeded', because('quota-left', { labels, left, most: quota.labels }));
}

/** Checks the quota as accepting a job does, but takes nothing. @throws ProblemError `quota-exceeded` */
export async function checkQuota(
  db: Queryable,
  tenantId: string,
  labels: number,
  test: boolean,
): Promise<void> {
  const sql = `SELECT CASE WHEN $2 THEN t.test_labels ELSE t.quota_labels END AS quota_labels, ${USED('$2')} AS used
    FROM platen.tenants t WHERE t.id = $1`;
  const row = await onlyRow(db, quotaRow.extend({ used: labelCount }), sql, [tenantId, test]);
  if (row.quota_labels === null || row.used + labels <= row.quota_labels) return;
  throw quotaExceeded({ labels: row.quota_labels, used: row.used }, labels);
}
