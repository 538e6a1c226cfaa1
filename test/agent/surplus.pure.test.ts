/** More labels are counted and pending than were sent: whose they are, and what counts as printed meanwhile. */
import { expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import { pending, type Sending, send, useSending } from '../kit/agent/sending.ts';

const { journal, sending } = useSending();
const says = (odometer: number, labelsPending: number, ...reasons: DeviceStatus['reasons']) => ({
  ...pending(labelsPending),
  ...{ odometer, reasons },
});
const kept = ({ ledger }: Sending) => journal.look(ledger.lasting.queueId)?.entry.odometer;

test('somebody has fed a label: it takes no place of a label that waits', () => {
  const job = sending(5, 100);
  send(job, [1, 1, 1, 1, 1], 0);
  job.row.confirm(says(102, 3), 300);
  expect([job.ledger.printed, kept(job)]).toEqual([2, 100]);
  // One is fed.
  job.row.confirm(says(103, 3), 400);
  job.row.confirm(says(104, 2), 700);
  expect([job.ledger.printed, job.row.holdsOnly(job.ledger)]).toEqual([3, false]);
  // After a crash, the counter tells nothing.
  expect(kept(job)).toBeNull();
  expect(() => job.ledger.printedAtRest(104)).toThrow();
  // The printer drops the next one: the sum is right again, and one is missing.
  job.row.confirm(says(104, 1), 1_100);
  job.row.confirm(says(105, 0), 1_500);
  job.row.confirm(says(105, 0), 2_000);
  expect([job.ledger.printed, job.row.short]).toEqual([3, true]);
});

test('somebody has fed a label: what is sent next hides it, and the power goes: it takes no place either', () => {
  const job = sending(9, 100);
  send(job, [1, 1, 1, 1], 0);
  job.row.confirm(says(102, 2), 300);
  send(job, [1], 350);
  // One is fed.
  job.row.confirm(says(103, 3), 400);
  job.row.confirm(says(104, 2), 700);
  expect(kept(job)).toBeNull();
  // The printer has not looked at the second of these yet.
  job.ledger.intend(9);
  send(job, [1, 1], 710);
  expect(kept(job)).toBeNull();
  job.row.confirm(says(105, 2), 720);
  expect([job.ledger.printed, kept(job), job.row.holdsOnly(job.ledger)]).toEqual([4, null, false]);
  expect(() => job.ledger.printedAtRest(105)).toThrow();
  // It has, and there is no more of it than that.
  job.row.confirm(says(106, 2), 1_000);
  expect([job.ledger.printed, kept(job)]).toEqual([5, null]);
});

test('somebody has fed a label just now: bytes without a pause never let it be seen for long', () => {
  const job = sending(9, 100);
  send(job, [1, 1, 1, 1], 0);
  job.row.confirm(says(102, 2), 300);
  // One is fed.
  job.row.confirm(says(102, 3), 400);
  expect(kept(job)).toBeNull();
  for (const [at, odometer] of [
    [410, 103],
    [510, 104],
    [610, 105],
  ] as const) {
    send(job, [1], at);
    job.row.confirm(says(odometer, 2), at + 10);
    expect([at, job.ledger.printed, kept(job)]).toEqual([at, odometer - 101, null]);
  }
  expect(() => job.ledger.printedAtRest(105)).toThrow();
});

/**
 * One of 20 labels comes out between its counter, 100 at first, and what is pending.
 * @param beyond what was counted and pending, besides the 20, in each of the moments at which both were asked for
 */
const prints = (odometer: number, labelsPending: number, ...beyond: number[]): DeviceStatus => ({
  ...says(odometer, labelsPending),
  moments: beyond.map((more, index) => ({
    odometer: odometer + index,
    labelsPending: 120 - odometer - index + more,
  })),
});

test('somebody has fed a label: those that come out while the printer answers do not hide it', () => {
  const job = sending(20, 100);
  send(job, Array(20).fill(1), 0);
  job.row.confirm(says(102, 18), 300);
  job.row.confirm(prints(103, 16, 0, 0), 400);
  expect([job.ledger.printed, kept(job)]).toEqual([2, 100]);
  // One is fed. For once it may as well have come out in the middle of a moment.
  job.row.confirm(prints(106, 14, 1, 1), 500);
  expect([job.ledger.printed, kept(job)]).toEqual([6, 100]);
  job.row.confirm(prints(108, 12, 1, 1), 600);
  expect([job.ledger.printed, kept(job)]).toEqual([7, null]);
  // It takes one question at a time now, and so tells of no moment.
  job.row.confirm(prints(110, 10), 700);
  expect([job.ledger.printed, kept(job)]).toEqual([9, null]);
  expect(() => job.ledger.printedAtRest(112)).toThrow();
});

test('a label that comes out in the middle of a moment is nobody else’s', () => {
  const job = sending(20, 100);
  send(job, Array(20).fill(1), 0);
  const confirmed = (now: number, status: DeviceStatus) => {
    job.row.confirm(status, now);
    return [job.ledger.printed, kept(job)];
  };
  expect(confirmed(300, prints(101, 19, 1, 0))).toEqual([1, 100]);
  expect(confirmed(400, prints(103, 17, 0, 1))).toEqual([3, 100]);
  expect(confirmed(500, prints(105, 15, 1, 1))).toEqual([5, 100]);
  expect(confirmed(600, prints(107, 13, 1, 0))).toEqual([7, 100]);
  expect(confirmed(700, prints(109, 11, 1, 1))).toEqual([9, 100]);
  expect(confirmed(800, prints(111, 9, 2, 1))).toEqual([10, null]);
  // That was twice in a row. Now a moment has no more than was sent.
  expect(confirmed(900, prints(113, 7, 1, 0))).toEqual([13, 100]);
});

test('somebody has fed a label among copies: a format that waits is all of its copies', () => {
  const job = sending(16, 100);
  const told = (odometer: number, formats: number, remaining: number) => ({
    ...pending(remaining, formats),
    odometer,
  });
  send(job, [2, 2, 2, 2], 0);
  job.row.confirm(told(103, 2, 1), 300);
  expect([job.ledger.printed, kept(job)]).toEqual([3, 100]);
  // One is fed.
  job.row.confirm(told(104, 2, 1), 330);
  send(job, [2], 340);
  job.row.confirm(told(105, 2, 2), 400);
  expect([job.ledger.printed, kept(job)]).toEqual([4, null]);
  expect(() => job.ledger.printedAtRest(105)).toThrow();
});

test('what goes with labels that came after a fed one does not explain it', () => {
  const job = sending(9, 100);
  send(job, [1, 1, 1, 1], 0);
  job.row.confirm(says(102, 2), 300);
  // One is fed.
  job.row.confirm(says(103, 2), 400);
  job.ledger.took({ bytes: new Uint8Array(100), first: 4, count: 1, besides: true }, 410);
  job.row.confirm(says(104, 2), 420);
  expect([job.ledger.printed, kept(job)]).toEqual([3, null]);
});

test('what goes with the labels and is none, such as settings, is not somebody else’s', () => {
  const job = sending(9, 100);
  const settings = { bytes: new Uint8Array(100), first: 0, count: 1, besides: true };
  job.ledger.took(settings, 0);
  send(job, [1, 1, 1], 0);
  job.row.confirm(says(100, 5), 10);
  expect(kept(job)).toBe(100);
  job.row.confirm(says(100, 4), 100);
  send(job, [1], 210);
  job.row.confirm(says(102, 3), 260);
  // From here on all that was sent are labels.
  expect([job.ledger.printed, kept(job)]).toEqual([2, 100]);
  job.row.confirm(says(102, 4), 270);
  expect(kept(job)).toBeNull();
});

test('it was a format that is no label: the counter tells again', () => {
  const job = sending(5, 100);
  send(job, [1, 1, 1, 1, 1], 0);
  job.row.confirm(says(100, 6), 300);
  job.row.confirm(says(101, 5), 600);
  expect(kept(job)).toBeNull();
  job.row.confirm(says(103, 2), 700);
  expect([job.ledger.printed, kept(job), job.row.holdsOnly(job.ledger)]).toEqual([3, 100, true]);
});

test('a label that nobody has taken off is no other', () => {
  const job = sending(2, 100);
  send(job, [1], 0);
  job.row.confirm(says(101, 1, 'label-waiting'), 300);
  job.row.confirm(says(101, 1, 'label-waiting'), 600);
  expect([job.ledger.printed, kept(job)]).toEqual([1, 100]);
});
