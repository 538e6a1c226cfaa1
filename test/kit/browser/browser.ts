/** Debian's Chromium, as people use it: what a page writes into its console as an error is an error of the test. */
import { setTimeout as pause } from 'node:timers/promises';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { z } from 'zod';
import { onPath } from '../servers/debian-packages.ts';

/** With these flags Chromium asks the internet for nothing. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** ms for anything that a page is waited for: against hanging alone, since the machine may be busy. */
const PATIENCE = 90_000;
/** For what a printer does meanwhile. */
export const PATIENTLY = { timeout: 60_000 };

export type Look = { width?: number; height?: number; scheme?: 'light' | 'dark'; locale?: string };

/** A site's share of the browser: its pages, which are closed with it. */
export interface Windows {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

let shared: Promise<Browser> | undefined;

/** Windows of the one browser of this process, which is started by the first to need it and ends with the process. */
export async function openWindows(): Promise<Windows> {
  const forget = () => {
    shared = undefined;
  };
  shared ??= openBrowser().then((opening) => opening.once('disconnected', forget));
  const browser = await shared.catch((error: unknown) => {
    forget();
    throw error;
  });
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

/** Starts a browser that is not shared. @param more further flags, for measurements */
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
    // A refusal by the service is an ordinary answer, which the page shows, and no fault.
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

/** Accessibility faults of the page, by all rules of axe-core. */
export async function barriers(page: Page): Promise<string[]> {
  // What fades in has its colors only at the end of its animation; endless animations are not waited for.
  await page.evaluate(`new Promise(requestAnimationFrame).then(() => Promise.allSettled(
    document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime)).map((one) => one.finished)))`);
  // Not as a script element: the page's content security policy would refuse it.
  await page.evaluate(axe.source);
  const found = verdict.parse(await page.evaluate('axe.run(document)'));
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id}: ${help}: ${html}`),
  );
}

/** Chooses the printer that jobs go to by its name, behind which it is said what is the matter with it. */
export async function chooseTarget(choice: Locator, name: string): Promise<void> {
  const option = choice.locator('option', { hasText: new RegExp(`^${name}(?: ·|$)`) });
  await option.waitFor({ state: 'attached' });
  await choice.selectOption((await option.getAttribute('value')) ?? '');
}

/** CSS pixels by which the page is wider than the window. */
export async function overflow(page: Page): Promise<number> {
  return z.number().parse(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
}

/** Waits for every picture that is in sight. @throws Error where one does not come */
export async function drawn(page: Page): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE);
  // A lazy picture that is out of sight is not even asked for.
  const all = `[...document.images].every((one) => one.complete ||
    (one.loading === 'lazy' && one.getBoundingClientRect().top > innerHeight))`;
  while ((await page.evaluate(all)) !== true) await pause(100, undefined, { signal });
  // A picture that is loaded is on the page only once it is decoded.
  await page.evaluate(
    `Promise.allSettled([...document.images].filter((one) => one.complete).map((one) => one.decode()))`,
  );
  // A gallery's pictures come one after the other.
  await page.getByText('Drawing …').waitFor({ state: 'detached' });
}
