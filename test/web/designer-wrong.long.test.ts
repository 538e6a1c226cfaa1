/** In a real browser, people see in the designer what is wrong and what is hard to find. */
import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Look } from '../kit/browser/browser.ts';
import { design, labelDrawn } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();

/** How many pixels of a part of the page are as red as marked ink, and how many are black. */
async function inks(page: Page, clip: Box): Promise<{ red: number; black: number }> {
  const image = await loadImage(await page.screenshot({ clip }));
  const canvas = createCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const found = { red: 0, black: 0 };
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
    if (red > 180 && green < 40 && blue < 60) found.red += 1;
    if (red < 40 && green < 40 && blue < 40) found.black += 1;
  }
  return found;
}

type Box = { x: number; y: number; width: number; height: number };

async function boxOf(page: Page, selector: string): Promise<Box> {
  const box = await page.locator(selector).boundingBox();
  if (box === null) throw new Error(`${selector} is not seen`);
  return box;
}

async function opened(template: object, look: Look = {}): Promise<Page> {
  const page = await site.signedIn(look);
  await design(site, page, template);
  return page;
}

const LABEL = { width: 60, height: 40, fields: [{ name: 'ean', sample: '4006381333931' }] };

test('what does not fit is drawn, cut off at the edge, in red; what cannot be drawn is a red frame', async () => {
  const text = { type: 'text', x: 2, y: 2, width: 40, height: 6, size: 5, text: 'Pallet' };
  const page = await opened({
    ...LABEL,
    name: 'Wrong',
    elements: [
      text,
      { type: 'barcode', symbology: 'code128', x: 2, y: 10, value: '4711', height: 8 },
      { type: 'barcode', symbology: 'ean13', x: 2, y: 25, value: '{{ean}}', height: 8 },
    ],
  });
  await page.getByText('These are the dots of the printer').waitFor();
  expect(await page.locator('.dots-red, .not-drawn').count()).toBe(0);
  const label = await boxOf(page, 'svg.canvas');
  expect(await inks(page, label)).toMatchObject({ red: 0 });

  await page.locator('.thing[aria-label^="Text"]').focus();
  await page
    .getByLabel('Text', { exact: true })
    .fill('Pallet of the third delivery, with more words than the box has room for'.repeat(3));
  await page.locator('.thing[aria-label^="Barcode 4711"]').focus();
  await page.getByLabel('Data').fill('4711-4711-4711-4711-4711-4711-4711');
  await page.getByText('What is red does not work like this').waitFor();
  await expect.poll(() => page.locator('.dots-red').count()).toBe(2);
  await labelDrawn(page);
  const bars = await boxOf(page, '.thing[aria-label^="Barcode 4711"]');
  const row = { ...bars, x: label.x + 1, width: label.width - 2 };
  const seen = await inks(page, row);
  expect(seen.red).toBeGreaterThan(5_000);
  expect(seen.black).toBe(0);
  // The red ends where the label does.
  expect(await inks(page, { ...row, x: label.x + label.width + 4, width: 20 })).toMatchObject({ red: 0 });

  await page.getByRole('tab', { name: 'Fields' }).click();
  await page.getByLabel('Sample').first().fill('12x');
  await expect.poll(() => page.locator('.not-drawn').count()).toBe(1);
  expect(site.faults).toEqual([]);
});

const things = (page: Page) => page.locator('.thing');
const frames = z.array(z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }));
/** The frames of the elements, mm. */
async function framesOf(page: Page): Promise<Box[]> {
  const found = await page.evaluate(`[...document.querySelectorAll('.thing')].map((thing) =>
    Object.fromEntries(['x', 'y', 'width', 'height'].map((side) => [side, Number(thing.getAttribute(side))])))`);
  return frames.parse(found);
}
const focused = (page: Page) => page.evaluate('document.activeElement?.getAttribute("aria-label")');

