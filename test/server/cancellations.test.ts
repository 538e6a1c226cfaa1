/** Canceling a job that waits, that an agent has, or that nobody has any more. */
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import { openQueues, type Queues } from '../../src/queue/index.ts';
import { useBreakableQueue } from '../kit/queue/breakable-queue.ts';
import { printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends } from '../kit/servers/backends.ts';
import { codeOf, jobIdOf } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';

const AGENT = 'agent-at-work';
const LENGTH = { contended: 60_000, alone: 60_000 };

describe.each(backends().filter(({ embedded }) => !embedded))('on $name', (backend) => {
  const { queue, service } = useBreakableQueue(backend);
  let idT = '';
  /** Another one for each test. */
  let lane: Lane;

  beforeAll(async () => {
    await service.tenant('acme');
    idT = await service.template('acme');
  });
  beforeEach(async () => {
    lane = printerId();
    await service.agent([{ id: lane }], { agentId: AGENT });
  });

  async function enqueue(): Promise<string> {
    const body = { idT, printerId: lane, numberCopies: 10 };
    const id = jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body));
    await expect.poll(() => service.queues.look(lane, id), { timeout: 10_000 }).not.toBeNull();
    return id;
  }

  const cancel = (id: string, body?: object) => service.admin('POST', `/jobs/${id}/cancel`, body);

  async function show(id: string): Promise<unknown> {
    return (await service.admin('GET', `/jobs/${id}`)).body;
  }

  const report = (jobId: string, changes: object) =>
    service.report(
      jobReport(jobId, {
        ...{ agentId: AGENT, printerId: lane, at: new Date().toISOString(), seq: 1 },
        ...changes,
      }),
    );

  async function lease(): Promise<string[]> {
    const ask = { lane, term: 'process.1', fresh: true, reaches: true };
    const [answer] = await service.queues.askLeases(AGENT, [ask], LENGTH);
    expect(answer?.granted).toBe(LENGTH.alone);
    return answer?.canceled ?? [];
  }

  /** Takes the lane's next job, as an agent that then dies: its lease ends, nobody gives the job back. */
  async function takeAndDie(note?: object): Promise<void> {
    const queues: Queues = await openQueues({
      redisUrl: service.backend.redisUrl,
      database: service.backend.database,
      prefix: service.backend.prefix,
      logger: service.logger,
      lockDurationMs: 500,
    });
    const taken = Promise.withResolvers<void>();
    // Where the agent has a longer lease, it keeps that.
    const serving = { agentId: AGENT, length: { contended: 500, alone: 500 } };
    await serve(
      queues,
      lane,
      async ({ setNote }) => {
        if (note !== undefined) await setNote(note);
        taken.resolve();
        return new Promise(() => undefined);
      },
      serving,
    );
    await taken.promise;
    await queues.close({ timeoutMs: 0, graceMs: 0 });
  }

  test('a job that an agent has is asked for, and ends when the agent says so', async () => {
    const id = await enqueue();
    expect(await lease()).toEqual([]);
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await report(id, { labels: { sent: 3, printed: 2 }, reasons: ['media-empty'] });
    const answer = await cancel(id);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'printing', reasons: ['media-empty', 'cancel-requested'] },
    ]);
    expect(await lease()).toEqual([id]);
    // A second time changes nothing, and is no fault.
    expect((await cancel(id)).body).toMatchObject({ status: 'printing' });
    await report(id, {
      seq: 2,
      status: 'canceled',
      labels: { sent: 5, printed: 3 },
      uncertain: { from: 3, to: 5 },
    });
    expect(await show(id)).toMatchObject({
      status: 'canceled',
      labels: { total: 10, sent: 5, printed: 3 },
      reasons: [],
      uncertain: { from: 3, to: 5 },
    });
    await expect.poll(lease, { timeout: 10_000 }).toEqual([]);
    expect(codeOf(await cancel(id))).toBe('job-not-queued');
  });

  test('a job that was printed before its agent heard of it is printed', async () => {
    const id = await enqueue();
    await lease();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await cancel(id);
    await report(id, { status: 'printed', labels: { sent: 10, printed: 10 } });
    expect(await show(id)).toMatchObject({ status: 'printed', reasons: [] });
    await expect.poll(lease, { timeout: 10_000 }).toEqual([]);
  });

  test('a job that failed before its agent heard of it goes on when a person says so, and is not canceled', async () => {
    const id = await enqueue();
    await lease();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await cancel(id);
    // What was asked for cannot be taken back yet.
    queue.broken = true;
    onTestFinished(() => {
      queue.broken = false;
    });
    const error = { code: 'printer-aborted', message: 'canceled at the printer' };
    await report(id, { seq: 2, status: 'failed', labels: { sent: 4, printed: 4 }, error });
    const resume = () => service.admin('POST', `/jobs/${id}/resume`, {});
    expect(codeOf(await resume())).toBe('job-not-held');
    queue.broken = false;
    await expect.poll(async () => (await resume()).status, { timeout: 10_000 }).toBe(200);
    await expect.poll(() => service.queues.look(lane, `${id}.1`), { timeout: 10_000 }).not.toBeNull();
    expect(await show(id)).toMatchObject({ status: 'queued', reasons: [], labels: { printed: 4 } });
  });

  test('a job that its agent could only hold is canceled, and its mark is taken away', async () => {
    const id = await enqueue();
    await lease();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await cancel(id);
    expect(await lease()).toEqual([id]);
    const error = { code: 'outcome-unknown', message: 'power failed' };
    const labels = { sent: 5, printed: 3 };
    await report(id, { seq: 2, status: 'held', labels, error, uncertain: { from: 3, to: 5 } });
    await expect
      .poll(() => show(id), { timeout: 10_000 })
      .toMatchObject({ status: 'canceled', uncertain: { from: 3, to: 5 } });
    await expect.poll(lease, { timeout: 10_000 }).toEqual([]);
  });

  test('a job of which nothing was sent, and that nobody has any more, is canceled at once', async () => {
    const id = await enqueue();
    await takeAndDie();
    // At latest when the lock of the one that died has ended.
    expect((await cancel(id)).status).toBe(200);
    await expect
      .poll(() => show(id), { timeout: 10_000 })
      .toMatchObject({ status: 'canceled', uncertain: null });
    expect(await service.queues.look(lane, id)).toBeNull();
  });

  test('a job that an agent had begun, which is gone, stays until a person forces it, and names what may be out', async () => {
    const id = await enqueue();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await report(id, { labels: { sent: 6, printed: 4 } });
    expect((await cancel(id)).body).toMatchObject({ status: 'printing', reasons: ['cancel-requested'] });
    await expect
      .poll(async () => (await cancel(id, { force: true })).body, { timeout: 10_000 })
      .toMatchObject({
        status: 'canceled',
        labels: { total: 10, printed: 4 },
        uncertain: { from: 4, to: 10 },
      });
    expect(await service.queues.look(lane, id)).toBeNull();
    // It comes back after all, and knows.
    await report(id, { seq: 2, status: 'canceled', labels: { sent: 6, printed: 6 } });
    expect(await show(id)).toMatchObject({ status: 'canceled', labels: { printed: 6 }, uncertain: null });
  });

  test('force takes nothing from an agent that serves the printer', async () => {
    const id = await enqueue();
    await lease();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await report(id, {});
    const { body } = await cancel(id, { force: true });
    expect(body).toMatchObject({ status: 'printing', reasons: ['cancel-requested'] });
    expect(await service.queues.look(lane, id)).not.toBeNull();
  });

  test('a job that its agent hands back, and is to be canceled, is canceled', async () => {
    const id = await enqueue();
    await lease();
    const queues = await openQueues({ ...service.backend, logger: service.logger });
    const [taken, enough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const consumer = await serve(
      queues,
      lane,
      async ({ setNote }) => {
        await setNote({ agentId: AGENT, resumeAt: null });
        taken.resolve();
        await enough.promise;
        await setNote({ agentId: AGENT, resumeAt: 4 });
        return 'hand-back';
      },
      { agentId: AGENT },
    );
    await taken.promise;
    await report(id, { labels: { sent: 4, printed: 3 } });
    expect((await cancel(id)).body).toMatchObject({ status: 'printing' });
    await report(id, { seq: 2, status: 'queued', labels: { sent: 4, printed: 4 } });
    enough.resolve();
    await expect
      .poll(() => show(id), { timeout: 10_000 })
      .toMatchObject({ status: 'canceled', labels: { printed: 4 }, uncertain: null, reasons: [] });
    expect(await service.queues.look(lane, id)).toBeNull();
    await consumer.stop();
    await queues.close();
  });

  test('a mark that the queue has lost is set again', async () => {
    const id = await enqueue();
    await lease();
    await takeAndDie({ agentId: AGENT, resumeAt: null });
    await cancel(id);
    await service.queues.markCanceled(lane, id, false);
    await expect.poll(lease, { timeout: 10_000 }).toEqual([id]);
  });

  test('what is no cancellation is refused', async () => {
    const id = await enqueue();
    expect(codeOf(await cancel(id, { force: 'yes' }))).toBe('payload-invalid');
    expect(codeOf(await cancel(id, { forced: true }))).toBe('payload-invalid');
    expect(codeOf(await cancel('0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f'))).toBe('job-not-found');
    expect(await show(id)).toMatchObject({ status: 'queued' });
  });
});
