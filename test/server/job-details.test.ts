/** What is told of one job: its life with times and who decided, its values, and what can be done. */
import { describe, expect, test } from 'vitest';
import { type JobDetails, jobDetails, jobRecords } from '../../src/contract/job-details.ts';
import { serverConfig } from '../../src/server/config.ts';
import { forgetJobs } from '../../src/server/jobs/outcome/retention.ts';
import { serve } from '../kit/queue/serving.ts';
import { codeOf, jobIdOf, PRINTER } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService({ redis: false });
const acme = useTenant(service);
const DATA = [
  { sku: 'A\0', name: 'Größe' },
  { sku: '2', name: null },
  { sku: '3', name: 'c' },
];

async function newJob(data: object[] = DATA): Promise<string> {
  return jobIdOf(await acme.byAdmin({ data, numberCopies: 2 }));
}

async function details(id: string): Promise<JobDetails> {
  return jobDetails.parse((await service.admin('GET', `/jobs/${id}`)).body);
}

let seq = 0;
async function report(jobId: string, changes: object): Promise<void> {
  await service.report(jobReport(jobId, { at: new Date().toISOString(), seq: ++seq, ...changes }));
}

test('words that a later version has stored are shown as other and internal, and hide no job and no printer', async () => {
  const id = await newJob();
  const error = JSON.stringify({ code: 'said-by-a-later-version', message: 'Later' });
  const { pool } = service;
  await pool.query(`UPDATE platen.jobs SET reasons = '{later,media-empty}', error = $2 WHERE id = $1`, [
    id,
    error,
  ]);
  await pool.query(`UPDATE platen.agent_printers SET reasons = '{later}'`);
  const { body } = await service.admin('GET', '/jobs?tenant=acme');
  const reasons = expect.arrayContaining(['other', 'media-empty']);
  expect(body).toMatchObject({ jobs: [{ id, reasons, error: { code: 'internal', message: 'Later' } }] });
  expect(await details(id)).toMatchObject({ reasons });
  const printers = await service.admin('GET', '/printers?tenant=acme');
  expect(printers).toMatchObject({ status: 200, body: [{ reasons: ['other'] }] });
});

test('how many jobs are before it: those that came sooner, but not one that a person has had go on', async () => {
  const ids = [await newJob(), await newJob(), await newJob()];
  const before = () => Promise.all(ids.map(async (id) => (await details(id)).before));
  const [first, second, third] = await before();
  expect([(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)]).toEqual([1, 1]);
  const [id = ''] = ids;
  await report(id, {});
  expect(await before()).toEqual([0, second, third]);
  await report(id, { status: 'failed', error: { code: 'internal', message: 'x' } });
  expect(await before()).toEqual([0, first, second]);
  await service.admin('POST', `/jobs/${id}/resume`, { from: 0 });
  expect(await before()).toEqual([(first ?? 0) + 2, first, second]);
});

