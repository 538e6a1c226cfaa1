/**
 * Holds waiting jobs that may no longer be printed. These are: jobs with printer commands whose tenant has lost the permission
 * (a person releases them without it, or cancels them); jobs at a shared printer that is no longer granted to their tenant; and
 * tests whose printer an agent now has as a real one. A job that an agent already has is printed; if the agent hands it back,
 * it is held then.
 */
import { z } from 'zod';
import { faultFor } from '../../../contract/fault.ts';
import { jobStatus, statesIn } from '../../../contract/job-life.ts';
import { queueId } from '../../../contract/queued-job.ts';
import { because, type Reason } from '../../../contract/reason.ts';
import type { Logger } from '../../../log.ts';
import { isConnectionError } from '../../../queue/index.ts';
import { inSql, type Pool, type Queryable, rowsOf, transaction } from '../../store/pool.ts';
import { printerCommandsOf } from '../../tenants/tenants.ts';
import { lockJob } from './locked-job.ts';
import { type LaneQueue, takenOut } from './taken-out.ts';

/** Jobs that one sweep looks at. */
const LOOKED_AT = 500;

/** The time as text: as a `Date` it would lose its microseconds. */
const withdrawn = z.object({ id: z.string(), since: z.string() });
const carrying = z.object({ id: z.string(), status: jobStatus });

/**
 * Tests that might be taken by an agent without virtual printers. An agent with virtual printers is a service's own; at each start
 * it may have other printers for a moment than the service has noted. Where no agent has the printer, tests wait.
 */
const REAL_TESTS = `SELECT id, status FROM platen.jobs j WHERE test AND status = 'queued' AND EXISTS (
  SELECT FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
  WHERE p.printer_id = j.printer_id AND p.gone_at IS NULL AND a.tenant_id IS NOT DISTINCT FROM j.scope
    AND NOT EXISTS (SELECT FROM platen.virtual_printers v WHERE v.agent_id = a.id))`;

const NOT_GRANTED = `SELECT j.id, j.status FROM platen.lane_settings s JOIN platen.jobs j ON j.lane = s.lane
  WHERE s.granted_to IS NOT NULL AND j.status = 'queued' AND NOT platen.may_use(j.tenant_id, j.scope, s.granted_to)`;

type Withdrawn = { why: Reason; still: (client: Queryable) => Promise<boolean> };

type Parts = { pool: Pool; queue: LaneQueue; logger: Logger; changed: (jobs: string[]) => void };

export class Withdrawals {
  readonly #parts: Parts;

  /** @param parts `changed` is called with jobs that open pages should ask for again */
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async sweep(): Promise<void> {
    const sql = `SELECT id, commands_withdrawn_at::text AS since FROM platen.tenants WHERE commands_withdrawn_at IS NOT NULL`;
    for (const tenant of await rowsOf(this.#parts.pool, withdrawn, sql)) await this.#ofTenant(tenant);
    await this.#found(REAL_TESTS, because('printer-real', {}));
    await this.#found(NOT_GRANTED, because('printer-granted-no-more', {}));
  }

  /** @param jobs the SQL of a query for them, of `platen.jobs AS j` */
  async #found(jobs: string, why: Reason): Promise<void> {
    const found = await rowsOf(this.#parts.pool, carrying, `${jobs} ORDER BY j.seq LIMIT ${LOOKED_AT}`);
    await this.#holdAll(found, (id) => ({
      why,
      still: async (client) => (await rowsOf(client, carrying, `${jobs} AND j.id = $1`, [id])).length > 0,
    }));
  }

  async #ofTenant(tenant: z.infer<typeof withdrawn>): Promise<void> {
    const { pool } = this.#parts;
    const jobs = await rowsOf(
      pool,
      carrying,
      `SELECT id, status FROM platen.jobs WHERE tenant_id = $1 AND status IN (${inSql(statesIn('under way'))})
         AND payload ->> 'printerCommands' = 'true' ORDER BY status DESC, seq LIMIT ${LOOKED_AT}`,
      [tenant.id],
    );
    if (jobs.length === 0) {
      await pool.query(
        'UPDATE platen.tenants SET commands_withdrawn_at = NULL WHERE id = $1 AND commands_withdrawn_at = $2::timestamptz',
        [tenant.id, tenant.since],
      );
      return;
    }
    await this.#holdAll(jobs, () => ({
      why: because('printer-commands-withdrawn', {}),
      still: async (client) => !(await printerCommandsOf(client, tenant.id, 'FOR KEY SHARE')),
    }));
  }

  /** Holds those that wait. @param what of a job, by its ID */
  async #holdAll(jobs: z.infer<typeof carrying>[], what: (id: string) => Withdrawn): Promise<void> {
    const { logger, changed } = this.#parts;
    const held: string[] = [];
    for (const { id } of jobs.filter(({ status }) => status === 'queued')) {
      try {
        if (await this.#hold(id, what(id))) held.push(id);
      } catch (error) {
        // Without the database or the queue each of the others would only wait for it in vain.
        if (isConnectionError(error)) throw error;
        logger.warn({ err: error, jobId: id }, 'a job is not held yet whose permission was withdrawn');
      }
    }
    if (held.length === 0) return;
    changed(held);
    logger.info({ jobs: held }, 'jobs wait whose permission was withdrawn; they are held');
  }

  /** False: the job can no longer be held, or its agent has it. */
  async #hold(id: string, { why, still }: Withdrawn): Promise<boolean> {
    const { pool, queue } = this.#parts;
    return await transaction(pool, async (client) => {
      const job = await lockJob(client, id);
      if (job.status !== 'queued' || job.cancel_requested) return false;
      if (!(await still(client))) return false;
      if ((await takenOut(queue, job.lane, id, job, false)) !== 'certain') return false;
      // As in a move: the dispatcher may have given up adding the job to the lane, and the addition may still succeed.
      if (!job.dispatched) await queue.markCanceled(job.lane, queueId(id, job.round), true);
      await client.query(
        `UPDATE platen.jobs SET status = 'held', reasons = '{}', error = $2, updated_at = now() WHERE id = $1`,
        [id, JSON.stringify(faultFor('permission-withdrawn', why).fault)],
      );
      return true;
    });
  }
}
