import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import multicastDns from 'multicast-dns';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { evidence } from '../../src/agent/discovery/evidence.ts';
import { chosenDriver, type Sighting, sighting } from '../../src/agent/discovery/provider.ts';
import { encodeQuestions } from '../../src/agent/discovery/providers/dns-sd/dns-question.ts';
import { DnsRecords } from '../../src/agent/discovery/providers/dns-sd/dns-records.ts';
import { type DnsSdProvider, dnsSdDiscovery } from '../../src/agent/discovery/providers/dns-sd/dns-sd.ts';
import { parseTxt } from '../../src/agent/discovery/providers/dns-sd/dns-sd-txt.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { freePort } from '../kit/wire/listening.ts';
import { drivable } from './drivable.ts';

const UUID = '4509a320-00a0-008f-00b6-002507510eca';
const signal = new AbortController().signal;

let avahi: Avahi;
beforeAll(async () => {
  avahi = await startAvahi();
});
afterAll(() => avahi?.stop());

function onLoopback(options: Parameters<typeof dnsSdDiscovery>[0] = {}): DnsSdProvider {
  const provider = dnsSdDiscovery({ interfaces: ['127.0.0.1'], timeout: 1_000, ...options });
  onTestFinished(() => provider.stop());
  return provider;
}

/** Other tests announce theirs on this machine too. */
async function foundAs(provider: DnsSdProvider, name: string): Promise<Sighting[]> {
  return (await provider.find(signal)).filter((one) => one.name === name);
}

/** What announces itself under this name, as one that takes bytes on a port. */
function socketPrinter(
  name: string,
  at: { target: string; port: number },
  txt: string[],
  address: string,
): void {
  sparingResponder([
    { name: '_pdl-datastream._tcp.local', type: 'PTR', data: name },
    { name, type: 'SRV', data: at },
    { name, type: 'TXT', data: txt },
    { name: at.target, type: 'A', data: address },
  ]);
}

test('what Avahi announces is found, each service with what all of them say', async () => {
  const name = 'Ward 3 (Zebra 1.0)';
  const ends = [
    await avahi.publish(name, '_ipp._tcp', 6310, [
      'txtvers=1',
      'rp=ipp/print',
      'ty=ZTC ZD421-203dpi ZPL',
      `UUID=${UUID.toUpperCase()}`,
      'pdl=application/octet-stream,application/vnd.zebra-zpl,application/pdf',
      'usb_MFG=Zebra Technologies',
      'usb_MDL=ZTC ZD421-203dpi ZPL',
    ]),
    await avahi.publish(name, '_pdl-datastream._tcp', 9100, ['usb_CMD=ZPL']),
    await avahi.publish(name, '_printer._tcp', 0),
  ];
  const provider = onLoopback();
  const device = { uuid: UUID, make: 'Zebra Technologies', model: 'ZTC ZD421-203dpi ZPL' };
  const found = async () => drivable(await foundAs(provider, name));
  // On a busy machine the answers to a scan may be later than its end; the next scan has them.
  await expect.poll(found, { timeout: 60_000 }).toEqual([
    {
      uri: 'ipp://127.0.0.1:6310/ipp/print',
      name,
      language: 'zpl',
      dpi: 203,
      evidence: { ...device, languages: ['zpl', 'pdf'] },
    },
    {
      uri: 'socket://127.0.0.1:9100',
      name,
      language: 'zpl',
      dpi: 203,
      evidence: { ...device, languages: ['zpl'] },
    },
  ]);
  for (const one of await found()) expect(chosenDriver.parse(one)).toEqual(one);

  // A service that ends says so, and the other one stays.
  const news = Promise.withResolvers<void>();
  provider.onNews = news.resolve;
  await ends[1]?.();
  await news.promise;
  const ended = async () => (await foundAs(provider, name)).map(({ uri }) => uri);
  await expect.poll(ended, { timeout: 10_000 }).toEqual(['ipp://127.0.0.1:6310/ipp/print']);
  await Promise.all(ends.map((end) => end()));
});

