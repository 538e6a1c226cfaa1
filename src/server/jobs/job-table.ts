/** Jobs as they are shown, and their cancelling. */
import { z } from 'zod';
import { jobFault } from '../../contract/fault.ts';
import { type JobStatus, type JobView, jobStatus } from '../../contract/job.ts';
import { orientation } from '../../contract/print-request.ts';
import { printerReason } from '../../contract/printer.ts';
import { jobId } from '../../contract/queued-job.ts';
import { ProblemError } from '../problems.ts';
import { type Pool, transaction } from '../store/pool.ts';
import { LOCK_PRINTER } from './dispatch.ts';
import type { JobQueue } from './queue-port.ts';

/** Every column but the payload, which may be megabytes. */
const COLUMNS = `id, tenant_id, template_id, template_name, printer_id, printer_name, format, orientation, copies,
  records, status, sent, printed, reasons, error, uncertain_from, uncertain_to, created_at, updated_at`;

const row = z.object({
  id: z.string(),
  tenant_id: z.string(),
  template_id: z.string(),
  template_name: z.string(),
  printer_id: z.string(),
  printer_name: z.string(),
  format: z.string(),
  orientation,
  copies: z.int(),
  records: z.int(),
  status: jobStatus,
  sent: z.int(),
  printed: z.int(),
  reasons: z.array(printerReason),
  error: jobFault.nullable(),
  uncertain_from: z.int().nullable(),
  uncertain_to: z.int().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});

export class JobTable {
  readonly #pool: Pool;
  readonly #queue: JobQueue;

  constructor(pool: Pool, queue: JobQueue) {
    this.#pool = pool;
    this.#queue = queue;
  }

  /** Of one tenant, or (undefined) of any. @throws ProblemError `job-not-found` */
  async get(id: string, tenantId: string | undefined): Promise<JobView> {
    const { rows } = jobId.safeParse(id).success
      ? await this.#pool.query(
          `SELECT ${COLUMNS} FROM platen.jobs WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2)`,
          [id, tenantId ?? null],
        )
      : { rows: [] };
    if (rows.length === 0) throw new ProblemError('job-not-found', 'there is no job with this ID');
    return view(rows[0]);
  }

  /** The newest first. */
  async list(filter: {
    tenant?: string | undefined;
    status?: JobStatus | undefined;
    limit: number;
  }): Promise<JobView[]> {
    const { rows } = await this.#pool.query(
      `SELECT ${COLUMNS} FROM platen.jobs
       WHERE ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR status = $2)
       ORDER BY seq DESC LIMIT $3`,
      [filter.tenant ?? null, filter.status ?? null, filter.limit],
    );
    return rows.map(view);
  }

  /**
   * Cancels a job that no agent has begun. It is taken out of the queue first: only what is certain not to print
   * any more is called canceled.
   * @throws ProblemError `job-not-found`, `job-not-queued`
   */
  async cancel(id: string): Promise<JobView> {
    const { printer } = await this.get(id, undefined);
    await transaction(this.#pool, async (client) => {
      // Nobody adds jobs to this printer's queue meanwhile.
      await client.query(LOCK_PRINTER, [printer.id]);
      const { rows } = await client.query<{ status: string; dispatched: boolean }>(
        'SELECT status, dispatched_at IS NOT NULL AS dispatched FROM platen.jobs WHERE id = $1 FOR UPDATE',
        [id],
      );
      const [job] = rows;
      if (job?.status !== 'queued') {
        throw new ProblemError(
          'job-not-queued',
          `the job is ${job?.status ?? 'gone'}; only a queued job can be canceled`,
        );
      }
      // Marked or not, the job may be in the queue: a crash can lose the mark.
      const removed = await this.#queue.remove(printer.id, id);
      if (!removed && (job.dispatched || (await this.#queue.has(printer.id, id)))) {
        throw new ProblemError('job-not-queued', 'an agent has taken the job already');
      }
      await client.query(
        // Handed back with labels under way: those may have come out.
        `UPDATE platen.jobs SET status = 'canceled', payload = NULL, updated_at = now(),
           uncertain_from = CASE WHEN sent > printed THEN printed END,
           uncertain_to = CASE WHEN sent > printed THEN sent END
         WHERE id = $1`,
        [id],
      );
    });
    return this.get(id, undefined);
  }
}

function view(raw: unknown): JobView {
  const job = row.parse(raw);
  return {
    id: job.id,
    tenant: job.tenant_id,
    status: job.status,
    labels: { total: job.records * job.copies, sent: job.sent, printed: job.printed },
    reasons: job.reasons,
    error: job.error,
    uncertain:
      job.uncertain_from === null || job.uncertain_to === null
        ? null
        : { from: job.uncertain_from, to: job.uncertain_to },
    printer: { id: job.printer_id, name: job.printer_name },
    template: { id: job.template_id, name: job.template_name },
    format: job.format,
    orientation: job.orientation,
    copies: job.copies,
    records: job.records,
    createdAt: job.created_at.toISOString(),
    updatedAt: job.updated_at.toISOString(),
  };
}
