/** How many labels count as printed, by what a printer without a label counter says is pending. */
import { describe, expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/languages/device.ts';
import type { JournalEntry } from '../../src/agent/journal.ts';
import { Tally } from '../../src/agent/tally.ts';

const SETTLE = 250;

function sending(total: number, odometer: number | null = null): Tally {
  const entry: JournalEntry = {
    jobId: '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f',
    printerId: 'serial-0a1b2c3d4e5f',
    delivery: 1,
    total,
    base: 0,
    odometer,
    intent: total,
    sent: 0,
    printed: 0,
  };
  return new Tally(entry, SETTLE);
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
