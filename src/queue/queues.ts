/**
 * The queues between service and agents: a lane of jobs for each printer, and the reports that come back.
 *
 * The service's database row is the truth about a job. A queue can lose what it acknowledged (Redis without
 * `appendfsync always`) or be away: every producing command ends in bounded time, and may be repeated,
 * because a job ID that is known is ignored.
 */
import type { PoolConfig } from 'pg';
import type { Lane, Scope } from '../contract/lane.ts';
import { type QueuedJob, queueIdOf } from '../contract/queued-job.ts';
import type { Report } from '../contract/report.ts';
import type { AddedJob, Consumer, JobInQueue, LaneHandler, LaneStore } from './lane-store.ts';
import { answerOf, HELD, type LeaseAnswer, type LeaseAsk, type LeaseLength } from './lease.ts';
import { parseJob, ReportPayload, type Unreadable } from './payload.ts';
import { QueueError, reasonOf } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import { checkQueueId, laneOfJob, laneQueue } from './queue-name.ts';
import type { ReportPlace } from './redis/report-stream.ts';
import type { ReportHandler, ReportPlan } from './report-batch.ts';
import type { StopOptions } from './stop-options.ts';
import { within } from './within.ts';

export interface QueuesOptions {
  /** Set: the queues are on this Redis, and `database` is not used. */
  redisUrl?: string | undefined;
  /** Where the PostgreSQL is, as `pg` takes it: `{connectionString}`, or host, port, user, … */
  database?: PoolConfig | undefined;
  logger: QueueLogger;
  /** Prefix of the keys in Redis, so that several deployments can share one server. */
  prefix?: string;
  /** How long to try to connect at the start, ms. */
  startTimeoutMs?: number;
  /** When aborted, ends the attempt to connect. */
  signal?: AbortSignal | undefined;
  /** Longest wait for any producing command, ms. */
  commandTimeoutMs?: number;
  /** On Redis: how long a service that dies keeps other services from reading an agent's reports, ms. */
  lockDurationMs?: number;
}

export interface ConsumeOptions {
  /** Aborted: stops the consumer by force, as `stop({timeoutMs: 0})`. */
  signal?: AbortSignal | undefined;
}

type Stoppable = Pick<Consumer, 'stop'>;
type Serving = { lane: Lane; term: string; lose(): void };

/** Longest wait for the answer to a ping, ms. */
const PING_MS = 2_000;
/** Jobs added in one command: bounds the command's size. */
const BATCH = 100;

export class Queues {
  readonly #store: LaneStore;
  readonly #logger: QueueLogger;
  readonly #errors: ErrorLog;
  readonly #lockMs: number;
  readonly #commandTimeoutMs: number;
  readonly #consumers = new Set<Stoppable>();
  readonly #serving = new Set<Serving>();
  readonly #reportsRead: ReportPayload;
  #closing: Promise<void> | undefined;

  /** Made by `openQueues`. */
  constructor(store: LaneStore, options: QueuesOptions, errors: ErrorLog) {
    this.#store = store;
    this.#logger = options.logger;
    this.#errors = errors;
    this.#reportsRead = new ReportPayload(options.logger);
    this.#lockMs = options.lockDurationMs ?? 5_000;
    this.#commandTimeoutMs = options.commandTimeoutMs ?? 5_000;
  }

  get backend(): 'postgres' | 'redis' {
    return this.#store.kind;
  }

  /**
   * Adds a job to its lane. A job that is known there, waiting, active or finished, stays as it is.
   * @throws QueueError `unavailable`, `invalid-id`, `closed`
   */
  async enqueue(job: QueuedJob): Promise<void> {
    await this.enqueueMany([job]);
  }

