/** Each page by itself: nobody is kept out of it, strangers' names are text, and it fits the narrowest screen. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { alertMade } from '../../src/contract/alert.ts';
import { webhookTested } from '../../src/contract/webhook.ts';
import { barriers, overflow } from '../kit/browser/browser.ts';
import { ConsoleSite, HOSTILE, TEMPLATE } from '../kit/browser/console-site.ts';

let site: ConsoleSite;
const addresses: string[] = [];
beforeAll(async () => {
  site = await ConsoleSite.start({ mute: HOSTILE });
  const { admin } = site.up;
  const { id } = await admin.importTemplate('default', {
    ...TEMPLATE,
    name: `Bin ${HOSTILE}`,
    fields: [{ name: HOSTILE, sample: HOSTILE, default: HOSTILE }],
    elements: [
      { type: 'text', x: 3, y: 3, width: 54, height: 20, size: 4, text: '{{article}}', overflow: 'wrap' },
    ],
  });
  const held = await admin.print('default', { idT: id, printer: HOSTILE, data: [{ [HOSTILE]: HOSTILE }] });
  await site.up.ended(held);
  await admin.createIntegration('default', { name: HOSTILE });
  const webhook = await site.webhook(`https://127.0.0.1/${HOSTILE}`);
  const to = `https://127.0.0.1/${HOSTILE}`;
  const { id: alert } = await admin.alerts(alertMade, 'POST', 'default', { form: 'chat', to });
  await admin.webhooks(webhookTested, 'POST', 'default', `/${alert}/test`);
  const printer = (await admin.printers()).find(({ name }) => name === HOSTILE)?.id ?? '';
  const virtual = (await admin.printers()).find(({ name }) => name === 'virtual-1')?.id ?? '';
  // Something has come out of it.
  await site.up.ended(
    await admin.print('default', { idT: id, printer: 'virtual-1', data: [{ [HOSTILE]: 'x' }] }),
  );
  addresses.push(
    '',
    'print',
    `print?template=${id}&printer=${encodeURIComponent(printer)}`,
    'jobs',
    `jobs/${held}`,
    'held',
    `held/${held}`,
    'printers',
    'printers/wall',
    'agents',
    `printers/${encodeURIComponent(printer)}`,
    'templates',
    `templates/${id}`,
    `templates/${id}/design`,
    'templates/new',
    `printers/${encodeURIComponent(virtual)}`,
    'integrations',
    'webhooks',
    `webhooks/${webhook}`,
    'alerts',
    `alerts/${alert}`,
    'people',
    'audit',
    'account',
    'nowhere',
  );
});
afterEach(() => expect(site.faults.splice(0)).toEqual([]));
afterAll(() => site?.stop());

async function each(page: Page, look: (address: string) => Promise<void>): Promise<void> {
  for (const address of addresses) {
    await site.show(page, address);
    await look(address);
  }
}

/** What is for machines, where people read: it may stand there as code. */
const FOR_MACHINES: Readonly<Record<string, RegExp>> = {
  'a whole ID': /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
  'a key': /\bpk_\w+/,
  'a permission': /\b(?:jobs|labels|templates|printers|tenants):[a-z]+\b/,
  'a JSON pointer': /(?:^|\s)\/(?:data|elements|fields|images|fonts|source)\b/,
  'a word of the wire': /payload|nutzlast|\boldForHours\b|\b(?:media-empty|cover-open|jobs?\.[a-z]+)\b/i,
  'a command line': /\b(?:platen|npm|apt) (?:up|user|agent|console|tenant|job|run|start|install)\b/,
};

async function wordsForMachines(page: Page): Promise<string[]> {
  const text = String(
    await page.evaluate(`(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const read = [];
      while (texts.nextNode()) {
        const { parentElement, data } = texts.currentNode;
        if (parentElement.closest('code, pre, dd, td.mono, script, style') === null) read.push(data);
      }
      return read.join(' ');
    })()`),
  );
  return Object.entries(FOR_MACHINES).flatMap(([what, is]) => {
    const [says] = is.exec(text) ?? [];
    return says === undefined ? [] : [`${what}: ${says}`];
  });
}

test.each([
  { scheme: 'light', width: 1440, height: 900, locale: 'en-GB' },
  { scheme: 'dark', width: 1440, height: 900, locale: 'de-DE' },
  { scheme: 'dark', width: 820, height: 1180, locale: 'en-GB' },
  { scheme: 'light', width: 820, height: 1180, locale: 'de-DE' },
  { scheme: 'light', width: 360, height: 740, locale: 'en-GB' },
  { scheme: 'dark', width: 360, height: 740, locale: 'de-DE' },
] as const)('nothing keeps anybody out, all of it fits and is for people: %o', async (look) => {
  const page = await site.signedIn(look);
  const found: Record<string, unknown[]> = {};
  await each(page, async (address) => {
    // Names come after the list that they are in.
    await expect.poll(() => wordsForMachines(page), { message: address }).toEqual([]);
    const wrong = [
      ...(await barriers(page)),
      ...((await overflow(page)) > 0 ? ['wider than the window'] : []),
    ];
    if (wrong.length > 0) found[address] = wrong;
  });
  expect(found).toEqual({});
  await page.context().close();
});

