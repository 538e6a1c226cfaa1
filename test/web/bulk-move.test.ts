/** Jobs that wait for a printer go to another one, many at once, after a look at what that does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConsoleSite, TEMPLATE } from '../kit/browser/console-site.ts';
import { platen } from '../kit/service/platen.ts';

let site: ConsoleSite;
beforeAll(async () => {
  site = await ConsoleSite.start({ args: ['--virtual', '2'] });
});
afterAll(() => site?.stop());

test('by keyboard: the printer that has them is refused, the other one prints them', async () => {
  const { admin } = site.up;
  for (const name of ['virtual-1', 'virtual-2']) await site.up.printerOnline(name);
  // What the first one waits for, those behind it wait for too.
  await platen(['virtual', 'fault', 'virtual-1', 'media-empty', '--data', site.dataDir]);
  const { id: idT } = await admin.importTemplate('default', TEMPLATE);
  const sent = (number: string) =>
    admin.print('default', { idT, printer: 'virtual-1', data: [{ article: 'Nut', number }] });
  const first = await sent('C-0');
  await expect
    .poll(async () => (await admin.job(first)).reasons, { timeout: 30_000 })
    .toContain('media-empty');
  const jobs = [await sent('C-1'), await sent('C-2')];

  const page = await site.signedIn();
  const press = async (name: string | RegExp) => {
    await page.getByRole('button', { name }).focus();
    await page.keyboard.press('Enter');
  };
  await site.show(page, 'jobs?status=queued');
  for (const job of jobs) {
    await page.getByRole('checkbox', { name: job.slice(0, 13) }).focus();
    await page.keyboard.press('Space');
  }
  await press('Move …');
  await expect.poll(() => page.getByRole('button', { name: /^Move$/ }).isDisabled()).toBe(true);
  const target = page.getByRole('dialog').getByRole('combobox');
  await target.selectOption({ label: 'virtual-1' });
  await page.getByText('2 jobs stay as they are:').waitFor();
  await expect.poll(() => page.getByRole('button', { name: /^Move$/ }).isDisabled()).toBe(true);
  await target.selectOption({ label: 'virtual-2' });
  await page.getByText('2 jobs, not out yet: 2 labels').waitFor();
  await press(/^Move$/);
  await page.getByText('Done for 2 jobs.').waitFor();
  for (const job of jobs) {
    expect(await site.up.ended(job)).toMatchObject({ status: 'printed', printer: { name: 'virtual-2' } });
  }
  expect(site.faults).toEqual([]);
});
