/** Every page is accessible, shows strangers' names as text, and fits the narrowest screen. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { alertMade } from '../../src/contract/alert.ts';
import { webhookTested } from '../../src/contract/webhook.ts';
import { barriers, overflow } from '../kit/browser/browser.ts';
import { HOSTILE, TEMPLATE } from '../kit/browser/console-site.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole({ mute: HOSTILE });
const addresses: string[] = [];
beforeAll(async () => {
  const { admin } = site.up;
  const source = '^XA^FO20,20^A0N,40^FD{{article}}^FS^XZ';
  const fields = [{ name: 'article', sample: 'Bolt' }];
  const raw = await admin.importTemplate('default', { name: 'Raw', language: 'zpl', source, fields });
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
  // A label has come out of the virtual printer.
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
    `templates/${raw.id}`,
    `templates/${raw.id}/design`,
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

async function each(page: Page, look: (address: string) => Promise<void>): Promise<void> {
  for (const address of addresses) {
    await site.show(page, address);
    await look(address);
  }
}

/** Words for machines, which must not stand where people read, unless they are marked as code. */
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
  const see = async (what: string) => {
    // Names arrive after the list that shows them.
    await expect.poll(() => wordsForMachines(page), { message: what }).toEqual([]);
    const wrong = [
      ...(await barriers(page)),
      ...((await overflow(page)) > 0 ? ['wider than the window'] : []),
    ];
    if (wrong.length > 0) found[what] = wrong;
  };
  await each(page, see);
  // The same goes for pages of people who are not signed in yet.
  const login = `kim-${look.width}-${look.scheme}`;
  const { url } = await site.up.admin.invite('default', { login, role: 'operator' });
  await page.context().clearCookies();
  for (const [what, address] of Object.entries({ invitation: url, 'sign-in': `${site.up.url}/console/` })) {
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('form').waitFor();
    await see(what);
  }
  expect(found).toEqual({});
  await page.context().close();
});

/** The kind of an address, whatever it shows: `templates/0198…/design` is `templates/ID/design`. */
function kindOf(address: string): string {
  const [path = ''] = address.replace(/^#?\/?/, '').split('?');
  return path
    .split('/')
    .map((part) => (/^[a-z]*$/.test(part) ? part : 'ID'))
    .join('/');
}

test('no page is forgotten here: each link of the console leads to one of these', async () => {
  const page = await site.signedIn();
  const kinds = new Set(addresses.map(kindOf));
  const led = new Set<string>();
  await each(page, async () => {
    const links = page.locator('a[href^="#/"]');
    for (const href of await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? '')))
      led.add(kindOf(href));
  });
  expect([...led].filter((kind) => !kinds.has(kind))).toEqual([]);
  // The only address without a link is the one to which nobody should be led.
  expect([...kinds].filter((kind) => !led.has(kind))).toEqual(['nowhere']);
  await page.context().close();
});

