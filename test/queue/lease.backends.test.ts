/** Who serves a printer, decided by real servers under agents that ask at the same time. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import {
  type LeaseAnswer,
  type LeaseLimits,
  type LeaseQuestion,
  QueueError,
  type Queues,
} from '../../src/queue/index.ts';
import { redisLeases } from '../../src/queue/redis/lease.ts';
import { agentBackends, openQueuesOf } from '../kit/queue/over-gateway.ts';
import { keepingLogger, printerId } from '../kit/queue/samples.ts';
import { type OpenBackend, onRedis, tried } from '../kit/servers/backends.ts';

/** Against hanging alone, ms. */
const PATIENTLY = { timeout: 60_000 };
const LONG = { contended: 60_000, alone: 240_000 };
const JOB = '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f';
type Asked = Partial<LeaseQuestion & { length: LeaseLimits; of: Lane }>;
const [ONE, OTHER, THIRD] = ['agent-one-1', 'agent-two-2', 'agent-three'];

describe.each(tried(agentBackends()))('leases on $name', ({ open }) => {
  let backend: OpenBackend;
  let queues: Queues;
  let printer: Lane;

  beforeEach(async () => {
    backend = await open();
    queues = await openQueuesOf(backend, { logger: keepingLogger() });
    printer = printerId();
  });
  afterEach(async () => {
    await queues.close({ timeoutMs: 0 });
    await backend.close();
  });

  async function ask(
    agentId: string,
    { term = 'process.1', fresh = true, reaches = true, length = LONG, of = printer, keeps }: Asked = {},
  ) {
    const asks = [{ lane: of, term, fresh, reaches, keeps }];
    // An agent asks again, too, where the answer took longer than it waits for it: a second, for leases as short as these.
    const [answer] = await vi.waitFor(() => queues.askLeases(agentId, asks, length), PATIENTLY);
    if (answer === undefined) throw new Error('no answer');
    return answer;
  }

  /** Asks until it is granted. */
  async function take(agentId: string, length: typeof LONG): Promise<LeaseAnswer> {
    for (;;) {
      const answer = await ask(agentId, { length });
      if (answer.granted !== null) return answer;
      await wait(10);
    }
  }

  it('goes to whoever asks first, who keeps it and is told that another waits', async () => {
    expect(await ask(ONE)).toEqual({
      lane: printer,
      granted: LONG.alone,
      wanted: false,
      canceled: [],
      held: false,
    });
    expect(await ask(OTHER)).toMatchObject({ granted: null });
    expect(await ask(ONE)).toEqual({
      lane: printer,
      granted: LONG.contended,
      wanted: true,
      canceled: [],
      held: false,
    });
    expect(await ask(OTHER)).toMatchObject({ granted: null });
    expect(await queues.leaseHolders([printer, printerId()])).toEqual(new Map([[printer, ONE]]));
  });

  it('goes to the same agent again at once, when it was killed and is back', async () => {
    expect(await ask(ONE, { term: 'before' })).toMatchObject({ granted: LONG.alone });
    expect(await ask(ONE, { term: 'after' })).toMatchObject({ granted: LONG.alone });
  });

  it('is the newer process’s, of two that bear the same agent’s ID', async () => {
    const older = { term: 'older.1', fresh: true };
    const newer = { term: 'newer.1', fresh: true };
    expect(await ask(ONE, older)).toMatchObject({ granted: LONG.alone });
    expect(await ask(ONE, { ...older, fresh: false })).toMatchObject({ granted: LONG.alone });
    expect(await ask(ONE, newer)).toMatchObject({ granted: LONG.alone });
    expect(await ask(ONE, { ...older, fresh: false })).toMatchObject({ granted: null });
    expect(await ask(ONE, { term: 'older.2', fresh: false })).toMatchObject({ granted: null });
    expect(await ask(ONE, { ...newer, fresh: false })).toMatchObject({ granted: LONG.alone });
    expect(await ask(ONE, { term: 'newer.2', fresh: false })).toMatchObject({ granted: LONG.alone });
  });

  it('goes to another when it was given back, and not when an older term is', async () => {
    await ask(ONE, { term: 'first' });
    await ask(ONE, { term: 'second' });
    await queues.giveLeaseBack(ONE, printer, 'first');
    await queues.giveLeaseBack(OTHER, printer, 'second');
    expect(await ask(OTHER)).toMatchObject({ granted: null });
    await queues.giveLeaseBack(ONE, printer, 'second');
    expect(await queues.leaseHolders([printer])).toEqual(new Map());
    expect(await ask(OTHER)).toMatchObject({ granted: expect.any(Number) });
    expect(await ask(ONE)).toMatchObject({ granted: null });
  });

  it('goes to another when it has ended, and never before', async () => {
    const length = { contended: 150, alone: 150 };
    const asked = performance.now();
    await ask(ONE, { length });
    await take(OTHER, LONG);
    // The server's clock and ours run alike, to a hundredth.
    expect(performance.now() - asked).toBeGreaterThan(0.99 * length.alone);
    expect(await ask(ONE, { length: LONG })).toMatchObject({ granted: null });
  });

  it('is not made shorter by a rival who comes later', async () => {
    // Two questions fit into it on a busy machine.
    const length = { contended: 100, alone: 3_000 };
    const asked = performance.now();
    expect(await ask(ONE, { length })).toMatchObject({ granted: length.alone });
    expect(await ask(OTHER, { length: LONG })).toMatchObject({ granted: null });
    expect(await ask(ONE, { length })).toMatchObject({ granted: length.contended });
    await take(OTHER, LONG);
    expect(performance.now() - asked).toBeGreaterThan(0.99 * length.alone);
  });

  it('is made shorter when a rival comes, by as much as its holder lets go', async () => {
    const length = { contended: 100, alone: 60_000 };
    await ask(ONE, { length, keeps: { ms: 0, question: 1 } });
    await ask(OTHER, { length: LONG });
    // The answer says 100 ms. It might be lost: until the holder says otherwise it counts on all of them.
    expect(await ask(ONE, { length, keeps: { ms: 60_000, question: 2 } })).toMatchObject({ granted: 100 });
    expect(await ask(OTHER, { length: LONG })).toMatchObject({ granted: null });
    const asked = performance.now();
    await ask(ONE, { length, keeps: { ms: 700, question: 3 } });
    await take(OTHER, LONG);
    expect(performance.now() - asked).toBeGreaterThan(0.99 * 700);
    expect(performance.now() - asked).toBeLessThan(30_000);
  });

  it('does not last longer than it was granted for, whatever its holder says that it counts on', async () => {
    const length = { contended: 100, alone: 200 };
    await ask(ONE, { length, keeps: { ms: 0, question: 1 } });
    const asked = performance.now();
    await ask(ONE, { length, keeps: { ms: 600_000, question: 2 } });
    await take(OTHER, LONG);
    expect(performance.now() - asked).toBeLessThan(30_000);
  });

  it('is not made shorter by a question that comes late, or by another process', async () => {
    const length = { contended: 100, alone: 60_000 };
    await ask(ONE, { length, keeps: { ms: 0, question: 1 } });
    await ask(ONE, { length, keeps: { ms: 60_000, question: 3 } });
    await ask(OTHER, { length: LONG });
    await ask(ONE, { length, keeps: { ms: 0, question: 2 } });
    await ask(ONE, { length, term: 'another.1', keeps: { ms: 0, question: 9 } });
    await wait(300);
    expect(await ask(OTHER, { length: LONG })).toMatchObject({ granted: null });
  });

  it('is not for an agent that does not reach the printer while one that does is waiting', async () => {
    await ask(ONE, { term: 'given up' });
    expect(await ask(OTHER)).toMatchObject({ granted: null });
    // A third, which does not reach it either, is no reason to forget the one that does.
    expect(await ask(THIRD, { reaches: false })).toMatchObject({ granted: null, wanted: true });
    await queues.giveLeaseBack(ONE, printer, 'given up');
    expect(await ask(ONE, { reaches: false })).toMatchObject({ granted: null });
    expect(await ask(THIRD, { reaches: false })).toMatchObject({ granted: null });
    expect(await ask(OTHER)).toMatchObject({ granted: expect.any(Number) });
  });

  it('is for an agent that does not reach the printer when nobody does', async () => {
    expect(await ask(ONE, { reaches: false })).toMatchObject({ granted: LONG.alone });
    expect(await ask(OTHER, { reaches: false })).toMatchObject({ granted: null });
    expect(await ask(ONE, { reaches: false })).toMatchObject({ granted: LONG.contended, wanted: false });
  });

  it('says to whoever has it, and to nobody else, which jobs are canceled', async () => {
    // Before anybody has asked for the lease.
    await queues.markCanceled(printer, JOB, true);
    await queues.markCanceled(printer, `${JOB}.1`, true);
    await queues.markCanceled(printer, JOB, true);
    expect((await ask(ONE)).canceled.toSorted()).toEqual([JOB, `${JOB}.1`]);
    expect(await ask(OTHER)).toMatchObject({ granted: null, canceled: [] });
    await queues.markCanceled(printer, JOB, false);
    await queues.markCanceled(printerId(), JOB, false);
    expect(await ask(ONE)).toMatchObject({ canceled: [`${JOB}.1`] });
    expect(await ask(ONE, { of: printerId() })).toMatchObject({ canceled: [] });
  });

  it('is asked for many printers at once', async () => {
    const printers = Array.from({ length: 300 }, printerId);
    const asks = printers.map((id) => ({ lane: id, term: 'process.1', fresh: true, reaches: true }));
    expect(await ask(OTHER, { of: printers[7] ?? printer })).toMatchObject({ granted: LONG.alone });
    const answers = await queues.askLeases(ONE, asks, LONG);
    expect(answers.map((answer) => answer.lane).toSorted()).toEqual(printers.toSorted());
    const refused = answers.filter(({ granted }) => granted === null);
    expect(refused.map((answer) => answer.lane)).toEqual([printers[7]]);
    expect((await queues.leaseHolders(printers)).size).toBe(300);
  });

  it('is one agent’s at a time, whatever the agents do at once', async () => {
    const length = { contended: 40, alone: 80 };
    const act = fc.record({
      printers: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
      pause: fc.nat(60),
      reaches: fc.boolean(),
      givesBack: fc.boolean(),
      /** It never hears the answer. */
      deaf: fc.boolean(),
      /** The same question gets there once more, after the pause. */
      late: fc.boolean(),
    });
    // On a busy machine an answer may come too late: its agent has not heard it either.
    const tooLate = (error: unknown) => {
      if (!(error instanceof QueueError)) throw error;
    };
    // Of one run alone nothing can be said: where nobody hears an answer, nobody holds anything.
    let grants = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(act, { minLength: 3, maxLength: 8 }), { minLength: 3, maxLength: 4 }),
        async (scripts) => {
          const printers = [printerId(), printerId(), printerId()];
          const held: { printer: Lane; agent: string; from: number; to: number; end: number }[] = [];
          // What it had of it before has become what it has now, or nothing.
          const cut = (agent: string, printer: Lane) => {
            for (const span of held.filter((one) => one.agent === agent && one.printer === printer)) {
              span.to = Math.min(span.to, performance.now());
              span.end = span.to;
            }
          };
          await Promise.all(
            scripts.map(async (script, index) => {
              const agent = `agent-number-${index}`;
              const own = randomUUID();
              for (const [
                at,
                { printers: wanted, pause, reaches, givesBack, deaf, late },
              ] of script.entries()) {
                const term = `${own}.${at}`;
                const asked = performance.now();
                const left = (lane: Lane) =>
                  Math.max(
                    0,
                    ...held
                      .filter((span) => span.agent === agent && span.printer === lane)
                      .map(({ end }) => end - asked),
                  );
                const asks = printers
                  .filter((_, index) => wanted.includes(index))
                  .map((lane) => {
                    const keeps = { ms: left(lane), question: at + 1 };
                    return { lane, term, fresh: at === 0, reaches, keeps };
                  });
                let hears = !deaf;
                const answers = await queues.askLeases(agent, asks, length).catch((error: unknown) => {
                  tooLate(error);
                  hears = false;
                  return [];
                });
                const from = performance.now();
                const spans = answers.flatMap(({ lane: of, granted }) =>
                  // As an agent counts: from when it knows, to a little before the end by when it asked.
                  granted === null || !hears
                    ? []
                    : [{ printer: of, agent, from, to: asked + granted * 0.9, end: asked + granted }],
                );
                if (hears) for (const { lane } of answers) cut(agent, lane);
                held.push(...spans);
                await wait(pause);
                if (givesBack) {
                  for (const { printer: of } of spans) {
                    cut(agent, of);
                    await queues.giveLeaseBack(agent, of, term);
                  }
                }
                if (late) await queues.askLeases(agent, asks, length).catch(tooLate);
              }
            }),
          );
          const overlaps = held.filter((one) =>
            held.some(
              (other) =>
                other.printer === one.printer &&
                other.agent !== one.agent &&
                other.from < one.to &&
                one.from < other.to,
            ),
          );
          grants += held.length;
          expect(overlaps).toEqual([]);
        },
      ),
      { numRuns: 12 },
    );
    expect(grants).toBeGreaterThan(0);
  });
});

