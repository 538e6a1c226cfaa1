/**
 * The agent's data directory. One SQLite file, `agent.db`, holds the journal, the printers seen, their certificates, and the
 * agent's ID. The directory belongs to one process at a time: the file is opened in SQLite's exclusive locking mode, and the
 * operating system releases the lock however the process ends.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuid } from 'uuid';
import { defineFaults } from '../contract/define-faults.ts';
import { agentId } from '../contract/report.ts';

class DataDirError extends defineFaults('DataDirError', {
  'data-dir-in-use': {},
  'data-dir-unusable': {},
}) {}

const ADDED = 'added-printers';
/** SQLITE_BUSY and SQLITE_LOCKED. */
const LOCKED = new Set([5, 6]);

const SCHEMA = `
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
    document TEXT,
    final_report TEXT,
    unpublished TEXT,
    told_in TEXT,
    told_at TEXT,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS jobs_unpublished ON jobs (updated_at) WHERE unpublished IS NOT NULL;
  CREATE INDEX IF NOT EXISTS jobs_told ON jobs (told_in, told_at) WHERE told_in IS NOT NULL;
  CREATE TABLE IF NOT EXISTS certificates (
    subject TEXT PRIMARY KEY, shown TEXT NOT NULL, since INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS printers (id TEXT PRIMARY KEY, seen TEXT NOT NULL, seen_at INTEGER NOT NULL) STRICT;
`;

interface DataDir {
  readonly db: DatabaseSync;
  /** Made when the directory is first opened. It stays the same, unless the configuration sets another one. */
  readonly agentId: string;
  /** The printers that people have added, as the service last said, as JSON; undefined: it has said nothing yet. */
  readonly added: string | undefined;
  keepAdded(json: string): void;
  close(): void;
}

/**
 * @param wantedId an agent ID that the configuration sets
 * @throws DataDirError `data-dir-in-use` if another process has the directory open, `data-dir-unusable`
 */
export function openDataDir(directory: string, wantedId?: string): DataDir {
  const file = join(directory, 'agent.db');
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    db = new DatabaseSync(file);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    chmodSync(file, 0o600);
    const insert = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING');
    insert.run('agent-id', uuid());
    if (wantedId !== undefined)
      db.prepare('UPDATE meta SET value = ? WHERE name = ?').run(wantedId, 'agent-id');
    const opened = db;
    const read = (name: string) =>
      opened.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
    const keep =
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
    const added = read(ADDED);
    return {
      db: opened,
      agentId: agentId.parse(read('agent-id')),
      added: typeof added === 'string' ? added : undefined,
      keepAdded: (json) => void opened.prepare(keep).run(ADDED, json),
      close: () => opened.close(),
    };
  } catch (error) {
    db?.close();
    if (error instanceof Error && 'errcode' in error && LOCKED.has(Number(error.errcode) & 0xff)) {
      throw new DataDirError('data-dir-in-use', `Another agent is running on ${directory}`, { cause: error });
    }
    throw new DataDirError('data-dir-unusable', `The agent cannot use ${directory}: ${String(error)}`, {
      cause: error,
    });
  }
}
