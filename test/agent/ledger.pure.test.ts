/** How many labels count as printed, by what a printer says: what is out for certain, never more. */
import { describe, expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { Row } from '../../src/agent/job/row.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const SETTLE = 250;

const journal = useJournal();
let jobs = 0;

interface Sending {
  row: Row;
  ledger: Ledger;
}

/** Of another printer than any before it: what a printer counts of one job spoils the count of an unfinished one. */
function open(row: Row, total: number, perPage: number): Ledger {
  const queueId = `00000000-0000-0000-0000-${String(++jobs).padStart(12, '0')}`;
  const printerId = `serial-${String(jobs).padStart(12, '0')}`;
  return new Ledger({ journal, row, queueId, printerId, delivery: 1, total, from: 0, perPage });
}

function sending(total: number, odometer: number | null = null, perPage = 1): Sending {
  const row = new Row(SETTLE);
  const ledger = open(row, total, perPage);
  ledger.begin(odometer);
  ledger.intend(total);
  return { row, ledger };
}

function send({ ledger }: Sending, counts: number[], now: number): void {
  for (const count of counts) ledger.took({ bytes: new Uint8Array(100), first: ledger.sent, count }, now);
}

/** Labels that are out, most likely. */
function estimated({ ledger, row }: Sending): number {
  return ledger.sent - row.outstanding;
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
    const job = sending(16);
    send(job, [8, 8], 0);
    // 5 labels of the first format are to come, and the second format waits.
    job.ledger.confirm(pending(5, 1), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([3, 3]);
    job.ledger.confirm(pending(2, 0), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([14, 14]);
    job.ledger.confirm(pending(0, 0), SETTLE);
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
          job.ledger.confirm(answer, SETTLE);
          expect([counts, out, job.ledger.printed <= out]).toEqual([counts, out, true]);
          if (out === total) expect(job.ledger.printed).toBe(total);
        }
      }
    }
  });

  test('formats of one label are counted exactly, once the printer has looked at them', () => {
    const job = sending(10);
    send(job, [1, 1, 1, 1, 1], 0);
    job.ledger.confirm(pending(2), 0);
    expect([job.ledger.printed, estimated(job)]).toEqual([0, 3]);
    job.ledger.confirm(pending(2), SETTLE);
    expect([job.ledger.printed, estimated(job)]).toEqual([3, 3]);
    send(job, [1, 1], SETTLE);
    // It may not have seen the two new ones yet.
    job.ledger.confirm(pending(1), SETTLE + 1);
    expect(job.ledger.printed).toBe(4);
    job.ledger.confirm(pending(1), 2 * SETTLE);
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
    job.ledger.confirm(counted(100), 0);
    expect(job.ledger.printed).toBe(0);
    job.ledger.confirm(counted(101), 0);
    expect([job.ledger.printed, job.row.outstanding]).toEqual([24, 0]);
    send(job, [24, 6], 0);
    job.ledger.confirm(counted(102), 0);
    expect([job.ledger.printed, job.row.outstanding]).toEqual([48, 6]);
    job.ledger.confirm(counted(103), 0);
    expect(job.ledger.printed).toBe(54);
    for (const odometer of [104, 102, 99]) {
      expect(() => job.ledger.confirm(counted(odometer), 0)).toThrow(/pages/);
    }
  });

  test('a page that was not sent cannot have been printed', () => {
    const job = sending(54, 100, 24);
    send(job, [24], 0);
    expect(() => job.ledger.confirm(counted(102), 0)).toThrow(
      'counts 2 more pages where 0 to 1 were expected',
    );
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
      job.ledger.confirm(pending(pages), SETTLE);
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
        job.ledger.confirm(pending(pages - out), SETTLE);
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
      job.ledger.confirm(answer(odometer, remaining, formats), SETTLE);
      expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([printed, false, false]);
    }
  });

  test('labels are gone: what was counted before is printed, what is counted after it is not known to be the first', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1, 1, 1, 1], 0);
    job.ledger.confirm(answer(102, 1, 3), SETTLE);
    // The third was canceled.
    job.ledger.confirm(answer(102, 1, 2), SETTLE + 1);
    expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([2, true, false]);
    job.ledger.confirm(answer(102, 1, 2), SETTLE + 2);
    expect([job.ledger.printed, job.row.short]).toEqual([2, true]);
    job.ledger.confirm(answer(105, 0, 0), 2 * SETTLE);
    expect([job.ledger.printed, job.row.short, job.row.outstanding]).toEqual([2, true, 1]);
  });

  test('a label that comes out between the two questions is no loss', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1], 0);
    job.ledger.confirm(answer(100, 1, 1), SETTLE);
    expect([job.ledger.printed, job.row.doubtful]).toEqual([0, true]);
    job.ledger.confirm(answer(101, 1, 1), SETTLE + 1);
    expect([job.ledger.printed, job.row.doubtful, job.row.short]).toEqual([1, false, false]);
  });

  test('a printer that has not looked at the newest bytes is given time', () => {
    const job = sending(20, 100);
    send(job, [1, 1, 1], 0);
    for (const now of [1, 2]) job.ledger.confirm(answer(100, 1, 1), now);
    expect([job.row.doubtful, job.row.short]).toEqual([true, false]);
    job.ledger.confirm(answer(100, 1, 2), 3);
    expect([job.row.doubtful, job.ledger.printed, job.ledger.arrived]).toEqual([false, 0, 3]);
  });

  test('a counter that lags for a moment is no loss; one that is made up for by other labels is', () => {
    const lagging = sending(20, 100);
    send(lagging, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1]) lagging.ledger.confirm(answer(100, 1, 1), now);
    expect(lagging.row.short).toBe(true);
    lagging.ledger.confirm(answer(101, 1, 1), SETTLE + 20);
    expect([lagging.row.short, lagging.ledger.printed]).toEqual([false, 1]);

    const fed = sending(20, 100);
    send(fed, [1, 1, 1], 0);
    for (const now of [SETTLE, SETTLE + 1, 3 * SETTLE]) fed.ledger.confirm(answer(102, 0, 0), now);
    fed.ledger.confirm(answer(103, 0, 0), 3 * SETTLE + 1);
    expect([fed.row.short, fed.ledger.printed]).toEqual([true, 0]);
  });
});