test('a printer that appears between two scans is news at once', async () => {
  const provider = onLoopback();
  await provider.find(signal);
  const news = Promise.withResolvers<void>();
  provider.onNews = news.resolve;
  const end = await avahi.publish('Appears', '_pdl-datastream._tcp', 9101);
  await news.promise;
  await expect
    .poll(() => foundAs(provider, 'Appears'), { timeout: 60_000 })
    .toMatchObject([{ uri: 'socket://127.0.0.1:9101' }]);
  await end();
});

test('ippeveprinter, which announces itself, is found', async () => {
  const spool = mkdtempSync(join(tmpdir(), 'platen-test-eve-'));
  const port = await freePort();
  const args = ['-p', String(port), '-M', 'Zebra', '-m', 'ZD421', '-d', spool];
  const formats = ['-f', 'application/pdf,application/vnd.zebra-zpl,application/octet-stream'];
  const printer: ChildProcess = spawn('ippeveprinter', [...args, ...formats, 'Eve'], {
    stdio: 'ignore',
    env: avahi.environment,
  });
  onTestFinished(async () => {
    const exited = once(printer, 'exit');
    if (printer.exitCode === null && printer.kill('SIGTERM')) await exited;
    rmSync(spool, { recursive: true, force: true });
  });
  const provider = onLoopback();
  await expect.poll(() => foundAs(provider, 'Eve'), { timeout: 30_000 }).not.toEqual([]);
  const found = await foundAs(provider, 'Eve');
  expect(found.map(({ uri }) => uri)).toContain(`ipp://127.0.0.1:${port}/ipp/print`);
  for (const one of found) {
    expect(one.evidence).toMatchObject({
      model: 'Zebra ZD421',
      languages: expect.arrayContaining(['zpl']),
    });
    expect(one.evidence.uuid).toBeDefined();
  }
});

/** A responder that says only what it is asked, one record a packet, as small printers do. */
function sparingResponder(records: { name: string; type: string; data: unknown; ttl?: number }[]): void {
  const mdns = multicastDns({ interface: '127.0.0.1', bind: '0.0.0.0' });
  onTestFinished(() => new Promise<void>((done) => void mdns.destroy(() => done())));
  mdns.on('query', ({ questions = [] }) => {
    for (const asked of questions) {
      for (const record of records) {
        if (record.name !== asked.name || record.type !== asked.type) continue;
        mdns.respond({ answers: [{ ttl: 120, ...record }] } as Parameters<typeof mdns.respond>[0]);
      }
    }
  });
}

test('what an answer leaves out is asked for, also for a name with dots', async () => {
  const name = 'Lab. 2 / 4.20._pdl-datastream._tcp.local';
  socketPrinter(name, { target: 'lab2.local', port: 9102 }, ['usb_CMD=ZPL', 'usb_MFG=TSC'], '127.0.0.1');
  const provider = onLoopback();
  await expect
    .poll(() => foundAs(provider, 'Lab. 2 / 4.20'), { timeout: 60_000 })
    .toEqual([
      {
        uri: 'socket://127.0.0.1:9102',
        name: 'Lab. 2 / 4.20',
        evidence: { make: 'TSC', languages: ['zpl'] },
      },
    ]);
});

test('a name that a terminal would obey is shown without that', async () => {
  const name = '\x1b]0;owned\x07\x1b[2JDock\u202e 4._pdl-datastream._tcp.local';
  socketPrinter(name, { target: 'dock4.local', port: 9104 }, ['usb_CMD=ZPL'], '127.0.0.1');
  const provider = onLoopback();
  await expect.poll(() => foundAs(provider, ']0;owned [2JDock 4'), { timeout: 60_000 }).toHaveLength(1);
});

test('an address in none of our networks is not one to connect to', async () => {
  const name = 'Elsewhere._pdl-datastream._tcp.local';
  socketPrinter(name, { target: 'elsewhere.local', port: 9100 }, ['usb_CMD=ZPL'], '192.0.2.7');
  expect(await foundAs(onLoopback(), 'Elsewhere')).toEqual([]);
});

