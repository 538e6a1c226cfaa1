/**
 * Redis as larger sites run it: a cluster and a master behind Sentinels, each with a failover in the middle of jobs that
 * loses what was acknowledged last; and TLS with a private authority and an ACL user.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.ts';
import { lookAtRedis, openQueues, type Queues } from '../../src/queue/index.ts';
import { agentConfig, Directories, logger, TestPrinter, testDrivers } from '../kit/agent/site.ts';
import { serialId } from '../kit/agent/use-site.ts';
import { Collected, job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';
import { serve } from '../kit/queue/serving.ts';
import { onRedis } from '../kit/servers/backends.ts';
import {
  type Fleet,
  keepReplicasOut,
  RedisCluster,
  RedisOverTls,
  SentinelSite,
} from '../kit/servers/redis-fleet.ts';
import { jobIdOf, newKey, ServiceHarness } from '../kit/service/harness.ts';

const RECORDS = 3;
const TEMPLATE = {
  name: 'Numbered',
  language: 'zpl',
  source: '^XA^FO10,10^A0N,60,60^FDlabel {{n}}^FS^XZ',
  fields: [{ name: 'n' }],
};
const ended = z.array(z.object({ id: z.string(), status: z.string(), code: z.string().nullable() }));

describe.concurrent.each([
  { name: 'a cluster of three masters', fleet: () => new RedisCluster() },
  { name: 'a master behind Sentinels', fleet: () => new SentinelSite() },
])('$name', ({ fleet: make }) => {
  test('a master that dies in the middle of jobs, with what it said last, loses no label and doubles none', async () => {
    await using stack = new AsyncDisposableStack();
    const fleet = make();
    stack.defer(() => fleet.stop());
    await fleet.start();
    const { site, printers, prefix, post } = await siteOn(fleet, stack);
    const [first] = printers;
    if (first === undefined) throw new Error('no printer');
    const jobs = new Map<string, string[]>();
    const postEach = async (count: number) => {
      for (let number = 0; number < count; number += 1) {
        for (const printer of printers) {
          const labels = Array.from({ length: RECORDS }, (_, n) => `${jobs.size}-${n}`);
          jobs.set(await post(printer, labels), labels);
        }
      }
    };
    await postEach(6);
    await first.printed(RECORDS + 1);
    const master = await fleet.masterOf(`${prefix}:{${serialId(first.serial)}}:lease`);
    await keepReplicasOut(master);
    // Acknowledged by a server whose replica does not hear of it.
    await postEach(2);
    const undispatched = async () => {
      const { rows } = await site.pool.query('SELECT 1 FROM platen.jobs WHERE dispatched_at IS NULL');
      return rows.length;
    };
    await expect.poll(undispatched, { timeout: 60_000 }).toBe(0);
    expect(first.labels.length).toBeLessThan(6 * RECORDS);
    master.program.kill('SIGKILL');
    await postEach(2);
    const all = await endOf(site, jobs.size);
    expect(site.log).toContain('they are added again');
    const out = printers.flatMap(({ labels }) => labels);
    expect(out).toHaveLength(new Set(out).size);
    for (const { id, status } of all) {
      const labels = jobs.get(id) ?? [];
      expect(['printed', 'held']).toContain(status);
      if (status === 'printed') expect(out.filter((label) => labels.includes(label))).toEqual(labels);
    }
    // What cannot be known is at most what was in a printer at that moment.
    expect(all.filter(({ status }) => status !== 'printed').length).toBeLessThanOrEqual(printers.length);
  });
});

/** A service and an agent with three printers, on these servers. */
async function siteOn(fleet: Fleet, stack: AsyncDisposableStack) {
  const backend = await onRedis().open();
  stack.defer(() => backend.close());
  const redisUrl = fleet.url;
  const { prefix } = backend;
  const config = { sweepInterval: 200 };
  const site = await ServiceHarness.start({ backend: { ...backend, redisUrl }, config });
  stack.defer(() => site.stop());
  const directories = new Directories();
  stack.defer(() => directories.remove());
  const printers = ['A0001', 'B0002', 'C0003'].map((serial) =>
    Object.assign(new TestPrinter(directories, { serial, speed: 3 }), { serial }),
  );
  for (const printer of printers) {
    await printer.start();
    stack.defer(() => printer.stop());
  }
  const queues = await openQueues({ redisUrl, prefix, logger });
  stack.defer(() => queues.close({ timeoutMs: 0 }));
  const agent = new Agent({
    config: {
      ...agentConfig(directories.make(), { uri: '' }),
      printers: printers.map(({ uri }) => ({ uri })),
    },
    queue: queues,
    drivers: testDrivers,
    logger,
  });
  await agent.start();
  stack.defer(() => agent.stop({ graceMs: 0 }));
  await site.tenant('acme');
  const token = await site.token(await site.integration('acme'));
  const idT = await site.template('acme', TEMPLATE);
  await expect
    .poll(async () => z.array(z.unknown()).parse((await site.admin('GET', '/printers')).body), {
      timeout: 60_000,
    })
    .toHaveLength(printers.length);
  const post = async (printer: { serial: string }, labels: readonly string[]) => {
    const body = { idT, printerId: serialId(printer.serial), data: labels.map((n) => ({ n })) };
    return jobIdOf(await site.call('/v2/jobs', { token, tenant: 'acme', key: newKey(), body }));
  };
  return { site, printers, prefix, post };
}

