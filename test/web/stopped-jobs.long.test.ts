/** Whoever stops jobs is told what may still come out, and then what did come out, whatever page they are on by then. */
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { barriers, overflow, PATIENTLY } from '../kit/browser/browser.ts';
import { useConsole } from '../kit/browser/use-console.ts';
import { MUTE } from '../kit/service/mute-printer.ts';
import { platen } from '../kit/service/platen.ts';

const site = useConsole({ args: ['--virtual', '2'] });
let page: Page;
beforeAll(async () => {
  page = await site.withTemplate();
});
afterEach(() => fault('clear'));

const button = (name: string | RegExp) => page.getByRole('button', { name });
const dialog = () => page.getByRole('dialog');
const fault = (...words: string[]) =>
  platen(['virtual', 'fault', 'virtual-1', ...words, '--data', site.dataDir]);

/** Prints a job, and switches the printer off before it is done. @returns its ID, and how many labels were sent and came out */
async function cutOff(number: string) {
  const { admin } = site.up;
  const job = await site.print('virtual-1', [number], 40);
  await expect.poll(async () => (await admin.job(job)).labels.printed, PATIENTLY).toBeGreaterThan(0);
  await fault('power-off');
  await expect.poll(async () => (await admin.job(job)).reasons, PATIENTLY).toContain('offline');
  const { sent, printed } = (await admin.job(job)).labels;
  expect(sent).toBeGreaterThan(printed);
  return { job, sent, printed };
}

test('on the card of a job that was just sent: what is still in the printer, and what came out', async () => {
  // The printer is slow, so that there is time to see a label in it.
  await fault('slow=4000');
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf('virtual-1')}`);
  await page.getByLabel('article', { exact: true }).fill('Nut');
  await page.getByLabel('number', { exact: true }).fill('700001');
  await page.getByLabel('Copies').fill('12');
  await button('Print 12 labels').click();
  await button('Print anyway').click();
  await page.getByText('Its agent prints it. Nobody has to do anything.').waitFor();
  await page.getByText(/^[1-9]\d* of 12$/).waitFor();
  await button('Cancel …').click();
  await dialog()
    .getByText(/^\d+ labels? (?:was|were) sent to the printer already, and may still come out\.$/)
    .waitFor();
  // The card counts down how many labels are still in the printer.
  await page.evaluate(`{
    window.stillIn = [];
    const look = () => {
      const [, count] = /Stopping: (\\d+) label/.exec(document.body.textContent) ?? [];
      if (count !== undefined && count !== window.stillIn.at(-1)) window.stillIn.push(count);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  }`);
  await button('Cancel the job').click();
  await page.getByText(/^Stopping: \d+ labels? (?:is|are) still in the printer\./).waitFor();
  const told = page.getByText(/^Bin label has stopped at virtual-1: \d+ out, \d+ not\./);
  await told.waitFor();
  const [, out, not] = /: (\d+) out, (\d+) not/.exec((await told.textContent()) ?? '') ?? [];
  expect(Number(out) + Number(not)).toBe(12);
  const counted = z.array(z.coerce.number()).parse(await page.evaluate('window.stillIn'));
  expect(counted).toEqual(counted.toSorted((a, b) => b - a));
  await page.getByText(`${out} out, ${not} not`, { exact: true }).waitFor();
  await page.getByText('Nothing more of it will be printed.').waitFor();
});

test('labels that may be out are said on that card, with the way to decide, at every width and in German', async () => {
  const { job, sent, printed } = await cutOff('700002');
  const card = `print?template=${site.idT}&printer=${site.idOf('virtual-1')}&job=${job}`;
  await site.show(page, card);
  await page.getByText(/^Waiting: not reached$/).waitFor();
  await button('Cancel …').click();
  await button('Cancel the job').click();
  // Whoever has gone to another page meanwhile is told there.
  await site.show(page, 'printers');
  const told = page.getByText(
    `Bin label has stopped at virtual-1: ${printed} out, ${sent - printed} uncertain, ${40 - sent} not.`,
  );
  await told.getByRole('link', { name: 'Open it' }).click(PATIENTLY);
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  // Among its labels the uncertain ones are marked, and are the first to be seen.
  const doubt = page.locator('.strip figure.doubt');
  const marked = Math.min(sent - printed, 7);
  await expect.poll(() => doubt.count()).toBe(marked);
  expect(await doubt.getByText('uncertain', { exact: true }).count()).toBe(marked);
  await doubt.getByRole('link', { name: `Label ${printed + 1}, uncertain` }).waitFor();
  await page
    .getByRole('link', { name: `Label ${printed}`, exact: true })
    .first()
    .waitFor();
  expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  // In lists the job is amber, and it is among those to decide about, which the navigation and the start page count.
  await site.show(page, '');
  await page.getByRole('link', { name: '1 To decide', exact: true }).click();
  const row = page.getByRole('row', { name: new RegExp(`Canceled\\s*${sent - printed} uncertain`) });
  await row.locator('.badge.warn').waitFor();
  expect((await row.boundingBox())?.height).toBeLessThanOrEqual(41);
  await page
    .getByRole('link', { name: /^To decide\s*1$/ })
    .and(page.locator('[aria-current="true"]'))
    .waitFor();
  for (const look of [
    { width: 360, height: 740, scheme: 'dark', locale: 'de-DE' },
    { width: 820, height: 1_180 },
    { width: 1_440, height: 900 },
  ] as const) {
    const other = await site.signedIn(look);
    await site.show(other, card);
    const german = 'locale' in look;
    await other.getByText(german ? 'sind vielleicht heraus' : 'may be out or not').waitFor();
    expect([await barriers(other), await overflow(other)]).toEqual([[], 0]);
    await other.getByRole('link', { name: german ? 'Entscheiden' : 'Decide', exact: true }).click();
    await other.getByRole('heading', { level: 2 }).first().waitFor();
    expect(other.url()).toContain(`#/held/${job}`);
    await other.context().close();
  }
});

