/** Pauses: bounded, abortable, and spread out so that many printers are not all tried at once. */
/** Resolves after `ms` (0: at once), or as soon as a signal is aborted. The caller then has to look at its signals. */
export function pause(ms: number, ...signals: AbortSignal[]): Promise<void> {
  if (ms <= 0 || signals.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    // Not with `AbortSignal.any`: it would be the most expensive part of a pause, and an idle agent has some every second.
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end, { once: true });
  });
}

/** Pauses between attempts, in ms. Each is twice as long as the last, up to `max`, and then up to a third shorter by chance. */
export class Backoff {
  readonly #min: number;
  readonly #max: number;
  #next: number;

  constructor(min: number, max: number) {
    this.#min = min;
    this.#max = max;
    this.#next = min;
  }

  next(): number {
    const ms = this.#next;
    this.#next = Math.min(this.#max, ms * 2);
    return ms * (1 - Math.random() / 3);
  }

  reset(): void {
    this.#next = this.#min;
  }
}
