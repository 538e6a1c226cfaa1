/**
 * Wraps an action so that, of calls that overlap, only the newest has a result. A call that has been overtaken resolves to
 * undefined, even if it fails.
 */
export function newestOf<A, R>(work: (input: A) => Promise<R>): (input: A) => Promise<R | undefined> {
  let newest = 0;
  return async (input) => {
    newest += 1;
    const own = newest;
    try {
      const result = await work(input);
      return own === newest ? result : undefined;
    } catch (error) {
      if (own === newest) throw error;
      return undefined;
    }
  };
}
