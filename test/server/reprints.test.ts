/** Labels of a job that is over, printed again as a job of its own. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jobReprinted } from '../../src/contract/job-actions.ts';
import { jobDetails } from '../../src/contract/job-details.ts';
import { useDeliveries } from '../kit/service/deliveries.ts';
import { type Answer, codeOf, countingTemplate, newKey } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const OTHER = 'serial-bbbbbbbbbbbb';
const COUNTING = countingTemplate('{{sku}} {{$record}} {{$copy}} {{$label}} {{$labels}} {{$now}}');
const DATA = [{ sku: 'A' }, { sku: 'B\0' }, { sku: 'C' }];
const service = useService({ redis: false });
const acme = useTenant(service, { template: COUNTING, printers: [{}, { id: OTHER, name: 'Other' }] });
const small = useTenant(service, { id: 'small', quota: 10, template: COUNTING, printers: [] });
const deliveries = useDeliveries(service);

async function newJob(status: string, tenant = acme): Promise<string> {
  const id = await tenant.newJob({ data: DATA, numberCopies: 2 });
  await deliveries.of(id);
  const unclear = status === 'failed' || status === 'held';
  const why = {
    error: { code: 'printer-aborted', message: 'so it was' },
    uncertain: { from: 2, to: 6 },
  };
  const labels = { sent: 6, printed: status === 'printed' ? 6 : 2 };
  await service.report(jobReport(id, { seq: 1, status, labels, ...(unclear ? why : {}) }));
  return id;
}

function reprint(id: string, body: object, key = newKey()): Promise<Answer> {
  return service.call(`/app/jobs/${id}/reprint`, {
    body,
    key,
    headers: { authorization: 'Bearer admin-token-for-tests-0123456789' },
  });
}

const picture = (id: string, label: number): Promise<Buffer> =>
  service.picture(`/jobs/${id}/labels/${label}.png`);
const made = (answer: Answer) => deliveries.of(jobReprinted.parse(answer.body).id);

const details = async (id: string) => jobDetails.parse((await service.admin('GET', `/jobs/${id}`)).body);

describe('chosen labels', () => {
  test('come out as they were: their values, their numbers, their time', async () => {
    const id = await newJob('printed');
    const job = await made(
      await reprint(id, {
        labels: [
          { from: 4, to: 6 },
          { from: 1, to: 2 },
        ],
      }),
    );
    expect(job).toMatchObject({
      ...{ v: 3, copies: 1, records: [{ sku: 'C' }, { sku: 'C' }, { sku: 'A' }] },
      again: {
        jobId: id,
        records: 3,
        copies: 2,
        labels: [
          [2, 0],
          [2, 1],
          [0, 1],
        ],
      },
    });
    const [first, second] = [await picture(id, 4), await picture(id, 5)];
    expect(first).not.toEqual(second);
    expect([await picture(job.jobId, 0), await picture(job.jobId, 1)]).toEqual([first, second]);
    expect(await picture(job.jobId, 2)).toEqual(await picture(id, 1));
    expect(await details(job.jobId)).toMatchObject({ reprintOf: id, restOf: null, account: 'admin' });
    expect(await details(id)).toMatchObject({ reprints: [{ id: job.jobId }], rests: [] });
    // Its place in the list is that of a job which was sent now.
    const [{ createdAt }, old] = [await details(job.jobId), await details(id)];
    expect(createdAt > old.createdAt).toBe(true);
  });

  test('of a reprint are those of the first job', async () => {
    const id = await newJob('printed');
    const once = await made(await reprint(id, { labels: [{ from: 2, to: 5 }] }));
    await service.pool.query(`UPDATE platen.jobs SET status = 'printed' WHERE id = $1`, [once.jobId]);
    const twice = await made(await reprint(once.jobId, { labels: [{ from: 2, to: 3 }] }));
    expect(twice.again).toEqual({ jobId: id, records: 3, copies: 2, labels: [[2, 0]] });
    expect(await picture(twice.jobId, 0)).toEqual(await picture(id, 4));
    const whole = await made(await reprint(once.jobId, {}));
    expect(await picture(whole.jobId, 1)).toEqual(await picture(id, 3));
  });

  test('or all of them; also of one that has failed or was canceled, and at another printer', async () => {
    for (const status of ['printed', 'failed', 'canceled']) {
      const id = await newJob(status);
      const job = await made(await reprint(id, {}));
      expect(job).toMatchObject({ v: 1, copies: 2, records: DATA });
      expect(job.again).toBeUndefined();
    }
    const answer = await reprint(await newJob('printed'), { printer: 'Other', labels: [{ from: 0, to: 1 }] });
    expect(await details(jobReprinted.parse(answer.body).id)).toMatchObject({ printer: { id: OTHER } });
  });
});

describe('never twice by accident', () => {
  test('one key, one job; another request with the key is refused', async () => {
    const id = await newJob('printed');
    const [key, body] = [newKey(), { labels: [{ from: 0, to: 1 }] }];
    const answers = await Promise.all([
      reprint(id, body, key),
      reprint(id, body, key),
      reprint(id, body, key),
    ]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(codeOf(await reprint(id, { labels: [{ from: 1, to: 2 }] }, key))).toBe('idempotency-key-reused');
    expect((await details(id)).reprints).toHaveLength(1);
  });

  test.each(['printing', 'held'])('not while the job is %s', async (status) => {
    const id = await newJob(status);
    expect(codeOf(await reprint(id, {}))).toBe('job-not-over');
    expect((await details(id)).reprints).toEqual([]);
  });

  test('of a retry and a reprint at once, the reprint waits for the other and is refused, or comes first', async () => {
    const id = await newJob('failed');
    const other = await service.pool.connect();
    await other.query('BEGIN');
    await other.query(`UPDATE platen.jobs SET status = 'queued' WHERE id = $1`, [id]);
    const asked = reprint(id, {});
    await expect
      .poll(async () => {
        const sql = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR SHARE%'
          AND datname = current_database()`;
        return z.array(z.object({ count: z.int() })).parse((await service.pool.query(sql)).rows)[0]?.count;
      })
      .toBe(1);
    await other.query('COMMIT');
    other.release();
    expect(codeOf(await asked)).toBe('job-not-over');
  });
});

test('labels whose values are more than a request may have are too many for one job', async () => {
  const values = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`more${n}`, 'x'.repeat(30_000)]));
  const id = await acme.newJob({ data: [{ sku: 'A', ...values }], numberCopies: 30 });
  await deliveries.of(id);
  await service.report(jobReport(id, { seq: 1, status: 'printed', labels: { sent: 30, printed: 30 } }));
  const answer = await reprint(id, { labels: [{ from: 0, to: 20 }] });
  expect([answer.status, codeOf(answer)]).toEqual([400, 'labels-limit']);
  expect(answer.text).toContain('the limit is 5242880');
  expect((await reprint(id, { labels: [{ from: 0, to: 10 }] })).status).toBe(201);
});

test('the quota counts', async () => {
  const id = await newJob('printed', small);
  expect((await reprint(id, { labels: [{ from: 0, to: 4 }] })).status).toBe(201);
  const answer = await reprint(id, { labels: [{ from: 0, to: 1 }] });
  expect([answer.status, codeOf(answer)]).toEqual([403, 'quota-exceeded']);
});

test.each([
  [{ labels: [] }, 'payload-invalid'],
  [{ labels: [{ from: 5, to: 7 }] }, 'payload-invalid'],
  [{ labels: [{ from: 2, to: 2 }] }, 'payload-invalid'],
  [
    {
      labels: [
        { from: 0, to: 2 },
        { from: 1, to: 3 },
      ],
    },
    'payload-invalid',
  ],
  [{ label: 1 }, 'payload-invalid'],
  [{ printer: 'nobody' }, 'printer-unknown'],
  [{ format: 'A0' }, 'format-unknown'],
])('%j is refused: %s', async (body, code) => {
  expect(codeOf(await reprint(await newJob('printed'), body))).toBe(code);
});

test('what is not kept any more is not printed again', async () => {
  const id = await newJob('printed');
  await service.pool.query('UPDATE platen.jobs SET payload = NULL WHERE id = $1', [id]);
  expect(codeOf(await reprint(id, {}))).toBe('label-data-gone');
  expect(codeOf(await reprint('0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', {}))).toBe('job-not-found');
});
