/** Which way a printer is driven, and what a job under way fixes: real printers, a test's lists. */

import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, expect, test } from 'vitest';
import { standardTransports } from '../../drivers/transports/index.ts';
import { agentConfig } from '../../src/agent/config.ts';
import { printerIdOf } from '../../src/agent/discovery/identity.ts';
import type { ChosenDriver, DiscoveryProvider, Sighting } from '../../src/agent/discovery/provider.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { sameJobs } from '../../src/agent/printer/choice.ts';
import type { Printer } from '../../src/agent/printer/printer.ts';
import { Printers } from '../../src/agent/printer/printers.ts';
import { TestIppPrinter } from '../kit/agent/ipp-site.ts';
import { Directories, logger, TestPrinter } from '../kit/agent/site.ts';
import { secured } from '../kit/wire/secured.ts';

const SERIAL = 'D4J193601234';
const ID = printerIdOf({ evidence: 'serial', value: SERIAL });

const directories = new Directories();
const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});
afterAll(() => directories.remove());

async function started<T extends TestPrinter | TestIppPrinter>(printer: T): Promise<T> {
  await printer.start();
  running.push(() => printer.stop());
  return printer;
}
const zplPrinter = (answers = true, serial = SERIAL) =>
  started(new TestPrinter(directories, { serial, faults: { silent: !answers } }));
const ippPrinter = () => started(new TestIppPrinter(directories, { serial: SERIAL }));

const zpl = (uri: string, more: Sighting['evidence'] = {}): Sighting => ({
  uri,
  evidence: { languages: ['zpl'], ...more },
});

/** A list that the test changes, and what became of it. */
function watching(list: Sighting[], timings = { scan: 30, near: 30 }) {
  const config = agentConfig.parse({
    dataDir: '.',
    timings,
    transport: { connect: 1_000, write: 1_000, query: 200 },
  });
  const provider: DiscoveryProvider & { list: Sighting[] } = {
    id: 'listing',
    exhaustive: false,
    near: true,
    list,
    find: async () => provider.list,
  };
  const busy = new Set<string>();
  const emitter = new EventEmitter();
  const printers: Printers = new Printers({
    config,
    drivers: standardDrivers,
    host: 'this computer',
    providers: [provider],
    known: { all: () => [], put: () => {}, forget: () => {} },
    busy: (id) => busy.has(id),
    onEvent: () => emitter.emit('event'),
    logger,
  });
  printers.start();
  running.push(() => printers.stop());
  const one = async (is: (printer: Printer) => boolean): Promise<Printer> => {
    for (;;) {
      const [printer, ...others] = printers.all;
      if (printer !== undefined && others.length === 0 && is(printer)) return printer;
      await once(emitter, 'event');
    }
  };
  return { provider, busy, printers, one };
}

const hasAnswered = (printer: Printer, uri: string) =>
  printer.known.endpoints.some((endpoint) => endpoint.uri === uri && endpoint.identity !== null);

// Its first answer is what makes it a printer; an endpoint that drives none waits for six scans.
test('a printer just found is asked again at the next scan', { timeout: 15_000 }, async () => {
  const found = await zplPrinter();
  const { one } = watching([zpl(found.uri)], { scan: 3_000, near: 500 });
  await one(({ state }) => state === 'idle');
  found.set({ 'media-empty': true });
  const { reasons } = await one(({ state }) => state !== 'idle');
  expect(reasons).toContain('media-empty');
});

test('a printer that answers is better than one that does not, once nothing is under way', async () => {
  const oneWay = await zplPrinter(false);
  const twoWay = await zplPrinter();
  const { provider, busy, one } = watching([zpl(oneWay.uri, { serial: SERIAL })]);
  // Told by its provider: it does not have to be asked three times.
  const printer = await one(({ online }) => online);
  expect([printer.id, printer.known.uri]).toEqual([ID, oneWay.uri]);
  busy.add(ID);
  provider.list = [zpl(oneWay.uri, { serial: SERIAL }), zpl(twoWay.uri)];
  await one((now) => hasAnswered(now, twoWay.uri));
  expect(printer.known.uri).toBe(oneWay.uri);
  busy.clear();
  await one(({ known }) => known.uri === twoWay.uri);
  expect(printer.describe()).toMatchObject({ id: ID, state: 'idle', reasons: [] });
});

