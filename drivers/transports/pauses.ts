/** Helpers for transports that try again until a device is ready: pauses that can be aborted, and waits with a limit. */
import { setTimeout as wait } from 'node:timers/promises';

/** The first and the longest pause between two attempts, ms. */
const AGAIN = { min: 1, max: 25 };

/** Pauses between attempts. Each is twice as long as the one before; after `reset` they are short again. */
export class Pauses {
  #next = AGAIN.min;

  /** @throws the signal's reason */
  async next(signal: AbortSignal): Promise<void> {
    const ms = this.#next;
    this.#next = Math.min(AGAIN.max, ms * 2);
    try {
      await wait(ms, undefined, { signal });
    } catch {
      // Node throws an error of its own around the reason.
      throw signal.reason;
    }
  }

  reset(): void {
    this.#next = AGAIN.min;
  }
}

/** Waits for `promise` until the signal is aborted. The work behind the promise goes on. @throws the signal's reason */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    promise.catch(() => undefined);
  }
}

/** Waits for `promise`, but no longer than `ms`; after that it throws what `late` returns. */
export async function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}

/** The system's name for what went wrong: `ENOSPC`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
}
