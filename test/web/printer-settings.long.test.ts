/** A printer is set on its page, and its next labels lie where the settings say. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { dotsOf, inkBox } from '../kit/judges/judges.ts';

const PRINTER = 'virtual-1';

const site = useConsole();
let idT: string;
let address: string;
beforeAll(async () => {
  idT = (await site.up.admin.importTemplate('default', TEMPLATE)).id;
  const printer = (await site.up.admin.printers()).find(({ name }) => name === PRINTER);
  address = `printers/${encodeURIComponent(printer?.id ?? '')}`;
});

/** Prints the same label each time. @returns where its ink is now */
async function ink() {
  const data = [{ article: 'Nut', number: '320001' }];
  const job = await site.up.admin.print('default', { idT, printer: PRINTER, data });
  expect(await site.up.ended(job)).toMatchObject({ status: 'printed' });
  return inkBox(await dotsOf(await readFile((await site.up.pictures(PRINTER)).at(-1) ?? '')));
}

test('by an operator, who sees what a printer takes, and tries it with a test label', async () => {
  const page = await site.signedIn();
  const dialog = page.locator('dialog');
  const open = async () => {
    await page.getByRole('button', { name: `More: ${PRINTER}` }).click();
    await page.getByRole('menuitem', { name: 'Settings …' }).click();
  };
  const save = dialog.getByRole('button', { name: 'Save' });
  const before = await ink();
  await site.show(page, address);
  await open();
  await dialog.getByLabel('Darkness').fill('31');
  await dialog.getByText('Expected a number from 0 to 30').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await dialog.getByLabel('Darkness').fill('12,5');
  await dialog.getByLabel('Move down, dots').fill('24');
  await dialog.getByLabel('After a label').selectOption('tear-off');
  await save.click();
  await page.getByText('darkness 12.5, tear-off, moved down by 24 dots').waitFor();
  expect(await ink()).toEqual({ ...before, top: before.top + 24, bottom: before.bottom + 24 });
  const labels = (await site.up.pictures(PRINTER)).length;
  await page
    .getByText('Set, for jobs from now on.')
    .getByRole('button', { name: 'Print a test label' })
    .click();
  await page.getByRole('img', { name: `Label ${labels + 1} that came out` }).waitFor();

  await open();
  expect(await dialog.getByLabel('Darkness').inputValue()).toBe('12.5');
  for (const label of ['Darkness', 'Move down, dots']) await dialog.getByLabel(label).fill('');
  await dialog.getByLabel('After a label').selectOption('as it is');
  await save.click();
  await page.getByText('moved down by 24 dots').waitFor({ state: 'detached' });
  expect(await ink()).toEqual(before);
});

test('in German, with numbers as they are written there', async () => {
  const german = await site.signedIn({ locale: 'de-DE' });
  await site.show(german, address);
  const open = async () => {
    await german.getByRole('button', { name: /virtual-1$/ }).click();
    await german.getByRole('menuitem', { name: 'Einstellungen …' }).click();
  };
  await open();
  await german.getByLabel('Schwärzung').fill('7,5');
  await german.getByLabel('Farbband').selectOption('ohne Farbband');
  await german.getByRole('button', { name: 'Speichern' }).click();
  await german.getByText('Schwärzung 7,5, ohne Farbband').waitFor();

  // When the dialog is opened again it shows what was typed, which can be saved as it stands.
  await open();
  await german.getByLabel('Nach links, Punkte').fill('-1200');
  await german.getByRole('button', { name: 'Speichern' }).click();
  await german.getByText('um -1200 Punkte nach links').waitFor();
  await open();
  expect(await german.getByLabel('Nach links, Punkte').inputValue()).toBe('-1200');
  expect(await german.getByLabel('Schwärzung').inputValue()).toBe('7,5');
  expect(await german.getByRole('button', { name: 'Speichern' }).isEnabled()).toBe(true);
});
