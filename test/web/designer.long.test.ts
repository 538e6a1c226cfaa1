/** What a person does in the designer, in a real browser: from an empty label to one that comes out of the printer. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { preview } from '../../src/contract/label-picture.ts';
import { barriers } from '../kit/browser/browser.ts';
import { design, labelDrawn, savedTemplate, thing } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { platen } from '../kit/service/platen.ts';

const ROOT = join(import.meta.dirname, '../..');
/** ms; long, because the machine may be busy. */
const PATIENCE = 30_000;

const site = useConsole();
let page: Page;
beforeAll(async () => {
  page = await site.signedIn();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
let id = '';

test('an empty label of a size; a text and a barcode by mouse, dragged, undone, typed into, nudged and saved as drawn', async () => {
  await site.show(page, `templates/new`);
  await page.getByLabel('Name').fill('Drawn here');
  await page.getByLabel('Size').selectOption({ label: '50 × 25 mm' });
  expect(await barriers(page)).toEqual([]);
  await button('Start with an empty label').click();
  await page.getByRole('heading', { name: 'Drawn here' }).waitFor();
  id = /templates\/([^/]+)\/design/.exec(page.url())?.[1] ?? '';
  await labelDrawn(page);

  await button('Add: Text').click();
  await page.getByLabel('Text', { exact: true }).fill('Bolt {{size}}');
  // When undo is pressed within a field, the field shows the number from before.
  const left = page.getByLabel('From the left, mm', { exact: true });
  const inTheMiddle = await left.inputValue();
  await left.fill('1.5');
  await page.keyboard.press('Control+z');
  await expect.poll(() => left.inputValue()).toBe(inTheMiddle);
  await labelDrawn(page);

  // The element is dragged down to the left. Undo puts it back, and redo puts it there again.
  const text = thing(page, /^Text Bolt/);
  const before = await text.getAttribute('aria-label');
  const box = (await text.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x - 40, box.y - 47, { steps: 6 });
  await page.mouse.up();
  const after = await text.getAttribute('aria-label');
  expect(after).not.toBe(before);
  await page.keyboard.press('Control+z');
  await expect.poll(() => text.getAttribute('aria-label')).toBe(before);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(() => text.getAttribute('aria-label')).toBe(after);

  await button('Add: Barcode').click();
  await page.getByLabel('Data').fill('4711');
  await labelDrawn(page);
  await expect.poll(() => page.locator('.thing').count()).toBe(2);
  // By keyboard the barcode goes a millimetre down and ten dots to the right.
  await thing(page, /^Barcode 4711/).focus();
  await page.keyboard.press('Shift+ArrowDown');
  for (let dot = 0; dot < 10; dot += 1) await page.keyboard.press('ArrowRight');
  const across = async () => Number(await page.locator('svg.canvas').getAttribute('width'));
  const whole = await across();
  await page.keyboard.press('+');
  await expect.poll(across).toBeCloseTo(whole * 1.25);
  await page.keyboard.press('-');
  await page.keyboard.press('-');
  await expect.poll(across).toBeCloseTo(whole / 1.25);
  await page.keyboard.press('0');
  await expect.poll(across).toBe(whole);
  await labelDrawn(page);
  expect(await barriers(page)).toEqual([]);
  await button('Save').click();
  await page.getByText('All is saved').waitFor();

  const template = await savedTemplate(site, id);
  expect(template).toMatchObject({ name: 'Drawn here', width: 50, height: 25 });
  const [first, second] = template.elements;
  expect(first).toMatchObject({ type: 'text', text: 'Bolt {{size}}' });
  expect(after).toContain(
    `at ${Number(first?.['x'])
      .toFixed(2)
      .replace(/\.?0+$/, '')}, `,
  );
  // It is in the middle, where it was put, plus what the keys have moved it.
  expect(second).toMatchObject({ type: 'barcode', symbology: 'code128', value: '4711' });
  expect(second?.['x']).toBeCloseTo(8 + (10 * 25.4) / 203, 2);
  expect(second?.['y']).toBeCloseTo(7.5 + 1, 2);
});

test('what is seen are the dots of "platen render", and what is printed', async () => {
  await page.goto('about:blank');
  const answer = page.waitForResponse((response) => response.url().endsWith('/templates/preview'));
  await site.show(page, `templates/${id}/design`);
  const body = preview.parse(await (await answer).json());
  await labelDrawn(page);
  const file = join(site.dataDir, '..', 'drawn.json');
  await writeFile(file, JSON.stringify(await savedTemplate(site, id)));
  const out = join(site.dataDir, '..', 'drawn.png');
  expect(await platen(['render', file, '--dpi', '203', '--out', out])).toMatchObject({ code: 0 });
  expect(body.png).toBe((await readFile(out)).toString('base64'));

  await page.getByRole('link', { name: 'Print', exact: true }).last().click();
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByLabel('size').fill('M8');
  await button('Print 1 label').click();
  await button('Print anyway').click();
  await page.getByText('1 of 1').waitFor();
  expect(await site.up.pictures()).toHaveLength(1);
});

test('what is wrong stands beside it, and what mends it', async () => {
  await site.show(page, `templates/${id}/design`);
  await thing(page, /^Text Bolt/).focus();
  await button('Declare it: size').click();
  await page.getByText('is not declared').waitFor({ state: 'detached' });
  await thing(page, /^Barcode 4711/).focus();
  await button('Symbology: Code 128').click();
  await page.getByLabel('Search symbologies').fill('ean13');
  await page.keyboard.press('Enter');
  await page.locator('.problems .bad').first().waitFor();
  await page.keyboard.press('Control+z');
  await page.locator('.problems .bad').first().waitFor({ state: 'detached' });
});

test('what was not saved is there after a crash; over what somebody else has saved nobody saves unasked', async () => {
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  await thing(page, /^Text Bolt/).focus();
  await page.getByLabel('Text', { exact: true }).fill('Nut {{size}}');
  await page.getByText('Not saved').waitFor();
  const kept = `localStorage.getItem('platen.draft.default.${id}')?.includes('Nut') === true`;
  await expect.poll(() => page.evaluate(kept), { timeout: PATIENCE }).toBe(true);

  // Another page of the same browser stands for a start after a crash.
  const again = await page.context().newPage();
  await site.show(again, `templates/${id}/design`);
  await again.getByRole('button', { name: 'Go on with it' }).click();
  await again
    .locator('.thing')
    .and(again.getByRole('button', { name: /^Text Nut/ }))
    .waitFor();
  await site.up.admin.importTemplate('default', { ...(await savedTemplate(site, id)), height: 30 });
  await again.getByRole('button', { name: 'Save' }).click();
  await again.getByRole('heading', { name: 'Somebody else has saved this template' }).waitFor();
  expect(await savedTemplate(site, id)).toMatchObject({ height: 30 });
  await again.getByRole('button', { name: 'Save mine as a copy' }).click();
  await again.getByRole('heading', { name: 'Drawn here 2' }).waitFor();
  const copy = (await site.up.admin.templates('default')).find(({ name }) => name === 'Drawn here 2');
  expect(await savedTemplate(site, copy?.id ?? '')).toMatchObject({ height: 25 });
  await again.close();
});

test('what a lasso catches is copied into another template, as it is', async () => {
  const from = await design(site, page, {
    name: 'Copied from',
    width: 60,
    height: 40,
    elements: [
      { type: 'text', x: 5, y: 5, text: 'First', size: 4 },
      { type: 'barcode', symbology: 'code128', x: 5, y: 14, value: '4711', height: 8 },
      { type: 'text', x: 40, y: 33, text: 'Far', size: 4 },
    ],
  });
  const sheet = (await page.locator('.canvas .sheet').first().boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  const at = (x: number, y: number) =>
    [sheet.x + (x * sheet.width) / 60, sheet.y + (y * sheet.height) / 40] as const;
  await page.mouse.move(...at(1, 1));
  await page.mouse.down();
  await page.mouse.move(...at(36, 30), { steps: 5 });
  await page.mouse.up();
  const pressed = page.locator('.thing[aria-pressed="true"]');
  await expect.poll(() => pressed.count()).toBe(2);
  await pressed.first().focus();
  await page.keyboard.press('Control+c');
  const to = await design(site, page, { name: 'Copied to', width: 60, height: 40, elements: [] });
  await page.locator('.stage-scroll').focus();
  await page.keyboard.press('Control+v');
  await thing(page, /^Barcode 4711/).waitFor();
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  const { elements } = await savedTemplate(site, to);
  expect(elements).toEqual((await savedTemplate(site, from)).elements.slice(0, 2));
});

const GS1 = {
  name: 'GS1 built here',
  width: 100,
  height: 40,
  fields: [
    { name: 'ean', sample: '4006381333931' },
    { name: 'until', sample: '2027-05-31' },
  ],
  elements: [{ type: 'barcode', symbology: 'gs1-128', x: 4, y: 4, value: '(10)L1', height: 12 }],
};

test('a GS1 value of identifiers by number and by words, with fields, mended and put in order, by keyboard', async () => {
  const made = await design(site, page, GS1);
  await thing(page, /^Barcode/).focus();
  await button('Add an identifier').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Number or words').fill('expiry');
  await page.keyboard.press('Enter');
  await page.getByLabel('Insert a field: (17)').selectOption('until');
  await expect.poll(() => page.getByLabel('Data of (17)').inputValue()).toBe('{{until | date:yyMMdd}}');
  await button('Add an identifier').click();
  await page.getByLabel('Number or words').fill('01');
  await page.keyboard.press('Enter');
  await page.getByLabel('Data of (01)').fill('400638133393');
  await page.getByText('12 digits of 14: 2 short.').waitFor();
  await page.getByLabel('Data of (01)').fill('{{ean}}');
  await page.getByText('It has zeros in front here, up to 14 digits.').waitFor();
  await button(/^Write/).click();
  await button('Sort: 1 separator fewer').click();
  await page.getByText('These are the dots of the printer').waitFor();
  await labelDrawn(page);
  await expect.poll(() => page.locator('.problems').count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  // The page knows nothing of this data, and shows beside it what the service says.
  await button('Add an identifier').click();
  await page.getByLabel('Number or words').fill('421');
  await page.keyboard.press('Enter');
  await page.getByLabel('Data of (421)').fill('276');
  await page.locator('.ai .fault').waitFor();
  await button('Remove: (421) Another identifier').click();
  await page.locator('.ai .fault').waitFor({ state: 'detached' });
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  const { elements } = await savedTemplate(site, made);
  const value = '(17){{until | date:yyMMdd}}(01){{ean | padleft:14:0}}(10)L1';
  expect(elements[0]).toEqual({ ...GS1.elements[0], value });
});

test('grouped by keyboard, moved as one, saved as a name that they share, and ungrouped as they were', async () => {
  const elements = [
    { type: 'text', x: 4, y: 4, text: 'A', size: 6 },
    { type: 'text', x: 20, y: 4, text: 'B', size: 6 },
  ];
  const made = await design(site, page, { name: 'Grouped', width: 60, height: 30, elements });
  await thing(page, /^Text A/).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+g');
  await page.keyboard.press('Escape');
  await thing(page, /^Text B/).focus();
  await expect.poll(() => page.locator('.thing[aria-pressed="true"]').count()).toBe(2);
  await page.keyboard.press('Shift+ArrowDown');
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  expect((await savedTemplate(site, made)).elements).toEqual(
    elements.map((element) => ({ ...element, y: 5, group: '1' })),
  );
  await thing(page, /^Text B/).focus();
  await page.keyboard.press('Control+Shift+G');
  await page.keyboard.press('Shift+ArrowUp');
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  expect((await savedTemplate(site, made)).elements).toEqual(elements);
});

test('looked at with any row of a file, at every resolution side by side; what the printer draws itself is marked', async () => {
  await design(site, page, GS1);
  await page.getByRole('tab', { name: 'Fields' }).click();
  await page.getByLabel('Shown with').selectOption({ label: 'Rows of an Excel or CSV file' });
  const rows = Array.from(
    { length: 40 },
    (_, row) => `${row};2027-01-${String((row % 28) + 1).padStart(2, '0')}`,
  );
  await page.getByLabel('File (Excel, CSV)', { exact: true }).setInputFiles({
    name: 'rows.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['ean;until', ...rows].join('\n'), 'latin1'),
  });
  const answer = page.waitForRequest(
    (request) =>
      request.url().endsWith('/templates/preview') && request.postData()?.includes('"37"') === true,
  );
  await page.getByRole('spinbutton', { name: 'Row' }).first().fill('38');
  await answer;
  await button('More: View').click();
  await button('Side by side').click();
  await expect.poll(() => page.locator('.side-by-side img').count(), { timeout: PATIENCE }).toBe(6);
  await expect.poll(() => page.getByText(/, 799 × 320 dots$/).count()).toBe(1);
  await expect.poll(() => page.getByText(/, 945 × 2362 dots$/).count()).toBe(1);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => page.locator('.by-printer.bars').count()).toBe(1);
  await button('More: View').click();
  await button('Mark what a ZPL printer draws by itself').click();
  await expect.poll(() => page.locator('.by-printer').count()).toBe(0);
});

test('a sheet, a picture and a font by upload, a condition and a filter; what does not go together says so', async () => {
  const made = await design(site, page, {
    name: 'On sheets',
    width: 64,
    height: 33.9,
    fields: [{ name: 'city', sample: 'Ulm' }],
    elements: [{ type: 'text', x: 4, y: 4, text: '{{city}}', size: 6 }],
  });
  await page.getByRole('tab', { name: 'Label' }).click();
  await page.getByLabel('Printed on').selectOption({ label: 'sheets with several' });
  await page.getByLabel('A page with 3 × 8 labels').waitFor();
  await page.getByLabel('Labels across').fill('4');
  await page.getByText('the labels end at 265 mm, the page is 210 mm wide').waitFor();
  await page.getByLabel('Labels across').fill('2');
  await page.getByLabel('A page with 2 × 8 labels').waitFor();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><path d="M0 0h4v4z"/></svg>';
  await page.getByLabel('Add a picture').setInputFiles({
    name: 'flame.svg',
    mimeType: 'image/svg+xml',
    buffer: Buffer.from(svg),
  });
  await page.getByLabel('Name of the picture').waitFor();
  const font = await readFile(
    join(ROOT, 'node_modules/@expo-google-fonts/roboto-condensed/700Bold/RobotoCondensed_700Bold.ttf'),
  );
  await page
    .getByLabel('Add a font')
    .setInputFiles({ name: 'Brand.ttf', mimeType: 'font/ttf', buffer: font });
  await page.getByLabel('Name of the font').waitFor();
  expect(await barriers(page)).toEqual([]);

  await thing(page, /^Text/).focus();
  await page.getByRole('tab', { name: 'Properties' }).click();
  await page.getByLabel('Font').selectOption('Brand');
  await page.getByLabel('Add a filter').selectOption('upper');
  await page.locator('summary').click();
  await page.getByLabel('Field of the condition').selectOption('city');
  await page.getByLabel('Condition', { exact: true }).selectOption('equals');
  await page.getByLabel('Value').fill('Ulm');
  await labelDrawn(page);
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  expect(await savedTemplate(site, made)).toMatchObject({
    sheet: { width: 210, height: 297, columns: 2, rows: 8, left: 9, top: 12.9 },
    images: [{ name: 'flame', data: Buffer.from(svg).toString('base64') }],
    fonts: [{ name: 'Brand', data: font.toString('base64') }],
    elements: [{ text: '{{city | upper}}', font: 'Brand', when: "{{city | equals:'Ulm'}}" }],
  });
});
