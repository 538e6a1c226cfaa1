/** Waiting: bounded, abortable, and spread out so that many printers do not all knock at once. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as one of the signals is aborted: then the caller looks at its signals. */
export async function pause(ms: number, ...signals: AbortSignal[]): Promise<void> {
  await sleep(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => undefined);
}

/** Pauses of growing length between attempts, in ms: each twice the last up to `max`, and up to a third shorter. */
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
