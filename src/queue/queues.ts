/**
 * The queues between service and agents: one for each lane; and the reports that come back.
 *
 * The service's database row is the truth of a job. A queue can lose what it acknowledged (Redis without
 * `appendfsync always`) or be away: every producing command ends in bounded time, and may be repeated, because
 * a job ID that is known is ignored.
 */
import { UnrecoverableError } from 'bullmq';
import type { PoolConfig } from 'pg';
import type { Lane, Scope } from '../contract/lane.ts';
import { type QueuedJob, queuedJob, queueIdOf } from '../contract/queued-job.ts';
import type { Report } from '../contract/report.ts';
import type { Backend, JobInQueue, StoredQueue } from './backend.ts';
import {
  type Consumer,
  type ConsumerPlan,
  type Delivery,
  noteOf,
  type Outcome,
  QueueConsumer,
} from './consumer.ts';
import { answerOf, HELD, type LeaseAnswer, type LeaseAsk, type LeaseLength } from './lease.ts';
import { parse, ReportPayload, type Unreadable } from './payload.ts';
import { QueueError, reasonOf, within } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import { checkQueueId, laneOfJob, laneQueue } from './queue-name.ts';
import type { ReportHandler } from './report-batch.ts';
import type { StopOptions } from './stop-options.ts';

export interface QueuesOptions {
  /** Set: the queues are on this Redis, and `database` is not used. */
  redisUrl?: string | undefined;
  /** Where the PostgreSQL is, as `pg` takes it: `{connectionString}`, or host, port, user, … */
  database?: PoolConfig | undefined;
  logger: QueueLogger;
  /** Of the keys in Redis, so that several deployments can share one. */
  prefix?: string;
  /** How long to try at the start, ms. */
  startTimeoutMs?: number;
  /** Gives the start up. */
  signal?: AbortSignal | undefined;
  /** Longest wait for any producing command, ms. */
  commandTimeoutMs?: number;
  /** A job whose worker died is delivered again after at most the two together, ms. */
  lockDurationMs?: number;
  stalledIntervalMs?: number;
}

export interface ConsumeOptions {
  /** Aborted: stops the consumer by force, as `stop({timeoutMs: 0})`. */
  signal?: AbortSignal | undefined;
}

export type LaneHandler = (delivery: Delivery<QueuedJob>) => Promise<Outcome>;
type Stoppable = Pick<Consumer, 'stop'>;

const REPORTS = 'reports';
/** Longest wait for an answer to whether the server is there, ms. */
const PING_MS = 2_000;
const HOUR_S = 3600;
/** Longer than callers repeat a request (24 h), so that a repetition finds the finished job. */
const KEEP_DONE = { age: 48 * HOUR_S };
const KEEP_FAILED = { age: 14 * 24 * HOUR_S };
/** Jobs added in one command: bounds the command's size. */
const BATCH = 100;
/** Only so does PostgreSQL say how many were removed. */
const ALONE = { removeChildren: false };
/** Fewer jobs are added one by one: on PostgreSQL a bulk makes tables, and costs as much as five to ten jobs. */
const WORTH_BULK = 6;

export class Queues {
  readonly #backend: Backend;
  readonly #logger: QueueLogger;
  readonly #errors: ErrorLog;
  readonly #timing: { lockDuration: number; stalledInterval: number };
  readonly #commandTimeoutMs: number;
  readonly #queues = new Map<string, Promise<StoredQueue>>();
  readonly #consumers = new Set<Stoppable>();
  readonly #reportsRead: ReportPayload;
  #closing: Promise<void> | undefined;

