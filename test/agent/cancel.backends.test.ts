/** A job that a person cancels while it prints, or waits for its printer: it ends at a label, and says what may be out. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { expected, jobFor, testDrivers, withoutOdometer } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { tried } from '../kit/servers/backends.ts';

/** Asked for again four times as often. */
const config = { timings: { lease: 1_000 }, window: { labels: 4, bytes: 65_536 } };
/** As long as answers take on a machine that has much else to do. */
const patient = {
  timings: { confirm: 60_000 },
  transport: { connect: 30_000, write: 30_000, query: 30_000 },
};

describe.each(tried(agentBackends().filter(({ embedded }) => !embedded)))('on $name', (backend) => {
  const site = useSite(backend);

  const cancel = (job: QueuedJob) => site.queues.markCanceled(laneOf(job), job.jobId, true);

  async function prints(printerId: string): Promise<void> {
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
  }

  it('ends between two labels while it prints, and the next one follows', async () => {
    const { printer, printerId } = await site.startServedPrinter(
      { speed: 4 },
      {
        config: { ...config, ...patient, timings: { ...patient.timings, ...config.timings } },
      },
    );
    const job = await site.enqueue(jobFor(printerId, ['a'], 1_000));
    await printer.printed(3);
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', reasons: [] });
    expect(end.uncertain).toBeUndefined();
    expect(end.error).toBeUndefined();
    expect(end.labels.sent).toBe(end.labels.printed);
    expect(end.labels.printed).toBeLessThan(200);
    expect(printer.labels).toHaveLength(end.labels.printed);
    await prints(printerId);
    expect(printer.labels.slice(end.labels.printed)).toEqual(['next']);
  });

  // A printer without a counter is not told to forget: what it has comes out.
  const counts = backend.kind === 'redis' ? [true, false] : [true];
  it.each(counts)('is heard of at once, however seldom the lease is asked for: %s', async (odometer) => {
    const printer = await site.startPrinter({ speed: 1 });
    /** How many labels were out when each question was answered. */
    const answered: number[] = [];
    const id = 'agent-that-asks';
    const queues = (await site.gateway?.queueOf(id, null)) ?? site.queues;
    const { askLeases } = queues;
    using _ = vi.spyOn(queues, 'askLeases').mockImplementation(async (...args) => {
      const answers = await askLeases.apply(queues, args);
      answered.push(printer.labels.length);
      return answers;
    });
    const asksAgain = async () => {
      const before = answered.length;
      // A quarter of the lease is longer.
      await expect.poll(() => answered.length, { interval: 5, timeout: 15_000 }).toBeGreaterThan(before);
    };
    const timings = { ...patient.timings, lease: 75_000 };
    const drivers = odometer ? testDrivers : withoutOdometer(testDrivers);
    const { printerId } = await site.startAgent(printer, {
      ...{ queues, drivers, config: { ...patient, id, timings } },
    });
    const job = jobFor(printerId, 100);
    // So that its window is two labels from the first one on.
    job.format = { ...job.format, speed: 1 };
    await site.queues.enqueue(job);
    await printer.printed(2);
    const before = answered.length;
    const asked = asksAgain();
    await cancel(job);
    await asked;
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', labels: { printed: printer.labels.length } });
    // The label under the head, and what its window lets into the printer until it is told.
    expect(printer.labels.length - (answered[before] ?? 0)).toBeLessThanOrEqual(3);
    const heard = asksAgain();
    await site.queues.markHeld(laneOf(job), true);
    await heard;
    const held = await site.enqueue(jobFor(printerId, ['held']));
    await site.queues.markHeld(laneOf(job), false);
    expect(await site.reports.end(held.jobId)).toMatchObject({ status: 'printed' });
  });

  it('is stopped by the ring itself, while no question about the lease is answered', async () => {
    const printer = await site.startPrinter({ speed: 1 });
    const id = 'agent-unanswered';
    const queues = (await site.gateway?.queueOf(id, null)) ?? site.queues;
    const timings = { ...patient.timings, lease: 75_000 };
    const { printerId } = await site.startAgent(printer, {
      ...{ queues, config: { ...patient, id, timings } },
    });
    const job = await site.enqueue(jobFor(printerId, 100));
    await printer.printed(1);
    const { askLeases } = queues;
    const answers = Promise.withResolvers<void>();
    const asked: string[] = [];
    using _ = vi.spyOn(queues, 'askLeases').mockImplementation(async (...args) => {
      asked.push(args[0]);
      await answers.promise;
      return await askLeases.apply(queues, args);
    });
    try {
      await cancel(job);
      const end = await site.reports.end(job.jobId);
      expect(end).toMatchObject({ status: 'canceled', labels: { printed: printer.labels.length } });
      expect(end.uncertain).toBeUndefined();
      // Asked all the same, as a ring may be lost.
      expect(asked).toEqual([id]);
    } finally {
      answers.resolve();
    }
  });

  it('leaves the labels of others that wait in the printer, and waits for its own', async () => {
    const { printer, printerId } = await site.startServedPrinter({ speed: 3 }, { config });
    const job = await site.enqueue(jobFor(printerId, 40));
    await printer.printed(1);
    const other = createConnection(printer.port, '127.0.0.1');
    other.end('^XA^FO10,10^A0N,60,60^FDlabel other^FS^PQ2^XZ');
    await once(other, 'close');
    await cancel(job);
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'canceled' });
    await expect.poll(() => printer.labels.filter((label) => label === 'other')).toEqual(['other', 'other']);
  });

  it('ends while its printer is off, and nothing of it comes out when that is on again', async () => {
    const { printer, printerId } = await site.startServedPrinter({}, { config });
    await printer.powerOff();
    const job = await site.enqueue(jobFor(printerId, 3));
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', labels: { sent: 0, printed: 0 } });
    expect(end.uncertain).toBeUndefined();
    await printer.powerOn();
    await prints(printerId);
    expect(printer.labels).toEqual(['next']);
  });

  it('names what may be out where the printer has labels of it, and does not go on', async () => {
    const { printer, printerId } = await site.startServedPrinter({}, { config });
    printer.set({ 'media-empty': true });
    const job = await site.enqueue(jobFor(printerId, 20));
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
    const waiting = await cancel(job).then(() => site.reports.end(job.jobId));
    expect(waiting).toMatchObject({ status: 'canceled' });
    const { from, to } = waiting.uncertain ?? { from: 0, to: 0 };
    expect(from).toBe(waiting.labels.printed);
    printer.set({ 'media-empty': false });
    await prints(printerId);
    // Whatever it had taken, and no more, came out before the next job.
    expect(printer.labels.length - 1).toBeLessThanOrEqual(to);
    expect(printer.labels).toEqual([...expected(job).slice(0, printer.labels.length - 1), 'next']);
  });

  it('ends before its first byte where it was canceled before an agent took it', async () => {
    const printer = await site.startPrinter();
    const first = await site.startAgent(printer, { config });
    await first.agent.stop();
    const job = jobFor(first.printerId, 3);
    await cancel(job);
    await site.queues.enqueue(job);
    await site.startAgent(printer, { dataDir: first.dataDir, config });
    expect(await site.reports.end(job.jobId)).toMatchObject({
      status: 'canceled',
      labels: { sent: 0, printed: 0 },
    });
    expect(printer.labels).toEqual([]);
  });
});

