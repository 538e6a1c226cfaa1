import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/contract/report.ts';
import type { ReceivedReport } from '../../src/queue/index.ts';
import { agentBackends, openQueuesOf } from '../kit/queue/over-gateway.ts';
import { Collected, job, printerId, report } from '../kit/queue/samples.ts';
import { useQueues } from '../kit/queue/use-queues.ts';
import { tried } from '../kit/servers/backends.ts';

function seqsOf(batch: readonly ReceivedReport[]): number[] {
  return batch.map(({ report: one }) => (one.kind === 'job' ? one.seq : -1));
}

describe.each(tried(agentBackends()))('the report queue on $name', (backend) => {
  const used = useQueues(backend);

  it('hands reports out in the order in which they were published', async () => {
    const of = job(printerId());
    const got = new Collected<Report>();
    const reports = Array.from({ length: 20 }, (_, seq) => report(of, seq));
    for (const one of reports.slice(0, 10)) await used.queues.publish(one, null);
    await used.queues.consumeReports(async (batch) => {
      for (const { report: one } of batch) got.add(one);
    });
    for (const one of reports.slice(10)) await used.queues.publish(one, null);
    expect(await got.reach(20)).toEqual(reports);
  });

  it('repeats reports whose handler throws until they are taken, and keeps the order', async () => {
    const of = job(printerId());
    const got = new Collected<number>();
    for (let seq = 0; seq < 3; seq += 1) await used.queues.publish(report(of, seq), null);
    let failures = 2;
    const handed: number[][] = [];
    await used.queues.consumeReports(async (batch) => {
      handed.push(seqsOf(batch));
      if (failures-- > 0) throw new Error('database is away');
      for (const seq of seqsOf(batch)) got.add(seq);
    });
    expect(await got.reach(3)).toEqual([0, 1, 2]);
    expect(handed.slice(0, 3)).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });

  it('hands over what has gathered in few batches, those of each agent in their order', async () => {
    const agents = ['agent-aaaa', 'agent-bbbb', 'agent-cccc'];
    const of = job(printerId());
    const sequence = Array.from({ length: 100 }, (_, seq) => seq);
    await Promise.all(
      agents.map(async (agentId) => {
        for (const seq of sequence) await used.queues.publish({ ...report(of, seq), agentId }, null);
      }),
    );
    const got = new Collected<Report>();
    let batches = 0;
    await used.queues.consumeReports(async (batch) => {
      batches += 1;
      for (const { report: one } of batch) got.add(one);
    });
    const all = await got.reach(300);
    for (const agentId of agents) {
      const own = all.filter((one) => one.agentId === agentId);
      expect(own.map((one) => (one.kind === 'job' ? one.seq : -1))).toEqual(sequence);
    }
    expect(batches).toBeLessThanOrEqual(6);
  });

  it('sets a report that does not parse aside, by its ID alone, and goes on', async () => {
    const of = job(printerId());
    const poison = { ...report(of, 1), status: 'evaporated', error: 'Jane Doe' } as unknown as Report;
    const got = new Collected<number>();
    await used.queues.publish(report(of, 0), null);
    await used.queues.publish(poison, null);
    await used.queues.publish(report(of, 2), null);
    await used.queues.consumeReports(async (batch) => {
      for (const seq of seqsOf(batch)) got.add(seq);
    });
    expect(await got.reach(2)).toEqual([0, 2]);
    const lines = used.logger.lines.filter((line) => line.startsWith('unreadable payload set aside'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/"jobId":"[0-9-]{1,36}"|"agentId":"agent-0001"/);
    expect(used.logger.lines.join()).not.toMatch(/Jane Doe|evaporated/);
  });

  it('gives what a service had in hand when it died to the next one, and what followed after that', async () => {
    const timing = { lockDurationMs: 1_000 };
    const dying = await openQueuesOf(used.backend, { ...timing, logger: used.logger });
    const inHand = Promise.withResolvers<void>();
    await dying.consumeReports(async () => {
      inHand.resolve();
      return new Promise(() => undefined);
    });
    const of = job(printerId());
    for (const seq of [0, 1, 2]) await used.queues.publish(report(of, seq), null);
    await inHand.promise;
    await dying.close({ timeoutMs: 0, graceMs: 0 });
    const next = await openQueuesOf(used.backend, { ...timing, logger: used.logger });
    const got = new Collected<number>();
    await next.consumeReports(async (batch) => {
      for (const seq of seqsOf(batch)) got.add(seq);
    });
    expect((await got.reach(3)).toSorted()).toEqual([0, 1, 2]);
    await next.close();
  });

  it('is shared by several services: each report goes to one of them', async () => {
    const other = await openQueuesOf(used.backend, { logger: used.logger });
    const got = new Collected<number>();
    const take = async (batch: readonly ReceivedReport[]) => {
      for (const seq of seqsOf(batch)) got.add(seq);
    };
    await used.queues.consumeReports(take);
    await other.consumeReports(take);
    const of = job(printerId());
    const sequence = Array.from({ length: 30 }, (_, seq) => seq);
    for (const seq of sequence) await used.queues.publish(report(of, seq), null);
    expect((await got.reach(30)).toSorted((a, b) => a - b)).toEqual(sequence);
    await other.close();
  });
});
