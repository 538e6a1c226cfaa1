/** Jobs as they are shown. */
import { z } from 'zod';
import type { JobFilter } from '../../../contract/admin.ts';
import { jobFault } from '../../../contract/fault.ts';
import type { JobView } from '../../../contract/job.ts';
import { jobStatus, statesIn } from '../../../contract/job-life.ts';
import { type Lane, lane } from '../../../contract/lane.ts';
import { orientation } from '../../../contract/print-request.ts';
import { printerReason } from '../../../contract/printer.ts';
import { jobId } from '../../../contract/queued-job.ts';
import { HEARTBEAT_LOST } from '../../printers/printers.ts';
import { ProblemError } from '../../problems.ts';
import { inSql, type Pool, rowOf, rowsOf } from '../../store/pool.ts';

const UNDER_WAY = inSql(statesIn('under way'));
/** Every column but the payload, which may be megabytes. */
const COLUMNS = `id, tenant_id, template_id, template_name, printer_id, printer_name, format, orientation, copies,
  records, status, sent, printed, reasons, error, uncertain_from, uncertain_to, created_at, updated_at,
  cancel_requested_at IS NOT NULL AND status IN (${UNDER_WAY}) AS cancel_requested,
  CASE WHEN status IN (${UNDER_WAY}) AND reasons = '{}' THEN (
    SELECT CASE WHEN count(*) = 0 THEN ARRAY['printer-gone']
      WHEN NOT bool_or(a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})) THEN ARRAY['agent-offline'] END
    FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
    WHERE p.printer_id = jobs.printer_id AND p.gone_at IS NULL AND a.tenant_id IS NOT DISTINCT FROM jobs.scope
  ) END AS nobody`;

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
  cancel_requested: z.boolean(),
  /** `printer-gone` or `agent-offline`, where no agent can go on with it. */
  nobody: z.tuple([printerReason]).nullable(),
});

export class JobTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Of one tenant, or (undefined) of any. @throws ProblemError `job-not-found` */
  async get(id: string, tenantId: string | undefined): Promise<JobView> {
    const sql = `SELECT ${COLUMNS} FROM platen.jobs WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2)`;
    return view(await this.#one(row, sql, id, tenantId ?? null));
  }

  /** Where the job waits, or waited. @throws ProblemError `job-not-found` */
  async laneOf(id: string): Promise<Lane> {
    return (await this.#one(z.object({ lane }), 'SELECT lane FROM platen.jobs WHERE id = $1', id)).lane;
  }

  async #one<Row extends z.ZodType>(schema: Row, sql: string, id: string, ...values: unknown[]) {
    const found = jobId.safeParse(id).success
      ? await rowOf(this.#pool, schema, sql, [id, ...values])
      : undefined;
    if (found === undefined) throw new ProblemError('job-not-found', 'there is no job with this ID');
    return found;
  }

  /** The newest first. */
  async list(filter: JobFilter): Promise<JobView[]> {
    const { tenant, status, printer, template, since, until, limit } = filter;
    const [first, last] = filter.id === undefined ? [null, null] : ['0', 'f'].map(filledWith(filter.id));
    const rows = await rowsOf(
      this.#pool,
      row,
      `SELECT ${COLUMNS} FROM platen.jobs
       WHERE ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR status = $2)
         AND ($3::uuid IS NULL OR id BETWEEN $3 AND $4)
         AND ($5::text IS NULL OR printer_name = $5 OR starts_with(printer_id, $5))
         AND ($6::text IS NULL OR template_name = $6 OR starts_with(template_id, $6))
         AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at < $8)
       ORDER BY seq DESC LIMIT $9`,
      [tenant, status, first, last, printer, template, since, until, limit].map((value) => value ?? null),
    );
    return rows.map(view);
  }
}

/** The first or the last UUID that begins so. */
function filledWith(begun: string): (digit: string) => string {
  const digits = begun.replaceAll('-', '');
  return (digit) => digits.slice(0, 32).padEnd(32, digit);
}

function view(job: z.infer<typeof row>): JobView {
  return {
    id: job.id,
    tenant: job.tenant_id,
    status: job.status,
    labels: { total: job.records * job.copies, sent: job.sent, printed: job.printed },
    reasons: [
      ...job.reasons,
      ...(job.nobody ?? []),
      ...(job.cancel_requested ? (['cancel-requested'] as const) : []),
    ],
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
