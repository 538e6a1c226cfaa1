/** Labels that a printer took but will never print, with the connection still open and no answer saying so. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { JobReport } from '../../src/contract/report.ts';
import { expected, jobFor, type TestPrinter } from '../kit/agent/site.ts';
import { kill, serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();
const config = { timings: { vanished: 1_000 } };

/** Everything that came out is a part of the job in its order, and what the report is sure of is so. */
function checkOutcome(job: QueuedJob, end: JobReport, printed: readonly string[]): void {
  const all = expected(job);
  expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
  const { from, to } = end.uncertain ?? { from: -1, to: -1 };
  expect(end.labels.printed).toBe(from);
  expect(printed.slice(0, from)).toEqual(all.slice(0, from));
  // Nothing twice, nothing beyond what is named.
  let at = 0;
  for (const label of printed) {
    at = all.indexOf(label, at);
    expect([label, at >= 0 && at < to]).toEqual([label, true]);
    at += job.copies === 1 ? 1 : 0;
  }
  expect(to - from).toBeLessThanOrEqual(16);
}

async function deleted(printer: TestPrinter, what: 'format' | 'all'): Promise<void> {
  const lost = once(printer, 'lost');
  printer.cancel(what);
  await lost;
}

/** Until some are out and several wait in the printer: how many are under way is the agent's to say. @returns how many are out */
async function underWay(printer: TestPrinter): Promise<number> {
  for (let out = 7; ; out++) {
    await printer.printed(out);
    if (printer.waiting >= 5) return printer.labels.length;
  }
}

test.each([
  ['the one that prints', 'format', 1],
  ['the one that prints, of several copies', 'format', 4],
  ['all', 'all', 1],
  ['all, of several copies', 'all', 3],
] as const)(
  'CANCEL at the panel, %s: held, the labels of the gap named, the next job prints',
  async (_, what, copies) => {
    const { printer, printerId } = await site.startServedPrinter({ speed: 20 }, { config });
    const job = jobFor(printerId, 40, copies);
    const next = jobFor(printerId, ['next']);
    await site.queues.enqueue(job, next);
    await printer.printed(7);
    await deleted(printer, what);
    const end = await site.reports.end(job.jobId);
    await site.reports.end(next.jobId);
    expect(printer.labels.at(-1)).toBe('next');
    checkOutcome(job, end, printer.labels.slice(0, -1));
  },
);

test('paused, canceled at the panel and gone on with: held', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 }, { config });
  const job = await site.enqueue(jobFor(printerId, 30));
  await printer.printed(5);
  printer.set({ paused: true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  await deleted(printer, 'all');
  const end = await site.reports.end(job.jobId);
  printer.set({ paused: false });
  checkOutcome(job, end, printer.labels);
});

test('canceled, and as many blank labels fed by hand: not taken for the ones that were canceled', async () => {
  const { printer, printerId } = await site.startServedPrinter(
    { speed: 20 },
    { config: { timings: { settle: 3_000 } } },
  );
  const job = await site.enqueue(jobFor(printerId, ['a', 'b', 'c']));
  await printer.printed(1);
  await deleted(printer, 'format');
  await printer.printed(2);
  // When the agent has seen that one is missing, and before it is held.
  setTimeout(() => printer.feed(), 1_000);
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'held' });
});

test('a label is fed by hand while labels are under way, and then the power goes: it takes no place of theirs', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 1 }, { config });
  const job = await site.enqueue(jobFor(printerId, 12));
  await printer.printed(1);
  printer.feed();
  // What is fed carries nothing.
  const own = () => printer.labels.filter((label) => label !== '?');
  await expect.poll(() => own().length).toBe(3);
  await printer.powerOff();
  const out = own().length;
  await printer.powerOn();
  const end = await site.reports.end(job.jobId);
  expect(end).toMatchObject({ status: 'held' });
  expect(end.labels.printed).toBeLessThanOrEqual(out);
  expect(own()).toEqual(expected(job).slice(0, out));
});

test.each([1, 2, 5])(
  '%i formats that the printer drops without a word: held, nothing printed twice',
  async (count) => {
    const { printer, printerId } = await site.startServedPrinter({ speed: 20 }, { config });
    const job = await site.enqueue(jobFor(printerId, 40));
    await printer.printed(7);
    printer.dropFormats(count);
    const end = await site.reports.end(job.jobId);
    checkOutcome(job, end, printer.labels);
  },
);

test('canceled, and the connection breaks before the agent has settled it: held, not gone on with', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 10 }, { config });
  const job = await site.enqueue(jobFor(printerId, 40));
  const out = await underWay(printer);
  await deleted(printer, 'format');
  await printer.printed(out + 2);
  printer.dropConnectionAfter(1);
  const end = await site.reports.end(job.jobId);
  checkOutcome(job, end, printer.labels);
});

test('canceled while the connection is broken, and the rest is still to come: held', async () => {
  const { printer, printerId } = await site.startServedPrinter(
    { speed: 10 },
    {
      config: { timings: { vanished: 1_000, reconnectMin: 300 } },
    },
  );
  const job = await site.enqueue(jobFor(printerId, 40));
  await printer.printed(7);
  printer.set({ paused: true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  printer.dropConnectionAfter(1);
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await deleted(printer, 'format');
  printer.set({ paused: false });
  const end = await site.reports.end(job.jobId);
  checkOutcome(job, end, printer.labels);
});

test('stopped while labels are missing: the next agent holds it, whatever the counter says', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const first = await site.startAgent(printer, {
    config: { timings: { settle: 60_000, vanished: 60_000, confirm: 300 } },
  });
  const job = await site.enqueue(jobFor(first.printerId, 40));
  const out = await underWay(printer);
  await deleted(printer, 'format');
  await printer.printed(out + 3);
  await first.agent.stop({ graceMs: 0 });
  await site.startAgent(printer, { dataDir: first.dataDir, config });
  const end = await site.reports.end(job.jobId);
  checkOutcome(job, end, printer.labels);
});

test('canceled while the agent is dead: held', async () => {
  const serial = 'CANCELED-1';
  const printer = await site.startPrinter({ speed: 10, serial });
  const options = { dataDir: site.directories.make(), config };
  const killed = await site.startProcess(printer, options);
  const job = await site.enqueue(jobFor(serialId(serial), 40));
  await printer.printed(7);
  printer.set({ paused: true });
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  await kill(killed);
  await deleted(printer, 'format');
  await site.startProcess(printer, options);
  await site.reports.job(job.jobId, ({ delivery, reasons }) => delivery > 1 && reasons.includes('paused'));
  printer.set({ paused: false });
  checkOutcome(job, await site.reports.end(job.jobId), printer.labels);
});
