/**
 * Reports one delivery of a job: how far it is, and how it ends. An end or a hand-back goes to the journal
 * first, with the duty to report it, and is reported once it is durable there.
 */
import { faultFor, type JobFault } from '../../contract/fault.ts';
import { endedBy } from '../../contract/job-life.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import { parseQueueId } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import type { JobReport, JobState } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import type { Journal } from '../journal.ts';
import type { Reporter } from '../reports/reporter.ts';
import type { HandoverNote } from '../source/job-source.ts';
import { Ledger } from './ledger.ts';
import { Row } from './row.ts';

export interface OutcomeContext {
  agentId: string;
  printerId: string;
  journal: Journal;
  reporter: Pick<Reporter, 'progress' | 'lasting'>;
  logger: Logger;
}

/** More labels than any job has. */
const ALL = 2 ** 31 - 1;

export class Outcome {
  /** Why the job does not go on. */
  reasons: readonly PrinterReason[] = [];
  readonly #context: OutcomeContext;
  readonly #log: Logger;
  readonly #ledger: Ledger;
  readonly #job: { jobId: string; round?: number };
  #seq = 0;

  constructor(
    context: OutcomeContext,
    log: Logger,
    ledger: Ledger,
    job: { jobId: string; round?: number | undefined },
  ) {
    this.#context = context;
    this.#log = log;
    this.#ledger = ledger;
    this.#job = { jobId: job.jobId, ...(job.round ? { round: job.round } : {}) };
  }

  /** Reports the outcome again where an earlier delivery has finished the job. @returns whether one has */
  async repeat(): Promise<boolean> {
    const { found, delivery } = this.#ledger;
    if (!found?.final) return false;
    this.#log.info({ status: found.final.status }, 'job delivered again, finished before');
    this.#ledger.restore(found.entry);
    await this.#finish({ ...found.final, at: new Date().toISOString(), delivery, seq: 0 });
    return true;
  }

  progress(reasons = this.reasons): void {
    this.reasons = reasons;
    this.#context.reporter.progress(this.#report({ status: 'printing' }, reasons));
  }

  /** @param written called as soon as the journal has it, before that is durable */
  async end(end: JobState, written?: () => void): Promise<void> {
    const { printed, total } = this.#ledger;
    this.#log.info({ status: end.status, printed, total, code: end.error?.code }, 'job ended');
    await this.#finish(this.#report(end), written);
  }

  async fail(fault: JobFault): Promise<void> {
    await this.end(endedBy(fault, this.#ledger));
  }

  /** A person canceled the job; `error`: the fault that it ended with, if there was one. */
  async cancel(error?: JobFault): Promise<void> {
    await this.end({ status: 'canceled', ...(error === undefined ? {} : { error }), ...this.#uncertain() });
  }

  /** The job goes back to its queue. `quiet`: the queue has given it to someone else, who reports from now on. */
  async handBack(quiet: boolean): Promise<void> {
    const { printed, uncertain } = this.#ledger;
    this.#log.info({ printed, uncertain, quiet }, 'job handed back');
    const report = this.#report({ status: 'queued', ...this.#uncertain() });
    this.#ledger.handBack(quiet ? null : report);
    await this.#ledger.committed();
    if (!quiet) this.#context.reporter.lasting(report);
  }

  #uncertain(): { uncertain?: { from: number; to: number } } {
    const { printed, intent, uncertain } = this.#ledger;
    return uncertain ? { uncertain: { from: printed, to: intent } } : {};
  }

  async #finish(report: JobReport, written?: () => void): Promise<void> {
    this.#ledger.finish(report);
    written?.();
    await this.#ledger.committed();
    this.#context.reporter.lasting(report);
  }

  #report(state: JobState, reasons: readonly PrinterReason[] = []): JobReport {
    const { agentId, printerId } = this.#context;
    const { delivery, sent, printed } = this.#ledger;
    return {
      kind: 'job',
      ...this.#job,
      agentId,
      printerId,
      at: new Date().toISOString(),
      delivery,
      seq: this.#seq++,
      labels: { sent, printed },
      reasons: [...reasons],
      ...state,
    };
  }
}

/** Ends a job that this version of the agent can't read. One that an earlier version had begun may be partly out. */
export async function endUnreadable(
  context: OutcomeContext,
  queueId: string,
  issues: string[],
  note: HandoverNote | null,
): Promise<void> {
  const { agentId, printerId, journal, logger } = context;
  const id = parseQueueId(queueId);
  if (id === null) return;
  const log = logger.child({ job: id.jobId, printer: printerId });
  log.error({ issues }, 'job cannot be read');
  // Only the service knows how many labels the job has.
  const counts = { delivery: 0, total: ALL, from: 0, perPage: 1 };
  const ledger = new Ledger({ journal, row: new Row(), queueId, printerId, ...counts });
  const outcome = new Outcome(context, log, ledger, id);
  const own = note === null || note.agentId === agentId;
  if (own && (await outcome.repeat())) return;
  const out = note?.resumeAt ?? note?.underWay?.printed ?? 0;
  const begun = note?.resumeAt === null ? (note.underWay?.intent ?? ALL) : out;
  ledger.restore((own && ledger.found?.entry) || { base: out, intent: begun, sent: out, printed: out });
  const reason = because('job-unreadable', { issues: issues.join('; ').slice(0, 1_000) });
  await outcome.fail(faultFor('payload-unreadable', reason).fault);
}
