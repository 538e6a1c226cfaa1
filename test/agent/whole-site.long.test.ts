/**
 * A whole site in a network of its own: CUPS, LPrint, the PWG's sample printer and a ZPL printer on a socket. A real
 * `platen agent --discover` there finds all of them by itself, and the same label comes out of each: byte for byte
 * where ZPL is passed on, and with the right data where it is rendered on the way.
 */
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PrinterFormat } from '../../src/contract/format.ts';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import { template } from '../../src/contract/template.ts';
import { Directories, jobFor, openSite, type Site, TestPrinter } from '../kit/agent/site.ts';
import { LABEL, RECORD, renderSiteLabel } from '../kit/agent/site-label.ts';
import { drawPdf, drawZpl, readSymbols } from '../kit/judges/judges.ts';
import { type Avahi, startAvahi } from '../kit/programs/avahi.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { type Ippeveprinter, startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { startLprint } from '../kit/programs/lprint.ts';
import { type Network, networksCanBeMade, openNetwork } from '../kit/programs/network.ts';
import { Programs } from '../kit/programs/programs.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';
import { type DocumentSink, startDocumentSink } from '../kit/wire/document-sink.ts';

const DATA = [
  ['Code128', 'S-0042'],
  ['QRCode', 'S-0042'],
];

const directories = new Directories();
const programs = new Programs();
const running: { stop(): Promise<void> }[] = [];
let network: Network;
let site: Site;
let sinks: Record<'queue' | 'driver', DocumentSink>;
let eve: Ippeveprinter;
/** A ZPL printer on the network, and one behind LPrint, which asks it how it is and waits for the answer. */
let zebra: Zebra;
let behind: Zebra;
/** What `platen render` makes of the label. */
let rendered: Buffer;

/** With all that it has been sent. */
class Zebra extends TestPrinter {
  readonly wire: Buffer[] = [];
  readonly pictures: string[] = [];

  constructor(name: string) {
    super(directories, { host: network.outside, name, width: 101.6, height: 152.4 });
    this.on('received', (bytes) => this.wire.push(bytes));
    this.on('label', ({ file }) => this.pictures.push(file));
  }

  override get uri(): string {
    return `socket://${network.outside}:${this.port}`;
  }

  /** Whether it was sent this document, once, and besides only questions. */
  got(document: Buffer): boolean {
    const parts = Buffer.concat(this.wire.splice(0)).toString('latin1').split(document.toString('latin1'));
    return parts.length === 2 && !parts.join('').includes('^');
  }
}

async function start<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const part = await starting;
  running.push(part);
  return part;
}

async function openTheSite(): Promise<void> {
  network = openNetwork();
  site = await openSite(onRedis());
  const avahi: Avahi = await start(startAvahi(network));
  const place = { network, avahi };
  const sink = () => start(startDocumentSink({ address: network.outside }));
  sinks = { queue: await sink(), driver: await sink() };
  [zebra, behind] = [new Zebra('Packing 7'), new Zebra('behind')];
  for (const printer of [zebra, behind]) {
    await printer.start();
    running.push(printer);
  }

  const cups: Cupsd = await start(startCupsd(place));
  await cups.addQueue('labels', sinks.queue.uri);
  await cups.addQueue('zebra-driver', sinks.driver.uri, 'drv:///sample.drv/zebra.ppd');
  eve = await start(
    startIppeveprinter('marker-supply-low-report', { formats: ['application/pdf'], site: place }),
  );
  await start(startLprint(place, { application: ['zpl_4inch-203dpi-dt', behind.uri] }));

  await avahi.publishAddress('packing-7.local', network.outside);
  await avahi.publish('Packing 7', '_pdl-datastream._tcp', zebra.port, ['usb_CMD=ZPL'], 'packing-7.local');
}

