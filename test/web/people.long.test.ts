/** Signing in without a password, in a real browser: at a real OpenID provider, and with a passkey of its own authenticator. */
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CONSOLE_HEADER } from '../../src/contract/people.ts';
import { barriers, type Look, overflow } from '../kit/browser/browser.ts';
import { usePages } from '../kit/browser/use-console.ts';
import { codeOf, PRINTER, ServiceHarness } from '../kit/service/harness.ts';
import { OpenIdProvider } from '../kit/service/openid-provider.ts';
import { PASSWORD, SignedIn } from '../kit/service/signed-in.ts';

const CALLBACK = '/app/session/provider/callback';

/** An authenticator that keeps its keys, as phones do, and whose owner agrees at once. */
const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  automaticPresenceSimulation: true,
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
} as const;

const newPage = usePages();
let provider: OpenIdProvider;
let service: ServiceHarness;
/** The service's address with a host name, as browsers need it for passkeys. */
let named: string;

beforeAll(async () => {
  provider = await OpenIdProvider.start();
  const { url: issuer, clientId, clientSecret } = provider;
  const singleSignOn = { issuer, clientId, clientSecret, tenant: 'acme', name: 'Works' };
  service = await ServiceHarness.start({ config: { singleSignOn } });
  named = service.url.replace('127.0.0.1', 'localhost');
  provider.serve([named + CALLBACK]);
  await service.tenant('acme');
  await service.agent([{}]);
});
afterAll(async () => {
  await service?.stop();
  await provider?.stop();
});

async function open(address = '', look: Look = {}, at = named): Promise<Page> {
  const page = await newPage(look);
  await page.goto(`${at}/console/#/${address}`);
  await page.locator('h1').waitFor();
  return page;
}

async function byPassword(page: Page, login: string): Promise<void> {
  await page.getByLabel('Workspace').fill('acme');
  await page.getByLabel('Name or e-mail address').fill(login);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('nav').first().waitFor();
}

