import type { Lane } from '../../../src/contract/lane.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { Queues } from '../../../src/queue/index.ts';
import type { JobQueue } from '../../../src/server/jobs/dispatch/queue-port.ts';
import type { BackendCase } from '../servers/backends.ts';
import type { ServiceHarness } from '../service/harness.ts';
import { useService } from '../service/use-service.ts';

/** A service whose queue can be taken away, and which looks every 100 ms for what that has left undone. */
export function useBreakableQueue(backend: BackendCase): { queue: BreakableQueue; service: ServiceHarness } {
  const queue = new BreakableQueue();
  const service = useService({
    backend,
    config: { sweepInterval: 100 },
    queue: (real) => queue.over(real),
  });
  return { queue, service };
}

/** The real queue, with a switch that takes it away. */
export class BreakableQueue implements JobQueue {
  broken = false;
  /** While set, adding waits for it. */
  gate: Promise<void> | undefined;
  /** Called when adding has begun. */
  onAdd: () => void = () => undefined;
  /** Batches that reached the queue. */
  readonly added: string[][] = [];
  #queues: Queues | undefined;

  /** Passes everything on to `real` from now on. @returns itself */
  over(real: Queues): this {
    this.#queues = real;
    return this;
  }

  get #real(): Queues {
    if (this.#queues === undefined) throw new Error('there is no real queue yet');
    return this.#queues;
  }

  get backend() {
    return this.#real.backend;
  }

  async enqueue(...jobs: readonly QueuedJob[]): Promise<void> {
    if (this.broken) throw new Error('the queue is away');
    this.onAdd();
    await this.gate;
    await this.#real.enqueue(...jobs);
    this.added.push(jobs.map((job) => job.jobId));
  }
  async ping(): Promise<void> {
    if (this.broken) throw new Error('the queue is away');
    await this.#real.ping();
  }
  remove(lane: Lane, jobId: string): Promise<boolean> {
    return this.#real.remove(lane, jobId);
  }
  async look(lane: Lane, jobId: string): ReturnType<JobQueue['look']> {
    if (this.broken) throw new Error('the queue is away');
    return this.#real.look(lane, jobId);
  }
  takeAway(lane: Lane, jobId: string): Promise<boolean> {
    return this.#real.takeAway(lane, jobId);
  }
  async markCanceled(lane: Lane, jobId: string, canceled: boolean): Promise<void> {
    if (this.broken) throw new Error('the queue is away');
    await this.#real.markCanceled(lane, jobId, canceled);
  }
  async markHeld(lane: Lane, held: boolean): Promise<void> {
    if (this.broken) throw new Error('the queue is away');
    await this.#real.markHeld(lane, held);
  }
  leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>> {
    return this.#real.leaseHolders(lanes);
  }
  hasUnread(...of: Parameters<JobQueue['hasUnread']>): Promise<boolean> {
    return this.#real.hasUnread(...of);
  }
  consumeReports(handler: Parameters<JobQueue['consumeReports']>[0]) {
    return this.#real.consumeReports(handler);
  }
}
