import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../src/contract/report.ts';
import { openQueues, type Queues } from '../../src/queue/index.ts';
import { Collected, job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';
import { backends, type OpenBackend } from '../kit/servers/backends.ts';

describe.each(backends())('the report queue on $name', ({ open }) => {
  let backend: OpenBackend;
  let queues: Queues;
  const logger = keepingLogger();

  beforeEach(async () => {
    logger.lines.length = 0;
    backend = await open();
    queues = await openQueues({ ...backend, logger });
  });
  afterEach(async () => {
    await queues.close({ timeoutMs: 0 });
    await backend.close();
  });

  it('hands reports out in the order in which they were published', async () => {
    const of = job(printerId());
    const got = new Collected<Report>();
    const reports = Array.from({ length: 20 }, (_, seq) => report(of, seq));
    for (const one of reports.slice(0, 10)) await queues.publish(one, null);
    await queues.consumeReports(async (one) => got.add(one));
    for (const one of reports.slice(10)) await queues.publish(one, null);
    expect(await got.reach(20)).toEqual(reports);
  });

  it('repeats a report whose handler throws until it is taken, and keeps the order', async () => {
    const of = job(printerId());
    const got = new Collected<number>();
    for (let seq = 0; seq < 3; seq += 1) await queues.publish(report(of, seq), null);
    let failures = 2;
    await queues.consumeReports(async (one) => {
      const seq = one.kind === 'job' ? one.seq : -1;
      got.add(seq);
      if (seq === 1 && failures-- > 0) throw new Error('database is away');
    });
    expect(await got.reach(5)).toEqual([0, 1, 1, 1, 2]);
  });

  it('sets a report that does not parse aside, by its ID alone, and goes on', async () => {
    const of = job(printerId());
    const poison = { ...report(of, 1), status: 'evaporated', error: 'Jane Doe' } as unknown as Report;
    const got = new Collected<number>();
    await queues.publish(report(of, 0), null);
    await queues.publish(poison, null);
    await queues.publish(report(of, 2), null);
    await queues.consumeReports(async (one) => got.add(one.kind === 'job' ? one.seq : -1));
    expect(await got.reach(2)).toEqual([0, 2]);
    const lines = logger.lines.filter((line) => line.startsWith('unreadable payload set aside'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/"jobId":"[0-9a-f-]{15,36}"/);
    expect(logger.lines.join()).not.toMatch(/Jane Doe|evaporated/);
  });

  it('gives what a service had in hand when it died to the next one, and what followed after that', async () => {
    const timing = { lockDurationMs: 1_000, stalledIntervalMs: 300 };
    const dying = await openQueues({ ...backend, ...timing, logger });
    const inHand = Promise.withResolvers<void>();
    await dying.consumeReports(async () => {
      inHand.resolve();
      return new Promise(() => undefined);
    });
    const of = job(printerId());
    for (const seq of [0, 1, 2]) await queues.publish(report(of, seq), null);
    await inHand.promise;
    await dying.close({ timeoutMs: 0, graceMs: 0 });
    const next = await openQueues({ ...backend, ...timing, logger });
    const got = new Collected<number>();
    await next.consumeReports(async (one) => got.add(one.kind === 'job' ? one.seq : -1));
    expect((await got.reach(3)).toSorted()).toEqual([0, 1, 2]);
    await next.close();
  });

  it('is shared by several services: each report goes to one of them', async () => {
    const other = await openQueues({ ...backend, logger });
    const got = new Collected<number>();
    const take = async (one: Report) => got.add(one.kind === 'job' ? one.seq : -1);
    await queues.consumeReports(take);
    await other.consumeReports(take);
    const of = job(printerId());
    const sequence = Array.from({ length: 30 }, (_, seq) => seq);
    for (const seq of sequence) await queues.publish(report(of, seq), null);
    expect((await got.reach(30)).toSorted((a, b) => a - b)).toEqual(sequence);
    await other.close();
  });
});
