/** From announcement to printer: a virtual IPP printer is found by DNS-SD, goes, and comes back elsewhere as itself. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { agentConfig } from '../../src/agent/config.ts';
import { providersOf } from '../../src/agent/discovery/providers/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { Printer } from '../../src/agent/printer/printer.ts';
import { type PrinterEvent, Printers } from '../../src/agent/printer/printers.ts';
import { createLogger } from '../../src/log.ts';
import { VirtualIppPrinter } from '../../src/virtual/ipp/ipp-printer.ts';

const LOOPBACK = '127.0.0.1';
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

/** Waits for an event of one printer; the whole run has one deadline. */
class Events {
  readonly #seen: { event: PrinterEvent; printer: Printer }[] = [];
  #wake: () => void = () => {};

  readonly heard = (event: PrinterEvent, printer: Printer) => {
    this.#seen.push({ event, printer });
    this.#wake();
  };

  async next(event: PrinterEvent, name: string): Promise<Printer> {
    for (;;) {
      const at = this.#seen.findIndex(
        (one) => one.event === event && one.printer.describe().name.startsWith(name),
      );
      if (at >= 0) return this.#seen.splice(0, at + 1).at(-1)?.printer ?? expect.fail();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function announced(name: string, directory: string): Promise<VirtualIppPrinter> {
  const printer = new VirtualIppPrinter({
    name,
    outDir: directory,
    dpi: 203,
    width: 101.6,
    height: 152.4,
    serial: 'D5J0042',
    announce: [LOOPBACK],
  });
  await printer.start();
  cleanUp.push(() => printer.stop());
  return printer;
}

test('is added, goes offline, and is the same printer at another address and under another name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'platen-found-'));
  cleanUp.push(() => rmSync(directory, { recursive: true, force: true }));
  const config = agentConfig.parse({
    dataDir: directory,
    discovery: { dnsSd: true, interfaces: [LOOPBACK] },
    timings: { scan: 1_000 },
  });
  const events = new Events();
  const printers: Printers = new Printers({
    config,
    drivers: standardDrivers,
    host: 'this computer',
    busy: () => false,
    providers: providersOf(config.discovery, standardDrivers.transports),
    known: { all: () => [], put: () => {}, forget: () => {} },
    onEvent: events.heard,
    logger: createLogger({ level: 'silent' }),
  });
  printers.start();
  cleanUp.push(() => printers.stop());

  const first = await announced('wandering', join(directory, 'one'));
  const found = await events.next('back', 'wandering');
  const id = found.id;
  expect(found.describe()).toMatchObject({ evidence: 'serial', state: 'idle', uri: first.uri });

  await first.stop();
  await events.next('offline', 'wandering');

  const second = await announced('wandering off', join(directory, 'two'));
  expect(second.uri).not.toBe(first.uri);
  const again = await events.next('back', 'wandering');
  expect(again.id).toBe(id);
  expect(again.describe()).toMatchObject({ state: 'idle', uri: second.uri });
});
