/**
 * Two agents reach one printer, each over a way of its own: one of them serves it, until it stops, dies, is cut off
 * or is stopped for a while. Every label is out once, and never do the two send labels in turns.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { openQueues } from '../../src/queue/index.ts';
import { BreakableRoad } from '../queue/breakable-road.ts';
import { backends } from '../setup/backends.ts';
import type { AgentProcessOptions } from './agent-process.ts';
import { expected, jobFor, logger, type TestPrinter } from './site.ts';
import { type Senders, Tap } from './tap.ts';
import { kill, serialId, useSite } from './use-site.ts';

const [ONE, OTHER] = ['agent-the-one', 'agent-the-other'];
/** ms. Long: no test would see its end, four times as long where it is the first; short: the end is waited for. */
const [LONG, SHORT] = [60_000, 2_500];

// The embedded database is the same PostgreSQL, and its socket has no road to break.
const tried = backends().filter(({ embedded }) => !embedded);

describe.each(tried)('two agents at one printer, on $name', (backend) => {
  // The queue is not what is tried here: on one of them all, on the other what differs.
  const every = backend.kind === 'redis';
  const site = useSite(backend);
  let printer: TestPrinter;
  let printerId: string;
  let senders: Senders;

  beforeEach(async () => {
    const serial = randomUUID();
    printerId = serialId(serial);
    printer = await site.startPrinter({ speed: 20, serial });
    senders = [];
  });

  async function tapFor(id: string): Promise<Tap> {
    const tap = new Tap(id, printer.port, senders);
    await tap.open();
    return site.running(tap);
  }

  const configOf = (id: string, lease: number) => ({
    id,
    timings: { lease },
    window: { labels: 4, bytes: 65_536 },
  });

  /** In this process, once it has found the printer. */
  async function startAgent(id: string, lease: number, queues = site.queues) {
    const tap = await tapFor(id);
    const { agent } = await site.startAgent(tap, { config: configOf(id, lease), queues });
    return { agent, tap };
  }

  async function startProcess(
    id: string,
    lease: number,
    crash: AgentProcessOptions['crash'] = null,
  ): Promise<ChildProcess> {
    return await site.startProcess(await tapFor(id), { config: configOf(id, lease), crash });
  }

  async function servedBy(id: string): Promise<void> {
    const holder = async () => (await site.queues.leaseHolders([printerId])).get(printerId);
    await expect.poll(holder, { interval: 50, timeout: 60_000 }).toBe(id);
  }

  test('one of them prints all', async () => {
    await startAgent(ONE, LONG);
    await servedBy(ONE);
    const { tap } = await startAgent(OTHER, LONG);
    const jobs = Array.from({ length: 8 }, () => jobFor(printerId, 3, 2));
    for (const job of jobs) await site.queues.enqueue(job);
    await printer.printed(6);
    const { connections } = tap;
    for (const { jobId } of jobs) {
      expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed', agentId: ONE });
    }
    expect(printer.labels).toEqual(jobs.flatMap(expected));
    expect(senders).toEqual([ONE]);
    // The other one looks ten times a second whether its printers are there, but not at this one.
    expect(tap.connections - connections).toBeLessThanOrEqual(1);
  });

  test('it stops: the other goes on at once, in the middle of the job', async () => {
    const { agent } = await startAgent(ONE, LONG);
    await servedBy(ONE);
    await startAgent(OTHER, LONG);
    const jobs = [jobFor(printerId, 30), jobFor(printerId, ['a', 'b'])];
    for (const job of jobs) await site.queues.enqueue(job);
    await printer.printed(7);
    await agent.stop({ graceMs: 0 });
    for (const { jobId } of jobs) {
      expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    }
    expect(printer.labels).toEqual(jobs.flatMap(expected));
    expect(senders).toEqual([ONE, OTHER]);
  });

  test('it is killed in the middle of a job: that is held, and the other prints the next', async () => {
    const one = await startProcess(ONE, SHORT);
    await servedBy(ONE);
    await startAgent(OTHER, SHORT);
    const [job, next] = [jobFor(printerId, 30), jobFor(printerId, ['a', 'b'])];
    for (const each of [job, next]) await site.queues.enqueue(each);
    await printer.printed(5);
    await kill(one);
    const received: Buffer[] = [];
    printer.on('received', (bytes) => received.push(bytes));
    expect(await site.reports.end(job.jobId)).toMatchObject({
      status: 'held',
      error: { code: 'outcome-unknown' },
      agentId: OTHER,
    });
    expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    const out = printer.labels.length - 2;
    expect(printer.labels).toEqual([...expected(job).slice(0, out), 'a', 'b']);
    expect(senders).toEqual([ONE, OTHER]);
    // Half a label may be left in the printer: it is told to forget that, before the first label.
    const text = Buffer.concat(received).toString('latin1');
    expect(text.indexOf('~JX')).toBeGreaterThanOrEqual(0);
    expect(text.indexOf('~JX')).toBeLessThan(text.indexOf('label a'));
  });

  test.runIf(every)('it is killed while it prints nothing: the other prints all', async () => {
    const one = await startProcess(ONE, SHORT);
    await servedBy(ONE);
    await startAgent(OTHER, SHORT);
    await kill(one);
    const job = jobFor(printerId, 4, 2);
    await site.queues.enqueue(job);
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(printer.labels).toEqual(expected(job));
  });

  test.runIf(every).each([
    { moment: 'a moment that nobody chose', crash: null },
    { moment: 'between two labels', crash: { point: 'after bytes', nth: 2, signal: 'SIGSTOP' } },
  ] as const)(
    'it sleeps from $moment on, and wakes while the other prints: it begins no label',
    async ({ crash }) => {
      const one = await startProcess(ONE, SHORT, crash);
      await servedBy(ONE);
      const other = await startAgent(OTHER, SHORT);
      const [job, next, last] = [jobFor(printerId, 200), jobFor(printerId, 60), jobFor(printerId, ['last'])];
      await site.queues.enqueue(job);
      await printer.printed(crash === null ? 5 : 2);
      one.kill('SIGSTOP');
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'held', agentId: OTHER });
      const out = printer.labels.length;
      await site.queues.enqueue(next);
      await printer.printed(out + 10);
      one.kill('SIGCONT');
      expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
      expect(printer.labels).toEqual([...expected(job).slice(0, out), ...expected(next)]);
      expect(senders).toEqual([ONE, OTHER]);
      // It is well, and waits for its turn.
      await other.agent.stop();
      await site.queues.enqueue(last);
      expect(await site.reports.end(last.jobId)).toMatchObject({ status: 'printed', agentId: ONE });
      expect(printer.labels.slice(out + 60)).toEqual(['last']);
      expect(senders).toEqual([ONE, OTHER, ONE]);
    },
  );

  test.runIf(every)('it does not reach the printer any more: the other prints what comes', async () => {
    const one = await startAgent(ONE, SHORT);
    await servedBy(ONE);
    await startAgent(OTHER, SHORT);
    await one.tap.stop();
    await servedBy(OTHER);
    const job = jobFor(printerId, 4, 2);
    await site.queues.enqueue(job);
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    // The first reaches it again, and has no reason to take it back.
    await one.tap.open();
    const next = jobFor(printerId, ['next']);
    await site.queues.enqueue(next);
    expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(printer.labels).toEqual([...expected(job), 'next']);
    expect(senders).toEqual([OTHER]);
  });

  test.runIf(every)(
    'the printer is off for both in the middle of a job: the one that began it goes on',
    async () => {
      await startAgent(ONE, SHORT);
      await servedBy(ONE);
      await startAgent(OTHER, SHORT);
      const job = jobFor(printerId, 30);
      await site.queues.enqueue(job);
      await printer.printed(5);
      await printer.powerOff();
      await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
      await printer.powerOn();
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: ONE });
      expect(printer.labels).toEqual(expected(job));
      expect(senders).toEqual([ONE]);
    },
  );

  describe('cut off from the queue', () => {
    let road: BreakableRoad;

    /** Its queue over a road that can be closed. */
    async function startCuttable(id: string, lease: number): Promise<void> {
      const { redisUrl, database } = site.queueOptions;
      const url = new URL(redisUrl ?? database.connectionString ?? '');
      road = new BreakableRoad(url.hostname, Number(url.port));
      await road.open();
      url.port = String(road.port);
      const place =
        redisUrl === undefined ? { database: { connectionString: url.href } } : { redisUrl: url.href };
      const queues = await openQueues({ ...site.queueOptions, ...place, logger });
      site.running({ stop: () => road.close() });
      site.running({ stop: () => queues.close({ timeoutMs: 0, graceMs: 0 }) });
      await startAgent(id, lease, queues);
    }

    test.each(['closed', 'silent'])('(%s) it ends before the other begins', async (how) => {
      await startCuttable(ONE, SHORT);
      await servedBy(ONE);
      await startAgent(OTHER, SHORT);
      const [job, next, last] = [jobFor(printerId, 400), jobFor(printerId, 20), jobFor(printerId, ['last'])];
      await site.queues.enqueue(job);
      await printer.printed(5);
      if (how === 'closed') await road.close();
      else road.silence();
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'held', agentId: OTHER });
      const out = printer.labels.length;
      await site.queues.enqueue(next);
      expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
      await road.close();
      await road.open();
      await site.queues.enqueue(last);
      expect(await site.reports.end(last.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
      expect(printer.labels).toEqual([...expected(job).slice(0, out), ...expected(next), 'last']);
      expect(senders).toEqual([ONE, OTHER]);
    });

    test.each(['closed', 'silent'])(
      '(%s) while it waits for jobs: it prints none when it is back',
      async (how) => {
        await startCuttable(ONE, SHORT);
        await servedBy(ONE);
        await startAgent(OTHER, SHORT);
        if (how === 'closed') await road.close();
        else road.silence();
        await servedBy(OTHER);
        const jobs = [jobFor(printerId, 60), jobFor(printerId, ['a']), jobFor(printerId, ['b'])];
        for (const job of jobs) await site.queues.enqueue(job);
        await printer.printed(5);
        await road.close();
        await road.open();
        for (const { jobId } of jobs) {
          expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
        }
        expect(printer.labels).toEqual(jobs.flatMap(expected));
        expect(senders).toEqual([OTHER]);
      },
    );

    test('alone on its printer it goes on for four leases', async () => {
      // Contended, it would stop after six tenths of this.
      const lease = 5_000;
      await startCuttable(ONE, lease);
      await servedBy(ONE);
      const job = jobFor(printerId, 120);
      await site.queues.enqueue(job);
      await printer.printed(2);
      await road.close();
      await printer.printed(120);
      await road.open();
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: ONE });
      expect(printer.labels).toEqual(expected(job));
    });
  });
});
