/**
 * A printer that appears is there at once, and one that goes is offline at once: nothing here waits for a scan,
 * which is an hour away. What is left is what an announcement, or a look at a list that is near, takes.
 */

import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { agentConfig, timings } from '../../src/agent/config.ts';
import type { DiscoveryProvider } from '../../src/agent/discovery/provider.ts';
import { configuredPrinters } from '../../src/agent/discovery/providers/configured.ts';
import { cupsDiscovery } from '../../src/agent/discovery/providers/cups.ts';
import { dnsSdDiscovery } from '../../src/agent/discovery/providers/dns-sd/dns-sd.ts';
import { usbDiscovery } from '../../src/agent/discovery/providers/usb.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { Printer } from '../../src/agent/printer/printer.ts';
import { type PrinterEvent, Printers } from '../../src/agent/printer/printers.ts';
import { Directories, logger, TestPrinter } from '../kit/agent/site.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { fakeSysfs } from './sysfs.ts';

const LOOPBACK = '127.0.0.1';
const run = promisify(execFile);
const AN_HOUR = 3_600_000;

const directories = new Directories();
const cleanUp: (() => unknown)[] = [];
let avahi: Avahi;
let cups: Cupsd;

beforeAll(async () => {
  [avahi, cups] = await Promise.all([startAvahi(), startCupsd()]);
});
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});
afterAll(async () => {
  await Promise.all([avahi?.stop(), cups?.stop()]);
  directories.remove();
});

/** @param name of the printers that it is about: other tests announce theirs on this machine too */
function watching(provider: DiscoveryProvider, name: RegExp) {
  const config = agentConfig.parse({ dataDir: '.', timings: { scan: AN_HOUR } });
  const emitter = new EventEmitter();
  const seen: PrinterEvent[] = [];
  const printers: Printers = new Printers({
    config,
    drivers: standardDrivers,
    host: 'this computer',
    busy: () => false,
    providers: [provider],
    known: { all: () => [], put: () => {}, forget: () => {} },
    onEvent: (event: PrinterEvent, printer: Printer) => {
      if (name.test(printer.describe().name)) seen.push(event);
      emitter.emit('event');
    },
    logger,
  });
  printers.start();
  cleanUp.push(() => printers.stop());
  return {
    printers,
    /** The next such event that was not waited for yet. */
    async until(event: PrinterEvent): Promise<void> {
      while (!seen.includes(event)) await once(emitter, 'event');
      seen.splice(0, seen.indexOf(event) + 1);
    },
  };
}

async function printerOn(port?: number): Promise<TestPrinter> {
  const printer = new TestPrinter(directories, { serial: 'APPEARING-1', ...(port && { port }) });
  await printer.start();
  cleanUp.push(() => printer.stop());
  return printer;
}

test('what the defaults promise: two seconds, with a look each second', () => {
  const { near, scan } = timings.parse({});
  expect(near).toBeLessThanOrEqual(1_000);
  expect(near).toBeLessThan(scan);
});

test('a printer that is announced, and one that says that it leaves', async () => {
  const printer = await printerOn();
  const { until } = watching(dnsSdDiscovery({ interfaces: [LOOPBACK] }), /^appearing/);
  const txt = ['usb_MFG=Zebra', 'usb_MDL=ZTC ZD421-203dpi ZPL'];
  // One before the first scan, so that the other is announced between two.
  const other = await avahi.publish('appearing first', '_pdl-datastream._tcp', printer.port, txt);
  await until('back');
  await other();
  await until('offline');
  const withdraw = await avahi.publish('appearing second', '_pdl-datastream._tcp', printer.port, txt);
  await until('back');
  await withdraw();
  await until('offline');
});

test('a queue that is added, and one that is deleted', async () => {
  const [ppd] = globSync('/usr/share/ppd/cupsfilters/Generic-PDF_Printer-PDF.ppd');
  if (ppd === undefined) throw new Error('cups-filters has no PPD for PDF printers');
  const lpadmin = (...args: string[]) => run('lpadmin', ['-h', `${LOOPBACK}:${cups.port}`, ...args]);
  const { until, printers } = watching(
    cupsDiscovery({ server: `ipp://${LOOPBACK}:${cups.port}/` }),
    /^office$/,
  );
  for (const _ of ['added', 'added again']) {
    await lpadmin('-p', 'office', '-E', '-v', 'socket://192.0.2.7', '-P', ppd);
    await until('back');
    await lpadmin('-x', 'office');
    await until('offline');
  }
  expect(printers.all).toHaveLength(1);
});

test('a printer on USB that is plugged in, and unplugged', async () => {
  const sysfs = await fakeSysfs();
  const { until } = watching(elsewhere(usbDiscovery({ sysfs: sysfs.root }), (await printerOn()).uri), /./);
  for (const [node, port] of [
    ['lp0', '1-1'],
    ['lp1', '2-3'],
  ] as const) {
    await sysfs.plug({ node, port, serial: 'D4J193601234', deviceId: 'MFG:Zebra;MDL:ZD421;CMD:ZPL;' });
    await until('back');
    await sysfs.unplug({ node, port });
    await until('offline');
  }
});

/** The same list, with an address that can be opened here. */
function elsewhere(provider: DiscoveryProvider, uri: string): DiscoveryProvider {
  return {
    ...provider,
    find: async (signal) => (await provider.find(signal)).map((sighting) => ({ ...sighting, uri })),
  };
}

test('a printer of the configuration that is switched on', async () => {
  const printer = await printerOn();
  await printer.powerOff();
  const { printers: entries } = agentConfig.parse({ dataDir: '.', printers: [{ uri: printer.uri }] });
  const { until, printers } = watching(configuredPrinters(entries), /./);
  expect(printers.all).toEqual([]);
  await printer.powerOn();
  await until('back');
});
