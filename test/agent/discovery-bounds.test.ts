/** Whoever is on the network can announce what they like: an agent keeps only so much of it. */

import { EventEmitter, once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { agentConfig } from '../../src/agent/config.ts';
import { openDataDir } from '../../src/agent/data-dir.ts';
import type { DiscoveryProvider } from '../../src/agent/discovery/provider.ts';
import { configuredPrinters } from '../../src/agent/discovery/providers/configured.ts';
import { PinnedCertificates } from '../../src/agent/printer/certificates.ts';
import { Printers } from '../../src/agent/printer/printers.ts';
import { Directories, logger, TestPrinter, testDrivers } from '../kit/agent/site.ts';

const directories = new Directories();
afterAll(() => directories.remove());

async function printer(serial: string): Promise<TestPrinter> {
  const made = new TestPrinter(directories, { serial });
  await made.start();
  onTestFinished(() => made.stop());
  return made;
}

test('printers that are found beyond a number are left out, those that are configured are not', async () => {
  const [own, ...others] = await Promise.all(['OWN-1', 'FOUND-1', 'FOUND-2', 'FOUND-3'].map(printer));
  if (own === undefined) throw new Error('no printer');
  const found = others.map(({ uri }) => ({ uri, evidence: { languages: ['zpl' as const] } }));
  const emitter = new EventEmitter();
  let scans = 0;
  const announced: DiscoveryProvider = {
    id: 'announced',
    exhaustive: false,
    find: async () => {
      scans++;
      emitter.emit('news');
      return found;
    },
  };
  // Not before the others have taken all the room there is.
  const configured = configuredPrinters(
    agentConfig.parse({ dataDir: '.', printers: [{ uri: own.uri }] }).printers,
  );
  const late: DiscoveryProvider = {
    ...configured,
    find: async (signal) => (printers.all.length < 2 ? [] : await configured.find(signal)),
  };
  const config = agentConfig.parse({ dataDir: '.', timings: { scan: 20, near: 20 } });
  const printers: Printers = new Printers({
    config,
    drivers: testDrivers,
    host: 'this computer',
    busy: () => false,
    providers: [announced, late],
    known: { all: () => [], put: () => {}, forget: () => {} },
    mostPrinters: 2,
    onEvent: () => emitter.emit('news'),
    logger,
  });
  printers.start();
  onTestFinished(() => printers.stop());
  const uris = () => printers.all.map(({ known }) => known.uri);
  while (!uris().includes(own.uri)) await once(emitter, 'news');
  for (const enough = scans + 5; scans < enough; ) await once(emitter, 'news');
  expect(uris()).toHaveLength(3);
  expect(uris()).toContain(own.uri);
});

test('a disk that does not take what is known of printers: they are there all the same, and go', async () => {
  const { uri } = await printer('FULL-1');
  const emitter = new EventEmitter();
  const full = () => {
    throw new Error('database or disk is full');
  };
  let listed = true;
  const provider: DiscoveryProvider = {
    id: 'listing',
    exhaustive: true,
    find: async () => (listed ? [{ uri, evidence: { languages: ['zpl'] } }] : []),
  };
  const printers = new Printers({
    config: agentConfig.parse({ dataDir: '.', timings: { scan: 20, near: 20 } }),
    drivers: testDrivers,
    host: 'this computer',
    busy: () => false,
    providers: [provider],
    known: { all: () => [], put: full, forget: full },
    onEvent: (event) => emitter.emit(event),
    logger,
  });
  const [back, gone] = [once(emitter, 'back'), once(emitter, 'gone')];
  printers.start();
  onTestFinished(() => printers.stop());
  await back;
  listed = false;
  await gone;
});

test('no pin is given up for another, and none is added beyond a number', () => {
  const directory = openDataDir(directories.make());
  onTestFinished(() => directory.close());
  const db: DatabaseSync = directory.db;
  const pins = new PinnedCertificates(db, 2);
  pins.pin(['serial-a', 'uuid-a'], 'aa');
  expect(() => pins.pin(['serial-b'], 'bb')).toThrow(/2 certificates of printers are pinned/);
  expect(pins.check(['serial-a', 'uuid-a'], 'aa')).toBe(true);
  expect(() => pins.check(['serial-a'], 'cc')).toThrow(/it shows cc/);
  pins.forget('serial-a');
  pins.pin(['serial-b'], 'bb');
  expect(pins.check(['serial-b'], 'bb')).toBe(true);
});

test('a certificate that the disk does not take is one of a printer that cannot be used yet', () => {
  const { db, close } = openDataDir(directories.make());
  onTestFinished(close);
  const pins = new PinnedCertificates(db);
  db.exec('PRAGMA query_only = 1');
  expect(() => pins.pin(['serial-a'], 'aa')).toThrow(TransportError);
  db.exec('PRAGMA query_only = 0');
  pins.pin(['serial-a'], 'aa');
  expect(pins.check(['serial-a'], 'aa')).toBe(true);
});
