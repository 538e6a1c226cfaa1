/** Sheets of labels on printers that print pages: the printer counts pages, everybody else labels. */

import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Queues } from '../../src/queue/index.ts';
import type { VirtualIppPrinterOptions } from '../../src/virtual/ipp/ipp-printer.ts';
import { labelsOnPage, labelsOnPages, PAGE, PER_PAGE, sheetJob } from '../kit/agent/sheet-site.ts';
import { expected } from '../kit/agent/site.ts';
import { type StartOptions, useSite } from '../kit/agent/use-site.ts';
import { drawPdf } from '../kit/judges/judges.ts';
import { type DocumentSink, startDocumentSink } from '../kit/wire/document-sink.ts';

const site = useSite();

/** At most `labels` labels in a document. */
const startAgent = (on: { uri: string }, labels: number, options: StartOptions = {}) =>
  site.startAgent(on, {
    ...options,
    drivers: standardDrivers,
    config: { ...options.config, window: { labels } },
  });

/** A printer of sheets, and an agent that serves it. @param labels as of `startAgent` */
async function startServed(labels: number, options: Partial<VirtualIppPrinterOptions> = {}) {
  const printer = await site.startIppPrinter({ ...PAGE, ...options });
  return { printer, ...(await startAgent(printer, labels)) };
}

/** The labels of a job, page by page. */
function pages(job: QueuedJob): string[][] {
  const labels = expected(job);
  return Array.from({ length: Math.ceil(labels.length / PER_PAGE) }, (_, page) =>
    labels.slice(page * PER_PAGE, (page + 1) * PER_PAGE),
  );
}

test.each([
  [1, [1, 1, 1]],
  [7, [1, 1, 1]],
  [9, [2, 1]],
  [16, [3]],
])('with at most %i labels in a document, or one page: documents of %o pages', async (window, documents) => {
  const { printer, printerId } = await startServed(window);
  // Copies lie across the borders of pages, and the last page is part-filled.
  const job = sheetJob(printerId, ['a', 'b', 'c'], 3);
  expect(await site.print(job)).toMatchObject({
    status: 'printed',
    labels: { sent: 9, printed: 9 },
  });
  expect(printer.jobs().map(({ printed }) => printed)).toEqual(documents);
  expect(await labelsOnPages(printer.pictures)).toEqual(pages(job));
  const counts = site.reports.of(job.jobId).map(({ labels }) => labels.printed);
  expect(counts.filter((count) => count % PER_PAGE !== 0 && count !== 9)).toEqual([]);
});

test('aborted in the middle: failed, with all labels of the pages that the printer counted', async () => {
  const { printer, printerId } = await startServed(16, { speed: 20 });
  printer.abortJobAfter(2);
  const job = sheetJob(printerId, 14);
  expect(await site.print(job)).toMatchObject({
    status: 'failed',
    labels: { printed: 8 },
    error: { code: 'printer-aborted' },
  });
  expect(await labelsOnPages(printer.pictures)).toEqual(pages(job).slice(0, 2));
});

test('uncertain pages: held, with all of their labels', async () => {
  const { printer, printerId } = await startServed(8, { speed: 20 });
  printer.abortJobAfter(0);
  const job = sheetJob(printerId, 10);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 8 },
  });
});

