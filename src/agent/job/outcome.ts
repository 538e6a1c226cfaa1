/**
 * Reports one delivery of a job: how far it is, and how it ends. An end or a hand-back goes to the journal
 * first, with the duty to report it, and is reported once it is durable there.
 */
import { faultFor, type JobFault, JobFaultError } from '../../contract/fault.ts';
import { endedBy } from '../../contract/job-life.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import { parseQueueId } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import type { JobReport, JobState } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import { RenderCrash } from '../../rendering/render-pool.ts';
import type { Journal } from '../journal.ts';
import type { Reporter } from '../reports/reporter.ts';
import { Ledger } from './ledger.ts';
import type { Note } from './note.ts';
import { Row } from './row.ts';

export interface OutcomeContext {
  agentId: string;
  printerId: string;
  journal: Journal;
  reporter: Pick<Reporter, 'progress' | 'lasting' | 'over'>;
  logger: Logger;
}

/** More labels than any job has. */
const ALL = 2 ** 31 - 1;
/** How often the same is told again, ms: the queue may lose a report. */
const AGAIN_MS = 1_000;
/** A job that waits longer for the agent's disk says so, ms. */
const SLOW_DISK_MS = 1_000;

export class Outcome {
  /** Why the job does not go on. */
  reasons: readonly PrinterReason[] = [];
  readonly #context: OutcomeContext;
  readonly #log: Logger;
  readonly #ledger: Ledger;
  readonly #job: { jobId: string; round?: number };
  #seq = 0;
  /** What was last told of how far the job is, and when, ms. */
  #said = '';
  #saidAt = 0;
  /** While the job's end is being written down, progress is reported under this number, and the end has the next one. Null before that. */
  #last: number | null = null;
  /** The disk takes long for what was written, or has not taken it. */
  #waitsForDisk = false;
  /** The service may know already how the job ended: it would take progress for another beginning. */
  #repeats = false;

  constructor(
    context: OutcomeContext,
    log: Logger,
    ledger: Ledger,
    { jobId, round }: { jobId: string; round?: number | undefined },
  ) {
    [this.#context, this.#log, this.#ledger] = [context, log, ledger];
    this.#job = { jobId, ...(round ? { round } : {}) };
  }

  /** Reports the outcome again where an earlier delivery has finished the job. @returns whether one has */
  async repeat(): Promise<boolean> {
    const { found, delivery } = this.#ledger;
    if (!found?.final) return false;
    this.#repeats = true;
    this.#log.info({ status: found.final.status }, 'job delivered again, finished before');
    this.#ledger.restore(found.entry);
    await this.#finish({ ...found.final, at: new Date().toISOString(), delivery, seq: this.#end() });
    return true;
  }

  /** Awaits the run. @throws JournalError, after the job has said that it cannot go on without the disk */
  async tell<T>(run: Promise<T>): Promise<T> {
    try {
      return await run;
    } catch (error) {
      this.#lacksDisk();
      throw error;
    } finally {
      this.#context.reporter.over(this.#job.jobId);
    }
  }

  progress(reasons = this.reasons): void {
    this.reasons = reasons;
    const { sent, printed } = this.#ledger;
    const [now, says] = [performance.now(), `${sent} ${printed} ${this.#waitsForDisk} ${reasons.join(' ')}`];
    if (says === this.#said && now - this.#saidAt < AGAIN_MS) return;
    [this.#said, this.#saidAt] = [says, now];
    const told: readonly PrinterReason[] = this.#waitsForDisk ? [...reasons, 'agent-disk'] : reasons;
    const seq = this.#last ?? this.#seq++;
    this.#context.reporter.progress(this.#report(seq, { status: 'printing' }, told));
  }

  /** Waits for the disk to take what was written; where that takes long, the job says so. @throws JournalError */
  async durable(written: Promise<void>): Promise<void> {
    const late = setTimeout(() => this.#lacksDisk(), SLOW_DISK_MS);
    try {
      await written;
    } finally {
      clearTimeout(late);
    }
    if (!this.#waitsForDisk) return;
    this.#waitsForDisk = false;
    if (this.#last === null) this.progress();
  }

  #lacksDisk(): void {
    if (this.#repeats) return;
    this.#waitsForDisk = true;
    this.progress();
  }

  /** @param written called as soon as the journal has it, before that is durable */
  async end(end: JobState, written?: () => void): Promise<void> {
    const { printed, total } = this.#ledger;
    this.#log.info({ status: end.status, printed, total, code: end.error?.code }, 'job ended');
    await this.#finish(this.#report(this.#end(), end), written);
  }

  async fail(error: unknown): Promise<void> {
    await this.end(endedBy(this.#fault(error), this.#ledger));
  }

  /** A person canceled the job. @param error what went wrong meanwhile; null: nothing */
  async cancel(error: unknown): Promise<void> {
    const fault = error === null ? {} : { error: this.#fault(error) };
    await this.end({ status: 'canceled', ...fault, ...this.#uncertain() });
  }

  #fault(error: unknown): JobFault {
    if (error instanceof JobFaultError) return error.fault;
    this.#log.error({ err: error }, 'job ended by an unforeseen failure');
    return unforeseen(error);
  }

  /** The job goes back to its lane. `quiet`: the queue has given it to someone else, who reports from now on. */
  async handBack(quiet: boolean): Promise<void> {
    const { printed, uncertain } = this.#ledger;
    this.#log.info({ printed, uncertain, quiet }, 'job handed back');
    const report = this.#report(this.#end(), { status: 'queued', ...this.#uncertain() });
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

  /** The number of the report of how this delivery ends. */
  #end(): number {
    this.#last = this.#seq++;
    return this.#seq++;
  }

  #report(seq: number, state: JobState, reasons: readonly PrinterReason[] = []): JobReport {
    const { agentId, printerId } = this.#context;
    const { delivery, sent, printed } = this.#ledger;
    return {
      kind: 'job',
      ...this.#job,
      agentId,
      printerId,
      at: new Date().toISOString(),
      delivery,
      seq,
      labels: { sent, printed },
      reasons: [...reasons],
      ...state,
    };
  }
}

/** The fault of a job that ends because the agent failed: a render thread crashed, or the agent has a bug. */
function unforeseen(error: unknown): JobFault {
  const reason =
    error instanceof RenderCrash
      ? because('rendering-ended', { detail: error.message.slice(0, 1_000) })
      : because('agent-failed', {});
  return faultFor('internal', reason).fault;
}

/** Ends a job that this version of the agent can't read. One that an earlier version had begun may be partly out. */
export async function endUnreadable(
  context: OutcomeContext,
  queueId: string,
  issues: string[],
  note: Note | null,
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
  await outcome.fail(faultFor('payload-unreadable', reason));
}
