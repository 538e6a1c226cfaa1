/** Printers that stand still are on the start page, with what waits for them, and on a monitor in the hall. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers, chooseTarget, overflow, PATIENTLY } from '../kit/browser/browser.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { platen } from '../kit/service/platen.ts';

const site = useConsole({ args: ['--virtual', '2'] });
let page: Page;
beforeAll(async () => {
  page = await site.withTemplate();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
const showPrinter = (name: string) => site.show(page, `printers/${site.idOf(name)}`);

test('a stopped printer stands on the start page with what waits for it, and all of that moves by one click', async () => {
  await showPrinter('virtual-1');
  await button('Paper out').click();
  const waits = await site.print('virtual-1', ['110001']);
  await expect.poll(async () => (await site.up.admin.job(waits)).reasons, PATIENTLY).toContain('media-empty');
  // Two reasons fit into one line of a row, and neither is cut off.
  await button('Cover open').click();
  const desk = await site.signedIn({ width: 1_440, height: 900, locale: 'de-DE' });
  await site.show(desk, 'jobs?status=queued,printing');
  const both = desk.locator('.why', { hasText: 'keine Etiketten mehr und Deckel offen' });
  await both.waitFor(PATIENTLY);
  expect(await both.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  expect((await desk.locator('tbody tr', { has: both }).boundingBox())?.height).toBeLessThanOrEqual(41);
  await desk.context().close();
  await button('Cover open').click();
  await expect.poll(async () => (await site.up.admin.job(waits)).reasons, PATIENTLY).toEqual(['media-empty']);
  // The job's page says in one line why it waits and how far it is, and folds waits that repeat themselves.
  for (const _ of [1, 2, 3]) {
    await button('Cover open').click();
    await expect
      .poll(async () => (await site.up.admin.job(waits)).reasons, PATIENTLY)
      .toContain('cover-open');
    await button('Cover open').click();
    await expect
      .poll(async () => (await site.up.admin.job(waits)).reasons, PATIENTLY)
      .toEqual(['media-empty']);
  }
  await site.show(page, `jobs/${waits}`);
  await page.getByText(/^Waiting: out of labels\s*0 of 1\s*since \d\d:\d\d$/).waitFor();
  const life = page.locator('.timeline li');
  const folded = await life.count();
  await button(/^… show \d+ more waits$/).click();
  expect(await life.count()).toBeGreaterThan(folded);
  const behind = await site.print('virtual-1', ['110002']);
  // The job behind it gives no reason of its own: its printer does, and the job before it.
  await site.show(page, `jobs/${behind}`);
  await page
    .getByText(/^Waiting: out of labels\s*0 of 1\s*since \d\d:\d\d\s*1 job is before it$/)
    .waitFor(PATIENTLY);
  const next = page.getByRole('region', { name: 'What happens next' });
  await next.locator('.note.warn').getByText('it goes on by itself').waitFor();
  expect(await barriers(page)).toEqual([]);
  await site.show(page, '');
  const row = page.getByRole('listitem').filter({ hasText: 'virtual-1' });
  await row.getByText(/^out of labels, since \d\d:\d\d$/).waitFor();
  await row.getByText('2 jobs wait for it').waitFor();
  // The name is larger than the rest of the page, because people read it from further away.
  const name = row.getByRole('link', { name: 'virtual-1', exact: true });
  expect((await name.boundingBox())?.height).toBeGreaterThanOrEqual(26);
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Printers 1', exact: true })
    .waitFor();
  await page.getByRole('link', { name: '2 Under way', exact: true }).waitFor();
  // On a phone the reason is not cut off, not even in German.
  const phone = await site.signedIn({ width: 360, height: 740, locale: 'de-DE' });
  await site.show(phone, 'jobs?status=queued,printing');
  const why = phone.locator('.why', { hasText: 'keine Etiketten mehr' });
  // The job behind it waits for the same.
  await expect.poll(() => why.count()).toBe(2);
  expect(await why.evaluateAll((all) => all.every((one) => one.scrollWidth <= one.clientWidth))).toBe(true);
  // A short badge leaves room for the job's name.
  const badges = await phone.locator('tbody tr', { has: why }).locator('.badge').allInnerTexts();
  expect(badges).toEqual(['Wartet', 'Wartet']);
  expect([await barriers(phone), await overflow(phone)]).toEqual([[], 0]);
  await phone.context().close();
  await button('Move all …: virtual-1').click();
  await page.getByRole('heading', { name: 'Move all that waits for virtual-1' }).waitFor();
  const target = page.getByLabel('To printer');
  await target.locator('option', { hasText: 'virtual-2' }).waitFor({ state: 'attached' });
  expect(await target.locator('option', { hasText: 'virtual-1' }).count()).toBe(0);
  await chooseTarget(target, 'virtual-2');
  await page
    .locator('dialog')
    .getByText(/^2 jobs, not out yet: 2 labels/)
    .waitFor();
  await page.locator('dialog').getByRole('button', { name: 'Move' }).click();
  expect(await site.up.ended(behind)).toMatchObject({ status: 'printed', printer: { name: 'virtual-2' } });
  await row.getByText('no job waits for it').waitFor();
  await row.getByRole('link', { name: 'Open: virtual-1' }).click();
  await button('Paper out').click();
  await page.locator('button[aria-pressed=false]', { hasText: 'Paper out' }).waitFor();
  // Each figure of the day leads to its jobs.
  await site.show(page, '');
  await page.getByRole('link', { name: /^\d+ Printed$/ }).click();
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  expect(await page.getByLabel('Accepted', { exact: true }).inputValue()).toBe('today');
  await page
    .getByRole('row', { name: /virtual-2/ })
    .first()
    .waitFor();
});

test('in the hall a printer that stops comes first, with a sound', async () => {
  const hall = await page.context().newPage();
  hall.on('pageerror', (error) => site.faults.push(error.message));
  await hall.addInitScript(`{
    const make = AudioContext.prototype.createOscillator;
    window.tones = 0;
    AudioContext.prototype.createOscillator = function () { window.tones += 1; return make.call(this); };
  }`);
  await site.show(page, 'printers');
  await page.getByRole('link', { name: 'For the hall' }).waitFor();
  await hall.goto(`${site.up.url}/console/#/printers/wall`);
  await hall.getByRole('link', { name: 'virtual-2' }).waitFor();
  expect(await hall.getByRole('navigation').count()).toBe(0);
  await hall.getByRole('button', { name: 'Sound when one stops' }).click();
  expect(await hall.evaluate('window.tones')).toBe(3);
  await showPrinter('virtual-2');
  await button('Cover open').click();
  // An agent asks an idle printer only now and then, but one that gets a job at once.
  const waits = await site.print('virtual-2', ['120001']);
  await hall.locator('.wall li').first().getByText('cover open').waitFor();
  await hall.getByText('Stopped: virtual-2', { exact: true }).waitFor({ state: 'attached' });
  await expect.poll(() => hall.evaluate('window.tones'), PATIENTLY).toBe(6);
  await button('Cover open').click();
  expect(await site.up.ended(waits)).toMatchObject({ status: 'printed' });
  await hall.locator('.wall li.still', { hasText: 'virtual-2' }).waitFor({ state: 'detached' });
  await hall.close();
});

test('the columns of printers that stand still line up, also where one of them has nothing to move', async () => {
  const fault = (printer: string, what: string) =>
    platen(['virtual', 'fault', printer, what, '--data', site.dataDir]);
  await fault('virtual-1', 'media-empty');
  await fault('virtual-2', 'cover-open');
  await site.print('virtual-1', ['130001']);
  const desk = await site.signedIn({ width: 1_280, height: 800 });
  await site.show(desk, '');
  const cards = desk.locator('.standing > li');
  // An agent asks an idle printer only now and then.
  await cards.filter({ hasText: 'cover open' }).filter({ hasText: 'no job waits' }).waitFor();
  await cards.filter({ hasText: 'out of labels' }).filter({ hasText: '1 job waits' }).waitFor();
  const begins = await cards.evaluateAll((all) =>
    all.map((card) => [...card.children].slice(0, 3).map((cell) => cell.getBoundingClientRect().left)),
  );
  expect(begins).toHaveLength(2);
  expect(begins[1]).toEqual(begins[0]);
  await desk.setViewportSize({ width: 390, height: 844 });
  expect([await barriers(desk), await overflow(desk)]).toEqual([[], 0]);
  await desk.context().close();
});
