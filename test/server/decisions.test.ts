/** What a person decides about a job that has ended: canceled, all out, or on from some label. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Consumer } from '../../src/queue/index.ts';
import { serve } from '../kit/queue/serving.ts';
import {
  type Answer,
  codeOf,
  jobIdOf,
  newKey,
  PRINTER,
  pointersOf,
  ServiceHarness,
} from '../kit/service/harness.ts';

const TENANT = 'acme';
let service: ServiceHarness;
let token = '';
let idT = '';
/** What an agent is given, in order; it prints nothing, and says nothing. */
const delivered: QueuedJob[] = [];
let arrived = Promise.withResolvers<void>();
let consumer: Consumer;

beforeAll(async () => {
  service = await ServiceHarness.start();
  await service.tenant(TENANT);
  token = await service.token(await service.integration(TENANT));
  idT = await service.template(TENANT);
  await service.agent([{}]);
  consumer = await serve(service.queues, PRINTER, async ({ job }) => {
    delivered.push(job);
    arrived.resolve();
    return 'done';
  });
});
afterAll(async () => {
  await consumer.stop();
  await service.stop();
});

async function delivery(id: string, round: number): Promise<QueuedJob> {
  for (;;) {
    const found = delivered.find(({ jobId, resume }) => jobId === id && (resume?.round ?? 0) === round);
    if (found !== undefined) return found;
    await arrived.promise;
    arrived = Promise.withResolvers();
  }
}

/** A job of ten labels that ended like this. */
async function ended(changes: object): Promise<string> {
  const body = { idT, printerId: PRINTER, numberCopies: 5, data: [{ sku: '\0' }, { sku: '^XZ' }] };
  const id = jobIdOf(await service.call('/v2/jobs', { token, tenant: TENANT, key: newKey(), body }));
  await delivery(id, 0);
  await report(id, changes);
  return id;
}

async function report(jobId: string, changes: object): Promise<void> {
  await service.report({
    kind: 'job',
    jobId,
    agentId: 'agent-one',
    printerId: PRINTER,
    at: '2026-11-21T08:00:00.000Z',
    delivery: 1,
    seq: 3,
    status: 'printing',
    labels: { sent: 6, printed: 4 },
    reasons: [],
    ...changes,
  });
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
    expect(await delivery(id, 1)).toMatchObject({
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
    await delivery(id, 1);
    await report(id, { ...HELD, round: 1, labels: { sent: 9, printed: 7 }, uncertain: { from: 7, to: 9 } });
    expect(await show(id)).toMatchObject({ status: 'held', uncertain: { from: 7, to: 9 } });
    await resume(id, { from: 9 });
    expect(await delivery(id, 2)).toMatchObject({ resume: { round: 2, from: 9 } });
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

test('a failed job goes on at its first label that is not printed', async () => {
  const id = await ended(FAILED);
  expect((await resume(id, {})).body).toMatchObject({ status: 'queued', labels: { sent: 4, printed: 4 } });
  expect(await delivery(id, 1)).toMatchObject({ resume: { round: 1, from: 4 } });
});

test('an agent that cannot read a round takes nothing back of what was printed before', async () => {
  const id = await ended(FAILED);
  await resume(id, {});
  await delivery(id, 1);
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
  await delivery(id, 1);
  expect(delivered.filter(({ jobId }) => jobId === id)).toHaveLength(2);
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
  await consumer.stop();
  await resume(id, { from: 4 });
  await expect.poll(() => service.queues.has(PRINTER, `${id}.1`), { timeout: 10_000 }).toBe(true);
  expect((await service.admin('POST', `/jobs/${id}/cancel`)).body).toMatchObject({ status: 'canceled' });
  expect(await service.queues.has(PRINTER, `${id}.1`)).toBe(false);
});

test('a job that is not there', async () => {
  for (const id of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'nonsense']) {
    expect(codeOf(await resume(id, { from: 0 }))).toBe('job-not-found');
  }
});
