/** PostgreSQL behind PgBouncer: one that lends connections for a session is as good as none, any other is refused. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/log.ts';
import { migrate, openQueues } from '../../src/queue/index.ts';
import { createPool, rowsOf } from '../../src/server/store/pool.ts';
import { PLATEN } from '../../src/server/store/schema.ts';
import { startPgbouncer } from '../kit/programs/pgbouncer.ts';
import { job, printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { onServer } from '../kit/servers/backends.ts';

const logger = createLogger({ level: 'silent' });

async function behind(mode: 'session' | 'transaction') {
  const backend = await onServer().open();
  if (backend.databaseUrl === undefined) throw new Error('no database');
  onTestFinished(() => backend.close());
  const bouncer = await startPgbouncer(backend.databaseUrl, mode);
  onTestFinished(() => bouncer.stop());
  return { connectionString: bouncer.databaseUrl };
}

test('for a session: jobs are queued and served, and every connection has its limits', async () => {
  const database = await behind('session');
  await migrate(database, PLATEN);
  const pool = createPool({ database, max: 2, logger });
  onTestFinished(() => pool.end());
  const settings = z.object({ jit: z.string(), statement: z.string(), lock: z.string() });
  const set = await rowsOf(
    pool,
    settings,
    `SELECT current_setting('jit') AS jit, current_setting('statement_timeout') AS statement,
       current_setting('lock_timeout') AS lock`,
  );
  expect(set).toEqual([{ jit: 'off', statement: '15s', lock: '10s' }]);
  const queues = await openQueues({ database, logger });
  onTestFinished(() => queues.close({ timeoutMs: 0 }));
  const lane = printerId();
  const queued = job(lane);
  const served = Promise.withResolvers<string>();
  await serve(queues, lane, async ({ job: { jobId } }) => {
    served.resolve(jobId);
    return 'done';
  });
  await queues.enqueue(queued);
  expect(await served.promise).toBe(queued.jobId);
});

test('for a transaction: refused at the start, with what to do, by service and queues', async () => {
  const database = await behind('transaction');
  const refused = { code: 'refused', message: expect.stringMatching('pool_mode = session') };
  await expect(migrate(database, PLATEN)).rejects.toMatchObject(refused);
  await expect(openQueues({ database, logger })).rejects.toMatchObject(refused);
});
