/** The loop of a printer, with two jobs in hand: whose labels go out when, and what becomes of them where one leaves. */
import { describe, expect, test, vi } from 'vitest';
import { InterruptedError } from '../../src/agent/job/stop-signals.ts';
import { RenderCrash } from '../../src/rendering/render-pool.ts';
import { all, bothUnderWay, CountingPrinter, LoopJob, turns } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

const both = (before?: (behind: LoopJob, first: LoopJob) => void) => bothUnderWay(journal, before);

test('its labels are there before those of the first job are out; the connection is its own when they are', async () => {
  const { printer, first, behind, ahead, next } = await both();
  await expect.poll(() => printer.waiting.length).toBe(12);
  printer.prints(2);
  await ahead;
  first.leaves();
  printer.prints(10);
  await next;
  behind.leaves();
  expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 10)]);
  await expect.poll(() => printer.released).toEqual([true]);
});

test('another agent wants the printer: its labels go out once the queue has both notes', async () => {
  const notes = Promise.withResolvers<void>();
  const { printer, first, behind, ahead, next } = await both((_, job) => {
    job.printer.alone = false;
    job.notes = notes.promise;
  });
  await expect.poll(() => behind.noted).not.toEqual([]);
  await turns();
  expect(printer.waiting).toEqual(all('a', 0, 2));
  notes.resolve();
  await expect.poll(() => printer.waiting.length).toBe(12);
  expect(first.noted.at(-1)).toMatchObject({ underWay: { base: 0, odometer: 100, intent: 2, behind: 10 } });
  expect(behind.noted.at(-1)).toMatchObject({
    underWay: { base: 0, odometer: 102, intent: 10, ahead: first.ledger.queueId },
  });
  printer.prints(12);
  await ahead;
  first.leaves();
  await next;
  behind.leaves();
  expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 10)]);
});

test('labels are gone while another agent wants the printer: both notes say so', async () => {
  const { printer, first, behind } = await both((_, job) => {
    job.printer.alone = false;
  });
  await expect.poll(() => printer.waiting.length).toBe(12);
  printer.waiting.splice(1, 1);
  for (const { noted } of [first, behind])
    await expect.poll(() => noted.at(-1)).toMatchObject({ underWay: { odometer: null } });
  for (const job of [first, behind]) job.signals.end.abort();
});

describe('it comes again after its agent was killed', () => {
  /** All its labels had been sent behind those of the first job. */
  const again = (printed: number) => (behind: LoopJob) => {
    behind.ledger.restore({ base: 0, odometer: 102, printed, sent: 10, intent: 10 });
    behind.ledger.keep();
  };

  test.each([
    { out: 10, sends: [] },
    { out: 6, sends: all('b', 6, 10) },
  ])('$out of its labels are out, as the first job finds: it goes on behind it', async ({ out, sends }) => {
    const { printer, first, behind, ahead, next } = await both(again(3));
    await turns();
    // Nobody knows yet what became of them.
    expect(printer.waiting).toEqual(all('a', 0, 2));
    printer.paper.push(...all('a', 0, 2), ...all('b', 0, out));
    printer.breaks(true);
    await ahead;
    expect([behind.ledger.printed, behind.ledger.base]).toEqual([out, out]);
    first.leaves();
    await expect.poll(() => printer.waiting).toEqual(sends);
    printer.prints(10);
    await next;
  });

  test('and nobody knows what the counter showed before them: they are not settled by the first', async () => {
    const { printer, first, behind, ahead, next } = await both((job) =>
      job.ledger.restore({ base: 0, odometer: null, printed: 3, sent: 10, intent: 10 }),
    );
    printer.breaks();
    await turns();
    printer.prints(2);
    await ahead;
    first.leaves();
    await expect(next).rejects.toThrow(/cut off/);
    expect([behind.ledger.printed, behind.ledger.intent]).toEqual([3, 10]);
  });
});

describe('the agent is killed with both under way, and the printer loses its power', () => {
  /** Nothing more of what was sent comes out. The first job comes again alone, and is to find out what is out of both. */
  async function killed(out: number) {
    const { printer, first, behind } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    printer.prints(out);
    await expect.poll(() => first.ledger.printed + behind.ledger.printed).toBe(out);
    const after = new CountingPrinter(printer);
    const again = new LoopJob(journal, after, 'a', 2, first);
    return { after, again, ahead: again.prints(), next: () => new LoopJob(journal, after, 'b', 10, behind) };
  }

  test.each([
    { out: 0, sends: 0 },
    { out: 1, sends: 0 },
    { out: 2, sends: 0 },
    { out: 5, sends: 3 },
    { out: 12, sends: 10 },
  ])(
    '$out are out: labels of others that come out later are none of the second job',
    async ({ out, sends }) => {
      const { after, again, ahead, next } = await killed(out);
      const rest = Math.max(0, 2 - out);
      await expect.poll(() => after.waiting).toEqual(all('a', 2 - rest, 2));
      after.prints(rest);
      await ahead;
      again.leaves();
      after.paper.push(...all('feed', 0, 3));
      const second = next();
      const printed = second.prints();
      await expect.poll(() => after.waiting).toEqual(all('b', sends, 10));
      after.prints(10);
      await printed;
      expect(after.paper.filter((label) => label.startsWith('b'))).toEqual(all('b', 0, 10));
    },
  );

  test('a label of others comes out among those of the first: that one is held, the second is whole', async () => {
    const { after, again, ahead, next } = await killed(0);
    await expect.poll(() => after.waiting).toEqual(all('a', 0, 2));
    after.paper.push('feed');
    after.prints(2);
    await expect(ahead).rejects.toThrow(/counts 3/);
    again.leaves();
    const second = next();
    const printed = second.prints();
    await expect.poll(() => after.waiting).toEqual(all('b', 0, 10));
    after.prints(10);
    await printed;
  });
});

