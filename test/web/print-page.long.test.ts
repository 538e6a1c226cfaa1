/** The console's page for printing: by hand, from a file, and what it says of values, pictures and lost answers. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { barriers, PATIENTLY } from '../kit/browser/browser.ts';
import { TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { MUTE } from '../kit/service/mute-printer.ts';
import { platen } from '../kit/service/platen.ts';

const site = useConsole({ args: ['--virtual', '2'] });
let page: Page;
beforeAll(async () => {
  page = await site.withTemplate();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });

test('a document is chosen as a file, shown as it will be printed, and printed', async () => {
  const shown = await readFile(join(import.meta.dirname, '../../docs/pictures/shelf-50x25.png'));
  await site.up.admin.importTemplate('default', {
    name: 'Carrier',
    language: 'document',
    fields: [{ name: 'label' }],
    page: { turn: 90 },
  });
  const before = (await site.up.admin.jobs()).length;
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Carrier' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  const file = page.getByLabel('label', { exact: true });
  await file.setInputFiles({ name: 'cut.png', mimeType: 'image/png', buffer: shown.subarray(0, 400) });
  await page.getByText('the picture is cut off').first().waitFor();
  await file.setInputFiles({ name: 'label.png', mimeType: 'image/png', buffer: shown });
  await page.getByRole('img', { name: 'Preview' }).waitFor();
  await page.getByText('a file of').waitFor();
  await button(/^Print/).click();
  await expect.poll(async () => (await site.up.admin.jobs()).length).toBe(before + 1);
});

test('a file with rows that cannot be printed names them before anything is', async () => {
  await site.up.admin.importTemplate('default', {
    name: 'Price',
    width: 60,
    height: 30,
    fields: [{ name: 'ean', sample: '4006381333931' }],
    elements: [{ type: 'barcode', x: 3, y: 3, symbology: 'ean13', value: '{{ean}}', height: 10 }],
  });
  const before = (await site.up.admin.jobs()).length;
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Price' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await button('From a file').click();
  const csv = 'name;EAN\nzero;012345678905\n\nwrong;4006381333932\nright;4006381333931\n';
  await page.locator('input[type=file]').setInputFiles({
    name: 'prices.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(csv),
  });
  await expect.poll(() => page.getByLabel('ean').inputValue()).toBe('EAN');
  await button('Check all rows').click();
  await page.getByText('1 row cannot be printed:').waitFor();
  // Rows are numbered as in a spreadsheet program, where the heading and an empty row count, too.
  await button('Row 4').waitFor();
  expect(await site.up.admin.jobs()).toHaveLength(before);

  // Another file with the same columns is checked anew, and its own rows are printed.
  const choose = (rows: string) =>
    page.locator('input[type=file]').setInputFiles({
      name: 'other.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`name;EAN\n${rows}`),
    });
  await choose('right;4006381333931\n');
  await button('Check all rows').click();
  await page.getByText('No fault found in 1 row.').waitFor();
  await choose('wrong;4006381333932\nzero;012345678905\nright;4006381333931\n');
  await button('Check all rows').click();
  await button('Leave them out and print the other 2').click();
  // Whoever has agreed to the size once is not asked about it again in what follows.
  await button('Print anyway').click();
  await page.getByText('2 of 2').waitFor();
});

test('rows are typed and pasted into a table, checked, and printed', async () => {
  const before = (await site.up.admin.jobs()).length;
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Bin label' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await button('Several in a table').click();
  await page.getByLabel('article, row 1').fill('Nut');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0017');
  // Pastes what a spreadsheet program copies, from the third row on. An empty row prints nothing.
  const paste = (row: number, text: string) =>
    page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(text)});
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.querySelector('[aria-label="article, row ${row}"]').dispatchEvent(paste);
    }`);
  await paste(3, 'Bolt\t0018\r\nWasher\t0019\r\n');
  expect(await page.getByLabel('number, row 4').inputValue()).toBe('0019');
  // A list that is too long is not cut off, but is left out as a whole.
  await paste(5, 'Screw\t0020\n'.repeat(497));
  await page.getByText('That would be 501 rows, and a table here has at most 500.').waitFor();
  expect(await page.getByLabel('article, row 5').inputValue()).toBe('');
  await page.getByLabel('article, row 5').waitFor();
  expect(await barriers(page)).toEqual([]);
  await button('Check all rows').click();
  await button('Print 3 labels').click();
  // The page asks if the template has another size than the media.
  await button('Print anyway').or(page.getByText('3 of 3')).first().waitFor();
  if (await button('Print anyway').isVisible()) await button('Print anyway').click();
  await page.getByText('3 of 3').waitFor();
  expect(await site.up.admin.jobs()).toHaveLength(before + 1);
});

test('a label whose answer is lost may be queued: the page says so, and the same click again prints nothing twice', async () => {
  const before = (await site.up.admin.jobs()).length;
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Price' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByLabel('ean').fill('4006381333931');
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route(/\/tenants\/[^/]+\/jobs$/, lose, { times: 1 });
  await button('Print 1 label').click();
  const maybe = page.getByText('the job may have been queued');
  await maybe.waitFor();
  await page.getByLabel('Copies').fill('2');
  await button('Print 2 labels').waitFor();
  expect(await maybe.count()).toBe(1);
  // Choosing another printer keeps what was typed.
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: MUTE });
  await expect.poll(() => page.getByLabel('ean').inputValue()).toBe('4006381333931');
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByLabel('Copies').fill('1');
  await button('Print 1 label').click();
  await page.getByText('1 of 1').waitFor();
  expect(await site.up.admin.jobs()).toHaveLength(before + 1);
  // The browser logs the lost answer as a failure.
  site.faults.length = 0;
});

test('samples are marked as such, what was typed is there for the next label, and a job can be canceled at once', async () => {
  const { id } = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'Typed again' });
  const open = (printer: string) => site.show(page, `print?template=${id}&printer=${site.idOf(printer)}`);
  await open('virtual-2');
  await page.getByRole('img', { name: 'Preview with samples' }).waitFor();
  await page.getByText('Samples: nothing is filled in yet').waitFor();
  await page.getByLabel('article', { exact: true }).fill('Nut M8');
  await page.getByLabel('number', { exact: true }).fill('77');
  await page.getByRole('img', { name: 'Preview', exact: true }).waitFor();
  expect(await page.getByText('Samples: nothing is filled in yet').count()).toBe(0);
  await button('Print 1 label').click();
  await button('Print anyway').click();
  await page.getByRole('heading', { name: 'Typed again on virtual-2' }).waitFor();
  await page.getByText('1 of 1').waitFor();
  await button('Print another').click();
  await expect.poll(() => page.getByLabel('number', { exact: true }).inputValue()).toBe('77');
  // While the printer is on hold there is time to think again, unless its agent was faster.
  const printer = (await site.up.admin.printers()).find(({ name }) => name === 'virtual-2');
  const lane = { id: printer?.id ?? '', tenant: printer?.tenant ?? null };
  await site.up.admin.holdPrinter(lane);
  await button('Print 1 label').click();
  await button('Cancel …').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
  await page.getByText(/^The job is (canceled: |being stopped)/).waitFor();
  await site.up.admin.actOnPrinter(lane, 'resume');
  // Only one button stands out, as on the form.
  const primary = page.locator('main .button.primary');
  expect(await primary.allTextContents()).toEqual(['Print another']);
  await button('Print another').click();
  await expect.poll(() => primary.allTextContents()).toEqual(['Print 1 label']);
  await button('Empty all').click();
  expect(await page.getByLabel('number', { exact: true }).inputValue()).toBe('');
  // If labels may be out, that button leads to the decision.
  await open(MUTE);
  await page.getByLabel('article', { exact: true }).fill('Nut M8');
  await page.getByLabel('number', { exact: true }).fill('79');
  await button('Print 1 label').click();
  await page.getByRole('heading', { name: `Typed again on ${MUTE}` }).waitFor();
  await expect.poll(() => primary.allTextContents(), { timeout: 60_000 }).toEqual(['Decide']);
  expect(await barriers(page)).toEqual([]);
  await button('Print another').click();
});

test('where labels that do not fit are refused, the page says so before, and offers the printers that fit', async () => {
  const rule = (word: string) => platen(['tenant', 'set-media-fit', 'default', word, '--data', site.dataDir]);
  await rule('refuse');
  const before = (await site.up.admin.jobs()).length;
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf('virtual-1')}`);
  await page.reload();
  const says = page.getByText('In this workspace labels that do not fit are not printed.');
  await says.waitFor();
  await page.getByLabel('article', { exact: true }).fill('Nut');
  await page.getByLabel('number', { exact: true }).fill('78');
  await button('Print 1 label').click();
  const asks = page.getByRole('dialog', { name: 'The label does not fit' });
  expect(await asks.getByRole('button', { name: 'Print anyway' }).isDisabled()).toBe(true);
  await asks.getByRole('button', { name: MUTE }).click();
  await says.waitFor({ state: 'detached' });
  expect(await site.up.admin.jobs()).toHaveLength(before);
  await rule('warn');
  await page.reload();
});

test('a template that is still asked for is waited for: the one chosen before cannot be filled in or printed', async () => {
  const field = (name: string) => ({ name, fields: [{ name }], elements: [], width: 60, height: 30 });
  await site.up.admin.importTemplate('default', field('Before'));
  const { id } = await site.up.admin.importTemplate('default', field('After'));
  const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
  await page.route(`**/templates/${id}`, async (route) => {
    await answers;
    await route.continue();
  });
  await site.show(page, 'print');
  const template = page.getByLabel('Template', { exact: true });
  await template.selectOption({ label: 'Before' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByLabel('Before', { exact: true }).waitFor();
  await template.selectOption({ label: 'After' });
  await page.getByLabel('Before', { exact: true }).waitFor({ state: 'detached' });
  expect(await button('From a file').count()).toBe(0);
  answer();
  await page.getByLabel('After', { exact: true }).waitFor();
  await page.unroute(`**/templates/${id}`);
});

test('who prints here finds printer and template as they were chosen last', async () => {
  const other = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'Another label' });
  const chosen = async () => {
    await page.getByLabel('Printer', { exact: true }).waitFor();
    const of = (label: string) => page.getByLabel(label, { exact: true }).inputValue();
    return [await of('Template'), await of('Printer')];
  };
  const second = site.idOf('virtual-2');
  await site.show(page, 'print');
  await page.getByLabel('Template', { exact: true }).selectOption(other.id);
  await page.getByLabel('Printer', { exact: true }).selectOption(second);
  await site.show(page, 'jobs');
  await site.show(page, 'print');
  await expect.poll(() => chosen()).toEqual([other.id, second]);
  await page
    .locator('.field', { hasText: 'Printer' })
    .getByText('101.6 × 152.4 mm', { exact: true })
    .waitFor();
  await page.reload();
  await expect.poll(() => chosen()).toEqual([other.id, second]);
  // Whoever knows the label by its look chooses it by its picture, with only the keyboard.
  await button('Choose by its picture …').focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Choose a template' });
  await dialog.getByRole('img', { name: `The label ${TEMPLATE.name}`, exact: true }).waitFor();
  await dialog.getByLabel('Search by name').fill(TEMPLATE.name);
  await dialog.getByRole('img', { name: 'The label Another label' }).waitFor({ state: 'detached' });
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: TEMPLATE.name, exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => chosen()).toEqual([site.idT, second]);
});

test('a value that cannot be printed is named at its field while it is typed', async () => {
  const { id } = await site.up.admin.importTemplate('default', {
    name: 'Checked',
    width: 60,
    height: 40,
    fields: [{ name: 'ean', sample: '4006381333931' }, { name: 'until' }],
    elements: [
      { type: 'barcode', x: 3, y: 3, symbology: 'ean13', value: '{{ean}}', height: 10 },
      { type: 'text', x: 3, y: 20, size: 4, text: '{{until | date:dd.MM.yyyy}}' },
    ],
  });
  await site.show(page, `print?template=${id}&printer=${site.idOf('virtual-2')}`);
  const typing = async (field: string, value: string, fault: RegExp) => {
    const input = page.getByLabel(field, { exact: true });
    await input.fill(value);
    await page.locator('.field', { has: input }).getByText(fault).waitFor();
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true');
  };
  await typing('ean', '4006381333932', /^The check digit is wrong: expected 1$/);
  // A field in which nobody has typed yet is not called wrong.
  await expect.poll(() => page.locator('.fault').count()).toBe(1);
  await page.getByLabel('ean', { exact: true }).fill('4006381333931');
  await page.getByLabel('until', { exact: true }).fill('2027-05-31');
  await page.locator('.fault').first().waitFor({ state: 'detached' });
});

test('a picture that the service had no time for comes by itself', async () => {
  const { id } = await site.up.admin.importTemplate('default', { ...TEMPLATE, name: 'Drawn late' });
  const previews = '**/templates/preview';
  const problem = { type: 'about:blank', title: 'The service is not ready', status: 503, code: 'not-ready' };
  const refused = { status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) };
  await page.route(previews, (route) => route.fulfill(refused), { times: 1 });
  await site.show(page, `print?template=${id}&printer=${site.idOf('virtual-2')}`);
  await page.getByText('The service is not ready').waitFor();
  await page.getByRole('img', { name: 'Preview' }).waitFor();
  await page.getByText('The service is not ready').waitFor({ state: 'detached' });
  // The browser logs every such answer.
  expect(site.faults.splice(0).filter((fault) => !fault.includes('503'))).toEqual([]);
});

test("a file is held against the service's own limits, before its rows are checked", async () => {
  const limited = async (route: Route) => {
    const answer = await route.fetch();
    const limits = { records: 2, labels: 4 };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), limits } });
  };
  await page.route(/\/app\/session$/, limited);
  await site.show(page, 'print');
  await page.reload();
  await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Price' });
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await button('From a file').click();
  const choose = (rows: number) =>
    page.locator('input[type=file]').setInputFiles({
      name: 'prices.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`EAN\n${'4006381333931\n'.repeat(rows)}`),
    });
  await choose(3);
  await page.getByText('Expected an array of 1 to 2 records. Split the file').waitFor();
  await choose(2);
  await page.getByLabel('Copies').fill('3');
  await page.getByText('2 records × 3 copies are 6 labels; the limit is 4. Split the file').waitFor();
  await page.getByLabel('Copies').fill('2');
  await button('Check all rows').waitFor();
  expect(await page.getByLabel('Copies').getAttribute('max')).toBe('4');
  await page.unroute(/\/app\/session$/);
  await page.reload();
});

test('an Excel file prints what its cells say', async () => {
  const file = join(site.dataDir, '..', 'bins.xlsx');
  const sheet = await writeXlsxFile([
    [{ value: 'Article' }, { value: 'Number' }],
    [{ value: 'Nut' }, { value: '012345678901' }],
    [{ value: new Date(Date.UTC(2026, 10, 22)), type: Date, format: 'dd/mm/yyyy' }, { value: 4006381333931 }],
    // An empty cell is an empty field, which is no fault.
    [null, { value: '0099' }],
  ]);
  await writeFile(file, await sheet.toBuffer());
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf('virtual-2')}`);
  await button('From a file').click();
  await page.locator('input[type=file]').setInputFiles(file);
  await expect.poll(() => page.getByLabel('number').inputValue(), PATIENTLY).toBe('Number');
  const before = (await site.up.pictures('virtual-2')).length;
  await button('Check all rows').click();
  await button('Print 3 labels').click();
  await button('Print anyway').click();
  await page.getByText('3 of 3').waitFor();
  const labels = (await site.up.pictures('virtual-2')).slice(before);
  const codes = await Promise.all(labels.map((one) => barcodesIn(one)));
  expect(codes.flat().map(({ text }) => text)).toEqual(['012345678901', '4006381333931', '0099']);
  const [job] = await site.up.admin.jobs({ limit: 1 });
  await site.show(page, `jobs/${job?.id}`);
  await page.getByRole('cell', { name: '2026-11-22' }).waitFor();

  // The job is found by a value on one of its labels, and its row shows the first value of the first label.
  await site.show(page, 'jobs');
  const value = page.getByLabel('A whole value on the label');
  await value.fill('012345678901');
  await value.press('Enter');
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().textContent()).toMatch(/Bin label · Nut/);
  expect(page.url()).toMatch(/value=[0-9a-f]{16}/);
  expect(page.url()).not.toContain('012345678901');
  await rows.getByRole('link', { name: 'Bin label' }).waitFor();
  expect((await rows.first().boundingBox())?.height).toBeLessThanOrEqual(41);
  await value.fill('12');
  await value.press('Enter');
  await page.locator('.search', { has: value }).getByText('A value has 3 to 200 characters.').waitFor();
  const id = page.getByLabel('Beginning of an ID');
  await id.fill('xyz');
  await page.locator('.search', { has: id }).getByText('An ID has 0–9, a–f and hyphens.').waitFor();

  // A file that is no workbook is refused as such, and nothing of it is kept.
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf('virtual-2')}`);
  await button('From a file').click();
  const broken = Buffer.concat([(await readFile(file)).subarray(0, 900)]);
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'x.xlsx', mimeType: 'application/zip', buffer: broken });
  await page.getByText('This file cannot be read as a table with a heading.').waitFor();
});
