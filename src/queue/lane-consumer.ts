/**
 * Consumes one lane's jobs, one at a time, or two at a time once the first one's handler has called `follow`.
 *
 *     waiting ──▶ in hand ──'done', 'not-mine', unreadable──▶ ended
 *        ▲           ├──'hand-back'──▶ in its place, and this consumer is paused
 *        └───────────┼──the handler throws──▶ in its place, and this consumer waits a while
 *                    └──the process dies────▶ the next holder of the lease takes it first
 *
 * When one of two jobs in hand goes back to the lane, the consumer takes no other job until it has none in hand, so that the
 * job which was begun first is again delivered first. Failed attempts are not counted: the agent's journal decides whether a
 * job may go on.
 */
import { type Lane, printerOf, scopeOf } from '../contract/lane.ts';
import type { AgentLanes, Consumer, Delivery, LaneHandler } from './lane-store.ts';
import { markIn } from './lease.ts';
import { parseJob } from './payload.ts';
import { QueueError, reasonOf } from './queue-error.ts';
import type { ErrorLogger, QueueLogger } from './queue-log.ts';
import type { StopLimits } from './stop-limits.ts';
import { fenceOf, type LaneDelivery, type LaneTurns, type TakenJob } from './turns.ts';
import { isWithin, within } from './within.ts';

interface ConsumerOptions {
  lane: Lane;
  /** The term of the lane's lease, under which its jobs are taken. */
  term: string;
  logger: QueueLogger;
  errors: ErrorLogger;
  handle: LaneHandler;
  onUnreadable(queueId: string, issues: string[], note: unknown): Promise<void> | void;
  /** Marks of the lane may have changed: the next answer about its lease lists them. `mark` names the one; null: any of them. */
  onMarked(mark: string | null): void;
  /** Called once when it has stopped. */
  onStopped(): void;
}

/** A job whose handler runs, or that is on its way back to the lane. */
interface Handling {
  readonly fence: LaneDelivery;
  readonly abort: AbortController;
  /** Settles when the handler ends. */
  handling: Promise<Handled>;
  followed: boolean;
}
type Handled = 'ended' | 'hand-back' | { error: unknown };

/** How soon a lane goes on after its handler has thrown, ms. */
const HANDLER_BACKOFF = { first: 250, most: 30_000 };
/** How long storing a note may take, ms. */
const NOTE_MS = 5_000;
/** How long the start waits for the server, ms. */
const START_MS = 10_000;
/** Most jobs in hand at a time. */
const MOST = 2;
/** How soon the lane is asked again when its server was away, ms. */
const RETRY_MS = 1_000;
/**
 * The number of this process's last question for a job, in any lane. One count serves all lanes, since a term belongs to one
 * process.
 */
let asks = 0;

export class LaneConsumer implements Consumer {
  readonly #options: ConsumerOptions;
  readonly #lanes: AgentLanes;
  readonly #turns: LaneTurns;
  readonly #left = new AbortController();
  #paused = false;
  #stopping: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  /** A promise for each job, from its handler's start to the server's answer about how the job ended. */
  readonly #settling = new Set<Promise<void>>();
  #silence: () => void = () => undefined;
  /** Resolved when the loop is to look again: the lane has changed, or what this consumer may take. */
  #news = Promise.withResolvers<void>();
  /** Until this time (`performance.now`) the consumer waits after a handler threw, or the server was away. */
  #retryAt = 0;
  #failures = 0;
  /** In the order in which the jobs were taken. */
  readonly #inHand: Handling[] = [];
  /** A job has gone back: no other is taken until none is in hand. */
  #draining = false;
  /**
   * Counts the jobs that have gone back to the lane. If one goes back while the consumer asks for the next, that next job is
   * out of order and goes back too.
   */
  #wentBack = 0;

  constructor(lanes: AgentLanes, options: ConsumerOptions) {
    this.#options = options;
    this.#lanes = lanes;
    this.#turns = lanes.turnsOf(options.lane, this.#left.signal);
  }

  get lane(): Lane {
    return this.#options.lane;
  }

  get term(): string {
    return this.#options.term;
  }

