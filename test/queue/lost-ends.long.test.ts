/**
 * A Redis that loses an agent's last reports on its jobs, while the jobs' lanes know that they have ended: in
 * a cluster the two are on different masters. The test puts the stream back to an earlier state, like that of
 * a replica which had received no more.
 */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.ts';
import { laneOf } from '../../src/contract/lane.ts';
import { openQueues } from '../../src/queue/index.ts';
import { Sweep } from '../../src/server/jobs/dispatch/sweep.ts';
import { agentConfig, Directories, logger, TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { serialId } from '../kit/agent/use-site.ts';
import { jobIdOf, newKey, ServiceHarness } from '../kit/service/harness.ts';

const AGENT = 'agent-of-test';
const SERIAL = 'A0001';
const PRINTER = serialId(SERIAL);
const LANE = laneOf({ scope: null, printerId: PRINTER });
const TEMPLATE = {
  name: 'Numbered',
  language: 'zpl',
  source: '^XA^FO10,10^A0N,60,60^FDlabel {{n}}^FS^XZ',
  fields: [{ name: 'n' }],
};
/** What the lane remembers of a job that has ended, ms, as `redis/turns.ts` has it. */
const KNOWN = 48 * 3_600_000;
const told = z.object({ status: z.string(), error: z.object({ code: z.string() }).nullable() });

/** A service, a printer, and an agent that can be started again. */
async function openSite() {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const service = await ServiceHarness.start({ config: { sweepInterval: 600_000 } });
  stack.defer(() => service.stop());
  const { redisUrl = '', prefix } = service.backend;
  const redis = new Redis(redisUrl);
  stack.defer(() => redis.disconnect());
  const directories = new Directories();
  stack.defer(() => directories.remove());
  const printer = new TestPrinter(directories, { serial: SERIAL });
  await printer.start();
  stack.defer(() => printer.stop());
  const dataDir = directories.make();
  const startAgent = async () => {
    const queues = await openQueues({ redisUrl, prefix, logger });
    const config = agentConfig(dataDir, printer, { id: AGENT, timings: { heartbeat: 200 } });
    const agent = new Agent({ config, queue: queues, drivers: testDrivers, logger });
    await agent.start();
    const stop = async () => {
      await agent.stop({ graceMs: 0 });
      await queues.close({ timeoutMs: 0 });
    };
    stack.defer(stop);
    return { stop };
  };
  const agent = await startAgent();
  await service.tenant('acme');
  const token = await service.token(await service.integration('acme'));
  const idT = await service.template('acme', TEMPLATE);
  const printers = async () => z.array(z.unknown()).parse((await service.admin('GET', '/printers')).body);
  await expect.poll(printers, { timeout: 20_000 }).toHaveLength(1);
  const post = async (n: string) => {
    const body = { idT, printerId: PRINTER, data: [{ n }] };
    return jobIdOf(await service.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
  };
  const jobOf = async (id: string) => {
    const { rows } = await service.pool.query('SELECT status, error FROM platen.jobs WHERE id = $1', [id]);
    return told.parse(rows[0]);
  };
  const key = (name: string) => `${prefix}:{@reports//${AGENT}}:${name}`;
  const ended = async (id: string) => (await service.queues.look(LANE, id))?.state;
  return {
    ...{ service, redis, printer, agent, startAgent, post, jobOf, ended },
    hash: (id: string) => `${prefix}:{${LANE}}:${id}`,
    stream: key('stream'),
    /** No service reads the agent's reports until the returned function is called. */
    async unread() {
      await redis.set(key('reader'), 'another', 'PX', 600_000);
      return async () => void (await redis.del(key('reader')));
    },
  };
}

type Site = Awaited<ReturnType<typeof openSite>>;

/** Prints a job whose end gets into the stream, and is lost there, with all that came after `before`. */
async function printAndForget({ redis, printer, post, ended, stream }: Site, said: () => Promise<unknown>) {
  const before = await redis.dumpBuffer(stream);
  const id = await post(`label of ${printer.labels.length}`);
  await expect.poll(() => ended(id), { timeout: 20_000 }).toBe('ended');
  const isThere = async () => (await redis.xrange(stream, '-', '+')).some((one) => String(one).includes(id));
  await expect.poll(isThere, { timeout: 20_000 }).toBe(true);
  await said();
  // In one go: the agent may notice at once, and tell it again.
  const dropped = await redis.multi().restore(stream, 0, before, 'REPLACE').xrange(stream, '-', '+').exec();
  expect(dropped).toHaveLength(2);
  expect(String(dropped?.at(-1))).not.toContain(id);
  return id;
}

test('a report of how a job ended that is lost while its lane knows the end is told again', async () => {
  const site = await openSite();
  const read = await site.unread();
  const id = await printAndForget(site, async () => undefined);
  await read();
  await expect.poll(() => site.jobOf(id), { timeout: 20_000 }).toEqual({ status: 'printed', error: null });
  expect(site.printer.labels).toHaveLength(1);
});

test('a job whose end nobody can tell is held after ten minutes, and what its agent says later counts', async () => {
  const site = await openSite();
  const { redis, service, agent, stream } = site;
  const read = await site.unread();
  const id = await printAndForget(site, () => agent.stop());
  await service.pool.query("UPDATE platen.jobs SET dispatched_at = now() - interval '20 minutes'");
  const sweep = sweepOf(service);
  await sweep.once();
  const open = await site.jobOf(id);
  expect(['queued', 'printing']).toContain(open.status);
  // Ten minutes are over, and there is something that might tell.
  await redis.pexpire(site.hash(id), KNOWN - 11 * 60_000);
  await redis.xadd(stream, (await newestOf(redis, stream)).replace(/\d+$/, '*'), 'json', '');
  await sweep.once();
  expect(await site.jobOf(id)).toEqual(open);
  await read();
  await expect.poll(() => redis.xlen(stream), { timeout: 20_000 }).toBe(0);
  await sweep.once();
  expect(await site.jobOf(id)).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' } });
  expect(service.log).toContain('how jobs ended; they are held');
  await site.startAgent();
  await expect.poll(() => site.jobOf(id), { timeout: 20_000 }).toEqual({ status: 'printed', error: null });
  expect(site.printer.labels).toHaveLength(1);
});

async function newestOf(redis: Redis, stream: string): Promise<string> {
  const about = z.array(z.unknown()).parse(await redis.xinfo('STREAM', stream));
  return z.string().parse(about[about.indexOf('last-generated-id') + 1]);
}

/** One that sweeps when the test says so. */
function sweepOf({ pool, queues: queue, logger }: ServiceHarness): Sweep {
  const nothing = async () => undefined;
  const sweep = new Sweep({
    dispatcher: { inLanes: false, start: nothing, stop: nothing, dispatch: nothing },
    cancellations: { sweep: nothing },
    moving: { sweep: nothing },
    holds: { sweep: nothing },
    added: { tell: nothing },
    expiries: { sweep: nothing },
    withdrawals: { sweep: nothing },
    housekeeping: nothing,
    interval: 600_000,
    ...{ pool, queue, logger },
  });
  sweep.start();
  onTestFinished(() => sweep.stop());
  return sweep;
}
