/** The list of jobs as an operator looks through it: filters, pages, counts, and what they cost. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type JobPage, jobCounts, jobFilter, jobPage } from '../../src/contract/job-search.ts';
import { JobList } from '../../src/server/jobs/shown/job-list.ts';
import { codeOf, pointersOf } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const PRINTERS = ['serial-aaaaaaaaaaaa', 'serial-bbbbbbbbbbbb', 'serial-cccccccccccc'];
/** Of one tenant, in the order of their acceptance; every thousandth of the newest is held. */
const MANY = 20_000;
const service = useService({ redis: false });

beforeAll(async () => {
  await service.tenant('acme');
  await service.tenant('globex');
  await service.tenant('initech');
  await service.agent(PRINTERS.map((id, at) => ({ id, name: `Line ${at}` })));
  // Straight into the table: the list does not care how they got there.
  await insert('acme', MANY);
  await insert('globex', 30);
  await insert('initech', MANY, '2026-11-05T00:00:00Z');
  // Each printer prints one template, and never another.
  await service.pool.query(`UPDATE platen.jobs SET template_id = 'template-of-' || right(printer_name, 1),
      printer_id = 'printer-' || right(printer_name, 1) WHERE tenant_id = 'initech'`);
  // A value that is on every label.
  await service.pool.query(`INSERT INTO platen.job_values (tenant_id, mark, created_at, job_id)
    SELECT tenant_id, mark, created_at, id FROM platen.jobs CROSS JOIN (VALUES (16), (17), (18)) AS m (mark)
    WHERE tenant_id = 'acme'`);
  await service.pool.query('VACUUM (FULL, ANALYZE) platen.jobs');
  await service.pool.query('VACUUM ANALYZE platen.jobs');
  await service.pool.query('VACUUM ANALYZE platen.job_values');
}, 120_000);

