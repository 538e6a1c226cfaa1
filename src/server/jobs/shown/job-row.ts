/** A job's row as it is shown. The SQL is for `FROM platen.jobs`, without an alias. */
import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import { jobStatus, statesIn } from '../../../contract/job-life.ts';
import { orientation } from '../../../contract/print-request.ts';
import { printerReason } from '../../../contract/printer.ts';
import { tolerantFault, tolerantReasons } from '../../../contract/read-report.ts';
import { oneJob } from '../../one-job.ts';
import { HEARTBEAT_LOST } from '../../printers/printers.ts';
import { inSql, type Queryable } from '../../store/pool.ts';
import type { Whose } from '../../tenants/whose.ts';

const UNDER_WAY = inSql(statesIn('under way'));
/** Every column but the payload, which may be megabytes. */
export const COLUMNS = `id, tenant_id, template_id, template_name, printer_id, printer_name, format, orientation, copies,
  records, test, status, sent, printed, reasons, error, uncertain_from, uncertain_to, created_at, updated_at,
  cancel_requested_at IS NOT NULL AND status IN (${UNDER_WAY}) AS cancel_requested,
  status = 'queued' AND EXISTS (
    SELECT FROM platen.lane_settings s WHERE s.lane = jobs.lane AND s.held_at IS NOT NULL) AS lane_held,
  CASE WHEN status IN (${UNDER_WAY}) AND reasons = '{}' THEN (
    SELECT CASE WHEN count(*) = 0 THEN ARRAY['printer-gone']
      WHEN NOT bool_or(a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})) THEN ARRAY['agent-offline'] END
    FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
    WHERE p.printer_id = jobs.printer_id AND p.gone_at IS NULL AND a.tenant_id IS NOT DISTINCT FROM jobs.scope
  ) END AS nobody`;

export const jobRow = z.object({
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
  test: z.boolean(),
  status: jobStatus,
  sent: z.int(),
  printed: z.int(),
  /** A later version, beside this one or before it, may have stored words that this one does not know. */
  reasons: tolerantReasons,
  error: tolerantFault.nullable(),
  uncertain_from: z.int().nullable(),
  uncertain_to: z.int().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
  cancel_requested: z.boolean(),
  lane_held: z.boolean(),
  /** `printer-gone` or `agent-offline`, where no agent can go on with it. */
  nobody: z.tuple([printerReason]).nullable(),
});

/** Any job, or one that this caller may see. @throws ProblemError `job-not-found` */
export async function shownJob(db: Queryable, id: string, to?: Whose): Promise<JobView> {
  const sql = `SELECT ${COLUMNS} FROM platen.jobs WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2 AND test = $3)`;
  return jobViewOf(await oneJob(db, jobRow, sql, id, to?.tenantId ?? null, to?.test ?? null));
}

export function jobViewOf(job: z.infer<typeof jobRow>): JobView {
  return {
    id: job.id,
    tenant: job.tenant_id,
    status: job.status,
    labels: { total: job.records * job.copies, sent: job.sent, printed: job.printed },
    reasons: [
      ...job.reasons,
      ...(job.nobody ?? []),
      ...(job.lane_held ? (['printer-held'] as const) : []),
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
    ...(job.test && { test: true as const }),
    createdAt: job.created_at.toISOString(),
    updatedAt: job.updated_at.toISOString(),
  };
}
