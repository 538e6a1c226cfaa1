/** When the loop of a printer has the next job come: its way from the queue is to take no time of the printer's. */
import { describe, expect, test, vi } from 'vitest';
import { CountingPrinter, LoopJob } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

const all = (name: string, labels: number) => Array.from({ length: labels }, (_, at) => `${name}${at}`);

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('the next job is asked for', () => {
  /** A job whose notes the queue takes when it is told to. */
  function noting(total: number, change: (job: LoopJob) => void = () => undefined) {
    const [printer, notes] = [new CountingPrinter(), Promise.withResolvers<void>()];
    const job = new LoopJob(journal, printer, 'a', total);
    job.notes = notes.promise;
    change(job);
    const follow = vi.spyOn(job.delivery, 'follow');
    return { printer, job, follow, notes };
  }

  test('while the last labels are written down, where jobs wait; of one behind too', async () => {
    const { printer, job, follow, notes } = noting(16);
    const printed = job.prints();
    await expect.poll(() => follow.mock.calls.length).toBe(1);
    expect(printer.waiting).toEqual([]);
    const behind = new LoopJob(journal, printer, 'b', 1);
    behind.notes = Promise.withResolvers<void>().promise;
    const next = vi.spyOn(behind.delivery, 'follow');
    void behind.prints(true);
    notes.resolve();
    await expect.poll(() => next.mock.calls.length).toBe(1);
    expect(printer.waiting).toEqual(all('a', 16));
    printer.prints(16);
    await printed;
    expect(follow.mock.calls.length).toBe(1);
  });

  test('once no more labels are left than may be under way', async () => {
    const { printer, job, follow, notes } = noting(40);
    notes.resolve();
    void job.prints();
    await expect.poll(() => printer.waiting.length).toBe(16);
    printer.prints(7);
    await expect.poll(() => printer.waiting.length).toBe(16);
    await turns();
    expect(follow).not.toHaveBeenCalled();
    printer.prints(1);
    await expect.poll(() => follow.mock.calls.length).toBe(1);
    job.signals.end.abort();
  });

  test('when its labels are in the printer, where none waited', async () => {
    const { printer, job, follow, notes } = noting(2, ({ delivery }) =>
      Object.assign(delivery, { waited: false }),
    );
    void job.prints();
    await turns();
    expect(follow).not.toHaveBeenCalled();
    notes.resolve();
    await expect.poll(() => follow.mock.calls.length).toBe(1);
    expect(printer.waiting).toEqual(all('a', 2));
    job.signals.end.abort();
  });

  test.each([
    {
      why: 'a person holds the printer',
      change: ({ printer }: LoopJob) => Object.assign(printer, { held: true }),
    },
    {
      why: 'the printer does not count',
      change: ({ link }: LoopJob) => Object.assign(link, { counts: false }),
    },
  ])('not where $why', async ({ change }) => {
    const { printer, job, follow, notes } = noting(2, change);
    notes.resolve();
    void job.prints();
    await expect.poll(() => printer.waiting.length).toBe(2);
    await turns();
    expect(follow).not.toHaveBeenCalled();
    job.signals.end.abort();
  });
});
