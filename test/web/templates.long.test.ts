/** The versions of a template are compared by their pictures and restored, and its page says what uses it. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { barriers, overflow } from '../kit/browser/browser.ts';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { labelDrawn, thing } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();
let page: Page;
let id: string;
const NEW = {
  ...TEMPLATE,
  elements: [...TEMPLATE.elements, { type: 'box', x: 40, y: 20, width: 10, height: 5, filled: true }],
};
beforeAll(async () => {
  const { admin } = site.up;
  id = (await admin.importTemplate('default', TEMPLATE)).id;
  await admin.importTemplate('default', TEMPLATE);
  await admin.importTemplate('default', NEW);
  page = await site.signedIn();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });

test('two versions are compared by their dots, and the older one comes back as the newest', async () => {
  await site.show(page, `templates/${id}`);
  // The template was saved three times, and changed once.
  await page.getByText('Version 2').waitFor();
  expect(await page.getByText('Version 3').count()).toBe(0);
  await button('Compare: Version 1').click();
  await page.getByRole('img', { name: 'Difference' }).waitFor();
  // The new dots are those of the box, 10 × 5 mm at 203 dpi, to the dot at its edges.
  const said = (await page.getByRole('status').filter({ hasText: 'dots' }).textContent()) ?? '';
  const [, gone, added] = /(\d+) dots gone.*?(\d+) dots new/.exec(said.replaceAll(',', '')) ?? [];
  expect(Number(gone)).toBe(0);
  expect(Math.abs(Number(added) - 80 * 40)).toBeLessThanOrEqual(120);
  expect(await barriers(page)).toEqual([]);

  await button('Restore: Version 1').click();
  await page.locator('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Version 1 is restored.').waitFor();
  await page.getByText('Version 3').waitFor();
  expect((await site.up.admin.template('default', id)).template).toEqual(TEMPLATE);
  await button('Compare: Version 1').click();
  await page.getByText('With its samples, no dot is different.').waitFor();
  await page
    .getByText(/admin · Bin label/)
    .first()
    .waitFor();
});

test('a page of versions fits 320 points', async () => {
  const narrow = await site.signedIn({ width: 320, height: 700, locale: 'de-DE' });
  await site.show(narrow, `templates/${id}`);
  await narrow.getByRole('button', { name: 'Vergleichen: Version 2' }).click();
  await narrow.getByRole('img', { name: 'Unterschied' }).waitFor();
  expect(await overflow(narrow)).toBe(0);
  await narrow.context().close();
});

test('what uses it is said: how many jobs lately, on which printers', async () => {
  await page.getByText('No job in the last 30 days.').waitFor();
  const job = await site.up.admin.print('default', {
    idT: id,
    printer: 'virtual-1',
    data: [{ article: 'Nut', number: '1' }],
  });
  await site.up.ended(job);
  await page.getByText('1 job in the last 30 days, on:').waitFor();
  await page.getByRole('link', { name: 'virtual-1' }).waitFor();
});

test('the menu of a tile leads to the designer', async () => {
  await site.show(page, 'templates');
  await button('More: Bin label').click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await expect.poll(() => page.url(), { timeout: 30_000 }).toContain(`templates/${id}/design`);
});

test('who is at an item of a menu before the menu says that it is open stays there', async () => {
  await site.show(page, 'templates');
  await button('More: Bin label').waitFor();
  await page.evaluate(`(() => {
    const opener = [...document.querySelectorAll('button')].find(({ ariaLabel }) => ariaLabel === 'More: Bin label');
    opener.click();
    const menu = document.querySelector('[popover]:popover-open');
    const opened = new Promise((told) => menu.addEventListener('toggle', told, { once: true }));
    menu.querySelectorAll('button')[1].focus();
    return opened;
  })()`);
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Rename …');
  await page.keyboard.press('Escape');
});

test('what somebody else saves, and deletes, is there and gone within seconds', async () => {
  await site.show(page, 'templates');
  const made = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'From elsewhere' });
  await button('More: From elsewhere').waitFor({ timeout: 10_000 });
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption(made.id);
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  const picture = page.getByRole('img', { name: 'Preview' });
  const before = await picture.getAttribute('src');
  await site.up.admin.importTemplate('default', {
    ...NEW,
    name: 'From elsewhere',
    fields: [...TEMPLATE.fields, { name: 'batch' }],
  });
  await page.getByLabel('batch').waitFor({ timeout: 10_000 });
  await expect.poll(() => picture.getAttribute('src')).not.toBe(before);
  await site.show(page, 'templates');
  await button('More: From elsewhere').waitFor();
  await site.up.admin.deleteTemplate('default', made.id);
  await button('More: From elsewhere').waitFor({ state: 'detached', timeout: 10_000 });
});

test('duplicated, exported as it is, renamed and deleted from its menu, by keyboard', async () => {
  await site.show(page, 'templates');
  const pick = async (about: string, item: string) => {
    await button(`More: ${about}`).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: item }).focus();
    await page.keyboard.press('Enter');
  };
  await pick('Bin label', 'Duplicate');
  const copy = 'Bin label (copy)';
  await button(`More: ${copy}`).waitFor();
  const download = page.waitForEvent('download');
  await pick(copy, 'Export');
  const text = await readFile(await (await download).path(), 'utf8');
  expect(JSON.parse(text)).toEqual({ ...TEMPLATE, name: copy });
  await pick(copy, 'Rename …');
  await page.locator('dialog').getByRole('textbox').fill('Other bin');
  await page.keyboard.press('Enter');
  await button('More: Other bin').waitFor();
  await pick('Other bin', 'Delete …');
  await page
    .locator('dialog')
    .getByRole('button', { name: /^Delete/ })
    .press('Enter');
  await button('More: Other bin').waitFor({ state: 'detached' });
  expect((await site.up.admin.templates('default')).map(({ name }) => name)).toEqual(['Bin label']);
});

test('in the designer things are put in line by what is seen, at equal gaps, locked, and undone to the last byte', async () => {
  const elements = [
    { type: 'text', x: 10, y: 4, text: 'H', size: 6 },
    { type: 'box', x: 30, y: 14, width: 10, height: 4 },
    { type: 'box', x: 50, y: 30, width: 10, height: 4 },
  ];
  const made = await site.up.admin.importTemplate('default', {
    name: 'Line',
    width: 80,
    height: 40,
    elements,
  });
  await site.show(page, `templates/${made.id}/design`);
  await labelDrawn(page);
  const { template: before } = await site.up.admin.template('default', made.id);
  const places = z.object({ elements: z.array(z.looseObject({ x: z.number(), y: z.number() })) });
  const saved = async () => {
    await page.keyboard.press('Control+s');
    await page.getByText('All is saved').waitFor();
    return places.parse((await site.up.admin.template('default', made.id)).template).elements;
  };
  const arrange = async (what: string) => {
    await button(what).click();
    await page.getByText('Not saved').waitFor();
    return saved();
  };
  await thing(page, /^Text H/).focus();
  await page.keyboard.press('Control+a');
  const left = (await arrange('Left edges')).map(({ x }) => x);
  expect([left[0], left[2]]).toEqual([10, left[1]]);
  // The ink of an H begins a little to the right of the text's left edge, and never to the left of it.
  expect(left[1]).toBeGreaterThanOrEqual(10);
  expect(left[1]).toBeLessThan(11);
  await page.keyboard.press('Control+z');
  const [above, between, below] = (await arrange('Equal gaps down')).map(({ y }) => y);
  expect([above, below]).toEqual([4, 30]);
  expect(between).toBeGreaterThan(14);
  await page.keyboard.press('Control+z');

  await page.getByRole('tab', { name: 'Layers' }).focus();
  await page.keyboard.press('Enter');
  await button('Lock: Text H').focus();
  await page.keyboard.press('Space');
  await thing(page, /^Box/).first().focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Shift+ArrowDown');
  expect((await saved()).map(({ y }) => y)).toEqual([4, 15, 31]);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await expect.poll(() => button('Lock: Text H').getAttribute('aria-pressed')).toBe('false');
  await saved();
  const { template } = await site.up.admin.template('default', made.id);
  expect(JSON.stringify(template)).toBe(JSON.stringify(before));
});
