/**
 * `node test/web/every-page.ts DIR [--only jobs]` takes pictures of every page of the console, for whoever works on its looks:
 * light and dark, on a warehouse tablet, and 320 points wide in German; and of states that are seldom seen: empty, loading,
 * failed, out of date.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { drawn, type Look } from '../kit/browser/browser.ts';
import { ConsoleSite } from '../kit/browser/console-site.ts';
import { MUTE } from '../kit/service/mute-printer.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' } },
});
const [out] = positionals;
if (out === undefined) throw new Error('say into which directory');
await mkdir(out, { recursive: true });

const LOOKS: Readonly<Record<string, Look>> = {
  light: { width: 1280, height: 800 },
  dark: { width: 1280, height: 800, scheme: 'dark', locale: 'de-DE' },
  tablet: { width: 820, height: 1180, locale: 'de-DE' },
  narrow: { width: 320, height: 640, locale: 'de-DE' },
};

async function empty(): Promise<void> {
  const site = await ConsoleSite.start();
  try {
    for (const name of ['light', 'narrow']) {
      const page = await site.signedIn(LOOKS[name] ?? {});
      for (const address of ['', 'print', 'jobs', 'held', 'templates', 'integrations'])
        await take(site, page, `empty-${name}`, address);
      await page.context().close();
    }
    const page = await site.signedIn(LOOKS['light'] ?? {});
    // First the service does not answer; then it refuses.
    await page.route('**/app/jobs?**', () => {});
    await page.goto(`${site.up.url}/console/#/jobs`);
    await page.getByText('Loading …').first().waitFor();
    await shot(page, 'state-loading');
    await page.unroute('**/app/jobs?**');
    const refusal = {
      title: 'The service has too much in hand',
      code: 'overloaded',
      detail: 'too much in hand',
    };
    await page.route('**/app/jobs?**', (route) =>
      route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(refusal) }),
    );
    await page.goto(`${site.up.url}/console/#/print`);
    await page.goto(`${site.up.url}/console/#/jobs`);
    await page.getByRole('alert').first().waitFor();
    await shot(page, 'state-refused');
    await page.context().close();
    const stale = await site.signedIn(LOOKS['light'] ?? {});
    await site.show(stale, 'printers');
    await stale.context().setOffline(true);
    await stale.getByText(/^No answer from the service since/).waitFor();
    await shot(stale, 'state-stale');
    await stale.context().close();
  } finally {
    await site.stop();
  }
}

async function full(): Promise<void> {
  const site = await ConsoleSite.start({ args: ['--samples'] });
  try {
    const { admin } = site.up;
    const shelf = await site.printSample('shelf-50x25', /^Shelf/, 'virtual-1');
    const held = await site.printSample('shelf-50x25', /^Shelf/, MUTE);
    await admin.createIntegration('default', { name: 'Warehouse system of the northern hall' });
    const webhook = await site.webhook('https://wms.example.com/platen');
    await site.up.ended(held.job);
    await site.up.ended(shelf.job, 120_000);
    const printers = await admin.printers();
    const idOf = (name: string) => encodeURIComponent(printers.find((one) => one.name === name)?.id ?? '');
    const addresses = [
      '',
      'print',
      `print?template=${shelf.idT}&printer=${idOf('virtual-1')}`,
      'jobs',
      `jobs/${shelf.job}`,
      'held',
      `held/${held.job}`,
      'printers',
      `printers/${idOf('virtual-1')}`,
      `printers/${idOf(MUTE)}`,
      'templates',
      `templates/${shelf.idT}`,
      `templates/${shelf.idT}/design`,
      'templates/new',
      'integrations',
      'webhooks',
      `webhooks/${webhook}`,
      'alerts',
      'people',
      'audit',
      'account',
      'nowhere',
    ];
    for (const [name, look] of Object.entries(LOOKS)) {
      const page = await site.signedIn(look);
      for (const address of addresses) await take(site, page, name, address);
      await page.context().close();
    }
  } finally {
    await site.stop();
  }
}

/** The dialogs that ask before something is done to several jobs at once. */
async function dialogs(): Promise<void> {
  const site = await ConsoleSite.start({ args: ['--samples'] });
  try {
    const held = [1, 2].map(() => site.printSample('shelf-50x25', /^Shelf/, MUTE));
    for (const { job } of await Promise.all(held)) await site.up.ended(job);
    const printer = (await site.up.admin.printers()).find(({ name }) => name === 'virtual-1');
    await site.up.admin.holdPrinter({ id: printer?.id ?? '', tenant: printer?.tenant ?? null });
    for (const _ of [1, 2]) await site.printSample('shelf-50x25', /^Shelf/, 'virtual-1');
    for (const [name, look] of Object.entries(LOOKS)) {
      const page = await site.signedIn(look);
      const dialog = page.getByRole('dialog');
      const choose = dialog.getByRole('combobox');
      const open = async (status: string, button: RegExp) => {
        await site.show(page, `jobs?status=${status}`);
        await page.getByRole('checkbox').first().check();
        await shot(page, `${name}-all-${status}`);
        await page.getByRole('button', { name: button }).click();
        await dialog.waitFor();
      };
      const chosen = async (what: string, option: { value: string } | { label: string }) => {
        await choose.selectOption(option);
        await dialog.getByRole('status').waitFor();
        await shot(page, `${name}-${what}`);
        await page.keyboard.press('Escape');
      };
      await open('held', /^(Decide|Entscheiden) …/);
      await chosen('release-print', { value: 'print' });
      await open('held', /^(Move|Verschieben) …/);
      await chosen('move-refused', { label: 'virtual-1' });
      await open('queued', /^(Move|Verschieben) …/);
      await chosen('move', { label: MUTE });
      await page.context().close();
    }
  } finally {
    await site.stop();
  }
}

async function take(site: ConsoleSite, page: Page, look: string, address: string): Promise<void> {
  const name = address.replaceAll(/[0-9a-f-]{36}|printer=[^&]*|template=/g, '').replaceAll(/[^a-z]+/g, '-');
  if (values.only !== undefined && !address.startsWith(values.only)) return;
  await site.show(page, address);
  await drawn(page);
  await shot(page, `${look}-${name === '' ? 'start' : name}`);
}

async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(`${out}`, `${name}.png`), fullPage: true });
}

if (values.only === 'dialogs') {
  await dialogs();
} else {
  await empty();
  await full();
}
