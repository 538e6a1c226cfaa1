/** One printer at work: its consumer on the queue, kept up, and its worker. */
import { jobId } from '../contract/queued-job.ts';
import type { JobReport } from '../contract/report.ts';
import type { Consumer, JobSource } from './job-source.ts';
import { Backoff, pause } from './pause.ts';
import { PrinterWorker, type WorkContext } from './worker.ts';

export class PrinterStation {
  readonly #source: JobSource;
  readonly #context: WorkContext;
  readonly #worker: PrinterWorker;
  readonly #stopped = new AbortController();
  #consumer: Consumer | null = null;
  #starting: Promise<void> = Promise.resolve();

  constructor(source: JobSource, context: WorkContext) {
    this.#source = source;
    this.#context = context;
    this.#worker = new PrinterWorker(context);
  }

  /** Takes jobs as soon as the queue lets it. */
  start(): void {
    this.#starting = this.#consume();
  }

  /** Ends the job under way as `worker.ts` describes. Bounded: `graceMs`, the time to confirm, and a little. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    const working = this.#worker.stop(graceMs);
    await this.#starting;
    // The consumer waits for its handler, which the worker ends in time.
    await this.#consumer?.stop();
    await working;
  }

  async #consume(): Promise<void> {
    const { printerId, timings, logger } = this.#context;
    const backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    while (!this.#stopped.signal.aborted) {
      try {
        this.#consumer = await this.#source.consume(printerId, (delivery) => this.#worker.handle(delivery), {
          onUnreadable: (id, issues) => this.#unreadable(id, issues),
        });
        return;
      } catch (error) {
        logger.warn({ err: error, printer: printerId }, 'the queue of the printer cannot be served yet');
        await pause(backoff.next(), this.#stopped.signal);
      }
    }
  }

  #unreadable(id: string, issues: string[]): void {
    const { agentId, printerId, journal, reporter, logger } = this.#context;
    if (!jobId.safeParse(id).success) return;
    logger.error({ job: id, printer: printerId, issues }, 'job cannot be read');
    const message = `The queued job does not have the expected form: ${issues.join('; ')}`.slice(0, 2_000);
    const report: JobReport = {
      kind: 'job',
      jobId: id,
      agentId,
      printerId,
      at: new Date().toISOString(),
      delivery: 1,
      seq: 0,
      status: 'failed',
      labels: { sent: 0, printed: 0 },
      reasons: [],
      error: { code: 'payload-unreadable', message },
    };
    const nothing = { total: 0, base: 0, odometer: null, intent: 0, sent: 0, printed: 0 };
    journal.finish({ jobId: id, printerId, delivery: 1, ...nothing }, report);
    reporter.lasting(report);
  }
}