/** Sends a request to that address. @returns the problem's code */
async function post(path: string, body: unknown, cookie = ''): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json', [CONSOLE_HEADER]: '1', cookie };
  const answer = await fetch(named + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return z.object({ code: z.string() }).safeParse(await answer.json()).data?.code;
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

describe('single sign-on', () => {
  const asSomebody = async (page: Page, who: string) => {
    await page.getByLabel('Name', { exact: true }).fill(who);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  test('leads to the provider and back to the page where one was; signed out, the provider asks again', async () => {
    await service.admin('POST', '/tenants/acme/people', {
      login: 'ann@example.com',
      name: 'Ann',
      role: 'operator',
    });
    provider.people.set('ann', { email: 'ann@example.com', email_verified: true });
    const page = await open('printers');
    await button(page, 'Sign in with Works').click();
    await asSomebody(page, 'ann');
    await heading(page, 'Printers');
    expect(page.url()).toBe(`${named}/console/#/printers`);
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'platen-session');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    await page.goto(`${named}/console/#/account`);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await button(page, 'Sign in with Works').click();
    // The provider still knows the person, but somebody else may stand here now.
    await page.getByLabel('Name', { exact: true }).waitFor();
    await asSomebody(page, 'ann');
    await heading(page, 'Ann');
    await page.context().close();
  });

  test('says in words why somebody does not come in', async () => {
    provider.people.set('eve', { email: 'eve@example.com', email_verified: true });
    const page = await open();
    await button(page, 'Sign in with Works').click();
    await asSomebody(page, 'eve');
    await page.getByText('You are known, but not invited to this workspace.').waitFor();
    expect(page.url()).toBe(`${named}/console/#/`);
    // The provider knows her by now and leads her back at once. The page there looks the same, so this one is marked.
    await page.evaluate("document.body.setAttribute('data-before', '')");
    await button(page, 'Sign in with Works').click();
    const after = page.locator('body:not([data-before])');
    await after.getByText('You are known, but not invited to this workspace.').waitFor();
    await page.context().clearCookies();
    await button(page, 'Sign in with Works').click();
    await asSomebody(page, 'nobody');
    await page.getByText('The sign-in was canceled.').waitFor();
    await page.context().close();
  });
});

describe('a passkey', () => {
  let page: Page;
  let cdp: CDPSession;
  let authenticatorId: string;
  beforeAll(async () => {
    await SignedIn.as(service, 'acme', 'operator', 'pat');
    page = await open();
    cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    ({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR }));
  });
  afterAll(() => page?.context().close());

  const signOut = async () => {
    await page.goto(`${named}/console/#/account`);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await heading(page, 'Sign in');
  };
  const byPasskey = () => button(page, 'Sign in with a passkey').click();
  const stored = async () => {
    const [found] = (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    if (found === undefined) throw new Error('the authenticator has no passkey');
    return found;
  };
  /** Sends a request of the page again, as it was. */
  const again = async (path: string, work: () => Promise<void>) => {
    const sent = page.waitForRequest((request) => new URL(request.url()).pathname === path);
    await work();
    const body: unknown = (await sent).postDataJSON();
    return () => post(path, body);
  };

  test('is added with the password, and signs in from then on', async () => {
    await byPassword(page, 'pat');
    await page.goto(`${named}/console/#/account`);
    await button(page, 'Add a passkey …').click();
    await page.getByLabel('What do you call it?').fill('My finger');
    const current = page.getByRole('dialog').getByLabel('Current password');
    await current.fill('not the password');
    await button(page, 'Add').last().click();
    await page.getByText('The current password is another one.').waitFor();
    await current.fill(PASSWORD);
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByText('last used never').waitFor();
    expect(await stored()).toMatchObject({ isResidentCredential: true, rpId: 'localhost' });
    await signOut();
    await byPasskey();
    await heading(page, 'pat');
    const entry = (await service.admin('GET', '/audit?tenant=acme&limit=3')).text;
    expect(entry).toContain('session.sign-in-by-passkey');
    expect(entry).toContain('passkey.add');
  });

  test('is asked for its signature once: what was sent signs nobody in a second time', async () => {
    await signOut();
    const repeat = await again('/app/session/passkey', async () => {
      await byPasskey();
      await heading(page, 'pat');
    });
    expect(await repeat()).toBe('passkey-refused');
    await signOut();
    // A challenge that has waited too long is not taken.
    await page.route('**/app/session/passkey', async (route) => {
      await service.pool.query(`UPDATE platen.passkey_challenges SET expires_at = now()`);
      await route.continue();
    });
    await byPasskey();
    await page.getByText('This passkey signs nobody in here any more.').waitFor();
    await page.unroute('**/app/session/passkey');
    await byPasskey();
    await heading(page, 'pat');
  });

  test('that has been copied is refused: it counts backwards', async () => {
    await signOut();
    const credential = await stored();
    expect(credential.signCount).toBeGreaterThan(1);
    const { credentialId } = credential;
    const replace = async (signCount: number) => {
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
      await cdp.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: { ...credential, signCount },
      });
    };
    await replace(0);
    await byPasskey();
    await page.getByText('This passkey signs nobody in here any more.').waitFor();
    await replace(credential.signCount + 10);
    await byPasskey();
    await heading(page, 'pat');
  });

  test('is its person’s alone: nobody else lists, removes or registers it', async () => {
    const other = await SignedIn.as(service, 'acme', 'admin', 'other');
    const id = (await stored()).credentialId.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    expect((await other.call('/app/session/passkeys')).body).toEqual([]);
    const path = `/app/session/passkeys/${encodeURIComponent(id)}`;
    expect(codeOf(await other.call(path, { method: 'DELETE' }))).toBe('passkey-not-found');
    const own = z.array(z.object({ id: z.string() }));
    const listed = await page.evaluate("fetch('/app/session/passkeys').then((answer) => answer.json())");
    expect(own.parse(listed)).toEqual([expect.objectContaining({ id })]);
    // Nobody can turn a session that was left open into a lasting way in.
    const asked = (body: object) => post('/app/session/passkeys/options', body, other.cookie);
    expect([await asked({}), await asked({ current: 'wrong' })]).toEqual([
      'password-wrong',
      'password-wrong',
    ]);
  });

  test('signs nobody in once it is removed', async () => {
    await page.goto(`${named}/console/#/account`);
    await button(page, 'Remove … My finger').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await button(page, 'Remove … My finger').waitFor({ state: 'detached' });
    await signOut();
    await byPasskey();
    await page.getByText('This passkey signs nobody in here any more.').waitFor();
  });
});

test('a passkey ends with its person: open pages, and every later sign-in, also once they are invited again', async () => {
  const person = await SignedIn.as(service, 'acme', 'operator', 'leaver');
  const page = await open();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
  await byPassword(page, 'leaver');
  await page.goto(`${named}/console/#/account`);
  await button(page, 'Add a passkey …').click();
  await page.getByLabel('What do you call it?').fill('Leaving');
  await page.getByRole('dialog').getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('last used never').waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await button(page, 'Sign in with a passkey').click();
  await heading(page, 'leaver');

  const passkeys = async () =>
    (await service.pool.query('SELECT FROM platen.passkeys WHERE person_id = $1', [person.id])).rowCount;
  await expect.poll(() => passkeys()).toBe(1);
  const revoked = await service.admin('DELETE', `/tenants/acme/people/${person.id}`);
  expect(revoked.status).toBeLessThan(300);
  await expect.poll(() => passkeys()).toBe(0);
  // Both the other session and that of the open page have ended.
  expect(codeOf(await person.call('/app/session'))).toBe('session-ended');
  await page.goto(`${named}/console/#/jobs`);
  await heading(page, 'Sign in');
  const refused = async () => {
    await button(page, 'Sign in with a passkey').click();
    await page.getByText('This passkey signs nobody in here any more.').waitFor();
    await page.reload();
    await heading(page, 'Sign in');
  };
  await refused();
  // Whoever comes back under this login may be somebody else.
  const again = await SignedIn.as(service, 'acme', 'operator', 'leaver');
  expect(again.id).toBe(person.id);
  await refused();
  expect((await again.call('/app/session/passkeys')).body).toEqual([]);
  await page.context().close();
});

