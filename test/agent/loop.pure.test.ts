/** The loop of a printer, with two jobs in hand: whose labels go out when, and what becomes of them where one leaves. */
import { describe, expect, test, vi } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { Interrupted } from '../../src/agent/job/stop.ts';
import { RenderCrash } from '../../src/rendering/render-pool.ts';
import { CountingPrinter, LoopJob } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

/** A job of two labels at a printer that has printed neither, and one of ten behind it. */
async function both(before: (behind: LoopJob, first: LoopJob) => void = () => undefined) {
  const printer = new CountingPrinter();
  const [first, behind] = [new LoopJob(journal, printer, 'a', 2), new LoopJob(journal, printer, 'b', 10)];
  const ahead = first.prints();
  await expect.poll(() => printer.waiting.length).toBe(2);
  before(behind, first);
  const next = behind.prints(true);
  return { printer, first, behind, ahead, next };
}

const all = (name: string, from: number, upTo: number) =>
  Array.from({ length: upTo - from }, (_, at) => `${name}${from + at}`);

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

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

describe('the connection breaks', () => {
  test('after the first job was canceled, all of which is still in the printer: the one behind loses nothing', async () => {
    const { printer, first, ahead, behind, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    printer.stands = true;
    await expect.poll(() => behind.said).toContain('media-empty');
    first.signals.cancel.abort();
    await expect(ahead).rejects.toThrow(Interrupted);
    first.leaves();
    printer.breaks();
    await turns();
    printer.stands = false;
    printer.prints(1);
    await turns();
    printer.prints(11);
    await next;
    expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 10)]);
  });

  test('with labels of both under way: one reading settles both, and both go on', async () => {
    const { printer, first, behind, ahead, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    printer.prints(5);
    printer.breaks(true);
    await ahead;
    first.leaves();
    await expect.poll(() => [behind.ledger.base, printer.waiting]).toEqual([3, all('b', 3, 10)]);
    printer.prints(7);
    await next;
    expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 10)]);
  });

  test('before what is on record is sent: that is taken back, and written down anew', async () => {
    const gate = Promise.withResolvers<void>();
    const { printer, first, behind, ahead, next } = await both((job) => {
      job.notes = gate.promise;
    });
    await expect.poll(() => behind.ledger.intent).toBe(10);
    printer.breaks();
    gate.resolve();
    await expect.poll(() => behind.ledger.intent).toBe(0);
    expect(printer.waiting).toEqual(all('a', 0, 2));
    printer.prints(2);
    await ahead;
    first.leaves();
    await expect.poll(() => printer.waiting).toEqual(all('b', 0, 10));
    printer.prints(10);
    await next;
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
    await expect(ahead).rejects.toThrow(Interrupted);
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
    await expect(ahead).rejects.toThrow(Interrupted);
    gate.resolve();
    // Not before it is on record what became of the first one.
    await turns();
    expect([printer.waiting, behind.ledger.intent]).toEqual([all('a', 0, 2), 0]);
    first.leaves(goesBack);
    printer.stands = false;
    printer.prints(2);
    if (goesBack) await expect(next).rejects.toThrow(Interrupted);
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
    await expect(next).rejects.toThrow(Interrupted);
  });
});

describe('the one behind leaves', () => {
  test('what it has sent is still to come out, and what becomes of it is not its any more', async () => {
    const { printer, behind, ahead, next } = await both();
    await expect.poll(() => printer.waiting.length).toBe(12);
    behind.signals.end.abort();
    behind.signals.leave.abort();
    await expect(next).rejects.toThrow(Interrupted);
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
    await expect(next).rejects.toThrow(Interrupted);
    first.leaves();
    behind.leaves(true);
    await expect.poll(() => printer.released).toEqual([false]);
  });
});

