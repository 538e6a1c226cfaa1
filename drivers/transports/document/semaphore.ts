/**
 * Calls that hold a thread until they return, a few at a time: the others wait in order. The threads are libuv's, four
 * for the whole process; were all of them in a spooler that hangs, no file could be read, and no host be found.
 */
export class Semaphore {
  readonly #atOnce: number;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param atOnce calls that run
   * @param most calls that wait; beyond that, nobody should ask anything new
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
      // The turn goes on to the next, or ends.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
