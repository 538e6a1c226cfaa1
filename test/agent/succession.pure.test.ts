import { describe, expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { Leading } from '../../src/agent/job/leading.ts';
import { type Behind, Succession } from '../../src/agent/job/succession.ts';

const never = new AbortController().signal;

/** A job behind that can join once it is told so. */
function behind(): Behind & { joined(can: boolean): void; settled: number[] } {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const settled: number[] = [];
  return {
    pages: 3,
    settled,
    joined: resolve,
    join: () => promise,
    settle: (odometer) => void settled.push(odometer),
  };
}

/** The two of them, with the one behind at the wheel. */
async function driven(): Promise<{ both: Succession; job: ReturnType<typeof behind> }> {
  const [both, job] = [new Succession(), behind()];
  const turn = both.ready(job, never);
  const given = both.offer();
  job.joined(true);
  expect(await given).toBe(true);
  await turn;
  expect(both.driven).toBe(true);
  return { both, job };
}

describe('the wheel', () => {
  test('is given when what is about to be sent is on record, and comes back with what went wrong', async () => {
    const { both, job } = await driven();
    both.say({ kind: 'told', stuck: true, reasons: ['media-empty'] });
    const error = new TransportError('connection-lost', 'gone');
    both.say({ kind: 'back', error });
    expect(await both.listen(never)).toEqual({ kind: 'told', stuck: true, reasons: ['media-empty'] });
    expect(await both.listen(never)).toEqual({ kind: 'back', error });
    expect([both.driven, both.pages]).toEqual([false, 3]);
    both.settle(107);
    expect(job.settled).toEqual([107]);
  });

  test('is not given to one that cannot join', async () => {
    const [both, job] = [new Succession(), behind()];
    const turn = both.ready(job, never);
    const given = both.offer();
    job.joined(false);
    await turn;
    expect([await given, await both.offer(), both.driven]).toEqual([false, false, false]);
  });

  test('is not given to one that has stopped waiting, or has gone', async () => {
    const [both, job, stop] = [new Succession(), behind(), new AbortController()];
    const turn = both.ready(job, stop.signal);
    const given = both.offer();
    stop.abort();
    await turn;
    job.joined(true);
    expect([await given, await both.offer(), both.driven]).toEqual([false, false, false]);
    void both.ready(job, never);
    both.leave();
    expect(await both.offer()).toBe(false);
    // What it has sent is still to come out; what becomes of it is not its any more.
    both.settle(107);
    expect([both.pages, job.settled]).toEqual([3, []]);
  });

  test('is not given to one that takes too long to write down what it is about to send', async () => {
    const [both, job] = [new Succession(), behind()];
    const turn = both.ready(job, never);
    expect(await both.offer()).toBe(false);
    await turn;
    job.joined(true);
    expect([both.joins, both.driven]).toEqual([false, false]);
  });

  test('is its own when the one ahead has ended', async () => {
    const { both } = await driven();
    both.end(true);
    expect([both.driven, both.over, both.goesBack]).toEqual([false, true, true]);
    await both.ready(behind(), never);
  });

  test('nobody waits for a word longer than until the signal', async () => {
    const { both } = await driven();
    expect(await both.listen(AbortSignal.abort())).toBeNull();
  });
});

/** A job that has sent all its labels, and lets the next one follow. */
function leading(): Leading {
  const job = new Leading({
    delivery: { follow: () => undefined, waited: true },
    ledger: {
      ...{ sent: 1, total: 1, printed: 1, odometer: 7, underWay: false, cleared: true },
      followedBy: () => undefined,
    },
    row: { pending: false, doubtful: false },
    link: { documents: false },
    sender: { handover: { follow: () => null } },
    outcome: { progress: () => undefined },
    stop: { lost: false, leave: never, end: never, leaveIfTold: () => undefined },
    alone: () => true,
    held: () => false,
  });
  job.labelsSent();
  return job;
}

test.each([true, false])(
  'one that comes when the job ahead has just ended (goes back: %s) goes by that',
  async (goesBack) => {
    const [ahead, both] = [leading(), new Succession()];
    expect(ahead.letsFollow).toBe(true);
    ahead.end(goesBack);
    ahead.followedBy(both);
    expect([both.over, both.goesBack]).toEqual([true, goesBack]);
    await both.ready(behind(), never);
  },
);