  /**
   * Adds jobs to their lanes, those for one lane in the order given. A job that is known there, waiting, active or
   * finished, stays as it is.
   * @throws QueueError `unavailable`, `invalid-id`, `closed`
   */
  async enqueueMany(jobs: readonly QueuedJob[]): Promise<void> {
    for (const job of jobs) checkQueueId(queueIdOf(job));
    const lanes = [...Map.groupBy(jobs, laneOfJob)].map(async ([lane, ofLane]) => {
      const form = this.backend === 'redis' ? parted : whole;
      for (let from = 0; from < ofLane.length; from += BATCH) {
        const batch = ofLane.slice(from, from + BATCH).map(form);
        const givenUp = new AbortController();
        const adding = this.#command('adding jobs', () => this.#store.add(lane, batch, givenUp.signal));
        await adding.finally(() => givenUp.abort());
      }
    });
    // Waits for all lanes even if one fails: none is added to any more while the caller handles the failure.
    await Promise.allSettled(lanes);
    await Promise.all(lanes);
  }

  /** Takes a waiting job out. False: it is being printed, was printed, or is not known. */
  async remove(lane: Lane, queueId: string): Promise<boolean> {
    return await this.#ofJob(lane, queueId, 'removing a job', (...of) => this.#store.remove(...of));
  }

  /** Whether the lane knows the job: waiting, active, or finished within the last 48 h. */
  async has(lane: Lane, queueId: string): Promise<boolean> {
    return (await this.look(lane, queueId)) !== null;
  }

  /** What the lane knows of a job; null: nothing. */
  async look(lane: Lane, queueId: string): Promise<JobInQueue | null> {
    return await this.#ofJob(lane, queueId, 'looking up a job', (...of) => this.#store.look(...of));
  }

