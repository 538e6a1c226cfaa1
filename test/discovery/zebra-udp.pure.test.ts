import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chosenDriver, sighting } from '../../src/agent/discovery/provider.ts';
import { targetsOf } from '../../src/agent/discovery/providers/targets.ts';
import { parseZebraAnswer, zebraDiscovery } from '../../src/agent/discovery/providers/zebra-udp.ts';
import { udpPeer } from '../kit/wire/udp-peer.ts';
import { drivable } from './drivable.ts';

/** The answer of a real print server, as dumped at jfr.im/blog/2024/09/zebra-network-discovery-protocol/. */
const REAL = Buffer.concat([
  Buffer.from(
    [
      '3a2c2e033739303731000000' + '5a656272614e6574205769726564205053000000',
      '31313636410000' + '5635362e31372e31315a' + '5a42520061' + '00074d4108bd' + '34323632303737000000',
      `01000a01009effffff000a0100015a425234323632303737${'00'.repeat(15)}`,
    ].join(''),
    'hex',
  ),
  Buffer.alloc(375 - 109),
]);

/** The same with another product name: a printer with the network in it. */
function zebra(product: string, serial: string, name = ''): Buffer {
  const answer = Buffer.from(REAL);
  answer.fill(0, 12, 32).write(product, 12, 20, 'latin1');
  answer.fill(0, 60, 70).write(serial, 60, 10, 'latin1');
  answer.fill(0, 84, 109).write(name, 84, 25, 'latin1');
  return answer;
}

const signal = AbortSignal.timeout(60_000);

test('the answer of a real print server; its serial number is not a printer’s', () => {
  expect(parseZebraAnswer(REAL)).toEqual({
    product: 'ZebraNet Wired PS',
    mac: '00:07:4d:41:08:bd',
    systemName: 'ZBR4262077',
  });
  expect(parseZebraAnswer(zebra('ZTC ZT230-200dpi ZPL', '18J1234567'))).toMatchObject({
    serial: '18J1234567',
  });
});

test('an answer of a version that is not known is an answer, and no more; anything else is none', () => {
  const other = Buffer.from(REAL);
  other[3] = 4;
  expect(parseZebraAnswer(other)).toEqual({});
  expect(parseZebraAnswer(REAL.subarray(0, 3))).toEqual({});
  expect(parseZebraAnswer(Buffer.from('.,:\u0001\u0000\u0000'))).toBeUndefined();
  expect(parseZebraAnswer(Buffer.alloc(0))).toBeUndefined();
});

test('printers on the named addresses are found, in a language that they speak', async () => {
  const printer = zebra('ZTC ZT410-300dpi ZPL', '18J1234567', 'Ward 3');
  const { port } = await udpPeer('127.8.0.1', () => [printer, printer, printer]);
  await udpPeer('127.8.0.2', () => [zebra('ZTC QL 420', 'XXQL123')], port);
  await udpPeer('127.8.0.3', () => [Buffer.from('<html>')], port);
  const provider = zebraDiscovery({ targets: ['127.8.0.0/29'], port, timeout: 400 });
  const found = drivable(await provider.find(signal));
  expect(found).toEqual([
    {
      uri: 'socket://127.8.0.1:9100',
      name: 'Ward 3',
      language: 'zpl',
      dpi: 300,
      evidence: {
        make: 'Zebra',
        model: 'ZTC ZT410-300dpi ZPL',
        serial: '18J1234567',
        mac: '00:07:4d:41:08:bd',
      },
    },
  ]);
  expect(chosenDriver.parse(found[0])).toEqual(found[0]);
  const all = await provider.find(signal);
  expect(all.map(({ uri }) => uri).sort()).toEqual(['socket://127.8.0.1:9100', 'socket://127.8.0.2:9100']);
  const withTable = drivable(all, [{ match: 'zebra*ql 4*', languages: ['zpl'], dpi: 203 }]);
  expect(withTable.map(({ dpi }) => dpi).sort()).toEqual([203, 300]);
});

test('nobody is asked who was not named, and nobody else is heard', async () => {
  const outside = await udpPeer('127.8.1.9', () => [zebra('ZTC ZT410-300dpi ZPL', '18J7654321')]);
  const silent = await udpPeer('127.8.1.1', () => [], outside.port);
  const found = await zebraDiscovery({ targets: ['127.8.1.1'], port: outside.port, timeout: 200 }).find(
    signal,
  );
  expect(found).toEqual([]);
  expect([silent.asked(), outside.asked()]).toEqual([2, 0]);
});

test('aborted, it stops at once', async () => {
  const abort = new AbortController();
  const scan = zebraDiscovery({ targets: ['127.8.2.0/24'], port: 4201, timeout: 60_000 }).find(abort.signal);
  abort.abort(new Error('stop'));
  await expect(scan).rejects.toThrow();
});

test('targets: what they take in, and what is none', () => {
  expect(targetsOf(['10.0.0.7', '10.0.0.5/30', '10.0.0.6']).addresses).toEqual([
    '10.0.0.7',
    '10.0.0.4',
    '10.0.0.5',
    '10.0.0.6',
  ]);
  const targets = targetsOf(['192.168.1.0/24']);
  expect([
    targets.includes('192.168.1.255'),
    targets.includes('192.168.2.0'),
    targets.includes('::1'),
  ]).toEqual([true, false, false]);
  for (const wrong of ['10.0.0.0/8', '10.0.0', 'example.org', '10.0.0.0/33', '10.0.0.0/-1', '::1', '']) {
    expect(() => targetsOf([wrong])).toThrow(RangeError);
  }
  expect(() => targetsOf(['10.0.0.0/22', '10.1.0.0/32'])).toThrow(RangeError);
});

test('whatever comes as an answer, what is made of it is a proper finding', async () => {
  const mutated = fc
    .tuple(fc.array(fc.tuple(fc.nat(374), fc.nat(255)), { maxLength: 20 }), fc.nat(375))
    .map(([changes, length]) => {
      const bytes = Buffer.from(REAL);
      for (const [at, value] of changes) if (at > 3) bytes[at] = value;
      return bytes.subarray(0, length);
    });
  const anything = fc
    .uint8Array({ maxLength: 600 })
    .map((bytes) => Buffer.concat([REAL.subarray(0, 4), bytes]));
  fc.assert(
    fc.property(fc.oneof(mutated, anything, fc.uint8Array()), (bytes) => {
      const answer = parseZebraAnswer(bytes);
      for (const value of Object.values(answer ?? {})) expect(value).not.toMatch(/\p{C}/u);
      expect(answer === undefined || Object.keys(answer).length <= 4).toBe(true);
    }),
    { seed: 20261123, numRuns: Number(process.env['DISCOVERY_FUZZ'] ?? 3_000) },
  );
  const hostile = fc.sample(fc.oneof(mutated, anything), { seed: 7, numRuns: 50 });
  const { port } = await udpPeer('127.8.3.1', () => hostile);
  const found = await zebraDiscovery({ targets: ['127.8.3.1'], port, timeout: 300 }).find(signal);
  for (const one of found ?? []) expect(sighting.parse(one)).toEqual(one);
});