  /** @throws QueueError `unavailable`: call again later, with a new consumer; `closed`: stopped meanwhile */
  async start(): Promise<void> {
    const { lane } = this.#options;
    try {
      await within(this.#lanes.ping(), START_MS, `lane ${lane}`);
    } catch (error) {
      if (this.#stopping === undefined) {
        this.#left.abort();
        throw error instanceof QueueError
          ? error
          : new QueueError('unavailable', `lane ${lane}: ${reasonOf(error)}`);
      }
    }
    // Nothing but a close of the queues stops a consumer before it has started.
    if (this.#stopping !== undefined) throw new QueueError('closed', 'the queues are closed');
    this.#silence = this.#lanes.listen(lane, (what) => {
      const mark = what === null ? null : markIn(what);
      if (what === null || mark === undefined) this.#wake();
      if (mark !== undefined) this.#options.onMarked(mark);
    });
    this.#running = this.#run();
  }

  async pause(): Promise<void> {
    this.#paused = true;
    this.#forget();
  }

  async resume(): Promise<void> {
    this.#paused = false;
    this.#retryAt = 0;
    this.#wake();
  }

  /** Another agent holds the lane's lease: aborts the deliveries in hand. */
  lose(): void {
    this.#abort(new QueueError('lock-lost', `the lease of lane ${this.#options.lane} is lost`));
  }

  stop({ timeoutMs = 30_000, graceMs = 5_000 }: StopLimits = {}): Promise<void> {
    if (this.#stopping === undefined) this.#stopping = this.#stop(timeoutMs, graceMs);
    // A second call may shorten the wait.
    else if (timeoutMs <= 0) this.#abort(stopped());
    return this.#stopping;
  }

  async #stop(timeoutMs: number, graceMs: number): Promise<void> {
    this.#paused = true;
    this.#silence();
    this.#forget();
    this.#wake();
    const handling = Promise.all(this.#inHand.map((one) => one.handling));
    if (!(await isWithin(handling, timeoutMs))) this.#abort(stopped());
    // A job whose end is not stored by then stays in hand, for the next holder of the lease.
    await isWithin(this.#all(), graceMs);
    this.#left.abort();
    this.#options.onStopped();
  }

  #abort(reason: QueueError): void {
    for (const { abort } of this.#inHand) abort.abort(reason);
  }

  async #all(): Promise<void> {
    await this.#running;
    await Promise.all(this.#settling);
  }

  #forget(): void {
    this.#turns.forget(this.#options.lane, this.#options.term);
  }

  #wake(): void {
    this.#news.resolve();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { lane, term } = this.#options;
    let waited = false;
    while (this.#stopping === undefined) {
      this.#news = Promise.withResolvers();
      const wait = this.#paused ? Number.POSITIVE_INFINITY : this.#retryAt - performance.now();
      if (wait > 0) {
        await this.#newsOr(wait);
        continue;
      }
      if (!this.#mayTake()) {
        await this.#news.promise;
        continue;
      }
      const wentBack = this.#wentBack;
      const beside = this.#inHand.map(({ fence }) => fence.id);
      asks += 1;
      const asked = this.#turns.take({ lane, term, beside, number: asks });
      const taken = await asked.catch(() => undefined);
      if (taken === undefined) {
        this.#retryAt = performance.now() + RETRY_MS;
        continue;
      }
      if (taken === null) {
        waited = false;
        await this.#news.promise;
        continue;
      }
      // Meanwhile the consumer was stopped or paused, or an earlier job went back.
      if (this.#paused || this.#wentBack !== wentBack) await this.#turns.handedBack(fenceOf(taken));
      else this.#takeInHand(taken, waited);
      waited = true;
    }
  }

  #mayTake(): boolean {
    const newest = this.#inHand.at(-1);
    if (newest === undefined) return true;
    return newest.followed && this.#inHand.length < MOST && !this.#draining;
  }

  async #newsOr(ms: number): Promise<void> {
    const timer = Number.isFinite(ms) ? setTimeout(() => this.#wake(), ms) : undefined;
    await this.#news.promise;
    clearTimeout(timer);
  }