test('what waits for a person after it was printed is amber on that card, and leads to the decision', async () => {
  const held = await site.print(MUTE, ['700003']);
  await site.up.ended(held);
  await site.show(page, `print?template=${site.idT}&printer=${site.idOf(MUTE)}&job=${held}`);
  const next = page.getByRole('region', { name: 'What happens next' });
  await next.getByText('Somebody has to look at the printer and decide.').waitFor();
  expect(await page.locator('main .note.bad, main .badge.bad').count()).toBe(0);
  await next.locator('.note.warn').getByRole('link', { name: 'Decide' }).click();
  await page.getByRole('heading', { name: 'Is label 1 out?' }).waitFor();
});

test('of many uncertain labels all can be seen, and one in their middle is the first that is missing', async () => {
  const held = await site.print(MUTE, ['700006'], 20);
  await site.up.ended(held);
  await site.show(page, `held/${held}`);
  const labels = page.locator('.strip img');
  expect(await labels.count()).toBe(12);
  await button('… show 8 more between them').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => labels.count()).toBe(20);
  await button('Label 11').focus();
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('The first that is missing').inputValue()).toBe('11');
  await page.getByText('It prints on from label 11: 10 labels in all.').waitFor();
  expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  await button('Mark as done: They are all there').click();
  await page.getByText('Every label is out. Nothing more happens.').waitFor();
});

test('of a job that is stopped in doubt the uncertain labels are chosen already, to be printed again', async () => {
  const held = await site.print(MUTE, ['700007'], 3);
  await site.up.ended(held);
  await site.show(page, `held/${held}`);
  await button('Cancel …').click();
  await button('Cancel the job').click();
  await page.getByText('The job is canceled: 0 out, 3 uncertain.').waitFor();
  await site.show(page, `jobs/${held}`);
  await button('Print again …').click();
  expect(await dialog().getByLabel('Which labels').inputValue()).toBe('1-3');
  for (const label of ['Label 1', 'Label 2', 'Label 3'])
    expect(await dialog().getByRole('button', { name: label }).getAttribute('aria-pressed')).toBe('true');
  expect(await dialog().getByText('uncertain', { exact: true }).count()).toBe(3);
  await dialog().getByRole('button', { name: 'Label 1' }).click();
  await dialog().getByRole('button', { name: 'Print 2 labels' }).waitFor();
  await page.keyboard.press('Escape');
});

test('a cleared lane says what was canceled, what is being stopped, and what came out of that', async () => {
  const { job, sent, printed } = await cutOff('700004');
  await site.print('virtual-1', ['700005']);
  await site.show(page, `printers/${site.idOf('virtual-1')}`);
  // The page is loaded again, because a message about another job may have the same numbers.
  await page.reload();
  await button('More: virtual-1').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Clear the lane …' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel(/^Also stop the job in progress/).focus();
  await page.keyboard.press('Space');
  await page.getByText(/^2 jobs, not out yet/).waitFor();
  await dialog()
    .getByRole('button', { name: /^Cancel/ })
    .last()
    .focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 job canceled. 1 job is being stopped.').waitFor();
  await page
    .getByText(
      `Bin label has stopped at virtual-1: ${printed} out, ${sent - printed} uncertain, ${40 - sent} not.`,
    )
    .waitFor(PATIENTLY);
  expect(await site.up.admin.job(job)).toMatchObject({ status: 'canceled' });
});
