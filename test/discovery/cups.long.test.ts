import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { IppStatusError } from '../../drivers/ipp/client.ts';
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import { chosenDriver, sighting } from '../../src/agent/discovery/provider.ts';
import { cupsDiscovery } from '../../src/agent/discovery/providers/cups.ts';
import { anyMessage } from '../ipp/messages.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { httpPeer, ippAnswer } from '../kit/wire/http-peer.ts';
import { freePort } from '../kit/wire/listening.ts';
import { drivable } from './drivable.ts';

const run = promisify(execFile);
const signal = new AbortController().signal;

let cups: Cupsd;
beforeAll(async () => {
  cups = await startCupsd();
});
afterAll(() => cups?.stop());

const lpadmin = (...args: string[]) => run('lpadmin', ['-h', `127.0.0.1:${cups.port}`, ...args]);
const server = () => `ipp://127.0.0.1:${cups.port}/`;

test('the queues of a real CUPS, and what is behind them', async () => {
  const provider = cupsDiscovery({ server: server() });
  expect(await provider.find(signal)).toEqual([]);
  await lpadmin('-p', 'raw_labels', '-E', '-v', 'socket://127.0.0.1:9100', '-m', 'raw', '-D', 'Ward 3');
  await lpadmin('-p', 'usb', '-E', '-v', 'usb://Zebra/ZD421?serial=D4J193601234', '-m', 'raw');
  await lpadmin('-p', 'secret', '-E', '-v', 'ipp://me:password@127.0.0.1/ipp', '-m', 'raw');
  const [ppd] = globSync('/usr/share/ppd/cupsfilters/Generic-PDF_Printer-PDF.ppd');
  if (ppd === undefined) throw new Error('cups-filters has no PPD for PDF printers');
  await lpadmin('-p', 'office', '-E', '-v', 'socket://127.0.0.1:9101', '-P', ppd);

  const found = await provider.find(signal);
  for (const one of found) expect(sighting.parse(one)).toEqual(one);
  const at = (name: string) => found.find(({ uri }) => uri === `${server()}printers/${name}`);
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const queue = (name: string) => `127.0.0.1:${cups.port}/printers/${name}`;
  expect(at('raw_labels')).toEqual({
    uri: `${server()}printers/raw_labels`,
    name: 'Ward 3',
    evidence: { uuid, queue: queue('raw_labels'), deviceUri: 'socket://127.0.0.1:9100' },
  });
  expect(at('usb')?.evidence).toEqual({
    uuid,
    queue: queue('usb'),
    serial: 'D4J193601234',
    deviceUri: 'usb://Zebra/ZD421?serial=D4J193601234',
  });
  expect(JSON.stringify(found)).not.toContain('password');

  // A raw queue for a device that says nothing is not talked to; one with a driver takes PDF.
  const drivers = drivable(await provider.find(signal));
  expect(drivers.map(({ uri, language }) => [uri, language])).toEqual([
    [`${server()}printers/office`, 'pdf'],
  ]);
  for (const one of drivers) expect(chosenDriver.parse(one)).toEqual(one);

  // Deleted and added again it has another UUID, and leads to the same device.
  await lpadmin('-x', 'usb');
  expect((await provider.find(signal)).length).toBe(found.length - 1);
  await lpadmin('-p', 'usb', '-E', '-v', 'usb://Zebra/ZD421?serial=D4J193601234', '-m', 'raw');
  const again = (await provider.find(signal)).find(({ uri }) => uri.endsWith('/usb'));
  expect(again?.evidence.serial).toBe('D4J193601234');
});

test('a device ID that CUPS has of a queue tells its languages', async () => {
  const attributes: IppAttribute[] = [
    { name: 'printer-name', values: [{ tag: 'name', value: 'zebra' }] },
    { name: 'printer-make-and-model', values: [{ tag: 'text', value: 'Local Raw Printer' }] },
    {
      name: 'printer-device-id',
      values: [{ tag: 'text', value: 'MFG:Zebra;MDL:ZTC ZD421-203dpi ZPL;CMD:ZPL;SN:D4J193601234;' }],
    },
    { name: 'device-uri', values: [{ tag: 'uri', value: 'dnssd://Zebra._ipp._tcp.local/' }] },
  ];
  const { uri } = await httpPeer(ippAnswer(() => ({ groups: [{ tag: 'printer', attributes }] })));
  const found = drivable(await cupsDiscovery({ server: new URL('/', uri).href }).find(signal));
  expect(found).toMatchObject([
    { name: 'zebra', language: 'zpl', dpi: 203, evidence: { serial: 'D4J193601234', make: 'Zebra' } },
  ]);
});

test('no CUPS is no queue; a CUPS that does not answer properly is an error of ours', async () => {
  const nobody = cupsDiscovery({ server: `ipp://127.0.0.1:${await freePort()}/` });
  expect(drivable(await nobody.find(signal))).toEqual([]);
  const page = await httpPeer((_, response) => void response.end('<html>'));
  await expect(cupsDiscovery({ server: page.uri }).find(signal)).rejects.toThrow(TransportError);
  const forbidden = await httpPeer(ippAnswer(() => ({ code: 0x0401 })));
  await expect(cupsDiscovery({ server: forbidden.uri }).find(signal)).rejects.toThrow(IppStatusError);
  const silent = await httpPeer(() => undefined);
  await expect(cupsDiscovery({ server: silent.uri, timeout: 200 }).find(signal)).rejects.toThrow(
    TransportError,
  );
  const abort = new AbortController();
  const scan = cupsDiscovery({ server: silent.uri }).find(abort.signal);
  await once(silent.server, 'request');
  abort.abort(new Error('stop'));
  await expect(scan).rejects.toThrow('stop');
});

test('whatever a server says of its queues, what is made of it is proper', async () => {
  const names = [
    'printer-name',
    'printer-info',
    'printer-uuid',
    'printer-make-and-model',
    'printer-device-id',
  ];
  const wanted = fc.constantFrom(...names, 'device-uri', 'document-format-supported');
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.string({ unit: 'binary' }).map((text) => `usb://x/y?serial=${text}&uuid=${text}`),
    fc.string().map((text) => `MFG:${text};MDL:${text};CMD:${text};SN:${text}`),
    fc.constant('application/pdf'),
  );
  const attributes = fc.array(
    fc.record({
      name: wanted,
      values: fc.array(fc.record({ tag: fc.constant('text' as const), value }), { minLength: 1 }),
    }),
    { maxLength: 12 },
  );
  const named: IppAttribute = { name: 'printer-name', values: [{ tag: 'name', value: 'queue' }] };
  const groups = fc.array(
    attributes.map((some) => ({ tag: 'printer' as const, attributes: [named, ...some] })),
  );
  let answer = fc.sample(anyMessage, { seed: 1, numRuns: 1 })[0]?.groups ?? [];
  const { uri } = await httpPeer(ippAnswer(() => ({ groups: answer })));
  const provider = cupsDiscovery({ server: uri });
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        groups,
        anyMessage.map((message) => message.groups),
      ),
      async (some) => {
        answer = some;
        const found = await provider.find(signal);
        for (const one of found) expect(sighting.parse(one)).toEqual(one);
        seen += found.length;
      },
    ),
    { seed: 20261129, numRuns: Number(process.env['DISCOVERY_FUZZ'] ?? 3_000) / 10 },
  );
  expect(seen).toBeGreaterThan(0);
});
