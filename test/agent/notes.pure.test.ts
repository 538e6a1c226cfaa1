/** How many labels the notes in the queue allow an agent to send, and how many notes are written. */
import { describe, expect, test } from 'vitest';
import type { NotedLedger } from '../../src/agent/job/note.ts';
import { Notes, type NotesOptions } from '../../src/agent/job/notes.ts';

interface Course {
  total: number;
  window: number;
  alone: (printed: number) => boolean;
}

const JOB: NotedLedger & { total: number; perPage: number } = {
  perPage: 1,
  total: 1,
  base: 0,
  odometer: 1_000,
  intent: 0,
  sent: 0,
  printed: 0,
};

function options(
  entry: typeof JOB,
  of: Pick<NotesOptions, 'alone' | 'window'>,
): Omit<NotesOptions, 'delivery'> {
  const retry = { min: 1, max: 1 };
  const standing = () => entry;
  return { ...of, agentId: 'agent-0001', ledger: entry, standing, retry, onFailure: () => undefined };
}

/** Prints a job label by label, always as far ahead as note and window allow. Returns what was stored. */
async function print({ total, window, alone }: Course): Promise<NotedLedger[]> {
  const stored: NotedLedger[] = [];
  const entry = { ...JOB, total };
  const notes = new Notes({
    ...options(entry, { window, alone: () => alone(entry.printed) }),
    delivery: {
      setNote: async ({ resumeAt, underWay }) => {
        if (resumeAt !== null || underWay === undefined) throw new Error('no such note is expected');
        expect(underWay).toMatchObject({ base: 0, odometer: 1_000, printed: entry.printed });
        stored.push(underWay);
      },
    },
  });
  await notes.allow(1);
  while (entry.printed < total) {
    await notes.follow(entry.printed);
    while (entry.sent < Math.min(notes.allowed, entry.printed + window)) entry.sent += 1;
    entry.intent = entry.sent;
    expect(entry.sent).toBeLessThanOrEqual(stored.at(-1)?.intent ?? 0);
    // The printer is never without a label for want of a note.
    expect(entry.sent).toBeGreaterThan(entry.printed);
    entry.printed += 1;
  }
  return stored;
}

const never = () => false;
const always = () => true;

test.each([
  { total: 1, alone: never, commands: 1 },
  { total: 16, alone: never, commands: 1 },
  { total: 24, alone: never, commands: 2 },
  { total: 40, alone: never, commands: 4 },
  { total: 1, alone: always, commands: 1 },
  { total: 10_000, alone: always, commands: 1 },
])('$total labels, alone: $alone.name, take $commands commands', async ({ total, alone, commands }) => {
  const notes = await print({ total, window: 16, alone });
  expect(notes).toHaveLength(commands);
  for (const { printed, intent } of notes) {
    expect(intent - printed).toBeLessThanOrEqual(alone() ? total : 16);
  }
});

test.each([1, 2, 3, 7])(
  'a window of %i labels is never exceeded, and holds nothing up for ever',
  async (window) => {
    for (const { printed, intent } of await print({ total: 30, window, alone: never })) {
      expect(intent - printed).toBeLessThanOrEqual(window);
    }
  },
);

test('another agent turns up in the middle: the note allows a window from then on', async () => {
  const notes = await print({ total: 100, window: 16, alone: (printed) => printed < 20 });
  expect(notes.slice(0, 2)).toMatchObject([
    { printed: 0, intent: 100 },
    { printed: 20, intent: 36 },
  ]);
});

test('less is allowed from the moment at which that is asked for, whatever becomes of the answer', async () => {
  const entry = { ...JOB, total: 100, sent: 4, intent: 4 };
  const answers = [Promise.resolve(), Promise.reject(new Error('away'))];
  let alone = true;
  const notes = new Notes({
    ...options(entry, { window: 16, alone: () => alone }),
    delivery: { setNote: async () => await answers.shift() },
  });
  await notes.allow(4);
  expect(notes.allowed).toBe(100);
  alone = false;
  await notes.follow(0);
  expect(notes.allowed).toBe(16);
});

