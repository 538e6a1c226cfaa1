/** Debian's Chromium, as people use it: what a page writes into its console as an error is an error of the test. */
import { setTimeout as pause } from 'node:timers/promises';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { z } from 'zod';
import { onPath } from '../servers/debian-packages.ts';

/** Nothing that asks the internet for anything. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** ms for anything that a page is waited for; the machine may be busy. */
const PATIENCE = 30_000;

export type Look = { width?: number; height?: number; scheme?: 'light' | 'dark'; locale?: string };

/** What a site has of the browser: its pages, which go when it closes. */
export interface Windows {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

let shared: Promise<Browser> | undefined;

/** Windows of the one browser of this process, which is started by the first to need it and ends with the process. */
export async function openWindows(): Promise<Windows> {
  shared ??= openBrowser().then((opening) =>
    opening.once('disconnected', () => {
      shared = undefined;
    }),
  );
  const browser = await shared;
  const opened: BrowserContext[] = [];
  return {
    newContext: async (options) => {
      const context = await browser.newContext(options);
      opened.push(context);
      return context;
    },
    close: async () => void (await Promise.all(opened.splice(0).map((context) => context.close()))),
  };
}

/** A browser of its own. @param more what a measurement needs besides */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = onPath('chromium');
  if (executablePath === undefined) throw new Error('there is no chromium on this machine');
  return chromium.launch({ executablePath, args: [...FLAGS, ...more] });
}

/** @param faults takes what the page complains of: scripts that the policy refused, errors that nobody caught */
export async function openPage(
  browser: Pick<Windows, 'newContext'>,
  look: Look,
  faults: string[],
): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    colorScheme: look.scheme ?? 'light',
    locale: look.locale ?? 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // That the service refused something is its answer, which the page shows.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`a script asked: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return page;
}

const verdict = z.object({
  violations: z.array(
    z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

/** What keeps people out who see, hear or move otherwise (axe-core, all of its rules). */
export async function barriers(page: Page): Promise<string[]> {
  // What fades in has its colors at the end; what turns for ever has no end.
  await page.evaluate(`new Promise(requestAnimationFrame).then(() => Promise.allSettled(
    document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime)).map((one) => one.finished)))`);
  // Not as a tag: the page's policy would refuse it.
  await page.evaluate(axe.source);
  const found = verdict.parse(await page.evaluate('axe.run(document)'));
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id}: ${help}: ${html}`),
  );
}

/** Points by which the page is wider than the window. */
export async function overflow(page: Page): Promise<number> {
  return z.number().parse(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
}

/** Waits for every picture that is in sight. @throws Error where one does not come */
export async function drawn(page: Page): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE);
  // A lazy one that is out of sight is not even asked for.
  const all = `[...document.images].every((one) => one.complete ||
    (one.loading === 'lazy' && one.getBoundingClientRect().top > innerHeight))`;
  while ((await page.evaluate(all)) !== true) await pause(100, undefined, { signal });
  // Loaded is not yet on the page.
  await page.evaluate(
    `Promise.allSettled([...document.images].filter((one) => one.complete).map((one) => one.decode()))`,
  );
  // A gallery's pictures come one after the other.
  await page.getByText('Drawing …').waitFor({ state: 'detached' });
}