test('what strangers wrote is text on every page, and is there to be read', async () => {
  const page = await site.signedIn();
  const named: string[] = [];
  await each(page, async (address) => {
    expect(await page.locator('img[src="x"]').count(), address).toBe(0);
    if ((await page.getByText(HOSTILE).count()) > 0) named.push(address.split(/[/?]/)[0] ?? '');
  });
  expect([...new Set(named)].sort()).toEqual(
    expect.arrayContaining(['', 'held', 'integrations', 'jobs', 'printers', 'templates']),
  );
  await page.context().close();
});

test('every page fits 320 points and keeps nobody out there, in German too', async () => {
  const page = await site.signedIn({ width: 320, height: 700, locale: 'de-DE' });
  // Two lines for a job, so that several can be seen at once.
  await site.show(page, 'jobs');
  const row = page.locator('tbody tr', { hasText: 'virtual-1' });
  expect((await row.boundingBox())?.height).toBeLessThan(80);
  await each(page, async (address) => {
    expect([address, await overflow(page), await barriers(page)]).toEqual([address, 0, []]);
  });
  expect(await page.locator('html').getAttribute('lang')).toBe('de');
  await page.context().close();
});

test('on the narrowest page, too, all jobs that are shown are chosen by one click, at its words', async () => {
  const page = await site.signedIn({ width: 320, height: 700 });
  await site.show(page, 'jobs');
  await page.getByText('Choose all that are shown').click();
  await page.getByText('2 jobs chosen').waitFor();
  expect(await overflow(page)).toBe(0);
  // The jobs come first: all filters but the search are behind a button, which counts them.
  const printers = page.getByLabel('Printer', { exact: true });
  expect(await printers.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await printers.selectOption('virtual-1');
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  expect(await printers.isVisible()).toBe(false);
  // The label and the button that prints it are there without scrolling.
  const print = addresses.find((address) => address.startsWith('print?')) ?? '';
  await site.show(page, print);
  const reach = page.getByRole('button', { name: 'Print 1 label' });
  const seen = await reach.boundingBox();
  expect((seen?.y ?? 0) + (seen?.height ?? 0)).toBeLessThanOrEqual(700);
  await page.getByRole('button', { name: 'To the preview' }).click();
  const picture = page.getByRole('region', { name: 'Preview' }).getByRole('img');
  await expect.poll(async () => (await picture.boundingBox())?.y ?? 9_999).toBeLessThan(600);
  expect(await overflow(page)).toBe(0);
  await page.context().close();
});

test('a webhook is made, shows its secret once, is tested, rotated and deleted', async () => {
  const page = await site.signedIn();
  const dialog = page.getByRole('dialog');
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
  await site.show(page, 'webhooks');
  await page.getByRole('button', { name: 'New webhook …' }).click();
  await dialog.getByRole('textbox').fill('http://127.0.0.1/new');
  await press('Create');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('textbox').fill('https://127.0.0.1/new');
  await press('Create');
  const secret = dialog.getByText(/^whsec_/);
  const first = await secret.textContent();
  expect(await barriers(page)).toEqual([]);
  await press('I have kept it');
  await page.getByRole('link', { name: 'https://127.0.0.1/new' }).click();
  await page.getByRole('heading', { name: '127.0.0.1', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send a test …' }).click();
  await press('Send');
  await page.getByText('the address is not a public one').waitFor();
  await page.getByRole('button', { name: 'More: Test' }).click();
  await page.getByRole('menuitem', { name: 'Send again …' }).click();
  await press('Send');
  await page.getByText('One message is sent again').waitFor();
  const menu = page.getByRole('button', { name: 'More: https://127.0.0.1/new' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'New secret …' }).click();
  await press('New secret');
  await secret.waitFor();
  expect(await secret.textContent()).not.toBe(first);
  await press('I have kept it');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await press('Delete');
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'https://127.0.0.1/new' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('somebody is told in a chat what needs somebody: made, tested, and told no more', async () => {
  const page = await site.signedIn();
  const dialog = page.getByRole('dialog');
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
  await site.show(page, 'alerts');
  await page.getByRole('button', { name: 'Tell somebody …' }).click();
  await dialog.getByLabel('Mail address').fill('hall@example.com');
  await press('Create');
  await dialog.getByText('this service sends no mail').waitFor();
  await dialog.getByLabel('How').selectOption({ label: 'Slack or Mattermost' });
  await dialog.getByLabel('Address that the chat gave out').fill('https://[::1]/services/a-secret');
  // Whatever else there is to be told of, these two are chosen.
  const chosen = ['A printer needs somebody', 'Jobs wait for a decision'];
  const kinds = dialog.getByRole('group', { name: 'What' }).locator('label');
  for (const name of await kinds.allInnerTexts())
    await dialog.getByLabel(name, { exact: true }).setChecked(chosen.includes(name));
  await dialog.getByLabel('Minutes that it has to last').fill('10');
  await dialog.getByLabel('Quiet hours').check();
  await dialog.getByLabel('From').fill('21:30');
  expect(await barriers(page)).toEqual([]);
  await press('Create');
  const row = page.getByRole('row', { name: /\[::1\].*Slack/ });
  for (const words of [
    'A printer needs somebody and Jobs wait for a decision',
    '10 minutes',
    'Quiet from 21:30 to 06:00',
  ])
    await row.getByText(words).waitFor();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: '[::1]', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send a test …' }).click();
  await press('Send');
  await page.getByText('the address is not a public one').waitFor();
  // The rest of the address is a secret.
  expect(await page.content()).not.toContain('a-secret');
  await page.getByRole('button', { name: 'More: [::1]' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await dialog.getByRole('heading', { name: 'Tell them no more?' }).waitFor();
  await press('Delete');
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
  await row.waitFor({ state: 'detached' });
  await page.context().close();
});

test('every page is reached and used with the keyboard alone', async () => {
  const page = await site.signedIn();
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  for (const [key, title] of [
    ['j', 'Jobs'],
    ['d', 'Print'],
    ['h', 'To decide'],
    ['p', 'Printers'],
    ['t', 'Templates'],
    ['i', 'Integrations'],
    ['w', 'Webhooks'],
    ['m', 'Alerts'],
    ['e', 'People'],
    ['a', 'Audit'],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    // Where one comes to, one begins.
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1');
  }
  // Each page has a title of its own, which the tab shows.
  const titles = new Set<string>();
  for (const address of [
    '',
    'print',
    'jobs',
    'held',
    'printers',
    'templates',
    'people',
    'audit',
    'nowhere',
  ]) {
    await site.show(page, address);
    titles.add(await page.title());
  }
  expect(titles.size).toBe(9);
  // A row is opened by a click anywhere in it, and from row to row it goes by a letter, also from a checkbox.
  await site.show(page, 'jobs');
  const cell = await page
    .getByRole('cell', { name: /ago|just now/ })
    .first()
    .boundingBox();
  await page.mouse.click((cell?.x ?? 0) + 5, (cell?.y ?? 0) + 5);
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  await site.show(page, 'jobs');
  // Keys of the page work in a list, too, where no entry begins with their letter.
  await page.getByLabel('Template', { exact: true }).focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('tbody input').first().focus();
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  // So are the cards of printers, with the buttons in them as they are.
  await site.show(page, 'printers');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'virtual-1' }) });
  await card.getByText(/ today$/).click({ force: true });
  await page.getByRole('heading', { name: 'virtual-1', level: 1 }).waitFor();
  await site.show(page, 'printers');
  await card.getByRole('button', { name: /^More: / }).click();
  await page.getByRole('menuitem', { name: 'Rename …' }).waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${site.up.url}/console/nonsense`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(page.url()).toBe(`${site.up.url}/console/#/nonsense`);
  await expect.poll(() => page.title()).toMatch(/ · Platen$/);
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor({ state: 'detached' });

  // All that can be clicked comes in turn, and shows that it has the focus.
  await site.show(page, 'printers');
  await page.getByRole('link', { name: 'virtual-1' }).waitFor();
  const clickable = await page.locator('main :is(a, button, input, select):visible').count();
  const reached = new Set<string>();
  for (let step = 0; step < clickable + 30; step += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(`(() => {
      const now = document.activeElement;
      const all = [...document.querySelectorAll('main :is(a, button, input, select)')];
      const seen = now && getComputedStyle(now).outlineStyle !== 'none';
      return all.includes(now) && seen ? String(all.indexOf(now)) : '';
    })()`);
    if (typeof at === 'string' && at !== '') reached.add(at);
  }
  expect(reached.size).toBe(clickable);

  // A menu opens, and its first thing has the focus.
  await site.show(page, 'templates');
  await page
    .getByRole('button', { name: /^More: / })
    .first()
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename …' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement?.role')).toBe('menuitem');
  await page.keyboard.press('Escape');
  await page.context().close();
});
