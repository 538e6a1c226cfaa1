/** A console in a browser, for the tests of a file or of one `describe`. A test in which a page complains has failed. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { buildConsole } from '../../../service/console.ts';
import { type Look, openPage, openWindows, type Windows } from './browser.ts';
import { ConsoleSite, type SiteOptions } from './console-site.ts';

/** Starts a whole Platen with its console before the tests, and stops it after them. */
export function useConsole(options: SiteOptions = {}): ConsoleSite {
  const site = new ConsoleSite(options);
  beforeAll(() => site.start());
  watch(site.faults);
  afterAll(() => site.stop());
  return site;
}

/** Builds the console, for a service that the tests start. @returns how to open a page in a browser */
export function usePages(): (look?: Look) => Promise<Page> {
  const faults: string[] = [];
  let windows: Windows | undefined;
  beforeAll(async () => {
    await buildConsole(join(import.meta.dirname, '../../..'));
    windows = await openWindows();
  });
  watch(faults);
  afterAll(() => windows?.close());
  return async (look = {}) => {
    if (windows === undefined) throw new Error('the browser has not been started');
    return await openPage(windows, look, faults);
  };
}

function watch(faults: string[]): void {
  afterEach(() => expect(faults.splice(0)).toEqual([]));
}
