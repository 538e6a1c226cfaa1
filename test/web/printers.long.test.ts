/** What a person does to printers and jobs at the console, and what a virtual printer shows of itself. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers, chooseTarget, PATIENTLY } from '../kit/browser/browser.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { MUTE } from '../kit/service/mute-printer.ts';

/** This port needs a privilege, so no other test listens on it. */
const UNREACHED = 'socket://127.0.0.1:9';

const site = useConsole({ args: ['--virtual', '2'], env: { PLATEN_IPP: 'true' } });
let page: Page;
beforeAll(async () => {
  page = await site.withTemplate();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
const inDialog = (name: string | RegExp) => page.locator('dialog').getByRole('button', { name });
const pick = async (about: string, item: string) => {
  await button(`More: ${about}`).click();
  await page.getByRole('menuitem', { name: item }).click();
};
const status = async (id: string) => (await site.up.admin.job(id)).status;
const showPrinter = (name: string) => site.show(page, `printers/${site.idOf(name)}`);

test('a virtual printer runs out of paper by a click, and its labels appear as they come out', async () => {
  await showPrinter('virtual-1');
  await page.getByText('Nothing yet. Labels appear here').waitFor();
  await button('Paper out').click();
  await page.locator('button[aria-pressed=true]', { hasText: 'Paper out' }).waitFor();
  const job = await site.print('virtual-1', ['100001', '100002']);
  await expect.poll(async () => (await site.up.admin.job(job)).reasons, PATIENTLY).toContain('media-empty');
  await page.getByText('Nothing yet. Labels appear here').waitFor();
  await button('Paper out').click();
  // The page is not loaded again.
  await page.getByRole('img', { name: 'Label 2 that came out' }).waitFor();
  expect(await site.up.ended(job)).toMatchObject({ status: 'printed' });
  await expect
    .poll(
      () => page.evaluate('document.querySelector(\'.output img[alt^="Label 2"]\').naturalWidth'),
      PATIENTLY,
    )
    .toBe(812);

  for (const [name, reason] of [
    ['Cover open', 'cover-open'],
    ['Power off', 'offline'],
  ] as const) {
    await button(name).click();
    const waits = await site.print('virtual-1', ['100003']);
    await expect.poll(async () => (await site.up.admin.job(waits)).reasons, PATIENTLY).toContain(reason);
    await button(name).click();
    expect(await site.up.ended(waits)).toMatchObject({ status: 'printed' });
  }
  await page.getByRole('img', { name: 'Label 4 that came out' }).waitFor();
  const { entries } = await site.up.admin.auditPage({ tenant: 'default', limit: 20 });
  expect(entries.filter(({ what }) => what === 'printer.fault')).toHaveLength(6);
});

test('whoever has no role for it does nothing to it, and no other printer has a front', async () => {
  const op = await site.invited('op', 'operator');
  const virtual = `/app/printers/${site.idOf('virtual-1')}/virtual`;
  const answers = await op.evaluate(
    `Promise.all([fetch(${JSON.stringify(virtual)}), fetch(${JSON.stringify(`${virtual}/1.png`)}), fetch(${JSON.stringify(virtual)}, {method: 'PUT', headers: {'x-platen-console': '1', 'content-type': 'application/json'}, body: '{"faults":["power-off"]}'})].map((one) => one.then(({status}) => status)))`,
  );
  // All tenants share this printer, and the labels of all of them come out of it.
  expect(answers).toEqual([403, 403, 403]);
  await op.context().close();
  const mute = await fetch(`${site.up.url}/app/printers/${site.idOf('dock 4')}/virtual`, {
    headers: { authorization: `Bearer ${site.up.adminToken}` },
  });
  expect(mute.status).toBe(404);
});

test('a printer is held with a reason, its jobs are moved, it is cleared and resumed', async () => {
  await showPrinter('virtual-1');
  await button('Hold').click();
  await page.getByLabel(/^Why/).fill('new ribbon');
  // Escape does not close the dialog while the service is asked, because a refusal would have no place to be shown.
  const asked = Promise.withResolvers<void>();
  const escaped = Promise.withResolvers<void>();
  const refuse = async (route: Route) => {
    asked.resolve();
    await escaped.promise;
    await route.fulfill({ status: 503, json: { code: 'busy', title: 'Busy' } });
  };
  await page.route(/\/hold\?/, refuse, { times: 1 });
  await inDialog('Hold').click();
  await asked.promise;
  await page.keyboard.press('Escape');
  escaped.resolve();
  await page.getByRole('dialog').getByText('That did not work').waitFor();
  site.faults.length = 0;
  await inDialog('Hold').click();
  await page.getByText('On hold', { exact: true }).waitFor();
  await page.getByText(/held by admin since .*: new ribbon/).waitFor();
  await expect.poll(() => site.up.output, PATIENTLY).toContain('the printer is held');
  const jobs = [
    await site.print('virtual-1', ['200001']),
    await site.print('virtual-1', ['200002']),
    await site.print('virtual-1', ['200003']),
  ];
  const [first = '', second = '', third = ''] = jobs;

  await site.show(page, `jobs/${first}`);
  await button(/^Move/).click();
  await chooseTarget(page.getByLabel('To printer'), 'virtual-2');
  await inDialog(/^Move/).click();
  expect(await site.up.ended(first)).toMatchObject({ status: 'printed', printer: { name: 'virtual-2' } });

  // For several jobs the service says first what would be done.
  await site.show(page, 'jobs?status=queued');
  await expect.poll(() => page.locator('tbody tr').count(), PATIENTLY).toBe(2);
  await page.getByRole('checkbox', { name: second.slice(0, 13) }).check();
  await button(/^Cancel/)
    .first()
    .click();
  await page.locator('dialog').getByText(/1 job/).waitFor();
  expect(await status(second)).toBe('queued');
  await inDialog(/^Cancel/)
    .last()
    .click();
  await expect
    .poll(async () => (await Promise.all([second, third].map(status))).sort(), PATIENTLY)
    .toEqual(['canceled', 'queued']);

  await showPrinter('virtual-1');
  await pick('virtual-1', 'Clear the lane …');
  await inDialog(/^Cancel/)
    .last()
    .click();
  await expect
    .poll(() => Promise.all([second, third].map(status)), PATIENTLY)
    .toEqual(['canceled', 'canceled']);
  await button('Resume').click();
  await page.getByText('On hold', { exact: true }).waitFor({ state: 'detached' });
});

test('a job that is stopped in its midst names what may be out, and what is left prints at another printer', async () => {
  const { admin } = site.up;
  const numbers = Array.from({ length: 40 }, (_, label) => String(500_001 + label));
  const job = await site.print('virtual-1', numbers);
  await expect.poll(async () => (await admin.job(job)).labels.printed, PATIENTLY).toBeGreaterThan(0);
  await showPrinter('virtual-1');
  await button('Power off').click();
  await expect.poll(async () => (await admin.job(job)).reasons, PATIENTLY).toContain('offline');
  // The job in progress is counted, and is stopped only if somebody says so.
  await page.getByText('Waiting for the printer', { exact: true }).waitFor();
  await site.show(page, 'printers');
  await page.getByText('1 job in progress', { exact: true }).waitFor();
  await pick('virtual-1', 'Clear the lane …');
  await page.getByText('Nothing else waits here.').waitFor();
  expect(
    await inDialog(/^Cancel/)
      .last()
      .isDisabled(),
  ).toBe(true);
  await page.getByLabel(/^Also stop the job in progress: \d+ labels not out yet/).check();
  await page.getByText(/^1 job, not out yet: \d+ labels/).waitFor();
  await page.keyboard.press('Escape');
  await site.show(page, `jobs/${job}`);
  await button(/^Cancel/).click();
  await inDialog(/^Cancel/).click();
  await page.getByText(/^admin asked it to stop/).waitFor();
  const next = page.getByRole('region', { name: 'What happens next' });
  await next.getByText('Nothing more of it will be printed.').waitFor();
  const { uncertain } = await admin.job(job);
  if (uncertain === null) throw new Error('nothing of it is uncertain');
  await next.getByText(`Labels ${uncertain.from + 1} to ${uncertain.to} may be out or not`).waitFor();
  await button(/^Print again/).click();
  const which = page.getByLabel('Which labels');
  await expect.poll(() => which.inputValue()).toBe(`${uncertain.to + 1}-40`);
  await which.fill('40');
  await chooseTarget(page.getByLabel('To printer'), 'virtual-2');
  const before = (await site.up.pictures('virtual-2')).length;
  await inDialog(/^Print/).click();
  await expect.poll(async () => (await site.up.pictures('virtual-2')).length, PATIENTLY).toBe(before + 1);
  const [label = ''] = (await site.up.pictures('virtual-2')).slice(before);
  expect((await barcodesIn(label)).map(({ text }) => text)).toEqual(['500040']);

  // Whoever wants to print there is told beforehand.
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf('virtual-1')}`);
  await page.getByText('virtual-1 cannot print now (not reached).').waitFor();
  await showPrinter('virtual-1');
  await button('Power off').click();
});

test('what is left of a held job moves to another printer, from the label that somebody says', async () => {
  const job = await site.print(MUTE, ['600001', '600002', '600003']);
  await site.up.ended(job);
  await site.show(page, `jobs/${job}`);
  await button(/^Move/).click();
  // No printer is preselected if none has the media for which the job was made.
  const target = page.getByLabel('To printer');
  await target
    .locator('option', { hasText: /^virtual-2 · other media: 101.6 × 152.4 mm$/ })
    .waitFor({ state: 'attached' });
  expect(await target.inputValue()).toBe('');
  await chooseTarget(target, 'virtual-2');
  await page.getByText('The labels do not fit virtual-2, which has 101.6 × 152.4 mm.').waitFor();
  await expect.poll(() => inDialog(/^Move/).isDisabled()).toBe(true);
  await page.getByLabel('The first that is missing').fill('3');
  await inDialog(/^Move/).click();
  await expect.poll(() => status(job), PATIENTLY).toBe('printed');
  const label = (await site.up.pictures('virtual-2')).at(-1) ?? '';
  expect((await barcodesIn(label)).map(({ text }) => text)).toEqual(['600003']);
});

test('a printer is renamed and back, and prints a test label', async () => {
  await showPrinter('virtual-2');
  await pick('virtual-2', 'Rename …');
  await page.locator('dialog').getByLabel('Name').fill('Packing');
  await inDialog('Save').click();
  await page.getByRole('heading', { name: 'Packing', level: 1 }).waitFor();
  const before = (await site.up.pictures('virtual-2')).length;
  await pick('Packing', 'Print a test label');
  await page.getByText('A test label is on its way.').waitFor();
  await page.getByRole('img', { name: `Label ${before + 1} that came out` }).waitFor();
  expect(await site.up.ended(await site.print('Packing', ['300001']))).toMatchObject({ status: 'printed' });
  await pick('Packing', 'Rename …');
  await page.locator('dialog').getByLabel('Name').fill('');
  await inDialog('Save').click();
  await page.getByRole('heading', { name: 'virtual-2', level: 1 }).waitFor();
});

test('a printer is found by its place and group, in lists, where one is chosen, and in the hall', async () => {
  await showPrinter('virtual-1');
  await pick('virtual-1', 'Place and group …');
  const dialog = page.locator('dialog');
  await dialog.getByLabel('Place').fill('Hall 2, dock 4');
  await dialog.getByLabel('Group').fill('Shipping');
  await dialog.getByLabel('Note').fill('Paper is in the\ncupboard.');
  expect(await barriers(page)).toEqual([]);
  await inDialog('Save').click();
  await page.getByText('Paper is in the').waitFor();
  await site.show(page, 'printers');
  await page.getByRole('heading', { name: 'Shipping' }).waitFor();
  await page.getByRole('heading', { name: 'Without a group' }).waitFor();
  // The list shows the size of the printer's media.
  const own = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'virtual-1' }) });
  await own.getByText('101.6 × 152.4 mm', { exact: true }).waitFor();
  await site.show(page, 'print');
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1 (Hall 2, dock 4)' });
  await site.show(page, 'printers/wall');
  const shown = page.locator('.wall > li');
  expect(await shown.count()).toBeGreaterThan(1);
  await page.getByLabel('Group').selectOption('Shipping');
  await expect.poll(() => shown.count()).toBe(1);
  await page.reload();
  await expect.poll(() => shown.count()).toBe(1);
  await showPrinter('virtual-1');
  await pick('virtual-1', 'Place and group …');
  for (const name of ['Place', 'Group', 'Note']) await dialog.getByLabel(name).fill('');
  await inDialog('Save').click();
  await page.getByText('Paper is in the').waitFor({ state: 'detached' });
});

test('a hidden printer is not offered, prints what names it, and is shown again', async () => {
  const offered = async () => {
    await site.show(page, 'print');
    const select = page.getByLabel('Printer', { exact: true });
    await select.waitFor();
    return select.locator('option').allTextContents();
  };
  expect(await offered()).toContain('virtual-2');
  await showPrinter('virtual-2');
  await pick('virtual-2', 'Hide');
  await page.getByText('Hidden: it is not offered any more.').waitFor();
  const left = await offered();
  expect([left.includes('virtual-1'), left.includes('virtual-2')]).toEqual([true, false]);
  expect(await site.up.ended(await site.print('virtual-2', ['310001']))).toMatchObject({ status: 'printed' });
  await site.show(page, 'printers');
  await page.getByText('Hidden (1)').click();
  await pick('virtual-2', 'Show again');
  await page.getByText('Hidden (1)').waitFor({ state: 'detached' });
  expect(await offered()).toContain('virtual-2');
});

test('a printer is offered by IPP at an address that is copied, and is offered no more', async () => {
  await showPrinter('virtual-2');
  await page.getByText('IPP address').waitFor({ state: 'detached' });
  await pick('virtual-2', 'Offer by IPP …');
  await page
    .locator('dialog')
    .getByText(/^It gets an address at which CUPS/)
    .waitFor();
  expect(await barriers(page)).toEqual([]);
  await inDialog('Offer').click();
  const address = page.getByText(/^ipp:\/\/\S+\/ipp\/print\/[0-9a-f-]{36}$/);
  await address.waitFor();
  await button('Copy: IPP address').click();
  await page.getByText('Copied', { exact: true }).waitFor();
  await site.show(page, 'audit');
  await page.getByText('Offered a printer by IPP', { exact: true }).waitFor();
  await showPrinter('virtual-2');
  await pick('virtual-2', 'Offer by IPP no more …');
  await inDialog('Offer no more').click();
  await address.waitFor({ state: 'detached' });
});

test('chosen labels of a job that is over are printed again', async () => {
  const old = await site.print('virtual-2', ['400001', '400002', '400003']);
  await site.up.ended(old);
  const before = (await site.up.pictures('virtual-2')).length;
  await site.show(page, `jobs/${old}`);
  await button(/^Print again/).click();
  // If nothing is chosen, nothing is printed, and never all labels.
  expect(await page.getByLabel('Which labels').inputValue()).toBe('');
  await expect.poll(() => inDialog('Print again').isDisabled()).toBe(true);
  await inDialog('Choose all 3').click();
  await inDialog('Print 3 labels').waitFor();
  for (const label of ['Label 1', 'Label 3']) await inDialog(label).click();
  expect(await page.getByLabel('Which labels').inputValue()).toBe('2');
  await inDialog('Print 1 label').click();
  await expect.poll(async () => (await site.up.pictures('virtual-2')).length, PATIENTLY).toBe(before + 1);
  const [label = ''] = (await site.up.pictures('virtual-2')).slice(before);
  expect((await barcodesIn(label)).map(({ text }) => text)).toEqual(['400002']);
});

test('a printer that no agent has any more is shown as gone, and forgotten', async () => {
  // Nothing listens at the address of this printer.
  const config = join(site.dataDir, '..', 'nobody.json');
  const tray = join(site.dataDir, '..', 'tray.zpl');
  await writeFile(tray, '');
  const set = {
    name: 'dock 5',
    dpi: 203,
    width: 60,
    height: 30,
    darkness: 12,
    speed: 4,
    printMode: 'tear-off',
  };
  const printers = [
    { uri: UNREACHED, name: 'dock 9' },
    { uri: pathToFileURL(tray).href, ...set },
  ];
  await writeFile(config, JSON.stringify({ printers }));
  await site.restart(['--virtual', '1', '--agent-config', config]);
  await page.goto(await site.link());
  await site.show(page, 'printers');
  await page.getByRole('heading', { name: 'Gone' }).waitFor({ timeout: 60_000 });
  await page.getByRole('link', { name: 'virtual-2' }).click();
  await page.getByRole('heading', { name: 'virtual-2', level: 1 }).waitFor();
  await pick('virtual-2', 'Forget …');
  await inDialog(/^Forget$/).click();
  await page.getByText('Forgotten.').waitFor();
  await page.getByRole('heading', { name: 'Printers', level: 1 }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'virtual-2' }).count(), PATIENTLY).toBe(0);
}, 120_000);

test('a printer that its agent never reached stands there with the reason, since when, and what to do', async () => {
  await site.show(page, 'printers');
  const missed = page.getByRole('link', { name: /(?:was|were) never reached$/ });
  await missed.waitFor(PATIENTLY);
  await missed.click();
  const agent = page.getByRole('listitem').filter({ hasText: 'dock 9' }).last();
  await agent.getByText(/refused.*tried since/i).waitFor(PATIENTLY);
  await agent.getByText(UNREACHED).waitFor();
  expect(await agent.locator('time').getAttribute('datetime')).toMatch(/^20/);
  await page.getByText(/Look at its power and its cable, and ask your administrator/).waitFor();

  // Beside it is a printer that is reached. Its page shows what its format sets.
  await site.show(page, 'printers');
  const link = page.getByRole('link', { name: 'dock 5' });
  await link.waitFor(PATIENTLY);
  await link.focus();
  await page.keyboard.press('Enter');
  await page.getByText('darkness 12, 4 in/s, tear-off').waitFor();
  // The dialog offers these settings, and shows them as they are now.
  await pick('dock 5', 'Settings …');
  expect(await page.getByLabel('Darkness').getAttribute('placeholder')).toBe('as it is: 12');
  await page
    .getByLabel('After a label')
    .locator('option:checked', { hasText: 'as it is: tear-off' })
    .waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
});