test('at an IP address there are no passkeys, and the page says what they need', async () => {
  await SignedIn.as(service, 'acme', 'viewer', 'ip');
  const page = await open('account', {}, service.url);
  await page.getByRole('button', { name: 'Sign in with Works' }).waitFor();
  expect(await button(page, 'Sign in with a passkey').count()).toBe(0);
  await byPassword(page, 'ip');
  await page.goto(`${service.url}/console/#/account`);
  await page.getByText('Passkeys need https').waitFor();
  const answer = await service.call('/app/session/passkey/options', {
    body: {},
    headers: { [CONSOLE_HEADER]: '1' },
  });
  expect(codeOf(answer)).toBe('passkeys-unavailable');
  await page.context().close();
});

test('an integration gets a second secret, and loses the first', async () => {
  await SignedIn.as(service, 'acme', 'admin', 'boss');
  const { apiKey } = await service.integration('acme');
  const page = await open('integrations');
  await byPassword(page, 'boss');
  await page.getByText(apiKey).waitFor();
  await button(page, 'More: test').click();
  await page.getByRole('menuitem', { name: 'Change the secret …' }).click();
  await page.getByLabel('The old one works').selectOption({ label: 'for a day' });
  await button(page, 'Make the secret').click();
  await heading2(page, 'Keep this secret now');
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  await heading2(page, 'Keep this secret now');
  await button(page, 'I have kept it').click();
  await page.getByText(/^Two secrets until/).waitFor();
  await button(page, 'More: test').click();
  await page.getByRole('menuitem', { name: 'Remove the old secret …' }).click();
  await button(page, 'Remove').click();
  await page.getByText('Active', { exact: true }).waitFor();
  await page.context().close();
});

const heading2 = (page: Page, name: string) => page.getByRole('heading', { name, level: 2 }).waitFor();

let days: Promise<void> | undefined;
/** Writes usage for some days, as the service does. */
async function printed(): Promise<void> {
  // When it starts, the service counts the days that are over.
  await expect
    .poll(async () => (await service.pool.query('SELECT FROM platen.usage_days_done')).rowCount)
    .toBeGreaterThan(30);
  await service.pool.query('TRUNCATE platen.usage_days, platen.usage_days_done');
  await service.pool.query(
    `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name, format,
       orientation, copies, records, status, created_at)
     SELECT gen_random_uuid(), 'acme', 'test', 't' || n % 3, 'Shelf label ' || n % 3, $1, 'Zebra', 'f', 'portrait', 1, n + 1,
       'printed', now() - make_interval(days => n) FROM generate_series(0, 29) n WHERE n % 7 <> 5`,
    [PRINTER],
  );
}

test.each([
  { scheme: 'light', locale: 'en-GB', width: 1280 },
  { scheme: 'dark', locale: 'de-DE', width: 320 },
] as const)('nothing keeps anybody out, and it fits: $scheme, $locale', async (look) => {
  days ??= printed();
  await days;
  const login = `looker-${look.scheme}`;
  const person = await SignedIn.as(service, 'acme', 'admin', login);
  await service.pool.query(
    `INSERT INTO platen.passkeys (id, person_id, name, public_key, counter, transports)
     VALUES ($2, $1, 'Tablet an Rampe 4', '\\x00', 0, '{}')`,
    [person.id, `looked-at-${look.scheme}`],
  );
  const page = await open('', look);
  await button(page, /Works/).waitFor();
  const [name = '', value = ''] = person.cookie.split('=');
  const see = async (what: string) => {
    expect([what, await barriers(page)]).toEqual([what, []]);
    expect([what, await overflow(page)]).toEqual([what, 0]);
    const { PLATEN_PICTURES: pictures } = process.env;
    if (pictures !== undefined) {
      await page.screenshot({ path: join(pictures, `${what}-${look.scheme}.png`), fullPage: true });
    }
  };
  await see('sign-in');
  await page.goto(`${named}/console/#refused=not-invited`);
  await page.reload();
  await page.getByRole('alert').waitFor();
  await see('refused');
  await page.context().addCookies([{ name, value, url: named }]);
  await page.goto(`${named}/console/#/account`);
  await page.reload();
  await page.getByText('Tablet an Rampe 4').waitFor();
  await see('account');
  await button(page, /^(?:Add a passkey|Passkey hinzufügen) …$/).click();
  await page.getByRole('dialog').waitFor();
  await see('passkey');
  await page.keyboard.press('Escape');
  await page.goto(`${named}/console/#/integrations`);
  await page.locator('.chart rect').first().waitFor();
  await page.locator('details summary').click();
  await see('integrations');
  await page.context().close();
});
