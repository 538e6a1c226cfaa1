/**
 * What the journal waits for, as the system saw it (strace): commits of several printers together, each before whoever waits
 * for it is told; and a disk that takes nothing.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { Journal } from '../../src/agent/journal.ts';
import { jobFor } from '../kit/agent/site.ts';
import { kill, serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();
const PRINTERS = 8;
const ROUNDS = 20;
const source = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src/agent', path));

/** `wrote <n>` and `told <n>` stand in the trace where the journal has been written to, and where that was durable. */
const MANY = `
  const { writeSync } = await import('node:fs');
  const { openDataDir } = await import(${source('data-dir.ts')});
  const { Journal } = await import(${source('journal.ts')});
  const { db, close } = openDataDir(process.argv[1]);
  const journal = new Journal(db);
  let n = 0;
  const printer = async (digit) => {
    const counts = { total: 99, base: 0, odometer: 100, intent: 0, sent: 0, printed: 0 };
    const entry = { queueId: '00000000-0000-0000-0000-00000000000' + digit, printerId: 'serial-' + digit, delivery: 1, ...counts };
    for (let round = 0; round < ${ROUNDS}; round++) {
      const mine = ++n;
      writeSync(2, 'writing ' + mine + '.');
      journal.write({ ...entry, intent: round });
      writeSync(2, 'wrote ' + mine + '.');
      await journal.committed();
      writeSync(2, 'told ' + mine + '.');
    }
  };
  await Promise.all(Array.from({ length: ${PRINTERS} }, (_, digit) => printer(digit)));
  await journal.close();
  close();`;

test('commits of all printers go together, and nobody is told before the log is on the disk', () => {
  const trace = join(site.directories.make(), 'trace');
  const directory = site.directories.make();
  const traced = ['-f', '-o', trace, '-e', 'trace=fsync,fdatasync,write,pwrite64', '-e', 'signal=none'];
  const script = [process.execPath, '--input-type=module', '-e', MANY, directory];
  const { status, stderr } = spawnSync('strace', [...traced, ...script], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  const lines = readFileSync(trace, 'latin1').split('\n');
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  // Of a thread that another one interrupts, beginning and end are two lines.
  const syncs = lines.flatMap((line, begun) => {
    const thread = line.split(' ', 1)[0] ?? '';
    if (!line.includes('fdatasync(')) return [];
    const ended = line.includes(' = ')
      ? begun
      : lines.findIndex((later, n) => n > begun && later.startsWith(thread) && later.includes('resumed'));
    expect(lines[ended]).toContain('= 0');
    return [{ begun, ended }];
  });
  for (let n = 1; n <= PRINTERS * ROUNDS; n++) {
    const [writing, wrote, told] = [at(`"writing ${n}."`), at(`"wrote ${n}."`), at(`"told ${n}."`)];
    // A sync may begin as soon as the log has it, before the program goes on.
    const inLog = lines.findLastIndex(
      (line, index) => index > writing && index < wrote && line.includes('pwrite64('),
    );
    const between = syncs.some(({ begun, ended }) => begun > inLog && ended < told);
    expect({ n, wrote: inLog >= 0, between }).toEqual({ n, wrote: true, between: true });
  }
  expect(syncs.length).toBeLessThan((PRINTERS * ROUNDS) / 2);
  // SQLite itself waits at the start and the end alone.
  const first = at('"wrote 1."');
  const last = at(`"told ${PRINTERS * ROUNDS}."`);
  expect(lines.slice(first, last).filter((line) => line.includes('fsync('))).toEqual([]);
});

test('a log that is not there is an error that names it, and may be there again', async () => {
  const { db, close } = openDataDir(site.directories.make());
  const journal = new Journal(db);
  const file = db.location() ?? '';
  expect(spawnSync('mv', [`${file}-wal`, `${file}-away`]).status).toBe(0);
  const counts = { total: 9, base: 0, odometer: 100, intent: 4, sent: 3, printed: 2 };
  const queueId = '00000000-0000-0000-0000-000000000001';
  const write = () => journal.write({ queueId, printerId: 'serial-1', delivery: 1, ...counts });
  write();
  const failed = { code: 'journal-not-synced', message: expect.stringContaining(`${file}-wal`) };
  await expect(journal.committed()).rejects.toMatchObject(failed);
  expect(spawnSync('mv', [`${file}-away`, `${file}-wal`]).status).toBe(0);
  await journal.committed();
  await journal.close();
  close();
});

test('a disk that is full for a moment when a job ends: the job comes again, and is printed', async () => {
  const printer = await site.startPrinter({ serial: 'FULL-DISK' });
  let full = false;
  const { exec } = DatabaseSync.prototype;
  using _exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    exec.call(this, sql);
    if (full) exec.call(this, `PRAGMA query_only = ${sql.endsWith('NORMAL') ? 1 : 0}`);
    if (sql.endsWith('FULL')) full = false;
  });
  const { finish } = Journal.prototype;
  using _finish = vi.spyOn(Journal.prototype, 'finish').mockImplementationOnce(function (
    this: Journal,
    ...ending
  ) {
    full = true;
    finish.apply(this, ending);
  });
  const { printerId } = await site.startAgent(printer);
  const job = jobFor(printerId, 3);
  expect(await site.print(job)).toMatchObject({ status: 'printed', delivery: 2, labels: { printed: 3 } });
  expect(printer.labels).toEqual(['0', '1', '2']);
});

/** From now on no sync of the process gets through; resolves when that is so. */
async function breakDisk(pid: number, trace: string): Promise<ChildProcess> {
  const inject = ['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'];
  const strace = spawn('strace', ['-f', '-p', String(pid), '-o', trace, ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  while (!said.includes('attached')) {
    const [bytes] = await once(strace.stderr, 'data');
    said += String(bytes);
  }
  return strace;
}

test('a disk that takes nothing: no label goes out, and after a restart each one once', async () => {
  const serial = 'NO-DISK';
  const printer = await site.startPrinter({ serial });
  const dataDir = site.directories.make();
  const trace = join(site.directories.make(), 'trace');
  const child = await site.startProcess(printer, { dataDir });
  const strace = await breakDisk(child.pid ?? 0, trace);
  const job = await site.enqueue(jobFor(serialId(serial), 3));
  await expect.poll(() => readFileSync(trace, 'latin1'), { timeout: 60_000 }).toContain('INJECTED');
  // It is tried again, and again nothing is sent: what a failed sync has lost, a later one would not tell.
  const asked = printer.labels.length;
  strace.kill('SIGINT');
  await once(strace, 'exit');
  await site.reports.job(job.jobId, ({ delivery }) => delivery >= 2);
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('agent-disk'));
  expect([asked, printer.labels.length]).toEqual([0, 0]);
  await kill(child);
  await site.startProcess(printer, { dataDir });
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(printer.labels).toEqual(['0', '1', '2']);
});
