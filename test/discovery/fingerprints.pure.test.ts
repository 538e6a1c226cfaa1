import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  believableSerial,
  evidenceOfDeviceId,
  languagesOf,
  macOf,
  uuidOf,
} from '../../src/agent/discovery/evidence.ts';
import { FINGERPRINTS, fingerprint, fingerprintOf, nameOf } from '../../src/agent/discovery/fingerprints.ts';
import type { Sighting } from '../../src/agent/discovery/provider.ts';
import { drivable } from './drivable.ts';

const found = (evidence: Sighting['evidence']): Sighting => ({ uri: 'socket://10.0.0.7:9100', evidence });

test('the table is well-formed', () => {
  for (const line of FINGERPRINTS) expect(fingerprint.parse(line)).toEqual(line);
});

test.each([
  ['Zebra Technologies', 'ZTC ZD421-300dpi ZPL', { languages: ['zpl'], dpi: 300 }],
  ['Zebra', 'ZTC LP2844-200dpi EPL', { languages: ['epl'], dpi: 203 }],
  ['TSC', 'TE210', { languages: ['tspl'] }],
  ['Brother', 'QL-820NWB', { languages: [] }],
  ['SATO', 'CL4NX', {}],
  ['Zebra', 'LP2844', { languages: ['epl'], dpi: 203 }],
  ['Zebra', 'LP2844-Z', { languages: ['zpl'], dpi: 203 }],
  ['Zebra', 'LP 2824 Plus', { languages: ['zpl'], dpi: 203 }],
  ['Eltron', 'TLP2844', { languages: ['epl'] }],
  ['TSC', 'TTP-244 Pro', { languages: ['tspl'], dpi: 203 }],
  ['TSC', 'TDP-345', { languages: ['tspl'], dpi: 300 }],
  ['TSC', 'TE310', { languages: ['tspl'], dpi: 300 }],
  ['Xprinter', 'XP-420B', { languages: ['tspl'], dpi: 203 }],
  ['Xprinter', 'XP-80C', {}],
  [undefined, undefined, {}],
])('what is known of %s %s', (make, model, expected) => {
  const evidence = { ...(make && { make }), ...(model && { model }) };
  expect(fingerprintOf(evidence)).toMatchObject(expected);
  if (Object.keys(expected).length === 0) expect(fingerprintOf(evidence)).toEqual({});
});

test('the operator’s word counts more than the printer’s, and the printer’s more than the table’s', () => {
  const sato = found({ make: 'SATO', model: 'CL4NX', languages: ['dpl'], dpi: 203 });
  expect(drivable([sato])).toEqual([]);
  expect(
    drivable([sato], [{ match: 'sato*', languages: ['zpl'], dpi: 305, width: 100, height: 150 }]),
  ).toMatchObject([{ language: 'zpl', dpi: 305, width: 100, height: 150 }]);
  const zebra = found({ make: 'Zebra', model: 'ZD421-203dpi ZPL', dpi: 300 });
  expect(drivable([zebra])).toMatchObject([{ language: 'zpl', dpi: 300 }]);
  expect(drivable([zebra], [{ match: '*', languages: [] }])).toEqual([]);
  expect(drivable([found({ languages: ['pdf', 'zpl'] })])).toMatchObject([{ language: 'zpl' }]);
});

test('a raw queue, of which nothing is known but its name, is what the operator says of such names', () => {
  const queue = { ...found({}), name: 'Zebra ZD421 ward 3' };
  expect(drivable([queue])).toEqual([]);
  expect(drivable([queue], [{ match: '*ward*', languages: ['zpl'] }])).toMatchObject([{ language: 'zpl' }]);
  const known = { ...found({ model: 'Laser' }), name: 'ward 3' };
  expect(drivable([known], [{ match: '*ward*', languages: ['zpl'] }])).toEqual([]);
});

test('a printer that says it takes pictures gets them by IPP only', () => {
  const office = { make: 'Office', model: 'Laser', languages: ['pcl', 'pwg-raster', 'png'] as const };
  const at = (uri: string) => drivable([{ ...found({ ...office, languages: [...office.languages] }), uri }]);
  expect(at('ipp://10.0.0.9/ipp/print')).toMatchObject([{ language: 'pwg-raster' }]);
  expect(at('socket://10.0.0.9:9100')).toEqual([]);
  expect(at('lpd://10.0.0.9/auto')).toEqual([]);
});

test('languages that an IEEE 1284 ID names', () => {
  const id = 'MFG:TSC;MDL:TE210;CMD:TSPL2,TSPL-EZ,PWGRaster,PNG,EPL2,application/vnd.eltron-epl;';
  expect(evidenceOfDeviceId(id).languages).toEqual(['tspl', 'pwg-raster', 'png', 'epl']);
});

test('a pattern matches as a whole, and `*` anything', () => {
  const matches = (match: string, model: string) =>
    fingerprintOf({ model }, [{ match, dpi: 203 }]).dpi === 203;
  expect([matches('a*c', 'abc'), matches('a*c', 'ac'), matches('A*C', 'aBc'), matches('a', 'a')]).toEqual(
    Array(4).fill(true),
  );
  expect([
    matches('a*c', 'abd'),
    matches('a*b*b', 'ab'),
    matches('a', 'ab'),
    matches('ab*ba', 'aba'),
  ]).toEqual(Array(4).fill(false));
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      letters,
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 8 }),
      (match, model) => {
        expect(matches(match, model)).toBe(new RegExp(`^${match.replaceAll('*', '.*')}$`).test(model));
      },
    ),
    { seed: 20261201, numRuns: 3_000 },
  );
});

test('what makers put where there is no serial number is none', () => {
  for (const none of ['', '?', '"?"', '0', '00000000', '123456789', 'N/A', 'unknown', 'x'.repeat(101)]) {
    expect([none, believableSerial(none)]).toEqual([none, undefined]);
  }
  expect([believableSerial(' "D4J193601234"\n'), believableSerial('50J1')]).toEqual(['D4J193601234', '50J1']);
});

test('names of languages, makers, UUIDs and addresses in their spellings', () => {
  expect(languagesOf(['application/PDF', 'ZPL II', 'epl2', 'nonsense', 'zpl'])).toEqual([
    'pdf',
    'zpl',
    'epl',
  ]);
  expect([
    nameOf('Zebra', 'Zebra ZD421'),
    nameOf('Zebra', 'ZD421'),
    nameOf('Zebra', undefined),
    nameOf(undefined, undefined),
  ]).toEqual(['Zebra ZD421', 'Zebra ZD421', 'Zebra', '']);
  const uuid = '4509a320-00a0-008f-00b6-002507510eca';
  expect([
    uuidOf(`urn:uuid:${uuid.toUpperCase()}`),
    uuidOf('00000000-0000-0000-0000-000000000000'),
    uuidOf('x'),
  ]).toEqual([uuid, undefined, undefined]);
  expect([
    macOf(Buffer.from('00074d4108bd', 'hex')),
    macOf(Buffer.alloc(6)),
    macOf(Buffer.alloc(6, 255)),
    macOf(Buffer.alloc(8, 2)),
  ]).toEqual(['00:07:4d:41:08:bd', undefined, undefined, undefined]);
});
