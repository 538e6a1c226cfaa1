/**
 * The check threads of a service. What strangers send is drawn and measured here and nowhere else: with a deadline, with a
 * bound on memory, and not on the thread that serves sockets.
 *
 * A thread has one check at a time. The owners (tenants) of waiting checks take turns, and no owner gets all threads. So a slow
 * check delays only the checks of its own owner.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Logger } from '../log.ts';
import { limitWork } from '../render/work-limit.ts';
import type { Check, CheckAnswer, CheckRequest, CheckResult, CheckSays } from './check-protocol.ts';
import { startThread } from './thread.ts';

/** A thread's heap, MB. */
const HEAP_MB = 256;
/** How long a thread may take to load its code, ms. */
const LOADING_MS = 60_000;
/** Checks that one owner may have waiting. */
const MOST_WAITING = 1_000;

/** ms that a stop waits for threads to end. */
const STOP_MS = 2_000;

/** A check came to no result. With `deadline` and `memory` the check itself is at fault; with `busy` it is not. */
export class CheckStopped extends Error {
  readonly reason: 'deadline' | 'memory' | 'busy' | 'broken';
  /** The place in the template that the check had come to, a JSON pointer. */
  readonly at: string;

  constructor(reason: CheckStopped['reason'], at: string, detail: string = reason) {
    super(`A check stopped: ${detail}`);
    this.name = 'CheckStopped';
    this.reason = reason;
    this.at = at;
  }
}

export interface CheckTimes {
  /** ms that a check may wait for a thread. */
  readonly wait: number;
  /** ms that it may work once it has one. */
  readonly run: number;
  /** `run` is by the clock: somebody waits for what else could be done. */
  readonly byClock?: true;
}

interface Task {
  readonly owner: string;
  readonly check: Check;
  readonly times: CheckTimes;
  readonly settle: (outcome: CheckResult | CheckStopped) => void;
  /** Ends the task's wait for a thread. */
  timer: NodeJS.Timeout | undefined;
}

export class CheckPool {
  readonly #size: number;
  readonly #logger: Logger;
  readonly #threads = new Set<CheckThread>();
  /** By owner, in the order in which the owners take turns. */
  readonly #waiting = new Map<string, Task[]>();
  readonly #running = new Map<string, number>();
  #stopped = false;

  /** @param options.threads raised to at least 2, so that one owner cannot have all threads */
  constructor(options: { threads: number; logger: Logger }) {
    this.#size = Math.max(2, options.threads);
    this.#logger = options.logger;
  }

