/**
 * One printer at work. For every term in which it is this agent's: a worker, and a consumer on the queue, kept up.
 * Between two terms another agent serves it, or nobody, and this one asks again and again.
 */
import { once } from 'node:events';
import type { LeaseTerm } from '../lease/lease-term.ts';
import type { PrinterLease } from '../lease/leases.ts';
import { Backoff, pause } from '../pause.ts';
import type { Consumer, JobSource } from '../source/job-source.ts';
import { endUnreadable } from './outcome.ts';
import { PrinterWorker, type WorkContext } from './worker.ts';

export class PrinterStation {
  readonly #source: JobSource;
  readonly #lease: PrinterLease;
  readonly #context: WorkContext;
  readonly #stopped = new AbortController();
  #graceMs = 0;
  #worker: PrinterWorker | null = null;
  #serving: Promise<void> = Promise.resolve();

  constructor(source: JobSource, lease: PrinterLease, context: WorkContext) {
    this.#source = source;
    this.#lease = lease;
    this.#context = context;
  }

  /** A job is at the printer, or about to be. */
  get busy(): boolean {
    return this.#worker?.busy ?? false;
  }

  /** Labels are under way, and only this agent can find out what becomes of them. */
  get uncertain(): boolean {
    return this.#worker?.uncertain ?? false;
  }

  /** Takes jobs as soon as the printer is this agent's and the queue lets it. */
  start(): void {
    this.#serving = this.#serve();
  }

  /** Ends the job under way as `worker.ts` describes. Bounded: `graceMs`, the time to confirm, and a little. */
  async stop(graceMs: number): Promise<void> {
    this.#graceMs = graceMs;
    this.#stopped.abort();
    await this.#serving;
  }

  async #serve(): Promise<void> {
    const { printerId, logger } = this.#context;
    const stopped = this.#stopped.signal;
    for (;;) {
      const term = await this.#lease.next(stopped);
      if (term === null) return;
      logger.info({ printer: printerId }, 'this agent serves the printer');
      await this.#serveFor(term);
      await this.#lease.giveBack(term);
      if (!stopped.aborted)
        logger.warn({ printer: printerId }, 'this agent does not serve the printer any more');
    }
  }

  async #serveFor(term: LeaseTerm): Promise<void> {
    const worker = new PrinterWorker(this.#context, term);
    this.#worker = worker;
    const enough = AbortSignal.any([this.#stopped.signal, term.ending]);
    const consumer = await this.#consume(worker, enough);
    if (!enough.aborted) await once(enough, 'abort');
    const working = worker.stop(this.#stopped.signal.aborted ? this.#graceMs : 0);
    // The consumer waits for its handler, which the worker ends in time.
    const stopping = consumer?.stop();
    await working;
    // Before the lease is over: whoever has the printer next finds nobody on it.
    await this.#context.device.drop();
    await stopping;
    this.#worker = null;
  }

  async #consume(worker: PrinterWorker, enough: AbortSignal): Promise<Consumer | undefined> {
    const { lane, printerId, timings, logger } = this.#context;
    const backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    while (!enough.aborted) {
      try {
        return await this.#source.consume(lane, (delivery) => worker.handle(delivery), {
          onUnreadable: (id, issues, note) => endUnreadable(this.#context, id, issues, note),
        });
      } catch (error) {
        logger.warn({ err: error, printer: printerId }, 'the queue of the printer cannot be served yet');
        await pause(backoff.next(), enough);
      }
    }
    return undefined;
  }
}