/** Every job, once each has ended. */
async function endOf(site: ServiceHarness, count: number) {
  const signal = AbortSignal.timeout(240_000);
  for (;;) {
    const { rows } = await site.pool.query(
      `SELECT id, status, error->>'code' AS code FROM platen.jobs ORDER BY seq`,
    );
    const jobs = ended.parse(rows);
    expect(jobs).toHaveLength(count);
    const open = jobs.filter(({ status }) => status === 'queued' || status === 'printing');
    if (open.length === 0) return jobs;
    if (signal.aborted) throw new Error(`not ended: ${JSON.stringify(jobs)}`);
    await wait(50);
  }
}

describe('TLS with a private authority, and an ACL user', () => {
  test.each([
    { name: 'a cluster', make: () => new RedisCluster({ tls: true }) },
    { name: 'Sentinels that ask for the user too', make: () => new SentinelSite({ tls: true }) },
  ])('$name', async ({ make }) => {
    const { prefix, close } = await onRedis().open();
    onTestFinished(close);
    const fleet = make();
    onTestFinished(() => fleet.stop());
    await fleet.start();
    const open = async (redisUrl: string, startTimeoutMs = 5_000) => {
      const queues = await openQueues({ redisUrl, prefix, logger, startTimeoutMs });
      onTestFinished(() => queues.close({ timeoutMs: 0 }));
      return queues;
    };
    await carries(await open(fleet.url, 60_000));
    await expect(open(fleet.url.replace(/&ca=[^&]*/, ''))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(open(fleet.url.replace('family=4', 'family=6'))).rejects.toMatchObject({
      code: 'unavailable',
    });
    const wrong = open(fleet.url.replace(/:[0-9a-f]+@/, ':wrong@'));
    await expect(wrong).rejects.toMatchObject({ code: expect.stringMatching(/^(refused|unavailable)$/) });
    if (fleet instanceof SentinelSite) {
      const unnamed = open(fleet.url.replace('&sentinel-auth=yes', ''));
      await expect(unnamed).rejects.toMatchObject({ code: expect.stringMatching(/^(refused|unavailable)$/) });
    }
  });

  test('it works with the authority in the address, and nobody is trusted without', async () => {
    const backend = await onRedis().open();
    onTestFinished(() => backend.close());
    const server = new RedisOverTls();
    onTestFinished(() => server.stop());
    await server.start(backend.prefix);
    const options = { ...backend, logger: keepingLogger(), startTimeoutMs: 2_000 };
    const known = server.url({ known: true });
    await expect(openQueues({ ...options, redisUrl: server.url({ known: false }) })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('certificate'),
    });
    const queues = await openQueues({ ...options, redisUrl: known });
    onTestFinished(() => queues.close({ timeoutMs: 0 }));
    await carries(queues);
    expect(await lookAtRedis(known, backend.prefix, 5_000)).toMatchObject({ services: 1 });
    // The user is kept to its own keys.
    const foreign = await openQueues({ ...options, redisUrl: known, prefix: 'other' });
    onTestFinished(() => foreign.close({ timeoutMs: 0 }));
    await expect(foreign.enqueue(job(printerId()))).rejects.toThrow('NOPERM');
  });
});

/** A job and a report get through. */
async function carries(queues: Queues): Promise<void> {
  const own = printerId();
  const sent = job(own);
  const got = new Collected<string>();
  await serve(queues, own, async ({ job: { jobId } }) => {
    got.add(jobId);
    return 'done';
  });
  await queues.enqueue(sent);
  expect(await got.reach(1)).toEqual([sent.jobId]);
  const told = new Collected<string>();
  await queues.consumeReports(async (batch) => {
    for (const { report: one } of batch) if (one.kind === 'job') told.add(one.jobId);
  });
  await queues.publish(report(sent, 1), null);
  expect(await told.reach(1)).toEqual([sent.jobId]);
}
