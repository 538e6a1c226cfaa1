import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { chosenDriver, sighting } from '../../src/agent/discovery/provider.ts';
import {
  BerError,
  BerReader,
  integer,
  integerOf,
  objectId,
  oidOf,
  TAG,
  tlv,
} from '../../src/agent/discovery/providers/snmp/ber.ts';
import { SnmpClient, snmpDiscovery } from '../../src/agent/discovery/providers/snmp/snmp.ts';
import {
  decodeResponse,
  encodeRequest,
  type SnmpAnswer,
} from '../../src/agent/discovery/providers/snmp/snmp-message.ts';
import { snmpd } from '../kit/programs/snmpd.ts';
import { freeUdpPort, udpPeer } from '../kit/wire/udp-peer.ts';
import { drivable } from './drivable.ts';

const signal = AbortSignal.timeout(120_000);
const CASES = Number(process.env['DISCOVERY_FUZZ'] ?? 5_000);

const ZEBRA = [
  '1.3.6.1.2.1.1.5.0 octet_str "ward-3"',
  '1.3.6.1.2.1.25.3.2.1.3.1 octet_str "Zebra Technologies ZTC ZT410-300dpi ZPL"',
  '1.3.6.1.2.1.25.3.2.1.5.1 integer 5',
  '1.3.6.1.2.1.25.3.5.1.1.1 integer 1',
  // noPaper and doorOpen
  '1.3.6.1.2.1.25.3.5.1.2.1 octet_str 0x48',
  '1.3.6.1.2.1.43.5.1.1.17.1 octet_str "18J1234567"',
  '1.3.6.1.2.1.2.2.1.6.1 octet_str ""',
  '1.3.6.1.2.1.2.2.1.6.2 octet_str 0x00074d4108bd',
];

async function clientFor(port: number): Promise<SnmpClient> {
  const client = new SnmpClient({ targets: [], community: 'wards', port }, () => true);
  onTestFinished(() => client.close());
  await client.start(signal);
  return client;
}

test.each<SnmpAnswer['version']>(['v1', 'v2c'])(
  'Net-SNMP’s agent in a printer’s place, %s alone',
  async (version) => {
    const port = await freeUdpPort();
    await snmpd('127.9.0.1', port, ZEBRA, version);
    // The same agent, which is no printer.
    await snmpd('127.9.0.2', port, [], version);
    const provider = snmpDiscovery({ targets: ['127.9.0.0/30'], community: 'wards', port, timeout: 500 });
    const found = drivable(await provider.find(signal));
    expect(found).toEqual([
      {
        uri: 'socket://127.9.0.1:9100',
        name: 'ward-3',
        language: 'zpl',
        dpi: 300,
        evidence: {
          model: 'Zebra Technologies ZTC ZT410-300dpi ZPL',
          serial: '18J1234567',
          mac: '00:07:4d:41:08:bd',
        },
      },
    ]);
    expect(chosenDriver.parse(found[0])).toEqual(found[0]);
    const client = await clientFor(port);
    expect((await client.printerAt('127.9.0.1', signal))?.status).toEqual({
      state: 'stopped',
      reasons: ['media-empty', 'cover-open'],
    });
  },
);

test('the printer need not be a device’s first row', async () => {
  const port = await freeUdpPort();
  await snmpd('127.9.8.1', port, [
    '1.3.6.1.2.1.25.3.2.1.3.1 octet_str "Intel CPU"',
    '1.3.6.1.2.1.25.3.2.1.3.3 octet_str "TSC TE210"',
    '1.3.6.1.2.1.25.3.5.1.1.3 integer 3',
    '1.3.6.1.2.1.43.5.1.1.17.3 octet_str "TE2100042"',
  ]);
  const client = await clientFor(port);
  expect(await client.printerAt('127.9.8.1', signal)).toMatchObject({
    evidence: { model: 'TSC TE210', serial: 'TE2100042' },
    status: { state: 'idle', reasons: [] },
  });
});

test('with another community there is no answer, and so no printer', async () => {
  const port = await freeUdpPort();
  await snmpd('127.9.1.1', port, ZEBRA);
  const provider = snmpDiscovery({ targets: ['127.9.1.1'], community: 'public', port, timeout: 300 });
  expect(drivable(await provider.find(signal))).toEqual([]);
});

