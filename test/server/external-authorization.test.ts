/** Tokens of an external authorization server, in place of our own. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Answer, AUDIENCE, codeOf, newKey, PRINTER, ServiceHarness } from './harness.ts';

const TENANT = 'acme';
const ISSUER = 'https://login.example.test/';
let external: ServiceHarness;
let jwks: HttpServer;
let sign: (claims: Record<string, unknown>) => Promise<string>;

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
  sign = (claims) =>
    new SignJWT({
      iss: ISSUER,
      aud: [AUDIENCE, 'other'],
      sub: 'robot',
      'https://x/tenant': TENANT,
      scope: 'jobs:enqueue',
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'theirs', typ: 'JWT' })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(pair.privateKey);
});
afterAll(async () => {
  await external.stop();
  jwks.close();
});

async function postThere(claims: Record<string, unknown>): Promise<Answer> {
  const template = await external.template(TENANT);
  return external.call('/v2/jobs', {
    token: await sign(claims),
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
