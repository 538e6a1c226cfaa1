/**
 * The agent dies by SIGKILL at every point of `sender.ts`'s list, and at random moments, while a printer that
 * takes documents prints: after its restart every label is out exactly once.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { VirtualIppPrinterOptions } from '../../src/virtual/ipp/ipp-printer.ts';
import { CRASH_POINTS, type CrashPoint, DOCUMENT_POINTS } from '../kit/agent/agent-process.ts';
import { CARRIER_PRINTER, carrierJob, saidOn } from '../kit/agent/carrier-site.ts';
import type { TestIppPrinter } from '../kit/agent/ipp-site.ts';
import { labelsOnPages, PAGE, PER_PAGE, sheetJob } from '../kit/agent/sheet-site.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { kill, killedItself, type ProcessOptions, serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();
let printer: TestIppPrinter;

async function start(
  dataDir: string,
  { window = 4, ...more }: ProcessOptions & { window?: number } = {},
): Promise<ChildProcess> {
  return await site.startProcess(printer, { ...more, dataDir, config: { window: { labels: window } } });
}

async function prepare(
  options: Partial<VirtualIppPrinterOptions> = {},
): Promise<{ dataDir: string; printerId: string }> {
  const serial = randomUUID();
  printer = await site.startIppPrinter({ speed: 20, serial, ...options });
  return { dataDir: site.directories.make(), printerId: serialId(serial) };
}

const bytes: readonly CrashPoint[] = ['before bytes', 'inside bytes', 'after bytes'];
const cases: { point: CrashPoint; nth: number }[] = [
  ...CRASH_POINTS.filter((point) => !bytes.includes(point)).map((point) => ({ point, nth: 1 })),
  ...DOCUMENT_POINTS.flatMap((point) => [1, 3].map((nth) => ({ point, nth }))),
];

test.each(cases)('killed: $point, time $nth', async (crash) => {
  const { dataDir, printerId } = await prepare();
  await site.printedDespite(crash, printer, jobFor(printerId, 5, 2), (more) => start(dataDir, more));
  // Nothing is left behind in the printer that waits for a document.
  expect(printer.jobs().filter(({ state }) => !['completed', 'canceled', 'aborted'].includes(state))).toEqual(
    [],
  );
});

test('killed again and again, at moments that nobody chose', async () => {
  const { dataDir, printerId } = await prepare();
  const jobs = [jobFor(printerId, 9, 2), jobFor(printerId, ['a', 'b'], 5)];
  await site.queues.enqueue(...jobs);
  for (const count of [1, 6, 17, 26]) {
    const child = await start(dataDir);
    await printer.printed(count);
    await kill(child);
  }
  await start(dataDir);
  await site.printedBy(printer, jobs);
});

test.each(DOCUMENT_POINTS.map((point) => ({ point, nth: 2 })))(
  'sheets, killed: $point, time $nth',
  async (crash) => {
    const { dataDir, printerId } = await prepare(PAGE);
    // Two documents of two pages; the last has three labels.
    const job = sheetJob(printerId, 5, 3);
    const next = sheetJob(printerId, ['next']);
    const sheets = { languages: 'standard', window: 2 * PER_PAGE } as const;
    const first = await start(dataDir, { ...sheets, crash });
    await site.queues.enqueue(job, next);
    await killedItself(first);
    await start(dataDir, sheets);
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 15 } });
    expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
    const pages = await labelsOnPages(printer.pictures);
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 3, 1]);
    expect(pages.flat()).toEqual([...expected(job), 'next']);
  },
);

test('sheets, killed again and again, at moments that nobody chose', async () => {
  const { dataDir, printerId } = await prepare(PAGE);
  const jobs = [sheetJob(printerId, 11, 2), sheetJob(printerId, ['a', 'b', 'c'], 5)];
  const sheets = { languages: 'standard', window: 3 * PER_PAGE } as const;
  await site.queues.enqueue(...jobs);
  for (const count of [1, 3, 5, 8]) {
    const child = await start(dataDir, sheets);
    await printer.printed(count);
    await kill(child);
  }
  await start(dataDir, sheets);
  for (const { jobId } of jobs) expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
  const pages = await labelsOnPages(printer.pictures);
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 2, 4, 4, 4, 3]);
  expect(pages.flat()).toEqual(jobs.flatMap(expected));
});

test.each([
  { point: 'inside the document', nth: 2 },
  { point: 'after the document', nth: 2 },
] as const)('pages of a PDF document, killed: $point, time $nth', async (crash) => {
  const { dataDir, printerId } = await prepare(CARRIER_PRINTER);
  const says = ['PAGE 1', 'PAGE 2', 'PAGE 3', 'PAGE 4', 'PAGE 5'];
  const job = carrierJob(printerId, says, 2);
  const first = await start(dataDir, { languages: 'standard', crash });
  await site.queues.enqueue(job);
  await killedItself(first);
  await start(dataDir, { languages: 'standard' });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 10 } });
  expect(await saidOn(printer.pictures)).toEqual(says.flatMap((text) => [text, text]));
});