test('without an interface that has multicast nothing is found, and a second scan works as the first', async () => {
  const provider = onLoopback({ interfaces: ['192.0.2.1'], timeout: 50 });
  expect(await provider.find(signal)).toEqual([]);
  await provider.stop();
  expect(await provider.find(signal)).toEqual([]);
  const abort = new AbortController();
  const scan = provider.find(abort.signal);
  abort.abort(new Error('stop'));
  await expect(scan).rejects.toThrow('stop');
});

test('records are valid for their time, end with a goodbye, and are replaced by newer ones', () => {
  let now = 0;
  const records = new DnsRecords(() => now);
  const hear = (data: string, ttl: number, flush = false) =>
    records.hear({ type: 'A', name: 'P.local', data, ttl, flush });
  expect([hear('10.0.0.1', 120), hear('10.0.0.1', 120)]).toEqual(['new', 'nothing']);
  expect(records.addresses('p.LOCAL')).toEqual(['10.0.0.1']);
  now = 119_999;
  expect(records.addresses('p.local')).toEqual(['10.0.0.1']);
  now = 120_000;
  expect(records.addresses('p.local')).toEqual([]);
  hear('10.0.0.1', 120);
  hear('10.0.0.2', 120);
  now += 5_000;
  expect(hear('10.0.0.3', 120, true)).toBe('ending');
  now += 1_000;
  expect(records.addresses('p.local')).toEqual(['10.0.0.3']);
  expect(hear('10.0.0.3', 0)).toBe('ending');
  now += 1_000;
  expect(records.addresses('p.local')).toEqual([]);
  expect(records.size).toBe(0);
  records.hear({ type: 'PTR', name: '_ipp._tcp.local', data: 'x', ttl: 4_500 });
  for (let asked = 0; asked < 4; asked += 1) {
    expect(records.pointers('_ipp._tcp.local')).toEqual(['x']);
    records.asking('_ipp._tcp.local');
  }
  expect(records.pointers('_ipp._tcp.local')).toEqual([]);
});

test('however much is heard, only so much is kept', () => {
  const records = new DnsRecords(() => 0);
  for (let index = 0; index < 20_000; index += 1) {
    records.hear({ type: 'PTR', name: `${index % 7_000}.local`, data: `${index}.local`, ttl: 1e9 });
  }
  expect(records.size).toBeLessThanOrEqual(4_000);
  expect(records.pointers('5999.local')).toEqual(['19999.local']);
  // Each of hundreds of instances at one host has that host's addresses looked up.
  for (let index = 0; index < 3_000; index += 1) {
    const data = `10.0.${index >> 8}.${index & 255}`;
    records.hear({ type: 'A', name: 'host.local', data, ttl: 120 });
  }
  expect(records.addresses('host.local')).toHaveLength(20);
  expect(records.addresses('host.local').at(-1)).toBe('10.0.11.183');
});

test('a question whose name cannot be written is left out, the others are asked', () => {
  const packets = encodeQuestions([
    { type: 'SRV', labels: ['x'.repeat(64), 'local'] },
    { type: 'SRV', labels: ['', 'local'] },
    { type: 'TXT', labels: Array.from({ length: 6 }, () => 'y'.repeat(60)) },
    { type: 'PTR', labels: ['_ipp', '_tcp', 'local'] },
  ]);
  expect(packets.map((packet) => packet.toString('hex'))).toEqual([
    '000000000001000000000000045f697070045f746370056c6f63616c00000c0001',
  ]);
});

