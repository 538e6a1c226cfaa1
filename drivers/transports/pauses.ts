/** Helpers for transports that retry until a device is ready: abortable pauses, and waits with a limit. */
import { setTimeout as wait } from 'node:timers/promises';

/** Pauses between two attempts, ms: the first, and the longest. */
const AGAIN = { min: 1, max: 25 };

/** Pauses between attempts: doubled each time, short again after `reset`. */
export class Pauses {
  #next = AGAIN.min;

  /** @throws the signal's reason */
  async next(signal: AbortSignal): Promise<void> {
    const ms = this.#next;
    this.#next = Math.min(AGAIN.max, ms * 2);
    try {
      await wait(ms, undefined, { signal });
    } catch {
      // Node's own error wraps the reason.
      throw signal.reason;
    }
  }

  reset(): void {
    this.#next = AGAIN.min;
  }
}

/** Waits for `promise` until the signal aborts; the work behind it goes on. @throws the signal's reason */
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

/** Waits for `promise`, but no longer than `ms`; then it throws what `late` makes. */
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
