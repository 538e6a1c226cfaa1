/** The loop of a printer whose connection breaks with two jobs in hand. */
import { expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { InterruptedError } from '../../src/agent/job/stop-signals.ts';
import { all, bothUnderWay, CountingPrinter, LoopJob, turns } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

const both = (before?: (behind: LoopJob, first: LoopJob) => void) => bothUnderWay(journal, before);

test('after the job behind was canceled, and the printer is not reached: that job leaves all the same', async () => {
  const { printer, behind, next } = await both();
  await expect.poll(() => printer.waiting.length).toBe(12);
  // Nobody prints, and nobody asks: the mark alone comes.
  behind.signals.cancel.abort();
  await turns();
  printer.connects = Promise.reject(new TransportError('device-unreachable', 'off'));
  printer.connects.catch(() => undefined);
  printer.breaks();
  await expect(next).rejects.toThrow();
  expect([behind.ledger.printed, behind.ledger.intent]).toEqual([0, 10]);
});

test('once all that was sent is out, and the printer stands still: the job goes on behind that', async () => {
  const printer = new CountingPrinter();
  const job = new LoopJob(journal, printer, 'a', 30);
  const printed = job.prints();
  await expect.poll(() => printer.waiting.length).toBe(16);
  printer.stands = true;
  printer.prints(16);
  await expect.poll(() => job.ledger.printed).toBe(16);
  // Somebody loads media, and switches it off and on.
  printer.breaks(true);
  printer.stands = false;
  await expect.poll(() => printer.waiting[0]).toBe('a16');
  printer.prints(14);
  await printed;
  expect(printer.paper).toEqual(all('a', 0, 30));
});

test('once all that was sent of the one behind is out: it goes on behind that', async () => {
  const printer = new CountingPrinter();
  const [first, behind] = [new LoopJob(journal, printer, 'a', 2), new LoopJob(journal, printer, 'b', 30)];
  const ahead = first.prints();
  await expect.poll(() => printer.waiting.length).toBe(2);
  const next = behind.prints(true);
  await expect.poll(() => printer.waiting.length).toBe(16);
  printer.stands = true;
  printer.prints(16);
  await ahead;
  await expect.poll(() => behind.ledger.printed).toBe(14);
  first.leaves();
  printer.breaks(true);
  printer.stands = false;
  await expect.poll(() => printer.waiting[0]).toBe('b14');
  printer.prints(16);
  await next;
  expect(printer.paper).toEqual([...all('a', 0, 2), ...all('b', 0, 30)]);
});

test('after the first job was canceled, all of which is still in the printer: the one behind loses nothing', async () => {
  const { printer, first, ahead, behind, next } = await both();
  await expect.poll(() => printer.waiting.length).toBe(12);
  printer.stands = true;
  await expect.poll(() => behind.said).toContain('media-empty');
  first.signals.cancel.abort();
  await expect(ahead).rejects.toThrow(InterruptedError);
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

test('while another agent wants the printer: the queue is told at once that the one behind is settled', async () => {
  const { printer, first, behind, ahead, next } = await both((job) => {
    job.printer.alone = false;
  });
  await expect.poll(() => printer.waiting.length).toBe(12);
  const told = behind.noted.length;
  printer.prints(1);
  printer.breaks(true);
  await expect.poll(() => behind.noted[told]).toMatchObject({ resumeAt: 0 });
  await expect.poll(() => printer.waiting[0]).toBe('a1');
  // As long as the one behind is not sent again, a label that is fed is none of its, by the first one's note.
  const since = first.noted.find((note) => 'underWay' in note && Object(note.underWay).base === 1);
  expect(since).toMatchObject({ underWay: { intent: 2 } });
  expect(since).not.toHaveProperty('underWay.behind');
  for (const { signals } of [first, behind]) signals.end.abort();
  await Promise.allSettled([ahead, next]);
});

test('and another agent comes after that: the queue is told with the next answer', async () => {
  const { printer, first, behind, ahead, next } = await both();
  await expect.poll(() => printer.waiting.length).toBe(12);
  const told = behind.noted.length;
  printer.prints(1);
  const made = Promise.withResolvers<void>();
  behind.made = made.promise;
  printer.breaks(true);
  await expect.poll(() => printer.waiting[0]).toBe('a1');
  printer.stands = true;
  expect(behind.noted.length).toBe(told);
  printer.alone = false;
  await expect.poll(() => behind.noted[told]).toMatchObject({ resumeAt: 0 });
  made.resolve();
  for (const { signals } of [first, behind]) {
    signals.leave.abort();
    signals.end.abort();
  }
  await expect(ahead).rejects.toThrow(InterruptedError);
  first.leaves(true);
  await expect(next).rejects.toThrow(InterruptedError);
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
