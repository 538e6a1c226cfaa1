/** Jobs sent to another printer, and many at once canceled or sent on: each label once, whoever comes in between. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { usage } from '../../src/contract/admin.ts';
import { jobBulkResult } from '../../src/contract/job-actions.ts';
import { jobDetails } from '../../src/contract/job-details.ts';
import type { Lane } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Consumer } from '../../src/queue/index.ts';
import { printerId } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends } from '../kit/servers/backends.ts';
import { type Answer, codeOf, FORMAT_203, FORMAT_300, jobIdOf } from '../kit/service/harness.ts';
import { setWhileAwaited } from '../kit/service/job-locked.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

describe.each(backends().filter(({ embedded }) => !embedded))('on $name', (backend) => {
  const service = useService({ backend, config: { sweepInterval: 100 } });
  let idT = '';
  let here: Lane;
  let there: Lane;
  const consumers: Consumer[] = [];

  beforeAll(async () => {
    await service.tenant('acme');
    idT = await service.template('acme');
  });
  afterAll(async () => {
    await Promise.all(consumers.map((consumer) => consumer.stop({ timeoutMs: 0, graceMs: 0 })));
  });
  beforeEach(async () => {
    [here, there] = [printerId(), printerId()];
    await service.agent([
      { id: here, name: 'Here' },
      { id: there, name: 'There', formats: [FORMAT_203, FORMAT_300] },
    ]);
  });

  async function enqueue(tenant = 'acme', asked: object = {}): Promise<string> {
    const body = { idT, printerId: here, numberCopies: 10, data: [{ sku: 'a' }], ...asked };
    const id = jobIdOf(await service.admin('POST', `/tenants/${tenant}/jobs`, body));
    await expect.poll(() => service.queues.look(here, id), { timeout: 10_000 }).not.toBeNull();
    return id;
  }

  const move = (id: string, body: object = { printerId: there }): Promise<Answer> =>
    service.admin('POST', `/jobs/${id}/move`, body);
  const show = async (id: string): Promise<unknown> => (await service.admin('GET', `/jobs/${id}`)).body;

  /** All that a lane's agent is given. */
  async function serveAll(lane: Lane, delivered: QueuedJob[]): Promise<void> {
    consumers.push(
      await serve(service.queues, lane, async ({ job }) => {
        delivered.push(job);
        return 'done';
      }),
    );
  }

  const report = (jobId: string, changes: object) =>
    service.report(jobReport(jobId, { printerId: here, at: new Date().toISOString(), seq: 1, ...changes }));

  test('a job that waits leaves one lane for the other', async () => {
    const id = await enqueue();
    const answer = await move(id, { printer: 'There', format: FORMAT_300.name, why: 'out of ribbon' });
    expect([answer.status, answer.body]).toMatchObject([200, { status: 'queued', printer: { id: there } }]);
    expect(await service.queues.look(here, id)).toBeNull();
    const [first, second]: QueuedJob[][] = [[], []];
    await serveAll(here, first ?? []);
    await serveAll(there, second ?? []);
    await expect
      .poll(() => second, { timeout: 10_000 })
      .toMatchObject([{ jobId: id, printerId: there, format: FORMAT_300, resume: { round: 1, from: 0 } }]);
    expect(first).toEqual([]);
    expect(await show(id)).toMatchObject({
      format: FORMAT_300.name,
      events: [
        { kind: 'accepted', printer: { id: here } },
        { kind: 'moved', who: 'admin', why: 'out of ribbon', printer: { id: there } },
      ],
    });
  });

  test('what its agent takes at this moment is not moved, and what it handed back goes on where it was', async () => {
    const id = await enqueue();
    const [taken, enough] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const consumer = await serve(service.queues, here, async ({ setNote }) => {
      await setNote({ agentId: 'agent-one', resumeAt: null });
      taken.resolve();
      await enough.promise;
      return 'hand-back';
    });
    consumers.push(consumer);
    await taken.promise;
    expect(codeOf(await move(id))).toBe('job-not-movable');
    await report(id, { labels: { sent: 4, printed: 3 } });
    await report(id, { seq: 2, status: 'queued', labels: { sent: 4, printed: 4 } });
    enough.resolve();
    await expect.poll(async () => (await move(id)).status, { timeout: 10_000 }).toBe(200);
    expect(await show(id)).toMatchObject({ status: 'queued', labels: { sent: 4, printed: 4 } });
    const delivered: QueuedJob[] = [];
    await serveAll(there, delivered);
    await expect
      .poll(() => delivered, { timeout: 10_000 })
      .toMatchObject([{ resume: { round: 1, from: 4 } }]);
    // The first printer's agent says something late: of a round that is over.
    expect(
      await report(id, { delivery: 2, seq: 9, status: 'printed', labels: { sent: 10, printed: 10 } }),
    ).toBe('done');
    expect(await show(id)).toMatchObject({ status: 'queued', labels: { printed: 4 } });
  });

  /** Its agent prints it until the test says that it has stopped, and how. */
  async function printing(enqueued = enqueue()) {
    const id = await enqueued;
    const [taken, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const consumer = await serve(service.queues, here, async ({ setNote }) => {
      await setNote({ agentId: 'agent-one', resumeAt: null });
      taken.resolve();
      await over.promise;
      return 'done';
    });
    await taken.promise;
    await report(id, { labels: { sent: 4, printed: 3 } });
    const stops = async (as: object) => {
      await report(id, { seq: 2, ...as });
      over.resolve();
      await consumer.stop({ timeoutMs: 5_000 });
    };
    return { id, stops };
  }

  const rests = async (id: string) => jobDetails.parse(await show(id)).rests.map((one) => one.id);

  test('what prints is stopped first; what is certain not to be out goes on, once, as a job of its own', async () => {
    const { id, stops } = await printing();
    const answer = await move(id, { printerId: there, why: 'ribbon' });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'printing', printer: { id: here }, reasons: ['cancel-requested'] },
    ]);
    expect(await show(id)).toMatchObject({ moving: { printer: 'There', refused: null }, rests: [] });
    const delivered: QueuedJob[] = [];
    await serveAll(there, delivered);
    const uncertain = { from: 4, to: 6 };
    await stops({ status: 'canceled', labels: { sent: 6, printed: 4 }, uncertain });
    await expect
      .poll(() => delivered, { timeout: 10_000 })
      .toMatchObject([{ printerId: there, copies: 10, resume: { round: 1, from: 6 } }]);
    const rest = delivered.map(({ jobId }) => jobId);
    expect(await show(rest[0] ?? '')).toMatchObject({
      ...{ labels: { total: 10, sent: 6, printed: 6 }, printer: { id: there } },
      ...{ restOf: { id, printer: 'Here' }, reprintOf: null },
      events: [{ kind: 'accepted' }, { kind: 'queued', who: 'admin', why: 'ribbon' }],
    });
    expect(await show(id)).toMatchObject({ status: 'canceled', moving: null, uncertain });
    expect(await show(id)).toMatchObject({ rests: [{ id: rest[0], printer: 'There' }], reprints: [] });
    // A later sweep, which another job waits for, finds nothing more to do.
    const other = await printing();
    await move(other.id);
    await other.stops({ status: 'canceled', labels: { sent: 4, printed: 4 } });
    await expect.poll(() => rests(other.id), { timeout: 10_000 }).toHaveLength(1);
    expect(await rests(id)).toEqual(rest);
  });

  test('however many labels are left, they go on, and are counted once', async () => {
    const tenant = `tight-${randomBytes(4).toString('hex')}`;
    await service.tenant(tenant, 24_000);
    const data = [{ sku: 'a' }, { sku: 'b' }];
    const asked = { idT: await service.template(tenant), numberCopies: 12_000, data };
    const { id, stops } = await printing(enqueue(tenant, asked));
    await move(id);
    await stops({ status: 'canceled', labels: { sent: 13_500, printed: 13_500 } });
    const delivered: QueuedJob[] = [];
    await serveAll(there, delivered);
    await expect
      .poll(() => delivered, { timeout: 10_000 })
      .toMatchObject([{ copies: 12_000, records: data, resume: { round: 1, from: 13_500 } }]);
    const used = usage.parse((await service.admin('GET', `/tenants/${tenant}/usage?days=1`)).body);
    expect(used.printers.map(({ id: printer, labels }) => [printer, labels])).toEqual([
      [here, 13_500],
      [there, 10_500],
    ]);
  });

  test('what the other printer could not print is not stopped', async () => {
    await service.agent([
      { id: here, name: 'Here', formats: [FORMAT_300] },
      { id: there, name: 'There', formats: [FORMAT_203] },
    ]);
    const code = 'a-code-of-some-length';
    const bars = { type: 'barcode', x: 4, y: 4, symbology: 'code128', value: '{{code}}' };
    const dense = {
      ...{ name: 'Dense', width: 101.6, height: 152.4, fields: [{ name: 'code', sample: code }] },
      elements: [{ ...bars, module: 0.1, width: 32, height: 10 }],
    };
    const asked = { idT: await service.template('acme', dense), data: [{ code }] };
    const { id } = await printing(enqueue('acme', asked));
    const answer = await move(id);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'data-unprintable']);
    expect(await show(id)).toMatchObject({ status: 'printing', moving: null, reasons: [] });
  });

  test('what came out before it could be stopped goes nowhere, nor what somebody cancels, nor what fails', async () => {
    const late = await printing();
    await move(late.id);
    await late.stops({ status: 'printed', labels: { sent: 10, printed: 10 } });
    const second = await printing();
    await move(second.id);
    await service.admin('POST', `/jobs/${second.id}/cancel`);
    expect(await show(second.id)).toMatchObject({ moving: null, status: 'printing' });
    expect(codeOf(await move(second.id))).toBe('job-not-movable');
    await second.stops({ status: 'canceled', labels: { sent: 4, printed: 4 } });
    const third = await printing();
    await move(third.id);
    const error = { code: 'outcome-unknown', message: 'power failed' };
    await third.stops({ status: 'failed', error, labels: { sent: 3, printed: 3 } });
    const held = await printing();
    await move(held.id);
    await held.stops({ status: 'held', error, uncertain: { from: 3, to: 4 } });
    await expect.poll(() => rests(held.id), { timeout: 10_000 }).toHaveLength(1);
    expect(await show(held.id)).toMatchObject({ status: 'canceled', uncertain: { from: 3, to: 4 } });
    const last = await printing();
    await move(last.id);
    await last.stops({ status: 'canceled', labels: { sent: 4, printed: 4 } });
    await expect.poll(() => rests(last.id), { timeout: 10_000 }).toHaveLength(1);
    for (const { id } of [late, second, third]) {
      expect(await show(id)).toMatchObject({ moving: null, rests: [] });
    }
  });

  test('one that fails while it is asked again to stop stays failed, and nothing of it goes', async () => {
    const { id } = await printing();
    await move(id);
    await setWhileAwaited(service.pool, id, 'failed');
    await expect.poll(() => show(id), { timeout: 10_000 }).toMatchObject({ moving: null });
    expect(await show(id)).toMatchObject({ status: 'failed', rests: [] });
  });

  test('where the other printer does not take it, the job says so, and can be printed again', async () => {
    const { id, stops } = await printing();
    await move(id);
    await service.agent([{ id: here, name: 'Here' }]);
    await stops({ status: 'canceled', labels: { sent: 4, printed: 4 } });
    await expect
      .poll(() => show(id), { timeout: 10_000 })
      .toMatchObject({ moving: { printer: 'There', refused: expect.any(String) }, actions: ['reprint'] });
  });

  test('an agent that takes it in the same moment prints it, or does not: never both', async () => {
    const ids = [];
    for (let count = 0; count < 12; count++) ids.push(await enqueue());
    const [first, second]: [QueuedJob[], QueuedJob[]] = [[], []];
    await serveAll(there, second);
    const [, answers] = await Promise.all([
      serveAll(here, first),
      Promise.all(ids.toReversed().map((id) => move(id))),
    ]);
    const moved = answers.filter(({ status }) => status === 200).length;
    // A lane may give its agent a job again, which the agent's journal knows: what counts is that no two lanes have it.
    const given = (lane: QueuedJob[]) => new Set(lane.map(({ jobId }) => jobId));
    await expect.poll(() => given([...first, ...second]).size, { timeout: 20_000 }).toBe(ids.length);
    await expect.poll(() => given(second).size, { timeout: 20_000 }).toBe(moved);
    expect([...given(first)].filter((id) => given(second).has(id))).toEqual([]);
  });

  test('two people at once: it goes to one printer, or is canceled, and is in one lane at most', async () => {
    const third = printerId();
    await service.agent([{ id: here }, { id: there }, { id: third }]);
    for (let turn = 0; turn < 5; turn++) {
      const id = await enqueue();
      const answers = await Promise.all([
        move(id),
        move(id, { printerId: third }),
        service.admin('POST', `/jobs/${id}/cancel`),
      ]);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      const job = await show(id);
      const lanes = [];
      for (const lane of [here, there, third]) {
        for (const name of [id, `${id}.1`, `${id}.2`])
          if (await service.queues.look(lane, name)) lanes.push(lane);
      }
      const { status } = job as { status: string };
      if (status === 'canceled') expect(lanes).toEqual([]);
      else expect(new Set(lanes).size).toBeLessThanOrEqual(1);
    }
  }, 60_000);

  test('a failed job goes on there, a held one from the label that is named', async () => {
    const error = { code: 'outcome-unknown', message: 'power failed' };
    for (const [status, from] of [
      ['failed', undefined],
      ['held', 5],
    ] as const) {
      const id = await enqueue();
      const uncertain = status === 'held' ? { uncertain: { from: 3, to: 5 } } : {};
      await report(id, { status, error, labels: { sent: 3, printed: 3 }, ...uncertain });
      if (from !== undefined) expect(codeOf(await move(id))).toBe('labels-uncertain');
      const answer = await move(id, { printerId: there, ...(from === undefined ? {} : { from }) });
      expect(answer.body).toMatchObject({ status: 'queued', labels: { printed: from ?? 3 } });
      await expect.poll(() => service.queues.look(there, `${id}.1`), { timeout: 10_000 }).not.toBeNull();
    }
  });

  test('what cannot be moved stays', async () => {
    const id = await enqueue();
    expect(codeOf(await move(id, { printerId: here }))).toBe('job-not-movable');
    expect(codeOf(await move(id, { printerId: 'serial-nobody00' }))).toBe('printer-unknown');
    expect(codeOf(await move(id, { printerId: there, format: 'A0' }))).toBe('format-unknown');
    expect(codeOf(await move(id, { printerId: there, from: 3 }))).toBe('payload-invalid');
    expect(codeOf(await move('0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f'))).toBe('job-not-found');
    expect(await service.queues.look(here, id)).not.toBeNull();
    await service.admin('POST', `/jobs/${id}/cancel`);
    expect(codeOf(await move(id))).toBe('job-not-movable');
  });

  test('many at once: first what it would do, then that', async () => {
    const [waits, failed, held] = [await enqueue(), await enqueue(), await enqueue()];
    const error = { code: 'outcome-unknown', message: 'power failed' };
    await report(failed, { status: 'failed', error, labels: { sent: 3, printed: 3 } });
    await report(held, { status: 'held', error, uncertain: { from: 0, to: 3 } });
    const bulk = async (body: object) =>
      jobBulkResult
        .parse((await service.admin('POST', '/jobs/bulk', body)).body)
        .jobs.map(({ id, outcome, labels }) => [id, outcome, labels]);
    const ids = [waits, failed, held];
    const retried = [
      [waits, 'refused', 10],
      [failed, 'done', 7],
      [held, 'refused', 10],
    ];
    expect(await bulk({ action: 'retry', ids, dryRun: true })).toEqual(retried);
    expect(await show(failed)).toMatchObject({ status: 'failed' });
    expect(await bulk({ action: 'retry', ids })).toEqual(retried);
    const filter = { printer: here, status: ['queued', 'held'] };
    const canceled = [
      [held, 'done', 10],
      [failed, 'done', 7],
      [waits, 'done', 10],
    ];
    expect(await bulk({ action: 'cancel', filter, dryRun: true })).toEqual(canceled);
    expect(await show(waits)).toMatchObject({ status: 'queued' });
    expect(await bulk({ action: 'cancel', filter, why: 'enough' })).toEqual(canceled);
    for (const id of ids) expect(await show(id)).toMatchObject({ status: 'canceled' });
    expect(codeOf(await service.admin('POST', '/jobs/bulk', { action: 'cancel' }))).toBe('payload-invalid');
    const noYear = { action: 'cancel', filter: { since: '0000-01-01T00:00:00Z' } };
    expect(codeOf(await service.admin('POST', '/jobs/bulk', noYear))).toBe('payload-invalid');
  });
});

describe('between the two steps', () => {
  // No sweep does the second one.
  const service = useService({ redis: false, config: { sweepInterval: 600_000 } });
  const acme = useTenant(service);

  test('a person who cancels what has stopped wants its rest nowhere', async () => {
    const id = await acme.newJob();
    const to = { printerId: 'other', printer: 'Other', format: 'f', who: 'admin' };
    const stopped = `UPDATE platen.jobs SET status = 'canceled', move_to = $2 WHERE id = $1`;
    await service.pool.query(stopped, [id, to]);
    const answer = await service.admin('POST', `/jobs/${id}/cancel`);
    expect([answer.status, answer.body]).toMatchObject([200, { status: 'canceled' }]);
    expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({ moving: null });
    expect(codeOf(await service.admin('POST', `/jobs/${id}/cancel`))).toBe('job-not-queued');
  });
});
