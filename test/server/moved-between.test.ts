/** Jobs that are moved while something else happens: their agent takes them, or a day passes. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { usage } from '../../src/contract/admin.ts';
import type { Lane } from '../../src/contract/lane.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { countUsage } from '../../src/server/tenants/usage.ts';
import { printerId } from '../kit/queue/samples.ts';
import { dispatched } from '../kit/service/dispatched.ts';
import { type Answer, codeOf, jobIdOf } from '../kit/service/harness.ts';
import { setWhileAwaited } from '../kit/service/job-locked.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService({ config: { sweepInterval: 100 } });
let idT = '';
let here: Lane;
let there: Lane;

beforeAll(async () => {
  await service.tenant('acme');
  idT = await service.template('acme');
});
beforeEach(async () => {
  [here, there] = [printerId(), printerId()];
  await service.agent([
    { id: here, name: 'Here' },
    { id: there, name: 'There' },
  ]);
});

const enqueue = async (): Promise<string> => {
  const body = { idT, printerId: here, numberCopies: 10, data: [{ sku: 'a' }] };
  return jobIdOf(await service.admin('POST', '/tenants/acme/jobs', body));
};
const move = (id: string): Promise<Answer> => service.admin('POST', `/jobs/${id}/move`, { printerId: there });
const show = async (id: string): Promise<unknown> => (await service.admin('GET', `/jobs/${id}`)).body;
const report = (jobId: string, changes: object) =>
  service.report(jobReport(jobId, { printerId: here, at: new Date().toISOString(), seq: 1, ...changes }));

test('a job that is taken after its values were to be checked is not stopped', async () => {
  const id = await enqueue();
  // Whoever notes this would wait for the lock too, and be taken for the move.
  await dispatched(service, [id]);
  let answer: Promise<Answer> | undefined;
  await setWhileAwaited(service.pool, id, 'printing', {
    begun: () => {
      answer = move(id);
    },
    wait: 'FOR UPDATE',
  });
  expect(answer && codeOf(await answer)).toBe('job-not-movable');
  expect(await show(id)).toMatchObject({ status: 'printing', moving: null, reasons: [] });
});

test('labels of a day that has been counted for good are not counted once more with the rest', async () => {
  const id = await enqueue();
  await service.pool.query(`UPDATE platen.jobs SET created_at = now() - interval '2 days' WHERE id = $1`, [
    id,
  ]);
  await countUsage(service.pool);
  const used = async () => {
    const { days } = usage.parse((await service.admin('GET', '/tenants/acme/usage?days=7')).body);
    return days.reduce((sum, { labels }) => sum + labels, 0);
  };
  const before = await used();
  await report(id, { labels: { sent: 4, printed: 4 } });
  expect((await move(id)).status).toBe(200);
  await report(id, { seq: 2, status: 'canceled', labels: { sent: 4, printed: 4 } });
  await expect.poll(() => show(id), { timeout: 10_000 }).toMatchObject({ status: 'canceled', moving: null });
  const { rowCount } = await service.pool.query('SELECT FROM platen.jobs WHERE reprint_of = $1', [id]);
  expect(rowCount).toBe(1);
  expect(await used()).toBe(before);
});

test('labels that came out before the move are of the first printer, and not of the other one too', async () => {
  const id = await enqueue();
  await report(id, { labels: { sent: 4, printed: 4 } });
  expect((await move(id)).status).toBe(200);
  await report(id, { seq: 2, status: 'canceled', labels: { sent: 4, printed: 4 } });
  const moved = () => service.pool.query('SELECT id::text FROM platen.jobs WHERE reprint_of = $1', [id]);
  await expect.poll(async () => (await moved()).rowCount, { timeout: 10_000 }).toBe(1);
  const rest = z.object({ id: z.string() }).parse((await moved()).rows[0]).id;
  await report(rest, { printerId: there, round: 1, status: 'printed', labels: { sent: 10, printed: 10 } });
  const today = async (printer: Lane) =>
    printerDetails.parse((await service.admin('GET', `/printers/${printer}`)).body).labelsToday;
  expect([await today(here), await today(there)]).toEqual([4, 6]);
});
