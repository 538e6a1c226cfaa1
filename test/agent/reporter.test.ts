/** Reports when the queue is away and comes back. The queue is a stand-in: its absence must come at chosen moments. */
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { Journal, type JournalEntry } from '../../src/agent/journal.ts';
import { Reporter } from '../../src/agent/reports/reporter.ts';
import { type AgentStateReport, type JobReport, jobReport, type Report } from '../../src/contract/report.ts';
import type { PublishedReport } from '../../src/queue/index.ts';
import { Directories, logger, Reports } from '../kit/agent/site.ts';

const directories = new Directories();
const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of open.splice(0)) await part.stop();
});
afterAll(() => directories.remove());

class Road {
  away = false;
  failures = 0;
  readonly arrived = new Reports();
  /** Reports of progress have no answer until it is resolved. */
  slow: Promise<void> = Promise.resolve();
  /** What the queue knows to have been published, as a number; null: it does not say. */
  published: number | null = null;
  #failed: () => void = () => undefined;

  async publish(report: Report): Promise<PublishedReport | null> {
    if (this.away) {
      this.failures++;
      this.#failed();
      throw new Error('the queue is away');
    }
    this.arrived.add(report);
    if (report.kind === 'job' && report.status === 'printing') await this.slow;
    if (this.published === null) return null;
    const before = String(this.published).padStart(3, '0');
    this.published += 1;
    return { stream: 'reports', before, at: String(this.published).padStart(3, '0') };
  }

  async fails(): Promise<void> {
    const before = this.failures;
    while (this.failures === before) {
      await new Promise<void>((resolve) => {
        this.#failed = resolve;
      });
    }
  }
}

function setUp(directory = directories.make()): {
  road: Road;
  reporter: Reporter;
  journal: Journal;
  dataDir: ReturnType<typeof openDataDir>;
  directory: string;
} {
  const dataDir = openDataDir(directory);
  const journal = new Journal(dataDir.db);
  const road = new Road();
  const reporter = new Reporter({ queue: road, journal, logger });
  open.push({
    stop: async () => {
      await reporter.stop(0);
      if (dataDir.db.isOpen) dataDir.close();
    },
  });
  return { road, reporter, journal, dataDir, directory };
}

const JOBS = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'] as const;

function report(job: 0 | 1, seq: number, status: JobReport['status'] = 'printing', delivery = 1): JobReport {
  const at = '2026-11-21T10:00:00.000Z';
  const labels = { sent: seq, printed: 0 };
  const who = { agentId: 'agent-of-test', printerId: 'serial-0123456789' };
  return jobReport.parse({
    kind: 'job',
    jobId: JOBS[job],
    ...who,
    at,
    delivery,
    seq,
    status,
    labels,
    reasons: [],
  });
}

function heartbeat(name: string): AgentStateReport {
  const at = '2026-11-21T10:00:00.000Z';
  const who = { agentId: 'agent-of-test', name, version: '1', tenantId: null };
  return { kind: 'agent', ...who, at, online: true, printers: [] };
}

function entryOf({ jobId, printerId, delivery }: JobReport): JournalEntry {
  const counts = { total: 9, base: 0, odometer: null, intent: 9, sent: 9, printed: 9 };
  return { queueId: jobId, printerId, delivery, ...counts };
}

test('a job that ends at once is told of once, by its outcome', async () => {
  const { road, reporter, journal } = setUp();
  // On a machine that stands still here for a moment, the job would have taken long enough to be told of.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  for (let seq = 0; seq < 50; seq++) reporter.progress(report(0, seq));
  const final = report(0, 50, 'printed');
  journal.finish(entryOf(final), final);
  reporter.lasting(final);
  clock.mockRestore();
  await road.arrived.end(JOBS[0]);
  expect(road.arrived.of(JOBS[0]).map(({ seq }) => seq)).toEqual([50]);
});

test('progress is thinned out, the outcome follows at once and last', async () => {
  const { road, reporter, journal } = setUp();
  for (let seq = 0; seq < 10; seq++) reporter.progress(report(0, seq));
  // That it has begun, with what is known by then.
  expect((await road.arrived.job(JOBS[0], () => true)).seq).toBe(9);
  for (let seq = 10; seq < 50; seq++) reporter.progress(report(0, seq));
  const final = report(0, 50, 'printed');
  journal.finish(entryOf(final), final);
  reporter.lasting(final);
  await road.arrived.end(JOBS[0]);
  // What came between the two was never due.
  expect(road.arrived.of(JOBS[0]).map(({ seq }) => seq)).toEqual([9, 50]);
});

