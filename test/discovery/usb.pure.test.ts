import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDeviceId } from '../../drivers/transports/device-id.ts';
import { evidence, evidenceOfDeviceId } from '../../src/agent/discovery/evidence.ts';
import { chosenDriver } from '../../src/agent/discovery/provider.ts';
import { usbDiscovery } from '../../src/agent/discovery/providers/usb.ts';
import { drivable } from './drivable.ts';
import { fakeSysfs } from './sysfs.ts';

const ZEBRA =
  'MFG:Zebra Technologies ;CMD:ZPL;MDL:ZTC ZD421-203dpi ZPL;CLS:PRINTER;OPTIONS:XML;SN:D4J193601234;';
const signal = AbortSignal.timeout(60_000);

test('a USB printer is found with what it says of itself', async () => {
  const sysfs = await fakeSysfs({ node: 'lp0', port: '1-1.2', serial: 'D4J193601234', deviceId: ZEBRA });
  const found = drivable(await usbDiscovery({ sysfs: sysfs.root }).find(signal));
  expect(found).toEqual([
    {
      uri: 'usb://0a5f/0166/serial/D4J193601234',
      name: 'Zebra Technologies ZTC ZD421-203dpi ZPL',
      language: 'zpl',
      dpi: 203,
      evidence: {
        make: 'Zebra Technologies',
        model: 'ZTC ZD421-203dpi ZPL',
        serial: 'D4J193601234',
        deviceId: 'MFG:Zebra Technologies;MDL:ZTC ZD421-203dpi ZPL;SN:D4J193601234;',
        languages: ['zpl'],
      },
    },
  ]);
  expect(chosenDriver.parse(found[0])).toEqual(found[0]);
});

test('another port and another lpN are the same address; unplugged is gone', async () => {
  const first = { node: 'lp0', port: '1-1.2', serial: 'D4J193601234', deviceId: ZEBRA };
  const sysfs = await fakeSysfs(first);
  const provider = usbDiscovery({ sysfs: sysfs.root });
  const before = drivable(await provider.find(signal));
  await sysfs.unplug(first);
  expect(drivable(await provider.find(signal))).toEqual([]);
  await sysfs.plug({ ...first, node: 'lp1', port: '2-3' });
  expect(drivable(await provider.find(signal))).toEqual(before);
});

test('devices without a serial number of their own go by their socket', async () => {
  const deviceId = 'MANUFACTURER:TSC;MODEL:TE200;COMMAND SET:ZPL;';
  const sysfs = await fakeSysfs(
    { node: 'lp0', port: '1-1', vendor: '1203', deviceId },
    { node: 'lp1', port: '1-2', vendor: '1203', serial: '000000000', deviceId },
    { node: 'lp2', port: '1-3', vendor: '1203', serial: 'ABC12', deviceId },
    { node: 'lp10', port: '1-4', vendor: '1203', serial: 'abc12', deviceId },
  );
  const found = drivable(await usbDiscovery({ sysfs: sysfs.root }).find(signal));
  expect(found.map(({ uri, evidence }) => [uri, evidence?.serial])).toEqual([
    ['usb://1203/0166/port/1-1', undefined],
    ['usb://1203/0166/port/1-2', undefined],
    ['usb://1203/0166/port/1-3', undefined],
    ['usb://1203/0166/port/1-4', undefined],
  ]);
});

test('a printer that nothing is known of is found, and not talked to', async () => {
  const sysfs = await fakeSysfs({ node: 'lp0', port: '1-1', deviceId: 'MFG:HP;MDL:LaserJet 4;CMD:PCL;' });
  const provider = usbDiscovery({ sysfs: sysfs.root });
  expect((await provider.find(signal)).map(({ name }) => name)).toEqual(['HP LaserJet 4']);
  expect(drivable(await provider.find(signal))).toEqual([]);
});

test('where there is no USB, no sysfs or half a device, nothing is found', async () => {
  const sysfs = await fakeSysfs();
  expect(drivable(await usbDiscovery({ sysfs: sysfs.root }).find(signal))).toEqual([]);
  expect(drivable(await usbDiscovery({ sysfs: '/nowhere' }).find(signal))).toEqual([]);
  await sysfs.plug({ node: 'lp0', port: '1-1', vendor: 'what' });
  const broken = join(sysfs.root, 'class', 'usbmisc');
  await mkdir(join(broken, 'lp3'));
  await writeFile(join(broken, 'lp4'), '');
  expect(drivable(await usbDiscovery({ sysfs: sysfs.root }).find(signal))).toEqual([]);
});

test.each([
  ['short keys', ZEBRA, { make: 'Zebra Technologies', serial: 'D4J193601234', commands: ['ZPL'] }],
  ['long keys', 'MANUFACTURER:A;COMMAND SET:ZPL, EPL;MODEL:B;', { make: 'A', commands: ['ZPL', 'EPL'] }],
  ['length bytes in front', '\u0000\u0012MFG:A;MDL:B;', { make: 'A', model: 'B' }],
  ['length bytes that are a letter too', '\u0000ZMFG:A;MDL:B;', { make: 'A', model: 'B' }],
  ['a colon in a value, no end', 'MFG:A:1;MDL:B', { make: 'A:1', model: 'B' }],
  ['a key twice', 'MFG:A;MFG:B;', { make: 'A' }],
  ['empty values', 'MFG:;MDL: ;CMD:,,;SN:;', { commands: [] }],
])('device ID: %s', (_, text, expected) => {
  expect(parseDeviceId(text)).toMatchObject(expected);
});

test('whatever a device ID holds, what comes of it is bounded and one line', () => {
  const key = fc.constantFrom('MFG', 'MDL', 'SN', 'CMD', 'COMMAND SET', 'serialnumber', '');
  const text = fc
    .array(fc.tuple(key, fc.string({ unit: 'binary' })), { maxLength: 12 })
    .map((parts) => parts.map(([name, value]) => `${name}:${value};`).join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary', maxLength: 6_000 })), (raw) => {
      const told = evidenceOfDeviceId(raw);
      expect(evidence.parse(told)).toEqual(told);
      expect(Object.values(told).join('')).not.toMatch(/\p{C}/u);
    }),
    { seed: 20261122, numRuns: Number(process.env['DISCOVERY_FUZZ'] ?? 3_000) },
  );
});
