/** Printers found, known again, moved, swapped and gone: real virtual printers, providers that a test controls. */

import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { agentConfig } from '../../src/agent/config.ts';
import { openDataDir } from '../../src/agent/data-dir.ts';
import type { Fingerprint } from '../../src/agent/discovery/fingerprints.ts';
import { addressOf, printerIdOf } from '../../src/agent/discovery/identity.ts';
import { KnownPrinters } from '../../src/agent/discovery/known.ts';
import type { ChosenDriver, DiscoveryProvider } from '../../src/agent/discovery/provider.ts';
import { configuredPrinters } from '../../src/agent/discovery/providers/configured.ts';
import { formatsOf } from '../../src/agent/printer/formats.ts';
import type { Printer } from '../../src/agent/printer/printer.ts';
import { type PrinterEvent, Printers } from '../../src/agent/printer/printers.ts';
import { printerConfig } from '../../src/agent/printer-config.ts';
import { dots, millimetres } from '../../src/contract/dots.ts';
import { printerId } from '../../src/contract/printer.ts';
import { Directories, logger, TestPrinter, testDrivers } from '../kit/agent/site.ts';

const directories = new Directories();
let dataDir: string;
const open: { stop(): Promise<void> }[] = [];
beforeEach(() => {
  dataDir = directories.make();
});
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.stop();
});
afterAll(() => directories.remove());

async function startPrinter(
  options: ConstructorParameters<typeof TestPrinter>[1] = {},
): Promise<TestPrinter> {
  const printer = new TestPrinter(directories, options);
  await printer.start();
  open.push(printer);
  return printer;
}

/** What tells this computer from others. */
const HOST = 'agent-1';

function driver(uri: string, more: object = {}): ChosenDriver {
  return printerConfig.parse({ uri, ...more });
}

class Watch {
  readonly events: string[] = [];
  /** All that there were. */
  readonly all: string[] = [];
  /** Printers that have a job under way. */
  readonly busy = new Set<string>();
  readonly printers: Printers;
  readonly #emitter = new EventEmitter();
  #printers: Printer[] = [];

  constructor(
    providers: DiscoveryProvider[],
    { dropAfter = 3_600_000, fingerprints = [] }: { dropAfter?: number; fingerprints?: Fingerprint[] } = {},
  ) {
    const directory = openDataDir(dataDir);
    this.printers = new Printers({
      host: HOST,
      config: agentConfig.parse({
        dataDir,
        timings: { scan: 30, near: 30, scanTimeout: 200, dropAfter, idleConnection: 100 },
        transport: { connect: 1_000, write: 1_000, query: 150 },
        discovery: { fingerprints },
      }),
      drivers: testDrivers,
      busy: (id) => this.busy.has(id),
      providers,
      known: new KnownPrinters(directory.db),
      onEvent: (event, printer) => this.#record(event, printer),
      logger,
    });
    let ended = false;
    open.push({
      stop: async () => {
        if (ended) return;
        ended = true;
        await this.printers.stop();
        directory.close();
      },
    });
    this.stop = open[open.length - 1]?.stop ?? (async () => undefined);
    this.printers.start();
  }

  readonly stop: () => Promise<void>;

  get ids(): string[] {
    return this.printers.all.map(({ id }) => id);
  }