  /**
   * Takes a job out that waits, or that was being handled by a consumer which is gone. False: it is being handled, was, or
   * is not known.
   */
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
    return await this.#command(what, () => run(laneQueue(lane), queueId));
  }

  /** Marks a job as canceled, or removes the mark; the lease holder hears of it, and asks for its lease at once. */
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
    await this.#command('marking a lane', () => this.#store.leases.mark(lane, name, on));
  }

  /** Resolves when the queue's server answers. @throws QueueError `unavailable`, within 2 s; `closed` */
  async ping(): Promise<void> {
    await this.#bounded(PING_MS, 'asking the queue', () => this.#store.ping());
  }

  /** Jobs that are not finished: waiting, and in hand. */
  async depth(lane: Lane): Promise<number> {
    return await this.#command('counting jobs', () => this.#store.depth(laneQueue(lane)));
  }

  /**
   * Publishes a report, for any instance of the service to handle.
   * @param scope the scope of the agent's printers
   * @returns the report's place among the agent's reports, if the server may lose some of them
   * @throws QueueError `unavailable`, `closed`
   */
  async publish(report: Report, scope: Scope): Promise<ReportPlace | null> {
    return await this.#command('publishing a report', () => this.#store.reports.publish(report, scope));
  }

  /** Whether reports of an agent wait to be handled. @throws QueueError `unavailable`, `closed` */
  async hasUnread(agentId: string, scope: Scope): Promise<boolean> {
    const asking = () => this.#store.reports.unread({ scope, agentId });
    return (await this.#command('looking for reports', asking)) > 0;
  }

  /**
   * Asks for the leases of lanes, or to keep them, each lane once: see `lease.ts`. The answers leave out
   * lanes that the server does not let us ask about.
   * @throws QueueError `unavailable` (soon enough to ask again), `closed`
   */
  async askLeases(agentId: string, asks: readonly LeaseAsk[], length: LeaseLength): Promise<LeaseAnswer[]> {
    for (const { lane } of asks) laneQueue(lane);
    const limit = Math.min(this.#commandTimeoutMs, Math.max(1_000, length.contended / 4));
    const ask = () => this.#store.leases.ask(agentId, asks, length);
    const answers = (await this.#bounded(limit, 'asking for leases', ask)).map(answerOf);
    const lost = new Set(answers.flatMap(({ lane, granted }) => (granted === null ? [lane] : [])));
    const terms = new Set(asks.map(({ term }) => term));
    for (const one of this.#serving) if (lost.has(one.lane) && terms.has(one.term)) one.lose();
    return answers;
  }

  /** Ends a lease at once. @throws QueueError `unavailable`, `closed` */
  async giveLeaseBack(agentId: string, lane: Lane, term: string): Promise<void> {
    laneQueue(lane);
    await this.#command('giving a lease back', () => this.#store.leases.giveBack(agentId, lane, term));
  }

  /** The agent that holds each lane's lease now, by lane. @throws QueueError `unavailable`, `closed` */
  async leaseHolders(lanes: readonly Lane[]): Promise<Map<Lane, string>> {
    for (const lane of lanes) laneQueue(lane);
    return await this.#command('reading leases', () => this.#store.leases.holders(lanes));
  }

  /**
   * Handles a lane's jobs in order while its lease is held under `term`: one at a time, or two once the first
   * one's handler has called `follow`.
   * @throws QueueError `unavailable` (call again), `invalid-id`, `closed`
   */
  async consume(
    lane: Lane,
    term: string,
    handler: LaneHandler,
    options: ConsumeOptions & {
      onUnreadable?: (unreadable: Unreadable) => Promise<void> | void;
      onMarked?: () => void;
    } = {},
  ): Promise<Consumer> {
    laneQueue(lane);
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
    if (!this.#store.answers())
      throw new QueueError('unavailable', `lane ${lane}: the queue's server is away`);
    const { signal } = options;
    signal?.throwIfAborted();
    const consumer = this.#store.consumer({
      lane,
      term,
      logger: this.#logger,
      errors: this.#errors,
      parse: parseJob,
      handle: handler,
      onUnreadable: (queueId, issues, note) => options.onUnreadable?.({ queueId, lane, issues, note }),
      onMarked: () => options.onMarked?.(),
      onStopped: () => {
        this.#consumers.delete(consumer);
        this.#serving.delete(serving);
        signal?.removeEventListener('abort', abort);
      },
    });
    const serving = { lane, term, lose: () => consumer.lose() };
    const abort = () => void consumer.stop({ timeoutMs: 0 });
    // Added before it starts, so that a `close` meanwhile stops it too.
    this.#consumers.add(consumer);
    try {
      await consumer.start();
    } catch (error) {
      this.#consumers.delete(consumer);
      throw error;
    }
    this.#serving.add(serving);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    return consumer;
  }

  /**
   * Hands over reports, many at once, those of one agent in the order in which it published them. A handler that throws
   * gets the same ones again, after 250 ms at first and 30 s at most.
   */
  async consumeReports(handler: ReportHandler): Promise<Stoppable> {
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
    const plan: ReportPlan = {
      parse: (json) => this.#reportsRead.parse(json),
      handle: handler,
      lockMs: this.#lockMs,
      logger: this.#logger,
      errors: this.#errors,
      onStopped: () => undefined,
    };
    const reader = this.#store.reports.reader(plan);
    reader.start();
    this.#consumers.add(reader);
    return reader;
  }

  /** Stops every consumer, each as `stop` with this time limit, and disconnects. Idempotent. */
  close(options: StopOptions = {}): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([...this.#consumers].map((consumer) => consumer.stop(options)));
      await this.#store.close();
    })();
    return this.#closing;
  }

  async #command<R>(what: string, run: () => Promise<R>): Promise<R> {
    return await this.#bounded(this.#commandTimeoutMs, what, run);
  }

  /** @throws QueueError `unavailable` when the server is away or does not answer in time, `closed` */
  async #bounded<R>(ms: number, what: string, run: () => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
    // While the server is away, ioredis would keep any number of commands and run them later.
    if (!this.#store.answers()) throw new QueueError('unavailable', `${what}: the queue's server is away`);
    try {
      return await within(run(), ms, what);
    } catch (error) {
      if (error instanceof QueueError) throw error;
      throw new QueueError('unavailable', `${what}: ${reasonOf(error)}`);
    }
  }
}

function whole(job: QueuedJob): AddedJob {
  return { queueId: queueIdOf(job), json: JSON.stringify(job), template: undefined };
}

function parted(job: QueuedJob): AddedJob {
  const { template, ...rest } = job;
  return { queueId: queueIdOf(job), json: JSON.stringify(rest), template };
}
