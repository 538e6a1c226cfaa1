/** What the audit, the limits and the cookies see of a caller behind trusted proxies, and of one who only claims to be. */
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { auditPage, CONSOLE_HEADER } from '../../src/contract/people.ts';
import { plainAddress } from '../../src/server/network.ts';
import { ADMIN_TOKEN } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const LIMIT = 3;
/** The proxy is 127.0.0.1; every other address of this machine is a stranger's. */
const service = useService({
  config: {
    trustProxy: ['127.0.0.1', '10.0.0.0/8'],
    tokenFailures: { perClientAndAddress: 1_000, perAddress: LIMIT, perClient: 1_000, window: 3_600 },
  },
});

type Asked = {
  from?: string | undefined;
  headers?: Record<string, string | string[]>;
  method?: string;
  body?: string;
};

async function call(path: string, { from = '127.0.0.1', headers = {}, method = 'POST', body = '' }: Asked) {
  const { hostname, port } = new URL(service.url);
  const request = ask({ hostname, port, path, method, headers, localAddress: from }).end(body);
  const [response] = await once(request, 'response');
  return { status: response.statusCode, headers: response.headers, body: await json(response) };
}

let clients = 0;
async function guess(forwarded: string | string[], from?: string): Promise<number> {
  clients += 1;
  const body = `grant_type=client_credentials&client_id=pk_guess${clients}&client_secret=x`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': forwarded };
  return (await call('/oauth/token', { from, headers, body })).status;
}

/** The addresses as a caller's turn writes them, `LIMIT` that are one caller's, and the next. */
async function expectOneCaller(forwarded: (turn: number) => string | string[], from?: string): Promise<void> {
  for (let turn = 0; turn < LIMIT; turn += 1) expect(await guess(forwarded(turn), from), `${turn}`).toBe(401);
  expect(await guess(forwarded(LIMIT), from)).toBe(429);
}

describe('one caller is one, however', () => {
  test.each<[string, (turn: number) => string | string[]]>([
    ['the proxy adds the port', (turn) => `203.0.113.1:${4_000 + turn}`],
    ['it adds the port to IPv6', (turn) => `[2001:db8:1::${turn}]:${4_000 + turn}`],
    [
      'IPv6 is written',
      (turn) =>
        ['2001:db8:2::1', '2001:DB8:2::1', '2001:0db8:0002:0:0:0:0:1', '2001:db8:2::0.0.0.1'][turn] ?? '',
    ],
    [
      'IPv4 is written',
      (turn) =>
        ['203.0.113.2', '::ffff:203.0.113.2', '::ffff:cb00:7102', '[::FFFF:203.0.113.2]:1'][turn] ?? '',
    ],
    ['the zone is called', (turn) => `fe80::1%eth${turn}`],
    ['many a name it claims', (turn) => `192.0.2.${turn}, 192.0.2.9, 203.0.113.3`],
    ['often it sends the header', (turn) => [`192.0.2.${turn}`, '203.0.113.4']],
    ['many proxies it passes', (turn) => `192.0.2.${turn}, 203.0.113.5, 10.0.0.${turn}, 10.1.2.3`],
    ['it claims to be a proxy', (turn) => `10.9.9.${turn}, 203.0.113.6`],
    ['long the header is', (turn) => `${'192.0.2.1, '.repeat(1_000 + turn)}203.0.113.7`],
    ['what comes is garbage', (turn) => ['unknown', '_hidden', '<script>', 'a'.repeat(10_000)][turn] ?? ''],
  ])('%s', (_how, forwarded) => expectOneCaller(forwarded));

  test('a stranger claims to be somebody else', async () => {
    await expectOneCaller((turn) => `198.51.100.${turn}`, '127.0.0.2');
    // Who was named has lost nothing.
    expect(await guess('198.51.100.1')).toBe(401);
  });
});

test('the audit has the address that a trusted proxy has seen, in one form, and nobody else’s words', async () => {
  await service.tenant('acme');
  const deed = async (forwarded: string, from?: string) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    clients += 1;
    const body = JSON.stringify({ login: `a${clients}`, role: 'viewer' });
    const asked = { from, headers: { ...headers, 'x-forwarded-for': forwarded }, body };
    expect((await call('/app/tenants/acme/people', asked)).status).toBe(201);
    const { entries } = auditPage.parse((await service.admin('GET', '/audit?tenant=acme&limit=1')).body);
    return entries[0]?.from;
  };
  expect(await deed('192.0.2.1, 203.0.113.9:5000')).toBe('203.0.113.9');
  expect(await deed('[2001:DB8::9]:5000')).toBe('2001:db8::9');
  expect(await deed('<img src=x onerror=alert(1)>')).toBe('127.0.0.1');
  expect(await deed('203.0.113.9', '127.0.0.3')).toBe('127.0.0.3');
});

test('a stranger’s word for https and for the host is not believed', async () => {
  const claim = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example', [CONSOLE_HEADER]: '1' };
  const body = JSON.stringify({ tenant: 'acme', login: 'nobody', password: 'wrong password 1' });
  const headers = { ...claim, 'content-type': 'application/json', origin: 'https://evil.example' };
  for (const from of ['127.0.0.2', '127.0.0.4']) {
    expect((await call('/app/session', { from, headers, body })).body).toMatchObject({
      code: 'origin-foreign',
    });
  }
  // The proxy's word is.
  expect((await call('/app/session', { headers, body })).body).toMatchObject({ code: 'sign-in-refused' });
});

test.each([
  ['203.0.113.1', '203.0.113.1'],
  ['203.0.113.1:65535', '203.0.113.1'],
  ['[::1]', '::1'],
  ['[::1]:80', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['1.2.3', undefined],
  ['0x7f.1', undefined],
  ['127.1', undefined],
  ['1.2.3.4:', undefined],
  ['1.2.3.4:80:80', undefined],
  ['[1.2.3.4]:80', undefined],
  ['::1]:80', undefined],
  ['[::1', undefined],
  ['%eth0', undefined],
  ['', undefined],
  ['unknown', undefined],
])('%j is the address %j', (text, address) => {
  expect(plainAddress(text)).toBe(address);
});
