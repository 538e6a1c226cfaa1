/** The way of an accepted job into the queue, whatever fails on it: nothing acknowledged is lost, nothing is doubled. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { report } from '../../src/contract/report.ts';
import { useBreakableQueue } from '../kit/queue/breakable-queue.ts';
import { serve } from '../kit/queue/serving.ts';
import { backends } from '../kit/servers/backends.ts';
import { dispatched } from '../kit/service/dispatched.ts';
import { codeOf, jobIdOf, newKey, ServiceHarness } from '../kit/service/harness.ts';
import { jobReport } from '../kit/service/job-report.ts';

const TENANT = 'acme';

describe.each(backends().filter((backend) => !backend.embedded))('$name', (backend) => {
  const { kind } = backend;
  const { queue, service } = useBreakableQueue(backend);
  let token = '';
  let idT = '';
  let printerCount = 0;

  beforeAll(async () => {
    await service.tenant(TENANT);
    token = await service.token(await service.integration(TENANT));
    idT = await service.template(TENANT);
  });

  /** A printer that no other test uses. */
  async function newPrinter(): Promise<Lane> {
    printerCount += 1;
    const id = laneOf({ scope: null, printerId: `serial-${String(printerCount).padStart(12, '0')}` });
    await service.agent([{ id, name: id }], { agentId: `agent-${id}` });
    return id;
  }

  async function enqueue(printerId: string, body: Record<string, unknown> = {}): Promise<string> {
    const answer = await service.call('/v2/jobs', {
      token,
      tenant: TENANT,
      key: newKey(),
      body: { idT, printerId, data: [{ sku: 'a' }], ...body },
    });
    expect(answer.status).toBe(201);
    return jobIdOf(answer);
  }

  async function statusOf(id: string): Promise<unknown> {
    return (await service.admin('GET', `/jobs/${id}`)).body;
  }

  /** The IDs that the printer's queue gives out, once it has given out so many. */
  async function drain(printerId: Lane, count: number): Promise<string[]> {
    const received: string[] = [];
    const all = Promise.withResolvers<void>();
    const consumer = await serve(service.queues, printerId, async ({ job }) => {
      received.push(job.jobId);
      if (received.length === count) all.resolve();
      return 'done';
    });
    await all.promise;
    await consumer.stop();
    return received;
  }

  const inQueue = (printerId: Lane, id: string) =>
    expect.poll(() => service.queues.look(printerId, id), { timeout: 10_000 }).not.toBeNull();

  test('a job is in the queue soon after its acknowledgement', async () => {
    const printerId = await newPrinter();
    await inQueue(printerId, await enqueue(printerId));
  });

  test.runIf(kind === 'postgres')(
    'a job is in its lane with its acceptance, in order, or neither',
    async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      // One after the other: of two that are asked for at once nobody can say which is first.
      const accepted: string[] = [];
      while (accepted.length < 8) accepted.push(await enqueue(printerId));
      for (const id of accepted) {
        expect(await service.queues.look(printerId, id)).toEqual({
          state: 'waiting',
          deliveries: 0,
          begun: false,
          endedMs: null,
        });
      }
      queue.broken = false;
      // With a lane that takes nothing there is no job either.
      const refuse = `ALTER TABLE lanes.job ADD CONSTRAINT closed CHECK (lane <> '${printerId}') NOT VALID`;
      await service.pool.query(refuse);
      const key = newKey();
      const body = { idT, printerId, data: [{ sku: 'a' }] };
      const refused = await service.call('/v2/jobs', { token, tenant: TENANT, key, body });
      expect(refused.status).toBe(500);
      await service.pool.query('ALTER TABLE lanes.job DROP CONSTRAINT closed');
      const { rows } = await service.pool.query<{ id: string }>(
        'SELECT id FROM platen.jobs WHERE printer_id = $1 ORDER BY seq',
        [printerId],
      );
      expect(rows.map(({ id }) => id)).toEqual(accepted);
      // The same request again is the first one.
      const last = jobIdOf(await service.call('/v2/jobs', { token, tenant: TENANT, key, body }));
      expect(await drain(printerId, 9)).toEqual([...accepted, last]);
    },
  );

  test.runIf(kind === 'redis')(
    'jobs are accepted while the queue is away, and come to it in order when it is back',
    async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      const early: string[] = [];
      for (let i = 0; i < 5; i += 1) early.push(await enqueue(printerId));
      expect(await service.queues.look(printerId, early[0] ?? '')).toBeNull();
      queue.broken = false;
      // Accepted with the queue back, before or after a sweep: it must not overtake.
      const late = await enqueue(printerId);
      expect(await drain(printerId, 6)).toEqual([...early, late]);
    },
  );

  test.runIf(kind === 'redis')(
    'a job whose process died before adding it is added by another, from the database alone',
    async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      const id = await enqueue(printerId, { numberCopies: 3 });
      const other = await ServiceHarness.start({ backend: service.backend, config: { sweepInterval: 100 } });
      const delivered = Promise.withResolvers<QueuedJob>();
      const consumer = await serve(other.queues, printerId, async ({ job }) => {
        delivered.resolve(job);
        return 'done';
      });
      expect(await delivered.promise).toMatchObject({ jobId: id, copies: 3, records: [{ sku: 'a' }] });
      await consumer.stop();
      await other.stop();
      queue.broken = false;
    },
  );

  test('a job that the queue has forgotten is added again; one that may have been begun is held', async () => {
    const printerId = await newPrinter();
    const [lost, printing, handedBack, ancient] = [
      await enqueue(printerId),
      await enqueue(printerId),
      await enqueue(printerId),
      await enqueue(printerId),
    ];
    await dispatched(service, [lost, printing, handedBack, ancient]);
    const report = {
      kind: 'job' as const,
      agentId: `agent-${printerId}`,
      printerId,
      at: new Date().toISOString(),
      delivery: 1,
      seq: 1,
      reasons: [],
      labels: { sent: 0, printed: 0 },
    };
    await service.report({ ...report, jobId: printing, status: 'printing' });
    await service.report({ ...report, jobId: handedBack, status: 'queued' });
    // As if Redis had lost its data a while ago. One was added so long ago that it may be done and forgotten.
    for (const id of [lost, printing, handedBack, ancient])
      expect(await service.queues.remove(printerId, id)).toBe(true);
    await service.pool.query(
      `UPDATE platen.jobs SET dispatched_at = dispatched_at - CASE id WHEN $2 THEN interval '3 days' ELSE interval '1 minute' END
       WHERE printer_id = $1`,
      [printerId, ancient],
    );
    await inQueue(printerId, lost);
    expect(service.log).toContain('the queue has forgotten jobs');
    for (const id of [printing, handedBack, ancient]) {
      await expect
        .poll(() => statusOf(id))
        .toMatchObject({
          status: 'held',
          error: { code: 'outcome-unknown' },
          uncertain: { from: 0, to: 1 },
        });
      expect(await service.queues.look(printerId, id)).toBeNull();
    }
    expect(await statusOf(lost)).toMatchObject({ status: 'queued' });
    // The agent had it all the time, and could not say so.
    await service.report({
      ...report,
      jobId: printing,
      status: 'printed',
      seq: 2,
      labels: { sent: 1, printed: 1 },
    });
    expect(await statusOf(printing)).toMatchObject({ status: 'printed', error: null, uncertain: null });
  });

  test.runIf(kind === 'redis')(
    'a job that cannot be read keeps none behind it from its printer',
    async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      // So many records are not kept in memory: they are read back.
      const unread = await enqueue(printerId, { data: Array(101).fill({ sku: 'a' }) });
      const next = await enqueue(printerId);
      await service.pool.query(`UPDATE platen.jobs SET payload = '{"v": 9}' WHERE id = $1`, [unread]);
      queue.broken = false;
      await inQueue(printerId, next);
      await dispatched(service, [next]);
      expect(await statusOf(unread)).toMatchObject({ error: { code: 'payload-unreadable' } });
      expect(await service.queues.look(printerId, unread)).toBeNull();
    },
  );

  test.runIf(kind === 'redis')(
    'a job that another instance added, and that goes on after it was held, is not added as it once was',
    async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      const id = await enqueue(printerId, { numberCopies: 9 });
      const other = await ServiceHarness.start({ backend: service.backend, config: { sweepInterval: 100 } });
      expect(await drain(printerId, 1)).toEqual([id]);
      await other.stop();
      await service.report(
        jobReport(id, {
          agentId: `agent-${printerId}`,
          printerId,
          seq: 1,
          status: 'held',
          labels: { sent: 4, printed: 4 },
          uncertain: { from: 4, to: 6 },
        }),
      );
      await service.admin('POST', `/jobs/${id}/resume`, { from: 5 });
      queue.added.length = 0;
      queue.broken = false;
      await expect.poll(() => queue.added.flat(), { timeout: 10_000 }).toContain(id);
      expect(await service.queues.look(printerId, `${id}.1`)).not.toBeNull();
    },
  );

  test('a large backlog is added in batches, in order', async () => {
    const printerId = await newPrinter();
    queue.broken = true;
    const first = await enqueue(printerId, { data: [{ sku: 'x', unprinted: 'x'.repeat(20_000) }] });
    // 450 more like it, as a long outage leaves them.
    await service.pool.query(
      `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name, format,
         orientation, copies, records, template_hash, payload)
       SELECT new.id, tenant_id, account, template_id, template_name, printer_id, printer_name, format, orientation,
         copies, records, template_hash, jsonb_set(payload::jsonb, '{jobId}', to_jsonb(new.id::text))::json
       FROM platen.jobs, (SELECT gen_random_uuid() AS id FROM generate_series(1, 450)) AS new WHERE jobs.id = $1`,
      [first],
    );
    const { rows } = await service.pool.query<{ id: string }>(
      'SELECT id FROM platen.jobs WHERE printer_id = $1 ORDER BY seq',
      [printerId],
    );
    queue.added.length = 0;
    queue.broken = false;
    expect(await drain(printerId, 451)).toEqual(rows.map((row) => row.id));
    // A batch that was begun before the others came has the first job alone.
    if (kind === 'redis') expect(Math.max(...queue.added.map((batch) => batch.length))).toBe(200);
  });

  describe('cancel', () => {
    test('takes a queued job out of the queue', async () => {
      const printerId = await newPrinter();
      const id = await enqueue(printerId);
      await inQueue(printerId, id);
      const answer = await service.admin('POST', `/jobs/${id}/cancel`);
      expect([answer.status, answer.body]).toMatchObject([200, { id, status: 'canceled' }]);
      expect(await service.queues.look(printerId, id)).toBeNull();
      expect(codeOf(await service.admin('POST', `/jobs/${id}/cancel`))).toBe('job-not-queued');
    });

    test('a job that was handed back with labels under way says which may be out', async () => {
      const printerId = await newPrinter();
      const id = await enqueue(printerId, { numberCopies: 9 });
      await inQueue(printerId, id);
      await service.report(
        jobReport(id, {
          agentId: `agent-${printerId}`,
          printerId,
          seq: 4,
          status: 'queued',
          // A label is sent when all of it is; of a document, when the printer has said so.
          labels: { sent: 4, printed: 4 },
          uncertain: { from: 4, to: 6 },
        }),
      );
      const answer = await service.admin('POST', `/jobs/${id}/cancel`);
      expect(answer.body).toMatchObject({ status: 'canceled', uncertain: { from: 4, to: 6 } });
    });

    test.runIf(kind === 'redis')('a job that was never added is canceled, and never added', async () => {
      const printerId = await newPrinter();
      queue.broken = true;
      const id = await enqueue(printerId);
      queue.broken = false;
      await service.admin('POST', `/jobs/${id}/cancel`);
      const next = await enqueue(printerId);
      const canceled = await statusOf(id);
      const received = await drain(printerId, 1);
      // The sweep may have added it before it was canceled; canceled or not, it is never both.
      expect(canceled).toMatchObject({ status: 'canceled' });
      expect(received).toEqual([next]);
    });

    test('what is asked for while the queue is away is done when it is back', async () => {
      const printerId = await newPrinter();
      const added = await enqueue(printerId);
      await inQueue(printerId, added);
      queue.broken = true;
      const never = await enqueue(printerId);
      for (const id of [added, never]) {
        const { status, body } = await service.admin('POST', `/jobs/${id}/cancel`);
        expect([status, body]).toMatchObject([200, { status: 'queued', reasons: ['cancel-requested'] }]);
      }
      queue.broken = false;
      for (const id of [added, never]) {
        await expect.poll(() => statusOf(id), { timeout: 10_000 }).toMatchObject({ status: 'canceled' });
        expect(await service.queues.look(printerId, id)).toBeNull();
      }
    });

    test.runIf(kind === 'redis')(
      'a job that is being added this very moment is canceled after that, and taken out',
      async () => {
        const printerId = await newPrinter();
        const open = Promise.withResolvers<void>();
        const adding = Promise.withResolvers<void>();
        queue.gate = open.promise;
        queue.onAdd = adding.resolve;
        const id = await enqueue(printerId);
        await adding.promise;
        const canceled = service.admin('POST', `/jobs/${id}/cancel`);
        const waits = expect
          .poll(async () => {
            const { rows } = await service.pool.query(
              `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            );
            return rows.length;
          })
          .toBe(1);
        // It waits for the one who adds; were it done already, what is added now would stay.
        await Promise.race([waits, canceled]);
        queue.gate = undefined;
        open.resolve();
        expect((await canceled).body).toMatchObject({ id, status: 'canceled' });
        await waits;
        expect(await service.queues.look(printerId, id)).toBeNull();
      },
    );

    test('a job that an agent has taken is asked for, and not called canceled', async () => {
      const printerId = await newPrinter();
      const taken = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const consumer = await serve(service.queues, printerId, async () => {
        taken.resolve();
        await release.promise;
        return 'done';
      });
      const id = await enqueue(printerId);
      await taken.promise;
      const answer = await service.admin('POST', `/jobs/${id}/cancel`);
      expect([answer.status, answer.body]).toMatchObject([200, { status: 'queued' }]);
      expect(await statusOf(id)).toMatchObject({ status: 'queued', reasons: ['cancel-requested'] });
      release.resolve();
      await consumer.stop();
    });

    test('a job that is not there', async () => {
      for (const id of ['0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f', 'nonsense']) {
        expect(codeOf(await service.admin('POST', `/jobs/${id}/cancel`))).toBe('job-not-found');
      }
    });
  });

  test('reports come through the queue', async () => {
    const printerId = await newPrinter();
    const id = await enqueue(printerId);
    const told = {
      agentId: `agent-${printerId}`,
      printerId,
      status: 'printed',
      labels: { sent: 1, printed: 1 },
    };
    await service.queues.publish(report.parse(jobReport(id, told)), null);
    await vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ status: 'printed' }), {
      timeout: 10_000,
    });
  });
});
