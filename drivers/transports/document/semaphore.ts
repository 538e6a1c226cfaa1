/**
 * Limits calls that hold a thread until they return. Only a few run at a time, and the others wait in order. The threads are
 * libuv's, which has four. If a hanging spooler held them all, no file could be read and no host name resolved.
 */
export class Semaphore {
  readonly #atOnce: number;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param atOnce most calls that run at the same time
   * @param most `full` is true once so many calls wait
   */
  constructor(atOnce: number, most: number) {
    this.#atOnce = atOnce;
    this.#most = most;
  }

  get full(): boolean {
    return this.#waiting.length >= this.#most;
  }

  /** Runs `call` when it has its turn. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    } else this.#running += 1;
    try {
      return await call();
    } finally {
      // The next call that waits takes over the turn.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