test('the outcome is told in the tick of its call, while what was told before has no answer', async () => {
  const { road, reporter, journal } = setUp();
  const answer = Promise.withResolvers<void>();
  road.slow = answer.promise;
  reporter.progress({ ...report(0, 0), reasons: ['offline'] });
  const final = report(0, 1, 'printed');
  journal.finish(entryOf(final), final);
  reporter.lasting(final);
  expect(road.arrived.of(JOBS[0]).map(({ seq }) => seq)).toEqual([0, 1]);
  answer.resolve();
  expect(await reporter.stop(60_000)).toBe(true);
  expect(road.arrived.of(JOBS[0]).map(({ seq }) => seq)).toEqual([0, 1]);
});

test('of a job that another agent got nothing is kept: when it comes back it begins anew', async () => {
  const { road, reporter, journal } = setUp();
  reporter.progress({ ...report(0, 0), reasons: ['offline'] });
  await road.arrived.job(JOBS[0], ({ seq }) => seq === 0);
  // What is still to be told as it leaves is told.
  reporter.progress({ ...report(0, 1), reasons: ['offline'] });
  reporter.over(JOBS[0]);
  await road.arrived.job(JOBS[0], ({ seq }) => seq === 1);
  await new Promise(setImmediate);
  reporter.progress(report(0, 0, 'printing', 3));
  const final = report(0, 2, 'printed', 3);
  journal.finish(entryOf(final), final);
  reporter.lasting(final);
  await road.arrived.end(JOBS[0]);
  const told = road.arrived.of(JOBS[0]).map(({ delivery, seq }) => [delivery, seq]);
  expect(told).toEqual([
    [1, 0],
    [1, 1],
    [3, 2],
  ]);
});

test('what keeps a job from its start on is told at once', async () => {
  const { road, reporter } = setUp();
  reporter.progress({ ...report(0, 0), reasons: ['offline'] });
  reporter.progress({ ...report(0, 1), reasons: ['offline'] });
  expect((await road.arrived.job(JOBS[0], () => true)).seq).toBe(0);
});

test('a change of the reasons is told at once, mere progress in its time', async () => {
  const { road, reporter } = setUp();
  reporter.progress(report(0, 0));
  reporter.progress(report(0, 1));
  reporter.progress({ ...report(0, 2), reasons: ['media-empty'] });
  const told = await road.arrived.job(JOBS[0], ({ reasons }) => reasons.includes('media-empty'));
  expect(told.seq).toBe(2);
  reporter.progress({ ...report(0, 3), reasons: ['media-empty'] });
  expect((await road.arrived.job(JOBS[0], ({ seq }) => seq === 3)).seq).toBe(3);
});

test('while the queue is away outcomes are kept, progress is not piled up, and the order holds', async () => {
  const { road, reporter, journal } = setUp();
  road.away = true;
  reporter.progress(report(0, 0));
  reporter.progress(report(1, 0));
  const back = report(0, 5, 'queued');
  journal.handBack(entryOf(back), back);
  reporter.lasting(back);
  for (let seq = 0; seq < 20; seq++) reporter.progress(report(0, seq, 'printing', 2));
  for (let seq = 1; seq < 20; seq++) reporter.progress(report(1, seq));
  await road.fails();
  road.away = false;
  const final = report(0, 20, 'printed', 2);
  journal.finish(entryOf(final), final);
  reporter.lasting(final);
  await Promise.all([road.arrived.end(JOBS[0]), road.arrived.job(JOBS[1], ({ seq }) => seq === 19)]);
  const order = road.arrived.of(JOBS[0]).map(({ delivery, seq }) => [delivery, seq]);
  expect(order.filter(([delivery, seq]) => delivery === 2 || seq === 5)).toEqual([
    [1, 5],
    [2, 20],
  ]);
  expect(road.arrived.of(JOBS[1]).length).toBeLessThanOrEqual(2);
});

