import { describe, expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
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
  expect(both.offer()).toBe(false);
  job.joined(true);
  await expect.poll(() => both.offer()).toBe(true);
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
    both.offer();
    job.joined(false);
    await turn;
    expect([both.offer(), both.driven]).toEqual([false, false]);
  });

  test('is not given to one that has stopped waiting, or has gone', async () => {
    const [both, job, stop] = [new Succession(), behind(), new AbortController()];
    const turn = both.ready(job, stop.signal);
    both.offer();
    stop.abort();
    await turn;
    job.joined(true);
    await Promise.resolve();
    expect([both.offer(), both.driven]).toEqual([false, false]);
    void both.ready(job, never);
    both.leave();
    expect(both.offer()).toBe(false);
    // What it has sent is still to come out; what becomes of it is not its any more.
    both.settle(107);
    expect([both.pages, job.settled]).toEqual([3, []]);
  });

  test('is not given where the connection was lost while it joined', async () => {
    const [both, job] = [new Succession(), behind()];
    const turn = both.ready(job, never);
    both.offer();
    expect(both.joins).toBe(true);
    both.broke();
    await turn;
    job.joined(true);
    await Promise.resolve();
    expect([both.joins, both.offer()]).toEqual([false, false]);
  });

  test('is its own when the one ahead has ended', async () => {
    const { both } = await driven();
    both.end();
    expect([both.driven, both.over]).toEqual([false, true]);
    await both.ready(behind(), never);
  });

  test('nobody waits for a word longer than until the signal', async () => {
    const { both } = await driven();
    expect(await both.listen(AbortSignal.abort())).toBeNull();
  });
});
