/** The same label through printing systems of others: a CUPS queue, the PWG's sample printer, and over TLS. */

import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IppClient } from '../../drivers/ipp/client.ts';
import { numbersOf } from '../../drivers/ipp/message.ts';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { carrierJob, saidOn } from '../kit/agent/carrier-site.ts';
import { designedJob } from '../kit/agent/ipp-site.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { type StartOptions, useSite } from '../kit/agent/use-site.ts';
import { pdfText } from '../kit/judges/judges.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { type Ippeveprinter, startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { selfSigned } from '../kit/wire/certificate.ts';
import { startDocumentSink } from '../kit/wire/document-sink.ts';
import { freePort, listening } from '../kit/wire/listening.ts';

const site = useSite();
let cups: Cupsd;
let eve: Ippeveprinter;

beforeAll(async () => {
  [cups, eve] = await Promise.all([startCupsd(), startIppeveprinter('marker-supply-low-report')]);
});
afterAll(async () => {
  await Promise.all([cups?.stop(), eve?.stop()]);
});

const startAgent = (on: { uri: string }, options: StartOptions = {}) =>
  site.startAgent(on, { drivers: standardDrivers, ...options });

const queue = (name: string) => ({ uri: `ipp://127.0.0.1:${cups.port}/printers/${name}` });

/** The bytes that the language makes of a whole job, in documents of one record each. */
async function bytesOf(job: QueuedJob): Promise<Buffer> {
  const encoder = await openEncoder(job);
  const parts = [encoder.begin()];
  for (const index of job.records.keys()) parts.push(await encoder.label(index, job.copies));
  return Buffer.concat([...parts, encoder.end()]);
}

/** What is between the beginning and the end of each document: the labels of the job, in the order in which they went. */
async function labelsIn(documents: readonly Buffer[], job: QueuedJob): Promise<string> {
  const encoder = await openEncoder(job);
  const [begin, end] = [encoder.begin(), encoder.end()].map((part) => Buffer.from(part).toString('latin1'));
  return documents
    .map((document) => {
      const text = document.toString('latin1');
      expect(text.startsWith(begin ?? '') && text.endsWith(end ?? '')).toBe(true);
      return text.slice(begin?.length, text.length - (end?.length ?? 0));
    })
    .join('');
}

/** The pages of a PDF as pictures on disk. */
async function pagesOf(document: Uint8Array | undefined): Promise<string[]> {
  const directory = site.directories.make();
  const file = join(directory, 'labels.pdf');
  writeFileSync(file, document ?? '');
  await promisify(execFile)('pdftoppm', ['-r', '300', '-png', file, join(directory, 'page')]);
  const pages = readdirSync(directory).filter((name) => name.endsWith('.png'));
  return pages.sort().map((name) => join(directory, name));
}

async function sink() {
  const device = await startDocumentSink();
  site.running(device);
  return device;
}

test.each(['zpl', 'tspl', 'epl'] as const)(
  'a raw CUPS queue, trusted by its model: byte for byte what the language made (%s)',
  async (language) => {
    const device = await sink();
    await cups.addQueue(`sink_${language}`, device.uri);
    const { printerId, description } = await startAgent(queue(`sink_${language}`), {
      config: {
        printer: { language },
        discovery: { fingerprints: [{ match: 'local raw*', confirmation: 'transport' }] },
      },
    });
    expect(description).toMatchObject({ evidence: 'uuid', formats: [{ language }] });
    const job = designedJob(printerId, language, ['a', 'b'], 2);
    expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 4 } });
    expect(device.documents).toEqual([await bytesOf(job)]);
  },
);

test('a queue that only passes bytes on: all of the job is delivered, then it is held', async () => {
  const device = await sink();
  await cups.addQueue('one_way', device.uri);
  const { printerId } = await startAgent(queue('one_way'), { config: { window: { labels: 2 } } });
  const job = jobFor(printerId, 5);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    labels: { sent: 5, printed: 0 },
    error: { code: 'outcome-unknown', message: expect.stringContaining('"confirmation": "transport"') },
    uncertain: { from: 0, to: 5 },
  });
  expect(await labelsIn(device.documents, job)).toBe(await labelsIn([await bytesOf(job)], job));
});

