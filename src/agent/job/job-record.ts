/**
 * Where one delivery of a job stands, and who has been told: the tally, the journal and the reports, kept in
 * step. What is lasting goes to the journal first and is reported from there.
 */
import { labelsPerPage } from '../../../drivers/languages/index.ts';
import type { JobFault } from '../../contract/fault.ts';
import { endedBy } from '../../contract/job-life.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import { labelCount, type QueuedJob, queueIdOf } from '../../contract/queued-job.ts';
import type { JobReport, JobState } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import type { Reporter } from '../reports/reporter.ts';
import type { PickedUpJob } from '../source/job-source.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { Tally } from './tally.ts';

export interface RecordContext {
  agentId: string;
  printerId: string;
  journal: Journal;
  reporter: Pick<Reporter, 'progress' | 'lasting'>;
  logger: Logger;
}

/** After this time, ms, a printer has looked at the bytes it took. */
const LOOKED_AT_MS = 250;

export class JobRecord {
  readonly log: Logger;
  tally: Tally;
  reasons: readonly PrinterReason[] = [];
  /** Labels that the printer counts as one: those of a page. */
  readonly perPage: number;
  readonly #context: RecordContext;
  readonly #job: QueuedJob;
  #seq = 0;

  constructor(context: RecordContext, delivery: PickedUpJob) {
    const { job } = delivery;
    const total = labelCount(job);
    const from = Math.min(job.resume?.from ?? 0, total);
    const queueId = queueIdOf(job);
    this.#context = context;
    this.#job = job;
    this.perPage = labelsPerPage(job);
    this.log = context.logger.child({ job: job.jobId, printer: context.printerId, tenant: job.tenantId });
    this.tally = new Tally(
      {
        queueId,
        printerId: context.printerId,
        // A queue that had lost the job counts from 1 again; what is reported now is newer all the same.
        delivery: Math.max(delivery.delivery, (context.journal.look(queueId)?.entry.delivery ?? 0) + 1),
        total,
        base: from,
        odometer: null,
        intent: from,
        sent: from,
        printed: from,
      },
      LOOKED_AT_MS,
      this.perPage,
    );
  }

  get entry(): JournalEntry {
    return this.tally.entry;
  }

  /** As it is to be remembered: where labels are missing, the counter does not tell any more which ones are out. */
  get lasting(): JournalEntry {
    return this.tally.short ? { ...this.entry, odometer: null } : this.entry;
  }

  /** Labels may be under way: sent, or about to be, and not confirmed. */
  get uncertain(): boolean {
    return this.entry.intent > this.entry.printed;
  }

  /** Goes on from another point; what was counted before is over. */
  restart(entry: Partial<JournalEntry>): void {
    const { delivery } = this.entry;
    this.tally = new Tally({ ...this.entry, ...entry, delivery }, LOOKED_AT_MS, this.perPage);
  }

  /** `printed` labels are out, the others are neither printed nor under way; the odometer stands at this. */
  settle(printed: number, odometer: number | null): void {
    this.restart({ base: printed, odometer, intent: printed, sent: printed, printed, document: undefined });
  }

  /** The first `upTo` labels are where the printer gets them from, none after them is; what is out, nobody says. */
  deliver(upTo: number): void {
    this.restart({ base: upTo, odometer: null, intent: upTo, sent: upTo, document: undefined });
  }

  /** Finished in an earlier delivery: reports that again. */
  repeat(): boolean {
    const { journal, reporter } = this.#context;
    const found = journal.look(this.entry.queueId);
    if (!found?.final) return false;
    this.log.info({ status: found.final.status }, 'job delivered again, finished before');
    const { delivery } = this.entry;
    const report = { ...found.final, at: new Date().toISOString(), delivery, seq: 0 };
    journal.finish({ ...found.entry, delivery }, report);
    reporter.lasting(report);
    return true;
  }

  progress(reasons: readonly PrinterReason[]): void {
    this.reasons = reasons;
    this.#context.reporter.progress(this.#report({ status: 'printing' }, reasons));
  }

  /** A job that a person canceled; `error`: what kept it from its end besides. */
  cancel(error?: JobFault): void {
    const { printed, intent } = this.entry;
    this.finish({
      status: 'canceled',
      ...(error === undefined ? {} : { error }),
      ...(this.uncertain ? { uncertain: { from: printed, to: intent } } : {}),
    });
  }

  fail(fault: JobFault): void {
    this.finish(endedBy(fault, this.entry));
  }

  finish(end: JobState): void {
    const { printed, total } = this.entry;
    this.log.info({ status: end.status, printed, total, code: end.error?.code }, 'job ended');
    const report = this.#report(end);
    this.#context.journal.finish(this.entry, report);
    this.#context.reporter.lasting(report);
  }

  /** The job goes back to its queue. `quiet`: the queue has given it to someone else, who reports from now on. */
  handBack(quiet: boolean): void {
    const { printed, intent } = this.entry;
    this.log.info({ printed, uncertain: this.uncertain, quiet }, 'job handed back');
    if (quiet) {
      this.#context.journal.write(this.lasting);
      return;
    }
    const report = this.#report({
      status: 'queued',
      ...(this.uncertain ? { uncertain: { from: printed, to: intent } } : {}),
    });
    this.#context.journal.handBack(this.lasting, report);
    this.#context.reporter.lasting(report);
  }

  #report(state: JobState, reasons: readonly PrinterReason[] = []): JobReport {
    const { printerId, delivery, sent, printed } = this.entry;
    const { jobId, resume } = this.#job;
    return {
      kind: 'job',
      jobId,
      agentId: this.#context.agentId,
      printerId,
      ...(resume === undefined ? {} : { round: resume.round }),
      at: new Date().toISOString(),
      delivery,
      seq: this.#seq++,
      labels: { sent, printed },
      reasons: [...reasons],
      ...state,
    };
  }
}
