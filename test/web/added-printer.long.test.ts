/** A printer is added in the console by its address: it is checked at once, prints, and is still there after a restart. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../src/log.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { barriers, overflow, PATIENTLY } from '../kit/browser/browser.ts';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';

/** This port needs a privilege, so no other test listens on it. */
const UNREACHED = '127.0.0.1:9';

const site = useConsole();
let printer: VirtualZplPrinter;
beforeAll(async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'added-'));
  await mkdir(outDir, { recursive: true });
  const logger = createLogger({ level: 'silent' });
  printer = new VirtualZplPrinter({
    name: 'hall',
    outDir,
    dpi: 203,
    width: 60,
    height: 30,
    speed: 100,
    logger,
  });
  await printer.start();
});
afterAll(() => printer?.stop());

test('by keyboard: one that is not reached says why and is taken away; one that is prints', async () => {
  const page = await site.signedIn();
  const tab = async (name: string) => {
    await expect
      .poll(async () => {
        await page.keyboard.press('Tab');
        return page.evaluate(
          'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent',
        );
      }, PATIENTLY)
      .toBe(name);
  };
  await site.show(page, 'printers');
  await page.getByRole('link', { name: 'virtual-1' }).waitFor(PATIENTLY);
  await tab('Add a printer');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add a printer' });
  const agents = dialog.getByLabel('Agent').locator('option');
  await agents.first().waitFor({ state: 'attached' });
  expect(await barriers(page)).toEqual([]);
  await tab('Address');
  await page.keyboard.type('http://10.0.0.5');
  await page.keyboard.press('Enter');
  await dialog.getByText('expected an address such as 10.0.0.5').waitFor();
  await dialog.getByLabel('Address').fill(UNREACHED);
  await page.keyboard.press('Enter');
  await dialog.getByRole('status').filter({ hasText: 'Not reached' }).waitFor(PATIENTLY);
  await dialog.getByText(/ECONNREFUSED/).waitFor();
  expect(await barriers(page)).toEqual([]);
  await tab('Take away …');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /Take socket.*away/ }).waitFor();
  await tab('Take away');
  await page.keyboard.press('Enter');
  await page.getByText('Taken away.').waitFor();

  await page.getByRole('button', { name: 'Add a printer' }).click();
  // Until the agents are there, Enter adds nothing.
  await agents.first().waitFor({ state: 'attached' });
  await dialog.getByLabel('Address').fill(new URL(printer.uri).host);
  await dialog.getByLabel('Name').fill('Hall 2');
  await page.keyboard.press('Enter');
  await dialog
    .getByRole('status')
    .filter({ hasText: 'Reached' })
    .filter({ hasText: 'Hall 2' })
    .waitFor(PATIENTLY);
  await dialog.getByRole('link', { name: 'Open' }).click();
  await page.getByRole('heading', { name: 'Hall 2', level: 1 }).waitFor();
  const { id: idT } = await site.up.admin.importTemplate('default', TEMPLATE);
  const data = [{ article: 'Nut', number: '1' }];
  const job = await site.up.admin.print('default', { idT, printer: 'Hall 2', data });
  expect(await site.up.ended(job)).toMatchObject({ status: 'printed' });
  expect(printer.odometer).toBe(1);
  await site.show(page, 'audit');
  await page.getByText('Took an added printer away').first().waitFor();
  await page.context().close();
}, 180_000);

test.each([
  { width: 360, height: 740, scheme: 'dark', locale: 'de-DE' },
  { width: 820, height: 1_180, scheme: 'light', locale: 'de-DE' },
  { width: 1_440, height: 900, scheme: 'dark', locale: 'en-GB' },
] as const)('fits $width points, $scheme, $locale', async (look) => {
  const page = await site.signedIn(look);
  await site.show(page, 'printers');
  await page.getByText(/^(?:Added by their address|Mit ihrer Adresse hinzugefügt) \(1\)$/).click();
  await page.getByRole('cell', { name: /^Hall 2/ }).waitFor();
  expect([await overflow(page), await barriers(page)]).toEqual([0, []]);
  if (process.env['PICTURES'])
    await page.screenshot({ path: `${process.env['PICTURES']}/added-${look.width}.png`, fullPage: true });
  await page.getByRole('button', { name: /^(?:Add a printer|Drucker hinzufügen)$/ }).click();
  await page.getByText(/^(?:Where the printer does not|Falls der Drucker)/).click();
  expect([await overflow(page), await barriers(page)]).toEqual([0, []]);
  if (process.env['PICTURES'])
    await page.screenshot({ path: `${process.env['PICTURES']}/adding-${look.width}.png` });
  await page.context().close();
});

test('is there after a start of the service', async () => {
  await site.up.printerOnline('Hall 2');
  await site.restart(['--virtual', '1']);
  await site.up.printerOnline('Hall 2');
}, 120_000);
