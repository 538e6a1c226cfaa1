/** An OpenID provider that is hostile, or whose answers somebody on the way makes: nobody comes in, nothing grows, nothing waits long. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { Attempt, IdentityProvider, ProviderRefused } from '../../src/server/people/provider.ts';
import { ProblemError } from '../../src/server/problems.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

type Reply = (request: IncomingMessage, response: ServerResponse) => void;
type Claims = Record<string, unknown>;

const CLIENT = 'platen';
const SECRET = 'the-secret-of-this-client-of-the-provider';
const CALLBACK = 'http://127.0.0.1:1/app/session/provider/callback';
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicKey = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };

const json =
  (value: unknown): Reply =>
  (_request, response) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
const silent: Reply = () => undefined;
/** One byte at a time, so that no wait for the next one is long. */
const slow: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
};
const endless: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
  };
  response.on('drain', more);
  more();
};
const BOMB = gzipSync(Buffer.alloc(256 * 1024 * 1024, ' '));
const bomb: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB);
};
const nested = (levels: number) => `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const deep = json(nested(100_000));
const HOSTILE: [string, Reply][] = [
  ['no answer', silent],
  ['an answer of one byte at a time', slow],
  ['an answer without end', endless],
  ['an answer that unpacks to 256 MB', bomb],
  ['an answer of 100,000 levels', deep],
  ['no JSON', json('<html>')],
  ['not an object', json('[]')],
  [
    'another type',
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('{}'),
  ],
];

/** A provider that is right in all but what `replies` says, by path. */
class Hostile {
  readonly asked: string[] = [];
  replies: Record<string, Reply> = {};
  readonly metadata: Claims = {};
  /** What the token endpoint gives as an ID token. */
  token: (claims: Claims) => string = (claims) => signed(claims);
  issuer = '';

  static async start(): Promise<Hostile> {
    const it = new Hostile();
    // By default 5 s: on a busy machine a connection is closed just as it is used again.
    const server = createServer({ keepAliveTimeout: 120_000 }, (...of) => it.#serve(...of));
    it.issuer = `http://127.0.0.1:${await listeningForTest(server)}`;
    return it;
  }

  get claims(): Claims {
    const now = Math.floor(Date.now() / 1000);
    const person = { sub: 'ann', email: 'ann@example.com', email_verified: true };
    return { iss: this.issuer, aud: CLIENT, iat: now, exp: now + 300, ...person };
  }

  provider(more: { loginClaim?: string; issuer?: string } = {}): IdentityProvider {
    return new IdentityProvider({
      ...{ issuer: this.issuer, clientId: CLIENT, clientSecret: SECRET, tenant: 'acme', name: 'SSO' },
      ...{ scope: 'openid email', loginClaim: 'email', roleClaim: 'groups' },
      ...more,
    });
  }

  /** @returns the person, or why nobody comes in */
  async signIn(provider = this.provider(), query: Record<string, string> = {}): Promise<unknown> {
    const attempt = Attempt.new();
    this.#nonce = attempt.nonce;
    const url = new URL(CALLBACK);
    const asked = { code: 'a-code', state: attempt.state, ...query };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    try {
      return await provider.finish(attempt, url);
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error;
      return error;
    }
  }

  #nonce = '';

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked.push(path);
    request.resume();
    const at = this.issuer;
    const own: Record<string, Reply> = {
      '/.well-known/openid-configuration': json({
        ...{ issuer: at, authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token` },
        ...{ jwks_uri: `${at}/keys`, userinfo_endpoint: `${at}/person` },
        ...this.metadata,
      }),
      '/keys': json({ keys: [publicKey] }),
      '/person': json({ sub: 'ann' }),
      '/token': (...both) => {
        const token = this.token({ nonce: this.#nonce, ...this.claims });
        json({ access_token: 'access', token_type: 'Bearer', id_token: token })(...both);
      },
    };
    const reply = this.replies[path] ?? own[path];
    if (reply === undefined) response.writeHead(404).end();
    else reply(request, response);
  }
}

/** By hand, since a library would not make what is wrong. */
function signed(claims: Claims, header: Claims = {}, key: KeyObject = keys.privateKey): string {
  const text = `${encoded({ alg: 'RS256', kid: 'one', ...header })}.${encoded(claims)}`;
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}

const encoded = (part: object | string) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

function byHmac(claims: Claims, secret: string, header: Claims = {}): string {
  const text = `${encoded({ alg: 'HS256', kid: 'one', ...header })}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const refusedFor = (refusal: string) => expect.objectContaining({ name: 'ProviderRefused', refusal });
const away = expect.objectContaining({ code: 'provider-away' });
const nobody = refusedFor('provider-refused');

async function begun(provider: IdentityProvider): Promise<unknown> {
  try {
    return await provider.begin(Attempt.new(), CALLBACK, false);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return error;
  }
}

test('a provider that is right lets in, so that what follows is refused for its own reason', async () => {
  const hostile = await Hostile.start();
  expect(await begun(hostile.provider())).toContain(`${hostile.issuer}/authorize?`);
  expect(await hostile.signIn()).toEqual(
    expect.objectContaining({ subject: 'ann', login: 'ann@example.com', issuer: hostile.issuer }),
  );
});

describe.concurrent('answers that are no answers', () => {
  test.each(HOSTILE)(
    '%s: told at each of its addresses, within its deadline and its bound',
    async (_what, reply) => {
      const rss = process.memoryUsage().rss;
      const startedAt = performance.now();
      const at = ['/.well-known/openid-configuration', '/token', '/keys', '/person'];
      await Promise.all(
        at.map(async (path) => {
          const hostile = await Hostile.start();
          hostile.replies[path] = reply;
          if (path.startsWith('/.')) expect(await begun(hostile.provider())).toEqual(away);
          const said = await hostile.signIn(
            hostile.provider({ ...(path === '/person' && { loginClaim: 'upn' }) }),
          );
          expect(said).toBeInstanceOf(ProviderRefused);
          expect(hostile.asked).toContain(path);
        }),
      );
      // Metadata twice: for the way there, and for the way back.
      expect(performance.now() - startedAt).toBeLessThan(30_000);
      expect(process.memoryUsage().rss - rss).toBeLessThan(200 * 1024 * 1024);
    },
  );
});

test('hundreds who waited for the same answer are told in turn, and a provider that fails is not asked by each', async () => {
  const hostile = await Hostile.start();
  hostile.replies['/.well-known/openid-configuration'] = json('<html>');
  const provider = hostile.provider();
  let [turn, over] = [0, false];
  const turns = (async () => {
    for (; !over; turn += 1) await nextTurn();
  })();
  const toldIn = await Promise.all(
    Array.from({ length: 300 }, async () => {
      expect(await begun(provider)).toEqual(away);
      return turn;
    }),
  );
  over = true;
  await turns;
  expect(new Set(toldIn).size).toBeGreaterThan(100);
  expect(hostile.asked).toHaveLength(1);
  hostile.replies = {};
  await vi.waitFor(async () => expect(await begun(provider)).toContain('/authorize?'), { timeout: 20_000 });
});

describe('metadata', () => {
  test.each([
    ['another issuer', (at: string) => ({ issuer: `${at}.example` })],
    ['the issuer with a path', (at: string) => ({ issuer: `${at}/tenant` })],
    ['no issuer', () => ({ issuer: null })],
    ['a program as the place to sign in', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
    ['a file as the place to sign in', () => ({ authorization_endpoint: 'file:///etc/passwd' })],
    ['no place to sign in', () => ({ authorization_endpoint: { href: 'https://x.example' } })],
    ['words for methods', () => ({ token_endpoint_auth_methods_supported: 1 })],
  ])('%s: nobody is led there', async (_what, more) => {
    const hostile = await Hostile.start();
    Object.assign(hostile.metadata, more(hostile.issuer));
    expect(await begun(hostile.provider())).toEqual(away);
  });

  test.each(['/.well-known/openid-configuration', '/token', '/keys', '/person'])(
    'a redirect at %s is not followed',
    async (path) => {
      const [hostile, inside] = [await Hostile.start(), await Hostile.start()];
      hostile.replies[path] = (_request, response) =>
        void response.writeHead(307, { location: `${inside.issuer}/secret` }).end();
      const said = await hostile.signIn(
        hostile.provider({ ...(path === '/person' && { loginClaim: 'upn' }) }),
      );
      expect(said).toBeInstanceOf(ProviderRefused);
      expect(inside.asked).toEqual([]);
    },
  );

  test('of an issuer on https leads to https alone', async () => {
    // The address is looked at before anything is sent there.
    const { allowInsecureRequests, ...client } = await import('openid-client');
    const server = { issuer: 'https://a.example', authorization_endpoint: 'http://a.example/authorize' };
    expect(allowInsecureRequests).toBeTypeOf('function');
    expect(() => client.buildAuthorizationUrl(new client.Configuration(server, CLIENT), {})).toThrow();
  });
});

describe('ID tokens', () => {
  const pem = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const past = Math.floor(Date.now() / 1000) - 3_600;
  type Make = (claims: Claims, issuer: string) => string;
  const cases: [string, Make][] = [
    ['alg: none', (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
    ['alg: None', (claims) => `${encoded({ alg: 'None' })}.${encoded(claims)}.`],
    ['HS256 with the public key', (claims) => byHmac(claims, pem)],
    ['HS256 with the client’s secret', (claims) => byHmac(claims, SECRET)],
    ['the name of RS256, made as HS256', (claims) => byHmac(claims, pem, { alg: 'RS256' })],
    ['another key', (claims) => signed(claims, {}, other.privateKey)],
    [
      'a key in its own header',
      (claims) =>
        signed(claims, { kid: undefined, jwk: other.publicKey.export({ format: 'jwk' }) }, other.privateKey),
    ],
    [
      'a place for keys in its own header',
      (claims, at) => signed(claims, { kid: 'two', jku: `${at}/other` }),
    ],
    ['a critical extension that nobody knows', (claims) => signed(claims, { crit: ['b64'], b64: false })],
    ['a kid that is a path', (claims) => signed(claims, { kid: '../../dev/null' })],
    ['another nonce', (claims) => signed({ ...claims, nonce: 'another' })],
    ['no nonce', ({ nonce, ...claims }) => signed(claims)],
    ['another audience', (claims) => signed({ ...claims, aud: 'another' })],
    [
      'an audience of others with ours, for another',
      (claims) => signed({ ...claims, aud: ['x', CLIENT], azp: 'x' }),
    ],
    ['no audience', ({ aud, ...claims }) => signed(claims)],
    ['another issuer', (claims, at) => signed({ ...claims, iss: `${at}.example` })],
    ['the issuer with a slash', (claims, at) => signed({ ...claims, iss: `${at}/` })],
    ['an end that is past', (claims) => signed({ ...claims, iat: past, exp: past + 300 })],
    ['no end', ({ exp, ...claims }) => signed(claims)],
    ['a beginning that is to come', (claims) => signed({ ...claims, nbf: past + 7_200 })],
    ['no subject', ({ sub, ...claims }) => signed(claims)],
    ['a subject that is no text', (claims) => signed({ ...claims, sub: { of: 'ann' } })],
    ['a subject of 200,000 letters', (claims) => signed({ ...claims, sub: 'a'.repeat(150_000) })],
    ['an address that is a list', (claims) => signed({ ...claims, email: ['ann@example.com'] })],
    [
      'claims of 50,000 levels',
      (claims) => `${encoded({ alg: 'RS256', kid: 'one' })}.${encoded(nested(50_000))}.${claims['x']}`,
    ],
    ['a header of 50,000 levels', (claims) => `${encoded(nested(50_000))}.${encoded(claims)}.AAAA`],
    ['a token of 100,000 dots', () => '.'.repeat(100_000)],
  ];
  test.each(cases)('%s: nobody comes in', async (_what, make) => {
    const hostile = await Hostile.start();
    Object.assign(hostile.metadata, { id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] });
    hostile.token = (claims) => make(claims, hostile.issuer);
    expect(await hostile.signIn()).toEqual(nobody);
  });
});

describe('keys', () => {
  test('thousands of one name, or of other names: nobody comes in, and they are not asked for each time', async () => {
    const hostile = await Hostile.start();
    const small = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
    const provider = hostile.provider();
    hostile.replies['/keys'] = json({
      keys: Array.from({ length: 5_000 }, () => ({ ...small, kid: 'one' })),
    });
    expect(await hostile.signIn(provider)).toEqual(nobody);
    // A name that is new each time, as if the keys had changed.
    for (let turn = 0; turn < 20; turn += 1) {
      hostile.token = (claims) => signed(claims, { kid: `new ${turn}` });
      expect(await hostile.signIn(provider)).toEqual(nobody);
    }
    expect(hostile.asked.filter((path) => path === '/keys')).toHaveLength(1);
  });

  test.each([
    ['a modulus of a million bits', { n: 'f'.repeat(170_000) }],
    ['an exponent of a hundred thousand bits', { e: 'f'.repeat(17_000) }],
    ['a modulus of 16 bits', { n: 'AQAB' }],
    ['a modulus of an object', { n: {} }],
  ])('%s: nobody comes in, and nothing waits', async (_what, more) => {
    const hostile = await Hostile.start();
    hostile.replies['/keys'] = json({ keys: [{ ...publicKey, ...more }] });
    const startedAt = performance.now();
    expect(await hostile.signIn()).toEqual(nobody);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

test('the answer of another issuer, or without one where this provider says that it names itself, is refused', async () => {
  const hostile = await Hostile.start();
  hostile.metadata['authorization_response_iss_parameter_supported'] = true;
  expect(await hostile.signIn()).toEqual(nobody);
  expect(await hostile.signIn(undefined, { iss: `${hostile.issuer}/` })).toEqual(nobody);
  expect(await hostile.signIn(undefined, { iss: 'https://other.example' })).toEqual(nobody);
  expect(hostile.asked).not.toContain('/token');
  expect(await hostile.signIn(undefined, { iss: hostile.issuer })).toMatchObject({ subject: 'ann' });
});

test('what the person endpoint says of somebody else is refused, and its words do not replace the token’s', async () => {
  const hostile = await Hostile.start();
  const provider = () => hostile.provider({ loginClaim: 'upn' });
  hostile.replies['/person'] = json({ sub: 'eve', upn: 'ann@example.com' });
  expect(await hostile.signIn(provider())).toEqual(nobody);
  hostile.replies['/person'] = json({
    sub: 'ann',
    upn: 'ann',
    iss: 'https://other.example',
    name: 'A\u0000B',
  });
  expect(await hostile.signIn(provider())).toMatchObject({
    login: 'ann',
    issuer: hostile.issuer,
    name: 'ann',
  });
});

test('nothing that the provider sends is in the reason that is logged', async () => {
  const words = ['planted-words', 'PLANTED', '\u001b[31m'];
  const body = {
    error: words[0],
    error_description: words[1],
    code: `${words[1]} ${words[2]}`,
    name: words[0],
  };
  for (const path of ['/token', '/person']) {
    for (const status of [200, 400, 401]) {
      const hostile = await Hostile.start();
      hostile.replies[path] = (_request, response) =>
        void response
          .writeHead(status, {
            'content-type': 'application/json',
            ...(status === 401 && { 'www-authenticate': 'Bearer error="PLANTED", code="PLANTED"' }),
          })
          .end(JSON.stringify(body));
      const said = await hostile.signIn(
        hostile.provider({ ...(path === '/person' && { loginClaim: 'upn' }) }),
      );
      expect(said).toBeInstanceOf(ProviderRefused);
      expect(JSON.stringify([String(said), said])).not.toMatch(/planted|\\u001b/i);
    }
  }
  const hostile = await Hostile.start();
  const said = await hostile.signIn(undefined, {
    error: 'PLANTED',
    error_description: 'PLANTED',
    code: 'PLANTED',
  });
  expect(String(said)).not.toContain('PLANTED');
});
