/** Services and agents start while others are at work on the same database: a start waits for none of them, and they for no start. */
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openQueues } from '../../src/queue/index.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { backends } from '../kit/servers/backends.ts';

describe.each(backends().filter(({ kind }) => kind === 'postgres'))('on $name', ({ open }) => {
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
    return { start, other };
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
    expect(await queues.has(lane, one.jobId)).toBe(true);
  });

  test('a start that has to change tables, and one that works, wait for each other: it starts all the same', async () => {
    const { start, other } = await opened();
    await start();
    await other.query('ALTER TABLE lanes.lease DROP COLUMN begun');
    await other.query('DROP INDEX lanes.job_ended');
    // As a turn does: a lease, and then a job.
    await other.query('BEGIN');
    await other.query('UPDATE lanes.lease SET turn = turn');
    const starting = start();
    const locked = async () => {
      const { rows } = await other.query<{ waits: number }>(
        `SELECT count(*)::int AS waits FROM pg_locks
         WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows[0]?.waits;
    };
    await expect.poll(locked).toBeGreaterThan(0);
    // PostgreSQL ends one of the two.
    await other.query('UPDATE lanes.job SET note = NULL').then(
      () => other.query('COMMIT'),
      () => other.query('ROLLBACK'),
    );
    await starting;
  });
});