describe('at a printer that takes documents', () => {
  const site = useSite();
  const cancel = (job: QueuedJob) => site.queues.markCanceled(laneOf(job), job.jobId, true);

  it('has the printer end its job, and counts what came out', async () => {
    const { printer, printerId } = await site.startServedIppPrinter({ speed: 4 }, { config });
    const job = await site.enqueue(jobFor(printerId, ['a'], 1_000));
    await printer.printed(2);
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled' });
    expect(end.uncertain).toBeUndefined();
    expect(end.labels.printed).toBeLessThan(200);
    expect(printer.labels).toHaveLength(end.labels.printed);
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    expect(printer.labels.at(-1)).toBe('next');
    expect(printer.jobs().filter(({ state }) => state !== 'completed' && state !== 'canceled')).toEqual([]);
  });

  it('asks again where the printer’s answer was lost, and counts what came out', async () => {
    const { printer, printerId } = await site.startServedIppPrinter(
      { speed: 4 },
      { config: { ...config, ...patient, timings: { ...patient.timings, ...config.timings } } },
    );
    const job = await site.enqueue(jobFor(printerId, ['a'], 1_000));
    await printer.printed(2);
    printer.cutReply(0, 'Cancel-Job');
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', labels: { printed: printer.labels.length } });
    expect(end.uncertain).toBeUndefined();
  });

  it('leaves no job waiting in one that is out of paper', async () => {
    const { printer, printerId } = await site.startServedIppPrinter({}, { config });
    printer.set({ 'media-empty': true });
    const job = await site.enqueue(jobFor(printerId, 3));
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', labels: { printed: 0 } });
    expect(end.uncertain).toBeUndefined();
    printer.set({ 'media-empty': false });
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    expect(printer.labels).toEqual(['next']);
  });

  it('has it end its job too where paper has run out in the middle: none of it comes out later', async () => {
    const { printer, printerId } = await site.startServedIppPrinter({ speed: 4 }, { config });
    const job = await site.enqueue(jobFor(printerId, 12));
    await printer.printed(2);
    printer.set({ 'media-empty': true });
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('media-empty'));
    await cancel(job);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'canceled', labels: { printed: printer.labels.length } });
    expect(end.uncertain).toBeUndefined();
    printer.set({ 'media-empty': false });
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    expect(printer.labels).toEqual([...expected(job).slice(0, end.labels.printed), 'next']);
  });
});
