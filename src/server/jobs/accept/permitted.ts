/**
 * What an accepted job may still do when it is printed again, goes on, or goes to another printer. For printer commands it
 * needs the permission that its tenant has now. A test may go to virtual printers only, whoever sends it there. No job may go
 * to a shared printer that is granted to other tenants only.
 */
import { z } from 'zod';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import { bringsProgram } from '../../../render/document/document-file.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { oneJob } from '../../one-job.ts';
import { refusedBecause } from '../../problems.ts';
import type { Queryable } from '../../store/pool.ts';
import { printerCommandsOf } from '../../tenants/tenants.ts';
import { requirePrintable } from './printable-values.ts';

/**
 * The job with the permissions that its tenant has now. Within a transaction, the tenant keeps them until it ends. An agent
 * refuses a job that needs another permission, before the first byte.
 */
export async function withPermissionOfNow(db: Queryable, job: QueuedJob): Promise<QueuedJob> {
  const { printerCommands: _, ...harmless } = job;
  const allowed =
    bringsProgram(job.template, job.records) && (await printerCommandsOf(db, job.tenantId, 'FOR KEY SHARE'));
  return allowed ? { ...harmless, printerCommands: true } : harmless;
}

/** Refuses a job that needs a permission which its tenant has lost. @throws ProblemError those of `requirePrintable` */
export async function requirePermitted(db: Queryable, checks: CheckPool, job: QueuedJob): Promise<void> {
  const now = await withPermissionOfNow(db, job);
  if (job.printerCommands && !now.printerCommands) await requireJobPrintable(checks, now);
}

const printerNow = z.object({ granted: z.boolean(), fits: z.boolean() });

/**
 * Refuses a job whose tenant may not use its printer any more, and a test that is at no virtual printer any more.
 * @throws ProblemError `job-not-found`, `printer-unknown`, `printer-not-virtual`
 */
export async function requireItsPrinter(db: Queryable, id: string): Promise<void> {
  const sql = `SELECT NOT test OR platen.only_virtual(scope, printer_id) AS fits,
      platen.may_use(tenant_id, scope, (SELECT granted_to FROM platen.lane_settings s WHERE s.lane = jobs.lane)) AS granted
    FROM platen.jobs WHERE id = $1`;
  const { granted, fits } = await oneJob(db, printerNow, sql, id);
  if (!granted) throw refusedBecause('printer-unknown', because('printer-granted-no-more', {}));
  if (!fits) throw refusedBecause('printer-not-virtual', because('printer-real', {}));
}

/** @throws ProblemError those of `requirePrintable` */
export async function requireJobPrintable(checks: CheckPool, job: QueuedJob): Promise<void> {
  const { tenantId, template, format, orientation, printerCommands = false } = job;
  const request = { data: job.records, orientation, numberCopies: job.copies };
  await requirePrintable(checks, tenantId, { template, printerCommands, request, format });
}
