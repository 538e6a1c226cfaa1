/** A data directory that an agent of an earlier version has left: what it knows of labels under way is still known. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { openDataDir } from '../../src/agent/data-dir.ts';
import { KnownPrinters } from '../../src/agent/discovery/known.ts';
import { Journal } from '../../src/agent/journal.ts';
import type { JobReport } from '../../src/contract/report.ts';
import { Directories } from '../kit/agent/site.ts';

const directories = new Directories();
afterAll(() => directories.remove());

/** The tables as they were made at first, and with each column that a later version added. */
const FIRST = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS jobs (
    job_id TEXT PRIMARY KEY,
    printer_id TEXT NOT NULL,
    delivery INTEGER NOT NULL,
    total INTEGER NOT NULL,
    base INTEGER NOT NULL,
    odometer INTEGER,
    intent INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    printed INTEGER NOT NULL,
    final_report TEXT,
    unpublished TEXT,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS jobs_unpublished ON jobs (updated_at) WHERE unpublished IS NOT NULL;
  CREATE TABLE IF NOT EXISTS printers (id TEXT PRIMARY KEY, seen TEXT NOT NULL, seen_at INTEGER NOT NULL) STRICT;
`;
const VERSIONS = [
  ['before documents', FIRST],
  [
    'before what a queue has lost',
    FIRST.replace('final_report TEXT', 'document TEXT,\n    final_report TEXT'),
  ],
] as const;

const AGENT = '0198c5c1-6b1e-7000-8000-00000000cafe';
const PRINTER = 'serial-0123456789';
const id = (digit: number) => `00000000-0000-0000-0000-00000000000${digit}`;
const final: JobReport = {
  kind: 'job',
  jobId: id(2),
  agentId: AGENT,
  printerId: PRINTER,
  at: '2026-11-21T10:00:00.000Z',
  delivery: 1,
  seq: 3,
  status: 'printed',
  labels: { sent: 9, printed: 9 },
  reasons: [],
};
const SEEN = {
  id: PRINTER,
  uri: 'socket://10.0.0.7:9100',
  ways: [
    {
      provider: 'configured',
      uri: 'socket://10.0.0.7:9100',
      candidate: null,
      told: {},
      said: {},
      identity: null,
      answers: true,
      listedAt: 1_795_000_000_000,
    },
  ],
};

test.each(VERSIONS)('%s', (_name, schema) => {
  const directory = directories.make();
  const file = join(directory, 'agent.db');
  const old = new DatabaseSync(file);
  old.exec(`PRAGMA journal_mode = WAL; ${schema}`);
  old.prepare('INSERT INTO meta VALUES (?, ?)').run('agent-id', AGENT);
  // Reports were spelled in another order of their keys then.
  const columns =
    'job_id, printer_id, delivery, total, base, odometer, intent, sent, printed, final_report, unpublished, updated_at';
  const put = old.prepare(`INSERT INTO jobs (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const now = Date.now();
  // A job with labels under way, one whose end nobody has been told of, and one that is done with.
  put.run(id(1), PRINTER, 2, 9, 1, 100, 7, 5, 3, null, null, now);
  put.run(id(2), PRINTER, 1, 9, 0, 91, 9, 9, 9, JSON.stringify(final), JSON.stringify(final), now - 2);
  put.run(id(3), PRINTER, 1, 9, 0, 82, 9, 9, 9, JSON.stringify({ ...final, jobId: id(3) }), null, now - 1);
  old.prepare('INSERT INTO printers VALUES (?, ?, ?)').run(PRINTER, JSON.stringify(SEEN), now);
  old.close();

  // Twice: what was added stays.
  for (const _start of [1, 2]) {
    const { db, agentId, close } = openDataDir(directory);
    expect(agentId).toBe(AGENT);
    const journal = new Journal(db);
    const counts = { total: 9, base: 1, odometer: 100, intent: 7, sent: 5, printed: 3 };
    expect(journal.look(id(1))).toEqual({
      entry: { queueId: id(1), printerId: PRINTER, delivery: 2, ...counts },
      final: null,
      followed: 0,
    });
    expect(journal.underWay(PRINTER)).toBe(true);
    expect(journal.look(id(3))?.final).toEqual({ ...final, jobId: id(3) });
    expect(journal.unpublished().map(({ report }) => report)).toEqual([final]);
    expect(new KnownPrinters(db).all()).toMatchObject([
      {
        printer: { id: PRINTER, endpoints: [{ uri: SEEN.uri, driver: null, answers: true }] },
        seenAt: now,
      },
    ]);
    close();
  }

  // It is written as by this version.
  const { db, close } = openDataDir(directory);
  const journal = new Journal(db);
  journal.published(final, { stream: 'acme/agent', at: '2', before: '1' });
  expect(journal.unpublished()).toEqual([]);
  expect(journal.lost({ stream: 'acme/agent', at: '9', before: '1' })).toBe(1);
  expect(journal.unpublished().map(({ report }) => report)).toEqual([final]);
  const document = { name: 'a document', printerJob: '7' };
  const entry = journal.look(id(1))?.entry ?? expect.fail();
  journal.write({ ...entry, document });
  expect(journal.look(id(1))?.entry.document).toEqual(document);
  close();
});

test('the tables of this version are the first ones, and what was added', () => {
  const source = readFileSync(join(import.meta.dirname, '../../src/agent/data-dir.ts'), 'utf8');
  const columnsOf = (sql: string) =>
    /CREATE TABLE IF NOT EXISTS jobs \(([^)]*)\)/
      .exec(sql)?.[1]
      ?.split(',')
      .map((column) => column.trim().split(' ')[0])
      .toSorted();
  const added = /for \(const added of \[([^\]]*)\]\)/.exec(source)?.[1]?.match(/\w+/g) ?? [];
  expect(columnsOf(source)).toEqual([...(columnsOf(FIRST) ?? []), ...added].toSorted());
});
