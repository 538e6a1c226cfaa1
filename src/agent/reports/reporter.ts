/**
 * Publishes the agent's reports to the service, in order per job, and loses no outcome when service or queue
 * is away.
 *
 * Of a job's progress only the newest report counts: while one is being published, later ones replace each other, and progress
 * goes out at most four times a second. The start of a job is reported a moment later, and not at all if the job has ended by
 * then: most jobs are one label, and each report costs the service as much as a job. A reason why a job waits is reported at
 * once.
 *
 * A job's outcome, and a hand-back, are in the journal until they are published, so they are published after a restart. The
 * place of a newer report shows which reports the queue has lost (a Redis that died may lose what it has acknowledged). Lost
 * outcomes are published again. So the service is told how each job has ended, maybe more than once. Progress is kept in memory
 * only: after a restart the job is delivered again and reports anew.
 */
import type { AgentStateReport, JobReport, Report } from '../../contract/report.ts';
import type { Logger } from '../../log.ts';
import type { PublishedReport } from '../../queue/index.ts';
import type { Journal, UnpublishedReport } from '../journal.ts';
import { Backoff, pause } from '../pause.ts';
import { stretchesOf } from './stretches.ts';

/** Shortest time between two reports of mere progress of one job, ms. */
const PROGRESS_MS = 250;
/** How long a job may take without a report before its outcome, ms. */
const FIRST_MS = 75;
const RETRY_MIN = 200;
const RETRY_MAX = 15_000;

interface JobReports {
  /** Not yet published, oldest first: at most one of progress, and every lasting one. */
  waiting: { report: JobReport; lasting: boolean }[];
  /** How many are being published: one, or one of progress and a lasting one. */
  running: number;
  /** A lasting one is being published. */
  lasts: boolean;
  lastProgress: number;
  /** What the service was last told, or is about to be, without the counts; a change goes out at once. */
  lastState: string | null;
  /** Nothing follows what is waiting: the job has ended, or has left the agent. */
  over: boolean;
  timer: NodeJS.Timeout | undefined;
}

interface ReporterOptions {
  queue: { publish(report: Report): Promise<PublishedReport | null> };
  journal: Journal;
  logger: Logger;
}

export class Reporter {
  readonly #options: ReporterOptions;
  readonly #jobs = new Map<string, JobReports>();
  readonly #stopped = new AbortController();
  /** Shared: what keeps one report from being published keeps them all. */
  readonly #backoff = new Backoff(RETRY_MIN, RETRY_MAX);
  /** When the pause after a failure ends, ms. What fails meanwhile waits until then, and makes no pause longer. */
  #retryAt = 0;
  /** Ends that pause early. */
  #open = new AbortController();
  #agentReport: AgentStateReport | null = null;
  #agentBusy = false;
  /** `telling`: the journal's unpublished reports are being published. `toTell`: there may be more by now. */
  #telling = false;
  #toTell = false;
  #idle: () => void = () => undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier run of the agent could not publish. */
  start(): void {
    void this.#tellUnpublished();
  }

