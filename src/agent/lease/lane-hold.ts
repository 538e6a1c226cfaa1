import { orAborted } from '../../../drivers/transports/pauses.ts';

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
    while (this.#held !== held && !signal.aborted) {
      await orAborted(this.#changed.promise, signal).catch(() => undefined);
    }
  }
}
