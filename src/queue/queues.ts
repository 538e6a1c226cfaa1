/**
 * The queues between service and agents: a lane of jobs for each printer, and the reports that come back.
 *
 * The service's database row is the truth about a job. A queue can be away, or lose what it has acknowledged (Redis without
 * `appendfsync always`). So every command that adds jobs ends in bounded time, and may be repeated: a lane ignores a job that
 * it knows.
 */
import type { PoolConfig } from 'pg';
import type { Lane, Scope } from '../contract/lane.ts';
import { type QueuedJob, queueIdOf } from '../contract/queued-job.ts';
import { AgentQueue, type AgentQueueOptions } from './agent-queue.ts';
import type { AddedJob, Consumer, LaneJob, LaneStore, ServiceLanes } from './lane-store.ts';
import { HELD } from './lease.ts';
import { reportParser } from './payload.ts';
import type { NotificationConnection } from './postgres/notification-connection.ts';
import type { ErrorLogger } from './queue-log.ts';
import { checkQueueId, laneOfJob, laneQueue } from './queue-name.ts';
import type { ReportHandler, ReportReaderOptions } from './report-batch.ts';

export interface QueuesOptions extends AgentQueueOptions {
  /** Set: the queues are on this Redis, and `database` is not used. */
  redisUrl?: string | undefined;
  /** Where the PostgreSQL is, as `pg` takes it: `{connectionString}`, or host, port, user, … */
  database?: PoolConfig | undefined;
  /** Prefix of the keys in Redis, so that several deployments can share one server. */
  prefix?: string;
  /** How long to try to connect at the start, ms. */
  startTimeoutMs?: number;
  /** When aborted, ends the attempt to connect. */
  signal?: AbortSignal | undefined;
  /** On Redis: how long a service that dies keeps other services from reading an agent's reports, ms. */
  lockDurationMs?: number;
}

/** Jobs added in one command: bounds the command's size. */
const BATCH = 100;

export class Queues extends AgentQueue {
  readonly #store: ServiceLanes;
  readonly #lockMs: number;
  readonly #parse: ReturnType<typeof reportParser>;

  /** Made by `openQueues`. */
  constructor(store: LaneStore, options: QueuesOptions, errors: ErrorLogger) {
    super(store, options, errors);
    this.#store = store;
    this.#parse = reportParser(options.logger);
    this.#lockMs = options.lockDurationMs ?? 5_000;
  }

  get backend(): 'postgres' | 'redis' {
    return this.#store.kind;
  }

  /** The notifications of the database that the lanes are in, for its other users. */
  get notifications(): NotificationConnection | undefined {
    return this.#store.notifications;
  }

  /**
   * Adds jobs to their lanes, those for one lane in the order given. A job that is known there, waiting, active or
   * finished, stays as it is.
   * @throws QueueError `unavailable`, `invalid-id`, `closed`
   */
  async enqueue(...jobs: readonly QueuedJob[]): Promise<void> {
    for (const job of jobs) checkQueueId(queueIdOf(job));
    const lanes = [...Map.groupBy(jobs, laneOfJob)].map(async ([lane, ofLane]) => {
      const form = this.backend === 'redis' ? parted : whole;
      for (let from = 0; from < ofLane.length; from += BATCH) {
        const batch = ofLane.slice(from, from + BATCH).map(form);
        const givenUp = new AbortController();
        const adding = this.command('adding jobs', () => this.#store.add(lane, batch, givenUp.signal));
        await adding.finally(() => givenUp.abort());
      }
    });
    // Waits for all lanes even if one fails, so that no job is added any more while the caller handles the failure.
    await Promise.allSettled(lanes);
    await Promise.all(lanes);
  }

  /** Takes a waiting job out. False: it is being printed, was printed, or is not known. */
  async remove(lane: Lane, queueId: string): Promise<boolean> {
    return await this.#ofJob(lane, queueId, 'removing a job', (...of) => this.#store.remove(...of));
  }

  /** What the lane knows of a job, whether it waits, is in hand, or ended within the last 48 h; null: nothing. */
  async look(lane: Lane, queueId: string): Promise<LaneJob | null> {
    return await this.#ofJob(lane, queueId, 'looking up a job', (...of) => this.#store.look(...of));
  }

  /** Takes out a job that waits, or whose consumer is gone. False: the job is being handled, has ended, or is not known. */
  async takeAway(lane: Lane, queueId: string): Promise<boolean> {
    return await this.#ofJob(lane, queueId, 'taking a job away', (...of) => this.#store.takeAway(...of));
  }

  async #ofJob<R>(
    lane: Lane,
    queueId: string,
    what: string,
    run: (lane: Lane, queueId: string) => Promise<R>,
  ): Promise<R> {
    checkQueueId(queueId);
    return await this.command(what, () => run(laneQueue(lane), queueId));
  }

  /** Marks a job as canceled, or removes the mark; the lease holder hears of it at once. */
  async markCanceled(lane: Lane, queueId: string, canceled: boolean): Promise<void> {
    checkQueueId(queueId);
    await this.#mark(lane, queueId, canceled);
  }

  /** Marks a lane as held by a person, or removes the mark. As `markCanceled`. */
  async markHeld(lane: Lane, held: boolean): Promise<void> {
    await this.#mark(lane, HELD, held);
  }

  async #mark(lane: Lane, name: string, on: boolean): Promise<void> {
    laneQueue(lane);
    await this.command('marking a lane', () => this.#store.leases.mark(lane, name, on));
  }

  /** Whether reports of an agent wait to be handled. @throws QueueError `unavailable`, `closed` */
  async hasUnread(agentId: string, scope: Scope): Promise<boolean> {
    const asking = () => this.#store.reports.unread({ scope, agentId });
    return (await this.command('looking for reports', asking)) > 0;
  }

  /** The agent that holds each lane's lease now, by lane. @throws QueueError `unavailable`, `closed` */
  async leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>> {
    for (const lane of lanes) laneQueue(lane);
    return await this.command('reading leases', () => this.#store.leases.holders(lanes));
  }

  /**
   * Hands reports to `handler`, many at once, those of one agent in the order in which it published them. When the handler
   * throws, it gets the same reports again, after 250 ms at first and after 30 s at most.
   */
  async consumeReports(handler: ReportHandler): Promise<Pick<Consumer, 'stop'>> {
    this.throwIfClosed();
    const options: ReportReaderOptions = {
      parse: this.#parse,
      handle: handler,
      lockMs: this.#lockMs,
      logger: this.logger,
      errors: this.errors,
    };
    const reader = this.#store.reports.reader(options);
    reader.start();
    this.running.add(reader);
    return reader;
  }
}

function whole(job: QueuedJob): AddedJob {
  return { queueId: queueIdOf(job), json: JSON.stringify(job), template: undefined };
}

function parted(job: QueuedJob): AddedJob {
  const { template, ...rest } = job;
  return { queueId: queueIdOf(job), json: JSON.stringify(rest), template };
}
