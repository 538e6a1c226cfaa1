/** A job that is taken out of its lane in the moment in which an agent takes it: one of the two has it. */
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { openQueues } from '../../src/queue/index.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { backends, tried } from '../kit/servers/backends.ts';

describe.each(tried(backends().filter(({ kind }) => kind === 'postgres')))('on $name', (on) => {
  const used = useQueues(on);
  let worker: Client;
  let printer: Lane;

  beforeEach(async () => {
    worker = new Client(used.backend.database);
    await worker.connect();
    printer = printerId();
  });
  afterEach(() => worker.end());

  async function waiting(count: number): Promise<void> {
    const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await expect.poll(async () => (await worker.query(sql)).rowCount, { timeout: 10_000 }).toBe(count);
  }

  test.each(['remove', 'takeAway'] as const)(
    '%s: a job that a worker takes meanwhile stays its own',
    async (way) => {
      const sent = job(printer);
      await used.queues.enqueue(sent);
      const asked = { lane: printer, term: 'its.1', fresh: true, reaches: true };
      await used.queues.askLeases('agent', [asked], { contended: 60_000, alone: 60_000 });
      // As a worker takes it, stopped before its commit: whoever looks at the job still finds it waiting.
      await worker.query('BEGIN');
      const taken = await worker.query(`SELECT * FROM lanes.turn('{}', '{}', NULL, NULL, $1, true)`, [
        JSON.stringify([{ ...asked, number: 1 }]),
      ]);
      expect(taken.rowCount).toBe(1);
      const removed = used.queues[way](printer, sent.jobId);
      await waiting(1);
      await worker.query('COMMIT');
      expect(await removed).toBe(false);
      expect(await used.queues.look(printer, sent.jobId)).toMatchObject({ state: 'active' });
    },
  );

  test('what waits, and what a worker that is gone had, is taken out', async () => {
    const [first, second] = [job(printer), job(printer)];
    await used.queues.enqueue(first, second);
    expect(await used.queues.remove(printer, first.jobId)).toBe(true);
    await worker.query(`UPDATE lanes.job SET term = 'gone.1' WHERE queue_id = $1`, [second.jobId]);
    expect(await used.queues.remove(printer, second.jobId)).toBe(false);
    expect(await used.queues.takeAway(printer, second.jobId)).toBe(true);
    for (const { jobId } of [first, second]) expect(await used.queues.look(printer, jobId)).toBeNull();
  });

  test('all that has ended long enough ago is forgotten within a minute, however much it is', async () => {
    await used.queues.close();
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const queues = await openQueues({ ...used.backend, logger: keepingLogger() });
    onTestFinished(() => queues.close({ timeoutMs: 0 }));
    await worker.query(
      `INSERT INTO lanes.job (lane, queue_id, ended_at)
       SELECT $1, n::text, now() - make_interval(hours => CASE WHEN n > 1 THEN 49 ELSE 47 END)
       FROM generate_series(1, 4501) AS n`,
      [printer],
    );
    vi.advanceTimersByTime(60_000);
    const left = async () => (await worker.query('SELECT queue_id FROM lanes.job')).rows;
    await expect.poll(left, { timeout: 30_000 }).toEqual([{ queue_id: '1' }]);
  });
});
