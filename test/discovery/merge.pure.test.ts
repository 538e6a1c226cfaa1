import fc from 'fast-check';
import { expect, test } from 'vitest';
import { standardTransports } from '../../drivers/transports/index.ts';
import type { Evidence } from '../../src/agent/discovery/evidence.ts';
import { printerIdOf } from '../../src/agent/discovery/identity.ts';
import { type FoundEndpoint, type IdentifiedEndpoint, merge } from '../../src/agent/discovery/merge.ts';
import { printerId } from '../../src/contract/printer.ts';

type MergedPrinter = ReturnType<typeof merge>[number];

const HERE = { host: 'agent-1', transports: standardTransports };
const UUID_A = '11111111-2222-3333-4444-55555555aaaa';
const UUID_B = '11111111-2222-3333-4444-55555555bbbb';
const MAC = '00:07:4d:41:08:bd';

const at = (provider: string, uri: string, evidence: Evidence = {}, id?: string): FoundEndpoint => ({
  provider,
  uri,
  evidence,
  ...(id !== undefined && { id }),
});
const uris = (printers: MergedPrinter[]) => printers.map(({ seen }) => seen.map(({ uri }) => uri));
/** What an agent keeps of a printer between two scans: everything that any way to it said. */
const remembered = ({ id, seen }: MergedPrinter): IdentifiedEndpoint & { id: string } => ({
  id,
  uri: seen[0]?.uri ?? '',
  evidence: Object.assign({}, ...seen.map(({ evidence }) => evidence)),
});

test('the same device by five ways is one printer, known by its serial number', () => {
  const printers = merge(
    [
      at('usb', 'usb://0a5f/0166/serial/D4J193601234', {
        serial: 'D4J193601234',
        make: 'Zebra Technologies',
      }),
      at('cups', 'ipp://localhost:631/printers/z', {
        uuid: UUID_B,
        queue: 'localhost:631/printers/z',
        deviceUri: 'socket://10.0.0.7:9100',
      }),
      at('dns-sd', 'socket://10.0.0.7:9100', { uuid: UUID_A }),
      at('zebra-udp', 'socket://10.0.0.7:9100', { serial: 'd4j193601234', mac: MAC, make: 'Zebra' }),
      at('snmp', 'socket://10.0.0.8:9100', { mac: MAC }),
      at('dns-sd', 'ipp://10.0.0.9:631/ipp/print', { uuid: UUID_A }),
    ],
    HERE,
  );
  expect(printers).toHaveLength(1);
  expect(printers[0]?.seen).toHaveLength(6);
  expect(printers[0]).toMatchObject({
    id: printerIdOf({ evidence: 'serial', value: 'D4J193601234' }),
    evidence: 'serial',
    replaces: [],
  });
});

test('what says that it is two of the printers that are configured does not make them one', () => {
  const [a, b] = ['socket://10.0.0.7:9100', 'ipp://10.0.0.8/ipp/print'];
  const [serial, uuid] = ['D4J193601234', UUID_A];
  const configured = [at('configured', a, { serial }), at('configured', b, { uuid })];
  const claims = at('dns-sd', 'ipp://10.0.0.66/ipp/print', { serial, uuid });
  const before = merge(configured, HERE);
  for (const known of [[], before.map(remembered)]) {
    for (const found of [
      [...configured, claims],
      [claims, ...configured.toReversed()],
    ]) {
      const after = merge(found, HERE, known);
      expect(after).toHaveLength(2);
      const ids = (of: MergedPrinter[]) => of.map(({ id }) => id).sort();
      if (known.length > 0) expect(ids(after)).toEqual(ids(before));
      expect(after.flatMap(({ replaces }) => replaces)).toEqual([]);
    }
  }
  // What is kept of the claim joins them no more than the claim itself.
  const kept = { id: before[0]?.id ?? '', uri: claims.uri, evidence: { serial, uuid } };
  expect(merge([...configured, claims], HERE, [...before.map(remembered), kept])).toHaveLength(2);
  // What is at their own addresses does.
  const told = [...configured, at('dns-sd', a, { serial, uuid })];
  expect(merge(told, HERE)).toHaveLength(1);
});

