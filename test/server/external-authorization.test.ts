/** Tokens of an external authorization server, in place of our own. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Answer, AUDIENCE, codeOf, newKey, PRINTER, ServiceHarness } from '../kit/service/harness.ts';

const TENANT = 'acme';
const ISSUER = 'https://login.example.test/';
let external: ServiceHarness;
let jwks: HttpServer;
type Made = { typ?: string | undefined; lifetime?: number; age?: number };
let sign: (claims: Record<string, unknown>, made?: Made) => Promise<string>;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'theirs', alg: 'ES256', use: 'sig' };
  jwks = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, '127.0.0.1');
  await once(jwks, 'listening');
  const address = z.object({ port: z.number() }).parse(jwks.address());
  external = await ServiceHarness.start({
    config: {
      externalAuth: {
        issuer: ISSUER,
        jwksUrl: `http://127.0.0.1:${address.port}/keys`,
        tenantClaim: 'https://x/tenant',
      },
    },
  });
  await external.tenant(TENANT);
  await external.agent([{}]);
  sign = (claims, { typ = 'at+jwt', lifetime = 60, age = 0 } = {}) => {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: ISSUER,
      aud: [AUDIENCE, 'other'],
      sub: 'robot',
      'https://x/tenant': TENANT,
      scope: 'jobs:enqueue',
      iat: now - age,
      exp: now - age + lifetime,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'theirs', ...(typ === '' ? {} : { typ }) })
      .sign(pair.privateKey);
  };
});
afterAll(async () => {
  await external.stop();
  jwks.close();
});

async function postThere(claims: Record<string, unknown>, made: Made = {}): Promise<Answer> {
  const template = await external.template(TENANT);
  return external.call('/v2/jobs', {
    token: await sign(claims, made),
    tenant: TENANT,
    key: newKey(),
    body: { idT: template, printerId: PRINTER },
  });
}

test.each([
  ['a scope', {}],
  ['permissions as Auth0 gives them', { scope: 'openid', permissions: ['jobs:enqueue'] }],
  ['permissions as Entra ID gives them', { scope: undefined, scp: 'jobs:enqueue' }],
  ['several tenants', { 'https://x/tenant': ['globex', TENANT] }],
])('takes its tokens with %s', async (_name, claims) => {
  expect((await postThere(claims)).status).toBe(201);
});

test.each([
  ['another tenant', { 'https://x/tenant': 'globex' }, 403, 'tenant-forbidden'],
  ['no tenant', { 'https://x/tenant': undefined }, 403, 'tenant-forbidden'],
  ['no permission', { scope: 'jobs:other' }, 403, 'permission-missing'],
  ['another audience', { aud: 'other' }, 401, 'token-invalid'],
  ['another issuer', { iss: 'https://evil.test/' }, 401, 'token-invalid'],
])('%s → refused', async (_name, claims, status, code) => {
  const answer = await postThere(claims);
  expect([answer.status, codeOf(answer)]).toEqual([status, code]);
});

const DAY = 24 * 3600;

test.each<[string, Record<string, unknown>, Made]>([
  ['an ID token, or any other that is no access token', {}, { typ: 'JWT' }],
  ['a token without a type', {}, { typ: '' }],
  ['one that lives for 50 years', {}, { lifetime: 50 * 365 * DAY }],
  ['one that was issued two days ago for three', {}, { lifetime: 3 * DAY, age: 2 * DAY }],
  ['one from the future', {}, { age: -600 }],
  ['one without an end', { exp: undefined }, {}],
  ['one without a beginning', { iat: undefined }, {}],
  ['one without a subject', { sub: undefined }, {}],
  ['one with an empty subject', { sub: '' }, {}],
])('%s → 401', async (_name, claims, made) => {
  const answer = await postThere(claims, made);
  expect([answer.status, codeOf(answer)]).toEqual([401, 'token-invalid']);
});

test.each(['application/at+jwt', 'AT+JWT'])('%s is the same type', async (typ) => {
  expect((await postThere({}, { typ })).status).toBe(201);
});

test('where the server calls its access tokens JWT, an ID token is still refused', async () => {
  const { port } = z.object({ port: z.number() }).parse(jwks.address());
  const there = await ServiceHarness.start({
    config: {
      externalAuth: {
        issuer: ISSUER,
        jwksUrl: `http://127.0.0.1:${port}/keys`,
        tenantClaim: 'https://x/tenant',
        tokenType: 'JWT',
      },
    },
  });
  await there.tenant(TENANT);
  const ask = async (claims: Record<string, unknown>) =>
    there.call('/v2/jobs/validate', { token: await sign(claims, { typ: 'JWT' }), tenant: TENANT, body: {} });
  expect(codeOf(await ask({}))).toBe('payload-invalid');
  expect(codeOf(await ask({ nonce: 'n' }))).toBe('token-invalid');
  expect(codeOf(await ask({ at_hash: 'h' }))).toBe('token-invalid');
  await there.stop();
});

test('our own tokens are not taken, and none are issued', async () => {
  expect((await external.call('/oauth/token', { raw: 'grant_type=client_credentials' })).status).toBe(404);
  expect(codeOf(await external.admin('POST', `/tenants/${TENANT}/integrations`, { name: 'x' }))).toBe(
    'authorization-external',
  );
  const ours = await ServiceHarness.start();
  await ours.tenant(TENANT);
  const own = await ours.token(await ours.integration(TENANT));
  await ours.stop();
  const answer = await external.call('/v2/jobs/validate', { token: own, tenant: TENANT, body: {} });
  expect(codeOf(answer)).toBe('token-invalid');
});

test('keys out of reach are our failure, not the token’s', async () => {
  const unreachable = await ServiceHarness.start({
    config: { externalAuth: { issuer: ISSUER, jwksUrl: 'http://127.0.0.1:9/keys' } },
  });
  await unreachable.tenant(TENANT);
  const answer = await unreachable.call('/v2/jobs/validate', {
    token: await sign({}),
    tenant: TENANT,
    body: {},
  });
  expect([answer.status, codeOf(answer)]).toEqual([500, 'internal']);
  await unreachable.stop();
});