test.each([
  { scheme: 'light', width: 1440, height: 900, locale: 'en-GB' },
  { scheme: 'dark', width: 820, height: 1180, locale: 'en-GB' },
  { scheme: 'dark', width: 360, height: 740, locale: 'de-DE' },
] as const)('whatever asks before it acts keeps nobody out, and Escape ends it: %o', async (look) => {
  const page = await site.signedIn(look);
  const dialog = page.locator('dialog');
  const asked = new Set<string>();
  const found: Record<string, unknown[]> = {};
  /** Looks at what a button or an entry of a menu opens, once for all pages. */
  const open = async (name: string, press: () => Promise<void>) => {
    if (asked.has(name)) return;
    asked.add(name);
    await press();
    await dialog.waitFor();
    await dialog
      .getByText(/^(?:Loading|Lädt) …$/)
      .first()
      .waitFor({ state: 'detached' });
    const wrong = [...(await barriers(page)), ...((await overflow(page)) > 0 ? ['too wide'] : [])];
    if (wrong.length > 0) found[name] = wrong;
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  };
  await each(page, async (address) => {
    if (address === 'jobs') await page.locator('.pick-all').click();
    const asks = page.locator('main button:visible:not([role="menuitem"])', { hasText: / …$/ });
    for (const button of await asks.all())
      await open((await button.textContent()) ?? '', () => button.click());
    for (const menu of await page.locator('main button[aria-haspopup="menu"]:visible').all()) {
      await menu.click();
      const entries = page.getByRole('menuitem', { name: / …$/ });
      const names = await entries.allTextContents();
      await page.keyboard.press('Escape');
      for (const name of names)
        await open(name, async () => {
          await menu.click();
          await page.getByRole('menuitem', { name, exact: true }).click();
        });
    }
  });
  expect(found).toEqual({});
  expect(asked.size).toBeGreaterThan(20);
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
  // A job has two lines, so that people see several at once.
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
  // The jobs come first: all filters but the search are behind a button, which counts those that are set.
  const printers = page.getByLabel('Printer', { exact: true });
  expect(await printers.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await printers.selectOption('virtual-1');
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  expect(await printers.isVisible()).toBe(false);
  // The label and the button that prints it can be seen without scrolling.
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

test('every page is reached and used with the keyboard alone', async () => {
  const page = await site.signedIn();
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  const keys = [
    ['j', 'Jobs'],
    ['d', 'Print'],
    ['h', 'To decide'],
    ['p', 'Printers'],
    ['n', 'Agents'],
    ['t', 'Templates'],
    ['i', 'Integrations'],
    ['w', 'Webhooks'],
    ['m', 'Alerts'],
    ['e', 'People'],
    ['a', 'Audit'],
    ['c', 'admin'],
    ['s', 'Start'],
  ] as const;
  for (const [key, title] of keys) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    // The focus begins at the heading of the page that opens.
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1');
  }
  // Each page has its own title, which the tab shows.
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
  // A click anywhere in a row opens it, and a letter leads from row to row, even from a checkbox.
  await site.show(page, 'jobs');
  const cell = await page
    .getByRole('cell', { name: /ago|just now/ })
    .first()
    .boundingBox();
  await page.mouse.click((cell?.x ?? 0) + 5, (cell?.y ?? 0) + 5);
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  await site.show(page, 'jobs');
  // The page's keys work in a choice, too, if none of its options begins with their letter.
  await page.getByLabel('Template', { exact: true }).focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('tbody input').first().focus();
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  // The cards of printers open in the same way, and the buttons in them still work.
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
  // There are no other letters.
  expect(await page.locator('dialog dd', { hasText: /^Go to / }).count()).toBe(keys.length);
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor({ state: 'detached' });

  // A menu opens with the focus on its first entry.
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

test('all that can be used on any page comes in turn by Tab, and shows that it has the focus', async () => {
  const page = await site.signedIn();
  const missed: Record<string, string[]> = {};
  await each(page, async (address) => {
    await page.evaluate(`{
      const all = document.querySelectorAll('main :is(a, button, input, select, textarea, summary)');
      window.left = new Set([...all].filter((one) =>
        one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0));
      document.querySelector('.skip').focus();
    }`);
    // Tab leads through the navigation into the page, until it leaves the page again.
    for (let where = 'before'; where !== 'behind'; ) {
      await page.keyboard.press('Tab');
      const isIn = await page.evaluate(`(() => {
        const now = document.activeElement;
        if (getComputedStyle(now).outlineStyle !== 'none') window.left.delete(now);
        return now.closest('main') !== null;
      })()`);
      if (isIn === true) where = 'in it';
      else if (where === 'in it') where = 'behind';
    }
    const left = z.array(z.string());
    const found = left.parse(await page.evaluate('[...window.left].map((one) => one.outerHTML)'));
    if (found.length > 0) missed[address] = found;
  });
  expect(missed).toEqual({});
  await page.context().close();
});
