/**
 * Two agents reach one printer, each over a way of its own: one of them serves it, until it stops, dies, is cut off
 * or is stopped for a while. Every label is out once, and never do the two send labels in turns.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expected, jobFor, testDrivers, withoutOdometer } from '../kit/agent/site.ts';
import {
  LONG,
  ONE,
  OTHER,
  putToSleep,
  SHORT,
  startWanted,
  useTwoAgents,
  WINDOW,
} from '../kit/agent/two-agents-site.ts';
import { kill } from '../kit/agent/use-site.ts';
import { agentBackends, overGateway } from '../kit/queue/over-gateway.ts';

// The embedded database is the same PostgreSQL.
const tried = agentBackends().filter(({ embedded }) => !embedded);

describe.each(tried)('two agents at one printer, on $name', (backend) => {
  // The queue is not what is tried here: on one of them all, on the other what differs.
  const every = backend.kind === 'redis' || backend.name === overGateway().name;
  const two = useTwoAgents(backend);
  const { site } = two;

  test('one of them prints all', async () => {
    await two.startAgent(ONE, LONG);
    await two.servedBy(ONE);
    const { tap, told } = await two.startAgent(OTHER, LONG);
    // Until then it looks at this printer, too: for 4 s where it has asked before it had joined the service of its site.
    await told;
    const jobs = Array.from({ length: 8 }, () => jobFor(two.printerId, 3, 2));
    for (const job of jobs) await site.queues.enqueue(job);
    await two.printer.printed(6);
    const { connections } = tap;
    await site.printedBy(two.printer, jobs, { agentId: ONE });
    expect(two.senders).toEqual([ONE]);
    // The other one looks ten times a second whether its printers are there, but not at this one.
    expect(tap.connections - connections).toBeLessThanOrEqual(1);
  });

  test('it stops: the other goes on at once, in the middle of the job', async () => {
    const one = await two.startAgent(ONE, LONG);
    await two.servedBy(ONE);
    await two.startAgent(OTHER, LONG);
    const jobs = [jobFor(two.printerId, 30), jobFor(two.printerId, ['a', 'b'])];
    for (const job of jobs) await site.queues.enqueue(job);
    await two.printer.printed(7);
    await one.stop();
    await site.printedBy(two.printer, jobs, { agentId: OTHER });
    expect(two.senders).toEqual([ONE, OTHER]);
  });

  test('it is killed in the middle of a job: the other goes on at the first label that was not counted', async () => {
    const one = await startWanted(two, () => two.startProcess(ONE, SHORT));
    await two.startOther(SHORT);
    const jobs = [jobFor(two.printerId, 30), jobFor(two.printerId, ['a', 'b'])];
    for (const job of jobs) await site.queues.enqueue(job);
    await two.printer.printed(5);
    await kill(one);
    const received: Buffer[] = [];
    two.printer.on('received', (bytes) => received.push(bytes));
    await site.printedBy(two.printer, jobs, { agentId: OTHER });
    expect(two.senders).toEqual([ONE, OTHER]);
    // Half a label may be left in the printer: it is told to forget that, before the first label.
    const text = Buffer.concat(received).toString('latin1');
    expect(text.indexOf('~JX')).toBeGreaterThanOrEqual(0);
    expect(text.indexOf('~JX')).toBeLessThan(text.indexOf('label '));
  });

  test.each([5, 17])(
    'it is killed after %i labels, and the printer does not count: held, a window of labels is uncertain',
    async (printed) => {
      const one = await startWanted(two, () => two.startProcess(ONE, SHORT, { odometer: false }));
      await two.startOther(SHORT, { drivers: withoutOdometer(testDrivers) });
      const [job, next] = [jobFor(two.printerId, 30), jobFor(two.printerId, ['a', 'b'])];
      for (const each of [job, next]) await site.queues.enqueue(each);
      await two.printer.printed(printed);
      await kill(one);
      const end = await site.reports.end(job.jobId);
      expect(end).toMatchObject({ status: 'held', error: { code: 'outcome-unknown' }, agentId: OTHER });
      expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed', agentId: OTHER });
      const out = two.printer.labels.length - 2;
      expect(two.printer.labels).toEqual([...expected(job).slice(0, out), 'a', 'b']);
      const { from = 0, to = 30 } = end.uncertain ?? {};
      expect(from).toBeLessThanOrEqual(out);
      expect(to).toBeGreaterThanOrEqual(out);
      expect(to - from).toBeLessThanOrEqual(WINDOW);
    },
  );

  test.runIf(every)(
    'it was alone, and is killed soon after the other came: that one has it after a lease',
    async () => {
      const lease = 5_000;
      const one = await two.startProcess(ONE, lease);
      await two.servedBy(ONE);
      await two.startAgent(OTHER, lease);
      // Idle and alone it asks after two thirds of a lease, and hears of the other then.
      await wait((lease * 2) / 3 + 500);
      const killed = performance.now();
      await kill(one);
      await two.servedBy(OTHER);
      // Alone it had four leases.
      expect(performance.now() - killed).toBeLessThan(2.5 * lease);
    },
  );

  test.runIf(every)('it is killed while it prints nothing: the other prints all', async () => {
    const one = await startWanted(two, () => two.startProcess(ONE, SHORT));
    await two.startOther(SHORT);
    await kill(one);
    const job = jobFor(two.printerId, 4, 2);
    expect(await site.print(job)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(two.printer.labels).toEqual(expected(job));
  });

  test.runIf(every).each([
    { moment: 'a moment when it waits for something', crash: null },
    // The first bytes tell the printer to forget what another may have left in it.
    { moment: 'between two labels', crash: { point: 'after bytes', nth: 3, signal: 'SIGSTOP' } },
  ] as const)(
    'it sleeps from $moment on, and wakes while the other prints: it begins no label',
    async ({ crash }) => {
      const one = await startWanted(two, () => two.startProcess(ONE, SHORT, { crash }));
      const other = await two.startOther(SHORT);
      const [job, next, last] = [
        jobFor(two.printerId, 60),
        jobFor(two.printerId, 20),
        jobFor(two.printerId, ['last']),
      ];
      for (const each of [job, next]) await site.queues.enqueue(each);
      await two.printer.printed(crash === null ? 5 : 2);
      if (crash === null) await putToSleep(one);
      await two.servedBy(OTHER);
      await two.printer.printed(30);
      one.kill('SIGCONT');
      await site.printedBy(two.printer, [job, next], { agentId: OTHER });
      expect(two.senders).toEqual([ONE, OTHER]);
      // It is well, and waits for its turn.
      await other.stop();
      expect(await site.print(last)).toMatchObject({ status: 'printed', agentId: ONE });
      expect(two.printer.labels.slice(80)).toEqual(['last']);
      expect(two.senders).toEqual([ONE, OTHER, ONE]);
    },
  );

  test.runIf(every)('it does not reach the printer any more: the other prints what comes', async () => {
    const one = await startWanted(two, () => two.startAgent(ONE, SHORT));
    await two.startOther(SHORT);
    await one.tap.stop();
    await two.servedBy(OTHER);
    const job = jobFor(two.printerId, 4, 2);
    expect(await site.print(job)).toMatchObject({ status: 'printed', agentId: OTHER });
    // The first reaches it again, and has no reason to take it back.
    await one.tap.open();
    const next = jobFor(two.printerId, ['next']);
    expect(await site.print(next)).toMatchObject({ status: 'printed', agentId: OTHER });
    expect(two.printer.labels).toEqual([...expected(job), 'next']);
    expect(two.senders).toEqual([OTHER]);
  });

  test.runIf(every)(
    'the printer is off for both in the middle of a job: the one that began it goes on',
    async () => {
      await startWanted(two, () => two.startAgent(ONE, SHORT));
      await two.startOther(SHORT);
      const job = jobFor(two.printerId, 30);
      await site.queues.enqueue(job);
      await two.printer.printed(5);
      await two.printer.powerOff();
      await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
      await two.printer.powerOn();
      expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', agentId: ONE });
      expect(two.printer.labels).toEqual(expected(job));
      expect(two.senders).toEqual([ONE]);
    },
  );
});
