/**
 * Long work on one request's data, on the thread that serves all others: it is done in stretches of a few
 * milliseconds, one request after the other, and everybody else is served between them.
 */
import { setImmediate as breathe } from 'node:timers/promises';

/** Work that can pause wherever it yields. */
export type Long<T> = Generator<undefined, T>;

/** ms at a stretch. */
const STRETCH = 10;

let last: Promise<unknown> = Promise.resolve();

/** Records of a request that are done with at once. */
const FEW = 30;

/**
 * Does it when what was asked for before is done: side by side, their stretches would add up.
 * @param records how much work it is: that of few records does not wait
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

/** All at once: for what is known to be short. */
export function whole<T>(work: Long<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
