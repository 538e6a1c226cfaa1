/** Where a webhook's request may go, and what it is signed with. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookCreate } from '../../src/contract/webhook.ts';
import { send, signatureOf } from '../../src/server/webhooks/send.ts';
import { isNetwork, whereAllowed } from '../../src/server/webhooks/where-allowed.ts';
import { selfSigned } from '../kit/wire/certificate.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const nowhere = whereAllowed([]);
const never = new AbortController().signal;

describe('addresses', () => {
  test.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.168.1.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    // Shared, multicast, kept for later, broadcast.
    ...['100.127.255.255', '239.255.255.255', '240.0.0.1', '255.255.255.254', '192.0.0.1', '192.88.99.1'],
    // Loopback, unspecified, link-local, unique local, multicast.
    ...['::1', '::', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254', 'ff02::1'],
    // IPv4 in IPv6: mapped, compatible, NAT64, 6to4, Teredo.
    ...[
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::a00:1',
      '2002:7f00:1::1',
    ],
    // Of public addresses too: a packet to them goes through a gateway that this machine's network has chosen.
    ...['64:ff9b::808:808', '2002:808:808::1', '::8.8.8.8', '100::1', '5f00::1', 'fec0::1', 'ff0e::1'],
    ...[
      '2001:0:4136:e378::1',
      '2001:db8::1',
      '::ffff:8.8.8.8',
      '2606:4700::1%1',
      'localhost',
      '',
      '0177.0.0.1',
    ],
  ])('%j is not public', (address) => {
    expect(nowhere(address)).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(nowhere(address)).toBe(true);
    },
  );

  test('those of a network that is named are allowed, and no others', () => {
    const allowed = whereAllowed(['10.2.0.0/16', 'fd12::/16']);
    expect(['10.2.3.4', 'fd12::5'].map(allowed)).toEqual([true, true]);
    const others = ['10.3.0.1', 'fd13::1', '127.0.0.1', 'fd12::5%lo', '::ffff:10.3.0.1', '64:ff9b::a02:304'];
    expect(others.filter(allowed)).toEqual([]);
  });

  test.each([
    ['10.0.0.0/8', true],
    ['fd00::/8', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0', false],
    ['example.com/8', false],
    ['fe80::%1/10', false],
  ])('%s is a network: %s', (text, is) => {
    expect(isNetwork(text)).toBe(is);
  });
});

describe('URLs', () => {
  test.each([
    'http://example.com/',
    'https://user@example.com/',
    'https://:secret@example.com/',
    'https://[fe80::1%25eth0]/',
    'ftp://example.com/',
    'example.com',
    'https://',
  ])('%s is refused', (url) => {
    expect(webhookCreate.safeParse({ url }).success).toBe(false);
  });

  test.each([
    'https://0177.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://１２７.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
  ])('%s gets nowhere', async (url) => {
    const sent = await send(
      { id: 'm', url, body: '{}', secrets: [SECRET] },
      { isAllowed: nowhere, signal: never },
    );
    expect(sent).toMatchObject({ status: null, answer: 'the address is not a public one' });
  });
});

describe('requests', () => {
  const usual = getCACertificates('default');
  const seen: { path: string; host: string | undefined }[] = [];
  let server: Server;
  let port = 0;
  const local = whereAllowed(['127.0.0.1/32']);
  const message = (path = '/') => ({
    ...{ id: 'msg', url: `https://127.0.0.1:${port}${path}`, body: '{"a":"ü"}', secrets: [SECRET] },
  });

  beforeAll(async () => {
    const own = selfSigned();
    setDefaultCACertificates([...usual, own.cert]);
    server = createServer(own, (request, response) => {
      seen.push({ path: request.url ?? '', host: request.headers.host });
      const moved = /^\/moved-(\d+)$/.exec(request.url ?? '')?.[1];
      if (moved !== undefined) response.writeHead(Number(moved), { location: '/elsewhere' });
      if (request.url === '/later') response.writeHead(503, { 'retry-after': '77' });
      response.end('x'.repeat(request.url === '/much' ? 100_000 : 3));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    setDefaultCACertificates(usual);
    server.closeAllConnections();
    server.close();
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is an answer, and nobody follows it',
    async (status) => {
      const sent = await send(message(`/moved-${status}`), { isAllowed: local, signal: never });
      expect(sent).toMatchObject({ status, answer: 'xxx' });
      expect(seen.map(({ path }) => path)).not.toContain('/elsewhere');
    },
  );

  test('1 KiB of an answer is kept, and Retry-After read', async () => {
    expect((await send(message('/much'), { isAllowed: local, signal: never })).answer).toHaveLength(1_024);
    expect(await send(message('/later'), { isAllowed: local, signal: never })).toMatchObject({
      retryAfter: 77,
    });
  });

  test('every address that a name has must be allowed', async () => {
    const before = seen.length;
    const url = `https://receiver.example:${port}/`;
    for (const addresses of [['127.0.0.1', '10.0.0.1'], ['::1'], []]) {
      const ways = { isAllowed: local, signal: never, addressesOf: async () => addresses };
      expect(await send({ ...message(), url }, ways)).toMatchObject({ status: null });
    }
    expect(seen.length).toBe(before);
  });

  test('a name is looked up once: another address a moment later changes nothing', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    let asked = 0;
    const addressesOf = async () => answers[asked++] ?? [];
    // The certificate is not that name's, so the request ends in the handshake: at the address that was checked.
    const sent = await send(
      { ...message(), url: `https://receiver.example:${port}/` },
      { isAllowed: local, signal: never, addressesOf },
    );
    expect([asked, sent.answer]).toEqual([1, 'ERR_TLS_CERT_ALTNAME_INVALID']);
  });

  test('a look-up without an end is left', async () => {
    const ends = AbortSignal.timeout(100);
    const addressesOf = () => new Promise<string[]>(() => undefined);
    const sent = await send(
      { ...message(), url: 'https://receiver.example/' },
      { isAllowed: local, signal: ends, addressesOf },
    );
    expect(sent.status).toBeNull();
  });
});

test('signatures are those of Standard Webhooks, one for each secret', () => {
  const seconds = Math.floor(Date.now() / 1000);
  const old = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  const said = { id: 'msg_1', body: '{"a":1}', secrets: [SECRET, old] };
  const headers = {
    'webhook-id': said.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureOf(said, seconds),
  };
  for (const secret of [SECRET, old])
    expect(new Webhook(secret).verify(said.body, headers)).toEqual({ a: 1 });
  expect(() => new Webhook(SECRET).verify('{"a":2}', headers)).toThrow();
});
