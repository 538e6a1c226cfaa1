/** The loop of a printer, and a job that a person cancels while its labels are under way. */
import { describe, expect, test, vi } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { InterruptedError } from '../../src/agent/job/stop-signals.ts';
import { all, CountingPrinter, LoopJob, turns } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

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
    await expect(printed).rejects.toThrow(InterruptedError);
    expect([printer.forgot, printer.asked - asked, printer.offered - offered]).toEqual([1, 1, 0]);
    expect(printer.paper).toEqual(['a0']);
    expect([job.ledger.printed, job.ledger.uncertain]).toEqual([1, false]);
  });

  test('the first answer does not say yet what is in it: it is asked again at once, however long it is busy', async () => {
    const { printer, job, printed } = await printing();
    printer.askedAfter = 'as long as it is busy';
    // A label in a day, as measured.
    vi.spyOn(printer.loop.row.window, 'labelMs', 'get').mockReturnValue(86_400_000);
    printer.overlooks = 1;
    job.signals.cancel.abort();
    await expect(printed).rejects.toThrow(InterruptedError);
    expect([printer.forgot, printer.overlooks, printer.paper.length]).toEqual([1, 0, 1]);
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
    await expect(printed).rejects.toThrow(InterruptedError);
    expect([printer.forgot, printer.asked - asking, printer.paper.length]).toEqual([1, 0, 1]);
  });

  test('its next label is being made: nobody waits for that', async () => {
    const { printer, job, printed } = await printing();
    job.made = new Promise(() => undefined);
    await expect.poll(() => job.making).toBe(1);
    const { asked, offered } = printer;
    job.signals.cancel.abort();
    await expect(printed).rejects.toThrow(InterruptedError);
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
    await expect(printed).rejects.toThrow(InterruptedError);
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
    await expect(printed).rejects.toThrow(InterruptedError);
    expect([job.ledger.printed, job.ledger.uncertain, printer.offered]).toEqual([16, false, 16]);
  });

  test('its connection breaks when the printer has been told: what that has forgotten was not dropped', async () => {
    const { printer, job, printed } = await printing();
    const { link } = job;
    const { cancel } = link;
    vi.spyOn(link, 'cancel').mockImplementation(async (only) => {
      await cancel(only);
      printer.waiting = ['a1'];
      printer.breaks();
      return true;
    });
    job.signals.cancel.abort();
    await turns();
    printer.prints(1);
    await expect(printed).rejects.toThrow(InterruptedError);
    expect([job.ledger.printed, job.ledger.uncertain, printer.paper]).toEqual([2, false, ['a0', 'a1']]);
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
