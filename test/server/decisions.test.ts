/** What a person decides about a job that has ended: canceled, all out, or on from some label. */
import { describe, expect, test } from 'vitest';
import { jobDetails } from '../../src/contract/job-details.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { useDeliveries } from '../kit/service/deliveries.ts';
import { type Answer, codeOf, PRINTER, pointersOf } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service);
const deliveries = useDeliveries(service);

/** A job of ten labels that ended like this. */
async function ended(changes: object): Promise<string> {
  const id = await acme.newJob({ numberCopies: 5, data: [{ sku: '\0' }, { sku: '^XZ' }] });
  await deliveries.of(id, 0);
  await report(id, changes);
  return id;
}

async function report(jobId: string, changes: object): Promise<void> {
  await service.report(jobReport(jobId, { seq: 3, labels: { sent: 6, printed: 4 }, ...changes }));
}

const HELD = {
  status: 'held',
  error: { code: 'outcome-unknown', message: 'power failed' },
  uncertain: { from: 4, to: 6 },
} as const;
const FAILED = {
  status: 'failed',
  labels: { sent: 4, printed: 4 },
  error: { code: 'printer-aborted', message: 'canceled at the printer' },
} as const;

async function show(id: string): Promise<unknown> {
  return (await service.admin('GET', `/jobs/${id}`)).body;
}

function resume(id: string, body: object): Promise<Answer> {
  return service.admin('POST', `/jobs/${id}/resume`, body);
}

describe('a held job', () => {
  test('goes on from the label that the person names, as the next round', async () => {
    const id = await ended(HELD);
    const answer = await resume(id, { from: 6 });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'queued', labels: { total: 10, sent: 6, printed: 6 }, error: null, uncertain: null },
    ]);
    expect(await deliveries.of(id, 1)).toMatchObject({
      v: 2,
      copies: 5,
      records: [{ sku: '\0' }, { sku: '^XZ' }],
      resume: { round: 1, from: 6 },
    });
    await report(id, { round: 1, delivery: 1, seq: 0, labels: { sent: 9, printed: 8 } });
    expect(await show(id)).toMatchObject({ status: 'printing', labels: { sent: 9, printed: 8 } });
  });

  test('goes on a second time', async () => {
    const id = await ended(HELD);
    await resume(id, { from: 4 });
    await deliveries.of(id, 1);
    await report(id, { ...HELD, round: 1, labels: { sent: 9, printed: 7 }, uncertain: { from: 7, to: 9 } });
    expect(await show(id)).toMatchObject({ status: 'held', uncertain: { from: 7, to: 9 } });
    await resume(id, { from: 9 });
    expect(await deliveries.of(id, 2)).toMatchObject({ resume: { round: 2, from: 9 } });
  });

  test('does not go on by guess', async () => {
    const id = await ended(HELD);
    expect(codeOf(await resume(id, {}))).toBe('labels-uncertain');
    expect(await show(id)).toMatchObject({ status: 'held', uncertain: { from: 4, to: 6 } });
  });

  test('of which all labels are out is printed', async () => {
    const id = await ended({ ...HELD, labels: { sent: 10, printed: 0 }, uncertain: { from: 0, to: 10 } });
    const answer = await resume(id, { from: 10 });
    expect(answer.body).toMatchObject({
      status: 'printed',
      labels: { total: 10, sent: 10, printed: 10 },
      error: null,
      uncertain: null,
    });
  });

  test('is canceled for good: its agent repeats itself, and nothing changes', async () => {
    const id = await ended(HELD);
    const { body } = await service.admin('POST', `/jobs/${id}/cancel`);
    expect(body).toMatchObject({ status: 'canceled', uncertain: { from: 4, to: 6 } });
    await report(id, { ...HELD, delivery: 2, seq: 0 });
    await report(id, { status: 'printed', delivery: 3, labels: { sent: 10, printed: 10 } });
    expect(await show(id)).toMatchObject({ status: 'canceled', labels: { printed: 4 } });
  });

  test('what is reported late of an earlier round changes nothing', async () => {
    const id = await ended(HELD);
    await resume(id, { from: 6 });
    await report(id, { ...HELD, delivery: 7 });
    await report(id, { status: 'printed', delivery: 8, labels: { sent: 10, printed: 10 } });
    expect(await show(id)).toMatchObject({ status: 'queued', labels: { sent: 6, printed: 6 } });
  });

  test.each([
    [{ from: 11 }, 'payload-invalid'],
    [{ from: -1 }, 'payload-invalid'],
    [{ from: 1.5 }, 'payload-invalid'],
    [{ form: 1 }, 'payload-invalid'],
  ])('%j is refused', async (body, code) => {
    const id = await ended(HELD);
    const answer = await resume(id, body);
    expect([codeOf(answer), pointersOf(answer)]).toEqual([code, [`/${Object.keys(body)[0]}`]]);
    expect(await show(id)).toMatchObject({ status: 'held' });
  });
});

