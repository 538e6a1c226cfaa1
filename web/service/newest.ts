/**
 * Wraps an action so that of overlapping calls only the newest has a result; one that is overtaken ends with undefined, even
 * where it fails.
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
