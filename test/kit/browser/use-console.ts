/** A whole Platen with its console, for the tests of a file or of one `describe`. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ConsoleSite, type SiteOptions } from './console-site.ts';

/** Starts it before the tests, and stops it after them. A test in which a page complains has failed. */
export function useConsole(options: SiteOptions = {}): ConsoleSite {
  const site = new ConsoleSite(options);
  beforeAll(() => site.start());
  afterEach(() => expect(site.faults.splice(0)).toEqual([]));
  afterAll(() => site.stop());
  return site;
}
