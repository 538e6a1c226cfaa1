/** Whoever runs the deployment says at a printer's page which workspaces may use it. */
import { beforeAll, expect, test } from 'vitest';
import { useConsole } from '../kit/browser/use-console.ts';

const PRINTER = 'virtual-1';

const site = useConsole({ args: ['--virtual', '2'] });
let address: string;
beforeAll(async () => {
  await (await site.withTemplate()).context().close();
  await site.up.admin.createTenant({ id: 'acme', name: 'Acme' });
  address = `printers/${site.idOf(PRINTER)}`;
});

test('to one, by name, and to every one again', async () => {
  const page = await site.signedIn();
  const dialog = page.locator('dialog');
  const open = async () => {
    await page.getByRole('button', { name: `More: ${PRINTER}` }).click();
    await page.getByRole('menuitem', { name: 'Who may use it …' }).click();
  };
  const save = () => dialog.getByRole('button', { name: 'Save' }).click();
  const send = () => site.print(PRINTER, ['1']);
  await site.show(page, address);
  await page.getByText('shared by all workspaces').waitFor();
  await open();
  // The sentence about other workspaces appears only if there are others.
  const others = dialog.getByText('To the others it is as if it did not exist.');
  await dialog.getByLabel('Every workspace').waitFor();
  expect(await others.count()).toBe(0);
  await dialog.getByLabel('Every workspace').uncheck();
  await others.waitFor();
  await dialog.getByLabel('Acme').check();
  await save();
  await page.getByText('shared, for Acme only').waitFor();
  await expect(send()).rejects.toThrow('printer-unknown');
  // It is the deployment's printer all the same; this workspace just does not print on it.
  await site.show(page, 'printers');
  await page.getByRole('link', { name: PRINTER, exact: true }).waitFor();
  await site.show(page, 'print');
  await page.getByRole('option', { name: 'virtual-2' }).waitFor({ state: 'attached' });
  expect(await page.getByRole('option', { name: PRINTER }).count()).toBe(0);

  await site.show(page, address);
  await open();
  await dialog.getByLabel('Every workspace').check();
  await save();
  await page.getByText('shared by all workspaces').waitFor();
  expect(await site.up.ended(await send())).toMatchObject({ status: 'printed' });
});

test('in German', async () => {
  const page = await site.signedIn({ locale: 'de-DE' });
  await site.show(page, address);
  await page.getByRole('button', { name: /virtual-1$/ }).click();
  await page.getByRole('menuitem', { name: 'Wer ihn nutzen darf …' }).click();
  await page.getByLabel('Jeder Arbeitsbereich').uncheck();
  await page.getByRole('button', { name: 'Speichern' }).click();
  await page.getByText('gemeinsam, für keinen Arbeitsbereich').waitFor();
});
