/** What a note costs does not depend on how many jobs wait in its lane, although the statement was planned when none did. */
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openQueues } from '../../src/queue/index.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends } from '../kit/servers/backends.ts';

const WAITING = 400;
const NOTES = 30;
const counts = z.tuple([z.object({ keys: z.coerce.number(), order: z.coerce.number() })]);

describe.each(backends().filter(({ name }) => name === 'server PostgreSQL'))('on $name', ({ open }) => {
  test('each note is found by its key', async () => {
    const backend = await open();
    onTestFinished(() => backend.close());
    const queues = await openQueues({ ...backend, logger: keepingLogger() });
    onTestFinished(() => queues.close({ timeoutMs: 0 }));
    const client = new Client(backend.database);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('ALTER TABLE lanes.job SET (autovacuum_enabled = false)');
    const read = async () => {
      // Backends tell what they have read about once a second.
      const { rows } = await client.query(
        `SELECT sum(idx_scan) FILTER (WHERE indexrelname = 'job_pkey') AS keys,
           sum(idx_tup_read) FILTER (WHERE indexrelname = 'job_order') AS order
         FROM pg_stat_user_indexes WHERE schemaname = 'lanes' AND relname = 'job'`,
      );
      return counts.parse(rows)[0];
    };

    const lane = printerId();
    const noted = Promise.withResolvers<void>();
    await queues.enqueue(job(lane));
    await serve(queues, lane, async ({ setNote }) => {
      await setNote({ planned: 'while nothing waits' });
      await queues.enqueue(...Array.from({ length: WAITING }, () => job(lane)));
      for (let note = 0; note < NOTES; note++) await setNote({ note });
      noted.resolve();
      return 'hand-back';
    });
    await noted.promise;
    await expect.poll(async () => (await read()).keys, { timeout: 30_000 }).toBeGreaterThanOrEqual(NOTES);
    expect((await read()).order).toBeLessThan(WAITING);
  });
});
