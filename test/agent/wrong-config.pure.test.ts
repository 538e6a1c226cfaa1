/** What is wrong with an agent's configuration is told before it starts: which member, and what was expected; no secret. */

import { expect, test } from 'vitest';
import { standardTransports } from '../../drivers/transports/index.ts';
import { agentConfig } from '../../src/agent/config.ts';
import type { Drivers } from '../../src/agent/drivers.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { deviceFor } from '../../src/agent/printer/devices.ts';
import { agentFrame } from '../../src/contract/gateway.ts';
import { ALONE } from '../../src/contract/lane.ts';

const SECRET = 's3cretpw';
const host = 'labels.lab';
const printer = (uri: string, more: object = {}) => ({ printers: [{ uri, ...more }] });
const access = (more: object) => ({ access: [{ host, ...more }] });

test.each<[what: object, path: string, message: RegExp]>([
  [{ printer: [] }, '', /"printer"/],
  [printer('socket://10.0.0.7', { darknes: 3 }), 'printers.0', /"darknes"/],
  [printer('10.0.0.7'), 'printers.0.uri', /expected a URI like socket:/],
  [printer('sockt://10.0.0.7'), 'printers.0.uri', /unknown scheme sockt:; expected socket:, .*ipp:/],
  [printer('socket://10.0.0.7/queue'), 'printers.0.uri', /a path is not allowed/],
  [printer('socket://10.0.0.7:99999'), 'printers.0.uri', /expected a URI like/],
  [printer('lpd://10.0.0.7'), 'printers.0.uri', /expected lpd:\/\/host\/queue/],
  [printer('usb://zebra/1'), 'printers.0.uri', /expected usb:\/\/vendor/],
  [printer('file://host/dev/lp0'), 'printers.0.uri', /expected file:\/\/\/path/],
  [printer('winspool:'), 'printers.0.uri', /expected winspool:/],
  [printer('cups:'), 'printers.0.uri', /expected cups:queue/],
  [printer(`ipp://lab:${SECRET}@10.0.0.7/ipp`), 'printers.0.uri', /"access"/],
  [printer(`socket://lab:${SECRET}@10.0.0.7`), 'printers.0.uri', /"access"/],
  [access({ host: 'ipps://labels.lab' }), 'access.0.host', /expected a host as in the address/],
  [access({ passwort: SECRET }), 'access.0', /"passwort"/],
  [access({ password: SECRET }), 'access.0.user', /expected a user/],
  [access({ ca: SECRET }), 'access.0.ca', /expected a certificate in PEM/],
  [access({ fingerprint256: SECRET }), 'access.0.fingerprint256', /SHA-256, 64 hexadecimal digits/],
  [{ discovery: { cups: 'http://server' } }, 'discovery.cups', /ipp:\/\/server:631\//],
  [{ discovery: { cups: `ipp://lab:${SECRET}@server/` } }, 'discovery.cups', /without a password/],
  [
    { discovery: { snmp: { targets: ['10.0.0.0/8'] } } },
    'discovery.snmp.targets',
    /at most 1024 .*10\.0\.0\.0\/8/,
  ],
  [{ discovery: { zebra: { targets: ['printer.lab'] } } }, 'discovery.zebra.targets', /IPv4 .*printer\.lab/],
  [{ discovery: { snmp: { targets: ['10.0.0.7'], comunity: SECRET } } }, 'discovery.snmp', /"comunity"/],
  [
    { discovery: { fingerprints: [{ match: 'x', printMode: 'cut' }] } },
    'discovery.fingerprints.0.printMode',
    /"cutter"/,
  ],
  [{ confirmation: 'devise' }, 'confirmation', /"device"\|"transport"/],
  [{ timings: { lease: 10 } }, 'timings.lease', />=1000/],
  [{ timings: { lease: 300_001 } }, 'timings.lease', /<=300000/],
])('%j', (wrong, path, message) => {
  const { error } = agentConfig.safeParse({ dataDir: 'x', ...wrong });
  const [issue] = error?.issues ?? [];
  expect(issue?.path.join('.')).toBe(path);
  expect(issue?.message).toMatch(message);
  expect(JSON.stringify(error?.issues)).not.toContain(SECRET);
});

test.each([
  ['ipps://Labels.LAB/ipp', 'labels.lab'],
  ['ipps://labels.lab/ipp', 'LABELS.lab'],
  ['ipps://labels.lab:8631/ipp', 'labels.lab:8631'],
  ['cups:queue', 'localhost:631'],
  ['cups://Labels.lab/queue', 'labels.lab'],
])('%s is accessed by the entry of %s', async (uri, host) => {
  const fingerprint256 = 'ab'.repeat(32);
  const config = agentConfig.parse({ dataDir: 'x', access: [{ host, fingerprint256 }] });
  const given: unknown[] = [];
  const drivers: Drivers = {
    ...standardDrivers,
    transports: standardTransports.with(
      ...[...standardTransports].flatMap((transport) =>
        transport.takes === 'bytes'
          ? []
          : [
              {
                ...transport,
                open: (...how: Parameters<typeof transport.open>) => {
                  given.push(how[2]);
                  return transport.open(...how);
                },
              },
            ],
      ),
    ),
  };
  const device = deviceFor({ uri, language: 'zpl' }, config, drivers);
  // It need not get far: who it would talk to is known by then.
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(device.probe(aborted)).rejects.toThrow('enough');
  expect(given).toEqual([expect.objectContaining({ fingerprint256 })]);
});

test('the longest lease can be asked for at a gateway', () => {
  const { lease } = agentConfig.parse({ dataDir: 'x', timings: { lease: 300_000 } }).timings;
  const length = { contended: lease, alone: lease * ALONE };
  expect(agentFrame.safeParse({ kind: 'lease', i: 1, asks: [], length }).success).toBe(true);
});