test('whatever stands in a TXT record, what is made of it is proper evidence', () => {
  const key = fc.constantFrom('UUID', 'usb_MFG', 'usb_MDL', 'ty', 'pdl', 'rp', 'usb_CMD', 'usb_SN', '');
  const pair = fc.oneof(
    fc.uint8Array({ maxLength: 255 }),
    fc.tuple(key, fc.string({ unit: 'binary' })).map(([name, value]) => Buffer.from(`${name}=${value}`)),
  );
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 20 }), (pairs) => {
      const { evidence: told, resource } = parseTxt(pairs);
      expect(evidence.parse(told)).toEqual(told);
      expect(resource.length).toBeLessThanOrEqual(200);
    }),
    { seed: 20261124, numRuns: Number(process.env['DISCOVERY_FUZZ'] ?? 3_000) },
  );
});

test('hostile packets neither stop it nor hide who is there', async () => {
  const end = await avahi.publish('Still here', '_pdl-datastream._tcp', 9103, ['usb_CMD=ZPL']);
  const provider = onLoopback();
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.setMulticastInterface('127.0.0.1');
  onTestFinished(() => new Promise<void>((done) => void socket.close(() => done())));
  const scan = provider.find(signal);
  // Sent while it listens: the packets are its own queue's, so the last one is read when all were.
  for (const packet of hostilePackets(Number(process.env['DISCOVERY_FUZZ'] ?? 2_000)))
    await sendTo(socket, packet);
  for (const one of await scan) expect(sighting.parse(one)).toEqual(one);
  await expect.poll(() => foundAs(provider, 'Still here'), { timeout: 20_000 }).toHaveLength(1);
  await end();
});

function sendTo(socket: Socket, packet: Uint8Array): Promise<void> {
  return new Promise((done) => void socket.send(packet, 5353, '224.0.0.251', () => done()));
}

/** Random, mutated, truncated and crafted answers. */
function hostilePackets(count: number): Uint8Array[] {
  const name = (text: string) =>
    Buffer.concat([
      ...text.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
      Buffer.from([0]),
    ]);
  const record = (type: number, owner: Buffer, data: Uint8Array) => {
    const head = Buffer.alloc(10);
    head.writeUInt16BE(type, 0);
    head.writeUInt16BE(0x8001, 2);
    head.writeUInt32BE(4_500, 4);
    head.writeUInt16BE(data.length, 8);
    return Buffer.concat([owner, head, data]);
  };
  const packet = (records: Buffer[], answers = records.length) => {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(0x8400, 2);
    head.writeUInt16BE(answers, 6);
    return Buffer.concat([head, ...records]);
  };
  const service = name('_pdl-datastream._tcp.local');
  const instance = name('Evil._pdl-datastream._tcp.local');
  const good = packet([
    record(12, service, instance),
    record(33, instance, Buffer.concat([Buffer.from([0, 0, 0, 0, 35, 140]), name('evil.local')])),
    record(16, instance, Buffer.from('\u000busb_CMD=ZPL')),
    record(1, name('evil.local'), Buffer.from([127, 0, 0, 1])),
  ]);
  const crafted = [
    packet([], 65_535),
    // A name that points at itself, one that points ahead, and many that point at a long one.
    packet([record(12, Buffer.from([0xc0, 0x0c]), Buffer.from([0xc0, 0x0c]))]),
    packet([record(12, service, Buffer.from([0xc0, 0xff]))]),
    packet(
      Array.from({ length: 2_000 }, (_, index) => record(12, service, Buffer.from([0xc0, 12 + (index % 3)]))),
    ),
    packet([record(33, instance, Buffer.from([0, 0]))]),
    packet([record(1, service, Buffer.from([1]))]),
    packet([record(16, instance, Buffer.from([255, 1]))]),
    packet([record(47, service, Buffer.from([0, 0, 255, 1]))]),
  ];
  const mutated = fc
    .tuple(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 }), fc.nat(good.length))
    .map(([changes, length]) => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) if (at !== 2) bytes[at] = value;
      return bytes.subarray(0, length % 2 === 0 ? good.length : length);
    });
  const anything = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.concat([good.subarray(0, 12), bytes]));
  return [...crafted, good, ...fc.sample(fc.oneof(mutated, anything), { seed: 20261125, numRuns: count })];
}
