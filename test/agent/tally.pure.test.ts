/** How many labels count as printed, by what a printer without a label counter says is pending. */
import { describe, expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import type { JournalEntry } from '../../src/agent/job/journal.ts';
import { printedAtRest, Tally } from '../../src/agent/job/tally.ts';

const SETTLE = 250;

function sending(total: number, odometer: number | null = null, perPage = 1): Tally {
  const entry: JournalEntry = {
    queueId: '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f',
    printerId: 'serial-0a1b2c3d4e5f',
    delivery: 1,
    total,
    base: 0,
    odometer,
    intent: total,
    sent: 0,
    printed: 0,
  };
  return new Tally(entry, SETTLE, perPage);
}

function send(tally: Tally, counts: number[], now: number): void {
  for (const count of counts)
    tally.wrote({ bytes: new Uint8Array(100), first: tally.entry.sent, count }, now);
}

const pending = (remaining: number, formatsPending?: number): DeviceStatus => ({
  state: remaining + (formatsPending ?? 0) > 0 ? 'processing' : 'idle',
  reasons: [],
  labelsPending: remaining + (formatsPending ?? 0),
  ...(formatsPending === undefined ? {} : { formatsPending }),
  odometer: null,
});

describe('without an odometer', () => {
  test('a format that waits counts with all its copies, though the printer counts it as one', () => {
    const tally = sending(16);
    send(tally, [8, 8], 0);
    // 5 labels of the first format are to come, and the second format waits.
    tally.apply(pending(5, 1), SETTLE);
    expect([tally.entry.printed, tally.estimated]).toEqual([3, 3]);
    tally.apply(pending(2, 0), SETTLE);
    expect([tally.entry.printed, tally.estimated]).toEqual([14, 14]);
    tally.apply(pending(0, 0), SETTLE);
    expect(tally.entry.printed).toBe(16);
  });

  test('whatever a printer can mean by its answer, no more is taken for printed than is out', () => {
    for (const counts of [[1, 1, 1, 1], [8, 8], [3, 1, 5], [1, 7, 2], [4]]) {
      const total = counts.reduce((sum, count) => sum + count, 0);
      for (let out = 0; out <= total; out++) {
        // The formats that have not begun, and what is left of the one that prints.
        let before = 0;
        let formats = 0;
        let remaining = 0;
        for (const count of counts) {
          if (out <= before) formats++;
          else remaining += Math.max(0, before + count - out);
          before += count;
        }
        for (const answer of [pending(remaining, formats), pending(formats + remaining)]) {
          const tally = sending(total);
          send(tally, counts, 0);
          tally.apply(answer, SETTLE);
          expect([counts, out, tally.entry.printed <= out]).toEqual([counts, out, true]);
          if (out === total) expect(tally.entry.printed).toBe(total);
        }
      }
    }
  });

  test('formats of one label are counted exactly, once the printer has looked at them', () => {
    const tally = sending(10);
    send(tally, [1, 1, 1, 1, 1], 0);
    tally.apply(pending(2), 0);
    expect([tally.entry.printed, tally.estimated]).toEqual([0, 3]);
    tally.apply(pending(2), SETTLE);
    expect([tally.entry.printed, tally.estimated]).toEqual([3, 3]);
    send(tally, [1, 1], SETTLE);
    // It may not have seen the two new ones yet.
    tally.apply(pending(1), SETTLE + 1);
    expect(tally.entry.printed).toBe(4);
    tally.apply(pending(1), 2 * SETTLE);
    expect(tally.entry.printed).toBe(6);
  });
});

describe('sheets of 24 labels: the printer counts pages', () => {
  const counted = (odometer: number): DeviceStatus => ({
    state: 'processing',
    reasons: [],
    labelsPending: null,
    odometer,
  });

  test('with an odometer: whole pages, and a last one with fewer labels', () => {
    const tally = sending(54, 100, 24);
    send(tally, [24], 0);
    tally.apply(counted(100), 0);
    expect(tally.entry.printed).toBe(0);
    tally.apply(counted(101), 0);
    expect([tally.entry.printed, tally.outstanding]).toEqual([24, 0]);
    send(tally, [24, 6], 0);
    tally.apply(counted(102), 0);
    expect([tally.entry.printed, tally.outstanding]).toEqual([48, 6]);
    tally.apply(counted(103), 0);
    expect(tally.entry.printed).toBe(54);
    for (const odometer of [104, 102, 99]) {
      expect(() => tally.apply(counted(odometer), 0)).toThrow(/pages/);
    }
  });

  test('a page that was not sent cannot have been printed', () => {
    const tally = sending(54, 100, 24);
    send(tally, [24], 0);
    expect(() => tally.apply(counted(102), 0)).toThrow('counts 2 more pages where 0 to 1 were expected');
  });

  test('at rest, after a crash: what was intended bounds it', () => {
    const { entry } = sending(30, 100, 24);
    const told = [100, 101, 102].map((odometer) => printedAtRest(entry, odometer, 24));
    expect(told).toEqual([0, 24, 30]);
    for (const odometer of [103, 99]) {
      expect(() => printedAtRest(entry, odometer, 24)).toThrow(/pages/);
    }
    expect(() => printedAtRest({ ...entry, printed: 24 }, 100, 24)).toThrow('where 1 to 2 were expected');
    // Gone on with after the first page.
    expect(printedAtRest({ ...entry, base: 24, printed: 24 }, 101, 24)).toBe(30);
  });

  test('without an odometer: what is pending are pages, of which the last has fewer labels', () => {
    const told = [2, 1, 0].map((pages) => {
      const tally = sending(30, null, 24);
      send(tally, [24, 6], 0);
      tally.apply(pending(pages), SETTLE);
      return tally.entry.printed;
    });
    expect(told).toEqual([0, 24, 30]);
  });

  test('no more is taken for printed than is out, however many pages a document has', () => {
    for (const sent of [[24, 6], [48, 24, 1], [48, 30], [24]]) {
      const total = sent.reduce((sum, count) => sum + count, 0);
      const pages = Math.ceil(total / 24);
      for (let out = 0; out <= pages; out++) {
        const tally = sending(total, null, 24);
        send(tally, sent, 0);
        tally.apply(pending(pages - out), SETTLE);
        expect([sent, out, tally.entry.printed <= Math.min(out * 24, total)]).toEqual([sent, out, true]);
        if (out === pages) expect(tally.entry.printed).toBe(total);
      }
    }
  });
});

describe('with an odometer, what is pending, counted and sent have to add up', () => {
  const answer = (odometer: number, remaining: number, formats: number): DeviceStatus => ({
    ...pending(remaining, formats),
    odometer,
  });

  test('as long as they do, what is counted are the first labels', () => {
    const tally = sending(20, 100);
    send(tally, [1, 4, 4, 1], 0);
    for (const [odometer, remaining, formats, printed] of [
      [100, 1, 3, 0],
      [101, 4, 2, 1],
      [103, 2, 2, 3],
      [109, 1, 0, 9],
      [110, 0, 0, 10],
    ] as const) {
      tally.apply(answer(odometer, remaining, formats), SETTLE);
      expect([tally.entry.printed, tally.doubtful, tally.short]).toEqual([printed, false, false]);
    }
  });

  test('labels are gone: what was counted before is printed, what is counted after it is not known to be the first', () => {
    const tally = sending(20, 100);
    send(tally, [1, 1, 1, 1, 1, 1], 0);
    tally.apply(answer(102, 1, 3), SETTLE);
    // The third was canceled.
    tally.apply(answer(102, 1, 2), SETTLE + 1);
    expect([tally.entry.printed, tally.doubtful, tally.short]).toEqual([2, true, false]);
    tally.apply(answer(102, 1, 2), SETTLE + 2);
    expect([tally.entry.printed, tally.short]).toEqual([2, true]);
    tally.apply(answer(105, 0, 0), 2 * SETTLE);
    expect([tally.entry.printed, tally.short, tally.outstanding]).toEqual([2, true, 1]);
  });

  test('a label that comes out between the two questions is no loss', () => {
    const tally = sending(20, 100);
    send(tally, [1, 1, 1], 0);
    tally.apply(answer(100, 1, 1), SETTLE);
    expect([tally.entry.printed, tally.doubtful]).toEqual([0, true]);
    tally.apply(answer(101, 1, 1), SETTLE + 1);
    expect([tally.entry.printed, tally.doubtful, tally.short]).toEqual([1, false, false]);
  });

  test('a printer that has not looked at the newest bytes is given time', () => {
    const tally = sending(20, 100);
    send(tally, [1, 1, 1], 0);
    for (const now of [1, 2]) tally.apply(answer(100, 1, 1), now);
    expect([tally.doubtful, tally.short]).toEqual([true, false]);
    tally.apply(answer(100, 1, 2), 3);
    expect([tally.doubtful, tally.entry.printed, tally.arrived]).toEqual([false, 0, 3]);
  });

  test('a counter that lags for a moment is no loss; one that is made up for by other labels is', () => {
    const lagging = sending(20, 100);
    send(lagging, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1]) lagging.apply(answer(100, 1, 1), now);
    expect(lagging.short).toBe(true);
    lagging.apply(answer(101, 1, 1), SETTLE + 20);
    expect([lagging.short, lagging.entry.printed]).toEqual([false, 1]);

    const fed = sending(20, 100);
    send(fed, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1, 3 * SETTLE]) fed.apply(answer(102, 0, 0), now);
    fed.apply(answer(103, 0, 0), 3 * SETTLE + 1);
    expect([fed.short, fed.entry.printed]).toEqual([true, 0]);
  });
});
