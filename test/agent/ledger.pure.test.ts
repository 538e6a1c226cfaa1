/** How many labels count as printed, by what a printer says: what is out for certain, never more. */
import { describe, expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import { pending, SETTLE, type Sending, send, useSending } from '../kit/agent/sending.ts';

const { sending } = useSending();

/** Labels that are out, most likely. */
function estimated({ ledger, row }: Sending): number {
  return ledger.sent - row.outstanding;
}

describe('without an odometer', () => {
  test('a format that waits counts with all its copies, though the printer counts it as one', () => {
    const job = sending(16);
    send(job, [8, 8], 0);
    // 5 labels of the first format are to come, and the second format waits.
    job.row.confirm(pending(5, 1), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([3, 3]);
    job.row.confirm(pending(2, 0), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([14, 14]);
    job.row.confirm(pending(0, 0), SETTLE);
    expect(job.ledger.printed).toBe(16);
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
          const job = sending(total);
          send(job, counts, 0);
          job.row.confirm(answer, SETTLE);
          expect([counts, out, job.ledger.printed <= out]).toEqual([counts, out, true]);
          if (out === total) expect(job.ledger.printed).toBe(total);
        }
      }
    }
  });

  test('formats of one label are counted exactly, once the printer has looked at them', () => {
    const job = sending(10);
    send(job, [1, 1, 1, 1, 1], 0);
    job.row.confirm(pending(2), 0);
    expect([job.ledger.printed, estimated(job)]).toEqual([0, 3]);
    job.row.confirm(pending(2), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([3, 3]);
    send(job, [1, 1], SETTLE);
    // It may not have seen the two new ones yet.
    job.row.confirm(pending(1), SETTLE + 1);
    expect(job.ledger.printed).toBe(4);
    job.row.confirm(pending(1), 2 * SETTLE);
    expect(job.ledger.printed).toBe(6);
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
    const job = sending(54, 100, 24);
    send(job, [24], 0);
    job.row.confirm(counted(100), 0);
    expect(job.ledger.printed).toBe(0);
    job.row.confirm(counted(101), 0);
    expect([job.ledger.printed, job.row.outstanding]).toEqual([24, 0]);
    send(job, [24, 6], 0);
    job.row.confirm(counted(102), 0);
    expect([job.ledger.printed, job.row.outstanding]).toEqual([48, 6]);
    job.row.confirm(counted(103), 0);
    expect(job.ledger.printed).toBe(54);
    for (const odometer of [104, 102, 99]) {
      expect(() => job.row.confirm(counted(odometer), 0)).toThrow(/pages/);
    }
  });

  test('a page that was not sent cannot have been printed', () => {
    const job = sending(54, 100, 24);
    send(job, [24], 0);
    expect(() => job.row.confirm(counted(102), 0)).toThrow('counts 2 more pages where 0 to 1 were expected');
  });

  test('at rest, after a crash: what was intended bounds it', () => {
    const { ledger } = sending(30, 100, 24);
    expect([100, 101, 102].map((odometer) => ledger.printedAtRest(odometer))).toEqual([0, 24, 30]);
    for (const odometer of [103, 99]) expect(() => ledger.printedAtRest(odometer)).toThrow(/pages/);
    ledger.restore({ printed: 24 });
    expect(() => ledger.printedAtRest(100)).toThrow('where 1 to 2 were expected');
    // Gone on with after the first page.
    ledger.restore({ base: 24, sent: 24 });
    expect(ledger.printedAtRest(101)).toBe(30);
  });

  test('without an odometer: what is pending are pages, of which the last has fewer labels', () => {
    const told = [2, 1, 0].map((pages) => {
      const job = sending(30, null, 24);
      send(job, [24, 6], 0);
      job.row.confirm(pending(pages), SETTLE);
      return job.ledger.printed;
    });
    expect(told).toEqual([0, 24, 30]);
  });

  test('no more is taken for printed than is out, however many pages a document has', () => {
    for (const sent of [[24, 6], [48, 24, 1], [48, 30], [24]]) {
      const total = sent.reduce((sum, count) => sum + count, 0);
      const pages = Math.ceil(total / 24);
      for (let out = 0; out <= pages; out++) {
        const job = sending(total, null, 24);
        send(job, sent, 0);
        job.row.confirm(pending(pages - out), SETTLE);
        expect([sent, out, job.ledger.printed <= Math.min(out * 24, total)]).toEqual([sent, out, true]);
        if (out === pages) expect(job.ledger.printed).toBe(total);
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
    const job = sending(20, 100);
    send(job, [1, 4, 4, 1], 0);
    for (const [odometer, remaining, formats, printed] of [
      [100, 1, 3, 0],
      [101, 4, 2, 1],
      [103, 2, 2, 3],
      [109, 1, 0, 9],
      [110, 0, 0, 10],
    ] as const) {
      job.row.confirm(answer(odometer, remaining, formats), SETTLE);
      expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([printed, false, false]);
    }
  });

  test('labels are gone: what was counted before is printed, what is counted after it is not known to be the first', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1, 1, 1, 1], 0);
    job.row.confirm(answer(102, 1, 3), SETTLE);
    // The third was canceled.
    job.row.confirm(answer(102, 1, 2), SETTLE + 1);
    expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([2, true, false]);
    job.row.confirm(answer(102, 1, 2), SETTLE + 2);
    expect([job.ledger.printed, job.row.short]).toEqual([2, true]);
    job.row.confirm(answer(105, 0, 0), 2 * SETTLE);
    expect([job.ledger.printed, job.row.short, job.row.outstanding]).toEqual([2, true, 1]);
  });

  test('a label that comes out between the two questions is no loss', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1], 0);
    job.row.confirm(answer(100, 1, 1), SETTLE);
    expect([job.ledger.printed, job.row.doubtful]).toEqual([0, true]);
    job.row.confirm(answer(101, 1, 1), SETTLE + 1);
    expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([1, false, false]);
  });

  test('a printer that has not looked at the newest bytes is given time', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1], 0);
    for (const now of [1, 2]) job.row.confirm(answer(100, 1, 1), now);
    expect([job.row.doubtful, job.row.short]).toEqual([true, false]);
    job.row.confirm(answer(100, 1, 2), 3);
    expect([job.row.doubtful, job.ledger.printed, job.ledger.arrived]).toEqual([false, 0, 3]);
  });

  test('a counter that lags for a moment is no loss; one that is made up for by other labels is', () => {
    const lagging = sending(20, 100);
    send(lagging, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1]) lagging.row.confirm(answer(100, 1, 1), now);
    expect(lagging.row.short).toBe(true);
    lagging.row.confirm(answer(101, 1, 1), SETTLE + 20);
    expect([lagging.row.short, lagging.ledger.printed]).toEqual([false, 1]);

    const fed = sending(20, 100);
    send(fed, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1, 3 * SETTLE]) fed.row.confirm(answer(102, 0, 0), now);
    fed.row.confirm(answer(103, 0, 0), 3 * SETTLE + 1);
    expect([fed.row.short, fed.ledger.printed]).toEqual([true, 0]);
  });
});

