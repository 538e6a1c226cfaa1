/** Refuses a job whose label does not fit the printer's media, where its tenant wants that; else it is a warning. */
import { z } from 'zod';
import { printsPages } from '../../../../drivers/languages/index.ts';
import type { PrinterFormat } from '../../../contract/format.ts';
import { misfit } from '../../../contract/media-fit.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import type { Reason } from '../../../contract/reason.ts';
import { faultAt, refusedBecause } from '../../problems.ts';
import { onlyRow, type Queryable } from '../../store/pool.ts';
import { tenantRules } from '../../tenants/tenants.ts';

type Fitting = Pick<QueuedJob, 'template' | 'orientation'> & { format: PrinterFormat };

function misfitOf({ template, orientation, format }: Fitting): Reason | undefined {
  return misfit(template, orientation, format, printsPages(format.language));
}

export function fitsMedia(job: Fitting): boolean {
  return misfitOf(job) === undefined;
}

/** @throws ProblemError `media-mismatch` */
export function requireFit(job: Fitting): void {
  const reason = misfitOf(job);
  if (reason !== undefined)
    throw refusedBecause('media-mismatch', reason, { errors: [faultAt('/format', reason, job.format.name)] });
}

const wanted = z.object(tenantRules).pick({ media_must_fit: true });

/** As `requireFit`, of a job that was accepted before and goes on elsewhere, or is printed again. */
export async function requireFitIfWanted(db: Queryable, job: Fitting & { tenantId: string }): Promise<void> {
  const sql = 'SELECT media_must_fit FROM platen.tenants WHERE id = $1';
  if ((await onlyRow(db, wanted, sql, [job.tenantId])).media_must_fit) requireFit(job);
}
