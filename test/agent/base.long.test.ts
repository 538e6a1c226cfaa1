/** The odometer that a job's labels are counted from: labels out before its first byte are not its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Agent } from '../../src/agent/agent.ts';
import { Journal } from '../../src/agent/journal.ts';
import { JournalFile } from '../../src/agent/journal-file.ts';
import type { DeliveryQueue } from '../../src/queue/index.ts';
import { ownQueue } from '../kit/agent/own-queue.ts';
import { agentConfig, expected, jobFor, logger, testDrivers } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();
/** Longer than a counter that was read is trusted. */
const LONG = 700;

/** The notes that are written wait for `gate`; `asked` resolves when the first does. */
function slowNotes(gate: Promise<void>): { queue: DeliveryQueue; asked: Promise<object> } {
  const { promise: asked, resolve } = Promise.withResolvers<object>();
  const queue = ownQueue(site.queues);
  const consume: DeliveryQueue['consume'] = (printerId, term, handler, options) =>
    queue.consume(
      printerId,
      term,
      (delivery) =>
        handler({
          ...delivery,
          async setNote(note) {
            resolve(note);
            await gate;
            await delivery.setNote(note);
          },
        }),
      options,
    );
  return { queue: { ...queue, consume }, asked };
}

test("a label that is fed by hand while the queue makes the job wait is not taken for the job's", async () => {
  const printer = await site.startPrinter({ serial: 'BASE-1', speed: 20 });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { queue, asked } = slowNotes(gate);
  const config = agentConfig(site.directories.make(), printer);
  const agent = new Agent({ config, queue, drivers: testDrivers, logger });
  await agent.start();
  site.running({ stop: () => agent.stop({ graceMs: 0 }) });
  const job = await site.enqueue(jobFor(serialId('BASE-1'), 3));
  await asked;
  await sleep(LONG);
  printer.feed();
  await printer.printed(1);
  open();
  const end = await site.reports.end(job.jobId);
  expect(end.error).toBeUndefined();
  expect(end).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(printer.labels).toEqual(['?', ...expected(job)]);
});

test('stopped while the queue makes the job wait, and a label fed by hand: the job prints all of its own', async () => {
  const printer = await site.startPrinter({ serial: 'BASE-2', speed: 20 });
  const dataDir = site.directories.make();
  const { queue, asked } = slowNotes(new Promise(() => undefined));
  const config = agentConfig(dataDir, printer);
  const first = new Agent({ config, queue, drivers: testDrivers, logger });
  await first.start();
  const job = await site.enqueue(jobFor(serialId('BASE-2'), 3));
  await asked;
  await sleep(LONG);
  printer.feed();
  await printer.printed(1);
  await first.stop({ graceMs: 0 });
  await site.startAgent(printer, { dataDir });
  const end = await site.reports.end(job.jobId);
  expect(end.error).toBeUndefined();
  expect(end).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(printer.labels).toEqual(['?', ...expected(job)]);
});

/** A disk that takes long for each write. @param waits awaited at the beginning of each wait */
function slowDisk(waits: () => unknown = () => undefined) {
  const { done } = JournalFile.prototype;
  return vi.spyOn(JournalFile.prototype, 'done').mockImplementation(async function (this: JournalFile) {
    await waits();
    await sleep(LONG);
    await done.call(this);
  });
}

test('a disk that takes longer for each write than a counter may be old: every label is printed', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  using _disk = slowDisk();
  const job = jobFor(printerId, 20);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 20 } });
  expect(printer.labels).toEqual(expected(job));
});

test("a label that is fed by hand while the disk makes the job wait is not taken for the job's", async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  let fed = false;
  using _disk = slowDisk(async () => {
    if (fed) return;
    fed = true;
    printer.feed();
    await printer.printed(1);
  });
  const job = jobFor(printerId, 3);
  const end = await site.print(job);
  expect(end.error).toBeUndefined();
  expect(end).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(printer.labels).toEqual(['?', ...expected(job)]);
});

test('switched off while the disk makes the job wait: no label is written down as about to be sent', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  let off = false;
  using _disk = slowDisk(async () => {
    if (off) return;
    off = true;
    await printer.powerOff();
  });
  using written = vi.spyOn(Journal.prototype, 'write');
  const job = await site.enqueue(jobFor(printerId, 3));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  expect(written.mock.lastCall?.[0]).toMatchObject({ intent: 0 });
  await printer.powerOn();
  await site.printedBy(printer, job);
});

test('a disk that stands still for a while, as a job begins and as it ends: the job says what it waits for', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = jobFor(printerId, 3);
  const waits = () =>
    site.reports.job(job.jobId, ({ reasons, labels }) => {
      return reasons.includes('agent-disk') && labels.printed === printer.labels.length;
    });
  using _disk = slowDisk(waits);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(printer.labels).toEqual(expected(job));
  const told = site.reports.of(job.jobId).filter(({ status }) => status === 'printing');
  const waited = told.map(({ reasons, labels }) => [labels.printed, ...reasons]);
  expect(waited).toContainEqual([0, 'agent-disk']);
  expect(waited).toContainEqual([3, 'agent-disk']);
  // The service must take the end for newer than all of these.
  const numbers = site.reports.of(job.jobId).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
});
