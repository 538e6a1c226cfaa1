/** What holds however many requests come at once, on several instances of one service. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends, type OpenBackend } from '../kit/servers/backends.ts';
import { type Answer, codeOf, jobIdOf, newKey, PRINTER, ServiceHarness } from '../kit/service/harness.ts';

const TENANT = 'acme';

describe.each(backends())('$name', ({ open }) => {
  let backend: OpenBackend;
  let services: ServiceHarness[] = [];
  let first: ServiceHarness;
  let token = '';
  let idT = '';

  beforeAll(async () => {
    backend = await open();
    const config = { publicUrl: 'http://platen.test' };
    // Side by side: they migrate one empty database together.
    services = await Promise.all([
      ServiceHarness.start({ backend, config }),
      ServiceHarness.start({ backend, config }),
    ]);
    const [one] = services;
    if (one === undefined) throw new Error('no service');
    first = one;
    await first.tenant(TENANT);
    token = await first.token(await first.integration(TENANT));
    idT = await first.template(TENANT);
    await first.agent([{}]);
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    await backend.close();
  });

  /** The request, sent to the instances in turn. */
  function enqueue(index: number, key: string, body: Record<string, unknown> = {}): Promise<Answer> {
    const service = services[index % services.length] ?? first;
    return service.call('/v2/jobs', {
      token,
      tenant: TENANT,
      key,
      body: { idT, printerId: PRINTER, data: [{ sku: 'a' }], ...body },
    });
  }

  async function jobsOf(where: string, values: unknown[]): Promise<string[]> {
    const { rows } = await first.pool.query<{ id: string }>(
      `SELECT id FROM platen.jobs WHERE ${where} ORDER BY seq`,
      values,
    );
    return rows.map((row) => row.id);
  }

  test('50 identical requests at once make one job, and all get its answer', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => enqueue(index, key)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(49).fill(200), 201]);
    const ids = [...new Set(answers.map(jobIdOf))];
    expect(ids).toHaveLength(1);
    expect(await jobsOf('id = ANY($1)', [ids])).toEqual(ids);
    const { rows } = await first.pool.query('SELECT job_id FROM platen.idempotency_keys WHERE key = $1', [
      key,
    ]);
    expect(rows).toEqual([{ job_id: ids[0] }]);
  });

  test('two payloads under one key at once: one wins, the other is refused', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => enqueue(index, key, { numberCopies: (index % 2) + 1 })),
    );
    const accepted = answers.filter((answer) => answer.status < 300);
    const refused = answers.filter((answer) => answer.status >= 300);
    expect(new Set(accepted.map(jobIdOf)).size).toBe(1);
    expect([accepted.length, refused.length]).toEqual([10, 10]);
    expect([...new Set(refused.map(codeOf))]).toEqual(['idempotency-key-reused']);
  });

  test('requests at once never take more than the quota, and what is refused takes nothing', async () => {
    await first.tenant('tight', 25);
    const account = await first.integration('tight');
    const own = { token: await first.token(account), tenant: 'tight', idT: await first.template('tight') };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (services[index % 2] ?? first).call('/v2/jobs', {
          token: own.token,
          tenant: own.tenant,
          key: newKey(),
          body: { idT: own.idT, printerId: PRINTER, numberCopies: 2 },
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(12);
    expect(answers.filter((answer) => codeOf(answer) === 'quota-exceeded')).toHaveLength(28);
    expect((await first.admin('GET', '/tenants/tight')).body).toMatchObject({
      quota: { labels: 25, used: 24 },
    });
  });

  test('a sequence of jobs sent through two instances reaches the printer in that order', async () => {
    const printerId = laneOf({ scope: null, printerId: 'serial-0dde0dde0dde' });
    await first.agent([{}, { id: printerId, name: 'Ordered' }]);
    const sent: string[] = [];
    for (let index = 0; index < 30; index += 1) {
      sent.push(jobIdOf(await enqueue(index, newKey(), { printerId })));
    }
    const received: string[] = [];
    const all = Promise.withResolvers<void>();
    const consumer = await serve(first.queues, printerId, async ({ job }) => {
      received.push(job.jobId);
      if (received.length === sent.length) all.resolve();
      return 'done';
    });
    await all.promise;
    await consumer.stop();
    expect(received).toEqual(sent);
  });
});
