/** What is wrong or hard to find in the designer is seen, in a real browser. */
import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConsoleSite } from '../kit/browser/console-site.ts';

let site: ConsoleSite;
beforeAll(async () => {
  site = await ConsoleSite.start();
});
afterAll(() => site.stop());

/** How many pixels of a part of the page are red as ink, and how many black. */
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

async function opened(template: object, look: Parameters<ConsoleSite['signedIn']>[0] = {}): Promise<Page> {
  const { id } = await site.up.admin.importTemplate('default', template);
  const page = await site.signedIn(look);
  await site.show(page, `templates/${id}/design`);
  await page.locator('[data-drawn="true"]').waitFor();
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
  await page.locator('[data-drawn="true"]').waitFor();
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
