/** Takes reports from the queue for as long as the service runs; while the queue is away, tries again. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Report } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import type { JobQueue, ReportConsumer } from '../dispatch/queue-port.ts';
import type { Reports } from './reports.ts';

/** Pauses before a report is tried again whose printer the service does not know yet, ms. */
const EARLY = [100, 400, 1_500, 3_000];
/** ms for which an agent gets no such pauses after they were in vain. */
const DOUBTED = 60_000;
const MOST_DOUBTED = 10_000;
/** ms */
const RETRY = 2_000;
/** ms that a stop waits for the report in hand. */
const STOP_TIMEOUT = 5_000;

export class ReportIntake {
  readonly #queue: JobQueue;
  readonly #reports: Reports;
  readonly #logger: Logger;
  /** Until when, by agent. */
  readonly #doubted = new Map<string, number>();
  #consumer: ReportConsumer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(queue: JobQueue, reports: Reports, logger: Logger) {
    this.#queue = queue;
    this.#reports = reports;
    this.#logger = logger;
  }

  /** Whether reports are being taken. */
  get connected(): boolean {
    return this.#consumer !== undefined;
  }

  /** Resolves after the first attempt, whether it has succeeded or not. */
  async start(): Promise<void> {
    this.#stopped = false;
    this.#connecting = this.#connect();
    await this.#connecting;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#connecting;
    await this.#consumer?.stop({ timeoutMs: STOP_TIMEOUT });
    this.#consumer = undefined;
  }

  async #take(report: Report, ageMs: number): Promise<void> {
    const applied = async () => (await this.#reports.apply(report, ageMs)) === 'done';
    if ((await applied()) || report.kind === 'agent') return;
    const { jobId, printerId, agentId } = report;
    const doubted = performance.now() < (this.#doubted.get(agentId) ?? 0);
    for (const pause of doubted ? [] : EARLY) {
      await wait(pause);
      if (await applied()) return;
    }
    if (this.#doubted.size > MOST_DOUBTED) this.#doubted.clear();
    this.#doubted.set(agentId, performance.now() + DOUBTED);
    this.#logger.warn({ jobId, printerId, agentId }, 'report of a job that its agent cannot have: left out');
  }

  async #connect(): Promise<void> {
    try {
      this.#consumer = await this.#queue.consumeReports((report, ageMs) => this.#take(report, ageMs));
    } catch (error) {
      this.#logger.warn({ err: error }, 'the queue of reports cannot be reached; trying again');
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#connecting = this.#connect();
      }, RETRY);
    }
  }
}
