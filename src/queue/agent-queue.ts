/** The queues as an agent sees them, in whichever store: it asks for leases, takes its lanes' jobs and publishes reports. */
import type { Lane, Scope } from '../contract/lane.ts';
import type { Report } from '../contract/report.ts';
import { LaneConsumer } from './lane-consumer.ts';
import type { AgentLanes, Consumer, LaneHandler } from './lane-store.ts';
import { answerOf, type LeaseAnswer, type LeaseLimits, type LeaseQuestion } from './lease.ts';
import type { UnreadableJob } from './payload.ts';
import { QueueError, reasonOf } from './queue-error.ts';
import type { ErrorLogger, QueueLogger } from './queue-log.ts';
import { laneQueue } from './queue-name.ts';
import type { PublishedReport } from './report-name.ts';
import type { StopLimits } from './stop-limits.ts';
import { within } from './within.ts';

interface ConsumeOptions {
  onUnreadable?: (unreadable: UnreadableJob) => Promise<void> | void;
  /**
   * Called when marks of the lane may have changed. `mark` names the one; null: any of them. The next answer about the lane's
   * lease lists all its marks.
   */
  onMarked?: (mark: string | null) => void;
}

export interface AgentQueueOptions {
  logger: QueueLogger;
  /** Longest wait for any command that has an answer, ms. */
  commandTimeoutMs?: number;
}

/** Longest wait for the answer to a ping, ms. */
const PING_MS = 2_000;

/** What an agent needs of its queue, whatever lies behind it: a database, Redis, or the service's gateway. */
export type DeliveryQueue = Pick<AgentQueue, 'askLeases' | 'giveLeaseBack' | 'consume' | 'publish'>;

export class AgentQueue {
  readonly #lanes: AgentLanes;
  protected readonly logger: QueueLogger;
  protected readonly errors: ErrorLogger;
  readonly #commandTimeoutMs: number;
  /** All that `close` stops. */
  protected readonly running = new Set<Pick<Consumer, 'stop'>>();
  readonly #serving = new Set<LaneConsumer>();
  #closing: Promise<void> | undefined;

  constructor(lanes: AgentLanes, options: AgentQueueOptions, errors: ErrorLogger) {
    this.#lanes = lanes;
    this.logger = options.logger;
    this.errors = errors;
    this.#commandTimeoutMs = options.commandTimeoutMs ?? 5_000;
  }

  /** For the gateway, which passes them on to agents at other sites. */
  get lanes(): AgentLanes {
    return this.#lanes;
  }

  /** Resolves when the queue's server answers. @throws QueueError `unavailable`, within 2 s; `closed` */
  async ping(): Promise<void> {
    await this.#bounded(PING_MS, 'asking the queue', () => this.#lanes.ping());
  }

  /**
   * Publishes a report, for any instance of the service to handle.
   * @param scope the scope of the agent's printers
   * @returns as `AgentLanes.publish`
   * @throws QueueError `unavailable`, `closed`
   */
  async publish(report: Report, scope: Scope): Promise<PublishedReport | null> {
    return await this.command('publishing a report', () => this.#lanes.publish(report, scope));
  }

  /**
   * Asks for leases, or to keep those that the agent has (see `lease.ts`). Each lane is named once. The answers leave out lanes
   * that the server does not let us ask about.
   * @throws QueueError `unavailable` (soon enough to ask again), `closed`
   */
  async askLeases(
    agentId: string,
    asks: readonly LeaseQuestion[],
    length: LeaseLimits,
  ): Promise<LeaseAnswer[]> {
    for (const { lane } of asks) laneQueue(lane);
    const limit = Math.min(this.#commandTimeoutMs, Math.max(1_000, length.contended / 4));
    const ask = () => this.#lanes.leases.ask(agentId, asks, length);
    const answers = (await this.#bounded(limit, 'asking for leases', ask)).map(answerOf);
    const lost = new Set(answers.flatMap(({ lane, granted }) => (granted === null ? [lane] : [])));
    const terms = new Set(asks.map(({ term }) => term));
    for (const one of this.#serving) if (lost.has(one.lane) && terms.has(one.term)) one.lose();
    return answers;
  }

  /** Ends a lease at once. @throws QueueError `unavailable`, `closed` */
  async giveLeaseBack(agentId: string, lane: Lane, term: string): Promise<void> {
    laneQueue(lane);
    await this.command('giving a lease back', () => this.#lanes.leases.giveBack(agentId, lane, term));
  }

  /**
   * Handles a lane's jobs in order while its lease is held under `term`: one at a time, or two once the first
   * one's handler has called `follow`.
   * @throws QueueError `unavailable` (call again), `invalid-id`, `closed`
   */
  async consume(
    lane: Lane,
    term: string,
    handle: LaneHandler,
    { onUnreadable, onMarked }: ConsumeOptions = {},
  ): Promise<Consumer> {
    laneQueue(lane);
    this.throwIfClosed();
    if (!this.#lanes.answers())
      throw new QueueError('unavailable', `lane ${lane}: the queue's server is away`);
    const consumer = new LaneConsumer(this.#lanes, {
      ...{ lane, term, handle },
      ...{ logger: this.logger, errors: this.errors },
      onUnreadable: (queueId, issues, note) => onUnreadable?.({ queueId, lane, issues, note }),
      onMarked: (mark) => onMarked?.(mark),
      onStopped: () => {
        this.running.delete(consumer);
        this.#serving.delete(consumer);
      },
    });
    // Added before it starts, because `close` must also stop a consumer that is starting.
    this.running.add(consumer);
    try {
      await consumer.start();
    } catch (error) {
      this.running.delete(consumer);
      throw error;
    }
    this.#serving.add(consumer);
    return consumer;
  }

  /** Stops every consumer, each as `stop` with this time limit, and disconnects. Idempotent. */
  close(options: StopLimits = {}): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([...this.running].map((one) => one.stop(options)));
      await this.#lanes.close();
    })();
    return this.#closing;
  }

  /** @throws QueueError `unavailable` when the server is away or does not answer in time, `closed` */
  protected async command<R>(what: string, run: () => Promise<R>): Promise<R> {
    return await this.#bounded(this.#commandTimeoutMs, what, run);
  }

  protected throwIfClosed(): void {
    if (this.#closing !== undefined) throw new QueueError('closed', 'the queues are closed');
  }

  async #bounded<R>(ms: number, what: string, run: () => Promise<R>): Promise<R> {
    this.throwIfClosed();
    // While the server is away, ioredis would keep any number of commands and run them later.
    if (!this.#lanes.answers()) throw new QueueError('unavailable', `${what}: the queue's server is away`);
    try {
      return await within(run(), ms, what);
    } catch (error) {
      if (error instanceof QueueError) throw error;
      throw new QueueError('unavailable', `${what}: ${reasonOf(error)}`);
    }
  }
}
