/**
 * Erases a tenant: all that the service keeps of it, but for the audit, which says what was done there and that it was erased.
 *
 * First what lets anybody ask for something of the tenant goes; then its jobs, in small steps, so that no row of others waits
 * and no time limit ends it; then the tenant itself. A call ends after some seconds at the latest, and the next one goes on.
 */
import { z } from 'zod';
import type { TenantErased } from '../../contract/admin.ts';
import { statesIn } from '../../contract/job-life.ts';
import { HEARTBEAT_LOST } from '../printers/printers.ts';
import { ProblemError } from '../problems.ts';
import { type Also, inSql, onlyRow, type Pool, type Queryable, rowsOf, transaction } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';

/** Rows in one statement. */
const STEP = 500;
/** ms after which a call answers that there is more. */
const LONGEST = 8_000;

/** Tables that may have too much of the tenant for the one statement that deletes it and all that refers to it. */
const MANY = [
  `DELETE FROM platen.webhook_messages WHERE id IN (SELECT m.id FROM platen.webhook_messages m
     JOIN platen.webhooks w ON w.id = m.webhook_id WHERE w.tenant_id = $1 LIMIT ${STEP})`,
  ...['idempotency_keys', 'usage_days', 'job_names'].map(
    (table) =>
      `DELETE FROM platen.${table} WHERE ctid IN (SELECT ctid FROM platen.${table} WHERE tenant_id = $1 LIMIT ${STEP})`,
  ),
];

/** What keeps a tenant from being erased. */
const busyRow = z.object({ jobs: z.coerce.number(), agents: z.array(z.string()) });
const counted = z.object({ count: z.coerce.number() });
const name = z.object({ name: z.string() });

export class TenantErasure {
  readonly #pool: Pool;
  readonly #inLanes: boolean;

  /** @param inLanes the lanes are in this database */
  constructor(pool: Pool, inLanes: boolean) {
    this.#pool = pool;
    this.#inLanes = inLanes;
  }

  /**
   * @param also in the transaction with which the tenant is gone
   * @throws ProblemError `tenant-not-found`, `tenant-busy`: a job is under way, or an agent of the tenant runs
   */
  async erase(tenant: string, also: Also): Promise<TenantErased> {
    await transaction(this.#pool, async (client) => {
      await lockIdle(client, tenant);
      // Its secrets, people and templates go first: from now on nobody asks for a label.
      for (const table of ['integrations', 'people', 'templates'])
        await client.query(`DELETE FROM platen.${table} WHERE tenant_id = $1`, [tenant]);
    });
    const end = Date.now() + LONGEST;
    let jobs = 0;
    for (let left = STEP; left === STEP; jobs += left) {
      if (Date.now() > end) return { tenant, erased: false, jobs };
      left = await this.#jobs(tenant);
    }
    for (const rows of MANY)
      for (let left = STEP; left === STEP; ) {
        if (Date.now() > end) return { tenant, erased: false, jobs };
        const { rowCount } = await this.#pool.query(rows, [tenant]);
        left = rowCount ?? 0;
      }
    const audit = await transaction(this.#pool, async (client) => {
      await lockIdle(client, tenant);
      for (const table of [
        'jobs',
        'job_values',
        'job_templates',
        'agents',
        'agent_invitations',
        'enrolled_agents',
      ])
        await client.query(`DELETE FROM platen.${table} WHERE tenant_id = $1`, [tenant]);
      for (const table of ['lane_settings', 'printer_attention'])
        await client.query(`DELETE FROM platen.${table} WHERE starts_with(lane, $1 || '/')`, [tenant]);
      if (this.#inLanes) await client.query("SELECT lanes.forget('{}', $1)", [tenant]);
      await client.query('DELETE FROM platen.tenants WHERE id = $1', [tenant]);
      await also(client);
      const sql = 'SELECT count(*) AS count FROM platen.audit WHERE tenant_id = $1';
      return (await onlyRow(client, counted, sql, [tenant])).count;
    });
    return { tenant, erased: true, jobs, audit };
  }

  /** Deletes some jobs, with what the lanes know of them. */
  async #jobs(tenant: string): Promise<number> {
    return await transaction(this.#pool, async (client) => {
      const names = await rowsOf(
        client,
        name,
        `WITH gone AS (
           DELETE FROM platen.jobs WHERE id IN (
             SELECT id FROM platen.jobs WHERE tenant_id = $1 AND status NOT IN (${inSql(statesIn('under way'))})
             LIMIT ${STEP} FOR UPDATE)
           RETURNING id, round)
         SELECT id || CASE WHEN n > 0 THEN '.' || n ELSE '' END AS name FROM gone, generate_series(0, round) AS n`,
        [tenant],
      );
      const queued = names.map((row) => row.name);
      if (this.#inLanes) await client.query('SELECT lanes.forget($1, NULL)', [queued]);
      return queued.filter((one) => !one.includes('.')).length;
    });
  }
}

/** Locks the tenant against jobs that are being accepted. @throws ProblemError */
async function lockIdle(client: Queryable, tenant: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM platen.tenants WHERE id = $1 FOR UPDATE', [tenant]);
  if (rowCount === 0) throw tenantNotFound(tenant);
  const { jobs, agents } = await onlyRow(
    client,
    busyRow,
    `SELECT (SELECT count(*) FROM platen.jobs WHERE tenant_id = $1
         AND (status IN (${inSql(statesIn('under way'))}) OR cancel_requested_at IS NOT NULL)) AS jobs,
       ARRAY(SELECT name FROM platen.agents WHERE tenant_id = $1 AND online
         AND seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST}) ORDER BY name) AS agents`,
    [tenant],
  );
  if (jobs > 0)
    throw new ProblemError('tenant-busy', `${jobs} jobs of "${tenant}" are under way: cancel them first`);
  if (agents.length > 0)
    throw new ProblemError(
      'tenant-busy',
      `agents of "${tenant}" run: stop them first (${agents.join(', ')})`,
    );
}
