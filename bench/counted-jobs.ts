/**
 * Jobs of a service whose printers are in this process, print in no time and count: a label that is lost or doubled fails the
 * benchmark.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PrintRequestInput } from '../src/contract/print-request.ts';
import type { PlatenUp } from '../test/kit/service/platen.ts';
import { now } from './figures.ts';
import { record } from './label.ts';
import type { LabelSink } from './label-sink.ts';
import type { Poster } from './poster.ts';

/** How often the service is asked whether a job has stopped, while labels are waited for, ms. */
const ASK_MS = 2_000;
/** Longest that any one step may take, ms. */
const STEP_MS = 60_000;

/** A printer, by the ID that the service has for it. */
export interface Target {
  id: string;
  sink: LabelSink;
}

export class CountedJobs {
  readonly #up: PlatenUp;
  readonly #sinks: readonly LabelSink[];
  readonly #signal: AbortSignal;
  /** Labels that were asked for, in jobs and otherwise. */
  posted = 0;

  /** @param sinks all printers of that service */
  constructor(up: PlatenUp, sinks: readonly LabelSink[], signal: AbortSignal) {
    this.#up = up;
    this.#sinks = sinks;
    this.#signal = signal;
  }

  /** Runs one step, with a limit of its own and its name in the error. */
  async step<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = AbortSignal.timeout(STEP_MS);
    try {
      return await work(AbortSignal.any([limit, this.#signal]));
    } catch (error) {
      const why = limit.aborted ? `not done after ${STEP_MS} ms` : String(error);
      throw new Error(`${name}: ${why}; ${this.#labels} of ${this.posted} labels at the printers`, {
        cause: error,
      });
    }
  }

  get #labels(): number {
    return this.#sinks.reduce((sum, sink) => sum + sink.labels, 0);
  }

  /** Resolves when an agent has each of the printers, in their order. */
  async targets(signal: AbortSignal): Promise<Target[]> {
    for (;;) {
      const printers = await this.#up.admin.printers();
      const found = this.#sinks.flatMap((sink) => {
        const printer = printers.find(({ name }) => name === sink.serial);
        return printer?.agents.some(({ online }) => online) ? [{ id: printer.id, sink }] : [];
      });
      if (found.length === this.#sinks.length) return found;
      await pause(50, undefined, { signal });
    }
  }

  /** A job that nobody has asked for before. */
  job(idT: string, { id: printerId }: Target, records = 1): PrintRequestInput {
    const data = Array.from({ length: records }, () => record(this.posted++));
    return { idT, printerId, data };
  }

  /** Posts a job while nothing else prints; returns the time to the first byte, ms, once all is printed. */
  async idleJob(
    poster: Poster,
    job: PrintRequestInput,
    { sink }: Target,
    signal: AbortSignal,
  ): Promise<number> {
    const label = sink.nextLabel(signal);
    const start = now();
    const [at] = await Promise.all([label, poster.post(job)]);
    await this.allPrinted(signal);
    return at - start;
  }

  /** Resolves once the service calls every job printed. @throws Error when labels are lost or doubled */
  async allPrinted(signal: AbortSignal): Promise<void> {
    const { admin } = this.#up;
    const any = async (status: string) => (await admin.jobs({ status, limit: 1 }))[0];
    const noneStopped = async () => {
      for (const status of ['failed', 'held', 'canceled']) {
        const job = await any(status);
        if (job !== undefined) throw new Error(`a job is ${status}: ${job.error?.message}`);
      }
    };
    // The printers know first, and asking them costs the service nothing.
    for (let asked = now(); this.#labels < this.posted; ) {
      await pause(2, undefined, { signal });
      if (now() - asked < ASK_MS) continue;
      await noneStopped();
      asked = now();
    }
    while ((await any('printing')) ?? (await any('queued'))) await pause(10, undefined, { signal });
    await noneStopped();
    if (this.#labels !== this.posted) throw new Error('labels were lost or doubled');
  }
}
