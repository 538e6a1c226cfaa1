/** Who gets into the console, what the audit keeps of that, and what strangers may read. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();
let page: Page;
beforeAll(async () => {
  await site.up.admin.importTemplate('default', TEMPLATE);
  page = await site.signedIn();
});

const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const button = (name: string | RegExp) => page.getByRole('button', { name });

test('the link that somebody was sent lets in once, with the role that it says', async () => {
  await site.show(page, 'people');
  await button('Invite …').click();
  await page.getByLabel('E-mail address or short name').fill('kim');
  await page.getByLabel('Role').selectOption('viewer');
  await button('Make the invitation').click();
  const url = (await page.locator('dialog code').textContent()) ?? '';
  await page.getByText('This link works only on the computer that the service runs on.').waitFor();
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  expect(await page.locator('dialog code').textContent()).toBe(url);
  await button('Close').click();
  const context = await site.browser.newContext({ locale: 'en-GB' });
  const kim = await context.newPage();
  await kim.goto(url);
  expect(kim.url()).not.toContain('invitation=');
  await kim.getByLabel('Choose a password').fill('correct horse battery');
  await kim.getByRole('button', { name: 'Accept and sign in' }).click();
  await kim.getByRole('heading', { name: 'Start' }).waitFor();
  expect(await kim.getByRole('link', { name: 'Print', exact: true }).count()).toBe(0);
  expect(await kim.getByRole('link', { name: 'People' }).count()).toBe(0);
  // A viewer does not see labels: a template has neither picture nor comparison, and its page says why.
  const { id } = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'Unseen' });
  await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'Unseen', height: 31 });
  await site.show(kim, `templates/${id}`);
  await kim.getByText('Your role does not see what is on labels.').waitFor();
  await kim.getByText('Version 1', { exact: true }).waitFor();
  expect(await kim.getByRole('button', { name: /Compare/ }).count()).toBe(0);
  await kim.goto('about:blank');
  await kim.goto(url);
  await kim.getByText('This link does not work any more.').waitFor();
  await context.close();
  // Whoever has lost the link gets another one, and is told what that ends. Somebody who was revoked has to be invited again.
  const pick = async (item: string) => {
    await button('More: kim').click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const dialog = page.getByRole('dialog');
  await pick('New link …');
  await dialog.getByText('open sessions and passkeys end then').waitFor();
  await dialog.getByRole('button', { name: 'Make the invitation' }).click();
  await expect.poll(() => page.locator('dialog code').textContent()).not.toBe(url);
  await button('Close').click();
  await pick('Revoke …');
  await dialog.getByText('Another invitation lets them in again.').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  const row = page.getByRole('row', { name: /kim/ });
  await row.getByText('Revoked', { exact: true }).waitFor();
  expect(await button('More: kim').count()).toBe(0);
  await button('Invite …').click();
  await page.getByLabel('E-mail address or short name').fill('kim');
  await button('Make the invitation').click();
  await page.locator('dialog code').waitFor();
  await button('Close').click();
  await row.getByText('Invited', { exact: true }).waitFor();
});

test('the audit is exported whole, and who signs out everywhere is out in every browser', async () => {
  await site.show(page, 'audit');
  const exported = async (as: RegExp) => {
    const download = page.waitForEvent('download');
    await button(as).click();
    return (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
  };
  const lines = await exported(/^Export .JSON/);
  const { entries } = await site.up.admin.auditPage({ tenant: 'default', limit: 1000 });
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
  const [columns = '', ...rows] = await exported(/^Export .CSV/);
  expect([columns, rows.length]).toEqual(['at,who,what,object,details,from', entries.length]);
  // The audit is searched by present names and filtered by kind. The export has what is shown, and a row leads to its page.
  await page.getByLabel('What', { exact: true }).selectOption({ label: 'Templates' });
  await page.getByRole('searchbox', { name: 'Name, ID or address' }).fill('bin LABEL');
  const row = page.getByRole('row', { name: /Imported a template.* Bin label/ });
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  expect(await exported(/^Export .CSV/)).toHaveLength(2);
  await row.getByRole('link', { name: 'Bin label' }).click();
  await heading('Bin label');
  await page.goBack();
  await page.getByRole('searchbox', { name: 'Name, ID or address' }).fill('nothing is called so');
  await page.getByRole('heading', { name: 'Nothing fits these filters' }).waitFor();
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBeGreaterThan(5);

  const other = await site.signedIn();
  const unused = await site.link();
  await site.show(other, 'account');
  await other.getByRole('button', { name: 'Sign out everywhere' }).click();
  for (const one of [other, page]) await one.getByRole('heading', { name: 'Sign in' }).waitFor();
  // That has also ended a link that nobody has opened yet.
  await other.goto('about:blank');
  await other.goto(unused);
  await other.getByText('This link does not work any more.').waitFor();
  await other.context().close();
  await page.goto(await site.link());
  await heading('Start');
  site.faults.length = 0;
});

test('the description of the interface is drawn by its own scripts', async () => {
  await page.goto(`${site.up.url}/docs/`);
  await page.getByRole('heading', { name: 'Label print interface' }).first().waitFor();
});