async function startTheAgent(): Promise<void> {
  const redisUrl = new URL(site.queueOptions.redisUrl ?? expect.fail());
  const road = new BreakableRoad(redisUrl.hostname, Number(redisUrl.port), network.outside);
  await road.open();
  running.push({ stop: () => road.close() });
  redisUrl.host = `${network.outside}:${road.port}`;
  const directory = directories.make();
  const config = join(directory, 'agent.json');
  writeFileSync(
    config,
    JSON.stringify({
      name: 'site',
      renderThreads: 1,
      // CUPS says nothing of what is behind a raw queue, and of all its queues only that the device took the bytes.
      discovery: { fingerprints: [{ match: 'labels', languages: ['zpl'] }] },
      confirmation: 'transport',
    }),
  );
  const args = ['agent', '--discover', '--config', config, '--data', join(directory, 'data')];
  const agent = programs.start('service/platen', args, {
    within: network.within,
    env: { ...process.env, REDIS_URL: redisUrl.href, PLATEN_QUEUE_PREFIX: site.queueOptions.prefix },
  });
  await agent.until(() => agent.said().includes(' runs'));
}

/** The printer of this name, once the agent tells that it is there. */
async function found(name: string): Promise<PrinterDescription> {
  const is = (printer: PrinterDescription) => printer.name === name && !printer.reasons.includes('offline');
  const report = await site.reports.agent(({ printers }) => printers.some(is));
  return report.printers.find(is) ?? expect.fail();
}

/** Prints the label, and waits for its end. */
async function print(name: string, language: PrinterFormat['language']): Promise<void> {
  const printer = await found(name);
  const inLanguage = printer.formats.filter((one) => one.language === language);
  const itsSize = ({ width, height }: PrinterFormat) => width === LABEL.width && height === LABEL.height;
  const format = inLanguage.find(itsSize) ?? inLanguage[0];
  if (format === undefined) throw new Error(`${name} prints ${printer.formats.map((one) => one.id).join()}`);
  const job = { ...jobFor(printer.id, 0), template: template.parse(LABEL), records: [RECORD], format };
  await site.queues.enqueue(job);
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
}

async function symbolsIn(picture: Buffer): Promise<string[][]> {
  const symbols = await readSymbols(picture);
  return symbols.map(({ format, text }) => [format, text]).sort();
}

describe.skipIf(!networksCanBeMade)('a site (in a network namespace, which only root may make)', () => {
  beforeAll(async () => {
    await openTheSite();
    rendered = await readFile(await renderSiteLabel(directories.make()));
    await startTheAgent();
  });
  afterAll(async () => {
    await programs.end();
    for (const part of running.reverse()) await part.stop();
    await site?.close();
    network?.close();
    directories.remove();
  });

  test('each printer is found, once', async () => {
    const names = ['Packing 7', 'Sample', 'application', 'labels', 'zebra-driver'];
    const printers = await Promise.all(names.map(found));
    expect(new Set(printers.map(({ id }) => id)).size).toBe(names.length);
  });

  test('a ZPL printer on a socket', async () => {
    await print('Packing 7', 'zpl');
    expect(zebra.got(rendered)).toBe(true);
  });

  test('a raw CUPS queue', async () => {
    await print('labels', 'zpl');
    expect(await sinks.queue.document(0)).toEqual(rendered);
  });

  test('LPrint, which passes ZPL on', async () => {
    await print('application', 'zpl');
    await behind.printed(1);
    expect(behind.got(rendered)).toBe(true);
  });

  test('LPrint, which makes ZPL of the PWG raster it is given', async () => {
    await print('application', 'pwg-raster');
    await behind.printed(2);
    expect(await symbolsIn(await readFile(behind.pictures[1] ?? ''))).toEqual(DATA);
  });

  test("ippeveprinter, the PWG's sample printer, by PDF", async () => {
    await print('Sample', 'pdf');
    const [pdf = expect.fail()] = eve.printed();
    expect(await symbolsIn(await drawPdf(pdf, 203))).toEqual(DATA);
  });

  test("CUPS's own driver, which makes ZPL of the PDF it is given", async () => {
    await print('zebra-driver', 'pdf');
    const zpl = await sinks.driver.document(0);
    expect(await symbolsIn(await drawZpl(zpl.toString('latin1'), 812, 1218))).toEqual(DATA);
  });
});
