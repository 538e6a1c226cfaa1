/** The jobs that an agent is given, in order. It prints and reports nothing; a test does the reporting. */
import { afterAll, beforeAll } from 'vitest';
import type { Lane } from '../../../src/contract/lane.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { Consumer } from '../../../src/queue/index.ts';
import { serve } from '../queue/serving.ts';
import { PRINTER, type ServiceHarness } from './harness.ts';

/** ms */
const SOON = 30_000;

export function useDeliveries(service: ServiceHarness, lane: Lane = PRINTER): Deliveries {
  const deliveries = new Deliveries();
  beforeAll(() => deliveries.start(service, lane));
  afterAll(() => deliveries.stop());
  return deliveries;
}

export class Deliveries {
  readonly jobs: QueuedJob[] = [];
  #arrived = Promise.withResolvers<void>();
  #consumer: Consumer | undefined;

  async start(service: ServiceHarness, lane: Lane): Promise<void> {
    this.#consumer = await serve(service.queues, lane, async ({ job }) => {
      this.jobs.push(job);
      this.#arrived.resolve();
      return 'done';
    });
  }

  async stop(): Promise<void> {
    await this.#consumer?.stop();
  }

  /** Resolves with the job once it is delivered. @param round 0: before anybody has decided about the job */
  async of(id: string, round = 0): Promise<QueuedJob> {
    const late = AbortSignal.timeout(SOON);
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    late.addEventListener('abort', () =>
      ended.reject(new Error(`job ${id} was not delivered in round ${round}`)),
    );
    for (;;) {
      const found = this.jobs.find(({ jobId, resume }) => jobId === id && (resume?.round ?? 0) === round);
      if (found !== undefined) return found;
      await Promise.race([this.#arrived.promise, ended.promise]);
      this.#arrived = Promise.withResolvers();
    }
  }
}
