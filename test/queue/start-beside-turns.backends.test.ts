/** Services and agents start while others are at work on the same database: a start waits for none of them, and they for no start. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate, openQueues } from '../../src/queue/index.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { backends, tried } from '../kit/servers/backends.ts';

describe.each(tried(backends().filter(({ kind }) => kind === 'postgres')))('on $name', ({ open }) => {
  async function opened() {
    const backend = await open();
    onTestFinished(() => backend.close());
    const start = async () => {
      const queues = await openQueues({ ...backend, logger: keepingLogger(), startTimeoutMs: 20_000 });
      onTestFinished(() => queues.close({ timeoutMs: 0 }));
      return queues;
    };
    const other = new Client(backend.database);
    await other.connect();
    onTestFinished(() => other.end());
    return { start, other, backend };
  }

  test('a start waits for no statement that is under way', async () => {
    const { start, other } = await opened();
    await start();
    await other.query('BEGIN');
    await other.query('UPDATE lanes.job SET note = NULL');
    await other.query('UPDATE lanes.lease SET turn = turn');
    const queues = await start();
    await other.query('COMMIT');
    const lane = printerId();
    const one = job(lane);
    await queues.enqueue(one);
    expect(await queues.look(lane, one.jobId)).not.toBeNull();
  });

  test('a migration and a turn wait for each other: it is applied all the same', async () => {
    const { start, other, backend } = await opened();
    await start();
    const directory = mkdtempSync(join(tmpdir(), 'platen-test-migrations-'));
    writeFileSync(
      join(directory, '9999-test.sql'),
      'ALTER TABLE lanes.job ADD COLUMN test int; ALTER TABLE lanes.lease ADD COLUMN test int;',
    );
    // As a turn does: a lease, and then a job.
    await other.query('BEGIN');
    await other.query('UPDATE lanes.lease SET turn = turn');
    const migrating = migrate(backend.database, { name: 'lanes', directory: pathToFileURL(`${directory}/`) });
    const waiting = async () => {
      const { rows } = await other.query<{ waits: number }>(
        `SELECT count(*)::int AS waits FROM pg_locks
         WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows[0]?.waits;
    };
    await expect.poll(waiting).toBeGreaterThan(0);
    // PostgreSQL ends one of the two.
    await other.query('UPDATE lanes.job SET note = NULL').then(
      () => other.query('COMMIT'),
      () => other.query('ROLLBACK'),
    );
    expect(await migrating).toEqual(['9999-test.sql']);
  });

  test('an edited migration is refused, and one of a later version left alone', async () => {
    const { start, other } = await opened();
    await start();
    await other.query(`INSERT INTO lanes.migrations (name, sha256) VALUES ('0002-later.sql', 'x')`);
    await start();
    await other.query(`UPDATE lanes.migrations SET sha256 = 'x'`);
    await expect(start()).rejects.toThrow('another version, whose 0001-lanes.sql was different');
  });
});
