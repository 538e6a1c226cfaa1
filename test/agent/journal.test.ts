/** The data directory and the journal in it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { Journal, type JournalEntry } from '../../src/agent/journal.ts';
import type { JobReport } from '../../src/contract/report.ts';
import { Directories } from '../kit/agent/site.ts';

const directories = new Directories();
afterAll(() => directories.remove());

function entry(digit: number, more: Partial<JournalEntry> = {}): JournalEntry {
  const queueId = `00000000-0000-0000-0000-00000000000${digit}`;
  const counts = { total: 9, base: 0, odometer: 100, intent: 4, sent: 3, printed: 2 };
  return { queueId, printerId: 'serial-0123456789', delivery: 1, ...counts, ...more };
}

function report(
  { queueId: jobId, printerId }: JournalEntry,
  status: 'queued' | 'printed' | 'failed',
): JobReport {
  const at = '2026-11-21T10:00:00.000Z';
  const labels = { sent: 9, printed: 9 };
  // Keys in another order than the schema's.
  return {
    ...(status === 'failed' ? { status, error: { code: 'internal', message: 'no paper' } } : { status }),
    labels,
    kind: 'job',
    jobId,
    printerId,
    agentId: 'agent-of-test',
    at,
    delivery: 1,
    seq: 3,
    reasons: [],
  };
}

test('what is written is there after the process has gone, with the agent ID', () => {
  const directory = directories.make();
  const first = openDataDir(directory);
  new Journal(first.db).write(entry(1));
  first.close();
  const second = openDataDir(directory);
  expect(second.agentId).toBe(first.agentId);
  expect(new Journal(second.db).look(entry(1).queueId)).toEqual({
    entry: entry(1),
    final: null,
  });
  expect(new Journal(second.db).look(entry(2).queueId)).toBeNull();
  second.close();
});

test('the file is written through: WAL, synchronous FULL, exclusive', () => {
  const { db, close } = openDataDir(directories.make());
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  expect(db.prepare('PRAGMA locking_mode').get()).toEqual({ locking_mode: 'exclusive' });
  close();
});

test('a second agent on the directory is refused, in this process and in another', () => {
  const directory = directories.make();
  const { close } = openDataDir(directory);
  expect(() => openDataDir(directory)).toThrow(expect.objectContaining({ code: 'data-dir-in-use' }));
  const dataDir = join(import.meta.dirname, '../../src/agent/data-dir.ts');
  const script = `const { openDataDir } = await import(${JSON.stringify(dataDir)});
    try { openDataDir(${JSON.stringify(directory)}); console.log('opened'); } catch (error) { console.log(error.code); }`;
  const open = () =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout.trim();
  expect(open()).toBe('data-dir-in-use');
  close();
  expect(open()).toBe('opened');
});

test('a directory that cannot be used is said to be so', () => {
  expect(() => openDataDir('/dev/null/here')).toThrow(expect.objectContaining({ code: 'data-dir-unusable' }));
});

test('reports stay until they are published, and a newer one takes the place of an older', () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const back = report(entry(1), 'queued');
  const final = { ...report(entry(1), 'printed'), delivery: 2 };
  journal.handBack(entry(1), back);
  journal.finish(entry(2), report(entry(2), 'printed'));
  expect(journal.unpublished().map((one) => one.report)).toEqual([back, report(entry(2), 'printed')]);
  journal.finish(entry(1, { delivery: 2 }), final);
  // The older one being published ends nothing.
  journal.published(back, null);
  expect(journal.unpublished()).toHaveLength(2);
  for (const open of journal.unpublished()) journal.published(open.report, null);
  expect(journal.unpublished()).toEqual([]);
  expect(journal.look(entry(1).queueId)?.final).toEqual(final);
  close();
});

test('what is written after a report is out is durable as ever, also when that could not be noted', () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const final = report(entry(1), 'printed');
  journal.finish(entry(1), final);
  // 2: FULL, https://sqlite.org/pragma.html#pragma_synchronous
  const durable = () => expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  durable();
  db.exec('PRAGMA query_only = 1');
  journal.published(final, null);
  expect(journal.unpublished()).toHaveLength(1);
  durable();
  expect(() => journal.write(entry(2))).toThrow(expect.objectContaining({ code: 'journal-not-synced' }));
  durable();
  db.exec('PRAGMA query_only = 0');
  expect(journal.unpublished()).toEqual([]);
  durable();
  close();
});

test('what is finished and reported is forgotten after its time; what may be under way never is', () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const finished = entry(1);
  const unpublished = entry(2);
  const underWay = entry(3);
  const handedBack = entry(4, { intent: 2 });
  journal.finish(finished, report(finished, 'printed'));
  journal.published(report(finished, 'printed'), null);
  journal.finish(unpublished, report(unpublished, 'printed'));
  journal.write(underWay);
  journal.write(handedBack);
  expect(journal.prune(Date.now() - 60_000)).toBe(0);
  expect(journal.prune(Date.now() + 60_000)).toBe(2);
  const left = [finished, unpublished, underWay, handedBack].map(
    ({ queueId }) => journal.look(queueId) !== null,
  );
  expect(left).toEqual([false, true, true, false]);
  close();
});

test('the counter tells nothing of a job that was cut off once another job has used the printer', () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const odometer = () => journal.look(entry(5).queueId)?.entry.odometer;
  // Before it: a job that is done, and one whose labels the printer never counted.
  const done = entry(1, { odometer: 90, intent: 9, printed: 9 });
  journal.finish(done, report(done, 'printed'));
  journal.write(entry(5));
  expect(odometer()).toBe(100);
  // Since: nothing printed, or on another printer.
  const refused = entry(2, { odometer: null, intent: 0, sent: 0, printed: 0 });
  journal.finish(refused, report(refused, 'failed'));
  journal.write(entry(3, { odometer: 100, intent: 0, sent: 0, printed: 0 }));
  journal.write(entry(4, { printerId: 'serial-9876543210', odometer: 500 }));
  expect(odometer()).toBe(100);
  for (const other of [{ odometer: 101 }, { odometer: 100 }, { odometer: null }]) {
    journal.write(entry(6, other));
    expect(odometer()).toBeNull();
    db.exec(`DELETE FROM jobs WHERE job_id = '${entry(6).queueId}'`);
  }
  // A job of which nothing is uncertain does not need it.
  journal.write(entry(6, { odometer: 101 }));
  journal.write(entry(5, { intent: 2 }));
  expect(odometer()).toBe(100);
  close();
});

test('a job is under way until it ends, or another one was printed after it', async () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const [job, next] = [entry(1), entry(2)];
  expect(journal.underWay(job.printerId)).toBe(false);
  journal.write(job);
  expect(journal.underWay(job.printerId)).toBe(true);
  expect(journal.underWay('serial-of-another')).toBe(false);
  // Another agent had the printer, settled the first, and gave it back.
  await wait(2);
  journal.finish(next, report(next, 'printed'));
  expect(journal.underWay(job.printerId)).toBe(false);
  await wait(2);
  journal.write({ ...job, delivery: 2 });
  expect(journal.underWay(job.printerId)).toBe(true);
  journal.finish(job, report(job, 'printed'));
  expect(journal.underWay(job.printerId)).toBe(false);
  close();
});

test('that a report is out is written with what is written next, or a moment later', async () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const left = () =>
    db.prepare('SELECT count(*) AS left FROM jobs WHERE unpublished IS NOT NULL').get()?.['left'];
  const ended = [1, 2, 3].map((digit) => {
    const told = report(entry(digit), 'printed');
    journal.finish(entry(digit), told);
    return told;
  });
  const [first, second, third] = ended;
  if (first === undefined || second === undefined || third === undefined) expect.fail();
  journal.published(first, null);
  expect(left()).toBe(3);
  // Whoever asks is told of those that are not out.
  expect(journal.unpublished().map(({ report: { jobId } }) => jobId)).toEqual([second.jobId, third.jobId]);
  journal.published(second, null);
  expect(left()).toBe(2);
  journal.write(entry(4));
  expect(left()).toBe(1);
  journal.published(third, null);
  await expect.poll(left, { timeout: 30_000 }).toBe(0);
  await journal.close();
  close();
});

test('one that the queue loses at once is told again', async () => {
  const { db, close } = openDataDir(directories.make());
  const journal = new Journal(db);
  const told = report(entry(1), 'printed');
  journal.finish(entry(1), told);
  journal.published(told, { stream: 'one', at: '5', before: '4' });
  expect(journal.lost({ stream: 'one', at: '6', before: '5' })).toBe(0);
  expect(journal.lost({ stream: 'one', at: '6', before: '4' })).toBe(1);
  expect(journal.unpublished()).toHaveLength(1);
  await journal.close();
  close();
});