test('the agent stops behind such a queue: no document of the job goes out twice', async () => {
  const device = await sink();
  await cups.addQueue('stopped', device.uri);
  const config = { window: { labels: 2 }, id: 'agent-that-stops' };
  const first = await startAgent(queue('stopped'), { config });
  const job = await site.enqueue(jobFor(first.printerId, 8));
  await site.reports.job(job.jobId, ({ labels }) => labels.sent >= 4);
  await first.agent.stop({ graceMs: 0 });
  await startAgent(queue('stopped'), { config, dataDir: first.dataDir });
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    labels: { sent: 8, printed: 0 },
    uncertain: { from: 0, to: 8 },
  });
  expect(await labelsIn(device.documents, job)).toBe(await labelsIn([await bytesOf(job)], job));
});

test("a queue that follows its printer: printed by the printer's own count", async () => {
  const printer = await site.startIppPrinter();
  await cups.addQueue('followed', `ipp://127.0.0.1:${printer.port}/ipp/print`);
  const { printerId } = await startAgent(queue('followed'));
  const job = jobFor(printerId, 3, 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 6 } });
  expect(printer.labels).toEqual(expected(job));
});

test('its printer loses the job with its power: CUPS completes it, and it is held all the same', async () => {
  const printer = await site.startIppPrinter({ speed: 2 });
  await cups.addQueue('powerless', `ipp://127.0.0.1:${printer.port}/ipp/print`);
  const { printerId } = await startAgent(queue('powerless'));
  const job = await site.enqueue(jobFor(printerId, 6));
  await printer.printed(1);
  await printer.stop();
  await printer.start();
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    labels: { printed: 0 },
    error: { code: 'outcome-unknown', message: expect.stringContaining('cannot say what it printed') },
    uncertain: { from: 0, to: 6 },
  });
  expect(printer.labels.length).toBeLessThan(6);
});

test('a printer that refuses what its queue sends: CUPS completes that too, and the job is held', async () => {
  // Of its own: it goes on waiting for the document of the job that CUPS made.
  const refusing = await startIppeveprinter('marker-supply-low-report');
  site.running(refusing);
  await cups.addQueue('refused', refusing.uri);
  const { printerId } = await startAgent(queue('refused'));
  const job = designedJob(printerId, 'zpl', ['a']);
  expect(await site.print(job)).toMatchObject({ status: 'held', uncertain: { from: 0, to: 1 } });
  expect(refusing.printed()).toEqual([]);
});

test('a raw CUPS queue in front of a ZPL printer, trusted by the agent: the labels, in documents of a few', async () => {
  const printer = await site.startPrinter();
  await cups.addQueue('labels', `socket://127.0.0.1:${printer.port}`);
  const { printerId } = await startAgent(queue('labels'), {
    config: { window: { labels: 4 }, confirmation: 'transport' },
  });
  const job = jobFor(printerId, 5, 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  // To CUPS a job is completed when the device has taken it: the last labels may still be under way.
  await printer.printed(10);
  expect(printer.labels).toEqual(expected(job));
});

test('behind the queue there is nobody: the job waits, and is canceled there: held, since CUPS cannot tell', async () => {
  await cups.addQueue('nobody', `socket://127.0.0.1:${await freePort()}`);
  const { printerId } = await startAgent(queue('nobody'));
  const job = await site.enqueue(jobFor(printerId, 2));
  await site.reports.job(job.jobId, ({ labels }) => labels.sent === 2);
  const client = new IppClient(queue('nobody').uri);
  const signal = AbortSignal.timeout(20_000);
  let id = 0;
  while (id === 0) {
    const jobs = await client.getJobs(signal, ['job-id', 'job-state']);
    // 5: processing
    id =
      jobs.flatMap((one) => (numbersOf(one, 'job-state')[0] === 5 ? numbersOf(one, 'job-id') : []))[0] ?? 0;
  }
  await client.cancelJob(id, signal);
  client.close();
  expect(await site.reports.end(job.jobId)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown', message: expect.stringContaining('canceled') },
    uncertain: { from: 0, to: 2 },
  });
});

