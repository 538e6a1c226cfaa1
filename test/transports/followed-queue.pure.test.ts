import { expect, test } from 'vitest';
import { followsItsPrinter } from '../../drivers/transports/document/followed-queue.ts';

test.each([
  'ipp://10.0.0.7/ipp/print',
  'ipps://labels.local:631/ipp/print?waitjob=true&waitprinter=false',
  'dnssd://Zebra%20ZD421._ipp._tcp.local/?uuid=07a4bd8e-0000-0000-0000-000000000000',
  'dnssd://Zebra%20ZD421._ipps._tcp.local/',
])('%s: CUPS asks the printer until the end', (uri) => {
  expect(followsItsPrinter(uri)).toBe(true);
});

test.each([
  undefined,
  '',
  'no address',
  'socket://10.0.0.7:9100',
  'usb://Zebra/ZD421?serial=D4J193601234',
  'lpd://10.0.0.7/queue',
  'file:///dev/null',
  'implicitclass://everywhere/',
  // Nobody waits.
  'ipp://10.0.0.7/ipp/print?waitjob=false',
  'ipp://10.0.0.7/ipp/print?WaitJob=no',
  // A queue of another print server, which may be a raw one.
  'ipp://server/printers/labels',
  'ipp://server/classes/labels',
  'dnssd://Labels%20%40%20server._ipp._tcp.local/cups?uuid=07a4bd8e-0000-0000-0000-000000000000',
  'dnssd://Labels._pdl-datastream._tcp.local/',
  'dnssd://Labels._printer._tcp.local/',
])('%s: its end says nothing of the printer', (uri) => {
  expect(followsItsPrinter(uri)).toBe(false);
});
