/** Whether a person holds the printer, as the last answer about its lease said: then no further job is taken. */
export class LaneHold {
  #held = false;
  #changed = Promise.withResolvers<void>();

  get held(): boolean {
    return this.#held;
  }

  update(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Resolves when it is so, or when the signal is aborted. */
  async becomes(held: boolean, signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = () => aborted.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    while (this.#held !== held && !signal.aborted) {
      await Promise.race([this.#changed.promise, aborted.promise]);
    }
    signal.removeEventListener('abort', onAbort);
  }
}
