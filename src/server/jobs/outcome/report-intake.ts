/** Takes reports from the queue for as long as the service runs; while the queue is away, tries again. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../log.ts';
import type { Consumer, ReceivedReport } from '../../../queue/index.ts';
import type { JobQueue } from '../dispatch/queue-port.ts';
import type { Reports } from './reports.ts';

/** ms to wait before each new attempt to apply a report whose printer the service does not know yet. */
const EARLY = [100, 400, 1_500, 3_000];
/** ms for which the service does not wait for an agent's early reports, after it has waited for one in vain. */
const DOUBTED = 60_000;
const MOST_DOUBTED = 10_000;
/** ms between two attempts to reach the queue. */
const RETRY = 2_000;
/** ms that a stop waits for the reports in hand. */
const STOP_TIMEOUT = 5_000;

export class ReportIntake {
  readonly #queue: JobQueue;
  readonly #reports: Reports;
  readonly #logger: Logger;
  /** By agent, until when the service does not wait for its reports (`performance.now()`). */
  readonly #doubted = new Map<string, number>();
  #consumer: Pick<Consumer, 'stop'> | undefined;
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

  /** Reports that come too early are applied again, in their order. All others have been dealt with by then. */
  async #take(batch: readonly ReceivedReport[]): Promise<void> {
    let early = await this.#reports.apply(batch);
    const waits = () => early.some(({ report }) => !this.#isDoubted(report.agentId));
    for (const pause of EARLY) {
      if (!waits()) break;
      await wait(pause);
      early = await this.#reports.apply(early);
    }
    if (this.#doubted.size > MOST_DOUBTED) this.#doubted.clear();
    for (const { report } of early) {
      if (report.kind === 'agent') continue;
      const { jobId, printerId, agentId } = report;
      this.#doubted.set(agentId, performance.now() + DOUBTED);
      this.#logger.warn(
        { jobId, printerId, agentId },
        'report of a job that its agent cannot have: left out',
      );
    }
  }

  #isDoubted(agentId: string): boolean {
    return performance.now() < (this.#doubted.get(agentId) ?? 0);
  }

  async #connect(): Promise<void> {
    try {
      this.#consumer = await this.#queue.consumeReports((batch) => this.#take(batch));
    } catch (error) {
      this.#logger.warn({ err: error }, 'the queue of reports cannot be reached; trying again');
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#connecting = this.#connect();
      }, RETRY);
    }
  }
}
