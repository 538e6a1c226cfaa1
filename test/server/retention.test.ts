/** What is kept of jobs that are over, and for how long. */
import { expect, test } from 'vitest';
import { serverConfig } from '../../src/server/config.ts';
import { forgetKeys } from '../../src/server/jobs/accept/idempotency.ts';
import { forgetJobs } from '../../src/server/jobs/outcome/retention.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service);

async function newJob(status: string, daysAgo: number): Promise<string> {
  const id = await acme.newJob({ data: [{ sku: 'a' }] });
  const age = async () => {
    const { rowCount } = await service.pool.query(
      `UPDATE platen.jobs SET status = $2, created_at = now() - make_interval(days => $3),
         updated_at = now() - make_interval(days => $3) WHERE id = $1 AND dispatched_at IS NOT NULL`,
      [id, status, daysAgo],
    );
    return rowCount;
  };
  // Until then the row may be locked by what adds the job to its lane, and what is locked is left for the next time.
  await expect.poll(age).toBe(1);
  return id;
}

async function left(ids: readonly string[]): Promise<{ id: string; data: boolean }[]> {
  const { rows } = await service.pool.query<{ id: string; data: boolean }>(
    'SELECT id, payload IS NOT NULL AS data FROM platen.jobs WHERE id = ANY($1) ORDER BY seq',
    [ids],
  );
  return rows;
}

test('a job that is over is deleted after 400 days with its history; one that waits for a person never', async () => {
  const old = await newJob('printed', 401);
  const recent = await newJob('printed', 399);
  const held = await newJob('held', 1_000);
  const queued = await newJob('queued', 1_000);
  await forgetJobs(service.pool, serverConfig.parse({}).retention);
  expect(await left([old, recent, held, queued])).toEqual([
    { id: recent, data: false },
    { id: held, data: true },
    { id: queued, data: true },
  ]);
  const { rows } = await service.pool.query('SELECT FROM platen.job_events WHERE job_id = $1', [old]);
  expect(rows).toEqual([]);
});

test('what is about to go to another printer keeps its data until it has gone, or cannot go', async () => {
  const [goes, refused] = [await newJob('canceled', 4), await newJob('canceled', 4)];
  const to = { printerId: 'p', printer: 'p', format: 'f', who: 'admin' };
  const moves = 'UPDATE platen.jobs SET move_to = $2 WHERE id = $1';
  // Without a printer's name the sweep leaves it where it is.
  await service.pool.query(moves, [goes, { ...to, printer: null }]);
  await service.pool.query(moves, [refused, { ...to, refused: 'so it was' }]);
  await forgetJobs(service.pool, serverConfig.parse({}).retention);
  expect(await left([goes, refused])).toEqual([
    { id: goes, data: true },
    { id: refused, data: false },
  ]);
  await service.pool.query('UPDATE platen.jobs SET move_to = NULL WHERE id = $1', [goes]);
});

test('what only jobs that are deleted were for is called nothing any more', async () => {
  const id = await newJob('printed', 401);
  await service.pool.query('UPDATE platen.jobs SET printer_id = $2, printer_name = $3 WHERE id = $1', [
    id,
    'serial-gone',
    'Gone',
  ]);
  const names = async () =>
    (await service.pool.query('SELECT DISTINCT name FROM platen.job_names ORDER BY name')).rows.map(
      ({ name }) => name,
    );
  const before = await names();
  expect(before).toContain('Gone');
  await forgetJobs(service.pool, serverConfig.parse({}).retention);
  expect(await names()).toEqual(before.filter((name) => name !== 'Gone'));
});

test('how long can be set', async () => {
  const [first, second] = [await newJob('printed', 3), await newJob('failed', 6)];
  const retention = serverConfig.parse({ retention: { labelDataHours: 24 * 30, jobDays: 5 } }).retention;
  await forgetJobs(service.pool, retention);
  expect(await left([first, second])).toEqual([{ id: first, data: true }]);
});

test('more than one step of old keys goes at once, and those of today stay', async () => {
  await service.pool.query(
    `INSERT INTO platen.idempotency_keys (tenant_id, key, body_hash, job_id, response, created_at)
     SELECT $1, 'old-' || n, '', gen_random_uuid(), '""', now() - interval '25 hours' FROM generate_series(1, 2500) AS n`,
    [acme.id],
  );
  const today = async () => {
    const { rows } = await service.pool.query<{ old: number; new: number }>(
      `SELECT count(*) FILTER (WHERE key LIKE 'old-%')::int AS old,
         count(*) FILTER (WHERE key NOT LIKE 'old-%')::int AS new FROM platen.idempotency_keys`,
    );
    return rows[0];
  };
  const before = await today();
  await forgetKeys(service.pool);
  expect(await today()).toEqual({ old: 0, new: before?.new });
});
