/** People know jobs by the name of who sent them, and by the value that the template calls its reference. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers, overflow } from '../kit/browser/browser.ts';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { labelDrawn } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { Integrator } from '../kit/service/platen.ts';

const site = useConsole({ args: ['--virtual', '2'] });
let page: Page;
beforeAll(async () => {
  page = await site.withTemplate();
});

test('an operator finds what a system has sent, by its name and never by its key', async () => {
  const { up } = site;
  const system = await Integrator.make(up);
  const { apiKey } = system.account;
  const of = async (article: string) =>
    await system.post({ idT: site.idT, printer: 'virtual-2', data: [{ article, number: '800001' }] });
  const sent = await of('Bolt');
  await up.ended(sent);
  await up.ended(await site.print('virtual-2', ['1']));
  const [{ name = '' } = {}] = await up.admin.integrations('default');
  const op = await site.invited('op', 'operator', { width: 360, height: 740 });

  await site.show(op, 'jobs');
  await op.getByRole('button', { name: 'Filters', exact: true }).click();
  await op.getByLabel('Sent by').selectOption({ label: name });
  await expect.poll(() => op.locator('tbody tr').count()).toBe(1);
  expect([await barriers(op), await overflow(op)]).toEqual([[], 0]);
  await op.getByRole('link', { name: 'Bin label' }).click();
  await op.getByText(`Accepted from ${name}`).waitFor();
  expect(await op.locator('dt:text-is("Sent by") + dd').textContent()).toBe(name);
  expect(await op.locator('body').textContent()).not.toContain(apiKey);
  // The link there leads to the sender's other jobs.
  await op.locator('dt:text-is("Sent by") + dd a').click();
  await expect.poll(() => op.locator('tbody tr').count()).toBe(1);
  await op.getByRole('button', { name: 'Filters (1)' }).click();
  expect(await op.getByLabel('Sent by').locator('option:checked').textContent()).toBe(name);
  expect(await op.locator('body').textContent()).not.toContain(apiKey);
  await op.context().close();
});

test('on a phone the name of a template gives way to the value that tells its jobs apart', async () => {
  const long = 'Bin label of the third hall, with an address';
  const { id } = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: long });
  await site.up.admin.print('default', {
    idT: id,
    printer: 'virtual-2',
    data: [{ article: 'Washer M8', number: '0017' }],
  });
  const phone = await site.signedIn({ width: 360, height: 740 });
  await site.show(phone, 'jobs');
  const value = phone.locator('tbody').getByText('Washer M8');
  await value.waitFor();
  const shown = (part: Locator) => part.evaluate((found) => [found.clientWidth, found.scrollWidth] as const);
  const [[name, whole], [told]] = [await shown(phone.getByRole('link', { name: long })), await shown(value)];
  expect(name).toBeLessThan(whole);
  expect(told).toBeGreaterThan(name);
  expect(await overflow(phone)).toBe(0);
  await phone.context().close();
});

test('a row has the value that the template calls its reference, which is said in the designer', async () => {
  const { admin } = site.up;
  const elements = [
    ...TEMPLATE.elements,
    { type: 'text', x: 3, y: 26, size: 3, text: '{{until | date:dd.MM.yyyy}}' },
  ];
  const fields = [...TEMPLATE.fields, { name: 'until', sample: '2026-11-27' }];
  const { id } = await admin.importTemplate('default', { ...TEMPLATE, name: 'Known', fields, elements });
  const print = () =>
    admin.print('default', {
      idT: id,
      printer: 'virtual-2',
      data: [{ article: 'Washer', number: '0017', until: '2026-11-27' }],
    });
  const first = await print();
  await site.show(page, `templates/${id}/design`);
  await labelDrawn(page);
  await page.getByRole('tab', { name: 'Fields' }).click();
  const field = (name: string) => page.getByRole('group', { name, exact: true });
  // How a value is typed follows from what the label does with it. The designer says so.
  await field('article').getByText('The page Print takes any text.').waitFor();
  await field('until').getByText('The page Print takes a day.').waitFor();
  const known = (name: string) => field(name).getByLabel('Lists name a job by it');
  await known('article').focus();
  await page.keyboard.press('Space');
  // Only one field can be the reference, so the other one stops being it.
  await known('number').focus();
  await page.keyboard.press('Space');
  expect([await known('article').isChecked(), await known('number').isChecked()]).toEqual([false, true]);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('All is saved').waitFor();
  const second = await print();
  for (const job of [first, second]) await site.up.ended(job);

  // In a list filtered by template, a job has the template's picture beside its name.
  await site.show(page, 'jobs');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Known' });
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('row', { name: /Known · 0017/ }).waitFor();
  await page.getByRole('row', { name: /Known · Washer/ }).waitFor();
  await expect
    .poll(() => page.evaluate("document.querySelector('tbody .thumb img')?.naturalWidth > 0"))
    .toBe(true);
  // The beginning of an ID leaves one of all jobs.
  await page.getByLabel('Template', { exact: true }).selectOption('');
  await page.getByLabel('Beginning of an ID').fill(first.slice(0, 13).toUpperCase());
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByRole('link', { name: 'Known' }).click();
  await expect.poll(() => page.url()).toContain(`jobs/${first}`);
  // The page says what a click on a label does: it opens the picture that the printer gets.
  await page.getByText('A click on a label shows every dot').waitFor();
  const opened = page.context().waitForEvent('page');
  await page.locator('.strip a').first().click();
  await (await opened).waitForURL(`**/app/jobs/${first}/labels/0.png`);
  await (await opened).close();
});

test('who may not see labels finds jobs by all but what is on them', async () => {
  const guest = await site.invited('guest', 'viewer');
  await site.show(guest, 'jobs');
  await guest.getByLabel('Beginning of an ID').waitFor();
  await guest.getByRole('row', { name: /Known/ }).first().waitFor();
  expect(await guest.getByLabel('A whole value on the label').count()).toBe(0);
  expect(await guest.locator('table.jobs').textContent()).not.toMatch(/Washer|0017/);
  expect(await guest.locator('table.jobs img').count()).toBe(0);
  await guest.context().close();
});

test('on another day times have their date, in lists and on the page of a job', async () => {
  const later = await site.signedIn({ width: 1_440, height: 900 });
  await later.clock.setFixedTime(Date.now() + 3 * 86_400_000);
  await later.reload();
  await site.show(later, 'jobs');
  const row = later.getByRole('row', { name: /Known/ }).first();
  const DAY = /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|June|July|Aug|Sept|Oct|Nov|Dec)(?: \d{4})?, \d\d:\d\d/;
  expect(await row.locator('time').textContent()).toMatch(DAY);
  await row.getByRole('link').click();
  await later.getByRole('heading', { name: 'What happened' }).waitFor();
  const times = await later.locator('main time').allTextContents();
  expect(times.length).toBeGreaterThan(2);
  expect(times.filter((time) => !DAY.test(time))).toEqual([]);
  await later.context().close();
});

test.each([
  { locale: 'en-GB', groups: ['Set-up', 'Administration'] },
  { locale: 'de-DE', groups: ['Einrichten', 'Verwalten'] },
])('a job has 40 px of a list, and the navigation has its pages in groups: $locale', async (look) => {
  const page = await site.signedIn({ width: 1_440, height: 900, locale: look.locale });
  await site.show(page, 'jobs');
  const heights = await page
    .locator('table.jobs tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(1);
  for (const height of heights) expect(height).toBeLessThanOrEqual(41);
  expect(await page.locator('.side .nav-group > p').allTextContents()).toEqual(look.groups);
  await page.context().close();
});
