/** A label is fed while a job waits in its middle with nothing under way; the next labels may be cut off. */
import { expect, test } from 'vitest';
import { all, CountingPrinter, LoopJob } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

/** 16 labels of 20 are out. */
async function inTheMiddle(alone: boolean, waits: (job: LoopJob) => Promise<void>) {
  const printer = new CountingPrinter();
  printer.alone = alone;
  const job = new LoopJob(journal, printer, 'a', 20);
  const printed = job.prints();
  await expect.poll(() => printer.waiting.length).toBe(16);
  const over = Promise.withResolvers<void>();
  const waiting = waits(Object.assign(job, { [alone ? 'made' : 'notes']: over.promise }));
  printer.prints(16);
  await expect.poll(() => job.ledger.printed).toBe(16);
  await waiting;
  // It waits for long.
  job.sender.readAt -= 1_000;
  return { printer, printed, over };
}

const cases = [
  {
    until: 'its labels are made',
    alone: true,
    waits: (job: LoopJob) => expect.poll(() => job.making).toBe(1),
  },
  {
    until: 'the queue has its note',
    alone: false,
    waits: async (job: LoopJob) => {
      await expect.poll(() => job.ledger.intent).toBe(17);
      await expect.poll(() => job.ledger.intent).toBe(16);
    },
  },
];

test.each(cases)(
  'until $until, and the printer is switched off and on: all labels come out',
  async ({ alone, waits }) => {
    const { printer, printed, over } = await inTheMiddle(alone, waits);
    printer.paper.push('fed', 'fed');
    printer.breaks(true);
    over.resolve();
    await expect.poll(() => printer.waiting.length).toBe(4);
    printer.prints(4);
    await printed;
    expect(printer.paper).toEqual([...all('a', 0, 16), 'fed', 'fed', ...all('a', 16, 20)]);
  },
);

test.each(cases)('until $until: the job is printed', async ({ alone, waits }) => {
  const { printer, printed, over } = await inTheMiddle(alone, waits);
  printer.paper.push('fed');
  over.resolve();
  await expect.poll(() => printer.waiting.length).toBe(4);
  printer.prints(4);
  await printed;
});
