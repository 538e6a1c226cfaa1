/**
 * Jobs follow each other at the printer without a gap: the next one's labels are there before the last one's are out. What
 * breaks meanwhile concerns two jobs: each label comes out once, or its job is held because that cannot be known.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import { CRASH_POINTS } from '../kit/agent/agent-process.ts';
import { jobFor, type TestPrinter } from '../kit/agent/site.ts';
import { kill, killedItself, serialId, useSite } from '../kit/agent/use-site.ts';
import { backends } from '../kit/servers/backends.ts';

// What the printer does is tried at one store, what the store has a part in at both, and a third of the crash points at the
// other. EVERY_CRASH_POINT=1 tries all at both.
describe.each(backends().filter(({ embedded, kind }) => embedded || kind === 'redis'))('$name', (backend) => {
  const all = process.env['EVERY_CRASH_POINT'] !== undefined;
  const first = backend.kind === 'redis';
  const atPrinter = test.runIf(first || all);
  const site = useSite(backend);
  const config = { timings: { vanished: 1_000 } };

  /** @param speed labels a second */
  async function slow(speed = 2): Promise<{ printer: TestPrinter; printerId: string }> {
    const serial = crypto.randomUUID();
    return { printer: await site.startPrinter({ speed, serial }), printerId: serialId(serial) };
  }

  /** Labels a second where the next job has to be there before a label is out: a busy machine takes a while for it. */
  const LEISURELY = 0.7;

  const single = (printerId: string, ...names: string[]) => names.map((name) => jobFor(printerId, [name]));

  /** Labels of two jobs are in the printer. */
  const bothUnderWay = (printer: TestPrinter) =>
    expect.poll(() => printer.waiting, { interval: 5 }).toBeGreaterThan(1);

  /** On a busy machine a kill takes longer than a label: none comes out before it is done. */
  async function killInPause(agent: ChildProcess, printer: TestPrinter): Promise<void> {
    printer.set({ paused: true });
    await kill(agent);
    printer.set({ paused: false });
  }

  atPrinter('the printer has the next label before one is out', async () => {
    const { printer, printerId } = await slow(LEISURELY);
    await site.startAgent(printer);
    const jobs = single(printerId, 'a', 'b', 'c');
    const waiting: boolean[] = [];
    printer.on('label', () => waiting.push(printer.waiting > 0));
    await site.queues.enqueue(...jobs);
    await site.printedBy(printer, jobs);
    expect(waiting).toEqual([true, true, false]);
  });

  atPrinter('jobs of many labels and copies, one behind the other', async () => {
    const { printer, printerId } = await site.startServedPrinter(
      { speed: 40 },
      {
        config: { window: { labels: 4, bytes: 65_536 } },
      },
    );
    const jobs = [jobFor(printerId, 9), jobFor(printerId, 3, 5), jobFor(printerId, 1), jobFor(printerId, 6)];
    await site.queues.enqueue(...jobs);
    await site.printedBy(printer, jobs);
  });

  atPrinter(
    'one that sets the printer otherwise waits until the labels before it are out, and one that does not follows',
    async () => {
      const { printer, printerId } = await slow(LEISURELY);
      await site.startAgent(printer);
      const [first, second, third] = ['a', 'b', 'c'].map((name, at) => {
        const job = jobFor(printerId, [name]);
        return at === 0 ? job : { ...job, format: { ...job.format, darkness: 20 } };
      });
      const jobs = [first, second, third].filter((job) => job !== undefined);
      const waiting: boolean[] = [];
      printer.on('label', () => waiting.push(printer.waiting > 0));
      await site.queues.enqueue(...jobs);
      await site.printedBy(printer, jobs);
      expect(waiting).toEqual([false, true, false]);
    },
  );

  atPrinter('one that comes later follows too', async () => {
    const { printer, printerId } = await slow(LEISURELY);
    await site.startAgent(printer);
    const [first, second] = [jobFor(printerId, 3), jobFor(printerId, ['later'])];
    await site.queues.enqueue(first);
    await printer.printed(1);
    await site.queues.enqueue(second);
    await printer.printed(3);
    expect(printer.waiting).toBe(1);
    await site.printedBy(printer, [first, second]);
  });

  atPrinter('the connection breaks', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const jobs = single(printerId, 'a', 'b', 'c');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    printer.dropConnectionAfter(1);
    await site.printedBy(printer, jobs);
  });

  atPrinter('the printer loses its power, and what it had', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const jobs = single(printerId, 'a', 'b', 'c');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    await printer.powerOff();
    await printer.powerOn();
    await site.printedBy(printer, jobs);
  });

  atPrinter(
    'the printer loses its power, and what it had of two jobs that it has not had as a whole',
    async () => {
      const { printer, printerId } = await slow();
      await site.startAgent(printer, { config: { window: { labels: 4, bytes: 65_536 } } });
      const jobs = [jobFor(printerId, 3), jobFor(printerId, 9)];
      await site.queues.enqueue(...jobs);
      await printer.printed(1);
      await expect.poll(() => printer.waiting, { interval: 5 }).toBeGreaterThan(2);
      await printer.powerOff();
      await printer.powerOn();
      await site.printedBy(printer, jobs);
    },
  );

  atPrinter('all is deleted at the panel: both are held, the next one prints', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer, { config });
    const jobs = single(printerId, 'a', 'b');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    printer.set({ paused: true });
    const lost = once(printer, 'lost');
    printer.cancel('all');
    await lost;
    printer.set({ paused: false });
    const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    // What was under the head may have come out.
    expect([['next'], ['a', 'next']]).toContainEqual(printer.labels);
    expect(ends[0]).toMatchObject({ status: 'held', labels: { printed: 0 }, uncertain: { from: 0, to: 1 } });
    expect(ends[1]).toMatchObject({ status: 'held', labels: { printed: 0 }, uncertain: { from: 0, to: 1 } });
  });

  atPrinter(
    "the first one's last label is deleted at the panel, and the second comes out: neither is called printed",
    async () => {
      const { printer, printerId } = await slow();
      await site.startAgent(printer, { config });
      const jobs = [jobFor(printerId, ['a1', 'a2']), jobFor(printerId, ['b'])];
      await site.queues.enqueue(...jobs);
      await expect.poll(() => printer.waiting, { interval: 5 }).toBe(3);
      let lost = 0;
      printer.on('lost', () => (lost += 1));
      await printer.printed(1);
      // As soon as the next one is under way, and before it is under the head.
      const canceled = () => {
        if (lost === 0) printer.cancel('format');
        return lost;
      };
      await expect.poll(canceled, { interval: 1 }).toBe(1);
      const [a, b] = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
      expect(a).toMatchObject({ status: 'held', uncertain: { to: 2 } });
      expect(b).toMatchObject({ status: 'held', uncertain: { from: 0, to: 1 } });
      expect(printer.labels).toEqual(['a1', 'b']);
    },
  );

  atPrinter(
    'the printer drops the second one without a word: nobody can say which of the two is out',
    async () => {
      const { printer, printerId } = await slow();
      await site.startAgent(printer, { config });
      const jobs = single(printerId, 'a', 'b');
      await site.queues.enqueue(...jobs);
      await expect.poll(() => printer.waiting, { interval: 5 }).toBe(1);
      printer.dropFormats(1);
      for (const { jobId } of jobs) {
        expect(await site.reports.end(jobId)).toMatchObject({
          status: 'held',
          uncertain: { from: 0, to: 1 },
        });
      }
      expect(printer.labels).toEqual(['a']);
    },
  );

  test.each([0, 1])('job %i of the two is canceled while the printer stands still', async (which) => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const jobs = single(printerId, 'a', 'b');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    printer.set({ 'media-empty': true });
    const [canceled, other] = which === 0 ? jobs : jobs.toReversed();
    if (canceled === undefined || other === undefined) throw new Error('two jobs');
    await site.reports.job(canceled.jobId, ({ reasons }) => reasons.includes('media-empty'));
    await site.queues.markCanceled(laneOf(canceled), canceled.jobId, true);
    const end = await site.reports.end(canceled.jobId);
    expect(end).toMatchObject({ status: 'canceled', uncertain: { from: 0, to: 1 } });
    printer.set({ 'media-empty': false });
    expect(await site.reports.end(other.jobId)).toMatchObject({ status: 'printed' });
    expect(printer.labels).toEqual(['a', 'b']);
  });

  test('the ones behind are canceled one after the other while the first waits for media, then that one', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const [first, second, ...waiting] = single(printerId, 'a', 'b', 'c', 'd');
    if (first === undefined || second === undefined) throw new Error('two jobs');
    await site.queues.enqueue(first, second, ...waiting);
    await bothUnderWay(printer);
    printer.set({ 'media-empty': true });
    await site.reports.job(first.jobId, ({ reasons }) => reasons.includes('media-empty'));
    const canceled = async ({ jobId }: typeof first) => {
      await site.queues.markCanceled(laneOf(first), jobId, true);
      return site.reports.end(jobId);
    };
    const uncertain = { from: 0, to: 1 };
    expect(await canceled(second)).toMatchObject({ status: 'canceled', uncertain });
    for (const job of waiting) {
      const end = await canceled(job);
      expect(end).toMatchObject({ status: 'canceled', labels: { sent: 0 } });
      expect(end.uncertain).toBeUndefined();
    }
    expect(await canceled(first)).toMatchObject({ status: 'canceled', uncertain });
    printer.set({ 'media-empty': false });
    await printer.printed(2);
    const next = jobFor(printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed' });
    expect(printer.labels).toEqual(['a', 'b', 'next']);
  });

  test('the agent stops, and another process of it goes on', async () => {
    const { printer, printerId } = await slow();
    const { agent, dataDir } = await site.startAgent(printer, { config: { timings: { confirm: 200 } } });
    const jobs = single(printerId, 'a', 'b', 'c');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    await agent.stop({ graceMs: 0 });
    await site.startAgent(printer, { dataDir });
    await site.printedBy(printer, jobs);
  });

  test('a person holds the printer: the second one waits, though it was made ready', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const jobs = [jobFor(printerId, 3), jobFor(printerId, ['next'])];
    const [first, second] = jobs;
    if (first === undefined || second === undefined) throw new Error('two jobs');
    await site.queues.markHeld(laneOf(first), true);
    await site.queues.enqueue(...jobs);
    await site.queues.markHeld(laneOf(first), false);
    await printer.printed(1);
    await site.queues.markHeld(laneOf(first), true);
    expect(await site.reports.end(first.jobId)).toMatchObject({ status: 'printed' });
    await site.queues.markHeld(laneOf(first), false);
    await site.printedBy(printer, jobs);
  });

  atPrinter('the second one cannot be made: it fails alone', async () => {
    const { printer, printerId } = await slow();
    await site.startAgent(printer);
    const [a, c] = [jobFor(printerId, 2), jobFor(printerId, ['c'])];
    const b = jobFor(printerId, ['b']);
    b.format = { ...b.format, language: 'tspl' };
    await site.queues.enqueue(a, b, c);
    expect(await site.reports.end(b.jobId)).toMatchObject({
      status: 'failed',
      error: { code: 'language-unsupported' },
    });
    await site.printedBy(printer, [a, c]);
  });

  test('the journal is lost with both under way: both are held', async () => {
    const { printer, printerId } = await slow();
    const own = { config: { id: 'agent-of-the-test' } };
    const first = await site.startProcess(printer, own);
    const jobs = single(printerId, 'a', 'b');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    await killInPause(first, printer);
    await site.startProcess(printer, own);
    for (const { jobId } of jobs) {
      expect(await site.reports.end(jobId)).toMatchObject({ status: 'held', uncertain: { from: 0, to: 1 } });
    }
    await printer.printed(2);
    expect(printer.labels).toEqual(['a', 'b']);
  });

  test('another agent takes over with both under way: no label is lost or doubled', async () => {
    const { printer, printerId } = await slow();
    const config = { timings: { lease: 1_000 } };
    const first = await site.startProcess(printer, { config });
    const jobs = single(printerId, 'a', 'b', 'c');
    await site.queues.enqueue(...jobs);
    await bothUnderWay(printer);
    await killInPause(first, printer);
    await site.startProcess(printer, { config });
    const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
    // It does not know that the second one was behind the first.
    expect(ends.map(({ status }) => status)).toEqual(['held', 'printed', 'printed']);
    expect(printer.labels).toEqual(['a', 'b', 'c']);
  });

  const points = CRASH_POINTS.filter((point) => point !== 'about to take jobs');
  const cases = points.flatMap((point, at) => {
    if (all) return [2, 3].map((nth) => ({ point, nth }));
    // At the second job and at the third in turns: what is between them is the same code.
    const nth = (at % 2 === 0) === first ? 2 : 3;
    return first || at % 3 === 0 ? [{ point, nth }] : [];
  });
  test.each(cases)('killed: $point, time $nth', async (crash) => {
    const { printer, printerId } = await slow();
    const own = { dataDir: site.directories.make(), config: { timings: { vanished: 2_000 } } };
    const first = await site.startProcess(printer, { ...own, crash });
    const jobs = single(printerId, 'a', 'b', 'c', 'd');
    await site.queues.enqueue(...jobs);
    await killedItself(first);
    await site.startProcess(printer, own);
    await site.printedBy(printer, jobs);
  });

  test('killed again and again, at moments that nobody chose', async () => {
    const serial = crypto.randomUUID();
    const printer = await site.startPrinter({ speed: 10, serial });
    const [dataDir, printerId] = [site.directories.make(), serialId(serial)];
    const jobs = Array.from({ length: 30 }, (_, n) => jobFor(printerId, [`job ${n}`]));
    await site.queues.enqueue(...jobs);
    for (const count of [2, 5, 9, 14, 20, 26]) {
      const child = await site.startProcess(printer, { dataDir });
      await printer.printed(count);
      await kill(child);
    }
    await site.startProcess(printer, { dataDir });
    await site.printedBy(printer, jobs);
  });
});
