/** A responder of DNS-SD that is asked without end: what it answers is bounded, and others hear what they ask for. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import dnsPacket from 'dns-packet';
import multicastDns from 'multicast-dns';
import { expect, onTestFinished, test } from 'vitest';
import { Announcement, type Service } from '../../src/ipp/announcement.ts';

const SERVICES: Service[] = Array.from({ length: 20 }, (_, at) => ({
  ...{
    name: `Flooded ${at}`,
    type: '_ipp._tcp',
    host: 'platen-flooded.local',
    port: 6310,
    txt: { at: `${at}` },
  },
}));

async function announced(): Promise<Announcement> {
  const announcement = new Announcement('127.0.0.1', (error) => expect.fail(error.message));
  await announcement.start(SERVICES);
  onTestFinished(() => announcement.stop(false));
  return announcement;
}

test('a record is multicast once a second at most, however often it is asked for', async () => {
  await announced();
  const ear = multicastDns({ interface: '127.0.0.1', bind: '0.0.0.0' });
  onTestFinished(() => new Promise<void>((resolve) => ear.destroy(resolve)));
  await once(ear, 'ready');
  let heard = 0;
  let last = false;
  ear.on('response', ({ answers }) => {
    for (const answer of answers ?? []) {
      if (answer.type === 'SRV' && answer.name === 'Flooded 3._ipp._tcp.local') last = true;
      if (answer.type !== 'PTR' || answer.data !== 'Flooded 7._ipp._tcp.local') continue;
      if (answer.name === '_ipp._tcp.local') heard += 1;
    }
  });
  const since = performance.now();
  for (let asked = 0; asked < 2_000; asked++) {
    ear.query([{ name: '_IPP._tcp.local', type: 'PTR' }]);
    if (asked % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  last = false;
  // What is asked last may be lost among the rest.
  const isHeard = () => {
    ear.query([{ name: 'Flooded 3._ipp._tcp.local', type: 'SRV' }]);
    return last;
  };
  await expect.poll(isHeard, { timeout: 20_000, interval: 200 }).toBe(true);
  const seconds = (performance.now() - since) / 1_000;
  // It announces twice by itself; others on this machine may ask, too.
  expect(heard).toBeGreaterThan(0);
  expect(heard).toBeLessThanOrEqual(4 + seconds);
});

test('who asks alone gets so many answers and no more', async () => {
  await announced();
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  socket.setMulticastInterface('127.0.0.1');
  const ids = new Set<number>();
  const first = Promise.withResolvers<void>();
  socket.on('message', (message) => {
    ids.add(dnsPacket.decode(message).id ?? 0);
    first.resolve();
  });
  const since = performance.now();
  const question = { type: 'SRV', name: 'Flooded 3._ipp._tcp.local' } as const;
  for (let id = 1; id <= 2_000; id++) {
    socket.send(dnsPacket.encode({ type: 'query', id, questions: [question] }), 5353, '224.0.0.251');
    if (id % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await first.promise;
  const seconds = (performance.now() - since) / 1_000;
  expect(ids.size).toBeLessThanOrEqual(50 * (2 + seconds));
});
