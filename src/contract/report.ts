/**
 * What an agent tells the service, through a durable stream or queue. A report is complete in itself, may arrive late
 * or twice, and is applied only if it is newer than what is known.
 */
import { z } from 'zod';
import { jobFault } from './fault.ts';
import { scope } from './lane.ts';
import { printerDescription, printerId, printerReason, unreachedPrinter } from './printer.ts';
import { jobId, round } from './queued-job.ts';

export const agentId = z.string().regex(/^[a-z0-9-]{8,64}$/);

/** All the printers of an agent; also its heartbeat, sent at every scan and at least every 15 s. */
export const agentReport = z.object({
  kind: z.literal('agent'),
  agentId,
  name: z.string().min(1).max(200),
  version: z.string().max(50),
  /** The tenant whose printers these are; null: a printer for every tenant of the service. */
  tenantId: scope,
  at: z.iso.datetime(),
  /** False in the last report of an agent that stops in good order. */
  online: z.boolean(),
  printers: z.array(printerDescription).max(5_000),
  /** Addresses that its configuration names and where nothing was ever reached: no printers yet. */
  unreached: z.array(unreachedPrinter).max(5_000).optional(),
});
export type AgentStateReport = z.infer<typeof agentReport>;

export const jobReport = z.object({
  kind: z.literal('job'),
  jobId,
  agentId,
  printerId,
  at: z.iso.datetime(),
  /** As in the queued job's `resume`. */
  round: round.exactOptional(),
  /** Which time the queue delivered this job in this round (from 1), and the report's number within that delivery. */
  delivery: z.int().min(1),
  seq: z.int().min(0),
  /** `queued`: handed back unfinished, it goes on later from `printed`. */
  status: z.enum(['queued', 'printing', 'printed', 'failed', 'canceled', 'held']),
  labels: z.object({
    /** Accepted by the printer's connection. */
    sent: z.int().min(0),
    /** Out of the printer, as far as the printer itself says. */
    printed: z.int().min(0),
  }),
  /** Why it does not go on right now. */
  reasons: z.array(printerReason),
  error: jobFault.optional(),
  /**
   * Of a held or canceled job, or one that was handed back: the labels (from 0, `from` included, `to` excluded) that may or may not
   * have been printed, or may still be.
   */
  uncertain: z.object({ from: z.int().min(0), to: z.int().min(0) }).optional(),
});
export type JobReport = z.infer<typeof jobReport>;

export const report = z.discriminatedUnion('kind', [agentReport, jobReport]);
export type Report = z.infer<typeof report>;