describe('a job that was stopped with labels on their way', () => {
  const STOPPED = { ...HELD, status: 'canceled' } as const;
  const undecided = async () => {
    const { body } = await service.admin('GET', `/jobs?tenant=${acme.id}&undecided=true&limit=1000`);
    return jobPage.parse(body).jobs.map(({ id }) => id);
  };

  test('waits for a person too, who says which are out; late reports change nothing after that', async () => {
    const id = await ended(STOPPED);
    expect(await undecided()).toContain(id);
    expect(await show(id)).toMatchObject({ actions: expect.arrayContaining(['release']) });
    expect(codeOf(await resume(id, {}))).toBe('labels-uncertain');
    for (const from of [3, 7]) {
      const answer = await resume(id, { from });
      expect([codeOf(answer), pointersOf(answer)]).toEqual(['payload-invalid', ['/from']]);
    }
    const said = await service.admin('GET', `/jobs/${id}/resume?from=5`);
    expect(said.body).toEqual({ status: 'canceled', prints: { from: 5, to: 5 } });
    expect((await resume(id, { from: 5, why: 'one in the tray' })).body).toMatchObject({
      ...{ status: 'canceled', uncertain: null, labels: { total: 10, sent: 6, printed: 5 } },
    });
    await report(id, { ...STOPPED, delivery: 4 });
    await report(id, { status: 'printed', delivery: 5, labels: { sent: 10, printed: 10 } });
    const after = jobDetails.parse(await show(id));
    expect(after).toMatchObject({ status: 'canceled', uncertain: null, labels: { printed: 5 } });
    expect(after.events.at(-1)).toMatchObject({ kind: 'decided', who: 'admin', why: 'one in the tray' });
    expect(after.actions).not.toContain('release');
    expect(await undecided()).not.toContain(id);
    expect(codeOf(await resume(id, { from: 5 }))).toBe('job-not-held');
  });

  test('is printed where all of its labels are out', async () => {
    const id = await ended({ ...STOPPED, labels: { sent: 10, printed: 4 }, uncertain: { from: 4, to: 10 } });
    expect((await resume(id, { from: 10 })).body).toMatchObject({ status: 'printed', uncertain: null });
  });
});

