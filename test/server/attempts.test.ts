/** Attempts to come in without a password are counted as those with one: by address, whatever the request says of itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { CONSOLE_HEADER, providerBegun } from '../../src/contract/people.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { OpenIdProvider } from '../kit/service/openid-provider.ts';
import { PASSWORD, SignedIn } from '../kit/service/signed-in.ts';

const CALLBACK = '/app/session/provider/callback';
const PAGE = { [CONSOLE_HEADER]: '1', 'sec-fetch-site': 'same-origin' };
const LIMIT = 3;
const WINDOW = 3_600;

let provider: OpenIdProvider;
let service: ServiceHarness;
beforeAll(async () => {
  provider = await OpenIdProvider.start();
  const { url: issuer, clientId, clientSecret } = provider;
  service = await ServiceHarness.start({
    config: {
      singleSignOn: { issuer, clientId, clientSecret, tenant: 'acme' },
      tokenFailures: { perClientAndAddress: 1, perAddress: LIMIT, perClient: 100, window: WINDOW },
    },
  });
  provider.serve([service.url + CALLBACK]);
  await service.tenant('acme');
  await service.admin('POST', '/tenants/acme/people', { login: 'ann@example.com', role: 'viewer' });
  for (const sub of ['ann', 'eve']) {
    provider.people.set(sub, { email: `${sub}@example.com`, email_verified: true });
  }
});
afterAll(async () => {
  await service?.stop();
  await provider?.stop();
});

async function through(who: string, claim: Record<string, string> = {}): Promise<string | null> {
  const begun = await service.call('/app/session/provider', { body: {}, headers: PAGE });
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const url = await provider.through(providerBegun.parse(begun.body).url, who);
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', cookie, ...claim };
  return (await service.call(url.pathname + url.search, { headers })).headers.get('location');
}

/** Passkeys are where the service has a name. */
async function passkey(path: string, body: object, claim: Record<string, string> = {}) {
  const headers = { ...PAGE, 'content-type': 'application/json', ...claim };
  const url = service.url.replace('127.0.0.1', 'localhost') + path;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const { code } = z.object({ code: z.string().optional() }).parse(await answer.json());
  return { status: answer.status, code, wait: Number(answer.headers.get('retry-after')) };
}

test('single sign-on: who comes in is not counted; after too many that fail nobody is asked of the provider', async () => {
  for (let count = 0; count < LIMIT + 2; count += 1) expect(await through('ann')).toBe('/console/');
  // As many of an office come in at one moment as may fail there, and not as may fail with one password.
  const office = Array.from({ length: LIMIT }, () => through('ann'));
  expect(await Promise.all(office)).toEqual(office.map(() => '/console/'));
  for (let count = 0; count < LIMIT; count += 1) {
    expect(await through('eve')).toBe('/console/#refused=not-invited');
  }
  const tokens = () => provider.asked.filter((asked) => asked === 'POST /token').length;
  const before = tokens();
  expect(before).toBeGreaterThan(0);
  expect(await through('ann')).toBe('/console/#refused=too-often');
  expect(await through('ann', { 'x-forwarded-for': '192.0.2.7' })).toBe('/console/#refused=too-often');
  expect(tokens()).toBe(before);
  // Other ways in are counted by themselves.
  const person = await SignedIn.as(service, 'acme', 'viewer', 'by-password');
  expect((await person.call('/app/session')).status).toBe(200);
  const body = { tenant: 'acme', login: 'by-password', password: PASSWORD };
  expect((await service.call('/app/session', { body, headers: PAGE })).status).toBeLessThan(300);
});

test('passkeys: each challenge is an attempt, and without one nothing is looked at', async () => {
  const options = '/app/session/passkey/options';
  for (let count = 0; count < LIMIT; count += 1) expect((await passkey(options, {})).status).toBe(200);
  for (const claim of [{}, { 'x-forwarded-for': '192.0.2.8' }, { forwarded: 'for=192.0.2.9' }]) {
    const { status, code, wait } = await passkey(options, {}, claim);
    expect([status, code]).toEqual([429, 'sign-in-too-often']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(WINDOW);
  }
  const challenges = 'SELECT count(*)::int AS count FROM platen.passkey_challenges';
  expect((await service.pool.query(challenges)).rows).toEqual([{ count: LIMIT }]);
});
