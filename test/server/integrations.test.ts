/** Service accounts over time: two secrets while one takes the place of the other, when they were last used, what was printed. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type IntegrationRotated,
  type IntegrationView,
  integrationRotated,
  integrationView,
  jobSender,
  usage,
} from '../../src/contract/admin.ts';
import { countUsage, SQL } from '../../src/server/tenants/usage.ts';
import { type Answer, codeOf, PRINTER } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService();
beforeAll(async () => {
  for (const tenant of ['acme', 'globex']) await service.tenant(tenant);
  await service.agent([{}]);
});

const pathOf = (apiKey: string, what = '') => `/tenants/acme/integrations/${apiKey}${what}`;

async function rotated(apiKey: string, body: object = {}): Promise<IntegrationRotated> {
  return integrationRotated.parse((await service.admin('POST', pathOf(apiKey, '/secrets'), body)).body);
}

async function shown(apiKey: string): Promise<IntegrationView | undefined> {
  const { body } = await service.admin('GET', '/tenants/acme/integrations');
  return z
    .array(integrationView)
    .parse(body)
    .find((one) => one.apiKey === apiKey);
}

const removed = (apiKey: string, which: string): Promise<Answer> =>
  service.admin('DELETE', pathOf(apiKey, `/secrets/${which}`));

describe('the secret', () => {
  test('is changed without a pause: both work until the old one is removed', async () => {
    const old = await service.integration('acme');
    const fresh = await rotated(old.apiKey);
    expect(fresh).toMatchObject({ apiKey: old.apiKey, tokenUrl: old.tokenUrl, oldSecret: { endsAt: null } });
    expect(fresh.apiSecret).not.toBe(old.apiSecret);
    const by = async (apiSecret: string) =>
      (await service.tokenRequest(old, { client_secret: apiSecret })).status;
    expect([await by(old.apiSecret), await by(fresh.apiSecret)]).toEqual([200, 200]);
    const third = await service.admin('POST', pathOf(old.apiKey, '/secrets'), {});
    expect(codeOf(third)).toBe('secrets-limit');
    expect(integrationView.parse((await removed(old.apiKey, 'old')).body).oldSecret).toBeNull();
    expect([await by(old.apiSecret), await by(fresh.apiSecret)]).toEqual([401, 200]);
    expect(codeOf(await removed(old.apiKey, 'old'))).toBe('secrets-limit');
    expect(service.log).not.toContain(fresh.apiSecret);
  });

  test('that is old ends at its time, and makes room for another', async () => {
    const old = await service.integration('acme');
    const fresh = await rotated(old.apiKey, { oldForHours: 24 });
    const ends = Date.parse(fresh.oldSecret?.endsAt ?? '');
    expect(Math.round((ends - Date.now()) / 3_600_000)).toBe(24);
    const sql = `UPDATE platen.integrations SET old_secret_ends_at = now() WHERE api_key = $1`;
    await service.pool.query(sql, [old.apiKey]);
    expect((await service.tokenRequest(old)).status).toBe(401);
    expect((await shown(old.apiKey))?.oldSecret).toBeNull();
    const third = await rotated(old.apiKey);
    for (const { apiSecret: client_secret } of [fresh, third]) {
      expect((await service.tokenRequest(old, { client_secret })).status).toBe(200);
    }
  });

  test('that was lost before it was used leaves the old one for good', async () => {
    const old = await service.integration('acme');
    const lost = await rotated(old.apiKey, { oldForHours: 1 });
    expect((await removed(old.apiKey, 'new')).status).toBe(200);
    const by = async (client_secret: string) => (await service.tokenRequest(old, { client_secret })).status;
    expect([await by(old.apiSecret), await by(lost.apiSecret)]).toEqual([200, 401]);
    expect((await shown(old.apiKey))?.oldSecret).toBeNull();
  });

  test('of two callers who rotate at once, one gets one', async () => {
    const { apiKey } = await service.integration('acme');
    const both = await Promise.all([1, 2].map(() => service.admin('POST', pathOf(apiKey, '/secrets'), {})));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('of a revoked, unknown or another tenant’s account is not changed', async () => {
    const revoked = await service.integration('acme');
    await service.admin('DELETE', pathOf(revoked.apiKey));
    const foreign = await service.integration('globex');
    for (const apiKey of [revoked.apiKey, foreign.apiKey, 'pk_nothing', '%00', 'x'.repeat(250)]) {
      expect(codeOf(await service.admin('POST', pathOf(apiKey, '/secrets'), {}))).toBe(
        'integration-not-found',
      );
    }
    expect((await service.tokenRequest(foreign)).status).toBe(200);
    expect((await service.admin('DELETE', pathOf(foreign.apiKey, '/secrets/both'))).status).toBe(400);
  });
});

test('when it was last used is known to a few minutes, and costs one write in that time', async () => {
  const account = await service.integration('acme', ['jobs:enqueue', 'jobs:read']);
  expect((await shown(account.apiKey))?.lastUsedAt).toBeNull();
  const token = await service.token(account);
  const first = (await shown(account.apiKey))?.lastUsedAt;
  expect(Date.now() - Date.parse(first ?? '')).toBeLessThan(60_000);
  const row = 'SELECT xmin::text FROM platen.integrations WHERE api_key = $1';
  const written = (await service.pool.query(row, [account.apiKey])).rows;
  for (let time = 0; time < 3; time += 1) await service.token(account);
  expect((await service.pool.query(row, [account.apiKey])).rows).toEqual(written);
  const past = `UPDATE platen.integrations SET last_used_at = now() - interval '1 hour' WHERE api_key = $1`;
  await service.pool.query(past, [account.apiKey]);
  // A token that lasts is a use too: what it calls looks the account up.
  const job = '01900000-0000-7000-8000-000000000000';
  const called = await service.call(`/v2/jobs/${job}`, { token, tenant: 'acme' });
  expect(called.status).toBe(404);
  await service.token(account);
  const now = (await shown(account.apiKey))?.lastUsedAt ?? '';
  expect(Date.now() - Date.parse(now)).toBeLessThan(60_000);
});

test('who sees jobs sees who sends them, by name, and nothing else of the keys', async () => {
  const { apiKey } = await service.integration('acme');
  const foreign = await service.integration('globex');
  const viewer = await SignedIn.as(service, 'acme', 'viewer');
  const { body } = await viewer.call('/app/tenants/acme/senders');
  const all = z.array(jobSender.strict()).parse(body);
  expect(all).toContainEqual({ apiKey, name: (await shown(apiKey))?.name, test: false });
  expect(all.some((one) => one.apiKey === foreign.apiKey)).toBe(false);
});

describe('what was printed', () => {
  test('the days that are over are counted by the service itself', async () => {
    const done = () => service.pool.query('SELECT FROM platen.usage_days_done');
    await expect.poll(async () => (await done()).rowCount, { timeout: 60_000 }).toBeGreaterThan(30);
  });
  // The tests that follow make other days of them.
  const uncounted = () => service.pool.query('TRUNCATE platen.usage_days, platen.usage_days_done');

  /** Rows as the service writes them, `days` back from today at noon. */
  async function jobs(
    tenant: string,
    days: number,
    count: number,
    of: { template: string; printer: string },
  ) {
    await service.pool.query(
      `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name, format,
         orientation, copies, records, status, created_at)
       SELECT gen_random_uuid(), $1, 'test', $3, 'Template ' || $3, $4, 'Printer ' || $4, 'f', 'portrait', 2, 3, 'printed',
         ((now() AT TIME ZONE 'UTC')::date - $2::integer + time '12:00') AT TIME ZONE 'UTC' - make_interval(secs => n)
       FROM generate_series(1, $5::integer) n`,
      [tenant, days, of.template, of.printer, count],
    );
  }
  const counted = async (tenant: string, days: number) =>
    usage.parse((await service.admin('GET', `/tenants/${tenant}/usage?days=${days}`)).body);

  test('is counted by day, template and printer, whether the days were counted before or not', async () => {
    await uncounted();
    const tenant = await service.tenant('counts');
    await jobs(tenant, 0, 1, { template: 'a', printer: 'p' });
    await jobs(tenant, 2, 3, { template: 'a', printer: 'q' });
    await jobs(tenant, 2, 1, { template: 'b', printer: 'q' });
    await jobs(tenant, 40, 5, { template: 'b', printer: 'p' });
    await jobs('globex', 2, 7, { template: 'secret', printer: 'secret' });
    const before = await counted(tenant, 3);
    expect(before.days.map(({ jobs, labels }) => [jobs, labels])).toEqual([
      [4, 24],
      [0, 0],
      [1, 6],
    ]);
    expect(before.templates).toEqual([
      { id: 'a', name: 'Template a', jobs: 4, labels: 24 },
      { id: 'b', name: 'Template b', jobs: 1, labels: 6 },
    ]);
    expect(before.printers).toEqual([
      { id: 'q', name: 'Printer q', jobs: 4, labels: 24 },
      { id: 'p', name: 'Printer p', jobs: 1, labels: 6 },
    ]);
    const long = await counted(tenant, 60);
    // Two instances at once count nothing twice; and again changes nothing.
    await Promise.all([countUsage(service.pool), countUsage(service.pool)]);
    await countUsage(service.pool);
    await countUsage(service.pool);
    expect(await counted(tenant, 3)).toEqual(before);
    expect(await counted(tenant, 60)).toEqual(long);
    // Days that were counted tell of jobs that are kept no longer.
    await service.pool.query(
      `DELETE FROM platen.jobs WHERE tenant_id = $1 AND created_at < now() - interval '1 day'`,
      [tenant],
    );
    expect(await counted(tenant, 60)).toEqual(long);
    expect(long.days).toHaveLength(60);
    expect(long.days.reduce((sum, { labels }) => sum + labels, 0)).toBe(60);
  });

  test('days that are asked for no more are forgotten', async () => {
    await uncounted();
    const tenant = await service.tenant('forgotten');
    await service.pool.query(
      `INSERT INTO platen.usage_days_done (day) SELECT now()::date - n FROM unnest(ARRAY[364, 368]) n`,
    );
    await service.pool.query(
      `INSERT INTO platen.usage_days (tenant_id, day, template_id, printer_id, template_name, printer_name, jobs, labels)
       SELECT $1, now()::date - n, 'a', 'p', 'a', 'p', 1, 1 FROM unnest(ARRAY[364, 368]) n`,
      [tenant],
    );
    await countUsage(service.pool);
    for (const table of ['usage_days', 'usage_days_done']) {
      const old = `SELECT now()::date - day AS days FROM platen.${table} WHERE day < now()::date - 360`;
      expect([table, (await service.pool.query(old)).rows]).toEqual([table, [{ days: 364 }]]);
    }
  });

  test('only so many are named, and nothing else is asked for', async () => {
    await uncounted();
    const tenant = await service.tenant('many');
    for (let n = 0; n < 12; n += 1) await jobs(tenant, 1, n + 1, { template: `t${n}`, printer: PRINTER });
    const found = await counted(tenant, 5);
    expect(found.templates.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `t${11 - n}`));
    for (const days of ['0', '367', 'x', '1.5']) {
      const answer = await service.admin('GET', `/tenants/${tenant}/usage?days=${days}`);
      expect([days, codeOf(answer)]).toEqual([days, 'payload-invalid']);
    }
  });

  test('PostgreSQL reads the days in question and no others', async () => {
    await uncounted();
    const tenant = await service.tenant('planned');
    await jobs(tenant, 200, 20_000, { template: 'old', printer: 'p' });
    await service.pool.query('ANALYZE platen.jobs');
    const { rows } = await service.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${SQL}`, [tenant, 3]);
    const plan = JSON.stringify(rows);
    expect(plan).toContain('jobs_of_tenant');
    expect(plan).not.toMatch(/"Node Type":"Seq Scan"[^{}]*"Relation Name":"jobs"/);
    // Of the 20,000 that are too old none was read.
    const read = [...plan.matchAll(/"Relation Name":"jobs"[^{}]*?"Actual Rows":([\d.]+)/g)];
    expect(read.length).toBeGreaterThan(0);
    expect(read.every(([, count]) => Number(count) < 100)).toBe(true);
  });
});
