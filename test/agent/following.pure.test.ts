/** The job behind another one, whose labels the job ahead sends, and settles by what the printer told of both. */
import { describe, expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { timings } from '../../src/agent/config.ts';
import { Following } from '../../src/agent/job/following.ts';
import { Labels } from '../../src/agent/job/labels.ts';
import { Leading } from '../../src/agent/job/leading.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { Row } from '../../src/agent/job/row.ts';
import { Sender } from '../../src/agent/job/sender.ts';
import { Interrupted, Stop } from '../../src/agent/job/stop.ts';
import { RenderCrash } from '../../src/rendering/render-pool.ts';
import type { Chunk } from '../../src/rendering/render-protocol.ts';
import { logger } from '../kit/agent/site.ts';
import { useJournal } from '../kit/agent/use-journal.ts';
import { job as sampleJob } from '../kit/queue/samples.ts';

const journal = useJournal();
const never = new AbortController().signal;
const window = { labels: 16, bytes: 65_536 };
let printers = 0;

interface Behind {
  ledger: Ledger;
  following: Following;
  leave: AbortController;
  end: AbortController;
  /** Labels that were sent. */
  out: number[];
  /** What the job said of the printer. */
  said: string[];
  fails: { connect?: Error; peek?: Error };
  /** It takes a note when that is resolved. */
  queue: { notes: PromiseWithResolvers<void> };
}

/** A job of ten labels, behind another one. */
function behind(): Behind {
  const printerId = `serial-${String(++printers).padStart(12, '0')}`;
  const job = sampleJob(printerId);
  const row = new Row();
  const ledger = new Ledger({
    ...{ journal, row, queueId: crypto.randomUUID(), printerId, delivery: 2 },
    ...{ total: 10, from: 0, perPage: 1 },
  });
  row.begin({ perPage: 1, told: () => undefined }, 96);
  const [leave, end] = [new AbortController(), new AbortController()];
  const stop = new Stop({
    signals: { leave: leave.signal, boundary: never, end: end.signal },
    ...{ lost: never, cancel: never, checkTerm: () => undefined, confirmMs: 1 },
  });
  const [out, said]: [number[], string[]] = [[], []];
  const fails: Behind['fails'] = {};
  const notes = Promise.withResolvers<void>();
  notes.resolve();
  const queue = { notes };
  const open = (_: unknown, { from }: { from: number }) => {
    let next = from;
    return {
      ...{ from, available: true },
      check: async () => undefined,
      peek: async () => {
        if (fails.peek !== undefined) throw fails.peek;
        return next < 10 ? { bytes: new Uint8Array(5), first: next, count: 1 } : null;
      },
      taken: () => {
        next += 1;
      },
      close: () => undefined,
    };
  };
  const labels = new Labels({ open } as never, job, {
    ...{ documents: false, most: window, ahead: () => window, blind: () => false },
  });
  const link = {
    documents: false,
    connect: async () => {
      if (fails.connect !== undefined) throw fails.connect;
    },
    begin: async () => undefined,
    send: async (chunk: Chunk) => {
      ledger.took(chunk, performance.now());
      out.push(chunk.first);
      return null;
    },
  } as never;
  const delivery = { job, setNote: () => queue.notes.promise } as never;
  const sender = new Sender({
    ...{ agentId: 'agent-0001', delivery, ledger, row, link, labels, window, stop, log: logger },
    ...{
      timings: timings.parse({}),
      ahead: () => window,
      alone: () => true,
      readAgain: async () => undefined,
    },
  });
  const outcome = { progress: (reasons: readonly string[]) => void said.push(...reasons) } as never;
  const following = new Following({ ledger, sender, labels, link, outcome, stop, held: () => false });
  return { ledger, following, leave, end, out, said, fails, queue };
}

/** It has sent all its labels, and its agent was killed: it comes again, behind another job. */
function again(printed: number): Behind {
  const job = behind();
  job.ledger.restore({ base: 0, odometer: 100, printed, sent: 10, intent: 10 });
  return job;
}

describe('it comes again after its agent was killed', () => {
  test('all of its labels are out, as the job ahead has found: it sends none, and ends when that job has', async () => {
    const { ledger, following } = again(3);
    const turn = following.turn();
    following.settle(110);
    expect([ledger.printed, ledger.uncertain]).toEqual([10, false]);
    await new Promise(setImmediate);
    expect(await following.send()).toBe(false);
    following.end(false);
    expect(await turn).toBe(false);
  });

  test('some are: it goes on behind the job ahead at the first that is not', async () => {
    const { ledger, following, out } = again(3);
    void following.turn();
    following.settle(106);
    await new Promise(setImmediate);
    expect(await following.send()).toBe(true);
    expect(out).toEqual([6, 7, 8, 9]);
    expect([ledger.sent, ledger.intent]).toEqual([10, 10]);
  });

  test('the connection is gone before what is on record is sent: that is taken back, and written down anew', async () => {
    const { ledger, following, fails, out } = again(3);
    const turn = following.turn();
    following.settle(106);
    await new Promise(setImmediate);
    fails.connect = new TransportError('connection-lost', 'gone');
    await expect(following.send()).rejects.toThrow(fails.connect);
    expect([ledger.intent, ledger.sent, out]).toEqual([6, 6, []]);
    following.end(false);
    expect(await turn).toBe(false);
  });
});

describe('its labels', () => {
  test('are sent, and settled by the job ahead where the connection breaks', async () => {
    const { ledger, following, said, out } = behind();
    void following.turn();
    await new Promise(setImmediate);
    expect(await following.send()).toBe(true);
    expect([following.live, following.pages, out.length]).toEqual([true, 10, 10]);
    following.told(true, ['media-empty']);
    expect(said).toEqual(['media-empty']);
    // On the connection that is open, the printer's answers tell.
    following.settle(103);
    expect(ledger.printed).toBe(0);
    following.cut();
    expect([following.live, following.pages]).toEqual([false, 10]);
    following.settle(103);
    expect([ledger.printed, ledger.base, following.pages]).toEqual([7, 7, 0]);
    await new Promise(setImmediate);
    expect(await following.send()).toBe(true);
    expect(out.slice(10)).toEqual([7, 8, 9]);
  });

  test('are not sent where they cannot be made: it fails alone', async () => {
    const { following, fails, out } = behind();
    const turn = following.turn();
    await new Promise(setImmediate);
    fails.peek = new RenderCrash('no');
    expect(await following.send()).toBe(false);
    await expect(turn).rejects.toThrow(RenderCrash);
    expect([following.live, out]).toEqual([false, []]);
  });

  test('are not sent before it is ready, or when it has to leave, or has left', async () => {
    const first = behind();
    expect(await first.following.send()).toBe(false);
    const turn = first.following.turn();
    await new Promise(setImmediate);
    first.leave.abort();
    expect(await first.following.send()).toBe(false);
    await expect(turn).rejects.toThrow(Interrupted);
    const second = behind();
    void second.following.turn();
    await new Promise(setImmediate);
    await second.following.send();
    second.following.leaves();
    expect(await second.following.send()).toBe(false);
    // What it has sent is still to come out; what becomes of it is not its any more.
    second.following.settle(103);
    expect([second.following.pages, second.ledger.printed]).toEqual([10, 0]);
  });

  test('are not sent where it takes too long to write them down, and that is taken back', async () => {
    const job = behind();
    job.queue.notes = Promise.withResolvers();
    void job.following.turn();
    await new Promise(setImmediate);
    expect(await job.following.send()).toBe(false);
    expect(await job.following.send()).toBe(false);
    job.queue.notes.resolve();
    await new Promise(setImmediate);
    expect([job.ledger.intent, job.following.live, job.out]).toEqual([0, false, []]);
    await expect.poll(() => job.following.send()).toBe(true);
    expect(job.out.length).toBe(10);
  });
});

describe('the printer is its own', () => {
  test.each([true, false])('when the job ahead has ended: goes back %s', async (goesBack) => {
    const { following } = behind();
    const turn = following.turn();
    await new Promise(setImmediate);
    await following.send();
    following.end(goesBack);
    expect(await turn).toBe(true);
    // Its own connection broke after that.
    expect(await following.turn()).toBe(false);
  });

  test('when the job ahead has no more to do there', async () => {
    const { following } = behind();
    const turn = following.turn();
    await new Promise(setImmediate);
    expect([following.handOver(), following.waits]).toEqual([false, true]);
    await following.send();
    expect([following.handOver(), following.waits]).toEqual([true, false]);
    expect(await turn).toBe(true);
  });

  test('but not where it has not begun, and the job ahead comes again before it', async () => {
    const { following } = behind();
    const turn = following.turn();
    following.end(true);
    await expect(turn).rejects.toThrow(Interrupted);
  });
});

test('nobody waits longer than until the end', async () => {
  const { following, end } = behind();
  const turn = following.turn();
  await new Promise(setImmediate);
  await following.send();
  end.abort();
  await expect(turn).rejects.toThrow(Interrupted);
});

/** A job that has sent all its labels, and lets the next one follow. */
function leading(): Leading {
  const job = new Leading({
    delivery: { follow: () => undefined, waited: true },
    ledger: { sent: 1, total: 1, odometer: 7, underWay: false, cleared: true },
    row: { pending: false, doubtful: false },
    link: { documents: false },
    outcome: { reasons: [] },
    stop: { lost: false, leave: never },
    alone: () => true,
    held: () => false,
  });
  job.labelsSent();
  return job;
}

test.each([true, false])(
  'one that comes when the job ahead has just ended (goes back: %s) goes by that',
  async (goesBack) => {
    const [ahead, { following }] = [leading(), behind()];
    expect(ahead.letsFollow).toBe(true);
    ahead.end(goesBack);
    ahead.followedBy(following);
    if (goesBack) await expect(following.turn()).rejects.toThrow(Interrupted);
    else expect(await following.turn()).toBe(false);
  },
);