test.each<[string, Evidence, string]>([
  ['serial', { serial: 'D4J1', uuid: UUID_A, mac: MAC }, 'serial'],
  ['uuid', { uuid: UUID_A, mac: MAC }, 'uuid'],
  ['mac', { mac: MAC, queue: 'h/q' }, 'mac'],
  ['queue', { queue: 'h/q' }, 'queue'],
  ['address', {}, 'address'],
])('the ID says what it was made from: %s', (_, evidence, kind) => {
  const [printer] = merge([at('x', 'socket://10.0.0.7:9100', evidence)], HERE);
  expect([printer?.evidence, printer?.id.startsWith(`${kind}-`)]).toEqual([kind, true]);
});

test('the operator’s ID comes before everything, and joins what he gave it to', () => {
  const id = 'address-0123456789abcdef';
  const printers = merge(
    [
      at('configured', 'socket://10.0.0.7:9100', { serial: 'A1234' }, id),
      at('configured', 'socket://10.0.0.8:9100', { serial: 'B1234' }, id),
      at('snmp', 'socket://10.0.0.9:9100', { serial: 'B1234' }),
    ],
    HERE,
  );
  expect(printers.map((printer) => printer.id)).toEqual([id]);
});

test('different serial numbers are different printers, whatever else they share', () => {
  const shared = { uuid: UUID_A, mac: MAC, make: 'Zebra' };
  const printers = merge(
    [
      at('a', 'socket://10.0.0.7:9100', { ...shared, serial: 'A1234' }),
      at('b', 'socket://10.0.0.7:9100', { ...shared, serial: 'B1234' }),
      at('c', 'socket://10.0.0.7:9100', shared),
    ],
    HERE,
  );
  expect(uris(printers).map((seen) => seen.length)).toEqual([1, 1, 1]);
  expect(printers.map(({ evidence }) => evidence)).toEqual(['serial', 'serial', 'address']);
});

test('two makers may use the same serial number', () => {
  const printers = merge(
    [
      at('snmp', 'socket://10.0.0.7:9100', { serial: '00012345', make: 'Zebra Technologies' }),
      at('snmp', 'socket://10.0.0.8:9100', { serial: '00012345', make: 'TSC', mac: MAC }),
    ],
    HERE,
  );
  expect(printers.map(({ evidence }) => evidence)).toEqual(['address', 'mac']);
});

test('units of one model, and printers at one print server, are not one', () => {
  const model = { deviceId: 'MFG:TSC;MDL:TE200;', make: 'TSC' };
  const twins = [at('usb', 'usb://1203/0166/port/1-1', model), at('usb', 'usb://1203/0166/port/1-2', model)];
  expect(merge(twins, HERE).map(({ evidence }) => evidence)).toEqual(['address', 'address']);
  expect(merge(twins.slice(0, 1), HERE).map(({ evidence }) => evidence)).toEqual(['device-id']);
  const server = [
    at('snmp', 'socket://10.0.0.7:9100', { mac: MAC }),
    at('snmp', 'socket://10.0.0.7:9101', { mac: MAC }),
  ];
  expect(merge(server, HERE).map(({ evidence }) => evidence)).toEqual(['address', 'address']);
});

test('USB ports, queues and loopback addresses of two computers are different; a network address is one', () => {
  const idOf = (uri: string, host: string, evidence?: Evidence) =>
    merge([at('x', uri, evidence)], { ...HERE, host })[0]?.id;
  const same = (uri: string, evidence?: Evidence) =>
    idOf(uri, 'one', evidence) === idOf(uri, 'two', evidence);
  expect([
    same('usb://1203/0166/port/1-1'),
    same('usb://1203/0166/port/1-1', { deviceId: 'MFG:TSC;MDL:TE200;' }),
    same('ipp://localhost:631/printers/z', { queue: 'localhost:631/printers/z' }),
    same('socket://127.0.0.1:9100'),
    same('socket://10.0.0.7:9100'),
    same('usb://1203/0166/serial/A1234', { serial: 'A1234' }),
  ]).toEqual([false, false, false, false, true, true]);
});

