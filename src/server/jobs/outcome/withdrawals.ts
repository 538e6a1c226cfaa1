/**
 * Holds jobs that wait with a permission for printer commands which their tenant has lost: a person releases them, without
 * the permission, or cancels them. A job that an agent has is printed; if the agent hands it back, it is held then.
 */
import { z } from 'zod';
import { faultFor } from '../../../contract/fault.ts';
import { jobStatus, statesIn } from '../../../contract/job-life.ts';
import { queueId } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import type { Logger } from '../../../log.ts';
import { isConnectionError } from '../../../queue/index.ts';
import { inSql, type Pool, rowsOf, transaction } from '../../store/pool.ts';
import { printerCommandsOf } from '../../tenants/tenants.ts';
import { lockJob } from './locked-job.ts';
import { type LaneQueue, takenOut } from './taken-out.ts';

/** Jobs that one sweep looks at. */
const LOOKED_AT = 500;

/** The time as text: as a `Date` it would lose its microseconds. */
const withdrawn = z.object({ id: z.string(), since: z.string() });
const carrying = z.object({ id: z.string(), status: jobStatus });

const WITHDRAWN = JSON.stringify(
  faultFor('permission-withdrawn', because('printer-commands-withdrawn', {})).fault,
);

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
  }

  async #ofTenant(tenant: z.infer<typeof withdrawn>): Promise<void> {
    const { pool, logger, changed } = this.#parts;
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
    const held: string[] = [];
    for (const { id } of jobs.filter(({ status }) => status === 'queued')) {
      try {
        if (await this.#hold(tenant.id, id)) held.push(id);
      } catch (error) {
        // Without the database or the queue each of the others would only wait for it in vain.
        if (isConnectionError(error)) throw error;
        logger.warn({ err: error, jobId: id }, 'a job is not held yet whose permission was withdrawn');
      }
    }
    if (held.length === 0) return;
    changed(held);
    logger.info({ tenant: tenant.id, jobs: held }, 'jobs wait whose permission was withdrawn; they are held');
  }

  /** False: it is not there to be held, or its agent has it. */
  async #hold(tenantId: string, id: string): Promise<boolean> {
    const { pool, queue } = this.#parts;
    return await transaction(pool, async (client) => {
      const job = await lockJob(client, id);
      if (job.status !== 'queued' || job.cancel_requested) return false;
      if (await printerCommandsOf(client, tenantId, 'FOR KEY SHARE')) return false;
      if ((await takenOut(queue, job.lane, id, job, false)) !== 'certain') return false;
      // As in a move: an addition to the lane that was given up may still succeed.
      if (!job.dispatched) await queue.markCanceled(job.lane, queueId(id, job.round), true);
      await client.query(
        `UPDATE platen.jobs SET status = 'held', reasons = '{}', error = $2, updated_at = now() WHERE id = $1`,
        [id, WITHDRAWN],
      );
      return true;
    });
  }
}