/** What a device says to any request: these variables, under the request's number. */
function says(variables: Buffer, { type = 0xa2, version = 1, id = (asked: number) => asked } = {}) {
  return (asked: Buffer): Uint8Array[] => {
    const message = new BerReader(asked).inside(TAG.sequence);
    message.integer();
    message.expect(TAG.octets);
    const { contents } = message.value();
    const number = new BerReader(contents).integer();
    return [
      tlv(
        TAG.sequence,
        integer(version),
        tlv(TAG.octets, Buffer.from('wards')),
        tlv(type, integer(id(number)), integer(0), integer(0), tlv(TAG.sequence, variables)),
      ),
    ];
  };
}

const variable = (oid: string, value: Buffer) => tlv(TAG.sequence, objectId(oid), value);
const serial = variable('1.3.6.1.2.1.43.5.1.1.17.1', tlv(TAG.octets, Buffer.from('18J1234567')));

test.each<[string, string, number[], { state: string; reasons: string[] }]>([
  ['idle', '03', [], { state: 'idle', reasons: [] }],
  ['printing, paper low', '04', [0x80], { state: 'processing', reasons: ['media-low'] }],
  ['warming up', '05', [0], { state: 'processing', reasons: [] }],
  ['jammed', '01', [0x04], { state: 'stopped', reasons: ['media-jam'] }],
  ['offline', '03', [0x02], { state: 'stopped', reasons: ['offline'] }],
  ['output full', '01', [0, 0x08], { state: 'stopped', reasons: ['output-area-full'] }],
  ['no ribbon', '01', [0x10, 0], { state: 'stopped', reasons: ['marker-supply-empty'] }],
  ['says nothing of it', '02', [], { state: 'unknown', reasons: [] }],
  ['a state of the future', '63', [], { state: 'unknown', reasons: [] }],
])('status: %s', async (_, state, errors, expected) => {
  const { port } = await udpPeer(
    '127.9.2.1',
    says(
      Buffer.concat([
        serial,
        variable('1.3.6.1.2.1.25.3.5.1.1.1', tlv(TAG.integer, Buffer.from(state, 'hex'))),
        variable('1.3.6.1.2.1.25.3.5.1.2.1', tlv(TAG.octets, Buffer.from(errors))),
      ]),
    ),
  );
  const client = await clientFor(port);
  expect((await client.printerAt('127.9.2.1', signal))?.status).toEqual(expected);
});

test('an answer to another question, from another address or of another kind is none', async () => {
  const { port } = await udpPeer('127.9.3.1', says(serial, { id: (asked) => asked + 1 }));
  await udpPeer('127.9.3.2', says(serial, { type: 0xa8 }), port);
  await udpPeer('127.9.3.3', says(serial, { version: 3 }), port);
  const accomplice = await udpPeer('127.9.3.5', () => [], port);
  await udpPeer(
    '127.9.3.4',
    (asked, from) => {
      accomplice.send(says(serial)(asked), from);
      return [];
    },
    port,
  );
  const provider = snmpDiscovery({ targets: ['127.9.3.0/29'], community: 'wards', port, timeout: 200 });
  expect(await provider.find(signal)).toEqual([]);
});

test('nobody is asked who was not named', async () => {
  const { port, asked } = await udpPeer('127.9.4.2', says(serial));
  const provider = snmpDiscovery({ targets: ['127.9.4.1'], port, timeout: 100 });
  expect(await provider.find(signal)).toEqual([]);
  expect(asked()).toBe(0);
  const client = new SnmpClient({ targets: [], port }, () => false);
  onTestFinished(() => client.close());
  await client.start(signal);
  await expect(client.printerAt('127.9.4.2', signal)).rejects.toThrow(RangeError);
});

test('a scan that does not get round goes on where it was, and keeps what it found', async () => {
  const { port, asked } = await udpPeer('127.9.5.200', says(serial));
  const options = { targets: ['127.9.5.0/24'], community: 'wards', port, timeout: 300, limit: 0 };
  const provider = snmpDiscovery(options);
  const scans: number[] = [];
  for (let scan = 0; scan < 5; scan += 1) scans.push((await provider.find(signal)).length);
  expect(scans).toEqual([0, 0, 0, 1, 1]);
  // Once for the row, once for what is in it.
  expect(asked()).toBe(2);
});

