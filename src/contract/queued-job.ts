/**
 * What waits in a printer's lane: everything an agent needs to print, so that it prints while the service is
 * down, and a template edited later does not change what was queued.
 */
import { z } from 'zod';
import { printerFormat } from './format.ts';
import { jobId, round } from './job-id.ts';
import { scope } from './lane.ts';
import { labelRecord, orientation } from './print-request.ts';
import { printerId } from './printer.ts';
import { template } from './template.ts';

export const queuedJob = z.object({
  /**
   * 2: a job that goes on (`resume`). 3: labels of another job again, with their numbers (`again`). An agent
   * that knows neither would print from the start, or other numbers, so it must be unable to read the job.
   */
  v: z.literal([1, 2, 3]),
  jobId,
  tenantId: z.string().min(1),
  /** The scope of the job's agents, and so of its lane. */
  scope,
  printerId,
  templateId: z.string().min(1),
  template,
  format: printerFormat,
  orientation,
  copies: z.int().min(1),
  /** One entry a label record; a template-only job has one empty record. */
  records: z.array(labelRecord).min(1),
  createdAt: z.iso.datetime(),
  /** The tenant's raw templates may set printers up (see `docs/templates.md`). */
  printerCommands: z.literal(true).exactOptional(),
  /**
   * Some labels of another job, printed again as they were. Each record is one label; `labels` has the index
   * of each one's record and copy in the other job, which had `records` records of `copies` copies.
   */
  again: z
    .object({
      jobId,
      records: z.int().min(1),
      copies: z.int().min(1),
      labels: z.array(z.tuple([z.int().min(0), z.int().min(0)])).min(1),
    })
    .exactOptional(),
  /** A person decided that the job goes on, and that the first `from` labels are not printed any more. */
  resume: z.object({ round, from: z.int().min(0) }).exactOptional(),
});
export type QueuedJob = z.infer<typeof queuedJob>;

/**
 * What the job is called in its lane and in the agent's journal: `<job ID>`, and in later rounds `<job ID>.<round>`.
 * A name of its own for each round, since queue and journal remember what has ended and do not print it again.
 * BullMQ wants neither an integer nor a colon.
 */
export function queueIdOf(job: Pick<QueuedJob, 'jobId' | 'resume'>): string {
  return queueId(job.jobId, job.resume?.round ?? 0);
}

/** @param rounds as `round`; 0: the first time */
export function queueId(id: string, rounds: number): string {
  return rounds === 0 ? id : `${id}.${rounds}`;
}

/** null: the text is no name of a job. */
export function parseQueueId(text: string): { jobId: string; round: number } | null {
  const [id = '', rounds = '0', ...more] = text.split('.');
  const parsed = z
    .object({ jobId, round: round.or(z.literal(0)) })
    .safeParse({ jobId: id, round: Number(rounds) });
  return parsed.success && more.length === 0 && queueId(id, parsed.data.round) === text ? parsed.data : null;
}

/** The labels a job prints: records × copies. */
export function labelCount(job: Pick<QueuedJob, 'records' | 'copies'>): number {
  return job.records.length * job.copies;
}

/** How many labels are on a page, where pages are printed: one, or those of the template's sheet. */
export function labelsOnSheet({ template }: Pick<QueuedJob, 'template'>): number {
  if (template.language !== 'platen' || template.sheet === undefined) return 1;
  return template.sheet.columns * template.sheet.rows;
}
