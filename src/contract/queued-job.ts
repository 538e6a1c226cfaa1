/**
 * What waits in a printer's queue: everything an agent needs to print, so that it prints while the service is
 * down, and a template edited later does not change what was queued.
 */
import { z } from 'zod';
import { printerFormat, printsPages } from './format.ts';
import { labelRecord, orientation } from './print-request.ts';
import { printerId } from './printer.ts';
import { template } from './template.ts';

/** Also BullMQ's job ID: neither an integer nor with a colon. */
export const jobId = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);

export const queuedJob = z.object({
  v: z.literal(1),
  jobId,
  tenantId: z.string().min(1),
  printerId,
  templateId: z.string().min(1),
  template,
  format: printerFormat,
  orientation,
  copies: z.int().min(1),
  /** One entry a label record; a template-only job has one empty record. */
  records: z.array(labelRecord).min(1),
  createdAt: z.iso.datetime(),
});
export type QueuedJob = z.infer<typeof queuedJob>;

/** The labels a job prints: records × copies. */
export function labelCount(job: Pick<QueuedJob, 'records' | 'copies'>): number {
  return job.records.length * job.copies;
}

/** How many labels the printer puts on a page: those of the sheet, where it prints pages and the template has one. */
export function labelsPerPage({ template, format }: Pick<QueuedJob, 'template' | 'format'>): number {
  if (template.language === 'zpl' || template.sheet === undefined || !printsPages(format.language)) return 1;
  return template.sheet.columns * template.sheet.rows;
}
