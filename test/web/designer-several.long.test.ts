/** Several elements at once, and what is typed on the label, in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers } from '../kit/browser/browser.ts';
import { design, labelDrawn, savedTemplate, thing } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();
let page: Page;
beforeAll(async () => {
  page = await site.signedIn();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });

test('several have the properties that they share, set at once; fields are put in another order', async () => {
  const elements = [
    { type: 'text', x: 4, y: 4, text: 'A {{first}}', size: 6 },
    { type: 'text', x: 4, y: 14, text: 'B {{second}}', size: 4, bold: true },
    { type: 'box', x: 30, y: 4, width: 10, height: 10 },
  ];
  const fields = [{ name: 'first' }, { name: 'second' }, { name: 'third' }];
  const made = await design(site, page, { name: 'Shared', width: 60, height: 30, fields, elements });
  await thing(page, /^Text A/).click();
  await thing(page, /^Text B/).click({ modifiers: ['Shift'] });
  const size = page.getByLabel('Character height, mm', { exact: true });
  await expect.poll(() => size.getAttribute('placeholder')).toBe('different');
  expect(await barriers(page)).toEqual([]);
  await size.fill('5');
  await page.getByLabel('Bold', { exact: true }).check();
  await page.getByLabel('Font', { exact: true }).selectOption('sans');
  // Undo takes back the change of both elements as one step.
  await page.keyboard.press('Control+z');
  await page.getByLabel('Font', { exact: true }).selectOption('sans');
  // If a box is among them, only the properties that a box has, too, are shown.
  await thing(page, /^Box/).click({ modifiers: ['Shift'], position: { x: 1, y: 1 } });
  await page.getByText('3 elements chosen').waitFor();
  expect(await size.count()).toBe(0);
  await page.getByLabel('From the top, mm', { exact: true }).fill('7');

  await page.getByRole('tab', { name: 'Fields' }).click();
  await button('Further up: third').click();
  await button('Further up: third').click();
  expect(await button('Further up: third').isDisabled()).toBe(true);
  await page.getByRole('group', { name: 'third' }).getByLabel('Caption').fill('Best before');

  // The canvas stays in place and is as high as the window allows; only the panel scrolls.
  await page.setViewportSize({ width: 1_440, height: 900 });
  await page.getByText('These are the dots of the printer').waitFor();
  const stage = page.locator('.stage-scroll');
  const at = await stage.boundingBox();
  expect(at?.height).toBeGreaterThan(600);
  await page.getByLabel('Name of the field').scrollIntoViewIfNeeded();
  expect(await stage.boundingBox()).toEqual(at);
  expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
  await expect
    .poll(() => page.evaluate('document.querySelector(".side-panel").scrollTop'))
    .toBeGreaterThan(0);
  const tab = await page.getByRole('tab', { name: 'Layers' }).boundingBox();
  expect(tab?.y).toBeGreaterThanOrEqual((await page.locator('.side-panel').boundingBox())?.y ?? 900);
  // A key opens the help, even with the focus on the label.
  await thing(page, /^Box/).focus();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard' });
  await keys.getByRole('heading', { name: 'In the designer, with the focus on the label' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  const kept = await savedTemplate(site, made);
  expect(kept.elements).toMatchObject([
    { y: 7, size: 5, bold: true, font: 'sans' },
    { y: 7, size: 5, bold: true, font: 'sans' },
    { y: 7, width: 10 },
  ]);
  await page.goto(`${site.up.url}/console/#/print?template=${made}`);
  await page.getByLabel('Printer', { exact: true }).selectOption({ label: 'virtual-1' });
  await page.getByText('Values', { exact: true }).waitFor();
  expect(await page.locator('.fields label').allTextContents()).toEqual(['Best before', 'first', 'second']);
});

test('content is typed where it stands, by mouse and by keyboard; rulers and grid are in millimetres of the label', async () => {
  const elements = [
    { type: 'text', x: 4, y: 4, text: 'Here', size: 6 },
    { type: 'barcode', x: 4, y: 14, symbology: 'code128', value: '4711', height: 8 },
  ];
  const made = await design(site, page, { name: 'Typed', width: 60, height: 30, elements });
  const typing = page.getByLabel('Content, on the label');
  await thing(page, /^Text Here/).dblclick();
  await typing.waitFor();
  // The field lies over the text that it changes, and all of its text is selected.
  const [box, over] = [await thing(page, /^Text Here/).boundingBox(), await typing.boundingBox()];
  expect(over?.x).toBeCloseTo(box?.x ?? 0, -1);
  expect(over?.y).toBeCloseTo(box?.y ?? 0, -1);
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.type('Two');
  await page.keyboard.press('Enter');
  await page.keyboard.type('lines');
  await page.keyboard.press('Escape');
  await typing.waitFor({ state: 'detached' });
  await thing(page, /^Text Two/).waitFor();
  await expect
    .poll(() => page.evaluate('document.activeElement?.getAttribute("aria-label")'))
    .toMatch(/^Text Two/);
  // Tab leads to the next element. While its content is typed, R and Delete are text, and no keys of the label.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await typing.waitFor();
  await page.keyboard.type('R0-R');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  await thing(page, /^Barcode R0-R/).waitFor();
  await page.keyboard.press('Enter');
  await typing.waitFor();
  // Selecting another element ends the typing.
  await thing(page, /^Text Two/).click();
  await typing.waitFor({ state: 'detached' });

  const numbers = page.locator('.rulers text');
  expect(await numbers.allTextContents()).toEqual('0 10 20 30 40 50 60 0 10 20 30'.split(' '));
  const sheet = (await page.locator('.canvas > g > .sheet').boundingBox()) ?? { x: 0, width: 0 };
  const at = async (nth: number) => {
    const own = (await numbers.nth(nth).boundingBox()) ?? { x: 0, width: 0 };
    return own.x + own.width / 2;
  };
  expect(Math.abs((await at(3)) - (sheet.x + sheet.width / 2))).toBeLessThan(2);
  // When the label is shown turned, its y axis begins at the right-hand side of what is seen.
  await page.getByLabel('Orientation').selectOption('landscape');
  const seen = (await page.locator('.canvas > g > .sheet').boundingBox()) ?? { x: 0, width: 0 };
  await expect.poll(async () => Math.abs((await at(0)) - (seen.x + seen.width))).toBeLessThan(2);
  await page.getByLabel('Orientation').selectOption('portrait');
  expect(await page.locator('path.grid').count()).toBe(0);
  await button('Grid').click();
  await page.locator('path.grid').waitFor();
  expect(await barriers(page)).toEqual([]);

  // A double click selects one element of a group, so that its content can be typed.
  await button('Grid').click();
  await thing(page, /^Text Two/).click();
  await thing(page, /^Barcode R0-R/).click({ modifiers: ['Shift'] });
  await page.keyboard.press('Control+g');
  await thing(page, /^Barcode R0-R/).dblclick();
  await typing.waitFor();
  await page.getByRole('heading', { name: /^Barcode R0-R/ }).waitFor();
  await page.keyboard.press('Escape');
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  const { elements: kept } = await savedTemplate(site, made);
  expect(kept).toMatchObject([{ text: 'Two\nlines' }, { value: 'R0-R' }]);
});

test('a layer is dragged to its place; on a tablet the panel is a sheet that is put down', async () => {
  const elements = ['One', 'Two', 'Three'].map((text, at) => ({
    type: 'text',
    x: 4,
    y: 4 + 8 * at,
    text,
    size: 4,
  }));
  const made = await design(site, page, { name: 'Layers', width: 60, height: 30, elements });
  await page.getByRole('tab', { name: 'Layers' }).click();
  const names = async () =>
    (await page.locator('.layers .layer-name').allTextContents()).map((name) => name.trim());
  const before = ['Text Three', 'Text Two', 'Text One'];
  await expect.poll(names).toEqual(before);
  const middle = async (row: number) => {
    const box = (await page.locator('.layers li').nth(row).boundingBox()) ?? { y: 0, height: 0 };
    return box.y + box.height / 2;
  };
  const grips = page.locator('.layers .grip');
  const { x } = (await grips.first().boundingBox()) ?? { x: 0 };
  await grips.first().hover();
  await page.mouse.down();
  await page.mouse.move(x + 8, (await middle(1)) + 4);
  await expect.poll(names).toEqual(['Text Two', 'Text Three', 'Text One']);
  await page.mouse.move(x + 8, (await middle(2)) + 4);
  await expect.poll(names).toEqual(['Text Two', 'Text One', 'Text Three']);
  await page.mouse.up();
  // The drag is one step of undo.
  await button('Undo').click();
  await expect.poll(names).toEqual(before);
  await button('Redo').click();
  await button('Save').click();
  await page.getByText('All is saved').waitFor();
  expect((await savedTemplate(site, made)).elements).toMatchObject([
    { text: 'Three' },
    { text: 'One' },
    { text: 'Two' },
  ]);

  await page.setViewportSize({ width: 820, height: 1_180 });
  const sheet = page.locator('.side-panel');
  const low = async () => {
    const box = (await sheet.boundingBox()) ?? { y: 0, height: 0 };
    return [box.y + box.height, box.height < 100];
  };
  await expect.poll(low).toEqual([1_180, false]);
  await button('Show the panel').click();
  await expect.poll(low).toEqual([1_180, true]);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Fields' }).click();
  await expect.poll(low).toEqual([1_180, false]);

  // On a phone the label comes first. It keeps room beside the sheet once somebody puts that up.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await labelDrawn(page);
  await expect.poll(low).toEqual([740, true]);
  await page.getByRole('tab', { name: 'Layers' }).click();
  await expect.poll(low).toEqual([740, false]);
  const label = (await page.locator('.canvas .sheet').boundingBox()) ?? { y: 0, height: 740 };
  const top = (await sheet.boundingBox())?.y ?? 0;
  expect(label.y).toBeGreaterThan(0);
  expect(label.y + label.height).toBeLessThanOrEqual(top);
  expect(await barriers(page)).toEqual([]);
  await page.setViewportSize({ width: 1_440, height: 900 });
});