const KNOWN = { serial: 'A1234', uuid: UUID_A, mac: MAC };
test.each<[string, FoundEndpoint, FoundEndpoint]>([
  [
    'another address',
    at('dns-sd', 'socket://10.0.0.7:9100', KNOWN),
    at('dns-sd', 'socket://10.0.0.99:9100', KNOWN),
  ],
  [
    'another USB port, without serial number',
    at('usb', 'usb://1203/0166/port/1-1', { deviceId: 'MFG:TSC;MDL:TE200;' }),
    at('usb', 'usb://1203/0166/port/2-4', { deviceId: 'MFG:TSC;MDL:TE200;' }),
  ],
  [
    'a queue deleted and added again',
    at('cups', 'ipp://localhost/printers/z', { uuid: UUID_A, queue: 'localhost/printers/z' }),
    at('cups', 'ipp://localhost/printers/z', { uuid: UUID_B, queue: 'localhost/printers/z' }),
  ],
  [
    'a queue with another name',
    at('cups', 'ipp://localhost/printers/z', {
      uuid: UUID_A,
      queue: 'localhost/printers/z',
      deviceUri: 'lpd://10.0.0.7/q',
    }),
    at('cups', 'ipp://localhost/printers/y', {
      uuid: UUID_B,
      queue: 'localhost/printers/y',
      deviceUri: 'lpd://10.0.0.7/q',
    }),
  ],
  [
    'less said than before',
    at('snmp', 'socket://10.0.0.7:9100', KNOWN),
    at('dns-sd', 'socket://10.0.0.7:9100'),
  ],
])('the ID stays: %s', (_, before, after) => {
  const [printer] = merge([before], HERE);
  if (printer === undefined) throw new Error('not found');
  expect(merge([after], HERE, [remembered(printer)])).toMatchObject([{ id: printer.id, replaces: [] }]);
});

test('better evidence replaces an ID by address, and says which', () => {
  const [printer] = merge([at('x', 'socket://10.0.0.7:9100')], HERE);
  if (printer === undefined) throw new Error('not found');
  const after = merge([at('x', 'socket://10.0.0.7:9100', { serial: 'A1234' })], HERE, [remembered(printer)]);
  expect(after).toMatchObject([{ evidence: 'serial', replaces: [printer.id] }]);
});

test('two printers that swap their addresses keep their IDs', () => {
  const [a, b] = [
    { mac: MAC, serial: 'A1234' },
    { mac: '00:07:4d:41:08:be', serial: 'B1234' },
  ];
  const before = merge([at('x', 'socket://10.0.0.7:9100', a), at('x', 'socket://10.0.0.8:9100', b)], HERE);
  const swapped = [
    at('x', 'socket://10.0.0.7:9100', { mac: b?.mac ?? '' }),
    at('x', 'socket://10.0.0.8:9100', { mac: a?.mac ?? '' }),
  ];
  const after = merge(swapped, HERE, before.map(remembered));
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id).reverse());
});

test('a new printer does not get the ID of one that is known, even by its old queue name', () => {
  const before = merge(
    [
      at('cups', 'ipp://localhost/printers/z', {
        queue: 'localhost/printers/z',
        deviceUri: 'lpd://10.0.0.7/q',
      }),
    ],
    HERE,
  );
  const renamed = merge(
    [
      at('cups', 'ipp://localhost/printers/y', {
        queue: 'localhost/printers/y',
        deviceUri: 'lpd://10.0.0.7/q',
      }),
      at('cups', 'ipp://localhost/printers/z', {
        queue: 'localhost/printers/z',
        deviceUri: 'lpd://10.0.0.8/q',
        serial: 'N1234',
      }),
    ],
    HERE,
    before.map((printer) => ({
      ...remembered(printer),
      evidence: { deviceUri: 'lpd://10.0.0.7/q' },
      uri: 'lpd://10.0.0.7/q',
    })),
  );
  expect(renamed.map(({ id }) => id === before[0]?.id)).toEqual([true, false]);
});

const few = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const anyEvidence = fc
  .record({
    serial: few('A1234', 'B1234', 'C1234'),
    uuid: few(UUID_A, UUID_B),
    mac: few(MAC, '00:07:4d:41:08:be'),
    deviceId: few('MFG:TSC;MDL:TE200;', 'MFG:Zebra;MDL:ZD421;'),
    queue: few('localhost/printers/a', 'server/printers/a'),
    deviceUri: few('socket://10.0.0.1:9100', 'usb://TSC/TE200'),
    make: few('Zebra', 'TSC'),
  })
  .map(
    (some): Evidence => Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)),
  );
const anyFound = fc
  .record({
    provider: fc.constantFrom('usb', 'cups', 'dns-sd', 'snmp'),
    uri: fc.constantFrom(
      ...[
        'socket://10.0.0.1:9100',
        'socket://10.0.0.2:9100',
        'usb://1203/0166/port/1-1',
        'usb://1203/0166/port/1-2',
      ],
      ...['ipp://localhost/printers/a', 'ipp://10.0.0.1/ipp/print'],
    ),
    evidence: anyEvidence,
    id: fc.option(fc.constantFrom('address-0123456789abcdef', 'serial-0123456789abcdef'), {
      nil: undefined,
      freq: 10,
    }),
  })
  .map(({ provider, uri, evidence, id }) => at(provider, uri, evidence, id));