/** An ID as the service makes it: it begins with the time (UUIDv7). @param at SQL for that time */
const idOf = (at: string) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(gen_random_uuid()::text, 16, 3)
    || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid`;

async function insert(tenant: string, count: number, from = '2026-11-01T00:00:00Z'): Promise<void> {
  await service.pool.query(
    `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
      format, orientation, copies, records, status, created_at)
    SELECT ${idOf('at')}, $1, 'key-' || n % 7, 'template-' || n % 11, 'Template ' || n % 11, ($2::text[])[1 + n % 3],
      'Line ' || n % 3, '4×6', 'portrait', 1, 1, CASE WHEN n % 1000 = 0 THEN 'held' ELSE 'printed' END, at
    FROM generate_series(1, $3::integer) AS n
    CROSS JOIN LATERAL (SELECT $4::timestamptz + n * interval '1 second' AS at) AS accepted`,
    [tenant, PRINTERS, count, from],
  );
}

async function page(query: string): Promise<JobPage> {
  return jobPage.parse((await service.admin('GET', `/jobs?${query}`)).body);
}

async function counts(query: string) {
  return jobCounts.parse((await service.admin('GET', `/jobs/counts?${query}`)).body);
}

describe('pages', () => {
  test('follow each other without a gap, the newest first, also while jobs arrive', async () => {
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 3; pages++) {
      const { jobs, next } = await page(`tenant=globex&limit=10${after}`);
      seen.push(...jobs.map(({ createdAt }) => createdAt));
      await insert('globex', 1, '2026-11-02T00:00:00Z');
      after = `&after=${next}`;
      expect(next === null).toBe(pages === 2);
    }
    expect(new Set(seen).size).toBe(30);
    expect(seen).toEqual(seen.toSorted().reverse());
  });

  test('over all tenants they are merged', async () => {
    const { jobs } = await page('limit=1000');
    const times = jobs.map(({ createdAt }) => createdAt);
    expect([times.length, times]).toEqual([1000, times.toSorted().reverse()]);
    const early = await page('until=2026-11-01T00:00:31Z&limit=1000');
    expect(new Set(early.jobs.map(({ tenant }) => tenant))).toEqual(new Set(['acme', 'globex']));
    expect(early.jobs).toHaveLength(60);
  });

  test.each([
    ['several states', 'status=held,failed', ({ status }: JobPage['jobs'][number]) => status === 'held'],
    ['a printer by name', 'printer=Line%201', ({ printer }) => printer.id === PRINTERS[1]],
    ['a printer by ID', `printer=${PRINTERS[2]}`, ({ printer }) => printer.id === PRINTERS[2]],
    ['a template', 'template=Template%203', ({ template }) => template.id === 'template-3'],
    [
      'a time',
      'since=2026-11-01T00:01:00Z&until=2026-11-01T00:02:00Z',
      ({ createdAt }) => createdAt >= '2026-11-01T00:01:00' && createdAt < '2026-11-01T00:02:00',
    ],
  ] as [string, string, (job: JobPage['jobs'][number]) => boolean][])('by %s', async (_what, query, fits) => {
    const { jobs } = await page(`tenant=acme&limit=20&${query}`);
    expect(jobs).toHaveLength(20);
    expect(jobs.filter((job) => !fits(job))).toEqual([]);
  });

  test('by a name that nothing has any more, and by one that two have had', async () => {
    const old = 'serial-dddddddddddd';
    const replaced = async (name: string) =>
      await service.pool.query('UPDATE platen.jobs SET printer_id = $1, printer_name = $2 WHERE id = $3', [
        old,
        name,
        (await page('tenant=globex&limit=1')).jobs[0]?.id,
      ]);
    await replaced('Old line');
    const { jobs } = await page('tenant=globex&printer=Old%20line');
    expect(jobs).toMatchObject([{ printer: { id: old, name: 'Old line' } }]);
    expect(await page('tenant=acme&printer=Old%20line')).toEqual({ jobs: [], next: null });
    expect(await counts('tenant=globex&printer=Old%20line')).toMatchObject({ printed: 1 });
    await replaced('Line 1');
    const both = await page('tenant=globex&printer=Line%201&limit=50');
    expect(new Set(both.jobs.map(({ printer }) => printer.id))).toEqual(new Set([old, PRINTERS[1]]));
    const times = both.jobs.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('by how an ID begins, and by account', async () => {
    const { jobs } = await page('tenant=acme&account=key-3&limit=1');
    const [job] = jobs;
    const begun = job?.id.slice(0, 13) ?? '';
    expect((await page(`tenant=acme&id=${begun}`)).jobs.map(({ id }) => id)).toContain(job?.id);
    expect((await page(`tenant=globex&id=${begun}`)).jobs).toEqual([]);
  });

  test('by a beginning of any length, also where the clocks of service and database were hours apart', async () => {
    const accepted = '2026-08-01T12:00:00Z';
    const { rows } = await service.pool.query(
      `UPDATE platen.jobs SET id = ${idOf(`$1::timestamptz - interval '20 hours'`)}, created_at = $1
       WHERE id = (SELECT id FROM platen.jobs WHERE tenant_id = 'globex' AND status = 'printed' ORDER BY created_at LIMIT 1)
       RETURNING id`,
      [accepted],
    );
    const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(rows);
    for (let length = 1; length <= id.length; length += 1) {
      const { jobs } = await page(`tenant=globex&limit=100&id=${id.slice(0, length)}`);
      expect([length, jobs.map((job) => job.id)]).toEqual([length, expect.arrayContaining([id])]);
      if (length > 8) expect(jobs).toHaveLength(1);
    }
    // What begins otherwise than any time of today is found nowhere, and refused nowhere.
    for (const none of ['0', '7', 'ffffffffffff', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])
      expect((await page(`tenant=globex&id=${none}&limit=1`)).jobs).toHaveLength(none === '0' ? 1 : 0);
  });

  test('a value that is on every label finds those that wait for a person, and no others', async () => {
    const held = await page('tenant=acme&status=held');
    expect(held.jobs).toHaveLength(20);
    expect(await page('tenant=acme&status=held&value=0000000000000010')).toEqual(held);
    expect(await page('tenant=acme&undecided=true&value=0000000000000010')).toEqual(held);
    expect((await page('tenant=acme&status=held&value=00000000000000ff')).jobs).toEqual([]);
    expect((await page('tenant=globex&status=held&value=0000000000000010')).jobs).toEqual([]);
    const [first] = (await page('tenant=acme&status=held&value=0000000000000010&limit=1')).jobs;
    expect(first).toEqual(held.jobs[0]);
  });

  test.each(['\0', "'; DROP TABLE platen.jobs", '%', '\u{10ffff}'])('nothing is called %j', async (name) => {
    const value = encodeURIComponent(name);
    for (const filter of ['printer', 'template', 'account']) {
      expect(await page(`${filter}=${value}`)).toEqual({ jobs: [], next: null });
    }
  });

  test.each([
    ['status=lost', '/status'],
    ['status=held,', '/status'],
    ['after=2026-11-01T00:00:00Z', '/after'],
    ['after=2026-11-41T00:00:00Z_0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', '/after'],
    ['since=yesterday', '/since'],
    ['since=0000-01-01T00:00:00Z', '/since'],
    ['limit=0', '/limit'],
    ['id=xyz', '/id'],
    ['color=red', '/color'],
  ])('%s is refused', async (query, pointer) => {
    const answer = await service.admin('GET', `/jobs?${query}`);
    expect([codeOf(answer), pointersOf(answer)[0]?.split('/', 2).join('/')]).toEqual([
      'payload-invalid',
      pointer,
    ]);
  });
});

test('counts are exact up to a thousand', async () => {
  const none = { queued: 0, printing: 0, failed: 0, canceled: 0 };
  expect(await counts('tenant=acme')).toEqual({ ...none, held: 20, printed: 1000, undecided: 20 });
  expect(await counts('tenant=globex')).toEqual({ ...none, held: 0, printed: 33, undecided: 0 });
  expect(await counts('')).toEqual({ ...none, held: 40, printed: 1000, undecided: 40 });
  expect(await counts('tenant=acme&printer=Line%200')).toEqual({
    ...none,
    held: 6,
    printed: 1000,
    undecided: 6,
  });
});

/** What a statement has read, as PostgreSQL says. */
const plan = z.object({ Plan: z.object({ 'Shared Hit Blocks': z.int(), 'Shared Read Blocks': z.int() }) });

describe('what a page reads does not grow with what was printed', () => {
  /** Pages of 8 KB, of some thousands that the table has. */
  const MOST_READ = 450;
  test.each([
    'tenant=acme',
    'tenant=acme&status=held',
    'tenant=acme&status=failed',
    'tenant=acme&undecided=true',
    'tenant=globex&undecided=true',
    'undecided=true',
    'tenant=acme&undecided=true&printer=Line%200',
    'tenant=acme&status=held,failed,queued',
    `tenant=acme&printer=${PRINTERS[0]}`,
    'tenant=acme&account=key-1',
    'tenant=acme&template=template-3',
    'tenant=acme&template=Template%203',
    'tenant=acme&template=Template%203&printer=Line%200',
    'tenant=initech&template=template-of-0&printer=printer-1',
    'tenant=acme&value=0000000000000010',
    'tenant=acme&value=0000000000000010&status=held',
    'tenant=acme&value=0000000000000010&undecided=true',
    'tenant=acme&value=00000000000000ff&status=held',
    'tenant=acme&printer=no%20such%20printer',
    'template=no%20such%20template',
    'tenant=acme&printer=serial-',
    'tenant=acme&until=2026-11-01T02:00:00Z',
    'tenant=globex',
    '',
  ])('?%s', async (asked) => {
    const filter = `${asked}${asked === '' ? '' : '&'}limit=50`;
    const query = vi.spyOn(service.pool, 'query');
    await new JobList(service.pool).page(jobFilter.parse(Object.fromEntries(new URLSearchParams(filter))));
    const statements = query.mock.calls.map(([sql, values]) => [String(sql), values] as const);
    query.mockRestore();
    let blocks = 0;
    for (const [sql, values] of statements) {
      const { rows } = await service.pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, values);
      const [answer] = z.array(z.object({ 'QUERY PLAN': z.array(plan) })).parse(rows);
      const read = answer?.['QUERY PLAN'][0]?.Plan;
      blocks += (read?.['Shared Hit Blocks'] ?? 0) + (read?.['Shared Read Blocks'] ?? 0);
    }
    expect(statements.length).toBeGreaterThan(0);
    expect(blocks).toBeLessThan(MOST_READ);
  });
});
