/** Two agents at one printer, the serving one cut off from the queue: it ends before the other begins. */
import { describe, expect, test } from 'vitest';
import { laneOf } from '../../src/contract/lane.ts';
import { openQueues } from '../../src/queue/index.ts';
import { expected, jobFor, logger } from '../kit/agent/site.ts';
import { LONG, ONE, OTHER, SHORT, startWanted, useTwoAgents } from '../kit/agent/two-agents-site.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';

// The embedded database is the same PostgreSQL, and its socket has no road to break.
const tried = agentBackends().filter(({ embedded }) => !embedded);

describe.each(tried)('cut off from the queue on $name', (backend) => {
  const two = useTwoAgents(backend);
  const { site } = two;
  let road: BreakableRoad;

  /** Its queue over a road that can be closed. */
  async function startCuttable(id: string, lease: number): Promise<void> {
    const { redisUrl, database } = site.queueOptions;
    const { gateway } = site;
    const url = new URL(gateway?.origin ?? redisUrl ?? database.connectionString ?? '');
    road = new BreakableRoad(url.hostname, Number(url.port));
    await road.open();
    url.port = String(road.port);
    const place =
      redisUrl === undefined ? { database: { connectionString: url.href } } : { redisUrl: url.href };
    const queues = await (gateway?.queueOf(id, null, url.origin) ??
      openQueues({ ...site.queueOptions, ...place, logger }));
    site.running({ stop: () => road.close() });
    site.running({ stop: () => queues.close({ timeoutMs: 0, graceMs: 0 }) });
    await two.startAgent(id, lease, { queues });
  }

  test.each(['closed', 'silent'])('(%s) it ends before the other begins', async (how) => {
    await startWanted(two, () => startCuttable(ONE, SHORT));
    await two.startAgent(OTHER, SHORT);
    const [job, next, last] = [
      jobFor(two.printerId, 60),
      jobFor(two.printerId, 20),
      jobFor(two.printerId, ['last']),
    ];
    await site.queues.enqueue(job);
    await two.printer.printed(5);
    if (how === 'closed') await road.close();
    else road.silence();
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(await site.print(next)).toMatchObject({ status: 'printed', agentId: OTHER });
    await road.close();
    await road.open();
    expect(await site.print(last)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(two.printer.labels).toEqual([job, next, last].flatMap(expected));
    expect(two.senders).toEqual([ONE, OTHER]);
  });

  test.each(['closed', 'silent'])(
    '(%s) while it waits for jobs: it prints none when it is back',
    async (how) => {
      await startWanted(two, () => startCuttable(ONE, SHORT));
      // Its own lease does not end, however busy the machine is.
      await two.startAgent(OTHER, LONG);
      if (how === 'closed') await road.close();
      else road.silence();
      await two.servedBy(OTHER);
      const jobs = [jobFor(two.printerId, 60), jobFor(two.printerId, ['a']), jobFor(two.printerId, ['b'])];
      for (const job of jobs) await site.queues.enqueue(job);
      await two.printer.printed(5);
      await road.close();
      await road.open();
      await site.printedBy(two.printer, jobs, { agentId: OTHER });
      expect(two.senders).toEqual([OTHER]);
    },
  );

  test('alone on its printer it goes on for four leases', async () => {
    // Contended, it would stop after six tenths of this; the labels take longer, and far less than four of it.
    const lease = 10_000;
    await startCuttable(ONE, lease);
    await two.servedBy(ONE);
    const job = jobFor(two.printerId, 130);
    await site.queues.enqueue(job);
    await two.printer.printed(2);
    await road.close();
    await two.printer.printed(130);
    await road.open();
    expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: ONE });
    expect(two.printer.labels).toEqual(expected(job));
  });

  test('alone, and cut off for longer than its lease lasts, it stops at a label, and goes on when it is back', async () => {
    await startCuttable(ONE, SHORT);
    await two.servedBy(ONE);
    const [job, meanwhile] = [jobFor(two.printerId, 400), jobFor(two.printerId, ['meanwhile'])];
    await site.queues.enqueue(job);
    await two.printer.printed(5);
    await road.close();
    await site.queues.enqueue(meanwhile);
    const lane = laneOf({ scope: null, printerId: two.printerId });
    const holder = async () => (await site.queues.leaseHolders([lane])).get(lane);
    await expect.poll(holder, { timeout: 60_000 }).toBeUndefined();
    // From here on an hour is no other than a minute: it has nothing to print, and tries to connect.
    const out = two.printer.labels.length;
    expect(out).toBeLessThan(400);
    await road.open();
    await site.printedBy(two.printer, [job, meanwhile], { agentId: ONE });
  });
});
