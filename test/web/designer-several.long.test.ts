/** Several elements at once, and what is typed on the label, in a real browser. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { barriers } from '../kit/browser/browser.ts';
import { ConsoleSite } from '../kit/browser/console-site.ts';

let site: ConsoleSite;
let page: Page;
beforeAll(async () => {
  site = await ConsoleSite.start();
  page = await site.signedIn();
});
afterEach(() => expect(site.faults.splice(0)).toEqual([]));
afterAll(() => site?.stop());

const button = (name: string | RegExp) => page.getByRole('button', { name });
const thing = (name: RegExp) => page.locator('.thing').and(page.getByRole('button', { name }));

/** The designer with a template. @returns its ID */
async function opened(template: object): Promise<string> {
  const { id } = await site.up.admin.importTemplate('default', template);
  await site.show(page, `templates/${id}/design`);
  await page.locator('[data-drawn="true"]').waitFor();
  return id;
}

const saved = z.object({
  template: z.looseObject({ elements: z.array(z.looseObject({ type: z.string() })) }),
});
async function savedTemplate(id: string) {
  return saved.parse(await site.up.admin.template('default', id)).template;
}

test('several have the properties that they share, set at once; fields are put in another order', async () => {
  const elements = [
    { type: 'text', x: 4, y: 4, text: 'A {{first}}', size: 6 },
    { type: 'text', x: 4, y: 14, text: 'B {{second}}', size: 4, bold: true },
    { type: 'box', x: 30, y: 4, width: 10, height: 10 },
  ];
  const fields = [{ name: 'first' }, { name: 'second' }, { name: 'third' }];
  const made = await opened({ name: 'Shared', width: 60, height: 30, fields, elements });
  await thing(/^Text A/).click();
  await thing(/^Text B/).click({ modifiers: ['Shift'] });
  const size = page.getByLabel('Character height, mm', { exact: true });
  await expect.poll(() => size.getAttribute('placeholder')).toBe('different');
  expect(await barriers(page)).toEqual([]);
  await size.fill('5');
  await page.getByLabel('Bold', { exact: true }).check();
  await page.getByLabel('Font', { exact: true }).selectOption('sans');
  // One step for both of them.
  await page.keyboard.press('Control+z');
  await page.getByLabel('Font', { exact: true }).selectOption('sans');
  // With a box among them only what a box has, too.
  await thing(/^Box/).click({ modifiers: ['Shift'], position: { x: 1, y: 1 } });
  await page.getByText('3 elements chosen').waitFor();
  expect(await size.count()).toBe(0);
  await page.getByLabel('From the top, mm', { exact: true }).fill('7');

  await page.getByRole('tab', { name: 'Fields' }).click();
  await button('Further up: third').click();
  await button('Further up: third').click();
  expect(await button('Further up: third').isDisabled()).toBe(true);
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  const kept = await savedTemplate(made);
  expect(kept.elements).toMatchObject([
    { y: 7, size: 5, bold: true, font: 'sans' },
    { y: 7, size: 5, bold: true, font: 'sans' },
    { y: 7, width: 10 },
  ]);
  await page.goto(`${site.up.url}/console/#/print?template=${made}`);
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByText('Values', { exact: true }).waitFor();
  expect(await page.locator('.fields label').allTextContents()).toEqual(['third', 'first', 'second']);
});