it('an agent that may use one printer’s keys only gets leases of no other', async () => {
  const backend = await onRedis().open();
  const admin = new Redis(backend.redisUrl ?? '');
  const [user, password] = [`agent-${randomUUID()}`, randomUUID()];
  const [own, other] = [printerId(), printerId()];
  const keyOf = (printer: string, name: string) => `${backend.prefix}:{${printer}}:${name}`;
  // Of the commands that an agent's user needs for its queue.
  const commands = [
    '+eval',
    '+evalsha',
    '+get',
    '+getrange',
    '+set',
    '+del',
    '+exists',
    '+pttl',
    '+smembers',
  ];
  await admin.acl('SETUSER', user, 'on', `>${password}`, '-@all', ...commands, `~${keyOf(own, '*')}`);
  const connection = admin.duplicate({ username: user, password, enableReadyCheck: false });
  try {
    const refused: string[] = [];
    const leases = redisLeases(connection, keyOf, {
      onRefused: (printer) => refused.push(printer),
      onWaiting: () => undefined,
    });
    const asks = [other, own].map((printer) => ({
      lane: printer,
      term: 'process.1',
      fresh: true,
      reaches: true,
    }));
    expect(await leases.ask(ONE, asks, LONG)).toEqual([
      { lane: own, granted: LONG.alone, wanted: false, canceled: [] },
    ]);
    expect(refused).toEqual([other]);
    await leases.giveBack(ONE, own, 'process.1');
    expect(await leases.holders([own])).toEqual(new Map());
    await expect(leases.ask(ONE, asks.slice(0, 1), LONG)).rejects.toThrow('NOPERM');
  } finally {
    connection.disconnect();
    await admin.acl('DELUSER', user);
    admin.disconnect();
    await backend.close();
  }
});