describe('what a decision would do', () => {
  const plan = (id: string, query = '') => service.admin('GET', `/jobs/${id}/resume${query}`);

  test.each([
    ['a held job', HELD, 4],
    ['a held job', HELD, 5],
    ['a held job', HELD, 6],
    ['a held job', HELD, 10],
    ['a failed job', FAILED, undefined],
  ])('%s: the same is said and done (%#)', async (_, changes, from) => {
    const id = await ended(changes);
    const query = from === undefined ? '' : `?from=${from}`;
    const said = await plan(id, query);
    const printed = from ?? 4;
    const becomes = printed === 10 ? 'printed' : 'queued';
    expect([said.status, said.body]).toEqual([200, { status: becomes, prints: { from: printed, to: 10 } }]);
    expect(await show(id)).toMatchObject({ status: changes.status });
    const done = await resume(id, from === undefined ? {} : { from });
    expect(done.body).toMatchObject({ status: becomes, labels: { total: 10, printed } });
  });

  test.each([
    [HELD, '?from=11', 'payload-invalid'],
    [HELD, '?from=', 'payload-invalid'],
    [HELD, '?from=4e0', 'payload-invalid'],
    [HELD, '?form=4', 'payload-invalid'],
    [HELD, '', 'labels-uncertain'],
    [{ status: 'printed' }, '?from=0', 'job-not-held'],
  ])('is refused as the decision itself (%#)', async (changes, query, code) => {
    expect(codeOf(await plan(await ended(changes), query))).toBe(code);
  });

  test('is refused where the values are gone, but all may still be there', async () => {
    const id = await ended(HELD);
    await service.pool.query('UPDATE platen.jobs SET payload = NULL WHERE id = $1', [id]);
    expect(codeOf(await plan(id, '?from=6'))).toBe('label-data-gone');
    expect(codeOf(await resume(id, { from: 6 }))).toBe('label-data-gone');
    const bulk = { action: 'release', uncertain: 'print', ids: [id], dryRun: true };
    expect((await service.admin('POST', '/jobs/bulk', bulk)).body).toMatchObject({
      jobs: [{ outcome: 'refused' }],
    });
    expect((await plan(id, '?from=10')).body).toMatchObject({ status: 'printed' });
    expect((await resume(id, { from: 10 })).body).toMatchObject({ status: 'printed' });
  });
});

test('a failed job goes on at its first label that is not printed', async () => {
  const id = await ended(FAILED);
  expect((await resume(id, {})).body).toMatchObject({ status: 'queued', labels: { sent: 4, printed: 4 } });
  expect(await deliveries.of(id, 1)).toMatchObject({ resume: { round: 1, from: 4 } });
});

test('an agent that cannot read a round takes nothing back of what was printed before', async () => {
  const id = await ended(FAILED);
  await resume(id, {});
  await deliveries.of(id, 1);
  const error = { code: 'payload-unreadable', message: 'v: invalid_value' } as const;
  const unread = { round: 1, seq: 0, error, labels: { sent: 0, printed: 0 } };
  await report(id, { ...unread, delivery: 1, status: 'failed' });
  expect(await show(id)).toMatchObject({ status: 'failed', labels: { sent: 4, printed: 4 } });
  await report(id, { ...unread, delivery: 2, status: 'held', uncertain: { from: 0, to: 2 ** 31 - 1 } });
  expect(await show(id)).toMatchObject({ labels: { printed: 4 }, uncertain: { from: 4, to: 10 } });
  expect(codeOf(await resume(id, {}))).toBe('labels-uncertain');
});

test('of two who decide at once, one is told that it is too late', async () => {
  const id = await ended(HELD);
  const answers = await Promise.all([
    resume(id, { from: 4 }),
    resume(id, { from: 4 }),
    resume(id, { from: 6 }),
  ]);
  const codes = answers.map(codeOf).filter((code) => code !== undefined);
  expect(codes).toEqual(['job-not-held', 'job-not-held']);
  await deliveries.of(id, 1);
  expect(deliveries.jobs.filter(({ jobId }) => jobId === id)).toHaveLength(2);
});

test.each([
  ['printing', undefined],
  ['printed', 'job-not-queued'],
] as const)(
  'a job that is %s does not go on, and is not canceled by the word alone',
  async (status, code) => {
    const id = await ended({ status });
    expect(codeOf(await resume(id, { from: 0 }))).toBe('job-not-held');
    expect(codeOf(await service.admin('POST', `/jobs/${id}/cancel`))).toBe(code);
    expect(await show(id)).toMatchObject({ status });
  },
);

test('a queued round can be canceled, under its own name in the queue', async () => {
  const id = await ended(HELD);
  await deliveries.stop();
  await resume(id, { from: 4 });
  await expect.poll(() => service.queues.look(PRINTER, `${id}.1`), { timeout: 10_000 }).not.toBeNull();
  expect((await service.admin('POST', `/jobs/${id}/cancel`)).body).toMatchObject({ status: 'canceled' });
  expect(await service.queues.look(PRINTER, `${id}.1`)).toBeNull();
});

test('a job that is not there', async () => {
  for (const id of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'nonsense']) {
    expect(codeOf(await resume(id, { from: 0 }))).toBe('job-not-found');
  }
});
