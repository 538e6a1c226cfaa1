/** Addresses of devices that take documents: what a short one stands for, and what is none. */
import { expect, test } from 'vitest';
import { queueAddress } from '../../drivers/transports/document/cups.ts';
import { standardTransports } from '../../drivers/transports/index.ts';

test.each([
  ['cups:labels', 'ipp://localhost:631/printers/labels'],
  ['cups:///labels', 'ipp://localhost:631/printers/labels'],
  ['cups:Zebra%20ZD421', 'ipp://localhost:631/printers/Zebra%20ZD421'],
  ['cups://server/labels', 'ipp://server:631/printers/labels'],
  ['cups://server:8631/labels', 'ipp://server:8631/printers/labels'],
  ['cups://[::1]:8631/labels', 'ipp://[::1]:8631/printers/labels'],
])('%s is %s', (uri, address) => {
  expect(queueAddress(new URL(uri)).href).toBe(address);
});

test.each([
  'cups:',
  'cups://server',
  'cups://server/',
  'cups://server/printers/labels',
  'cups:labels?x=1',
  'cups:labels#1',
  'lpd://host',
  'lpd://host/',
  'lpd://host/a/b',
  'lpd://host/a%20b',
  'lpd://host/%',
  'lpd:queue',
  'lpd://u:p@host/q',
  'winspool:',
  'winspool:a%',
  'winspool:a%00b',
  'winspool:a?b',
  'winspool:a#b',
  'winspool://host/a',
  'winspool:a%2Cb',
])('%s is no address', (uri) => {
  expect(() => standardTransports.documents(uri)).toThrow(
    expect.objectContaining({ code: 'address-invalid' }),
  );
});