describe('the window', () => {
  const MOST = { labels: 16, bytes: 1_000 };
  const small = { height: 25 };
  const window = ({ row }: Sending) => row.window(MOST, small).labels;
  const counted = (odometer: number, labelsPending: number): DeviceStatus => ({
    ...pending(labelsPending),
    odometer,
  });

  /** A printer that takes so long for a label, ms, is kept busy and asked after each. */
  function kept(job: Sending, labelMs: number, labels: number): void {
    send(job, [4], 0);
    for (let out = 1; out <= labels; out++) {
      send(job, [1], out * labelMs - 1);
      job.ledger.confirm(counted(100 + out, 4), out * labelMs);
    }
  }

  test('goes by the size and speed of a label, until the printer has been seen to print', () => {
    const { row } = sending(16, 100);
    expect(row.window(MOST, { height: 25 }).labels).toBe(9);
    expect(row.window(MOST, { height: 152 }).labels).toBe(2);
    expect(row.window(MOST, { height: 152, speed: 12 }).labels).toBe(5);
    expect(row.window({ ...MOST, labels: 4 }, { height: 25 }).labels).toBe(4);
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

  test('a printer that waits for media is not slower for it', () => {
    const job = sending(100, 100);
    kept(job, 500, 5);
    job.ledger.confirm({ ...counted(105, 4), state: 'stopped', reasons: ['media-empty'] }, 3_000);
    job.ledger.confirm(counted(106, 3), 60_000);
    expect(window(job)).toBe(4);
  });

  test('grows where the printer had printed all before it could be asked', () => {
    const job = sending(1_000, 100);
    const answers: number[] = [];
    // It answers after a second, and prints ten labels in that time.
    for (let [now, out] = [0, 0]; now < 20_000; now += 1_000) {
      const ahead = job.row.window(MOST, small);
      const next = { bytes: new Uint8Array(10), first: out, count: 1 };
      const burst: (typeof next)[] = [];
      while (job.row.fits(next, burst, ahead)) burst.push(next);
      send(
        job,
        burst.map(() => 1),
        now,
      );
      out += burst.length;
      job.ledger.confirm(counted(100 + out, 0), now + 1_000);
      answers.push(burst.length);
    }
    expect(answers.at(-1)).toBe(16);
  });
});

describe('more is counted and pending than was sent', () => {
  const says = (odometer: number, labelsPending: number, ...reasons: DeviceStatus['reasons']) => ({
    ...pending(labelsPending),
    ...{ odometer, reasons },
  });
  const kept = ({ ledger }: Sending) => journal.look(ledger.lasting.queueId)?.entry.odometer;

  test('somebody has fed a label: it takes no place of a label that waits', () => {
    const job = sending(5, 100);
    send(job, [1, 1, 1, 1, 1], 0);
    job.ledger.confirm(says(102, 3), 300);
    expect([job.ledger.printed, kept(job)]).toEqual([2, 100]);
    // One is fed.
    job.ledger.confirm(says(103, 3), 400);
    job.ledger.confirm(says(104, 2), 700);
    expect([job.ledger.printed, job.row.holdsOnly(job.ledger)]).toEqual([3, false]);
    // After a crash, the counter tells nothing.
    expect(kept(job)).toBeNull();
    expect(() => job.ledger.printedAtRest(104)).toThrow();
    // The printer drops the next one: the sum is right again, and one is missing.
    job.ledger.confirm(says(104, 1), 1_100);
    job.ledger.confirm(says(105, 0), 1_500);
    job.ledger.confirm(says(105, 0), 2_000);
    expect([job.ledger.printed, job.row.short]).toEqual([3, true]);
  });

  test('somebody has fed a label: what is sent next hides it, and the power goes: it takes no place either', () => {
    const job = sending(9, 100);
    send(job, [1, 1, 1, 1], 0);
    job.ledger.confirm(says(102, 2), 300);
    send(job, [1], 350);
    // One is fed.
    job.ledger.confirm(says(103, 3), 400);
    job.ledger.confirm(says(104, 2), 700);
    expect(kept(job)).toBeNull();
    // The printer has not looked at the second of these yet.
    job.ledger.intend(9);
    send(job, [1, 1], 710);
    expect(kept(job)).toBeNull();
    job.ledger.confirm(says(105, 2), 720);
    expect([job.ledger.printed, kept(job), job.row.holdsOnly(job.ledger)]).toEqual([4, null, false]);
    expect(() => job.ledger.printedAtRest(105)).toThrow();
    // It has, and there is no more of it than that.
    job.ledger.confirm(says(106, 2), 1_000);
    expect([job.ledger.printed, kept(job)]).toEqual([5, null]);
  });

  test('somebody has fed a label just now: bytes without a pause never let it be seen for long', () => {
    const job = sending(9, 100);
    send(job, [1, 1, 1, 1], 0);
    job.ledger.confirm(says(102, 2), 300);
    // One is fed.
    job.ledger.confirm(says(102, 3), 400);
    expect(kept(job)).toBeNull();
    for (const [at, odometer] of [
      [410, 103],
      [510, 104],
      [610, 105],
    ] as const) {
      send(job, [1], at);
      job.ledger.confirm(says(odometer, 2), at + 10);
      expect([at, job.ledger.printed, kept(job)]).toEqual([at, odometer - 101, null]);
    }
    expect(() => job.ledger.printedAtRest(105)).toThrow();
  });

  test('somebody has fed a label among copies: a format that waits is all of its copies', () => {
    const job = sending(16, 100);
    const told = (odometer: number, formats: number, remaining: number) => ({
      ...pending(remaining, formats),
      odometer,
    });
    send(job, [2, 2, 2, 2], 0);
    job.ledger.confirm(told(103, 2, 1), 300);
    expect([job.ledger.printed, kept(job)]).toEqual([3, 100]);
    // One is fed.
    job.ledger.confirm(told(104, 2, 1), 330);
    send(job, [2], 340);
    job.ledger.confirm(told(105, 2, 2), 400);
    expect([job.ledger.printed, kept(job)]).toEqual([4, null]);
    expect(() => job.ledger.printedAtRest(105)).toThrow();
  });

  test('what goes with labels that came after a fed one does not explain it', () => {
    const job = sending(9, 100);
    send(job, [1, 1, 1, 1], 0);
    job.ledger.confirm(says(102, 2), 300);
    // One is fed.
    job.ledger.confirm(says(103, 2), 400);
    job.ledger.took({ bytes: new Uint8Array(100), first: 4, count: 1, besides: true }, 410);
    job.ledger.confirm(says(104, 2), 420);
    expect([job.ledger.printed, kept(job)]).toEqual([3, null]);
  });

  test('what goes with the labels and is none, such as settings, is not somebody else’s', () => {
    const job = sending(9, 100);
    const settings = { bytes: new Uint8Array(100), first: 0, count: 1, besides: true };
    job.ledger.took(settings, 0);
    send(job, [1, 1, 1], 0);
    job.ledger.confirm(says(100, 5), 10);
    expect(kept(job)).toBe(100);
    job.ledger.confirm(says(100, 4), 100);
    send(job, [1], 210);
    job.ledger.confirm(says(102, 3), 260);
    // From here on all that was sent are labels.
    expect([job.ledger.printed, kept(job)]).toEqual([2, 100]);
    job.ledger.confirm(says(102, 4), 270);
    expect(kept(job)).toBeNull();
  });

  test('it was a format that is no label: the counter tells again', () => {
    const job = sending(5, 100);
    send(job, [1, 1, 1, 1, 1], 0);
    job.ledger.confirm(says(100, 6), 300);
    job.ledger.confirm(says(101, 5), 600);
    expect(kept(job)).toBeNull();
    job.ledger.confirm(says(103, 2), 700);
    expect([job.ledger.printed, kept(job), job.row.holdsOnly(job.ledger)]).toEqual([3, 100, true]);
  });

  test('a label that nobody has taken off is no other', () => {
    const job = sending(2, 100);
    send(job, [1], 0);
    job.ledger.confirm(says(101, 1, 'label-waiting'), 300);
    job.ledger.confirm(says(101, 1, 'label-waiting'), 600);
    expect([job.ledger.printed, kept(job)]).toEqual([1, 100]);
  });
});
