/**
 * One worker on one queue, one job at a time.
 *
 *     waiting ──▶ active ──'done'──────────▶ completed
 *        ▲          ├──'hand-back'──▶ front of waiting, and this consumer is paused
 *        └──────────┤
 *                   ├──the handler throws──▶ front of waiting, and this consumer pauses for a while
 *                   ├──the process dies────▶ front of waiting, 5 to 7 s later (lock duration + stalled interval)
 *                   └──unreadable, 'not-mine'──▶ failed: set aside, out of the way of the next
 *
 * Nothing counts as a failed attempt: whether a job may go on is for its journal to say, not for a counter.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { UnrecoverableError, WaitingError } from 'bullmq';
import { type BullQueues, CLOSE_MS, type StoredJob, type StoredWorker, type WorkerTiming } from './bullmq.ts';
import { type Delivery, HANDLER_BACKOFF, type Outcome, type StartedConsumer } from './lane-store.ts';
import type { Parsed } from './payload.ts';
import { QueueError, reasonOf, within } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import type { StopOptions } from './stop-options.ts';

export interface BullPlan<T> {
  bull: BullQueues;
  queue: string;
  timing: Required<WorkerTiming>;
  logger: QueueLogger;
  errors: ErrorLog;
  parse(json: string): Parsed<T>;
  handle(delivery: Delivery<T>): Promise<Outcome>;
  /** Jobs that are active in the queue, for a queue that has one consumer; undefined for one that has many. */
  countActive: (() => Promise<number>) | undefined;
  onUnreadable(jobId: string, issues: string[], note: unknown): Promise<void> | void;
  /** Called once when it has stopped. */
  onStopped(): void;
}

interface Active {
  jobId: string;
  abort: AbortController;
  over: Promise<void>;
}

export class BullConsumer<T> implements StartedConsumer {
  readonly #plan: BullPlan<T>;
  #worker: StoredWorker | undefined;
  #active: Active | undefined;
  #stopping: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #begun: Promise<void> = Promise.resolve();
  #failures = 0;
  /** `BullQueues.breaks` at the last time that only this worker had a job in hand. */
  #breaks = 0;

  constructor(plan: BullPlan<T>) {
    this.#plan = plan;
  }

