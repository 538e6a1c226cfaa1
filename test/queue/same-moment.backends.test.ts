/** Jobs that are accepted at the same moment: the one that is begun first is not overtaken by what was committed later. */
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openQueues } from '../../src/queue/index.ts';
import { job, keepingLogger, printerId } from '../kit/queue/samples.ts';
import { backends, tried } from '../kit/servers/backends.ts';

const LENGTH = { contended: 60_000, alone: 60_000 };
const taken = z.array(z.object({ id: z.string(), delivery: z.int() }));

describe.each(tried(backends().filter(({ kind }) => kind === 'postgres')))('on $name', ({ open }) => {
  test.each([
    { what: 'two statements of a tenant, which accept at most 32 jobs each', count: 64 },
    { what: 'all that waits at a printer, moved in one go', count: 1_000 },
  ])('whoever takes over goes on with it: $what', async ({ count }) => {
    const backend = await open();
    onTestFinished(() => backend.close());
    const queues = await openQueues({ ...backend, logger: keepingLogger() });
    onTestFinished(() => queues.close({ timeoutMs: 0 }));
    const service = new Client(backend.database);
    const agent = new Client(backend.database);
    for (const client of [service, agent]) {
      await client.connect();
      onTestFinished(() => client.end());
    }
    const lane = printerId();
    const [slow, quick] = [job(lane), job(lane)];
    const others = Array.from({ length: count - 1 }, () => job(lane));
    const first = [slow, ...others];
    const take = async (term: string, beside: readonly string[] = [], number = 1) => {
      await queues.askLeases(term, [{ lane, term, fresh: true, reaches: true }], LENGTH);
      const asked = JSON.stringify([{ lane, term, beside, number }]);
      const { rows } = await agent.query(`SELECT * FROM lanes.turn('{}', '{}', NULL, NULL, $1, true)`, [
        asked,
      ]);
      return taken.parse(rows)[0];
    };

    await service.query('BEGIN');
    await service.query('SELECT lanes.add($1, $2, $3)', [
      first.map(({ jobId }) => jobId),
      first.map(() => lane),
      first.map((one) => JSON.stringify(one)),
    ]);
    await queues.enqueue(quick);
    expect(await take('first.1')).toEqual({ id: quick.jobId, delivery: 1 });
    await service.query('COMMIT');

    // The agent that has it dies.
    await agent.query(`UPDATE lanes.lease SET until = '-infinity' WHERE lane = $1`, [lane]);
    expect(await take('second.1')).toEqual({ id: quick.jobId, delivery: 2 });

    // Beside it comes only what it would come before once more.
    const later = job(lane);
    await queues.enqueue(later);
    expect(await take('second.1', [quick.jobId], 2)).toBeUndefined();
    await service.query('DELETE FROM lanes.job WHERE queue_id = ANY($1)', [first.map(({ jobId }) => jobId)]);
    expect(await take('second.1', [quick.jobId], 3)).toEqual({ id: later.jobId, delivery: 1 });
    // The answer was lost.
    expect(await take('second.1', [quick.jobId], 4)).toEqual({ id: later.jobId, delivery: 2 });
    expect(await take('second.1', [quick.jobId, later.jobId], 5)).toBeUndefined();
  });
});
