import { CompactSign, importJWK, type JWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SecretKey } from '../../src/server/secret-key.ts';
import { type Answer, AUDIENCE, codeOf, SECRET_KEY } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService({
  config: {
    tokenLifetime: 120,
  },
});
const acme = useTenant(service, { scope: ['jobs:enqueue', 'jobs:read'] });

const post = (token: string): Promise<Answer> => acme.enqueue({}, { token });

describe('which tokens a request may carry', () => {
  /** A token signed with the service's own key, some of it changed. */
  async function forged(
    change: { header?: Record<string, string>; claims?: Record<string, unknown> } = {},
  ): Promise<string> {
    const { rows } = await service.pool.query<{ kid: string; sealed: string }>(
      'SELECT * FROM platen.signing_keys',
    );
    const [row] = rows;
    if (row === undefined) throw new Error('no key');
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: service.url,
      sub: acme.account.apiKey,
      client_id: acme.account.apiKey,
      aud: AUDIENCE,
      scope: 'jobs:enqueue',
      tenant: acme.id,
      iat: now,
      exp: now + 60,
      jti: 'x',
      ...change.claims,
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: row.kid, ...change.header })
      .sign(await importJWK(JSON.parse(new SecretKey(SECRET_KEY).open(row.sealed, row.kid)), 'RS256'));
  }

  test('the forger can make a good one', async () => {
    expect((await post(await forged())).status).toBe(201);
  });

  const past = Math.floor(Date.now() / 1000) - 3_600;
  test.each([
    ['expired', { claims: { iat: past, exp: past + 60 } }],
    ['without an end', { claims: { exp: undefined } }],
    ['for another audience', { claims: { aud: 'elsewhere' } }],
    ['from another issuer', { claims: { iss: 'https://elsewhere.test' } }],
    ['an ID token', { header: { typ: 'JWT' } }],
    ['not yet valid', { claims: { nbf: past + 7_200 } }],
    ['of an unknown account', { claims: { sub: 'pk_nobody' } }],
    ['with an unknown key', { header: { kid: 'other' } }],
  ])('%s → 401', async (_name, change) => {
    const answer = await post(await forged(change));
    expect([answer.status, codeOf(answer)]).toEqual([401, 'token-invalid']);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test.each([
    ['audience', { aud: 'elsewhere' }, (): string => AUDIENCE],
    ['issuer', { iss: 'https://elsewhere.test' }, (): string => service.url],
  ])('with the wrong %s → the answer says which is right', async (_name, claims, right) => {
    expect((await post(await forged({ claims }))).body).toMatchObject({
      detail: expect.stringContaining(`expected ${right()}`),
    });
  });

  test('tampered algorithm or signature → 401', async () => {
    const [header = '', claims = '', signature = ''] = (await forged()).split('.');
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${encoded({ alg: 'none', typ: 'at+jwt' })}.${claims}.`;
    // The public key as a shared secret: the classic confusion of RS256 with HS256.
    const { rows } = await service.pool.query<{ kid: string; public_jwk: JWK }>(
      'SELECT * FROM platen.signing_keys',
    );
    const key = rows[0];
    const confused = await new CompactSign(Buffer.from(claims, 'base64url'))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key?.kid ?? '' })
      .sign(Buffer.from(JSON.stringify(key?.public_jwk)));
    const other = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), tenant: 'globex' }),
    );
    const tokens = [
      none,
      confused,
      `${header}.${other.toString('base64url')}.${signature}`,
      `${header}.${claims}.`,
      'x'.repeat(9_000),
    ];
    for (const token of tokens) {
      expect(codeOf(await post(token))).toBe('token-invalid');
    }
  });

  test('of a revoked integration → 401 at once, and it gets no other', async () => {
    const client = await service.integration(acme.id);
    const token = await service.token(client);
    expect((await post(token)).status).toBe(201);
    expect((await service.admin('DELETE', `/tenants/${acme.id}/integrations/${client.apiKey}`)).status).toBe(
      200,
    );
    expect(codeOf(await post(token))).toBe('token-invalid');
    expect((await service.tokenRequest(client)).status).toBe(401);
  });

  test('after the key was rotated old tokens go on, and the new key signs once it had time to be fetched', async () => {
    const before = await service.token(acme.account);
    await service.server.rotateSigningKey();
    const keys = z.object({ keys: z.array(z.object({ kid: z.string() })) });
    const published = keys
      .parse((await service.call('/.well-known/jwks.json')).body)
      .keys.map((key) => key.kid);
    expect(published).toHaveLength(2);
    const kidOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    expect(kidOf(await service.token(acme.account))).toBe(kidOf(before));
    await service.pool.query(`UPDATE platen.signing_keys SET created_at = created_at - interval '1 day'`);
    await service.server.rotateSigningKey();
    const after = await service.token(acme.account);
    expect(kidOf(after)).toBe(published.find((kid) => kid !== kidOf(before)));
    expect((await post(before)).status).toBe(201);
    expect((await post(after)).status).toBe(201);
  });
});