  #takeInHand(taken: TakenJob, waited: boolean): void {
    const abort = new AbortController();
    const one: Handling = {
      fence: fenceOf(taken),
      abort,
      handling: Promise.resolve('ended'),
      followed: false,
    };
    this.#inHand.push(one);
    one.handling = this.#handle(taken, one, waited);
    const settling = this.#settle(one).finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  async #settle(one: Handling): Promise<void> {
    const { lane, logger, errors } = this.#options;
    const turns = this.#turns;
    const { fence } = one;
    const handled = await one.handling;
    if (handled === 'ended') {
      // The job is let go before the answer, so that the question for the next one goes in the same turn.
      const stored = turns.ended(fence);
      this.#letGo(one);
      if (!(await stored))
        logger.warn({ queue: lane, jobId: fence.id }, 'a job ended after its lane was lost, or left');
      return;
    }
    this.#wentBack += 1;
    this.#draining = true;
    this.#forget();
    if (handled === 'hand-back') this.#paused = true;
    else {
      errors.report('handler failed, the job goes back to its place', handled.error, {
        queue: lane,
        jobId: fence.id,
      });
      const delay = Math.min(HANDLER_BACKOFF.first * 2 ** this.#failures, HANDLER_BACKOFF.most);
      this.#failures += 1;
      this.#retryAt = performance.now() + delay;
    }
    await turns.handedBack(fence);
    this.#letGo(one);
  }

  #letGo(one: Handling): void {
    this.#inHand.splice(this.#inHand.indexOf(one), 1);
    if (this.#inHand.length === 0) this.#draining = false;
    this.#wake();
  }

  async #handle(taken: TakenJob, one: Handling, waited: boolean): Promise<Handled> {
    const { lane, logger, errors, onUnreadable } = this.#options;
    const { id, delivery } = taken;
    const note = noteOf(taken);
    const parsed = parseJob(taken.json, taken.template);
    if ('issues' in parsed) {
      logger.error({ queue: lane, jobId: id, issues: parsed.issues }, 'unreadable payload set aside');
      try {
        await onUnreadable(id, parsed.issues, note);
      } catch (error) {
        errors.report('onUnreadable failed', error, { queue: lane, jobId: id });
      }
      return 'ended';
    }
    // What the service's row says of scope and printer does not count: the job belongs to this lane.
    const own = taken.ofRow ? { scope: scopeOf(lane), printerId: printerOf(lane) } : {};
    const { abort, fence } = one;
    let notes = 0;
    const delivered: Delivery = {
      job: { ...parsed.value, ...own },
      delivery,
      note,
      waited,
      setNote: async (left) => {
        notes += 1;
        const storing = turnsNote(this.#turns, fence, notes, left);
        if (await within(storing, NOTE_MS, 'storing a note')) return;
        const lost = new QueueError('lock-lost', `job ${id} is not in this one's hands any more`);
        abort.abort(lost);
        throw lost;
      },
      follow: () => {
        if (one.followed) return;
        one.followed = true;
        this.#wake();
      },
      signal: abort.signal,
    };
    try {
      const result = await this.#options.handle(delivered);
      // A job that was taken away comes again by itself, after a while. After a hand-back somebody has to resume.
      if (result === 'hand-back') abort.signal.throwIfAborted();
      this.#failures = 0;
      return result === 'hand-back' ? result : 'ended';
    } catch (error) {
      return { error };
    }
  }
}

function stopped(): QueueError {
  return new QueueError('stopped', 'the consumer was stopped');
}

/** Undefined: no handler has left a note. A note that cannot be read still says that a handler has begun the job. */
function noteOf({ note }: TakenJob): unknown {
  if (note === null) return undefined;
  try {
    return JSON.parse(note);
  } catch {
    return {};
  }
}

function turnsNote(turns: LaneTurns, inHand: LaneDelivery, order: number, note: object): Promise<boolean> {
  return turns.note(inHand, order, JSON.stringify(note)).catch((error: unknown) => {
    throw new QueueError('unavailable', `storing a note: ${reasonOf(error)}`);
  });
}