test('however long the printer takes to take them: it is not asked in the middle of them', async () => {
  const takes = Promise.withResolvers<void>();
  const { printer } = await both((job) => {
    job.printer.takes = takes.promise;
  });
  await expect.poll(() => printer.offered).toBe(3);
  const { asked } = printer;
  // Longer than it may take to write down what is sent.
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect(printer.asked).toBe(asked);
  takes.resolve();
  await expect.poll(() => printer.waiting.length).toBe(12);
});

test('a printer that stands still: both say why', async () => {
  const { printer, first, behind } = await both();
  await expect.poll(() => printer.waiting.length).toBe(12);
  printer.stands = true;
  await expect.poll(() => [first.said, behind.said].every((said) => said.includes('media-empty'))).toBe(true);
});

describe('its labels are not sent', () => {
  test('where they cannot be made: it fails alone', async () => {
    const { printer, ahead, next } = await both((job) => {
      job.fails.peek = new RenderCrash('no');
    });
    await expect(next).rejects.toThrow(RenderCrash);
    printer.prints(2);
    await ahead;
    expect(printer.paper).toEqual(all('a', 0, 2));
  });

  test('where it takes too long to write them down: that is taken back, and tried again', async () => {
    const gate = Promise.withResolvers<void>();
    const { printer, behind } = await both((job) => {
      job.notes = gate.promise;
    });
    const takenBack = vi.spyOn(behind.ledger, 'withdraw');
    await expect.poll(() => takenBack.mock.calls.length).toBeGreaterThan(1);
    expect(printer.waiting).toEqual(all('a', 0, 2));
    gate.resolve();
    await expect.poll(() => printer.waiting.length).toBe(12);
  });
});

describe('the first job leaves', () => {
  test('the one behind has begun: the printer is its own', async () => {
    const { printer, first, ahead, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    printer.stands = true;
    first.signals.leave.abort();
    await expect(ahead).rejects.toThrow(InterruptedError);
    first.leaves(true);
    printer.stands = false;
    printer.prints(12);
    await next;
    expect(printer.released).toEqual([true]);
  });

  test.each([true, false])('the one behind has not begun; goes back: %s', async (goesBack) => {
    const gate = Promise.withResolvers<void>();
    const { printer, first, behind, ahead, next } = await both((job) => {
      job.notes = gate.promise;
    });
    printer.stands = true;
    first.signals.leave.abort();
    await expect(ahead).rejects.toThrow(InterruptedError);
    gate.resolve();
    // Not before it is on record what became of the first one.
    await turns();
    expect([printer.waiting, behind.ledger.intent]).toEqual([all('a', 0, 2), 0]);
    first.leaves(goesBack);
    printer.stands = false;
    printer.prints(2);
    if (goesBack) await expect(next).rejects.toThrow(InterruptedError);
    else await expect.poll(() => printer.waiting).toEqual(all('b', 0, 10));
  });

  test('with its end on record but not on the disk, and goes back: the one behind has the printer, and keeps it', async () => {
    const [notes, connects] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { printer, first, behind, ahead, next } = await both((job) => {
      job.notes = notes.promise;
    });
    printer.connects = connects.promise;
    printer.prints(2);
    await ahead;
    notes.resolve();
    first.place?.over.resolve();
    await turns();
    first.leaves(true);
    await turns();
    connects.resolve();
    await expect.poll(() => printer.waiting.length).toBe(10);
    printer.prints(10);
    await next;
    behind.leaves();
    expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 10)]);
  });

  test('while a person holds the printer: the one behind goes back, if it has not begun', async () => {
    const gate = Promise.withResolvers<void>();
    const { printer, first, ahead, next } = await both((job) => {
      job.notes = gate.promise;
    });
    printer.held = true;
    gate.resolve();
    printer.prints(2);
    await ahead;
    first.leaves();
    await expect(next).rejects.toThrow(InterruptedError);
  });
});

describe('the one behind leaves', () => {
  test('what it has sent is still to come out, and what becomes of it is not its any more', async () => {
    const { printer, behind, ahead, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    behind.signals.end.abort();
    behind.signals.leave.abort();
    await expect(next).rejects.toThrow(InterruptedError);
    behind.leaves(true);
    printer.breaks();
    printer.prints(12);
    await ahead;
    expect(behind.ledger.printed).toBe(0);
  });

  test('at the moment at which the printer becomes its own: its connection is not kept', async () => {
    const { printer, first, behind, ahead, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    printer.prints(2);
    await ahead;
    behind.signals.end.abort();
    behind.signals.leave.abort();
    await expect(next).rejects.toThrow(InterruptedError);
    first.leaves();
    behind.leaves(true);
    await expect.poll(() => printer.released).toEqual([false]);
  });
});
