/** Jobs that are moved while something else happens. */
import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import { type Answer, codeOf, jobIdOf } from '../kit/service/harness.ts';
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
  const lane = () => laneOf({ scope: null, printerId: `serial-${randomBytes(8).toString('hex')}` });
  [here, there] = [lane(), lane()];
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

test('a job that is taken after its values were to be checked is not stopped', async () => {
  const id = await enqueue();
  const client = await service.pool.connect();
  let answer: Promise<Answer>;
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM platen.jobs WHERE id = $1 FOR UPDATE', [id]);
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    answer = move(id);
    const waiting = 'SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
    await expect
      .poll(async () => (await service.pool.query(waiting, [rows[0]?.pid])).rows, { timeout: 10_000 })
      .not.toEqual([]);
    await client.query(`UPDATE platen.jobs SET status = 'printing' WHERE id = $1`, [id]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  expect(codeOf(await answer)).toBe('job-not-movable');
  expect(await show(id)).toMatchObject({ status: 'printing', moving: null, reasons: [] });
});
