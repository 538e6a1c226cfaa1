/** The lanes of a service whose database has them: what is in a lane and what is in the job's row never disagree for long. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Sweep } from '../../src/server/jobs/dispatch/sweep.ts';
import { Collected } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { unfinished } from '../kit/queue/unfinished.ts';
import { backends, type OpenBackend } from '../kit/servers/backends.ts';
import { jobIdOf, newKey, PRINTER, ServiceHarness } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';

describe.each(backends().filter(({ kind }) => kind === 'postgres'))('on $name', ({ open }) => {
  let backend: OpenBackend;
  let service: ServiceHarness;
  let idT = '';

  beforeAll(async () => {
    backend = await open();
    service = await ServiceHarness.start({ backend, config: { sweepInterval: 600_000 } });
    await service.tenant('acme');
    idT = await service.template('acme');
    await service.agent([{ id: PRINTER, name: 'Dock' }], { agentId: 'agent-of-dock' });
  });
  afterAll(async () => {
    await service.stop();
    await backend.close();
  });

  async function enqueue(): Promise<string> {
    const token = await service.token(await service.integration('acme'));
    const body = { idT, printerId: PRINTER, data: [{ sku: 'a' }] };
    return jobIdOf(await service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
  }

  test('label data is stored once: the lane has none of it, and its agent gets all of it', async () => {
    const id = await enqueue();
    const { rows } = await service.pool.query('SELECT payload FROM lanes.job WHERE queue_id = $1', [id]);
    expect(rows).toEqual([{ payload: null }]);
    const got = new Collected<unknown>();
    const consumer = await serve(service.queues, PRINTER, async ({ job }) => {
      got.add([job.jobId, job.records]);
      return 'done';
    });
    expect(await got.reach(1)).toEqual([[id, [{ sku: 'a' }]]]);
    await expect.poll(() => unfinished(service.queues, PRINTER, [id]), { timeout: 10_000 }).toBe(0);
    await consumer.stop();
  });

  test('a job that has ended by its row is not printed again, though its lane has lost that it did', async () => {
    const [ended, next] = [await enqueue(), await enqueue()];
    const end = { status: 'printed', labels: { sent: 1, printed: 1 }, at: new Date().toISOString() };
    await service.report(jobReport(ended, { agentId: 'agent-of-dock', ...end }));
    const got = new Collected<string>();
    const consumer = await serve(service.queues, PRINTER, async ({ job }) => {
      got.add(job.jobId);
      return 'done';
    });
    expect(await got.reach(1)).toEqual([next]);
    expect(await service.queues.look(PRINTER, ended)).toMatchObject({ state: 'ended' });
    await consumer.stop();
  });

  test('a job that has ended in its lane, and of which no report says how, is held after ten minutes', async () => {
    const { pool, queues: queue, logger } = service;
    const endedFor = async (minutes: number) => {
      const id = await enqueue();
      const ended = 'UPDATE lanes.job SET ended_at = now() - make_interval(mins => $2) WHERE queue_id = $1';
      await pool.query(ended, [id, minutes]);
      await pool.query(`UPDATE platen.jobs SET dispatched_at = now() - interval '1 hour' WHERE id = $1`, [
        id,
      ]);
      return id;
    };
    const [recent, long] = [await endedFor(9), await endedFor(11)];
    const nothing = async () => undefined;
    const sweep = new Sweep({
      dispatcher: { inLanes: true, start: nothing, stop: nothing, dispatch: nothing },
      ...{ cancellations: { sweep: nothing }, moving: { sweep: nothing }, holds: { sweep: nothing } },
      added: { tell: nothing },
      expiries: { sweep: nothing },
      withdrawals: { sweep: nothing },
      ...{ housekeeping: nothing, interval: 600_000, pool, queue, logger },
    });
    sweep.start();
    onTestFinished(() => sweep.stop());
    await sweep.once();
    const show = async (id: string) => (await service.admin('GET', `/jobs/${id}`)).body;
    expect(await show(recent)).toMatchObject({ status: 'queued' });
    const error = { code: 'outcome-unknown', reason: { code: 'queue-lost-report' } };
    expect(await show(long)).toMatchObject({ status: 'held', error, uncertain: { from: 0, to: 1 } });
  });
});