test('many reports that fail together wait no longer than one does', async () => {
  const { road, reporter, journal } = setUp();
  road.away = true;
  const finals = Array.from({ length: 12 }, (_, n) => {
    const jobId = `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;
    return jobReport.parse({ ...report(0, 1, 'printed'), jobId });
  });
  for (const final of finals) {
    journal.finish(entryOf(final), final);
    reporter.lasting(final);
  }
  while (road.failures < finals.length) await road.fails();
  road.away = false;
  const back = performance.now();
  await Promise.all(finals.map(({ jobId }) => road.arrived.end(jobId)));
  // Twelve pauses, each twice the last, would come to 15 s.
  expect(performance.now() - back).toBeLessThan(5_000);
});

test('an outcome that could not be published is, after a restart', async () => {
  const first = setUp();
  first.road.away = true;
  const final = report(0, 7, 'printed');
  first.journal.finish(entryOf(final), final);
  first.reporter.lasting(final);
  await first.road.fails();
  await first.reporter.stop(0);
  first.dataDir.close();

  const second = setUp(first.directory);
  second.reporter.start();
  expect(await second.road.arrived.end(JOBS[0])).toEqual(final);
  await second.reporter.stop(1_000);
  expect(second.journal.unpublished()).toEqual([]);
});

test('outcomes that the queue has lost are told again, and no others', async () => {
  const { road, reporter, journal, directory, dataDir } = setUp();
  road.published = 0;
  const finals = [report(0, 3, 'printed'), report(1, 4, 'printed')] as const;
  for (const final of finals) {
    journal.finish(entryOf(final), final);
    reporter.lasting(final);
    await road.arrived.end(final.jobId);
  }
  reporter.agent(heartbeat('one'));
  await road.arrived.agent(({ name }) => name === 'one');
  await reporter.stop(1_000);
  expect(road.arrived.of(JOBS[0])).toHaveLength(1);
  dataDir.close();

  // Another server has taken the place of the queue's, and knows the first one alone; and so does another stream.
  const second = setUp(directory);
  second.road.published = 1;
  second.reporter.start();
  second.reporter.agent(heartbeat('two'));
  expect(await second.road.arrived.end(JOBS[1])).toEqual(finals[1]);
  second.reporter.agent(heartbeat('three'));
  await second.reporter.stop(1_000);
  expect(second.journal.unpublished()).toEqual([]);
  expect(second.road.arrived.all.map((one) => (one.kind === 'agent' ? one.name : one.jobId))).toEqual([
    'two',
    JOBS[1],
    'three',
  ]);
});

test('many outcomes that the queue has lost are all told again', async () => {
  const { road, reporter, journal } = setUp();
  const finals = Array.from({ length: 250 }, (_, n) => {
    const jobId = `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;
    return jobReport.parse({ ...report(0, 1, 'printed'), jobId });
  });
  for (const [n, final] of finals.entries()) {
    journal.finish(entryOf(final), final);
    journal.published(final, { stream: 'reports', before: '500', at: String(500 + n) });
  }
  road.published = 400;
  reporter.agent(heartbeat('one'));
  await Promise.all(finals.map(({ jobId }) => road.arrived.end(jobId)));
  await reporter.stop(1_000);
  expect(journal.unpublished()).toEqual([]);
  expect(road.arrived.all).toHaveLength(251);
});

test('of the agent only the newest state is told', async () => {
  const { road, reporter } = setUp();
  road.away = true;
  reporter.agent(heartbeat('one'));
  reporter.agent(heartbeat('two'));
  reporter.agent(heartbeat('three'));
  await road.fails();
  road.away = false;
  await road.arrived.agent(({ name }) => name === 'three');
  expect(road.arrived.all).toEqual([heartbeat('three')]);
});

test('a disk that is full keeps no report from the service, and does not end the process', async () => {
  const { road, reporter, journal, dataDir } = setUp();
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const reports = [report(0, 1, 'printed'), report(1, 1, 'printed')];
  for (const final of reports) journal.finish(entryOf(final), final);
  dataDir.db.exec('PRAGMA query_only = 1');
  for (const final of reports) reporter.lasting(final);
  await Promise.all(reports.map(({ jobId }) => road.arrived.end(jobId)));
  await reporter.stop(1_000);
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  expect(journal.unpublished()).toHaveLength(2);
});