  progress(report: JobReport): void {
    const reports = this.#reportsOf(report.jobId);
    const state = JSON.stringify([report.delivery, report.status, report.reasons]);
    const last = reports.waiting.at(-1);
    if (last !== undefined && !last.lasting) last.report = report;
    else reports.waiting.push({ report, lasting: false });
    const changed = reports.lastState !== null ? state !== reports.lastState : report.reasons.length > 0;
    reports.lastState = state;
    const wait = changed ? 0 : reports.lastProgress + PROGRESS_MS - performance.now();
    if (wait <= 0) this.#run(report.jobId, reports);
    else {
      reports.timer ??= setTimeout(() => this.#run(report.jobId, reports), wait);
    }
  }

  /** The queue takes reports again: publishes at once what has failed before. */
  reached(): void {
    this.#retryAt = 0;
    this.#backoff.reset();
    this.#open.abort();
    this.#open = new AbortController();
  }

  /** An outcome or a hand-back, which is in the journal already. */
  lasting(report: JobReport): void {
    const reports = this.#reportsOf(report.jobId);
    const last = reports.waiting.at(-1);
    if (last !== undefined && !last.lasting) reports.waiting.pop();
    reports.waiting.push({ report, lasting: true });
    reports.over = true;
    // It waits for no answer about progress: so it goes with the job's end, in one command, and neither without the other.
    this.#run(report.jobId, reports, reports.running === 1 && !reports.lasts);
  }

  /** The job has left the agent, maybe without an outcome: another agent has it, or it comes again. */
  over(jobId: string): void {
    const reports = this.#jobs.get(jobId);
    if (reports === undefined) return;
    reports.over = true;
    if (reports.running === 0 && reports.waiting.length === 0) this.#jobs.delete(jobId);
  }

  /** The agent's printers and its heartbeat; only the newest is worth publishing. */
  agent(report: AgentStateReport): void {
    this.#agentReport = report;
    if (!this.#agentBusy) void this.#publishAgent();
  }

  /** Waits until all is published, at most `ms`, and ends. @returns false: some is left, in the journal */
  async stop(ms: number): Promise<boolean> {
    for (const [jobId, reports] of this.#jobs) this.#run(jobId, reports);
    const empty = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#settle();
    const timer = new AbortController();
    await Promise.race([empty, pause(ms, timer.signal)]);
    timer.abort();
    this.#stopped.abort();
    for (const reports of this.#jobs.values()) clearTimeout(reports.timer);
    return this.#unpublished().length === 0;
  }

  #reportsOf(jobId: string): JobReports {
    let reports = this.#jobs.get(jobId);
    if (reports === undefined) {
      const lastProgress = performance.now() + FIRST_MS - PROGRESS_MS;
      reports = {
        ...{ waiting: [], running: 0, lasts: false, over: false },
        ...{ lastProgress, lastState: null, timer: undefined },
      };
      this.#jobs.set(jobId, reports);
    }
    reports.over = false;
    return reports;
  }

  /** @param beside although one is being published */
  #run(jobId: string, reports: JobReports, beside = false): void {
    clearTimeout(reports.timer);
    reports.timer = undefined;
    if ((reports.running > 0 && !beside) || this.#stopped.signal.aborted) return;
    reports.running += 1;
    void this.#drain(jobId, reports);
  }

  async #drain(jobId: string, reports: JobReports): Promise<void> {
    for (let next = reports.waiting.shift(); next !== undefined; next = reports.waiting.shift()) {
      reports.lastProgress = performance.now();
      reports.lasts ||= next.lasting;
      const published = await this.#publish(next.report);
      if (next.lasting) reports.lasts = false;
      if (published !== null) {
        if (next.lasting) this.#options.journal.published(next.report, published.at);
      } else if (this.#stopped.signal.aborted) return;
      else if (next.lasting || (reports.waiting.length === 0 && !reports.lasts))
        reports.waiting.unshift(next);
      // Lasting ones keep their order: what is left is the other's.
      if (reports.running > 1) break;
    }
    reports.running -= 1;
    if (reports.over && reports.running === 0 && reports.waiting.length === 0) this.#jobs.delete(jobId);
    this.#settle();
  }

  /**
   * Publishes the journal's unpublished reports; never rejects. A later report of a job may be out before
   * these, which does no harm: each is complete in itself.
   */
  async #tellUnpublished(): Promise<void> {
    this.#toTell = true;
    if (this.#telling) return;
    this.#telling = true;
    while (this.#toTell && !this.#stopped.signal.aborted) {
      this.#toTell = false;
      let page = this.#unpublished();
      while (page.length > 0) {
        for (const { report } of page) {
          let published = null;
          while (published === null && !this.#stopped.signal.aborted) published = await this.#publish(report);
          if (published !== null) this.#options.journal.published(report, published.at);
        }
        page = this.#stopped.signal.aborted ? [] : this.#unpublished(page.at(-1));
      }
    }
    this.#telling = false;
    this.#settle();
  }

  #unpublished(after?: UnpublishedReport): UnpublishedReport[] {
    try {
      return this.#options.journal.unpublished(after);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'journal does not say what is to be reported');
      return [];
    }
  }

  #lookForLost(at: PublishedReport): void {
    try {
      const count = this.#options.journal.lost(at);
      if (count === 0) return;
      this.#options.logger.warn(
        { count },
        'the queue has lost reports of how jobs ended; they are told again',
      );
      void this.#tellUnpublished();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'journal does not say what was reported');
    }
  }

  async #publishAgent(): Promise<void> {
    this.#agentBusy = true;
    while (this.#agentReport !== null && !this.#stopped.signal.aborted) {
      const report: AgentStateReport = this.#agentReport;
      let published: unknown = null;
      for (const part of stretchesOf(report)) {
        published = await this.#publish(part);
        if (published === null) break;
      }
      if (published !== null && this.#agentReport === report) this.#agentReport = null;
    }
    this.#agentBusy = false;
    this.#settle();
  }

  /** Resolves with null after a failure and the pause that follows it. */
  async #publish(report: Report): Promise<{ at: PublishedReport | null } | null> {
    try {
      const at = await this.#options.queue.publish(report);
      this.#backoff.reset();
      if (at !== null) this.#lookForLost(at);
      return { at };
    } catch (error) {
      const now = performance.now();
      if (this.#retryAt <= now) this.#retryAt = now + this.#backoff.next();
      const ms = this.#retryAt - now;
      this.#options.logger.warn(
        { err: error, kind: report.kind, retryMs: Math.round(ms) },
        'report not published',
      );
      await pause(ms, this.#stopped.signal, this.#open.signal);
      return null;
    }
  }

  /** Tells `stop` when nothing is left. */
  #settle(): void {
    const busy = [...this.#jobs.values()].some(
      (reports) => reports.running > 0 || reports.waiting.length > 0,
    );
    if (!busy && !this.#agentBusy && !this.#telling) this.#idle();
  }
}