test('ippeveprinter: ZPL byte for byte, PDF with the right data, and it is waited for while it is busy', async () => {
  const { printerId, description } = await startAgent(eve);
  expect(description).toMatchObject({ evidence: 'uuid', model: 'Zebra ZD421' });
  expect([...new Set(description.formats.map(({ language }) => language))]).toEqual(['zpl', 'pdf']);
  const zpl = designedJob(printerId, 'zpl', ['a', 'b'], 2);
  expect(await site.print(zpl)).toMatchObject({ status: 'printed', labels: { printed: 4 } });
  expect(eve.printed()).toEqual([await bytesOf(zpl)]);

  // A job of somebody else that waits for its document keeps it from taking ours.
  const client = new IppClient(eve.uri);
  const other = await client.createJob({ name: 'other' }, AbortSignal.timeout(5_000));
  const pdf = await site.enqueue(designedJob(printerId, 'pdf', ['c', 'd', 'e']));
  await site.reports.job(pdf.jobId, ({ status }) => status === 'printing');
  await client.cancelJob(other, AbortSignal.timeout(5_000));
  client.close();
  expect(await site.reports.end(pdf.jobId)).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  const [, document, ...more] = eve.printed();
  expect(more).toEqual([]);
  expect(await saidOn(await pagesOf(document))).toEqual(['label c', 'label d', 'label e']);
});

test.each(['to ippeveprinter', 'through a CUPS queue'])(
  'a PDF document, its pages as they are, %s',
  async (way) => {
    if (way !== 'to ippeveprinter') await cups.addQueue('pages', eve.uri);
    const { printerId } = await startAgent(way === 'to ippeveprinter' ? eve : queue('pages'));
    const says = ['PAGE 1', 'PAGE 2', 'PAGE 3'];
    const before = eve.printed().length;
    const end = await site.print(carrierJob(printerId, says, 2));
    expect(end.labels).toMatchObject({ sent: 6 });
    const documents = eve.printed().slice(before);
    expect(documents).toHaveLength(1);
    const [document = Buffer.of()] = documents;
    expect(await saidOn(await pagesOf(document))).toEqual(says.flatMap((text) => [text, text]));
    expect(await pdfText(document)).toMatch(/PAGE 1\s+PAGE 1\s+PAGE 2/);
  },
);

test('over TLS: only the printer with the certificate that it is known by, and nobody sees the password', async () => {
  const printer = await site.startIppPrinter();
  const identity = selfSigned();
  const headers: string[] = [];
  const server = createTlsServer(identity, (socket) => {
    const on = connect(printer.port, '127.0.0.1');
    socket.once('data', (bytes) => headers.push(bytes.toString('latin1')));
    for (const end of [socket, on]) end.on('error', () => undefined);
    socket.pipe(on).pipe(socket);
  });
  const host = `127.0.0.1:${await listening(server)}`;
  site.running({ stop: () => server.close() });
  const uri = `ipps://${host}/ipp/print`;
  const { fingerprint256 } = new X509Certificate(identity.cert);
  const access = { host, user: 'agent', password: 'the secret word', fingerprint256 };
  const { printerId } = await startAgent({ uri }, { config: { access: [access] } });
  const job = designedJob(printerId, 'zpl', ['a']);
  expect(await site.print(job)).toMatchObject({ status: 'printed' });
  const basic = Buffer.from('agent:the secret word').toString('base64');
  // This printer does not ask for it.
  expect(headers.length).toBeGreaterThan(0);
  expect(headers.join()).not.toContain(basic);
  expect(JSON.stringify(site.reports.all)).not.toContain('the secret word');
});
