/** An agent with a Redis user of its own can write anything into the lanes of its tenant; the jobs of others go on. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import { dispatched } from '../kit/service/dispatched.ts';
import { jobIdOf, newKey } from '../kit/service/harness.ts';
import { useService } from '../kit/service/use-service.ts';

const service = useService({ config: { sweepInterval: 100 } });
const printerId = 'serial-0a1b2c3d4e5f';
let redis: Redis;
beforeAll(() => {
  redis = new Redis(service.backend.redisUrl ?? '');
});
afterAll(() => redis.disconnect());

/** A tenant with a printer, and how its jobs are made. */
async function tenantWithPrinter() {
  const tenant = `t-${randomBytes(4).toString('hex')}`;
  await service.tenant(tenant);
  const token = await service.token(await service.integration(tenant));
  const idT = await service.template(tenant);
  await service.agent([{ id: printerId }], { agentId: `agent-${tenant}`, tenantId: tenant });
  const lane = laneOf({ scope: tenant, printerId });
  const newJob = async () => {
    const body = { idT, printerId, data: [{ sku: 'a' }] };
    const id = jobIdOf(await service.call('/v2/jobs', { token, tenant, key: newKey(), body }));
    await expect.poll(() => service.queues.look(lane, id), { timeout: 10_000 }).not.toBeNull();
    return id;
  };
  return { lane, newJob };
}

const keyOf = (lane: Lane, name: string) => `${service.backend.prefix}:{${lane}}:${name}`;

test('jobs that the queue has lost are added again, whatever an agent has made of those before them', async () => {
  const [rogue, other] = [await tenantWithPrinter(), await tenantWithPrinter()];
  const [bad, good] = [await rogue.newJob(), await other.newJob()];
  /** As if the queue had lost the good job a minute ago, and whatever the bad one is now. */
  const lose = async () => {
    await dispatched(service, [good]);
    for (const name of [good, 'wait', 'active']) await redis.del(keyOf(other.lane, name));
    await service.pool.query(
      `UPDATE platen.jobs SET dispatched_at = now() - interval '1 minute' WHERE id = ANY($1)`,
      [[bad, good]],
    );
    await expect.poll(() => service.queues.look(other.lane, good), { timeout: 10_000 }).not.toBeNull();
  };
  await dispatched(service, [bad]);
  await redis.set(keyOf(rogue.lane, bad), 'no job');
  await lose();
  // Numbers and notes of any kind and size.
  await redis.del(keyOf(rogue.lane, bad));
  for (const ats of ['1e400', '-1', 'nan', '0.5', '9'.repeat(40)]) {
    await redis.hset(keyOf(rogue.lane, bad), { data: '{}', ats, progress: `{${'x'.repeat(1_000_000)}` });
    await lose();
  }
});

test('jobs of others are added, together with those for a lane that takes none', async () => {
  const sites = await Promise.all(Array.from({ length: 6 }, tenantWithPrinter));
  const jobs = new Map<Lane, string>();
  for (const { lane, newJob } of sites) jobs.set(lane, await newJob());
  const [fifth] = sites.slice(4);
  if (fifth === undefined) throw new Error('a fifth');
  const rogue = fifth.lane;
  const others = [...jobs].flatMap(([lane, id]) => (lane === rogue ? [] : [id]));
  await dispatched(service, [...jobs.values()]);
  for (const round of [1, 2]) {
    await dispatched(service, others);
    for (const [lane, id] of jobs)
      for (const name of [id, 'wait', 'active']) await redis.del(keyOf(lane, name));
    await redis.set(keyOf(rogue, 'wait'), `no list ${round}`);
    // All at once: one statement for many lanes.
    await service.pool.query('UPDATE platen.jobs SET dispatched_at = NULL WHERE id = ANY($1)', [
      [...jobs.values()],
    ]);
    for (const [lane, id] of jobs) {
      if (lane !== rogue)
        await expect.poll(() => service.queues.look(lane, id)).toMatchObject({ state: 'waiting' });
    }
  }
  for (const [lane, id] of jobs)
    if (lane !== rogue) expect(await redis.lrange(keyOf(lane, 'wait'), 0, -1)).toEqual([id]);
  // Once it takes jobs again, it is given some.
  await redis.del(keyOf(rogue, 'wait'));
  const next = await fifth.newJob();
  expect(await redis.lrange(keyOf(rogue, 'wait'), 0, -1)).toContain(next);
});

test('that jobs are canceled is told to the lanes of others', async () => {
  const [rogue, other] = [await tenantWithPrinter(), await tenantWithPrinter()];
  const jobs = [await rogue.newJob(), await other.newJob()];
  await redis.set(keyOf(rogue.lane, 'canceled'), 'no set');
  await service.pool.query(
    `UPDATE platen.jobs SET status = 'canceled', cancel_requested_at = now() WHERE id = ANY($1)`,
    [jobs],
  );
  const open = async () => {
    const sql =
      'SELECT id::text FROM platen.jobs WHERE id = ANY($1) AND cancel_requested_at IS NOT NULL ORDER BY seq';
    return (await service.pool.query<{ id: string }>(sql, [jobs])).rows.map(({ id }) => id);
  };
  await expect.poll(open, { timeout: 10_000 }).toEqual(jobs.slice(0, 1));
});

test('an agent that has other printers each time, or names more in each stretch, fills no table', async () => {
  const agentId = 'agent-shifting';
  const printers = (round: number) =>
    Array.from({ length: 5_000 }, (_, n) => ({ id: `serial-${round}${String(n).padStart(12, '0')}` }));
  const sql = 'SELECT count(*)::int AS count FROM platen.agent_printers WHERE agent_id = $1';
  const kept = async () => (await service.pool.query<{ count: number }>(sql, [agentId])).rows[0]?.count;
  for (const round of [1, 2, 3]) await service.agent(printers(round), { agentId });
  await service.agent([], { agentId });
  expect(await kept()).toBe(10_000);
  for (const round of [4, 5, 6]) {
    const stretch = { after: `serial-${round}`.padEnd(15, '9'), upTo: `serial-${round}`.padEnd(16, '9') };
    await service.agent(printers(round), { agentId, stretch });
  }
  expect(await kept()).toBe(10_000);
});
