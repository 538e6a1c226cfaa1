/**
 * The agent dies by SIGKILL at every point of `sender.ts`'s list, and at random moments, while a printer prints:
 * after its restart every label is out exactly once, or the job is held because that cannot be known.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { pageRecords } from '../../src/contract/document-pages.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { CRASH_POINTS, type CrashPoint } from '../kit/agent/agent-process.ts';
import { expected, jobFor, type TestPrinter } from '../kit/agent/site.ts';
import { kill, killedItself, type ProcessOptions, serialId, useSite } from '../kit/agent/use-site.ts';
import { overGateway } from '../kit/queue/over-gateway.ts';
import { administer, backends } from '../kit/servers/backends.ts';

// The queue is not what is tried here: every point on one road to it, a third of them over the gateway, the moments that
// nobody chose on each. EVERY_CRASH_POINT=1 tries all of them on both.
const tried = [...backends().filter(({ embedded, kind }) => embedded || kind === 'redis'), overGateway()];
describe.each(tried)('$name', (backend) => {
  const every =
    backend.kind === 'redis' || (!backend.embedded && process.env['EVERY_CRASH_POINT'] !== undefined);
  const site = useSite(backend);
  let printer: TestPrinter;

  async function start(dataDir: string, more: Omit<ProcessOptions, 'dataDir'> = {}): Promise<ChildProcess> {
    const config = { window: { labels: 4, bytes: 65_536 }, timings: { vanished: 2_000 } };
    return await site.startProcess(printer, { config, ...more, dataDir });
  }

  /** A printer, what its ID will be, and a new data directory. */
  async function prepare(speed: number): Promise<{ dataDir: string; printerId: string }> {
    const serial = randomUUID();
    printer = await site.startPrinter({ speed, serial });
    return { dataDir: site.directories.make(), printerId: serialId(serial) };
  }

  const cases: { point: CrashPoint; nth: number }[] = [
    ...CRASH_POINTS.map((point) => ({ point, nth: 1 })),
    { point: 'before bytes', nth: 4 },
    { point: 'inside bytes', nth: 4 },
    { point: 'after bytes', nth: 4 },
    { point: 'after bytes', nth: 10 },
  ];

  const some = every ? cases : cases.filter((_, at) => at % 3 === 0);
  test.runIf(!backend.embedded).each(some)('killed: $point, time $nth', async (crash) => {
    const { dataDir, printerId } = await prepare(20);
    const job = jobFor(printerId, 5, 4);
    await site.printedDespite(crash, printer, job, (more) => start(dataDir, more));
  });

  test.runIf(every)(
    'killed, and asleep while it waits for its job to come back: that comes first',
    async () => {
      const { dataDir, printerId } = await prepare(20);
      const jobs = [jobFor(printerId, 8), jobFor(printerId, ['next'])];
      await site.queues.enqueue(...jobs);
      const first = await start(dataDir);
      await printer.printed(2);
      await kill(first);
      const crash = { point: 'about to take jobs', nth: 1, signal: 'SIGSTOP' } as const;
      const second = await start(dataDir, { crash });
      const state = () => /\) (.)/.exec(readFileSync(`/proc/${second.pid}/stat`, 'latin1'))?.[1];
      await expect.poll(state, { timeout: 30_000 }).toBe('T');
      // Longer than the lock on its job, and all that it would wait for that.
      await wait(3_000);
      second.kill('SIGCONT');
      await site.printedBy(printer, jobs);
    },
  );

  test.runIf(every).each([
    { point: 'inside bytes', nth: 3 },
    { point: 'after bytes', nth: 6 },
  ] as const)('copies that count, killed: $point, time $nth', async (crash) => {
    const { dataDir, printerId } = await prepare(20);
    const job = jobFor(printerId, ['a', 'b'], 5);
    const source = '^XA^FO10,10^A0N,60,60^FDlabel {{n}} {{$copy}}/{{$copies}} {{$label}}^FS^XZ';
    job.template = rawZplTemplate.parse({ name: 'Counts', language: 'zpl', source });
    const first = await start(dataDir, { crash, languages: 'standard' });
    await site.queues.enqueue(job);
    await killedItself(first);
    expect(printer.labels.length).toBeLessThan(10);
    await start(dataDir, { languages: 'standard' });
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 10 } });
    expect(printer.labels).toEqual(expected(job).map((n, label) => `${n} ${(label % 5) + 1}/5 ${label + 1}`));
  });

  /** Five formats with a graphic of their own, the third of them twice, as the service has their labels in a job. */
  function zplDocument(printerId: string): { job: QueuedJob; out: string[] } {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const formats = names.map(
      (name, at) =>
        `^XA^FO10,10^A0N,60,60^FDlabel ${name}^FS^FO200,10^XGR:MARK.GRF,1,1^FS${at === 2 ? '^PQ2' : ''}^XZ\n`,
    );
    const file = `\x10CT~~CD,~CC^~CT~~DGR:MARK.GRF,8,1,FF818181818181FF\n${formats.join('')}`;
    const carrier = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
    const job = jobFor(printerId, 0, 2);
    job.template = documentTemplate.parse(carrier);
    const record = { document: Buffer.from(file, 'latin1').toString('base64') };
    job.records = pageRecords(record, job.template, [1, 2, 3, 3, 4, 5], 0);
    return { job, out: ['a', 'b', 'c', 'c', 'd', 'e'].flatMap((name) => [name, name]) };
  }

  test.runIf(every).each([
    { point: 'after the note', nth: 1 },
    { point: 'before bytes', nth: 2 },
    { point: 'inside bytes', nth: 4 },
    { point: 'after bytes', nth: 6 },
    { point: 'before the report of the outcome', nth: 1 },
  ] as const)('labels of a ZPL document, killed: $point, time $nth', async (crash) => {
    const { dataDir, printerId } = await prepare(20);
    const { job, out } = zplDocument(printerId);
    const first = await start(dataDir, { crash, languages: 'standard' });
    await site.queues.enqueue(job);
    await killedItself(first);
    await start(dataDir, { languages: 'standard' });
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 12 } });
    expect(printer.labels).toEqual(out);
  });

  test.runIf(every)('labels of a ZPL document, killed where the printer counts none: held', async () => {
    const { dataDir, printerId } = await prepare(20);
    const { job, out } = zplDocument(printerId);
    const blind = { languages: 'standard', odometer: false } as const;
    const first = await start(dataDir, { ...blind, crash: { point: 'inside bytes', nth: 3 } });
    await site.queues.enqueue(job);
    await killedItself(first);
    await start(dataDir, blind);
    const end = await site.reports.end(job.jobId);
    expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
    // How many were known to be out before, when nothing waited in the printer, is left to its pace.
    const { from, to } = end.uncertain ?? { from: 0, to: 0 };
    expect(printer.labels.length).toBeGreaterThanOrEqual(from);
    expect(printer.labels.length).toBeLessThanOrEqual(to);
    expect(printer.labels).toEqual(out.slice(0, printer.labels.length));
  });

  test('killed again and again, at moments that nobody chose', async () => {
    const { dataDir, printerId } = await prepare(20);
    const jobs = [jobFor(printerId, 12, 3), jobFor(printerId, ['a', 'b'], 7)];
    await site.queues.enqueue(...jobs);
    for (const count of [1, 6, 17, 37, 45]) {
      const child = await start(dataDir);
      await printer.printed(count);
      await kill(child);
    }
    await start(dataDir);
    await site.printedBy(printer, jobs);
  });

  test.runIf(every)(
    'agent and printer both gone: the printer was off while the agent came back',
    async () => {
      const { dataDir, printerId } = await prepare(20);
      const job = await site.enqueue(jobFor(printerId, 8, 3));
      const child = await start(dataDir);
      await printer.printed(5);
      await kill(child);
      await printer.powerOff();
      await start(dataDir);
      await site.reports.job(
        job.jobId,
        ({ delivery, reasons }) => delivery === 2 && reasons.includes('offline'),
      );
      await printer.powerOn();
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
      expect(printer.labels).toEqual(expected(job));
    },
  );

  test.runIf(every).each([
    { point: 'before the note', printed: 'all' },
    { point: 'after the note', printed: 'all' },
    { point: 'before bytes', printed: 'held' },
    { point: 'inside bytes', printed: 'held' },
    { point: 'after bytes', printed: 'held' },
    { point: 'before the report of the outcome', printed: 'all' },
  ] as const)('without an odometer, killed: $point: $printed', async ({ point, printed }) => {
    const { dataDir, printerId } = await prepare(20);
    const job = jobFor(printerId, 6);
    const first = await start(dataDir, { odometer: false, crash: { point, nth: 1 } });
    await site.queues.enqueue(job);
    await killedItself(first);
    await start(dataDir, { odometer: false });
    const end = await site.reports.end(job.jobId);
    if (printed === 'all') {
      expect(end.status).toBe('printed');
      expect(printer.labels).toEqual(expected(job));
    } else {
      expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
      // What is out lies inside the range that a person is told.
      expect(end.uncertain).toMatchObject({ from: 0 });
      expect(printer.labels.length).toBeLessThanOrEqual(end.uncertain?.to ?? 0);
      expect(printer.labels).toEqual(expected(job).slice(0, printer.labels.length));
    }
  });

  test.each([
    { who: 'another agent', odometer: true, status: 'printed' },
    { who: 'another agent', odometer: false, status: 'held' },
    { who: 'the journal lost', odometer: true, status: 'held' },
  ])('$who gets what was under way, odometer $odometer: $status', async ({ who, odometer, status }) => {
    const { dataDir, printerId } = await prepare(20);
    const job = jobFor(printerId, 8);
    const next = jobFor(printerId, ['next']);
    await site.queues.enqueue(job);
    const id = who === 'another agent' ? {} : { id: 'agent-of-the-test' };
    const config = { timings: { lease: 1_000 }, window: { labels: 8, bytes: 65_536 }, ...id };
    const child = await start(dataDir, { config, odometer });
    await printer.printed(2);
    await kill(child);
    await site.queues.enqueue(next);
    await start(site.directories.make(), { config, odometer });
    const held = { error: { code: 'outcome-unknown' }, uncertain: { from: 0, to: 8 } };
    expect(await site.reports.end(job.jobId)).toMatchObject({ status, ...(status === 'held' ? held : {}) });
    expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
    expect(printer.labels.filter((n) => n !== 'next')).toEqual(expected(job));
  });

  test.runIf(backend.embedded)(
    'the queue lost what was under way, and another job printed meanwhile: held',
    async () => {
      const { dataDir, printerId } = await prepare(20);
      const job = jobFor(printerId, 12);
      const config = { window: { labels: 12, bytes: 65_536 } };
      const child = await start(dataDir, { config });
      await site.queues.enqueue(job);
      await printer.printed(2);
      // A power failure, of both at once: the printer's buffer is gone, and a queue that does not sync has
      // forgotten the job.
      await Promise.all([kill(child), printer.powerOff()]);
      await administer(site.queueOptions.database, `DELETE FROM lanes.job WHERE queue_id = '${job.jobId}'`);
      const out = printer.labels.length;
      expect(out).toBeLessThan(6);
      await printer.powerOn();
      await start(dataDir);
      const other = jobFor(printerId, ['other', 'other']);
      expect(await site.print(other)).toMatchObject({ status: 'printed' });
      // The service adds it again. What the printer has counted since is the other job's.
      const end = await site.print(job);
      expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
      expect(end.uncertain?.from).toBeLessThanOrEqual(out);
      // To the queue it is a first delivery; to whoever applies reports, newer than the first.
      expect(end.delivery).toBe(2);
      expect(printer.labels).toEqual([...expected(job).slice(0, out), 'other', 'other']);
    },
  );
});