test('aborted, it stops at once and leaves nothing open', async () => {
  const abort = new AbortController();
  const scan = snmpDiscovery({ targets: ['127.9.6.0/24'], timeout: 60_000 }).find(abort.signal);
  abort.abort(new Error('stop'));
  await expect(scan).rejects.toThrow();
});

test('what is written is read again', () => {
  const oid = fc
    .tuple(fc.nat(2), fc.nat(39), fc.array(fc.nat({ max: 0xffffffff }), { maxLength: 20 }))
    .map(([first, second, rest]) => [first, second, ...rest].join('.'));
  fc.assert(
    fc.property(oid, fc.nat(0x7fffffff), (written, number) => {
      expect(oidOf(new BerReader(objectId(written)).expect(TAG.oid))).toBe(written);
      expect(integerOf(new BerReader(integer(number)).expect(TAG.integer))).toBe(number);
    }),
    { seed: 20261126, numRuns: 1_000 },
  );
});

test('whatever the bytes are: a response, or a BerError', () => {
  const good =
    says(Buffer.concat([serial, serial]))(encodeRequest('v2c', 'wards', 7, 'get', ['1.3.6']))[0] ??
    Buffer.alloc(0);
  const mutated = fc
    .tuple(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
      fc.nat(good.length * 2),
    )
    .map(([changes, length]) => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes.subarray(0, length);
    });
  const nested = fc.nat(60_000).map((depth) => Buffer.alloc(depth, Buffer.from([0x30, 0x80, 0x30, 0x84])));
  const anything = fc.uint8Array({ maxLength: 400 });
  const outcomes = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.oneof(
        { weight: 20, arbitrary: mutated },
        { weight: 10, arbitrary: anything },
        { weight: 1, arbitrary: nested },
      ),
      (bytes) => {
        try {
          expect(decodeResponse(bytes, () => true)?.variables.length).toBeLessThanOrEqual(64);
          outcomes.taken += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(BerError);
          outcomes.refused += 1;
        }
      },
    ),
    { seed: 20261127, numRuns: CASES },
  );
  expect(outcomes.taken).toBeGreaterThan(CASES / 100);
  expect(outcomes.refused).toBeGreaterThan(CASES / 100);
});

test('of what nobody waits for the variables are not read', () => {
  const garbage = tlv(0x30, Buffer.from('no variables'));
  const pdu = tlv(0xa2, integer(7), integer(0), integer(0), garbage);
  const message = tlv(TAG.sequence, integer(1), tlv(TAG.octets, Buffer.from('public')), pdu);
  const isAwaited = (id: number) => id === 7;
  expect(() => decodeResponse(message, isAwaited)).toThrow(BerError);
  expect(decodeResponse(message, () => false)).toBeUndefined();
});

test('a device that answers anything at all does not stop the others from being found', async () => {
  const values = fc.sample(
    fc.tuple(
      fc.constantFrom(0, 1, 2, 4, 5, 6, 0x40, 0x41, 0x46, 0x80, 0xff),
      fc.uint8Array({ maxLength: 300 }),
    ),
    { seed: 20261128, numRuns: 500 },
  );
  const oids = [
    '1.1.0',
    '1.5.0',
    '25.3.2.1.3.1',
    '25.3.2.1.5.1',
    '25.3.5.1.1.1',
    '25.3.5.1.2.1',
    '2.2.1.6.1',
  ];
  let turn = 0;
  const { port } = await udpPeer('127.9.7.1', (asked) => {
    const some = oids.map((oid) => {
      turn += 1;
      const [tag, contents] = values[turn % values.length] ?? [5, Buffer.alloc(0)];
      return variable(`1.3.6.1.2.1.${oid}`, tlv(tag, contents));
    });
    return says(Buffer.concat([serial, ...some]))(asked);
  });
  await udpPeer('127.9.7.2', says(serial), port);
  const provider = snmpDiscovery({
    targets: ['127.9.7.1', '127.9.7.2'],
    community: 'wards',
    port,
    timeout: 150,
  });
  for (let scan = 0; scan < 20; scan += 1) {
    const found = await provider.find(signal);
    for (const one of found) expect(sighting.parse(one)).toEqual(one);
    expect(found.map(({ uri }) => uri)).toContain('socket://127.9.7.2:9100');
  }
});