describe('a person cancels the first job: the printer forgets what waits in it', () => {
  /** A job of forty labels, sixteen of which wait at a printer that is not asked again for a day. */
  async function printing(before: (job: LoopJob) => void = () => undefined) {
    const printer = new CountingPrinter();
    const job = new LoopJob(journal, printer, 'a', 40);
    before(job);
    const printed = job.prints();
    await expect.poll(() => printer.waiting.length).toBe(16);
    return { printer, job, printed };
  }
  const asleep = (job: LoopJob) => {
    job.printer.askedAfter = 2 ** 31 - 1;
  };

  test('it was not to be asked for long: it is asked once, and told', async () => {
    const { printer, job, printed } = await printing(asleep);
    const { asked, offered } = printer;
    job.signals.cancel.abort();
    await expect(printed).rejects.toThrow(Interrupted);
    expect([printer.forgot, printer.asked - asked, printer.offered - offered]).toEqual([1, 1, 0]);
    expect(printer.paper).toEqual(['a0']);
    expect([job.ledger.printed, job.ledger.uncertain]).toEqual([1, false]);
  });

  test('a question is under way: its answer is enough', async () => {
    const { printer, job, printed } = await printing();
    const answers = Promise.withResolvers<void>();
    printer.answers = answers.promise;
    const { asked } = printer;
    await expect.poll(() => printer.asked).toBeGreaterThan(asked);
    const asking = printer.asked;
    job.signals.cancel.abort();
    await turns();
    expect(printer.forgot).toBe(0);
    answers.resolve();
    await expect(printed).rejects.toThrow(Interrupted);
    expect([printer.forgot, printer.asked - asking, printer.paper.length]).toEqual([1, 0, 1]);
  });

  test('its next label is being made: nobody waits for that', async () => {
    const { printer, job, printed } = await printing();
    job.made = new Promise(() => undefined);
    await expect.poll(() => job.making).toBe(1);
    const { asked, offered } = printer;
    job.signals.cancel.abort();
    await expect(printed).rejects.toThrow(Interrupted);
    expect([printer.forgot, printer.asked - asked, printer.offered - offered]).toEqual([1, 1, 0]);
    expect(printer.paper.length).toBe(1);
  });

  test('a label is on its way: no other follows it, and the printer is asked at once', async () => {
    const { printer, job, printed } = await printing();
    const takes = Promise.withResolvers<void>();
    printer.takes = takes.promise;
    const { offered } = printer;
    printer.prints(8);
    await expect.poll(() => printer.offered).toBe(offered + 1);
    asleep(job);
    const { asked } = printer;
    job.signals.cancel.abort();
    takes.resolve();
    await expect(printed).rejects.toThrow(Interrupted);
    expect([printer.forgot, printer.asked - asked, printer.offered - offered]).toEqual([1, 1, 1]);
    expect(printer.paper.length).toBe(9);
  });

  test('its connection is broken: what is out of it is found out first', async () => {
    const { printer, job, printed } = await printing();
    printer.prints(2);
    const connects = Promise.withResolvers<void>();
    printer.connects = connects.promise;
    printer.breaks();
    job.signals.cancel.abort();
    await turns();
    connects.resolve();
    printer.prints(14);
    await expect(printed).rejects.toThrow(Interrupted);
    expect([job.ledger.printed, job.ledger.uncertain, printer.offered]).toEqual([16, false, 16]);
  });

  test('its connection is broken, and the printer is gone: it does not wait for long', async () => {
    const { printer, job, printed } = await printing();
    printer.connects = Promise.reject(new TransportError('device-unreachable', 'off'));
    printer.connects.catch(() => undefined);
    printer.breaks();
    job.signals.cancel.abort();
    await expect(printed).rejects.toThrow();
    expect([job.ledger.printed, job.ledger.intent]).toEqual([0, 16]);
  });

  test('all its labels are out, and one of them is still to be taken: it is printed', async () => {
    const printer = new CountingPrinter();
    const job = new LoopJob(journal, printer, 'a', 3);
    const printed = job.prints();
    await expect.poll(() => printer.waiting.length).toBe(3);
    vi.spyOn(printer, 'status').mockImplementation(() => ({
      ...{ state: 'processing', reasons: ['label-waiting'], labelsPending: 1, formatsPending: 1 },
      odometer: 100 + printer.paper.length,
    }));
    printer.prints(3);
    await expect.poll(() => job.ledger.printed).toBe(3);
    job.signals.cancel.abort();
    await printed;
    expect(printer.forgot).toBe(0);
  });

  test('not where labels of others wait too: those of the job come out', async () => {
    const { printer, job, printed } = await printing(asleep);
    printer.waiting.push('of another sender');
    job.signals.cancel.abort();
    printer.askedAfter = 1;
    await turns();
    expect(printer.forgot).toBe(0);
    printer.prints(17);
    await expect(printed).rejects.toThrow();
    expect(printer.paper.slice(0, 16)).toEqual(all('a', 0, 16));
    expect(printer.forgot).toBe(0);
  });
});
