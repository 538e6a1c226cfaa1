/** Whatever an address, a Windows port or a server says is read as meant, or refused by an error of ours. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import {
  jobState,
  printerName,
  printerStatus,
  winspoolAddress,
} from '../../drivers/transports/document/winspool.ts';
import { portAddress } from '../../drivers/transports/document/winspool-ports.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { evidenceOfDeviceUri } from '../../src/agent/discovery/evidence.ts';
import { peer } from '../kit/wire/peer.ts';

const settings = { seed: 20261127, numRuns: Number(process.env['REPLY_FUZZ'] ?? 3_000) };
const SECRET = 's3cretpw';

const scheme = fc.constantFrom(
  'socket',
  'lpd',
  'ipp',
  'ipps',
  'cups',
  'usb',
  'file',
  'winspool',
  'http',
  'x',
);
const host = fc.oneof(
  fc.constantFrom(
    '',
    'host',
    '10.0.0.7',
    '[::1]',
    '[fe80::1%25eth0]',
    'HOST.local',
    '%',
    'a b',
    `u:${SECRET}@h`,
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const path = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    '/queue',
    '/a/b',
    '/%',
    '/%00',
    '/%0a2x',
    '/%2F..',
    `?${SECRET}`,
    `/q#${SECRET}`,
    ':0/q',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const anything = fc.oneof(
  fc.tuple(scheme, fc.constantFrom(':', '://', ':///'), host, path).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

test('an address is one of ours, or address-invalid without the secret in it', () => {
  const tally = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(anything, (uri) => {
      try {
        standardTransports.check(uri);
        tally.taken++;
        // What is taken can be opened, and has no password to be shown.
        standardTransports.documents(uri)?.close();
        expect(new URL(uri).password).toBe('');
      } catch (error) {
        if (!(error instanceof TransportError) || error.code !== 'address-invalid') throw error;
        expect(error.message).not.toContain(SECRET);
        tally.refused++;
      }
    }),
    settings,
  );
  expect(tally.taken).toBeGreaterThan(settings.numRuns / 20);
  expect(tally.refused).toBeGreaterThan(settings.numRuns / 20);
});

test('where a Windows port leads is an address that can be driven, or nothing', () => {
  const number = fc.oneof(fc.constantFrom(0, 1, 2, 9100, 65_535, 65_536), fc.nat(0xffffffff));
  const name = fc.oneof(
    fc.constantFrom('host', '10.0.0.7', '::1', 'a/b', 'u:p@h', 'h:1', 'h?x'),
    fc.string({ unit: 'binary' }),
  );
  let addresses = 0;
  fc.assert(
    fc.property(name, number, number, fc.string({ unit: 'binary' }), (host, port, protocol, queue) => {
      const address = portAddress({ host, port, protocol, queue: queue.toWellFormed() });
      if (address === null) return;
      addresses++;
      const { protocol: of, username, password, search, hash } = new URL(address);
      expect([of, username, password, search, hash]).toEqual([
        expect.stringMatching(/^(socket|lpd):$/),
        '',
        '',
        '',
        '',
      ]);
    }),
    settings,
  );
  expect(addresses).toBeGreaterThan(settings.numRuns / 20);
});

test('a name of a Windows printer comes back from its address, or is none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 250 }), (name) => {
      if (!name.isWellFormed()) return;
      try {
        expect(printerName(new URL(winspoolAddress(name)))).toBe(name);
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        expect(name).toMatch(/[\p{C},!]|^$|^.{221,}$/su);
      }
    }),
    settings,
  );
});

test('any flags of the spooler are a state', () => {
  const flags = fc.nat(0xffffffff);
  fc.assert(
    fc.property(flags, flags, (Status, Attributes) => {
      const { state, reasons } = printerStatus({ Status, Attributes });
      expect(state === 'stopped').toBe(reasons.length > 0);
      expect(jobState(Status, 'x').phase).toMatch(/^(completed|processing|held|stopped|pending)$/);
    }),
    settings,
  );
});

test('what CUPS tells of a device keeps no password', () => {
  fc.assert(
    fc.property(anything, (uri) => {
      const { deviceUri = '' } = evidenceOfDeviceUri(uri);
      if (deviceUri !== '') expect(new URL(deviceUri).password).toBe('');
    }),
    settings,
  );
});

test('an LPD server that answers without end is left, and its answer not kept', async () => {
  const flood = Buffer.alloc(1024 * 1024, 1);
  const server = await peer((socket) => {
    const more = () => {
      while (socket.writable && socket.write(flood));
    };
    socket.on('drain', more).resume();
    socket.once('data', more);
  });
  const port = standardTransports.documents(`lpd://127.0.0.1:${server.port}/q`, { query: 2_000 });
  const creating = port?.create(
    { name: 'x', language: 'zpl', media: { width: 50, height: 25 } },
    new AbortController().signal,
  );
  await expect(creating).rejects.toMatchObject({ message: expect.stringMatching(/lpd-answer-1|more than/) });
});