  /** Made by `openQueues`. */
  constructor(backend: Backend, options: QueuesOptions, errors: ErrorLog) {
    this.#backend = backend;
    this.#logger = options.logger;
    this.#errors = errors;
    this.#reportsRead = new ReportPayload(options.logger);
    this.#timing = {
      lockDuration: options.lockDurationMs ?? 5_000,
      stalledInterval: options.stalledIntervalMs ?? 2_000,
    };
    this.#commandTimeoutMs = options.commandTimeoutMs ?? 5_000;
  }

  get backend(): 'postgres' | 'redis' {
    return this.#backend.kind;
  }

  /**
   * Adds a job to its lane. A job that is known there, waiting, active or finished, stays as it is.
   * @throws QueueError `unavailable`, `invalid-id`, `closed`
   */
  async enqueue(job: QueuedJob): Promise<void> {
    checkQueueId(queueIdOf(job));
    await this.#command(laneOfJob(job), 'adding a job', (queue) =>
      queue.add('job', { json: JSON.stringify(job) }, optionsOf(queueIdOf(job))),
    );
  }

  /** Adds jobs to any lanes, those for one lane in the order given. As `enqueue`, in fewer commands. */
  async enqueueMany(jobs: readonly QueuedJob[]): Promise<void> {
    for (const job of jobs) checkQueueId(queueIdOf(job));
    for (const [lane, ofLane] of Map.groupBy(jobs, laneOfJob)) {
      for (let from = 0; from < ofLane.length; from += BATCH) {
        const batch = ofLane.slice(from, from + BATCH).map((job) => ({
          name: 'job',
          data: { json: JSON.stringify(job) },
          opts: optionsOf(queueIdOf(job)),
        }));
        let givenUp = false;
        const adding = this.#command(lane, 'adding jobs', async (queue) => {
          if (batch.length >= WORTH_BULK) await queue.addBulk(batch);
          else {
            for (const { name, data, opts } of batch) {
              // The caller was told that this failed, and may have canceled the job since.
              if (givenUp) return;
              await queue.add(name, data, opts);
            }
          }
        });
        await adding.finally(() => {
          givenUp = true;
        });
      }
    }
  }

  /** Takes a waiting job out. False: it is being printed, was printed, or is not known. */
  async remove(lane: Lane, queueId: string): Promise<boolean> {
    checkQueueId(queueId);
    return await this.#command(laneQueue(lane), 'removing a job', async (queue) => {
      const job = await queue.getJob(queueId);
      if (job === undefined || (await job.getState()) !== 'waiting') return false;
      // BullMQ refuses when a worker has taken it meanwhile.
      return (await queue.remove(queueId, ALONE)) === 1;
    });
  }

  /** Whether the queue knows the job: waiting, active, or finished within the last 48 h. */
  async has(lane: Lane, queueId: string): Promise<boolean> {
    checkQueueId(queueId);
    return await this.#command(
      laneQueue(lane),
      'looking up a job',
      async (queue) => (await queue.getJobState(queueId)) !== 'unknown',
    );
  }

  /** What the queue knows of a job; null: nothing. */
  async look(lane: Lane, queueId: string): Promise<JobInQueue | null> {
    checkQueueId(queueId);
    return await this.#command(laneQueue(lane), 'looking up a job', async (queue) => {
      const job = await queue.getJob(queueId);
      if (job === undefined) return null;
      const state = await job.getState();
      return {
        state: state === 'waiting' || state === 'active' ? state : 'ended',
        deliveries: job.attemptsStarted,
        begun: noteOf(job) !== undefined,
      };
    });
  }

  /**
   * Takes a job out that waits, or that was being handled by a consumer which is gone (its lock has ended). False: it
   * is being handled, was, or is not known.
   */
  async takeAway(lane: Lane, queueId: string): Promise<boolean> {
    checkQueueId(queueId);
    return await this.#command(laneQueue(lane), 'taking a job away', async (queue) => {
      const state = await queue.getJobState(queueId);
      return (state === 'waiting' || state === 'active') && (await queue.remove(queueId, ALONE)) === 1;
    });
  }

  /** Has the answers about the lane's lease name the job as canceled, or stop doing so. */
  async markCanceled(lane: Lane, queueId: string, canceled: boolean): Promise<void> {
    checkQueueId(queueId);
    await this.#mark(lane, queueId, canceled);
  }

  /** Has the answers about the lane's lease say that a person holds it, or stop doing so. */
  async markHeld(lane: Lane, held: boolean): Promise<void> {
    await this.#mark(lane, HELD, held);
  }

  async #mark(lane: Lane, name: string, on: boolean): Promise<void> {
    laneQueue(lane);
    const { leases } = this.#backend;
    await this.#bounded(this.#commandTimeoutMs, 'marking a lane', () => leases.mark(lane, name, on));
  }

  /** Resolves when the queue's server answers. @throws QueueError `unavailable`, within 2 s; `closed` */
  async ping(): Promise<void> {
    await this.#bounded(PING_MS, 'asking the queue', () => this.#backend.ping());
  }

  /** Jobs that are not finished: waiting, and the one being printed. */
  async depth(lane: Lane): Promise<number> {
    return await this.#command(laneQueue(lane), 'counting jobs', async (queue) =>
      queue.getJobCountByTypes('waiting', 'active'),
    );
  }

  /**
   * Hands a report to whichever service instance is next.
   * @param scope of the agent's printers
   * @throws QueueError `unavailable`, `closed`
   */
  async publish(report: Report, scope: Scope): Promise<void> {
    await this.#bounded(this.#commandTimeoutMs, 'publishing a report', () =>
      this.#backend.reports.publish(report, scope),
    );
  }

  /**
   * Asks for the leases of lanes, once each, or to keep them: see `lease.ts`. No answer for one that the server
   * refuses to us.
   * @throws QueueError `unavailable` (soon enough to ask again), `closed`
   */
  async askLeases(agentId: string, asks: readonly LeaseAsk[], length: LeaseLength): Promise<LeaseAnswer[]> {
    for (const { lane } of asks) laneQueue(lane);
    const limit = Math.min(this.#commandTimeoutMs, Math.max(1_000, length.contended / 4));
    const ask = () => this.#backend.leases.ask(agentId, asks, length);
    return (await this.#bounded(limit, 'asking for leases', ask)).map(answerOf);
  }

  /** Ends a lease at once. @throws QueueError `unavailable`, `closed` */
  async giveLeaseBack(agentId: string, lane: Lane, term: string): Promise<void> {
    laneQueue(lane);
    await this.#bounded(this.#commandTimeoutMs, 'giving a lease back', () =>
      this.#backend.leases.giveBack(agentId, lane, term),
    );
  }

  /** By lane, the agent that serves it at this moment. @throws QueueError `unavailable`, `closed` */
  async leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>> {
    for (const lane of lanes) laneQueue(lane);
    return await this.#bounded(this.#commandTimeoutMs, 'reading leases', () =>
      this.#backend.leases.holders(lanes),
    );
  }

  /**
   * Handles a lane's jobs, one at a time and in order. One consumer for a lane in the whole deployment:
   * that of the agent that holds its lease.
   * @throws QueueError `unavailable` (call again), `invalid-id`, `closed`
   */
  async consume(
    lane: Lane,
    handler: LaneHandler,
    options: ConsumeOptions & { onUnreadable?: (unreadable: Unreadable) => void } = {},
  ): Promise<Consumer> {
    return await this.#consume(laneQueue(lane), options.signal, {
      parse: (json) => parse(queuedJob, json),
      handle: handler,
      countActive: () =>
        this.#command(laneQueue(lane), 'counting jobs', (queue) => queue.getJobCountByTypes('active')),
      onUnreadable: (queueId, issues, note) => options.onUnreadable?.({ queueId, lane, issues, note }),
    });
  }

  /**
   * Hands over reports, many at once, those of one agent in the order in which it published them. A handler that throws
   * gets the same ones again, after 250 ms at first and 30 s at most.
   */
  async consumeReports(handler: ReportHandler): Promise<Stoppable> {
    // Reports that a version before has left.
    const shared = await this.#consume(REPORTS, undefined, {
      parse: (json) => this.#reportsRead.parse(json),
      handle: async ({ job }) => {
        await handler([{ report: job, ageMs: 0 }]);
        return 'done';
      },
      countActive: undefined,
      onUnreadable: () => undefined,
    });
    const reader = this.#backend.reports.reader({
      parse: (json) => this.#reportsRead.parse(json),
      handle: handler,
      lockMs: this.#timing.lockDuration,
      logger: this.#logger,
      errors: this.#errors,
      onStopped: () => this.#consumers.delete(reader),
    });
    reader.start();
    this.#consumers.add(reader);
    return {
      stop: async (options) => void (await Promise.all([shared.stop(options), reader.stop(options)])),
    };
  }

  /** Stops every consumer, each as `stop` with this time limit, and disconnects. Idempotent. */
  close(options: StopOptions = {}): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([...this.#consumers].map((consumer) => consumer.stop(options)));
      // A queue that was being opened when its server went away would wait for ever.
      const closed = [...this.#queues.values()].map(async (queue) => await (await queue).close());
      await within(5_000, 'closing', Promise.allSettled(closed)).catch(() => undefined);
      await this.#backend.close();
    })();
    return this.#closing;
  }

  async #consume<T>(
    queue: string,
    signal: AbortSignal | undefined,
    own: Pick<ConsumerPlan<T>, 'parse' | 'handle' | 'countActive' | 'onUnreadable'>,
  ): Promise<Consumer> {
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
    signal?.throwIfAborted();
    const consumer: QueueConsumer<T> = new QueueConsumer<T>({
      ...own,
      backend: this.#backend,
      queue,
      timing: this.#timing,
      logger: this.#logger,
      errors: this.#errors,
      onStopped: () => {
        this.#consumers.delete(consumer);
        signal?.removeEventListener('abort', abort);
      },
    });
    const abort = () => void consumer.stop({ timeoutMs: 0 });
    await consumer.start();
    this.#consumers.add(consumer);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    return consumer;
  }

  /** Runs one producing command. */
  async #command<R>(name: string, what: string, run: (queue: StoredQueue) => Promise<R>): Promise<R> {
    return await this.#bounded(this.#commandTimeoutMs, what, () => this.#queue(name).then(run));
  }

  /** Bounded in time, with the server's absence as a typed error. */
  async #bounded<R>(milliseconds: number, what: string, run: () => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
    // A command given to ioredis now would be kept and run later, and there is no end to those.
    if (!this.#backend.answers()) throw new QueueError('unavailable', `${what}: the queue's server is away`);
    try {
      return await within(milliseconds, what, run());
    } catch (error) {
      if (error instanceof QueueError || error instanceof UnrecoverableError) throw error;
      throw new QueueError('unavailable', `${what}: ${reasonOf(error)}`);
    }
  }

  #queue(name: string): Promise<StoredQueue> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const opening = (async () => {
      const queue = this.#backend.queue(name);
      queue.on('error', (error) => this.#errors.report('queue failed', error, { queue: name }));
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
