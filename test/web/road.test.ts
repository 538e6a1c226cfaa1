/** What a person does at the console, from the printed link to labels out of the printer. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { MUTE } from '../kit/service/mute-printer.ts';

const site = useConsole();
let page: Page;
beforeAll(async () => {
  page = await site.signedIn();
});

const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const button = (name: string | RegExp) => page.getByRole('button', { name });

test('an empty installation leads to the first label, which comes out of the printer', async () => {
  await heading('Start');
  await page.getByText('Three steps to the first label').waitFor();
  await page.getByRole('link', { name: 'See templates' }).click();
  await heading('Templates');
  await button('Import …').first().click();
  const file = join(site.dataDir, '..', 'bin.json');
  await writeFile(file, JSON.stringify(TEMPLATE));
  await page.locator('dialog input[type=file]').setInputFiles(file);
  await page.getByText('Bin label is imported.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Print: Bin label' }).click();

  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByLabel('article').fill('Washer');
  await page.getByLabel('number').fill('007');
  await page.getByRole('img', { name: 'Preview' }).waitFor();
  // The label is smaller than the printer's media: the page asks, and names the printer where it fits.
  await page.getByText('This printer has 101.6 × 152.4 mm labels; the template is 60 × 30 mm.').waitFor();
  await button('Print 1 label').click();
  const asks = page.getByRole('dialog', { name: 'The label does not fit' });
  await asks.getByRole('button', { name: MUTE }).click();
  await page.getByText('This printer has').waitFor({ state: 'detached' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await button('Print 1 label').click();
  await asks.getByRole('button', { name: 'Print anyway' }).click();
  await page.getByText('1 of 1').waitFor();
  expect(await site.up.pictures()).toHaveLength(1);
  await page.reload();
  await page.getByText('1 of 1').waitFor();
  // Whoever opens the page again wants to print something else; Back leads to the job.
  await page.getByRole('navigation').getByRole('link', { name: 'Print', exact: true }).click();
  await page.getByLabel('article').waitFor();
  await page.goBack();
  await page.getByText('1 of 1').waitFor();
  await page.getByRole('link', { name: 'Open it' }).click();
  await page.getByText('Every label is out. Nothing more happens.').waitFor();
  await page.getByRole('cell', { name: '007' }).waitFor();
});

test('a job that nobody can know of is decided by its pictures, and what is missing is printed', async () => {
  const [template] = await site.up.admin.templates('default');
  const job = await site.up.admin.print('default', {
    idT: template?.id ?? '',
    printer: MUTE,
    data: ['A-1', 'A-2', 'A-3'].map((number) => ({ article: 'Nut', number })),
  });
  expect(await site.up.ended(job)).toMatchObject({ status: 'held', uncertain: { from: 0, to: 3 } });

  // The page hears of it by itself: nobody loads it again.
  await page.getByRole('link', { name: 'To decide 1' }).click();
  await page.getByRole('link', { name: /^Decide/ }).click();
  for (const label of ['Label 1', 'Label 2', 'Label 3']) {
    await page.getByRole('img', { name: `${label}, uncertain`, exact: true }).waitFor();
  }
  await page.getByText('It prints on from label 1: 3 labels in all.').waitFor();
  const asked = page.waitForResponse((response) => response.url().endsWith(`/app/jobs/${job}/resume?from=2`));
  // A click on a picture chooses the first label that is missing.
  await button('Label 3').click();
  expect(await page.getByLabel('The first that is missing').inputValue()).toBe('3');
  // The service says what would be printed, by the same rule by which it prints.
  expect(await (await asked).json()).toEqual({ status: 'queued', prints: { from: 2, to: 3 } });
  await page.getByText('It prints on from label 3: 1 label in all.').waitFor();
  await page.getByLabel(/^Why/).fill('two lay in the tray');
  await button(/^Print on: Some/).click();
  await page.getByText('Decided. The job goes on.').waitFor();
  expect(await site.up.ended(job)).toMatchObject({ status: 'held', uncertain: { from: 2, to: 3 } });

  await page.getByRole('link', { name: 'Decide', exact: true }).click();
  await button(/^Mark as done/).click();
  await page.getByText('Every label is out. Nothing more happens.').waitFor();
  await page.getByText('two lay in the tray').waitFor();
  await page.getByText('admin said that every label is out').waitFor();
  const { status, printer } = await site.up.admin.job(job);
  expect(status).toBe('printed');

  // The printer's page shows the job's last label, not its first.
  await site.show(page, `printers/${encodeURIComponent(printer.id)}`);
  const last = page.getByRole('img', { name: 'Last label' });
  await expect.poll(() => last.getAttribute('src')).toContain(`/app/jobs/${job}/labels/2.png`);
  await site.show(page, `jobs/${job}`);
});

test('several jobs are released at once, by keyboard, after a look at what that does', async () => {
  const [template] = await site.up.admin.templates('default');
  const sent = (printer: string, number: string) =>
    site.up.admin.print('default', {
      idT: template?.id ?? '',
      printer,
      data: [{ article: 'Bolt', number }],
    });
  const press = async (name: string | RegExp) => {
    await button(name).focus();
    await page.keyboard.press('Enter');
  };
  const picked = async (jobs: readonly string[]) => {
    for (const job of jobs) {
      await page.getByRole('checkbox', { name: job.slice(0, 13) }).focus();
      await page.keyboard.press('Space');
    }
  };
  const held = [await sent(MUTE, 'B-1'), await sent(MUTE, 'B-2')];
  for (const job of held) await site.up.ended(job);
  await site.show(page, 'jobs?status=held');
  await picked(held);
  await press('Decide …');
  // The page does not guess for the person whether labels are printed again.
  await expect.poll(() => button(/^Print on$/).isDisabled()).toBe(true);
  await page.getByLabel('The uncertain labels of each').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByText('2 jobs go on: 0 labels will be printed.').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.getByText('2 jobs go on: 2 labels will be printed.').waitFor();
  await page.keyboard.press('ArrowUp');
  await page.getByText('2 jobs go on: 0 labels will be printed.').waitFor();
  await press(/^Print on$/);
  await page.getByText('Done for 2 jobs.').waitFor();
  for (const job of held) expect(await site.up.admin.job(job)).toMatchObject({ status: 'printed' });
});

test('each field has the control that its template asks for, filled in by keyboard alone', async () => {
  await site.up.admin.importTemplate('default', {
    name: 'Dairy',
    width: 60,
    height: 40,
    fields: [
      { name: 'ean', sample: '4006381333931' },
      { name: 'best' },
      { name: 'organic' },
      { name: 'storage' },
    ],
    elements: [
      { type: 'barcode', x: 3, y: 3, symbology: 'ean13', value: '{{ean}}', height: 10 },
      { type: 'text', x: 3, y: 20, text: '{{best | date:dd.MM.yyyy}}', size: 3 },
      { type: 'text', x: 30, y: 20, text: 'organic', size: 3, when: '{{organic}}' },
      { type: 'text', x: 3, y: 26, width: 50, height: 12, overflow: 'wrap', text: '{{storage}}', size: 3 },
    ],
  });
  await site.show(page, 'jobs');
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Dairy' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  const ean = page.getByLabel('ean');
  expect(await ean.getAttribute('inputmode')).toBe('numeric');
  await ean.focus();
  await page.keyboard.type('0123');
  await page.getByText('4 of 12 or 13 digits').waitFor();
  // Half a code counts as wrong only once the focus leaves the field.
  const wrong = page.locator('input[aria-invalid]');
  await page.keyboard.press('Tab');
  await wrong.waitFor();
  await page.keyboard.press('Shift+Tab');
  await wrong.waitFor({ state: 'detached' });
  await page.keyboard.press('End');
  await page.keyboard.type('45678905');
  await page.getByText('12 of 12 or 13 digits').waitFor();
  await page.keyboard.press('Tab');
  await wrong.waitFor({ state: 'detached' });
  expect(await page.getByLabel('best').getAttribute('type')).toBe('date');
  // These digits are the same day whether the browser's language puts the day or the month first.
  await page.keyboard.type('12122026');
  await page.getByLabel('organic').focus();
  await page.keyboard.type('Yes');
  await page.keyboard.press('Tab');
  await page.keyboard.type('cool');
  await page.keyboard.press('Enter');
  await page.keyboard.type('dark');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await button('Print anyway').focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1').waitFor();
  const [job] = await site.up.admin.jobs();
  await site.show(page, `jobs/${job?.id}`);
  for (const value of ['012345678905', '2026-12-12', 'true', 'cool dark']) {
    await page.getByRole('cell', { name: value, exact: true }).waitFor();
  }
});

test('a job is found, and its filters stay in the address', async () => {
  await site.show(page, 'jobs');
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: MUTE });
  const all = await site.up.admin.jobs();
  const there = all.filter(({ printer }) => printer.name === MUTE).length;
  expect(there).toBeLessThan(all.length);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(there);
  expect(page.url()).toContain('printer=dock');
  await page.reload();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(there);

  // Filters by who sent a job, and by when, to the minute in the viewer's time zone.
  await page.getByLabel('Printer', { exact: true }).selectOption('');
  await page.getByLabel('Sent by').selectOption('admin');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(all.length);
  const first = all.map(({ createdAt }) => createdAt).toSorted()[0] ?? '';
  await page.getByLabel('Accepted', { exact: true }).selectOption({ label: 'From … until …' });
  const berlin = new Date(new Date(first).getTime() + 3_660_000).toISOString().slice(0, 16);
  await page.getByLabel('Accepted from').fill(berlin);
  await page.getByLabel('Accepted from').press('Enter');
  await expect.poll(() => new URLSearchParams(page.url().split('?')[1]).get('from')).toMatch(/:00\.000Z$/);
  const from = new URLSearchParams(page.url().split('?')[1]).get('from') ?? '';
  const later = all.filter(({ createdAt }) => createdAt >= from).length;
  await expect.poll(() => page.locator('tbody tr').count()).toBe(later);
  await page.reload();
  await expect.poll(() => page.getByLabel('Accepted from').inputValue()).toBe(berlin);
  await page.getByLabel('Accepted before').fill(berlin);
  await page.getByText('No job fits these filters').waitFor();

  // Clearing the filters clears the search, too.
  const search = page.getByRole('searchbox', { name: 'Beginning of an ID' });
  await search.fill('0000');
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(all.length);
  expect(await search.inputValue()).toBe('');
});

test('an integration shows its secret once', async () => {
  await site.show(page, 'integrations');
  await button('New integration …').first().click();
  await page.getByLabel('What is it for?').fill('warehouse');
  await button('Create').click();
  await page.getByRole('heading', { name: 'Keep this secret now' }).waitFor();
  const secret = (await page.locator('dd code').nth(1).textContent()) ?? '';
  expect(secret.length).toBeGreaterThan(20);
  // The command line prints when it is pasted into a shell: it has a template and a printer of this installation.
  const [template] = await site.up.admin.templates('default');
  const command = page.locator('dialog', { hasText: `"idT":"${template?.id}"` });
  await command.waitFor();
  await expect
    .poll(() => command.textContent())
    .toMatch(/"printer":"(?!PRINTER_NAME)[^"]+","data":\[\{(?!"FIELD")/);
  await command.getByText('These addresses work only on the computer').waitFor();
  // With the right secret it prints; with a wrong one it stops at the token, and says why.
  const line = (await command.locator('pre').textContent()) ?? '';
  const pasted = (typed: string) =>
    spawnSync('bash', ['-c', line], { input: `${typed}\n`, encoding: 'utf8', timeout: 30_000 }).stdout;
  expect(await pasted('another secret')).toMatch(/^No token: .*invalid_client/);
  expect(await pasted(secret)).toMatch(/^"?\[?"?[0-9a-f-]{36}/);
  // Escape must not lose the secret, though a browser lets a page refuse only the first one.
  for (const key of ['Escape', 'Escape', 'Escape']) await page.keyboard.press(key);
  expect(await page.locator('dd code').nth(1).textContent()).toBe(secret);
  await button('I have kept it').click();
  await page.getByRole('cell', { name: 'warehouse', exact: true }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.reload();
  await page.getByRole('cell', { name: 'warehouse', exact: true }).waitFor();
  expect(await page.content()).not.toContain(secret);
});

test('without an answer the page says so, keeps what it knew, and comes back by itself', async () => {
  await site.show(page, 'jobs');
  await page.locator('tbody tr').first().waitFor();
  await page.context().setOffline(true);
  await page.getByText(/^No answer from the service since/).waitFor();
  expect(await page.locator('tbody tr').count()).toBeGreaterThan(0);
  // Nobody must believe that they are signed out when they may not be.
  await page.evaluate("location.hash = '#/account'");
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('You may still be signed in.').waitFor();
  await page.context().setOffline(false);
  await page.getByText(/^No answer from the service since/).waitFor({ state: 'detached' });
  site.faults.length = 0;
});