describe('the life of a job', () => {
  test('is told in order, with what held it up and who decided', async () => {
    const id = await newJob();
    await report(id, {});
    await report(id, { labels: { sent: 4, printed: 2 }, reasons: ['media-empty'] });
    await report(id, { labels: { sent: 4, printed: 3 }, reasons: ['media-empty'] });
    const waiting = await details(id);
    expect(waiting.reasonsSince).toBe(waiting.events.at(-1)?.at);
    expect(waiting.actions).toEqual(['cancel', 'move']);
    const error = { code: 'outcome-unknown', message: 'power failed' };
    await report(id, {
      status: 'held',
      labels: { sent: 4, printed: 3 },
      error,
      uncertain: { from: 3, to: 4 },
    });
    expect((await details(id)).actions).toEqual(['cancel', 'release', 'move']);
    const why = 'label 4 is on the floor';
    await service.admin('POST', `/jobs/${id}/resume`, { from: 4, why });
    const { events, account, status, statusSince, reasonsSince } = await details(id);
    expect(events).toMatchObject([
      { kind: 'accepted', who: 'admin' },
      { kind: 'printing', who: null, labels: { sent: 0, printed: 0 } },
      { kind: 'waits', reasons: ['media-empty'], labels: { sent: 4, printed: 2 } },
      { kind: 'held', error, uncertain: { from: 3, to: 4 }, labels: { printed: 3 } },
      { kind: 'queued', who: 'admin', why, labels: { printed: 4 } },
    ]);
    expect([account, status, statusSince, reasonsSince]).toEqual(['admin', 'queued', events[4]?.at, null]);
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  test('does not grow for ever where a printer goes to and fro', async () => {
    const id = await newJob();
    for (let turn = 0; turn < 450; turn++) {
      await report(id, { reasons: turn % 2 === 0 ? ['cover-open'] : ['media-jam'] });
    }
    expect((await details(id)).events).toHaveLength(401);
    await report(id, { status: 'printed', labels: { sent: 6, printed: 6 } });
    expect((await details(id)).events.at(-1)).toMatchObject({ kind: 'printed' });
  }, 60_000);

  test('who asked for a cancellation stands there, also where the agent ends the job', async () => {
    const id = await newJob();
    await expect.poll(() => service.queues.look(PRINTER, id), { timeout: 10_000 }).not.toBeNull();
    const taken = Promise.withResolvers<void>();
    const consumer = await serve(service.queues, PRINTER, async ({ job, setNote }) => {
      if (job.jobId !== id) return 'done';
      await setNote({ agentId: 'agent-one', resumeAt: null });
      taken.resolve();
      return new Promise(() => undefined);
    });
    await taken.promise;
    await report(id, {});
    await service.admin('POST', `/jobs/${id}/cancel`, { why: 'wrong paper' });
    await report(id, { status: 'canceled' });
    expect((await details(id)).events.slice(-2)).toMatchObject([
      { kind: 'cancel-requested', who: 'admin', why: 'wrong paper' },
      { kind: 'canceled', who: null },
    ]);
    await consumer.stop({ timeoutMs: 0, graceMs: 0 });
  });
});

describe('the values of a job', () => {
  const records = async (id: string, query = '') => service.admin('GET', `/jobs/${id}/records${query}`);

  // What has a U+0000 in it, or half of a surrogate pair, is taken apart elsewhere than what has none.
  test.each([
    [DATA],
    [[{ sku: 'a\ud800' }, { sku: '\udc00b' }, { sku: 'c' }]],
    [[{ sku: '1', name: '^XZ' }, { sku: '2' }, { sku: 1.5, name: true }]],
  ])('come some at a time, exactly as they were sent: %j', async (data) => {
    const id = await newJob(data);
    const all = { total: 3, copies: 2, from: 0, records: data };
    expect(jobRecords.parse((await records(id)).body)).toEqual(all);
    const part = jobRecords.parse((await records(id, '?from=1&limit=1')).body);
    expect(part.records).toEqual([data[1]]);
    expect(jobRecords.parse((await records(id, '?from=9')).body).records).toEqual([]);
    expect(codeOf(await records(id, '?limit=1000'))).toBe('payload-invalid');
  });

  test('are gone once they are not kept any more, and that is said', async () => {
    const id = await newJob();
    await report(id, { status: 'printed', labels: { sent: 6, printed: 6 } });
    expect((await details(id)).actions).toEqual(['reprint']);
    await service.pool.query(
      `UPDATE platen.jobs SET updated_at = now() - interval '73 hours' WHERE id = $1`,
      [id],
    );
    await forgetJobs(service.pool, serverConfig.parse({}).retention);
    expect(codeOf(await records(id))).toBe('label-data-gone');
    expect(await details(id)).toMatchObject({ actions: [], data: false, status: 'printed' });
  });
});

test('a job that is not there', async () => {
  for (const id of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'nonsense', '%00']) {
    for (const path of ['', '/records']) {
      expect(codeOf(await service.admin('GET', `/jobs/${id}${path}`))).toBe('job-not-found');
    }
  }
});