describe('behind another job', () => {
  /** Two jobs in the row, of 4 and 6 labels, whose notes the queue has when it is told to. */
  function row(isAlone: () => boolean) {
    const stored: [string, NotedLedger | { resumeAt: number } | undefined][] = [];
    let refuses = false;
    let gate: Promise<void> | null = null;
    const notes = (name: string, total: number, odometer: number) => {
      const entry = { ...JOB, total, odometer };
      const of = new Notes({
        ...options(entry, { window: 4, alone: isAlone }),
        delivery: {
          setNote: async ({ resumeAt, underWay }) => {
            if (refuses && name === 'first') throw new Error('away');
            stored.push([name, resumeAt === null ? underWay : { resumeAt }]);
            if (gate !== null) await gate;
          },
        },
      });
      return { of, entry };
    };
    const [first, second] = [notes('first', 4, 1_000), notes('second', 6, 1_004)];
    const refuse = (does: boolean) => {
      refuses = does;
    };
    const hold = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = null;
        resolve();
      };
    };
    return { ...{ stored, first, second, refuse, hold }, take: () => stored.splice(0) };
  }

  test('while another agent wants the printer, both notes are stored together, and say of each other', async () => {
    const { stored, first, second, take } = row(never);
    await first.of.allow(4);
    Object.assign(first.entry, { sent: 4, intent: 4 });
    expect(take()).toMatchObject([['first', { intent: 4 }]]);
    second.of.joins('first', first.of);
    const allowed = second.of.allow(1);
    // In one tick.
    expect(stored).toMatchObject([
      ['first', { base: 0, odometer: 1_000, intent: 4, behind: 4 }],
      ['second', { base: 0, odometer: 1_004, intent: 4, ahead: 'first' }],
    ]);
    await allowed;
    expect(second.of.apart).toBe(false);
    take();
    // Once its labels are out, the first one's note is its own alone.
    second.of.leads();
    Object.assign(second.entry, { sent: 4, intent: 4, printed: 2 });
    await second.of.follow(2);
    expect(take()).toMatchObject([['second', { intent: 6, ahead: 'first' }]]);
  });

  test('alone, each note is about its own job; once another agent comes, both are stored anew', async () => {
    let alone = true;
    const { first, second, take } = row(() => alone);
    await first.of.allow(4);
    Object.assign(first.entry, { sent: 4, intent: 4 });
    second.of.joins('first', first.of);
    await second.of.allow(1);
    const notes = take();
    expect(notes.map(([name]) => name)).toEqual(['first', 'second']);
    for (const [, note] of notes) expect(note).not.toHaveProperty('behind');
    expect(notes[1]?.[1]).toMatchObject({ ahead: 'first', apart: true });
    alone = false;
    expect(second.of.apart).toBe(true);
    await second.of.follow(0);
    expect(take()).toMatchObject([
      ['first', { behind: 4 }],
      ['second', { intent: 4, ahead: 'first' }],
    ]);
    expect([second.of.apart, second.of.follow(0)]).toEqual([false, null]);
  });

  test('the queue does not take the note of the job ahead: no label of this one is allowed', async () => {
    const { first, second, refuse } = row(never);
    await first.of.allow(4);
    Object.assign(first.entry, { sent: 4, intent: 4 });
    second.of.joins('first', first.of);
    refuse(true);
    await expect(second.of.allow(1)).rejects.toThrow('away');
    expect([second.of.stored, second.of.allowed]).toEqual([false, 0]);
    refuse(false);
    await second.of.allow(1);
    expect([second.of.stored, second.of.allowed, second.of.apart]).toEqual([true, 4, false]);
  });

  test('the printer at rest has told of both: the first one says nothing of the second, which is settled', async () => {
    const { first, second, take } = row(never);
    await first.of.allow(4);
    Object.assign(first.entry, { sent: 4, intent: 4 });
    second.of.joins('first', first.of);
    await second.of.allow(2);
    Object.assign(second.entry, { sent: 2, intent: 2 });
    take();
    // Two labels of the first one are out, and none of the second.
    Object.assign(first.entry, { base: 2, odometer: 1_002, printed: 2, sent: 2, intent: 2 });
    Object.assign(second.entry, { odometer: 1_002, sent: 0, intent: 0 });
    first.of.settled();
    expect(first.of.stored).toBe(false);
    second.of.settled();
    expect([second.of.stored, second.of.allowed]).toEqual([false, 0]);
    await Promise.all([first.of.follow(2), second.of.follow(0)]);
    expect(take()).toEqual([
      ['first', { resumeAt: 2 }],
      ['second', { resumeAt: 0 }],
    ]);
    await first.of.allow(4);
    expect(take()).toMatchObject([['first', { base: 2, odometer: 1_002, intent: 4 }]]);
    expect(first.of.misleads).toBe(false);
  });

  test('what is settled is told anew until the queue has taken it, and no more once labels are sent', async () => {
    const { first, take, refuse } = row(never);
    refuse(true);
    first.of.settled();
    await first.of.follow(0);
    expect([first.of.stored, take()]).toEqual([false, []]);
    refuse(false);
    // The queue is left alone for a moment.
    await expect
      .poll(() => {
        first.of.tell();
        return take();
      })
      .toEqual([['first', { resumeAt: 0 }]]);
    first.of.tell();
    expect(take()).toEqual([]);
    first.of.settled();
    await first.of.follow(0);
    take();
    refuse(true);
    first.of.settled();
    await first.of.follow(0);
    refuse(false);
    await first.of.allow(4);
    Object.assign(first.entry, { sent: 4, intent: 4 });
    take();
    await new Promise((resolve) => setTimeout(resolve, 5));
    first.of.tell();
    expect(take()).toEqual([]);
  });

  test('a note that is on its way when it is settled covers nothing, and comes before', async () => {
    const { second, take, hold } = row(never);
    const lands = hold();
    const allowed = second.of.allow(4);
    second.of.settled();
    lands();
    await allowed;
    await second.of.follow(0);
    expect(take()).toMatchObject([
      ['second', { intent: 4 }],
      ['second', { resumeAt: 0 }],
    ]);
    expect([second.of.stored, second.of.allowed]).toEqual([false, 0]);
  });

  test('the printer at rest has told of it, and nothing is sent after that: it goes back with a note', async () => {
    const { first, take } = row(always);
    await first.of.end();
    expect(take()).toEqual([]);
    Object.assign(first.entry, { base: 2, printed: 2, sent: 2, intent: 2 });
    first.of.settled();
    await first.of.end();
    expect(take()).toEqual([['first', { resumeAt: 2 }]]);
  });

  test('a note that is on its way when the queue is told covers nothing either', async () => {
    let alone = true;
    const { second, take, hold } = row(() => alone);
    second.of.settled();
    alone = false;
    const lands = hold();
    const allowed = second.of.allow(4);
    second.of.tell();
    lands();
    await Promise.all([allowed, second.of.follow(0)]);
    expect(take().at(-1)).toEqual(['second', { resumeAt: 0 }]);
    expect([second.of.stored, second.of.allowed]).toEqual([false, 0]);
  });

  test('it waits, and all that was sent is out: the queue is told once', async () => {
    const { first, take } = row(never);
    await first.of.allow(4);
    take();
    Object.assign(first.entry, { printed: 2, sent: 2, intent: 2 });
    for (const expected of [[['first', { resumeAt: 2 }]], []]) {
      first.of.waits();
      await first.of.follow(2);
      expect(take()).toEqual(expected);
    }
    // Of one under way it is not.
    await first.of.allow(4);
    take();
    Object.assign(first.entry, { sent: 4, intent: 4 });
    first.of.waits();
    expect(take()).toEqual([]);
  });

  test('alone, the queue is not told at once', async () => {
    const { second, take } = row(always);
    await second.of.allow(1);
    take();
    second.of.settled();
    expect(second.of.follow(0)).toBeNull();
    expect(take()).toEqual([]);
    expect([second.of.stored, second.of.allowed]).toEqual([true, 6]);
  });

  test('once another agent comes, it is', async () => {
    let alone = true;
    const { first, take } = row(() => alone);
    await first.of.allow(1);
    take();
    first.of.settled();
    first.of.tell();
    expect(take()).toEqual([]);
    alone = false;
    first.of.tell();
    await first.of.follow(0);
    expect(take()).toEqual([['first', { resumeAt: 0 }]]);
  });
});
