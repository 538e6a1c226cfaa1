/** Jobs that wait for a printer are moved to another one, many at once, after a look at what that would do. */
import { expect, test } from 'vitest';
import { chooseTarget, PATIENTLY } from '../kit/browser/browser.ts';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { MUTE } from '../kit/service/mute-printer.ts';
import { platen } from '../kit/service/platen.ts';

const site = useConsole({ args: ['--virtual', '2'] });
/** The job that waits for media at the first printer. */
let stuck = '';

test('by keyboard: the printer that has them is refused, the other one prints them', async () => {
  const { admin } = site.up;
  for (const name of ['virtual-1', 'virtual-2']) await site.up.printerOnline(name);
  // The jobs behind the first one wait for the same.
  await platen(['virtual', 'fault', 'virtual-1', 'media-empty', '--data', site.dataDir]);
  const { id: idT } = await admin.importTemplate('default', TEMPLATE);
  const sent = (number: string, numberCopies = 1) =>
    admin.print('default', {
      ...{ idT, printer: 'virtual-1', numberCopies },
      data: [{ article: 'Nut', number }],
    });
  const first = await sent('C-0', 5);
  stuck = first;
  await expect
    .poll(async () => (await admin.job(first)).reasons, { timeout: 30_000 })
    .toContain('media-empty');
  // An agent tells of its printers once a second, after the job: the dialog asks for them once only.
  await expect
    .poll(async () => (await admin.printers()).find(({ name }) => name === 'virtual-1')?.reasons, {
      timeout: 30_000,
    })
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
  // A printer that stands still says so, and since when, before anybody chooses it.
  await target
    .locator('option', {
      hasText: /^virtual-1 · out of labels since \d\d:\d\d · other media: 101.6 × 152.4 mm$/,
    })
    .waitFor({ state: 'attached' });
  // Printers that can print and have the media come before those that do not.
  expect((await target.locator('option').allTextContents()).map((text) => text.split(' · ')[0])).toEqual([
    'Choose …',
    MUTE,
    'virtual-2',
    'virtual-1',
  ]);
  await chooseTarget(target, 'virtual-1');
  await page
    .getByText(/^Nothing comes out of virtual-1 now \(out of labels since .*What goes there/)
    .waitFor();
  await page.getByText('2 jobs stay as they are:').waitFor();
  await expect.poll(() => page.getByRole('button', { name: /^Move$/ }).isDisabled()).toBe(true);
  await chooseTarget(target, 'virtual-2');
  await page.getByText('2 jobs, not out yet: 2 labels').waitFor();
  await page.getByText('The labels do not fit: this printer has 101.6 × 152.4 mm.').waitFor();
  await press(/^Move$/);
  await page.getByText('2 jobs moved to virtual-2: 2 labels.').waitFor();
  for (const job of jobs) {
    expect(await site.up.ended(job)).toMatchObject({ status: 'printed', printer: { name: 'virtual-2' } });
  }
  expect(site.faults).toEqual([]);
});

test('by keyboard: what prints is stopped first, and what is left of it comes out of the other printer', async () => {
  const { admin } = site.up;
  const page = await site.signedIn();
  await site.show(page, `jobs/${stuck}`);
  const press = async (name: string | RegExp) => {
    await page.getByRole('button', { name }).focus();
    await page.keyboard.press('Enter');
  };
  await press('Move …');
  await page.getByText(/^The job stops here at the end of a label.*at least \d labels\.$/).waitFor();
  const target = page.getByRole('dialog').getByLabel('To printer');
  await target.focus();
  while (!(await target.locator('option:checked').textContent())?.startsWith('virtual-2')) {
    await page.keyboard.press('ArrowDown');
  }
  await page.getByLabel(/^Why/).focus();
  await page.keyboard.type('no labels left');
  await press(/^Move$/);
  await page.getByText(/^It has stopped here\..*is printed at virtual-2/).waitFor({ timeout: 60_000 });
  expect(await admin.job(stuck)).toMatchObject({ status: 'canceled', uncertain: null });
  // The page hears of the rest by itself: nobody loads it again.
  const rest = page.locator('dt:text-is("Its rest is printed by") + dd a[href*="jobs/"]');
  await rest.focus();
  await page.keyboard.press('Enter');
  await page.getByText('Every label is out. Nothing more happens.').waitFor({ timeout: 60_000 });
  const [, job = ''] = /jobs\/([^?]+)/.exec(page.url()) ?? [];
  expect(job).not.toBe(stuck);
  await page.getByText('It is the rest of a job that was moved here from virtual-1.').waitFor();
  expect(await page.locator('dt:text-is("Rest of") + dd').textContent()).toBe(stuck.slice(0, 13));
  await page.getByText('Prints again', { exact: true }).waitFor({ state: 'detached' });
  const shown = async (id: string) => (await platen(['job', 'show', id, '--data', site.dataDir])).stdout;
  expect(await shown(stuck)).toContain(`Its rest is printed by job ${job} at virtual-2.`);
  expect(await shown(job)).toContain(`It is the rest of job ${stuck}, moved from virtual-1.`);
  const { stdout: shownAsJson } = await platen(['job', 'show', job, '--data', site.dataDir, '--json']);
  expect(JSON.parse(shownAsJson)).toMatchObject({ restOf: { id: stuck, printer: 'virtual-1' }, rests: [] });
  expect(await admin.job(job)).toMatchObject({
    ...{ status: 'printed', labels: { total: 5, printed: 5 }, printer: { name: 'virtual-2' } },
  });
  expect(site.faults).toEqual([]);
});

test('what was sent to a printer that is not reached is said before, and decided after', async () => {
  const { admin } = site.up;
  const fault = (...words: string[]) =>
    platen(['virtual', 'fault', 'virtual-1', ...words, '--data', site.dataDir]);
  await fault('clear');
  const [{ id: idT = '' } = {}] = await admin.templates('default');
  const total = 40;
  const job = await admin.print('default', {
    ...{ idT, printer: 'virtual-1', numberCopies: total },
    data: [{ article: 'Nut', number: 'D-0' }],
  });
  await expect.poll(async () => (await admin.job(job)).labels.printed, PATIENTLY).toBeGreaterThan(0);
  await fault('power-off');
  await expect.poll(async () => (await admin.job(job)).reasons, PATIENTLY).toContain('offline');
  const { sent, printed } = (await admin.job(job)).labels;
  expect(sent - printed).toBeGreaterThan(1);

  const page = await site.signedIn();
  await site.show(page, `jobs/${job}`);
  await page.getByRole('button', { name: 'Cancel …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`${printed} out; ${total - sent} labels will not be printed.`).waitFor();
  await dialog.getByText(`${sent - printed} labels were sent to the printer already`).waitFor();
  await dialog.getByRole('button', { name: 'Keep the job' }).click();
  await page.getByRole('button', { name: 'Move …' }).click();
  await dialog.getByText(`as a job of its own: ${total - sent} labels.`).waitFor();
  await dialog
    .getByText(`${sent - printed} labels were sent, and nobody knows whether they are out`)
    .waitFor();
  await chooseTarget(dialog.getByLabel('To printer'), 'virtual-2');
  await dialog.getByRole('button', { name: /^Move$/ }).click();
  await page.getByText(/^The job is being stopped at virtual-1/).waitFor();
  // The page says what became of the job.
  const moved = `${total - sent} moved to virtual-2`;
  await page
    .getByText(`Bin label has stopped at virtual-1: ${printed} out, ${sent - printed} uncertain, ${moved}.`)
    .waitFor(PATIENTLY);
  expect(await admin.job(job)).toMatchObject({ status: 'canceled', uncertain: { from: printed, to: sent } });

  // Its uncertain labels wait for somebody who looks, whoever has stopped it.
  await page.getByRole('link', { name: 'To decide 1' }).click();
  await page.getByRole('link', { name: /^Decide/ }).click();
  await page.getByText('It was stopped: nothing more of it is printed here.').waitFor();
  await page.getByLabel('The first that is missing').fill(String(sent));
  await page.getByText(/^1 label is missing\./).waitFor();
  await page.getByRole('button', { name: /^That is so: Some/ }).click();
  await page.getByText('Noted: 1 label missing.').waitFor();
  await page.getByText(`${sent - 1} out, ${moved}, 1 not`, { exact: true }).waitFor();
  await page.getByText('admin said which labels are out').waitFor();
  await page.getByRole('link', { name: 'To decide', exact: true }).waitFor();
  // Labels that were moved are not offered a second time.
  await page.getByRole('button', { name: 'Print again …' }).click();
  expect(await dialog.getByLabel('Which labels').inputValue()).toBe(String(sent));
  expect(site.faults).toEqual([]);
});