  /** The next such event, past ones included that were not waited for yet. */
  async until(event: PrinterEvent): Promise<Printer> {
    for (;;) {
      const at = this.events.indexOf(event);
      const printer = this.#printers[at];
      if (printer !== undefined) {
        this.events.splice(0, at + 1);
        this.#printers = this.#printers.slice(at + 1);
        return printer;
      }
      await once(this.#emitter, 'event');
    }
  }

  /** The one printer that there is, once it is as described. */
  async one(is: (printer: Printer, endpoints: string[]) => boolean): Promise<Printer> {
    for (;;) {
      const [printer, ...others] = this.printers.all;
      if (printer && others.length === 0 && is(printer, this.printers.addressesOf(printer))) return printer;
      await once(this.#emitter, 'event');
    }
  }

  #record(event: PrinterEvent, printer: Printer): void {
    this.events.push(event);
    this.all.push(event);
    this.#printers.push(printer);
    this.#emitter.emit('event');
  }
}

/** A provider whose list the test changes; `scanned` resolves after the next scan that begins from now on. */
function listing(list: ChosenDriver[], exhaustive = false) {
  const scans = new EventEmitter();
  const provider: DiscoveryProvider & { list: ChosenDriver[]; scanned(): Promise<void> } = {
    id: 'listing',
    exhaustive,
    list,
    find: async () => {
      scans.emit('scan');
      return provider.list.map((entry) => ({ uri: entry.uri, evidence: {}, entry }));
    },
    scanned: async () => {
      await once(scans, 'scan');
      await once(scans, 'scan');
    },
  };
  return provider;
}

test('a printer that is off at the first start gets its ID when it is on, and keeps it when it is off', async () => {
  const printer = await startPrinter({ serial: 'SN-77' });
  await printer.powerOff();
  const list = listing([driver(printer.uri)]);
  const first = new Watch([list]);
  await list.scanned();
  expect(first.ids).toEqual([]);
  await printer.powerOn();
  const id = printerIdOf({ evidence: 'serial', value: 'sn-77 ' });
  expect((await first.until('added')).id).toBe(id);
  await first.until('back');
  await first.stop();

  await printer.powerOff();
  const second = new Watch([listing([driver(printer.uri)])]);
  const known = await second.until('added');
  expect(known.describe()).toMatchObject({ id, state: 'unknown', reasons: ['offline'] });
  await printer.powerOn();
  expect((await second.until('back')).id).toBe(id);
  expect(known.describe()).toMatchObject({ state: 'idle', reasons: [] });
  await printer.powerOff();
  expect((await second.until('offline')).id).toBe(id);
  expect(second.ids).toEqual([id]);
});

test('a printer keeps its ID at another address, and is one over two addresses', async () => {
  const printer = await startPrinter({ serial: 'SN-1' });
  const list = listing([driver(printer.uri)]);
  const watch = new Watch([list]);
  const { id } = await watch.until('back');
  const elsewhere = await startPrinter({ serial: 'SN-1' });
  list.list = [driver(printer.uri), driver(elsewhere.uri)];
  const both = await watch.one((_, endpoints) => endpoints.length === 2);
  expect(both.describe()).toMatchObject({ id, uri: addressOf(printer.uri), state: 'idle' });
  await printer.powerOff();
  list.list = [driver(elsewhere.uri)];
  const moved = await watch.one(({ known, online }) => online && known.uri === elsewhere.uri);
  expect(moved.describe()).toMatchObject({ id, uri: addressOf(elsewhere.uri), state: 'idle' });
});

test('a printer that the configuration has at another address after a restart is that one, and never gone', async () => {
  const printer = await startPrinter({ serial: 'SN-1' });
  const first = new Watch([configuredPrinters([driver(printer.uri)])]);
  const { id } = await first.until('back');
  await first.stop();
  await printer.powerOff();
  const elsewhere = await startPrinter({ serial: 'SN-1' });
  const second = new Watch([configuredPrinters([driver(elsewhere.uri)])]);
  expect((await second.until('back')).id).toBe(id);
  expect(second.all).toEqual(['added', 'back']);
});

test('another printer at the address is another printer', async () => {
  const printer = await startPrinter({ serial: 'SN-1' });
  const watch = new Watch([listing([driver(printer.uri)])]);
  const { id } = await watch.until('back');
  await printer.powerOff();
  const { port } = printer;
  await startPrinter({ serial: 'SN-2', port });
  const added = await watch.until('added');
  expect(added.id).not.toBe(id);
  expect(watch.ids).toEqual([id, added.id]);
  expect(watch.printers.all[0]?.online).toBe(false);
});

test('a device that says nothing gets an ID by its address at the third scan', async () => {
  const printer = await startPrinter({ faults: { silent: true } });
  const list = listing([driver(printer.uri)]);
  const watch = new Watch([list]);
  const { id } = await watch.until('back');
  // An address on this computer is only this computer's.
  expect(id).toBe(printerIdOf({ evidence: 'address', value: `${HOST} ${addressOf(printer.uri)}` }));
  // It learns to speak: the address was only standing in for its serial number.
  printer.set({ silent: false });
  expect((await watch.until('gone')).id).toBe(id);
  expect((await watch.until('added')).id).toMatch(/^serial-/);
});

test('a provider that fails and one that hangs hold up nobody', async () => {
  const printer = await startPrinter();
  const broken: DiscoveryProvider = {
    id: 'broken',
    exhaustive: false,
    find: () => Promise.reject(new Error('no')),
  };
  const hanging: DiscoveryProvider = {
    id: 'hanging',
    exhaustive: false,
    find: () => new Promise(() => undefined),
  };
  const watch = new Watch([broken, hanging, configuredPrinters([driver(printer.uri)])]);
  await watch.until('back');
  expect(watch.ids).toHaveLength(1);
});

test('a printer that is listed no more: gone where the list is all there is, else offline for a time', async () => {
  const printer = await startPrinter();
  const list = listing([driver(printer.uri)], true);
  const watch = new Watch([list]);
  const { id } = await watch.until('back');
  list.list = [];
  expect((await watch.until('gone')).id).toBe(id);
  await watch.stop();

  const found = listing([driver(printer.uri)]);
  const patient = new Watch([found], { dropAfter: 300 });
  await patient.until('back');
  found.list = [];
  expect((await patient.until('offline')).id).toBe(id);
  expect((await patient.until('gone')).id).toBe(id);
  expect(patient.ids).toEqual([]);
});

test('what the operator sets wins over what the device says', async () => {
  const printer = await startPrinter({ name: 'VZ' });
  const set = { id: 'queue-abcdefgh', name: 'Ward 3', dpi: 300, width: 76.2, height: 50.8 };
  const watch = new Watch([configuredPrinters([driver(printer.uri, set)])]);
  const found = await watch.until('back');
  expect(found.describe()).toMatchObject({
    id: 'queue-abcdefgh',
    name: 'Ward 3',
    formats: [{ id: 'zpl-300-76.2x50.8', name: '76.2 × 50.8 mm, 300 dpi', language: 'zpl' }],
  });
});

test('what is set for a model holds for its printers, and what is set for a printer before it', async () => {
  const printer = await startPrinter({ model: 'ZD421' });
  const models = [
    { match: '*zd421*', printMode: 'cutter' as const, darkness: 12, width: 76.2, height: 50.8 },
  ];
  const plain = new Watch([configuredPrinters([driver(printer.uri)])], { fingerprints: models });
  const found = await plain.until('back');
  expect(found.describe().formats.map(({ id }) => id)).toEqual([
    'zpl-203-76.2x50.8-darkness-12-print-mode-cutter',
  ]);
  await plain.stop();
  const set = driver(printer.uri, { printMode: 'peel-off', width: 50, height: 25 });
  const own = new Watch([configuredPrinters([set])], { fingerprints: models });
  expect((await own.until('back')).describe().formats).toMatchObject([
    { printMode: 'peel-off', darkness: 12, width: 50, height: 25 },
  ]);
});

test('formats have IDs made from what they are', () => {
  const plain = driver('socket://10.0.0.7:9100');
  const said = (width: number, height: number) =>
    ({ evidence: 'serial', value: 'x', dpi: 203, width, height }) as const;
  // 813 × 1219 dots and 812 × 1218 dots are both what is sold as 4 × 6 in.
  expect(formatsOf(plain, said(101.72, 152.53))[0]?.id).toBe('zpl-203-101.6x152.4');
  expect(formatsOf(plain, said(101.6, 152.4))[0]?.id).toBe('zpl-203-101.6x152.4');
  expect(formatsOf(plain, said(50.05, 25.02))[0]?.id).toBe('zpl-203-50x25');
  // Whole dots of what is sold, at each resolution.
  for (const dpi of [203, 300, 600]) {
    for (const [width, height] of [
      [101.6, 152.4],
      [76.2, 50.8],
      [57, 32],
    ] as const) {
      const mm = (length: number) => millimetres(dots(length, dpi), dpi);
      expect(formatsOf(plain, { ...said(mm(width), mm(height)), dpi })[0]).toMatchObject({ width, height });
    }
  }
  expect(formatsOf(plain, null)[0]?.id).toBe('zpl-203-101.6x152.4');
  const two = driver('socket://10.0.0.7:9100', {
    formats: [
      { dpi: 203, width: 50, height: 25, name: 'Shelf' },
      { dpi: 203, width: 50, height: 30 },
    ],
  });
  expect(formatsOf(two, null).map(({ id, name }) => [id, name])).toEqual([
    ['zpl-203-50x25', 'Shelf'],
    ['zpl-203-50x30', '50 × 30 mm, 203 dpi'],
  ]);
});

test('IDs are queue names, and addresses hold no credentials', () => {
  expect(addressOf('ipp://user:secret@10.0.0.7:631/queue?token=x#y')).toBe('ipp://10.0.0.7:631/queue');
  for (const evidence of ['serial', 'uuid', 'device-id', 'mac', 'queue', 'address'] as const) {
    expect(printerId.safeParse(printerIdOf({ evidence, value: '12345' })).success).toBe(true);
  }
});
