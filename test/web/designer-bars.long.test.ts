/** The designer's bars in a real browser: one line each on a desktop screen, with a button for the rest on narrower ones. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers, type Look, overflow } from '../kit/browser/browser.ts';
import { labelDrawn } from '../kit/browser/designer.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();
let address = '';
beforeAll(async () => {
  const texts = ['One', 'Two', 'Three'].map((text, at) => ({
    type: 'text',
    x: 4 + 3 * at,
    y: [4, 10, 20][at],
    text,
    size: 4,
  }));
  const { id } = await site.up.admin.importTemplate('default', {
    name: 'Bars',
    width: 60,
    height: 30,
    elements: texts,
  });
  address = `templates/${id}/design`;
});

async function opened(look: Look): Promise<Page> {
  const page = await site.signedIn(look);
  await site.show(page, address);
  await labelDrawn(page);
  return page;
}

/** Whether everything visible in a bar stands in one line. */
async function isOneLine(page: Page, bar: '.tools' | '.view-bar'): Promise<boolean> {
  return Boolean(
    await page.evaluate(`(() => {
      const seen = [...document.querySelectorAll('${bar} :is(button, select, .status)')]
        .map((one) => one.getBoundingClientRect()).filter(({ height }) => height > 0);
      return seen.length >= 5 && Math.max(...seen.map(({ top }) => top)) < Math.min(...seen.map(({ bottom }) => bottom));
    })()`),
  );
}

const GROUPS = {
  en: [
    'Add',
    'Undo and redo',
    'Chosen elements',
    'Align',
    'Distribute',
    'Before and behind',
    'Groups',
    'View',
  ],
  de: [
    'Einfügen',
    'Rückgängig und wiederholen',
    'Gewählte Elemente',
    'Ausrichten',
    'Verteilen',
    'Vor und hinter',
    'Gruppen',
    'Ansicht',
  ],
};

test.each([
  { width: 1_440, locale: 'en-GB', scheme: 'light' },
  { width: 1_440, locale: 'de-DE', scheme: 'dark' },
  { width: 1_280, locale: 'en-GB', scheme: 'dark' },
  { width: 1_280, locale: 'de-DE', scheme: 'light' },
] as const)('both bars are one line, with every group in sight: %o', async (look) => {
  const page = await opened({ ...look, height: 900 });
  const names = GROUPS[look.locale === 'de-DE' ? 'de' : 'en'];
  const groups = page.locator('.bar .tool-group');
  await expect
    .poll(() => groups.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))))
    .toEqual(names);
  for (const group of await groups.all()) expect(await group.isVisible()).toBe(true);
  expect(await page.locator('.to-further').first().isVisible()).toBe(false);
  expect([await isOneLine(page, '.tools'), await isOneLine(page, '.view-bar')]).toEqual([true, true]);
  expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await barriers(page)).toEqual([]);
  await page.context().close();
});

test('each tool does what it says, in the bar and behind its button, by keyboard alone', async () => {
  const page = await opened({ width: 1_280, height: 800 });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const places = () =>
    page
      .locator('.thing')
      .evaluateAll((all) => all.map((one) => /at (.*?) mm/.exec(one.getAttribute('aria-label') ?? '')?.[1]));
  /** mm between the leftmost and the rightmost element. Texts are put in line by their dots. */
  const spread = async () => {
    const across = (await places()).map((place) => Number(place?.split(',')[0]));
    return Math.max(...across) - Math.min(...across);
  };
  const before = await places();
  expect(await button('Left edges').isDisabled()).toBe(true);
  await page.locator('.thing').first().focus();
  await page.keyboard.press('Control+a');
  await button('Left edges').click();
  await expect.poll(spread).toBeLessThan(1);
  await button('Undo').click();
  await expect.poll(places).toEqual(before);
  await button('Group').click();
  await expect.poll(() => button('Group').isDisabled()).toBe(true);
  await button('Ungroup').click();
  await expect.poll(() => button('Ungroup').isDisabled()).toBe(true);
  await button('Grid').click();
  await page.locator('path.grid').waitFor();
  expect(await button('Grid').getAttribute('aria-pressed')).toBe('true');
  await button('Grid').click();

  // At the width of a tablet the rest is behind a button, with words beside the icons.
  await page.setViewportSize({ width: 820, height: 1_180 });
  await expect.poll(() => button('Left edges').isVisible()).toBe(false);
  expect([await isOneLine(page, '.tools'), await isOneLine(page, '.view-bar')]).toEqual([true, true]);
  await button('More: Arrange').focus();
  await page.keyboard.press('Enter');
  await page.getByText('Equal gaps down', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await expect.poll(() => page.evaluate('document.activeElement?.title')).toBe('Left edges');
  await page.keyboard.press('Enter');
  await expect.poll(spread).toBeLessThan(1);
  // The popover stays open for the next tool.
  await page.keyboard.press('Escape');
  await expect.poll(() => button('Left edges').isVisible()).toBe(false);
  await expect.poll(() => page.evaluate('document.activeElement?.ariaLabel')).toBe('More: Arrange');
  await button('More: View').click();
  await page.getByLabel('Orientation').selectOption('landscape');
  await button('Grid').click();
  await page.locator('path.grid').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');

  // The properties of the selected element are on a sheet over the lower part of the page, below the label.
  await page.locator('.thing').first().focus();
  const sheet = page.getByRole('region', { name: 'Properties' });
  await sheet.getByLabel('Character height, mm').first().waitFor();
  const low = (await sheet.boundingBox()) ?? { x: 1, y: 0, width: 0, height: 0 };
  expect([low.x, low.width, low.y + low.height]).toEqual([0, 820, 1_180]);
  const label = (await page.locator('.stage-scroll').boundingBox()) ?? { y: 0, height: 1_180 };
  expect(label.y + label.height).toBeLessThanOrEqual(low.y);
  await page.context().close();
});

test.each(['light', 'dark'] as const)('on a phone, in German, everything is in reach: %s', async (scheme) => {
  const page = await opened({ width: 360, height: 740, locale: 'de-DE', scheme });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  for (const [opener, inside] of [
    ['Mehr: Anordnen', 'Gleiche Abstände hoch'],
    ['Mehr: Ansicht', 'Kennzeichnen, was ein ZPL-Drucker selbst zeichnet'],
  ] as const) {
    await page.getByRole('button', { name: opener }).click();
    const tool = page.getByRole('button', { name: inside });
    await tool.waitFor();
    const box = (await tool.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 };
    expect(box.x >= 0 && box.x + box.width <= 360 && box.y >= 0 && box.y + box.height <= 740).toBe(true);
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
  }
  await page.context().close();
});
