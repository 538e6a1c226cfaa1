/** The token endpoint. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { IntegrationCreated } from '../../src/contract/admin.ts';
import { type Answer, AUDIENCE, codeOf } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const failure = z.object({ error: z.string(), error_description: z.string() });

const service = useService({
  config: {
    tokenLifetime: 120,
    tokenFailures: { perClientAndAddress: 3, perAddress: 8, perClient: 6, window: 60 },
    trustProxy: 1,
  },
});
const acme = useTenant(service);
let account: IntegrationCreated;
beforeAll(async () => {
  account = await service.integration(acme.id, ['jobs:enqueue', 'jobs:read']);
});

const post = (token: string): Promise<Answer> => acme.enqueue({}, { token });

/** From an address of its own, so that failures of one test do not count in another. */
let lastAddress = 0;
function fromElsewhere(): Record<string, string> {
  lastAddress += 1;
  return { 'x-forwarded-for': `203.0.113.${lastAddress}` };
}

function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

describe('token request (RFC 6749 §4.4, §5.1)', () => {
  test('by form', async () => {
    const answer = await service.tokenRequest(account);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 120,
      scope: 'jobs:enqueue jobs:read',
    });
  });

  test('by HTTP Basic', async () => {
    const answer = await service.tokenRequest(
      account,
      { client_id: undefined, client_secret: undefined },
      basic(account.apiKey, account.apiSecret),
    );
    expect(answer.status).toBe(200);
  });

  test('the token is an RFC 9068 access token whose key is published', async () => {
    const token = await service.token(account);
    const [header, claims] = token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    const jwks = z.object({ keys: z.array(z.record(z.string(), z.string())) });
    const { keys } = jwks.parse((await service.call('/.well-known/jwks.json')).body);
    expect(header).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: keys[0]?.['kid'] });
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(claims).toMatchObject({
      iss: service.url,
      sub: account.apiKey,
      client_id: account.apiKey,
      aud: AUDIENCE,
      scope: 'jobs:enqueue jobs:read',
      tenant: acme.id,
      jti: expect.any(String),
    });
    expect(claims.exp - claims.iat).toBe(120);
  });

  test('RFC 8414 metadata', async () => {
    const { body } = await service.call('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      issuer: service.url,
      token_endpoint: account.tokenUrl,
      jwks_uri: `${service.url}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials'],
    });
  });

  test('a narrower scope is granted as asked, and does not reach further', async () => {
    const answer = await service.tokenRequest(account, { scope: 'jobs:read' });
    const { access_token: token, scope } = z
      .object({ access_token: z.string(), scope: z.string() })
      .parse(answer.body);
    expect(scope).toBe('jobs:read');
    expect(codeOf(await post(token))).toBe('permission-missing');
  });

  test('without scope and audience, all that the account has', async () => {
    const answer = await service.tokenRequest(account, { scope: undefined, audience: undefined });
    expect(answer.body).toMatchObject({ scope: 'jobs:enqueue jobs:read' });
  });
});

describe('errors of the token request (RFC 6749 §5.2)', () => {
  const cases: {
    name: string;
    fields?: () => Record<string, string | undefined>;
    headers?: () => Record<string, string>;
    status: number;
    error: string;
    says?: string;
  }[] = [
    {
      name: 'wrong secret',
      fields: () => ({ client_secret: 'sk_wrong' }),
      status: 401,
      error: 'invalid_client',
    },
    {
      name: 'unknown client',
      fields: () => ({ client_id: 'pk_nobody' }),
      status: 401,
      error: 'invalid_client',
    },
    {
      name: 'a client ID with a NUL',
      fields: () => ({ client_id: 'pk_\0' }),
      status: 401,
      error: 'invalid_client',
    },
    { name: 'no secret', fields: () => ({ client_secret: undefined }), status: 401, error: 'invalid_client' },
    { name: 'an empty secret', fields: () => ({ client_secret: '' }), status: 401, error: 'invalid_client' },
    { name: 'no client', fields: () => ({ client_id: undefined }), status: 401, error: 'invalid_client' },
    {
      name: 'wrong secret by Basic',
      fields: () => ({ client_id: undefined, client_secret: undefined }),
      headers: () => basic(account.apiKey, 'sk_wrong'),
      status: 401,
      error: 'invalid_client',
    },
    {
      name: 'credentials twice',
      headers: () => basic(account.apiKey, account.apiSecret),
      status: 400,
      error: 'invalid_request',
    },
    {
      name: 'two client IDs',
      fields: () => ({ client_id: 'pk_other', client_secret: undefined }),
      headers: () => basic(account.apiKey, account.apiSecret),
      status: 400,
      error: 'invalid_request',
    },
    {
      name: 'no grant type',
      fields: () => ({ grant_type: undefined }),
      status: 400,
      error: 'invalid_request',
    },
    {
      name: 'another grant',
      fields: () => ({ grant_type: 'password' }),
      status: 400,
      error: 'unsupported_grant_type',
      says: 'expected grant_type=client_credentials',
    },
    {
      name: 'another scope',
      fields: () => ({ scope: 'jobs:enqueue admin' }),
      status: 400,
      error: 'invalid_scope',
      says: 'the client may have this scope, or a part of it: jobs:enqueue',
    },
    {
      name: 'another audience',
      fields: () => ({ audience: 'elsewhere' }),
      status: 400,
      error: 'invalid_target',
      says: 'expected audience=platen',
    },
    {
      name: 'another content type',
      headers: () => ({ 'content-type': 'application/json' }),
      status: 400,
      error: 'invalid_request',
    },
  ];
  test.each(cases)('$name → $status $error', async ({ fields, headers, status, error, says = '' }) => {
    const answer = await service.tokenRequest(account, fields?.(), { ...fromElsewhere(), ...headers?.() });
    expect([answer.status, failure.parse(answer.body).error]).toEqual([status, error]);
    // RFC 6749 §5.2 has no other characters in it.
    expect(failure.parse(answer.body).error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(failure.parse(answer.body).error_description).toContain(says);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('www-authenticate') !== null).toBe(status === 401);
    await service.pool.query('DELETE FROM platen.token_failures');
  });

  test('a parameter twice', async () => {
    const raw = `grant_type=client_credentials&grant_type=client_credentials&client_id=a&client_secret=b`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await service.call('/oauth/token', { raw, headers });
    expect([answer.status, failure.parse(answer.body).error]).toEqual([400, 'invalid_request']);
  });

  test('credentials in the URL are refused, and do not reach the log', async () => {
    const answer = await service.call(
      `/oauth/token?client_id=${account.apiKey}&client_secret=${account.apiSecret}`,
      {
        raw: 'grant_type=client_credentials',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    );
    expect([answer.status, failure.parse(answer.body).error]).toEqual([400, 'invalid_request']);
    expect(service.log).not.toContain(account.apiSecret);
  });
});

describe('too many failed attempts', () => {
  const wrong = { client_secret: 'sk_wrong' };

  test('one client from one address: 429 with Retry-After; the right secret is heard all the same', async () => {
    const client = await service.integration(acme.id);
    const here = fromElsewhere();
    for (let i = 0; i < 3; i += 1) {
      expect((await service.tokenRequest(client, wrong, here)).status).toBe(401);
    }
    for (let i = 0; i < 2; i += 1) {
      const blocked = await service.tokenRequest(client, wrong, here);
      expect([blocked.status, failure.parse(blocked.body).error]).toEqual([429, 'slow_down']);
      expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    for (const headers of [here, fromElsewhere()]) {
      expect((await service.tokenRequest(client, {}, headers)).status).toBe(200);
    }
    expect((await service.tokenRequest(client, wrong, fromElsewhere())).status).toBe(401);
  });

  test('one client from many addresses', async () => {
    const client = await service.integration(acme.id);
    for (let i = 0; i < 6; i += 1) {
      expect((await service.tokenRequest(client, wrong, fromElsewhere())).status).toBe(401);
    }
    expect((await service.tokenRequest(client, wrong, fromElsewhere())).status).toBe(429);
    expect((await service.tokenRequest(client, {}, fromElsewhere())).status).toBe(200);
  });

  test('one address with many clients; an IPv6 network counts as one', async () => {
    const from = (host: number) => ({ 'x-forwarded-for': `2001:db8:1:2::${host}` });
    const guess = (i: number, headers: Record<string, string>) =>
      service.tokenRequest(account, { client_id: `pk_guess-${i}` }, headers);
    for (let i = 0; i < 8; i += 1) expect((await guess(i, from(i + 1))).status).toBe(401);
    expect((await guess(98, from(98))).status).toBe(429);
    expect((await guess(99, { 'x-forwarded-for': '2001:db8:1:3::1' })).status).toBe(401);
    expect((await service.tokenRequest(account, {}, from(99))).status).toBe(200);
  });

  test('an address that the caller writes before the one that the proxy saw counts for nothing', async () => {
    const seen = `198.51.100.${lastAddress + 1}`;
    const guess = (i: number) => {
      const headers = { 'x-forwarded-for': `192.0.2.${i}, ${seen}` };
      return service.tokenRequest(account, { client_id: `pk_invented-${i}` }, headers);
    };
    for (let i = 0; i < 8; i += 1) expect((await guess(i)).status).toBe(401);
    expect((await guess(8)).status).toBe(429);
  });

  test('success is never counted', async () => {
    const here = fromElsewhere();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => service.tokenRequest(account, {}, here)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
  });
});

test('secrets are stored hashed and shown once', async () => {
  const client = await service.integration(acme.id);
  expect(client.apiKey).toMatch(/^pk_/);
  expect(Buffer.from(client.apiSecret.replace(/^sk_/, ''), 'base64url')).toHaveLength(32);
  const { rows } = await service.pool.query<{ secret_hash: string }>(
    'SELECT * FROM platen.integrations WHERE api_key = $1',
    [client.apiKey],
  );
  expect(rows[0]?.secret_hash).toMatch(/^sha256\$[\w-]{22}\$[\w-]{43}$/);
  expect(JSON.stringify(rows)).not.toContain(client.apiSecret.slice(3));
  const listed = await service.admin('GET', `/tenants/${acme.id}/integrations`);
  expect(listed.text).toContain(client.apiKey);
  // A key is random, and may have these letters within.
  expect(listed.text).not.toContain('"sk_');
  expect(listed.text).not.toContain(client.apiSecret.slice(3));
  expect(listed.text).not.toContain('sha256');
});

test('a client that asks for a token each time is given the one of a moment ago, with what is left of it', async () => {
  const client = await service.integration(acme.id, ['jobs:enqueue', 'jobs:read']);
  const answers = await Promise.all(Array.from({ length: 10 }, () => service.tokenRequest(client)));
  const grant = z.object({ access_token: z.string(), expires_in: z.int().min(1).max(120) });
  const tokens = new Set(answers.map((answer) => grant.parse(answer.body).access_token));
  expect(tokens.size).toBe(1);
  expect(tokens).not.toContain(await service.token(client, { scope: 'jobs:read' }));
  expect(tokens).not.toContain(await service.token(account));
});

test('neither secret nor token nor record reaches the log', async () => {
  const client = await service.integration(acme.id);
  const token = await service.token(client);
  const body = {
    data: [{ sku: 'VERY-PRIVATE-VALUE', nested: { a: 'VERY-PRIVATE-VALUE' } }],
  };
  await acme.enqueue(body, { token });
  await acme.enqueue({}, { token, raw: '{"VERY-PRIVATE-VALUE"' });
  await service.call(`/v2/jobs?access_token=${token}`, { tenant: acme.id, raw: '{}' });
  expect(service.log).toContain('"route":"/v2/jobs"');
  for (const secret of [client.apiSecret, token, token.split('.')[2] ?? '', 'VERY-PRIVATE-VALUE']) {
    expect(service.log).not.toContain(secret);
  }
});
