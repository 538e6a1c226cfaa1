/** Repeats a function, several calls at a time, until a time is over or a count is reached. */

export interface Rounds {
  /** Of each round, ms. */
  times: number[];
  /** From the first round's start to the last one's end. */
  ms: number;
}

/** @param round is given its number and its lane, from 0 to `width` - 1; a lane runs one round at a time */
export async function inParallel(
  options: { width: number; ms: number; most?: number; signal: AbortSignal },
  round: (number: number, lane: number) => Promise<unknown>,
): Promise<Rounds> {
  const { width, ms, most = Number.POSITIVE_INFINITY, signal } = options;
  const times: number[] = [];
  const start = performance.now();
  let begun = 0;
  const follow = async (lane: number) => {
    while (begun < most && performance.now() - start < ms) {
      signal.throwIfAborted();
      const at = performance.now();
      await round(begun++, lane);
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: width }, (_, lane) => follow(lane)));
  return { times, ms: performance.now() - start };
}
