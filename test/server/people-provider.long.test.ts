/** Single sign-on at a real OpenID provider, by HTTP: who comes in, and what nobody comes in by. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { auditPage, CONSOLE_HEADER, invitationCreated, providerBegun } from '../../src/contract/people.ts';
import type { ServerConfigInput } from '../../src/server/config.ts';
import { Attempt } from '../../src/server/people/provider.ts';
import { type Answer, codeOf, ServiceHarness } from '../kit/service/harness.ts';
import { OpenIdProvider } from '../kit/service/openid-provider.ts';
import { PASSWORD, SignedIn } from '../kit/service/signed-in.ts';
import { listening } from '../kit/wire/listening.ts';

const CALLBACK = '/app/session/provider/callback';
const PAGE = { [CONSOLE_HEADER]: '1', 'sec-fetch-site': 'same-origin' };
const LED = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

let provider: OpenIdProvider;
let other: OpenIdProvider;
let service: ServiceHarness;
let mapped: ServiceHarness;

function ssoOf(at: OpenIdProvider): NonNullable<ServerConfigInput['singleSignOn']> {
  return { issuer: at.url, clientId: at.clientId, clientSecret: at.clientSecret, tenant: 'acme' };
}

beforeAll(async () => {
  // The services start before any of them answers.
  provider = await OpenIdProvider.start();
  other = await OpenIdProvider.start();
  const tokenFailures = { perClientAndAddress: 1_000, perAddress: 1_000, perClient: 1_000 };
  service = await ServiceHarness.start({ config: { singleSignOn: ssoOf(provider), tokenFailures } });
  mapped = await ServiceHarness.start({
    config: { singleSignOn: { ...ssoOf(other), roles: { 'it=staff': 'admin', dock: 'operator' } } },
  });
  provider.serve([service.url + CALLBACK]);
  other.serve([mapped.url + CALLBACK, service.url + CALLBACK]);
  for (const one of [service, mapped]) await one.tenant('acme');
});
afterAll(async () => {
  await service?.stop();
  await mapped?.stop();
  await provider?.stop();
  await other?.stop();
});

type Begun = { url: string; cookie: string };

async function begin(at = service, headers: Record<string, string> = {}): Promise<Begun> {
  const answer = await at.call('/app/session/provider', { body: {}, headers: { ...PAGE, ...headers } });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { url: providerBegun.parse(answer.body).url, cookie };
}

function back(url: URL, cookie: string, at = service): Promise<Answer> {
  return at.call(url.pathname + url.search, { headers: { ...LED, cookie } });
}

async function through(who: string, at = service, from = provider): Promise<Answer> {
  const { url, cookie } = await begin(at);
  return back(await from.through(url, who), cookie, at);
}

const sessionOf = (answer: Answer) =>
  answer.headers.getSetCookie().find((one) => /^platen-session=[\w-]/.test(one));
const led = (answer: Answer) => [
  answer.status,
  answer.headers.get('location'),
  sessionOf(answer) !== undefined,
];
const refused = (why: string) => [303, `/console/#refused=${why}`, false];
const IN = [303, '/console/', true];

async function invite(login: string, role = 'operator'): Promise<string> {
  const answer = await service.admin('POST', '/tenants/acme/people', { login, role });
  return invitationCreated.parse(answer.body).person.id;
}

function person(sub: string, email: string, more: object = {}): void {
  for (const each of [provider, other]) {
    each.people.set(sub, { email, email_verified: true, name: sub, ...more });
  }
}

describe('who is invited', () => {
  test('comes in with the session that a password gives, and it is in the audit', async () => {
    const id = await invite('ann@example.com');
    person('ann', 'Ann@Example.com');
    const { url, cookie } = await begin();
    const asked = new URL(url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: service.url + CALLBACK,
    });
    const answer = await back(await provider.through(url, 'ann'), cookie);
    expect(led(answer)).toEqual(IN);
    expect(sessionOf(answer)).toMatch(
      /^platen-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const own = { cookie: sessionOf(answer)?.split(';')[0] ?? '', ...PAGE };
    expect((await service.call('/app/session', { headers: own })).body).toMatchObject({
      person: { id, login: 'ann@example.com', role: 'operator', hasPassword: false },
      tenant: { id: 'acme' },
    });
    const { entries } = auditPage.parse((await service.admin('GET', '/audit?tenant=acme&limit=1')).body);
    expect(entries).toMatchObject([
      { what: 'session.sign-in-by-provider', object: id, who: { id, name: 'ann@example.com' } },
    ]);
    expect((await service.call('/app/session', { method: 'DELETE', headers: own })).status).toBe(204);
    expect((await service.call('/app/session', { headers: own })).status).toBe(401);
    // Nothing of it is in the log but that it was.
    const secrets = [provider.clientSecret, cookie.split('=')[1], asked.get('state'), asked.get('nonce')];
    for (const secret of secrets) expect(service.log).not.toContain(secret);
  });

  test('is the same person under another address, and nobody else is under the old one', async () => {
    const id = await invite('bea@example.com');
    person('bea', 'bea@example.com');
    expect(led(await through('bea'))).toEqual(IN);
    person('bea', 'married@example.com');
    const answer = await through('bea');
    const cookie = sessionOf(answer)?.split(';')[0] ?? '';
    expect((await service.call('/app/session', { headers: { cookie } })).body).toMatchObject({
      person: { id },
    });
    person('thief', 'bea@example.com');
    expect(led(await through('thief'))).toEqual(refused('not-invited'));
  });

  test('needs the invitation’s link no longer', async () => {
    const answer = await service.admin('POST', '/tenants/acme/people', { login: 'cleo@example.com' });
    const token = new URL(invitationCreated.parse(answer.body).url).hash.split('=')[1];
    person('cleo', 'cleo@example.com');
    expect(led(await through('cleo'))).toEqual(IN);
    const body = { token, password: PASSWORD };
    expect(codeOf(await service.call('/app/invitations/accept', { body, headers: PAGE }))).toBe('link-spent');
  });

  test('is let in no longer once revoked; invited again as somebody new', async () => {
    const id = await invite('dora@example.com');
    person('dora', 'dora@example.com');
    expect(led(await through('dora'))).toEqual(IN);
    await service.admin('DELETE', `/tenants/acme/people/${id}`);
    expect(led(await through('dora'))).toEqual(refused('not-invited'));
    await invite('dora@example.com');
    expect(led(await through('dora'))).toEqual(IN);
  });
});

describe('nobody comes in', () => {
  test.each([
    ['who is not invited', 'eve', { email: 'eve@example.com', email_verified: true }, 'not-invited'],
    ['whose address is not verified', 'fay', { email: 'fay@example.com' }, 'not-verified'],
    ['who says so', 'gus', { email: 'fay@example.com', email_verified: 'true' }, 'not-verified'],
    ['without an address', 'hal', { email_verified: true }, 'provider-refused'],
    ['as the keeper of the installation', 'ida', { email: 'admin', email_verified: true }, 'not-invited'],
    ['who gives up at the provider', 'nobody', {}, 'canceled'],
  ])('%s', async (_who, sub, claims, why) => {
    await service.admin('POST', '/tenants/acme/people', { login: 'fay@example.com' });
    await service.admin('POST', '/links', { tenant: 'acme' });
    provider.people.set(sub, claims);
    expect(led(await through(sub))).toEqual(refused(why));
  });

  test('whom another tenant has invited, and who is somebody there', async () => {
    await service.tenant('beta');
    await service.admin('POST', '/tenants/beta/people', { login: 'nia@example.com', role: 'admin' });
    person('nia', 'nia@example.com');
    expect(led(await through('nia'))).toEqual(refused('not-invited'));
    await SignedIn.as(service, 'beta', 'admin', 'ned@example.com');
    person('ned', 'ned@example.com', { tenant: 'beta' });
    expect(led(await through('ned'))).toEqual(refused('not-invited'));
  });

  test('with another state, another browser’s, or none; and the provider is not asked', async () => {
    person('ann', 'ann@example.com');
    const [mine, theirs] = [await begin(), await begin()];
    const url = await provider.through(mine.url, 'ann');
    const before = provider.asked.length;
    expect(led(await back(url, theirs.cookie))).toEqual(refused('expired'));
    expect(led(await back(url, ''))).toEqual(refused('expired'));
    expect(led(await back(url, 'platen-attempt=.'))).toEqual(refused('expired'));
    const without = new URL(url);
    without.searchParams.delete('state');
    expect(led(await back(without, mine.cookie))).toEqual(refused('expired'));
    expect(provider.asked.length).toBe(before);
  });

  test('with a code that was used', async () => {
    person('ann', 'ann@example.com');
    const { url, cookie } = await begin();
    const led1 = await provider.through(url, 'ann');
    const first = await back(led1, cookie);
    expect(led(first)).toEqual(IN);
    expect(first.headers.getSetCookie().join()).toContain('platen-attempt=; Max-Age=0');
    expect(led(await back(led1, cookie))).toEqual(refused('provider-refused'));
    expect(service.log).not.toContain(led1.searchParams.get('code'));
  });

  test('with what another provider gave', async () => {
    person('ann', 'ann@example.com');
    const { url, cookie } = await begin();
    // The mix-up: the other one's code under our state (RFC 9207).
    const there = new URL(url);
    there.host = new URL(other.url).host;
    there.searchParams.set('client_id', other.clientId);
    const code = await other.through(there.href, 'ann');
    expect(led(await back(code, cookie))).toEqual(refused('provider-refused'));
    // And its ID token, good in every other way.
    const attempt = Attempt.of(cookie.split('=')[1]?.split('.')[0]);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code: (await other.through(there.href, 'ann')).searchParams.get('code') ?? '',
      redirect_uri: service.url + CALLBACK,
      code_verifier: attempt?.verifier ?? '',
    });
    const secret = [other.clientId, other.clientSecret].map(encodeURIComponent).join(':');
    const headers = { authorization: `Basic ${Buffer.from(secret).toString('base64')}` };
    const given = await fetch(`${other.url}/token`, { method: 'POST', body: form, headers });
    provider.otherToken = z.object({ id_token: z.string() }).parse(await given.json()).id_token;
    const own = await provider.through(url, 'ann');
    expect(led(await back(own, cookie))).toEqual(refused('provider-refused'));
    provider.otherToken = undefined;
    expect(led(await through('ann'))).toEqual(IN);
  });

  test('with a token that the provider has not signed', async () => {
    person('ann', 'ann@example.com');
    const { url, cookie } = await begin();
    const { nonce } = Object.fromEntries(new URL(url).searchParams);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.url, aud: provider.clientId, sub: 'ann', nonce, iat: now, exp: now + 60 };
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    for (const alg of ['RS256', 'none', 'HS256']) {
      provider.otherToken = `${encoded({ alg })}.${encoded(claims)}.${alg === 'none' ? '' : 'AAAA'}`;
      expect(led(await back(await provider.through(url, 'ann'), cookie))).toEqual(
        refused('provider-refused'),
      );
    }
    provider.otherToken = undefined;
  });
});

test('a session that somebody else knows is not the one that one has then', async () => {
  person('ann', 'ann@example.com');
  const planted = await SignedIn.as(service, 'acme', 'viewer', 'planter');
  const { url, cookie } = await begin(service, { cookie: planted.cookie });
  const answer = await back(await provider.through(url, 'ann'), cookie);
  expect(led(answer)).toEqual(IN);
  expect(sessionOf(answer)).not.toContain(planted.cookie);
  expect((await planted.call('/app/session')).status).toBe(401);
});

test('it leads to the console and nowhere else, and begins on its own pages alone', async () => {
  const { cookie } = await begin();
  const evil = 'https://evil.example/';
  for (const query of [`redirect=${evil}`, `redirect_uri=${evil}&state=x`, `state=${evil}`, '?', '%']) {
    const answer = await service.call(`${CALLBACK}?${query}`, { headers: { ...LED, cookie } });
    expect(led(answer)).toEqual(refused('expired'));
  }
  const asked = { body: {}, headers: { ...PAGE, 'sec-fetch-site': 'cross-site' } };
  expect(codeOf(await service.call('/app/session/provider', asked))).toBe('origin-foreign');
  expect(codeOf(await service.call('/app/session/provider', { body: {} }))).toBe('origin-foreign');
});

test('where groups have roles, the provider says who comes in, and as what', async () => {
  const at = async (sub: string) => {
    const answer = await through(sub, mapped, other);
    const cookie = sessionOf(answer)?.split(';')[0] ?? '';
    const view = await mapped.call('/app/session', { headers: { cookie } });
    return [
      led(answer)[1],
      z.object({ person: z.object({ role: z.string() }) }).safeParse(view.body).data?.person.role,
    ];
  };
  person('jan', 'jan@example.com', { groups: ['all', 'dock'] });
  expect(await at('jan')).toEqual(['/console/', 'operator']);
  person('jan', 'jan@example.com', { groups: ['dock', 'it=staff'] });
  expect(await at('jan')).toEqual(['/console/', 'admin']);
  person('jan', 'jan@example.com', { groups: ['all'] });
  expect(await at('jan')).toEqual(['/console/#refused=not-invited', undefined]);
  person('kim', 'kim@example.com', { groups: ['__proto__', 'constructor'] });
  expect(await at('kim')).toEqual(['/console/#refused=not-invited', undefined]);
  person('lea', 'lea@example.com', { groups: 'dock' });
  expect(await at('lea')).toEqual(['/console/', 'operator']);
  const people = z.array(z.object({ id: z.string(), login: z.string() }));
  const lea = people
    .parse((await mapped.admin('GET', '/tenants/acme/people')).body)
    .find(({ login }) => login === 'lea@example.com');
  await mapped.admin('DELETE', `/tenants/acme/people/${lea?.id}`);
  expect(await at('lea')).toEqual(['/console/#refused=not-invited', undefined]);
});

test('a provider that is away, silent, or talks without end is told of, and asked again by the next one', async () => {
  let behave: 'silent' | 'endless' | 'away' = 'silent';
  let bytes = 0;
  const server = createServer((_request, response) => {
    if (behave === 'away') response.writeHead(503).end();
    if (behave !== 'endless') return;
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, ' '))) bytes += 65_536;
      bytes += 65_536;
    };
    response.on('drain', more);
    more();
  });
  const issuer = `http://127.0.0.1:${await listening(server)}`;
  const config = { singleSignOn: { ...ssoOf(provider), issuer, name: 'Works' } };
  const lonely = await ServiceHarness.start({ config });
  try {
    await lonely.tenant('acme');
    for (behave of ['silent', 'endless', 'away'] as const) {
      const answer = await lonely.call('/app/session/provider', { body: {}, headers: PAGE });
      expect([behave, answer.status, codeOf(answer)]).toEqual([behave, 503, 'provider-away']);
    }
    expect(bytes).toBeLessThan(8 * 1024 * 1024);
    server.closeAllConnections();
    server.close();
    const gone = await lonely.call('/app/session/provider', { body: {}, headers: PAGE });
    expect([gone.status, codeOf(gone)]).toEqual([503, 'provider-away']);
    const by = { login: 'mia', password: PASSWORD };
    await SignedIn.as(lonely, 'acme', 'viewer', by.login);
    const password = await lonely.call('/app/session', { body: { tenant: 'acme', ...by }, headers: PAGE });
    expect(password.status).toBe(200);
  } finally {
    server.closeAllConnections();
    await lonely.stop();
  }
});

test('with a public address it begins there, and the cookie goes over https only', async () => {
  const publicUrl = 'https://labels.example.com';
  const named = await ServiceHarness.start({ config: { publicUrl, singleSignOn: ssoOf(provider) } });
  try {
    const elsewhere = await named.call('/app/session/provider', { body: {}, headers: PAGE });
    expect([codeOf(elsewhere), elsewhere.text]).toEqual([
      'origin-foreign',
      expect.stringContaining(`${publicUrl}/console/`),
    ]);
    const ways = await named.call('/app/sign-in', { headers: PAGE });
    expect(ways.body).toEqual({ provider: { name: 'SSO', tenant: 'acme' }, passkeys: true });
  } finally {
    await named.stop();
  }
});
