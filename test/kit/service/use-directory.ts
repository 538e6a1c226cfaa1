/** A directory for the tests of a file. What uses it ends before it is removed, where that is said further down the file. */
import { afterAll, beforeAll } from 'vitest';
import { temporaryDirectory } from './platen.ts';

export function useDirectory(): { readonly path: string } {
  let made: Awaited<ReturnType<typeof temporaryDirectory>> | undefined;
  beforeAll(async () => {
    made = await temporaryDirectory();
  });
  afterAll(() => made?.[Symbol.asyncDispose]());
  return {
    get path() {
      if (made === undefined) throw new Error('the directory is not there yet');
      return made.path;
    },
  };
}
