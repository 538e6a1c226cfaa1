/**
 * Splits long work on a request's data, on the thread that serves all requests, into stretches of a few ms.
 * Long works are done one after the other, and other requests are served between the stretches.
 */
import { setImmediate as breathe } from 'node:timers/promises';

/** Work that can pause wherever it yields. */
export type Long<T> = Generator<undefined, T>;

/** ms of a stretch. */
const STRETCH = 10;

let last: Promise<unknown> = Promise.resolve();

/** Work on up to this many records is done at once, without stretches. */
const FEW = 30;

/**
 * Does the work after all earlier work has ended: the stretches of works side by side would add up.
 * @param records the amount of work; work on `FEW` records or less does not wait
 */
export async function inStretches<T>(work: Long<T>, records: number): Promise<T> {
  if (records <= FEW) return whole(work);
  const result = last.then(() => stretches(work));
  last = result.catch(() => undefined);
  return result;
}

async function stretches<T>(work: Long<T>): Promise<T> {
  for (;;) {
    await breathe();
    const until = performance.now() + STRETCH;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
  }
}

/** Resolves after all earlier work, for one caller in each turn: what many wait for does not answer them all at once. */
export async function inTurn(): Promise<void> {
  await inStretches(nothing(), Number.POSITIVE_INFINITY);
}

function* nothing(): Long<void> {}

/** Does the work without a pause; for work that is known to be short. */
export function whole<T>(work: Long<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