describe('the window', () => {
  const MOST = { labels: 16, bytes: 1_000 };
  const small = { height: 25 };
  const window = ({ row }: Sending) => row.window.size(MOST, small).labels;
  const counted = (odometer: number, labelsPending: number): DeviceStatus => ({
    ...pending(labelsPending),
    odometer,
  });

  /** A printer that takes so long for a label, ms, is kept busy and asked after each. */
  function kept(job: Sending, labelMs: number, labels: number): void {
    send(job, [4], 0);
    for (let out = 1; out <= labels; out++) {
      send(job, [1], out * labelMs - 1);
      job.row.confirm(counted(100 + out, 4), out * labelMs);
    }
  }

  test('goes by the size and speed of a label, until the printer has been seen to print', () => {
    const { row } = sending(16, 100);
    expect(row.window.size(MOST, { height: 25 }).labels).toBe(9);
    expect(row.window.size(MOST, { height: 152 }).labels).toBe(2);
    expect(row.window.size(MOST, { height: 152, speed: 12 }).labels).toBe(5);
    expect(row.window.size({ ...MOST, labels: 4 }, { height: 25 }).labels).toBe(4);
  });

  test.each([
    [3_000, 2],
    [1_000, 2],
    [500, 4],
    [20, 16],
  ])('at a label in %i ms it is %i', (labelMs, labels) => {
    const job = sending(100, 100);
    kept(job, labelMs, 5);
    expect(window(job)).toBe(labels);
  });

  test('a second label is under way behind the first, however large the two are; a third is not', () => {
    const { row, ledger } = sending(16, 100);
    const large = (first: number) => ({ bytes: new Uint8Array(70_000), first, count: 1 });
    ledger.intend(16);
    ledger.took(large(0), 0);
    const size = { labels: 16, bytes: 131_072 };
    expect([row.fits(large(1), [], size), row.fits(large(2), [large(1)], size)]).toEqual([true, false]);
  });

  test('a printer that waits for media is not slower for it', () => {
    const job = sending(100, 100);
    kept(job, 500, 5);
    job.row.confirm({ ...counted(105, 4), state: 'stopped', reasons: ['media-empty'] }, 3_000);
    job.row.confirm(counted(106, 3), 60_000);
    expect(window(job)).toBe(4);
  });

  test('grows where the printer had printed all before it could be asked', () => {
    const job = sending(1_000, 100);
    const answers: number[] = [];
    // It answers after a second, and prints ten labels in that time.
    for (let [now, out] = [0, 0]; now < 20_000; now += 1_000) {
      const ahead = job.row.window.size(MOST, small);
      const next = { bytes: new Uint8Array(10), first: out, count: 1 };
      const burst: (typeof next)[] = [];
      while (job.row.fits(next, burst, ahead)) burst.push(next);
      send(
        job,
        burst.map(() => 1),
        now,
      );
      out += burst.length;
      job.row.confirm(counted(100 + out, 0), now + 1_000);
      answers.push(burst.length);
    }
    expect(answers.at(-1)).toBe(16);
  });
});