test('by bytes is not changed for by documents in the middle of a job, and is after it', async () => {
  const [bytes, documents] = [await zplPrinter(), await ippPrinter()];
  const { provider, busy, one } = watching([zpl(bytes.uri)]);
  const printer = await one(({ online }) => online);
  busy.add(ID);
  await bytes.powerOff();
  await one(({ online }) => !online);
  provider.list = [zpl(bytes.uri), zpl(documents.uri)];
  await one((now) => hasAnswered(now, documents.uri));
  expect([printer.online, printer.device.kind]).toEqual([false, 'stream']);
  busy.clear();
  await one(({ online }) => online);
  expect([printer.id, printer.known.uri, printer.device.kind]).toEqual([ID, documents.uri, 'document']);
});

test('encryption with a certificate that anybody may show is not better', async () => {
  const [printer, other] = [await ippPrinter(), await ippPrinter()];
  const tls = await secured(other);
  running.push(tls.stop);
  const { provider, one } = watching([zpl(printer.uri)]);
  await one(({ online }) => online);
  provider.list = [zpl(tls.uri), zpl(printer.uri)];
  const found = await one((now) => hasAnswered(now, tls.uri));
  expect(found.known.uri).toBe(printer.uri);
  // Nor where nothing is known of either yet.
  const anew = watching([zpl(tls.uri), zpl(printer.uri)]);
  expect((await anew.one((now) => hasAnswered(now, tls.uri))).known.uri).toBe(printer.uri);
});

test('no ID changes in the middle of a job', async () => {
  const printer = await zplPrinter(false);
  const { busy, one, printers } = watching([zpl(printer.uri)]);
  const { id } = await one(({ online }) => online);
  expect(id).toMatch(/^address-/);
  busy.add(id);
  printer.set({ silent: false });
  await one(({ known }) => known.endpoints[0]?.identity !== null);
  expect(printers.all.map((one) => one.id)).toEqual([id]);
  busy.clear();
  await one((now) => now.id === ID && now.online);
});

test('how a printer is that says nothing, somebody else may tell; of one that answers, it does itself', async () => {
  const status = { state: 'stopped' as const, reasons: ['media-empty' as const] };
  const mute = await zplPrinter(false);
  const { provider, one } = watching([{ ...zpl(mute.uri, { serial: SERIAL }), status }]);
  const printer = await one(({ online }) => online);
  expect(printer.describe()).toMatchObject({ state: 'stopped', reasons: ['media-empty'] });
  provider.list = [zpl(mute.uri, { serial: SERIAL })];
  await one(({ state }) => state === 'unknown');
  mute.set({ silent: false });
  provider.list = [{ ...zpl(mute.uri, { serial: SERIAL }), status }];
  await one(({ state }) => state === 'idle');
});

test('a printer that says nothing, at the address of one that answered, is who it is told to be', async () => {
  const first = await zplPrinter();
  const { provider, printers, one } = watching([zpl(first.uri)]);
  await one(({ online }) => online);
  await first.powerOff();
  const { port } = first;
  await started(new TestPrinter(directories, { faults: { silent: true }, port }));
  provider.list = [zpl(first.uri, { serial: 'D4J193605678' })];
  const other = printerIdOf({ evidence: 'serial', value: 'D4J193605678' });
  const there = () => printers.all.find(({ id, online }) => id === other && online);
  await expect.poll(there, { timeout: 20_000 }).toBeDefined();
  expect(printers.all.map(({ id, online }) => [id, online])).toEqual([
    [ID, false],
    [other, true],
  ]);
});

test('a job goes on elsewhere only where the same printer is certain to know it', () => {
  const endpoint = (uri: string, queue = false, language: ChosenDriver['language'] = 'zpl') => ({
    driver: { uri, language },
    queue,
  });
  const bytes = endpoint('socket://10.0.0.7:9100');
  const documents = endpoint('ipp://10.0.0.7:631/ipp/print');
  const spooled = endpoint('ipp://server:631/printers/labels', true);
  expect(sameJobs(bytes, endpoint('usb://0a5f/0166/serial/X'), standardTransports)).toBe(true);
  expect(sameJobs(documents, endpoint('ipps://10.0.0.8:631/ipp/print'), standardTransports)).toBe(true);
  expect(sameJobs(bytes, documents, standardTransports)).toBe(false);
  expect(sameJobs(bytes, endpoint('socket://10.0.0.8:9100', false, 'epl'), standardTransports)).toBe(false);
  expect(sameJobs(spooled, documents, standardTransports)).toBe(false);
  expect(sameJobs(documents, spooled, standardTransports)).toBe(false);
});