test('new elements lie beside each other, and have the focus', async () => {
  const page = await opened({ ...LABEL, name: 'Beside', fields: [], elements: [] });
  for (const kind of ['Text', 'Text', 'Barcode', 'Ellipse']) {
    await page.getByRole('button', { name: `Add: ${kind}` }).click();
    await labelDrawn(page);
    await expect.poll(() => focused(page)).toMatch(new RegExp(`^${kind}`));
  }
  const boxes = await framesOf(page);
  for (const [at, box] of boxes.entries()) {
    expect(box.x >= 0 && box.y >= 0, JSON.stringify({ at, box })).toBe(true);
    expect(box.x + box.width <= 60 && box.y + box.height <= 40, JSON.stringify({ at, box })).toBe(true);
    const covered = boxes.filter(
      (other, index) =>
        index !== at &&
        box.x < other.x + other.width &&
        other.x < box.x + box.width &&
        box.y < other.y + other.height &&
        other.y < box.y + box.height,
    );
    expect(covered, `${at} covers nothing`).toEqual([]);
  }
  // The keys move what was added last without another click. The same goes for a copy.
  const place = String(await focused(page));
  await page.keyboard.press('Shift+ArrowRight');
  await expect.poll(() => focused(page)).not.toBe(place);
  await page.keyboard.press('Control+d');
  await expect.poll(() => things(page).count()).toBe(5);
  await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("aria-pressed")')).toBe('true');
  expect(site.faults).toEqual([]);
});

test('turned, an element stays on the label', async () => {
  const text = { type: 'text', size: 4, text: 'A long line of text' };
  const page = await opened({
    ...LABEL,
    name: 'Turned',
    fields: [],
    elements: [
      { ...text, x: 2, y: 2 },
      { ...text, x: 15, y: 33, width: 38, height: 5 },
      { type: 'line', x: 30, y: 38, x2: 58, y2: 38 },
    ],
  });
  for (const [at, thing] of (await things(page).all()).entries()) {
    for (let turn = 1; turn <= 4; turn += 1) {
      await thing.focus();
      await page.keyboard.press('r');
      await labelDrawn(page);
      const box = (await framesOf(page))[at] ?? { x: -9, y: -9, width: 0, height: 0 };
      const says = `${at}, turned ${turn} times: ${JSON.stringify(box)}`;
      // A thin line has a wider box to be clicked, and ink is a dot wider than it was measured.
      expect(box.x > -1 && box.y > -1, says).toBe(true);
      expect(box.x + box.width < 61 && box.y + box.height < 41, says).toBe(true);
      expect(await page.locator('.dots-red').count(), says).toBe(0);
    }
  }
  expect(site.faults).toEqual([]);
});

test('the frame of a picture has its shape, also when a corner is pulled', async () => {
  const page = await opened({ ...LABEL, name: 'Shape', fields: [], elements: [] });
  const canvas = createCanvas(300, 100);
  const context = canvas.getContext('2d');
  context.fillRect(0, 0, 300, 100);
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Add: Picture' }).click(),
  ]);
  await chooser.setFiles({ name: 'wide.png', mimeType: 'image/png', buffer: canvas.toBuffer('image/png') });
  await labelDrawn(page);
  const picture = things(page);
  await picture.waitFor();
  const frame = async () => (await framesOf(page))[0] ?? { x: 0, y: 0, width: 0, height: 1 };
  const ratio = async () => {
    const { width, height } = await frame();
    return width / height;
  };
  await expect.poll(ratio).toBeCloseTo(3, 1);
  const { width } = await frame();
  const corner = await boxOf(page, '.handle.se .grip');
  const [x, y] = [corner.x + corner.width / 2, corner.y + corner.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 5, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await frame()).width - width).toBeGreaterThan(3);
  await expect.poll(ratio).toBeCloseTo(3, 1);
  expect(site.faults).toEqual([]);
});

