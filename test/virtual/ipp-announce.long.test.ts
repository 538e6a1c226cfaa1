import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Packet, StringAnswer } from 'dns-packet';
import dnsPacket from 'dns-packet';
import multicastDns from 'multicast-dns';
import { expect, it, onTestFinished } from 'vitest';
import { stringsOf } from '../../drivers/ipp/message.ts';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';
import { temporaryDirectory } from '../kit/printers/bench-printer.ts';
import { ippBench, never } from '../kit/printers/ipp-bench.ts';
import { startAvahi } from '../kit/programs/avahi.ts';

const SERVICE = '_ipp._tcp.local';
const SUBTYPE = '_print._sub._ipp._tcp.local';

interface Found {
  name: string;
  type: string;
  ttl?: number;
  data?: unknown;
}

/** All that is said on the loopback interface. */
class Ear extends EventEmitter<{ heard: [] }> {
  readonly heard: Found[] = [];
  readonly mdns = multicastDns({ interface: '127.0.0.1', bind: '0.0.0.0' });

  constructor() {
    super();
    this.mdns.on('response', (packet) => {
      this.heard.push(...([...(packet.answers ?? []), ...(packet.additionals ?? [])] as Found[]));
      this.emit('heard');
    });
    onTestFinished(() => new Promise<void>((resolve) => this.mdns.destroy(resolve)));
  }

  async until(test: (record: Found) => boolean): Promise<Found> {
    for (;;) {
      const found = this.heard.find(test);
      if (found) return found;
      await once(this, 'heard');
    }
  }
}

async function ear(): Promise<Ear> {
  const made = new Ear();
  await once(made.mdns, 'ready');
  return made;
}

const txtOf = (record: Found) =>
  Object.fromEntries(
    (record.data as Buffer[]).map((entry) => {
      const [key = '', ...value] = entry.toString().split('=');
      return [key, value.join('=')];
    }),
  );

it('announces itself, answers, and says goodbye', async () => {
  const listener = await ear();
  const { printer, client } = await ippBench({ name: 'Lab 1.2', announce: ['127.0.0.1'] });
  const instance = `Lab 1-2 (${printer.identity().serial.slice(-4)}).${SERVICE}`;
  const isOurs = (record: Found) => record.type === 'PTR' && record.data === instance;
  await listener.until(isOurs);

  listener.heard.length = 0;
  listener.mdns.query([{ name: SUBTYPE, type: 'PTR' }]);
  await listener.until((record) => isOurs(record) && record.name === SUBTYPE);
  const srv = await listener.until((record) => record.type === 'SRV' && record.name === instance);
  expect(srv.data).toMatchObject({ port: printer.port });
  const { target } = srv.data as { target: string };
  const address = await listener.until((record) => record.type === 'A' && record.name === target);
  expect(address.data).toBe('127.0.0.1');
  const txt = txtOf(await listener.until((record) => record.type === 'TXT' && record.name === instance));
  const attributes = await client.getPrinterAttributes(never);
  expect(txt).toMatchObject({
    txtvers: '1',
    rp: 'ipp/print',
    ty: 'Platen Virtual Label Printer',
    kind: 'label',
    usb_CMD: 'ZPL,PDF',
  });
  expect([`urn:uuid:${txt['UUID']}`]).toEqual(stringsOf(attributes, 'printer-uuid'));
  expect(txt['pdl']?.split(',')).toEqual(stringsOf(attributes, 'document-format-supported'));
  expect(stringsOf(attributes, 'printer-dns-sd-name')).toEqual([instance.slice(0, -SERVICE.length - 1)]);

  listener.heard.length = 0;
  await printer.stop();
  const goodbye = await listener.until(isOurs);
  expect(goodbye.ttl).toBe(0);
});

it('answers a resolver that knows no multicast DNS, and not who knows the answer already', async () => {
  const { printer } = await ippBench({ announce: ['127.0.0.1'] });
  const { serial } = printer.identity();
  const instance = `bench (${serial.slice(-4)}).${SERVICE}`;
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  socket.setMulticastInterface('127.0.0.1');
  const replies: Packet[] = [];
  const ask = (packet: Packet) => socket.send(dnsPacket.encode(packet), 5353, '224.0.0.251');
  const ours = (packet: Packet) =>
    packet.answers?.some((answer) => (answer as StringAnswer).data === instance || answer.name === instance);
  const known: StringAnswer = { type: 'PTR', name: SERVICE, ttl: 4500, data: instance };
  ask({ type: 'query', id: 7, questions: [{ type: 'PTR', name: SERVICE }], answers: [known] });
  ask({ type: 'query', id: 8, questions: [{ type: 'SRV', name: instance.toUpperCase() }] });
  for (;;) {
    const [message] = await once(socket, 'message');
    const packet = dnsPacket.decode(message);
    if (ours(packet)) replies.push(packet);
    if (packet.id === 8) break;
  }
  expect(replies.map(({ id }) => id)).toEqual([8]);
  expect(replies[0]?.questions).toHaveLength(1);
});

it('goes without a word when the power fails, and comes back with it', async () => {
  const listener = await ear();
  const { printer } = await ippBench({ announce: ['127.0.0.1'] });
  const instance = `bench (${printer.identity().serial.slice(-4)}).${SERVICE}`;
  const isOurs = (record: Found) => record.data === instance;
  await listener.until(isOurs);
  listener.heard.length = 0;
  await printer.powerOff();
  await printer.powerOn();
  const next = await listener.until(isOurs);
  expect(next.ttl).toBeGreaterThan(0);
});

it('is found, and lost, by Avahi', async () => {
  const avahi = await startAvahi();
  onTestFinished(() => avahi.stop());
  const { printer } = await ippBench({ announce: ['127.0.0.1'] });
  const browser = spawn('avahi-browse', ['--resolve', '--parsable', '_ipp._tcp'], {
    env: avahi.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void browser.kill());
  // Lines are `=;lo;IPv4;name;type;domain;host;address;port;txt`, and `-;…` for what goes.
  const lines = createInterface({ input: browser.stdout })[Symbol.asyncIterator]();
  const line = async (sign: string) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('avahi-browse ended');
      const fields = String(value).split(';');
      if (fields[0] === sign && fields[3]?.startsWith('bench')) return fields;
    }
  };
  const found = await line('=');
  expect(found.slice(7, 9)).toEqual(['127.0.0.1', String(printer.port)]);
  expect(found[9]).toContain('"rp=ipp/print"');
  expect(found[9]).toContain(`"UUID=${printer.identity().uuid}"`);
  await printer.stop();
  await line('-');
});

it('says so when there is no such interface, and works all the same', async () => {
  const elsewhere = new VirtualIppPrinter({
    name: 'elsewhere',
    outDir: await temporaryDirectory(),
    dpi: 203,
    width: 50,
    height: 25,
    announce: ['192.0.2.1'],
  });
  const faults: string[] = [];
  elsewhere.on('status', ({ fault }) => faults.push(...(fault === undefined ? [] : [fault])));
  await elsewhere.start();
  onTestFinished(() => elsewhere.stop());
  expect(faults).toEqual(['DNS-SD: no interface has the address 192.0.2.1']);
  expect((await fetch(`http://127.0.0.1:${elsewhere.port}/`)).status).toBe(200);
});
