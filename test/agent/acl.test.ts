/** An agent with a Redis user of its own, as docs/deployment.md makes it: it works, and can touch nothing that is not its own. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import type { JobReport } from '../../src/contract/report.ts';
import { lookAtRedis, openQueues, type Queues } from '../../src/queue/index.ts';
import { expected, jobFor, logger } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { DOCUMENTED, makeAgentUser } from '../kit/queue/agent-user.ts';
import { printerId, report } from '../kit/queue/samples.ts';

const RIGHTS_BEFORE = `resetkeys resetchannels
  ~platen:{acme/*}:* ~platen:{@reports/acme/agent-dock-3}:stream &platen:@reports -@all
  +ping +info +client|setname +pubsub|numsub +publish +eval +evalsha +bzpopmin +del +exists +get +set +incr +pexpire +pttl
  +hdel +hexists +hget +hgetall +hincrby +hmget +hmset +hset +llen +lpush +lrange +lrem +ltrim +rpoplpush +rpush
  +sadd +scard +srem +smembers +xadd +xdel +xlen +xtrim
  +zadd +zcard +zpopmin +zrange +zrangebyscore +zrem +zremrangebyrank +zremrangebyscore +zrevrange +zrevrangebyscore
  +zscore`;
const AGENT = DOCUMENTED.agentId;
const site = useSite();
const user = `dock-${randomUUID()}`;
const password = randomUUID();
let admin: Redis;
let own: Redis;
let ownUrl: string;
let queues: Queues;

beforeAll(async () => {
  const { redisUrl = '', prefix } = site.queueOptions;
  admin = new Redis(redisUrl);
  await makeAgentUser(admin, { user, password, prefix });
  await admin.acl('LOG', 'RESET');
  const url = new URL(redisUrl);
  url.username = user;
  url.password = password;
  ownUrl = url.href;
  own = new Redis(ownUrl);
  queues = await openQueues({
    redisUrl: ownUrl,
    prefix,
    logger,
    lockDurationMs: 1_000,
  });
});
afterAll(async () => {
  await queues?.close({ timeoutMs: 0 });
  own?.disconnect();
  await admin?.acl('DELUSER', user);
  admin?.disconnect();
});

/** What Redis has refused to the agent. */
async function refused(): Promise<unknown[]> {
  const log = await admin.acl('LOG');
  return Array.isArray(log) ? log.filter((entry) => JSON.stringify(entry).includes(user)) : ['no log'];
}

test('it prints, waits, is canceled, hands back and reports with the documented rights', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const config = { id: AGENT, tenantId: 'acme', timings: { lease: 1_000 } };
  const first = await site.startAgent(printer, { queues, config });
  const jobOf = (records: number, copies = 1) => ({
    ...jobFor(first.printerId, records, copies),
    tenantId: 'acme',
    scope: 'acme',
  });
  const jobs = [jobOf(3), jobOf(2)];
  await site.queues.enqueue(...jobs);
  for (const { jobId } of jobs) expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed' });
  const long = await site.enqueue(jobOf(1, 1_000));
  await printer.printed(8);
  await site.queues.markCanceled(laneOf(long), long.jobId, true);
  expect(await site.reports.end(long.jobId)).toMatchObject({ status: 'canceled' });
  const handedBack = await site.enqueue(jobOf(1, 40));
  await site.reports.job(handedBack.jobId, ({ labels }) => labels.printed > 2);
  await first.agent.stop({ graceMs: 0 });
  await site.startAgent(printer, { queues, config, dataDir: first.dataDir });
  expect(await site.reports.end(handedBack.jobId)).toMatchObject({
    status: 'printed',
    labels: { printed: 40 },
  });
  expect(printer.labels.slice(0, 5)).toEqual(jobs.flatMap(expected));
  expect(await refused()).toEqual([]);
});

