/** The lanes in BullMQ: one queue for each. */
import type { Lane } from '../contract/lane.ts';
import type { BullQueues, StoredQueue, WorkerTiming } from './bullmq.ts';
import { BullConsumer, noteOf } from './bullmq-consumer.ts';
import type { ConsumerPlan, JobInQueue, LaneStore, StartedConsumer } from './lane-store.ts';
import type { LeaseStore } from './lease.ts';
import { within } from './queue-error.ts';
import type { ErrorLog } from './queue-log.ts';
import type { ReportPlan, ReportStore } from './report-batch.ts';

export interface BullLanesParts {
  timing: Required<WorkerTiming>;
  errors: ErrorLog;
  leases: LeaseStore;
  reports: ReportStore;
  ping(): Promise<void>;
  disconnect(): void;
}

const REPORTS = 'reports';
const HOUR_S = 3600;
/** Longer than callers repeat a request (24 h), so that a repetition finds the finished job. */
const KEEP_DONE = { age: 48 * HOUR_S };
const KEEP_FAILED = { age: 14 * 24 * HOUR_S };
/** Fewer jobs are added one by one: a bulk costs as much as five to ten jobs. */
const WORTH_BULK = 6;
/** Of the job alone: it has no children. */
const ALONE = { removeChildren: false };

export class BullLanes implements LaneStore {
  readonly kind = 'redis';
  readonly leases: LeaseStore;
  readonly reports: ReportStore;
  readonly #bull: BullQueues;
  readonly #parts: BullLanesParts;
  readonly #queues = new Map<string, Promise<StoredQueue>>();

  constructor(bull: BullQueues, parts: BullLanesParts) {
    this.#bull = bull;
    this.#parts = parts;
    this.leases = parts.leases;
    this.reports = parts.reports;
  }

  async add(lane: Lane, jobs: readonly { queueId: string; json: string }[], givenUp: AbortSignal) {
    const queue = await this.#queue(lane);
    const added = jobs.map(({ queueId, json }) => ({
      name: 'job',
      data: { json },
      opts: optionsOf(queueId),
    }));
    if (jobs.length >= WORTH_BULK) {
      await queue.addBulk(added);
      return;
    }
    for (const { name, data, opts } of added) {
      // The caller was told that this failed, and may have canceled the job since.
      if (givenUp.aborted) return;
      await queue.add(name, data, opts);
    }
  }

  async look(lane: Lane, queueId: string): Promise<JobInQueue | null> {
    const job = await (await this.#queue(lane)).getJob(queueId);
    if (job === undefined) return null;
    const state = await job.getState();
    return {
      state: state === 'waiting' || state === 'active' ? state : 'ended',
      deliveries: job.attemptsStarted,
      begun: noteOf(job) !== undefined,
    };
  }

  async remove(lane: Lane, queueId: string): Promise<boolean> {
    const queue = await this.#queue(lane);
    if ((await queue.getJobState(queueId)) !== 'waiting') return false;
    // BullMQ refuses when a worker has taken it meanwhile.
    return (await queue.remove(queueId, ALONE)) === 1;
  }

  async takeAway(lane: Lane, queueId: string): Promise<boolean> {
    const queue = await this.#queue(lane);
    const state = await queue.getJobState(queueId);
    return (state === 'waiting' || state === 'active') && (await queue.remove(queueId, ALONE)) === 1;
  }

  async depth(lane: Lane): Promise<number> {
    return await (await this.#queue(lane)).getJobCountByTypes('waiting', 'active');
  }

  consumer({ lane, ...plan }: ConsumerPlan): StartedConsumer {
    return new BullConsumer({
      ...plan,
      ...this.#common,
      queue: lane,
      countActive: async () => (await this.#queue(lane)).getJobCountByTypes('active'),
    });
  }

  oldReports({ parse, handle, logger }: ReportPlan) {
    return new BullConsumer({
      ...this.#common,
      queue: REPORTS,
      logger,
      parse,
      handle: async ({ job }) => {
        await handle([{ report: job, ageMs: 0 }]);
        return 'done';
      },
      countActive: undefined,
      onUnreadable: () => undefined,
      onStopped: () => undefined,
    });
  }

  answers(): boolean {
    return this.#bull.answers();
  }

  async ping(): Promise<void> {
    await this.#parts.ping();
  }

  async close(): Promise<void> {
    // A queue that was being opened when its server went away would wait for ever.
    const closed = [...this.#queues.values()].map(async (queue) => await (await queue).close());
    await within(5_000, 'closing', Promise.allSettled(closed)).catch(() => undefined);
    this.#parts.disconnect();
  }

  get #common() {
    const { timing, errors } = this.#parts;
    return { bull: this.#bull, timing, errors };
  }

  #queue(name: string): Promise<StoredQueue> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const opening = (async () => {
      const queue = this.#bull.queue(name);
      queue.on('error', (error) => this.#parts.errors.report('queue failed', error, { queue: name }));
      try {
        await queue.waitUntilReady();
      } catch (error) {
        // BullMQ remembers the failure for good: the next command makes another.
        this.#queues.delete(name);
        await queue.close().catch(() => undefined);
        throw error;
      }
      return queue;
    })();
    this.#queues.set(name, opening);
    return opening;
  }
}

function optionsOf(queueId: string) {
  return { jobId: queueId, attempts: 1, removeOnComplete: KEEP_DONE, removeOnFail: KEEP_FAILED };
}
