/** What is kept of jobs that are over, and for how long. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jobPage } from '../../src/contract/job-search.ts';
import { serverConfig } from '../../src/server/config.ts';
import { forgetKeys } from '../../src/server/jobs/accept/idempotency.ts';
import { forgetJobs } from '../../src/server/jobs/outcome/retention.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
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

test('a job by IPP whose document never came is deleted after an hour, with the names that its sender gave', async () => {
  const became = await newJob('printed', 0);
  for (const [number, minutes, job] of [
    [1, 61, null],
    [2, 59, null],
    [3, 61, became],
  ]) {
    await service.pool.query(
      `INSERT INTO platen.ipp_jobs (tenant_id, number, printer_id, test, name, sender, ticket, created_at, job_id)
       VALUES ($1, $2, 'p', false, 'label.pdf', 'maria', '{}', now() - make_interval(mins => $3), $4)`,
      [acme.id, number, minutes, job],
    );
  }
  await forgetJobs(service.pool, serverConfig.parse({}).retention);
  const { rows } = await service.pool.query('SELECT number FROM platen.ipp_jobs ORDER BY number');
  expect(rows).toEqual([{ number: 2 }, { number: 3 }]);
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

test('a job is found by a value of its records as long as its data is kept, by who may see labels, in its tenant', async () => {
  const data = [{ sku: 'Müller 4711' }, { sku: 'b2' }, { sku: 4006381333931 }, { sku: null }];
  const id = await acme.newJob({ data });
  const plain = await acme.newJob({ data: [{ sku: 'x' }] });
  const asked = async (path: string) => service.admin('GET', path);
  const markOf = async (value: string, tenant = acme.id) =>
    z
      .object({ mark: z.string().nullable() })
      .parse((await service.admin('POST', `/tenants/${tenant}/jobs/value-mark`, { value })).body).mark;
  const found = async (value: string, tenant = acme.id) => {
    const { jobs } = jobPage.parse(
      (
        await asked(
          `/jobs?tenant=${tenant}&value=${await markOf(value, tenant)}&status=queued,printing,printed`,
        )
      ).body,
    );
    return jobs.map((job) => [job.id, job.value]);
  };
  expect(await found(' MÜLLER 4711 ')).toEqual([[id, 'Müller 4711']]);
  expect(await found('4006381333931')).toEqual([[id, 'Müller 4711']]);
  expect(await found('Müller')).toEqual([]);
  expect(await markOf('b2')).toBeNull();
  // Another tenant's mark of the same value is another one, and a foreign mark finds nothing.
  const other = await service.tenant('other');
  const foreign = await markOf('Müller 4711', other);
  expect(foreign).not.toBe(await markOf('Müller 4711'));
  const own = await markOf('Müller 4711');
  expect((await asked(`/jobs?tenant=${other}&value=${own}`)).body).toEqual({ jobs: [], next: null });
  expect((await asked(`/jobs/counts?tenant=${acme.id}&value=${own}`)).body).toMatchObject({ held: 0 });
  // Who sees no labels neither searches by a value nor sees one.
  const viewer = await SignedIn.as(service, acme.id, 'viewer');
  const refused = await viewer.call(`/app/jobs?tenant=${acme.id}&value=${own}`);
  expect(refused.status).toBe(403);
  const seen = jobPage.parse((await viewer.call('/app/jobs')).body).jobs;
  expect(seen.find((job) => job.id === id)).not.toHaveProperty('value');
  // Nothing is left of the values once the data is gone.
  const values = async () =>
    (await service.pool.query('SELECT job_id FROM platen.job_values WHERE job_id = ANY($1)', [[id, plain]]))
      .rows.length;
  expect(await values()).toBe(2);
  await service.pool.query(
    "UPDATE platen.jobs SET status = 'printed', updated_at = now() - interval '4 days' WHERE id = $1",
    [id],
  );
  await forgetJobs(service.pool, serverConfig.parse({}).retention);
  expect(await values()).toBe(0);
  const { rows } = await service.pool.query('SELECT first_value FROM platen.jobs WHERE id = $1', [id]);
  expect(rows).toEqual([{ first_value: null }]);
  expect(await found('Müller 4711')).toEqual([]);
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