test('with the rights of a version before, which had no bells, it prints all the same', async () => {
  const { redisUrl = '', prefix } = site.queueOptions;
  const before = `dock-${randomUUID()}`;
  const rights = RIGHTS_BEFORE.replaceAll('platen:', `${prefix}:`).split(/\s+/);
  await admin.acl('SETUSER', before, 'on', `>${password}`, ...rights);
  const url = Object.assign(new URL(redisUrl), { username: before, password });
  const limited = await openQueues({ redisUrl: url.href, prefix, logger });
  const printer = await site.startPrinter();
  const config = { id: AGENT, tenantId: 'acme', timings: { lease: 1_000 } };
  const { printerId: id, agent } = await site.startAgent(printer, { queues: limited, config });
  const one = await site.enqueue({ ...jobFor(id, 2), tenantId: 'acme', scope: 'acme' });
  expect(await site.reports.end(one.jobId)).toMatchObject({ status: 'printed' });
  await agent.stop({ graceMs: 0 });
  await limited.close({ timeoutMs: 0 });
  await admin.acl('DELUSER', before);
});

test('the doctor can ask whether a service takes its reports', async () => {
  expect(await lookAtRedis(ownUrl, site.queueOptions.prefix, 5_000)).toMatchObject({ services: 1 });
  expect(await lookAtRedis(ownUrl, `${site.queueOptions.prefix}-other`, 5_000)).toMatchObject({
    services: 0,
  });
});

test('it can read and write nothing that is not its own', async () => {
  const { prefix } = site.queueOptions;
  const foreign = `${prefix}:{globex/${printerId()}}`;
  const shared = `${prefix}:{${printerId()}}`;
  for (const key of [`${foreign}:wait`, `${foreign}:lease`, `${shared}:wait`, `${prefix}:{reports}:wait`]) {
    await expect(own.lrange(key, 0, -1)).rejects.toThrow('NOPERM');
    await expect(own.del(key)).rejects.toThrow('NOPERM');
    await expect(own.eval("return redis.call('DEL', KEYS[1])", 1, key)).rejects.toThrow('NOPERM');
    // Undeclared.
    await expect(own.eval(`return redis.call('DEL', '${key}')`, 0)).rejects.toThrow("can't access");
  }
  for (const other of [`acme/agent-dock-4`, `globex/${AGENT}`, `/${AGENT}`]) {
    const stream = `${prefix}:{@reports/${other}}:stream`;
    await expect(own.xadd(stream, '*', 'json', '{}')).rejects.toThrow('NOPERM');
  }
  for (const command of [
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['CONFIG', 'GET', '*'],
    ['FLUSHALL'],
    ['ACL', 'LIST'],
  ]) {
    const [name = '', ...rest] = command;
    await expect(own.call(name, ...rest)).rejects.toThrow('NOPERM');
  }
  for (const channel of [`${prefix}:other`, `${foreign}:bell`, `${shared}:bell`]) {
    await expect(own.subscribe(channel)).rejects.toThrow('NOPERM');
  }
});

test("what it says in another agent's name, or of another tenant's printers, is left out", async () => {
  const job = { ...jobFor(printerId(), 1), tenantId: 'acme', scope: 'acme' };
  const stream = `${site.queueOptions.prefix}:{@reports/acme/${AGENT}}:stream`;
  const say = (content: object) => own.xadd(stream, '*', 'json', JSON.stringify(content));
  const mine: JobReport = { ...report(job, 3), agentId: AGENT };
  await say({ ...mine, agentId: 'agent-dock-4', seq: 1 });
  await say({
    kind: 'agent',
    agentId: AGENT,
    name: 'theirs',
    version: '1',
    tenantId: 'globex',
    at: new Date().toISOString(),
    online: true,
    printers: [],
  });
  await queues.publish(mine, 'acme');
  await site.reports.job(job.jobId, ({ seq }) => seq === 3);
  expect(site.reports.of(job.jobId)).toEqual([mine]);
  expect(site.reports.all.some((one) => one.kind === 'agent' && one.name === 'theirs')).toBe(false);
});