test('a session that ends while saving brings the drawing back, beside what is saved', async () => {
  const text = { type: 'text', x: 2, y: 2, width: 40, height: 6, size: 5, text: 'Before' };
  const page = await opened({ ...LABEL, name: 'Session', fields: [], elements: [text] });
  const address = page.url();
  await page.locator('.thing').focus();
  await page.getByLabel('Text', { exact: true }).fill('After hours of work');
  await labelDrawn(page);
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(await site.link());
  await page.locator('nav').first().waitFor();
  await page.goto(address);
  await page.getByText('Here is something that was not saved').waitFor();
  for (const says of ['Not saved', 'Saved']) {
    await page
      .getByRole('figure')
      .filter({ hasText: new RegExp(`^${says}$`) })
      .locator('img')
      .waitFor();
  }
  const pictures = await page.evaluate(`[...document.querySelectorAll('figure img')].map(({ src }) => src)`);
  expect(new Set(z.array(z.string()).length(2).parse(pictures)).size).toBe(2);
  await page.getByRole('button', { name: 'Go on with it' }).click();
  await page.locator('.thing[aria-label^="Text After hours"]').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('All is saved').waitFor();
  // The browser logs the refusal.
  site.faults.length = 0;
});

test.each(['en', 'de'])(
  'a template in ZPL shows its source, its size and its fields: %s',
  async (language) => {
    const source = '^XA\n^FO20,20^A0N,40^FD{{article}}^FS\n^XZ';
    const zpl = {
      name: `Raw ${language}`,
      language: 'zpl',
      source,
      fields: [{ name: 'article', sample: 'Bolt' }],
    };
    const { id } = await site.up.admin.importTemplate('default', zpl);
    const page = await site.signedIn({
      locale: language,
      ...(language === 'de' && { width: 360, height: 900 }),
    });
    await site.show(page, `templates/${id}`);
    await expect.poll(() => page.locator('pre.source').textContent()).toBe(source);
    const says =
      language === 'de'
        ? 'nicht angegeben: so groß wie die Etiketten im Drucker'
        : 'not said: as large as the labels in the printer';
    await page.getByText(says).waitFor();
    await page.getByRole('cell', { name: 'Bolt' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(site.faults).toEqual([]);
  },
);

test('what is wrong is saved as a draft, while jobs print what was saved before', async () => {
  const text = { type: 'text', x: 2, y: 2, width: 40, height: 6, size: 5, text: 'Good' };
  const { id } = await site.up.admin.importTemplate('default', {
    ...LABEL,
    name: 'Draft',
    fields: [],
    elements: [text],
  });
  const page = await site.signedIn();
  await site.show(page, `templates/${id}/design`);
  await page.locator('.thing').focus();
  await page.getByLabel('Text', { exact: true }).fill('Much too long for its box '.repeat(9));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Draft: does not print').waitFor();
  const inTemplate = z.object({
    template: z.object({ elements: z.array(z.looseObject({ text: z.string() })) }),
  });
  const printed = async () =>
    inTemplate.parse(await site.up.admin.template('default', id)).template.elements[0]?.text;
  expect(await printed()).toBe('Good');
  // Whoever opens the template next finds the draft, and the template's page says that there is one.
  await page.evaluate('localStorage.clear()');
  await site.show(page, `templates/${id}`);
  await page.getByText('There is a draft from').waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.locator('.thing[aria-label^="Text Much too long"]').focus();
  await page.getByText('This is a draft.').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('Better');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('All is saved').waitFor();
  expect(await printed()).toBe('Better');
  // Throwing the draft away brings back what prints.
  await page.getByLabel('Text', { exact: true }).fill('Worse, and again too long '.repeat(9));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('This is a draft.').waitFor();
  await page.getByRole('button', { name: 'Throw it away' }).click();
  await page.locator('.thing[aria-label^="Text Better"]').waitFor();
  await page.getByText('All is saved').waitFor();
  // The browser logs the refusal.
  site.faults.length = 0;
});