  /** @throws QueueError `unavailable`: call again later, with a new consumer */
  async start(): Promise<void> {
    const { bull, queue, timing, errors } = this.#plan;
    if (!bull.answers()) throw new QueueError('unavailable', `queue ${queue}: the queue's server is away`);
    const worker = bull.worker(queue, (job, token) => this.#process(job, token ?? ''), timing);
    worker.on('error', (error) => errors.report('queue worker failed', error, { queue }));
    worker.on('lockRenewalFailed', (jobIds) => {
      if (this.#active === undefined || !jobIds.includes(this.#active.jobId)) return;
      this.#active.abort.abort(new QueueError('lock-lost', `the lock of job ${this.#active.jobId} is lost`));
    });
    // A job that was removed meanwhile needs it no more.
    worker.on('completed', (job) => void job.updateData({ json: '' }).catch(() => undefined));
    this.#worker = worker;
    try {
      await within(10_000, `queue ${queue}`, worker.waitUntilReady());
    } catch (error) {
      await worker.end(true).catch(() => undefined);
      throw error instanceof QueueError
        ? error
        : new QueueError('unavailable', `queue ${queue}: ${reasonOf(error)}`);
    }
    this.#begun = this.#begin(worker);
  }

  async #begin(worker: StoredWorker): Promise<void> {
    await this.#nothingInHand(worker);
    if (this.#stopping !== undefined) return;
    worker.run().catch((error: unknown) => {
      this.#plan.errors.report('queue worker ended', error, { queue: this.#plan.queue });
    });
  }

  /**
   * A job that a dead predecessor had in hand, or that this worker had and lost, is still active, and comes back to
   * the front when its lock ends. Whoever starts at once would print the next ones before it, and what a printer
   * counts for those would be taken for labels of the first. That is for the queue to say, and not for a clock: a
   * process that slept, or was cut off, has waited long and knows nothing.
   */
  async #nothingInHand(worker: StoredWorker): Promise<void> {
    const { bull, timing, countActive, errors, logger, queue } = this.#plan;
    const expected = timing.lockDuration + 3 * timing.stalledInterval;
    const since = performance.now();
    let told = false;
    while (countActive !== undefined && this.#stopping === undefined) {
      const breaks = bull.breaks();
      const active = await countActive().catch(() => null);
      this.#breaks = breaks;
      if (active === 0) break;
      if (active !== null && !told && performance.now() - since > expected) {
        logger.warn({ queue, active }, 'the jobs wait: another worker still has one of them in hand');
        told = true;
      }
      await within(CLOSE_MS, 'taking back jobs', worker.takeBackStalled()).catch((error: unknown) => {
        errors.report('jobs not taken back', error, { queue });
      });
      await wait(Math.min(100, timing.stalledInterval));
    }
  }

  /**
   * Whether another job is in hand besides the one that was just taken: where the connection broke, the answer that
   * brought that one may have been lost.
   */
  async #isOutOfTurn(): Promise<boolean> {
    const { bull, countActive } = this.#plan;
    const breaks = bull.breaks();
    if (countActive === undefined || breaks === this.#breaks) return false;
    const active = await countActive().catch(() => Number.POSITIVE_INFINITY);
    if (active <= 1) this.#breaks = breaks;
    return active > 1;
  }

  get paused(): boolean {
    return this.#worker?.isPaused() ?? false;
  }

  async pause(): Promise<void> {
    this.#cancelRetry();
    // Without `true` it would wait for the job in hand; with it, a worker that is waiting takes one more.
    await this.#worker?.pause(this.#active !== undefined);
  }

  async resume(): Promise<void> {
    this.#cancelRetry();
    await this.#begun;
    if (this.#stopping === undefined) await this.#worker?.resume();
  }

  /** The lock of the job in hand says it, sooner or later. */
  lose(): void {}

  stop({ timeoutMs = 30_000, graceMs = 5_000 }: StopOptions = {}): Promise<void> {
    if (this.#stopping === undefined) this.#stopping = this.#stop(timeoutMs, graceMs);
    // A second, shorter limit counts too.
    else if (timeoutMs <= 0) this.#abort();
    return this.#stopping;
  }

  async #stop(timeoutMs: number, graceMs: number): Promise<void> {
    const worker = this.#worker;
    this.#cancelRetry();
    try {
      if (worker === undefined) return;
      await worker.pause(true);
      await this.#begun;
      if (!(await this.#idleWithin(timeoutMs))) this.#abort();
      const idle = await this.#idleWithin(graceMs);
      // By force: the lock is not renewed, and the job goes back when it ends.
      await worker.end(!idle);
    } catch (error) {
      this.#plan.errors.report('queue worker did not close', error, { queue: this.#plan.queue });
    } finally {
      this.#plan.onStopped();
    }
  }

  #abort(): void {
    this.#active?.abort.abort(new QueueError('stopped', 'the consumer was stopped'));
  }

  async #idleWithin(milliseconds: number): Promise<boolean> {
    if (this.#active === undefined) return true;
    return await within(Math.max(0, milliseconds), 'handler', this.#active.over).then(
      () => true,
      () => false,
    );
  }

  async #process(job: StoredJob, token: string): Promise<null> {
    const { queue, logger, errors } = this.#plan;
    const worker = this.#worker;
    const jobId = job.id ?? '';
    // Taken in the moment in which it was stopped.
    if (worker === undefined || this.#stopping !== undefined) return await this.#putBack(job, token);
    if (await this.#isOutOfTurn()) {
      logger.warn({ queue, jobId }, 'an earlier job is still in hand: this one goes back to the front');
      this.#resumeAfter(worker, HANDLER_BACKOFF.first);
      return await this.#putBack(job, token);
    }

    const parsed = this.#plan.parse(job.data.json);
    if ('issues' in parsed) {
      logger.error({ queue, jobId, issues: parsed.issues }, 'unreadable payload set aside');
      try {
        await this.#plan.onUnreadable(jobId, parsed.issues, noteOf(job));
      } catch (error) {
        errors.report('onUnreadable failed', error, { queue, jobId });
      }
      throw new UnrecoverableError('payload unreadable');
    }

    const over = Promise.withResolvers<void>();
    const active: Active = { jobId, abort: new AbortController(), over: over.promise };
    this.#active = active;
    try {
      const outcome = await this.#plan.handle({
        job: parsed.value,
        delivery: job.attemptsStarted,
        redelivered: job.attemptsStarted > 1,
        note: noteOf(job),
        setNote: (note) => this.#setNote(token, active, note),
        signal: active.abort.signal,
      });
      this.#failures = 0;
      if (outcome === 'hand-back') return await this.#putBack(job, token);
      if (outcome === 'not-mine') throw new UnrecoverableError('a job of another lane');
      return null;
    } catch (error) {
      if (error instanceof WaitingError || error instanceof UnrecoverableError) throw error;
      const delay = Math.min(HANDLER_BACKOFF.first * 2 ** this.#failures, HANDLER_BACKOFF.most);
      this.#failures += 1;
      errors.report('handler failed, the job goes back to the front', error, { queue, jobId });
      this.#resumeAfter(worker, delay);
      return await this.#putBack(job, token);
    } finally {
      this.#active = undefined;
      over.resolve();
    }
  }

  async #setNote(token: string, active: Active, note: object): Promise<void> {
    const { bull, queue, timing } = this.#plan;
    const { jobId } = active;
    const stored = bull.setNote({ queue, jobId, token, note, lockMs: timing.lockDuration });
    if (await within(CLOSE_MS, 'storing a note', stored)) return;
    const lost = new QueueError('lock-lost', `the lock of job ${jobId} is lost`);
    active.abort.abort(lost);
    throw lost;
  }

  #resumeAfter(worker: StoredWorker, delay: number): void {
    const retry = setTimeout(() => void this.#resumeInOrder(worker, retry), delay);
    this.#retry = retry;
  }

  /** Goes on, unless somebody has paused, resumed or stopped it since. */
  async #resumeInOrder(worker: StoredWorker, retry: NodeJS.Timeout): Promise<void> {
    await this.#nothingInHand(worker);
    if (this.#retry === retry) await this.resume();
  }

  #cancelRetry(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /** To the front, with this consumer paused: it would be handed the same job at once. */
  async #putBack(job: StoredJob, token: string): Promise<never> {
    await this.#worker?.pause(true);
    try {
      await within(CLOSE_MS, 'putting back', job.moveToWait(token));
    } catch (error) {
      // It goes to the front all the same when its lock ends.
      this.#plan.errors.report('job not put back', error, { queue: this.#plan.queue, jobId: job.id });
    }
    throw new WaitingError();
  }
}

/** BullMQ's own default is 0, or an empty object. */
export function noteOf({ progress }: StoredJob): unknown {
  if (typeof progress !== 'object' || Object.keys(progress).length === 0) return undefined;
  return progress;
}