test('power off in the middle: the counter of pages tells which labels are out, and each is printed once', async () => {
  const { printer, printerId } = await startServed(16, { speed: 20 });
  // Counted right, so that it is believed: two pages, of which one is part-filled.
  const [first, second] = [
    sheetJob(printerId, 5),
    sheetJob(printerId, ['a', 'b', 'c', 'd', 'e', 'f', 'g'], 2),
  ];
  expect(await site.print(first)).toMatchObject({ status: 'printed' });
  await site.queues.enqueue(second);
  await printer.printed(2 + 2);
  await printer.powerOff();
  await site.reports.job(second.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  expect(await site.reports.end(second.jobId)).toMatchObject({ status: 'printed', labels: { printed: 14 } });
  expect(await labelsOnPages(printer.pictures)).toEqual([...pages(first), ...pages(second)]);
});

test('agent and printer go down in the middle of a document: the journal knows the counter from before it', async () => {
  const { printer, agent, dataDir, printerId } = await startServed(16, { speed: 20 });
  const [first, second] = [sheetJob(printerId, 3), sheetJob(printerId, 15)];
  expect(await site.print(first)).toMatchObject({ status: 'printed' });
  await site.queues.enqueue(second);
  await printer.printed(1 + 2);
  printer.set({ 'media-empty': true });
  await site.reports.job(second.jobId, ({ reasons }) => reasons.includes('media-empty'));
  const out = printer.pictures.length;
  await agent.stop({ graceMs: 0 });
  await printer.powerOff();
  printer.set({ 'media-empty': false });
  await printer.powerOn();
  await startAgent(printer, 16, { dataDir });
  expect(await site.reports.end(second.jobId)).toMatchObject({ status: 'printed', labels: { printed: 15 } });
  expect(await labelsOnPages(printer.pictures)).toEqual([...pages(first), ...pages(second)]);
  // Of one page and four, not all were out.
  expect(out).toBeLessThan(1 + 4);
});

test('a stop in the middle hands the job back at a page, and it goes on with the next', async () => {
  const { printer, agent, dataDir, printerId } = await startServed(PER_PAGE, { speed: 20 });
  const job = await site.enqueue(sheetJob(printerId, 14));
  await printer.printed(1);
  await agent.stop({ graceMs: 0 });
  await startAgent(printer, PER_PAGE, { dataDir });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 14 } });
  expect(await labelsOnPages(printer.pictures)).toEqual(pages(job));
});

const STREAM = { printer: { language: 'pdf', dpi: 203, ...PAGE, confirmation: 'transport' } };

/** What is on so many pages of PDF that came one after the other, on however many connections. */
async function pagesOf(device: DocumentSink, count: number): Promise<(string | undefined)[][]> {
  const stream = () => Buffer.concat(device.documents).toString('latin1');
  for (let each = 0; stream().split('%%EOF').length <= count; each += 1) await device.document(each);
  const files = stream()
    .split(/(?=%PDF-)/)
    .map((one) => Buffer.from(one, 'latin1'));
  return await Promise.all(files.map(async (file) => labelsOnPage(await drawPdf(file, 203))));
}

test('a printer that takes a stream of PDF gets a document for each page', async () => {
  const device = site.running(await startDocumentSink());
  const { agent, printerId } = await startAgent(device, PER_PAGE, { config: STREAM });
  const job = sheetJob(printerId, ['a', 'b', 'c'], 2);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 6 } });
  await agent.stop({ graceMs: 0 });
  expect(await pagesOf(device, 2)).toEqual(pages(job));
});

/** The queues, of which each lease is as short as if another agent wanted the printer too. */
function wantedByAnother(queues: Queues): Queues {
  const askLeases: Queues['askLeases'] = (agentId, asks, { contended }) =>
    queues.askLeases(agentId, asks, { contended, alone: contended });
  return new Proxy(queues, {
    get: (_, name) => {
      const member: unknown = name === 'askLeases' ? askLeases : Reflect.get(queues, name);
      return typeof member === 'function' ? member.bind(queues) : member;
    },
  });
}

test('of sheets with more labels than another agent may be left with, one at a time is sent', async () => {
  const device = site.running(await startDocumentSink());
  const wanted = wantedByAnother(site.queues);
  const { agent, printerId } = await startAgent(device, 2, { config: STREAM, queues: wanted });
  const job = sheetJob(printerId, 11);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 11 } });
  await agent.stop({ graceMs: 0 });
  expect(await pagesOf(device, 3)).toEqual(pages(job));
});

test('a person has it go on in the middle of a page: the rest begins on a new sheet', async () => {
  const { printer, printerId } = await startServed(16);
  const job: QueuedJob = { ...sheetJob(printerId, 12), resume: { round: 1, from: 6 } };
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 12 } });
  expect(await labelsOnPages(printer.pictures)).toEqual([
    ['6', '7', '8', '9'],
    ['10', '11'],
  ]);
});
