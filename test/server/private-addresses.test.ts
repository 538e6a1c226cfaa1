/**
 * A service that allows no private network, asked to send to this machine by every way to write it: as a webhook and as an
 * alert in each form, nothing reaches a port that listens here. (What else the service asks for is named by its configuration.)
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { webhookMessage, webhookTested } from '../../src/contract/webhook.ts';
import { pointersOf } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService({ redis: false });
const TENANTS = ['acme', 'globex'];
const made = z.object({ id: z.string() });
let connections = 0;
/** On all addresses of this machine, of both families where it has both. */
const trap = createServer((socket) => {
  connections += 1;
  socket.destroy();
}).listen(0);
beforeAll(async () => {
  if (!trap.listening) await once(trap, 'listening');
  for (const tenant of TENANTS) await service.tenant(tenant);
});
afterAll(() => void trap.close());

const HOSTS = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
  ],
  ...['0.0.0.0', '0', '127.255.255.254', '127.0.0.1.', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::80ff:fffe]'],
  // A name, by the resolver of this machine.
  ...['localhost', 'LOCALHOST'],
];

test.each(['webhook', 'chat', 'teams'])('a %s gets nowhere', async (form) => {
  const { port } = trap.address() as AddressInfo;
  const said = async (host: string, n: number) => {
    // A tenant has 20 at most.
    const tenant = `/tenants/${TENANTS[n % TENANTS.length]}`;
    const to = `https://${host}:${port}/`;
    const [list, body] = form === 'webhook' ? ['webhooks', { url: to }] : ['alerts', { form, to }];
    const { id } = made.parse((await service.admin('POST', `${tenant}/${list}`, body)).body);
    const one = `${tenant}/webhooks/${id}`;
    webhookTested.parse((await service.admin('POST', `${one}/test`)).body);
    const attempts = async () =>
      z.array(webhookMessage).parse((await service.admin('GET', `${one}/messages`)).body)[0]?.attempts ?? [];
    await expect.poll(attempts, { timeout: 60_000 }).toHaveLength(1);
    const [attempt] = await attempts();
    await service.admin('DELETE', one);
    return [host, attempt?.status, attempt?.answer];
  };
  const nowhere = HOSTS.map((host) => [host, null, 'the address is not a public one']);
  expect(await Promise.all(HOSTS.map(said))).toEqual(nowhere);
  expect(connections).toBe(0);
});

test.each([
  'http://8.8.8.8/',
  'https://user@8.8.8.8/',
  'https://:word@8.8.8.8/',
  'https://8.8.8.8@127.0.0.1/',
  'https://[fe80::1%25lo]/',
  'https://[fe80::1%lo]/',
  'https://[::1/',
  'https://256.0.0.1/',
  'https://0x100000000/',
  'gopher://127.0.0.1/',
  'file:///etc/passwd',
])('%s is refused as a webhook and as an alert', async (url) => {
  expect(pointersOf(await service.admin('POST', '/tenants/acme/webhooks', { url }))).toEqual(['/url']);
  for (const form of ['chat', 'teams'])
    expect(pointersOf(await service.admin('POST', '/tenants/acme/alerts', { form, to: url }))).toEqual([
      '/to',
    ]);
});