const settings = { seed: 20261130, numRuns: Number(process.env['DISCOVERY_FUZZ'] ?? 3_000) };

test('whatever is found: every way is in one printer, and no two printers share an ID or a serial number', () => {
  fc.assert(
    fc.property(
      fc.array(anyFound, { maxLength: 12 }),
      fc.array(anyFound, { maxLength: 8 }),
      (first, second) => {
        const before = merge(first, HERE);
        for (const [found, printers] of [
          [first, before],
          [second, merge(second, HERE, before.map(remembered))],
        ] as const) {
          expect(printers.flatMap(({ seen }) => seen).length).toBe(found.length);
          expect(new Set(printers.flatMap(({ seen }) => seen))).toEqual(new Set(found));
          expect(new Set(printers.map(({ id }) => id)).size).toBe(printers.length);
          expect(printers.filter(({ id }) => !printerId.safeParse(id).success)).toEqual([]);
          const serials = ({ seen }: MergedPrinter) =>
            new Set(seen.flatMap(({ evidence }) => evidence?.serial ?? []));
          const unnamed = printers.filter(({ seen }) => seen.every((one) => one.id === undefined));
          expect(unnamed.filter((printer) => serials(printer).size > 1)).toEqual([]);
        }
      },
    ),
    settings,
  );
});

test('the order in which providers answer changes nothing', () => {
  const shuffled = fc
    .array(anyFound, { maxLength: 10 })
    .chain((found) => fc.tuple(fc.constant(found), fc.shuffledSubarray(found, { minLength: found.length })));
  const byEndpoint = (found: readonly FoundEndpoint[]) =>
    new Map(merge(found, HERE).flatMap(({ id, seen }) => seen.map((one) => [one, id] as const)));
  fc.assert(
    fc.property(shuffled, ([found, other]) => {
      const [a, b] = [byEndpoint(found), byEndpoint(other)];
      expect(found.map((endpoint) => b.get(endpoint))).toEqual(found.map((endpoint) => a.get(endpoint)));
    }),
    settings,
  );
});

/** What providers can say of devices where nobody lies: a part of what is true of one device, at one of its addresses. */
const anyWorld = fc.array(
  fc.tuple(
    fc.nat(3),
    fc.constantFrom('dns-sd', 'snmp', 'zebra-udp', 'configured'),
    fc.subarray(['serial', 'uuid', 'mac', 'make'] as const),
    fc.nat(1),
  ),
  { maxLength: 12 },
);
function truths(world: [number, string, string[], number][]): FoundEndpoint[] {
  return world.map(([device, provider, told, port]) => {
    const all: Evidence = {
      serial: `S${device}234`,
      uuid: `11111111-2222-3333-4444-55555555aaa${device}`,
      mac: `00:07:4d:41:08:b${device}`,
      make: device % 2 === 0 ? 'Zebra Technologies' : 'TSC',
    };
    const some = Object.entries(all).filter(([key]) => told.includes(key));
    return at(provider, `socket://10.0.${port}.${device}:9100`, Object.fromEntries(some));
  });
}
const deviceOf = ({ uri }: FoundEndpoint) => uri.split('.').at(-1);

test('where nobody lies: no printer is two devices, and every printer keeps its ID', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const found = truths(world);
      const once = merge(found, HERE);
      expect(once.filter(({ seen }) => new Set(seen.map(deviceOf)).size !== 1)).toEqual([]);
      const ids = (printers: MergedPrinter[]) => printers.map(({ id }) => id);
      expect(ids(merge(found, HERE, once.map(remembered)))).toEqual(ids(once));
    }),
    settings,
  );
});

test('a device that told its serial number and UUID keeps its ID, whatever part of it is told later', () => {
  fc.assert(
    fc.property(anyWorld, fc.nat(3), (world, device) => {
      const all = truths([[device, 'snmp', ['serial', 'uuid', 'mac', 'make'], 0]]);
      const known = merge(all, HERE);
      const later = truths(
        world.filter(
          ([other, , told]) => other === device && (told.includes('serial') || told.includes('uuid')),
        ),
      );
      const printers = merge(later, HERE, known.map(remembered));
      expect(printers.map(({ id }) => id)).toEqual(later.length === 0 ? [] : [known[0]?.id]);
    }),
    settings,
  );
});