  /** How many threads are at work or free, and how many checks wait for a thread. */
  get load(): { busy: number; idle: number; wanted: number } {
    const alive = [...this.#threads].filter(({ ending }) => !ending);
    const idle = alive.filter(({ free }) => free).length;
    const waiting = [...this.#waiting.values()].reduce((sum, tasks) => sum + tasks.length, 0);
    return { busy: alive.length - idle, idle, wanted: waiting };
  }

  /** Makes one thread ready before the first check. */
  start(): void {
    this.#thread();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const tasks of this.#waiting.values()) {
      for (const task of tasks) this.#leave(task, new CheckStopped('busy', '', 'the service is stopping'));
    }
    this.#waiting.clear();
    const ended = Promise.all([...this.#threads].map((thread) => thread.stop('busy')));
    // A thread that draws ends only when the drawing library has done its work. A stop does not wait that long.
    await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })]);
  }

  /**
   * @param owner the tenant whose check this is, by ID
   * @throws CheckStopped
   */
  async run<K extends Check['kind']>(
    owner: string,
    check: Check & { kind: K },
    times: CheckTimes,
  ): Promise<CheckSays[K]> {
    const { promise, resolve } = Promise.withResolvers<CheckResult | CheckStopped>();
    const tasks = this.#waiting.get(owner) ?? [];
    if (this.#stopped || tasks.length >= MOST_WAITING) throw new CheckStopped('busy', '');
    const task: Task = { owner, check, times, settle: resolve, timer: undefined };
    task.timer = setTimeout(() => {
      const at = tasks.indexOf(task);
      if (at >= 0) tasks.splice(at, 1);
      if (tasks.length === 0 && this.#waiting.get(owner) === tasks) this.#waiting.delete(owner);
      this.#leave(task, new CheckStopped('busy', ''));
    }, times.wait);
    tasks.push(task);
    this.#waiting.set(owner, tasks);
    this.#next();
    const outcome = await promise;
    if (outcome instanceof CheckStopped) throw outcome;
    if (isOf(check.kind, outcome)) return outcome.says;
    throw new TypeError(`a check thread answered with ${outcome.kind}`);
  }

  #leave(task: Task, outcome: CheckStopped): void {
    clearTimeout(task.timer);
    task.settle(outcome);
  }

  /** Gives waiting checks to free threads. */
  #next(): void {
    for (const [owner, tasks] of this.#waiting) {
      if ((this.#running.get(owner) ?? 0) >= this.#size - 1) continue;
      const thread = this.#thread();
      if (thread === undefined) return;
      const task = tasks.shift();
      // An owner that had a turn goes behind the owners that wait.
      this.#waiting.delete(owner);
      if (tasks.length > 0) this.#waiting.set(owner, tasks);
      if (task !== undefined) this.#begin(thread, task);
    }
  }

  #begin(thread: CheckThread, task: Task): void {
    const { owner } = task;
    clearTimeout(task.timer);
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
    thread.begin(task, (outcome) => {
      const left = (this.#running.get(owner) ?? 1) - 1;
      if (left === 0) this.#running.delete(owner);
      else this.#running.set(owner, left);
      task.settle(outcome);
      this.#next();
    });
  }

  /** A free thread, or a new one if there may be more; undefined: all are at work. */
  #thread(): CheckThread | undefined {
    let alive = 0;
    for (const thread of this.#threads) {
      if (thread.free) return thread;
      if (!thread.ending) alive += 1;
    }
    // If a thread is ended while the drawing library works, it lives until this work is done. There may be up to `#size` such
    // threads besides the others.
    if (alive >= this.#size || this.#threads.size >= 2 * this.#size || this.#stopped) return undefined;
    const thread = new CheckThread(this.#logger, () => {
      this.#threads.delete(thread);
      if (!this.#stopped) this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }
}

function isOf<K extends Check['kind']>(kind: K, result: CheckResult): result is CheckResult<K> {
  return result.kind === kind;
}

type Settle = Task['settle'];

class CheckThread {
  readonly #worker: Worker;
  readonly #logger: Logger;
  #task: { id: number; times: CheckTimes; at: string; settle: Settle; unlimit: () => void } | undefined;
  #asked = 0;
  #loaded = false;
  ending = false;

  constructor(logger: Logger, onExit: () => void) {
    this.#logger = logger;
    this.#worker = startThread<CheckAnswer>({
      file: new URL('./check-worker.ts', import.meta.url),
      heapMb: HEAP_MB,
      answered: (answer) => this.#received(answer),
      failed: (error, outOfMemory) => {
        const reason = outOfMemory ? 'memory' : 'broken';
        logger.warn({ reason: outOfMemory ? reason : error.name }, 'a check thread stopped');
        this.ending = true;
        this.#settle(new CheckStopped(reason, this.#task?.at ?? '', error.name));
      },
      exited: () => {
        this.ending = true;
        this.#settle(new CheckStopped('broken', this.#task?.at ?? '', 'its thread ended'));
        onExit();
      },
    });
  }

  get free(): boolean {
    return this.#task === undefined && !this.ending;
  }

  begin({ owner, check, times }: Task, settle: Settle): void {
    const id = ++this.#asked;
    this.#task = { id, times, at: '', settle, unlimit: this.#limit(times) };
    this.#worker.ref();
    this.#worker.postMessage({ id, owner, check } satisfies CheckRequest);
  }

  /** Ends the thread; its check, if it has one, stops for this reason. */
  async stop(reason: CheckStopped['reason']): Promise<void> {
    this.ending = true;
    const ended = this.#worker.terminate();
    this.#settle(new CheckStopped(reason, this.#task?.at ?? ''));
    await ended;
  }

  #notLoaded(): void {
    this.#logger.warn({ ms: LOADING_MS }, 'a check thread did not load its code in time');
    void this.stop('broken');
  }

  /** A busy machine may take long to load code. This time must not count against the check that needs the code. */
  #limit({ run, byClock }: CheckTimes): () => void {
    const late = () => void this.stop('deadline');
    if (this.#loaded && !byClock) return limitWork(run, late);
    const timer = this.#loaded ? setTimeout(late, run) : setTimeout(() => this.#notLoaded(), LOADING_MS);
    return () => clearTimeout(timer);
  }

  #received(answer: CheckAnswer): void {
    const task = this.#task;
    if ('loaded' in answer) {
      this.#loaded = answer.loaded;
      if (task === undefined) return;
      task.unlimit();
      task.unlimit = this.#limit(task.times);
      return;
    }
    if (task === undefined || answer.id !== task.id) return;
    if ('at' in answer) task.at = answer.at;
    else if ('broke' in answer) {
      const { broke: reason, frames } = answer;
      this.#logger.error({ reason, frames }, 'a check broke');
      this.#settle(new CheckStopped('broken', task.at, reason));
    } else this.#settle(answer.result);
  }

  #settle(outcome: CheckResult | CheckStopped): void {
    const task = this.#task;
    if (task === undefined) return;
    this.#task = undefined;
    task.unlimit();
    this.#worker.unref();
    task.settle(outcome);
  }
}
