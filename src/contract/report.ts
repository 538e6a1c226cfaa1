/**
 * What an agent tells the service, through a durable stream or queue. A report is complete in itself, may arrive late
 * or twice, and is applied only if it is newer than what is known.
 */
import { z } from 'zod';
import { jobFault } from './fault.ts';
import { jobId, round } from './job-id.ts';
import { scope } from './lane.ts';
import {
  PRINTER_REASONS,
  printerDescription,
  printerId,
  printerReason,
  unreachedPrinter,
} from './printer.ts';

export const agentId = z.string().regex(/^[a-z0-9-]{8,64}$/);

/** Most bytes of a report's JSON: a longer one is not read. */
export const REPORT_BYTES = 96 * 1024;

/** The last update of an agent's machine did not come up: which version, and when the one before took its place again. */
export const wentBack = z.object({ version: z.string().max(50), at: z.iso.datetime() });
export type WentBack = z.infer<typeof wentBack>;

/**
 * Reports are applied many in one statement. So one says only what a column holds: else the statement fails for all, and each
 * is applied alone. PostgreSQL knows no year 0.
 */
const number = z.int32().min(0);
const time = z.iso.datetime().regex(/^(?!0000)/);

const count = z.int().min(0);
/** What an enrolled agent counts since it began; Prometheus reads it from the service. */
export const agentCounts = z.object({
  jobsInHand: count,
  reportFailures: count,
  /** Jobs whose first byte has gone to the printer, and the s from their taking to it, summed. */
  firstBytes: count,
  firstByteSeconds: z.number().min(0),
  renderThreads: z.object({ busy: count, idle: count }),
  residentBytes: count,
});
export type AgentCounts = z.infer<typeof agentCounts>;

/**
 * All the printers of an agent, or those of a stretch of their IDs; also its heartbeat, sent at every scan and at least every
 * 15 s.
 */
export const agentReport = z.object({
  kind: z.literal('agent'),
  agentId,
  name: z.string().min(1).max(200),
  version: z.string().max(50),
  /** The tenant whose printers these are; null: a printer for every tenant of the service. */
  tenantId: scope,
  at: time,
  /** False in the last report of an agent that stops in good order. */
  online: z.boolean(),
  printers: z.array(printerDescription).max(5_000),
  /**
   * Of an agent with more printers than a report has room for, several reports say all: this one is of the printers whose IDs
   * come after `after` (left out: from the first), up to `upTo`, included (left out: to the last), in the order of their bytes.
   */
  stretch: z.object({ after: printerId.optional(), upTo: printerId.optional() }).optional(),
  /** Addresses that its configuration names and where nothing was ever reached: no printers yet. Said with the first stretch. */
  unreached: z.array(unreachedPrinter).max(5_000).optional(),
  wentBack: wentBack.optional(),
  counts: agentCounts.optional(),
});
export type AgentStateReport = z.infer<typeof agentReport>;

/** The labels (from 0, `from` included, `to` excluded) that may or may not have been printed, or may still be. */
export const uncertain = z.object({ from: number, to: number });

/** What every report of a job says. */
const anyJobReport = {
  kind: z.literal('job'),
  jobId,
  agentId,
  printerId,
  at: time,
  /** As in the queued job's `resume`. */
  round: round.exactOptional(),
  /** Which time the queue delivered this job in this round (from 1), and the report's number within that delivery. */
  delivery: z.int32().min(1),
  seq: number,
  labels: z.object({
    /** Accepted by the printer's connection. */
    sent: number,
    /** Out of the printer, as far as the printer itself says. */
    printed: number,
  }),
};

/**
 * A job's report: its state says what else it must carry.
 * @param parts the schemas of what a strict and a tolerant reader read differently: `reasons`, why the job does not go
 *   on right now; `fault`, an optional error, and `cause`, a required one; `uncertain`, the labels of a held job
 */
export function jobReportOf<
  Reasons extends z.ZodType,
  Fault extends z.ZodType,
  Cause extends z.ZodType,
  Uncertain extends z.ZodType,
>(parts: { reasons: Reasons; fault: Fault; cause: Cause; uncertain: Uncertain }) {
  const { reasons, fault, cause } = parts;
  const inAnyState = z.object({ ...anyJobReport, reasons });
  return z.discriminatedUnion('status', [
    /** Handed back unfinished: it goes on later from `printed`. */
    inAnyState.extend({ status: z.literal('queued'), uncertain: uncertain.optional() }),
    inAnyState.extend({ status: z.literal('printing') }),
    inAnyState.extend({ status: z.literal('printed') }),
    inAnyState.extend({ status: z.literal('failed'), error: cause }),
    inAnyState.extend({
      status: z.literal('canceled'),
      error: fault.optional(),
      uncertain: uncertain.optional(),
    }),
    inAnyState.extend({ status: z.literal('held'), error: cause, uncertain: parts.uncertain }),
  ]);
}

export const jobReport = jobReportOf({
  reasons: z.array(printerReason).max(PRINTER_REASONS.length),
  fault: jobFault,
  cause: jobFault,
  uncertain,
});
/** Lets `error` and `uncertain` be read of a report in any state. */
type Any<Told> = Told extends unknown
  ? Told & { [Other in Exclude<'error' | 'uncertain', keyof Told>]?: undefined }
  : never;
export type JobReport = Any<z.infer<typeof jobReport>>;
type StateOf<Told> = Told extends JobReport ? Pick<Told, 'status' | 'error' | 'uncertain'> : never;
/** The state in a report, with the members that belong to it. */
export type JobState = StateOf<JobReport>;

export const report = z.discriminatedUnion('kind', [agentReport, jobReport]);
export type Report = AgentStateReport | JobReport;
