/** The service's configuration, as the environment gives it. */
import { describe, expect, test } from 'vitest';
import { ConfigError, configFromEnv } from '../../src/server/config.ts';

describe('configuration from the environment', () => {
  test('defaults, and every variable', () => {
    expect(configFromEnv({})).toMatchObject({
      host: '127.0.0.1',
      port: 8310,
      tokenLifetime: 600,
      audience: 'platen',
      trustProxy: 0,
    });
    const config = configFromEnv({
      PLATEN_HOST: '0.0.0.0',
      PLATEN_PORT: '0',
      PLATEN_PUBLIC_URL: 'https://print.example.test/',
      PLATEN_TOKEN_LIFETIME: '60',
      PLATEN_TRUST_PROXY: '10.0.0.0/8, ::1',
      PLATEN_EXTRA_ROUTES: 'true',
      PLATEN_MAX_RECORDS: '20000',
      AUTH_ISSUER: 'https://login.test/',
      AUTH_JWKS_URL: 'https://login.test/keys',
    });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      publicUrl: 'https://print.example.test',
      tokenLifetime: 60,
      trustProxy: ['10.0.0.0/8', '::1'],
      extraRoutes: true,
      limits: { records: 20_000, labels: 100_000 },
      externalAuth: { issuer: 'https://login.test/', tenantClaim: 'tenant' },
    });
    expect(configFromEnv({ PLATEN_PORT: '1' }, { port: 2 }).port).toBe(2);
  });

  test.each([
    [{ PLATEN_PORT: 'eighty' }, 'PLATEN_PORT=eighty: expected a whole number'],
    [{ PLATEN_PORT: '70000' }, /PLATEN_PORT=70000: .*65535/],
    [{ PLATEN_PUBLIC_URL: 'ftp://x' }, 'PLATEN_PUBLIC_URL=ftp://x: expected an http or https URL'],
    [{ PLATEN_EXTRA_ROUTES: 'maybe' }, 'PLATEN_EXTRA_ROUTES=maybe: expected true or false'],
    [{ AUTH_ISSUER: 'https://login.test' }, 'AUTH_JWKS_URL is missing'],
    [
      { PLATEN_TRUST_PROXY: 'true' },
      /PLATEN_TRUST_PROXY=true: expected how many proxies .* \(10\.0\.0\.0\/8/,
    ],
    [{ PLATEN_TRUST_PROXY: '10.0.0.0/33' }, /PLATEN_TRUST_PROXY=10\.0\.0\.0\/33: expected how many/],
    [{ PLATEN_TRUST_PROXY: '0.0.0.0/0' }, /PLATEN_TRUST_PROXY=0\.0\.0\.0\/0: expected how many/],
    [{ PLATEN_TRUST_PROXY: '::/0' }, /PLATEN_TRUST_PROXY=::\/0: expected how many/],
    [{ PLATEN_TRUST_PROXY: '100' }, /PLATEN_TRUST_PROXY=100: expected how many/],
    [
      { AUTH_ISSUER: 'https://login.test', AUTH_JWKS_URL: 'http://login.test/keys' },
      /AUTH_JWKS_URL=http:\/\/login\.test\/keys: expected an https URL/,
    ],
    [
      { AUTH_ISSUER: 'https://login.test', AUTH_JWKS_URL: 'http://127.0.0.1.evil.test/keys' },
      /AUTH_JWKS_URL=.*: expected an https URL/,
    ],
    [
      { AUTH_ISSUER: 'x', AUTH_JWKS_URL: 'https://login.test/keys', AUTH_TOKEN_TYPE: 'jwt' },
      /AUTH_TOKEN_TYPE=jwt/,
    ],
  ])('%j → an error that names variable, value and what was expected', (env, message) => {
    expect(() => configFromEnv(env)).toThrow(ConfigError);
    expect(() => configFromEnv(env)).toThrow(message);
  });

  test.each([
    ['0', 0],
    ['false', 0],
    ['2', 2],
    ['loopback,192.168.1.2', ['loopback', '192.168.1.2']],
  ])('PLATEN_TRUST_PROXY=%s', (text, trustProxy) => {
    expect(configFromEnv({ PLATEN_TRUST_PROXY: text }).trustProxy).toEqual(trustProxy);
  });

  test.each([
    'http://localhost:8080/keys',
    'http://127.0.0.1/keys',
    'http://[::1]:1/keys',
    'https://a.test/',
  ])('keys may come from %s', (AUTH_JWKS_URL) => {
    const config = configFromEnv({ AUTH_ISSUER: 'x', AUTH_JWKS_URL });
    expect(config.externalAuth).toMatchObject({ jwksUrl: AUTH_JWKS_URL, tokenType: 'at+jwt' });
  });

  test('a secret is never part of the error', () => {
    const wrong = () =>
      configFromEnv({
        PLATEN_ADMIN_TOKEN: 'too-short-secret',
        AUTH_ISSUER: 'x',
        AUTH_JWKS_URL: 'redis://user:hunter2@x',
      });
    expect(wrong).toThrow(/PLATEN_ADMIN_TOKEN=\(a secret, not shown\): expected 24 to 500/);
    expect(wrong).not.toThrow(/too-short|hunter2/);
  });

  test('a variable changes one setting of a group, and leaves the others as the file has them', () => {
    const file = {
      retention: { jobDays: 30 },
      events: { perPerson: 3 },
      limits: { labels: 7 },
      singleSignOn: { issuer: 'https://login.test/', clientId: 'file' },
      externalAuth: { issuer: 'https://login.test/', jwksUrl: 'https://login.test/keys' },
    };
    const env = {
      PLATEN_KEEP_LABEL_DATA_HOURS: '5',
      PLATEN_MAX_RECORDS: '6',
      PLATEN_SSO_CLIENT_ID: 'environment',
      AUTH_TENANT_CLAIM: 'customer',
    };
    expect(configFromEnv(env, {}, file)).toMatchObject({
      retention: { jobDays: 30, labelDataHours: 5 },
      events: { perPerson: 3 },
      limits: { labels: 7, records: 6 },
      singleSignOn: { issuer: 'https://login.test/', clientId: 'environment' },
      externalAuth: { issuer: 'https://login.test/', tenantClaim: 'customer' },
    });
  });

  test.each([
    [{}, { port: 99_999 }, {}, /^ {2}port=99999: .*65535/m],
    [{ PLATEN_PORT: '1' }, { port: 99_999 }, {}, /^ {2}port=99999: .*65535/m],
    [{}, {}, { retention: { jobDays: 1 } }, /^ {2}retention\.jobDays=1: /m],
    [{ PLATEN_KEEP_JOB_DAYS: '0' }, {}, { retention: { jobDays: 9 } }, /^ {2}PLATEN_KEEP_JOB_DAYS=0: /m],
    [{}, {}, { publicUrl: 'ftp://x' }, /^ {2}publicUrl=ftp:\/\/x: expected an http/m],
    [{}, { adminToken: 'too-short' }, {}, /^ {2}adminToken=\(a secret, not shown\): expected 24 to 500/m],
  ])('%j, %j by flags and %j by file → an error that names what was written', (env, flags, file, message) => {
    expect(() => configFromEnv(env, flags, file)).toThrow(message);
  });
});
