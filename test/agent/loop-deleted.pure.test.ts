/** Labels are deleted at the panel after a cut, while the agent waits for the printer to be at rest: whose they were nobody can say. */
import { expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import { Labels } from '../../src/agent/job/labels.ts';
import { gone } from '../../src/agent/job/rest.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { Chunk } from '../../src/rendering/render-protocol.ts';
import { bothUnderWay, CountingPrinter, LoopJob, turns } from '../kit/agent/loop-printer.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const journal = useJournal();

/** The agent watches the printer; labels are deleted from `at` on, and all others come out. */
async function comesToRest(printer: CountingPrinter, at: number, labels = 1): Promise<void> {
  await turns();
  printer.waiting.splice(at, labels);
  await turns();
  printer.prints(20);
}

test('both jobs are held', async () => {
  const { printer, first, ahead, next } = await bothUnderWay(journal);
  await expect.poll(() => printer.waiting.length).toBe(12);
  // The printer keeps all.
  printer.breaks();
  await comesToRest(printer, 6);
  await expect(ahead).rejects.toThrow(JobFaultError);
  first.leaves();
  await expect(next).rejects.toThrow(JobFaultError);
  expect(printer.paper.length).toBe(11);
});

test('the agent was killed before: both jobs are held', async () => {
  const { printer, first, behind } = await bothUnderWay(journal);
  await expect.poll(() => printer.waiting.length).toBe(12);
  const after = new CountingPrinter(printer);
  after.waiting = [...printer.waiting];
  printer.breaks();
  const again = new LoopJob(journal, after, 'a', 2, first);
  const ahead = again.prints();
  await comesToRest(after, 6);
  await expect(ahead).rejects.toThrow(JobFaultError);
  const { printed, sent, delivery, queueId, intent } = again.ledger;
  again.ledger.finish({
    ...{ kind: 'job', jobId: queueId, agentId: 'agent-0001', printerId: after.printerId, delivery, seq: 1 },
    ...{ at: new Date().toISOString(), labels: { sent, printed }, reasons: [], status: 'held' },
    ...{ uncertain: { from: printed, to: intent }, error: gone(1).fault },
  });
  again.leaves();
  const second = new LoopJob(journal, after, 'b', 10, behind);
  await expect(second.prints()).rejects.toThrow(JobFaultError);
  expect(after.paper.length).toBe(11);
});

const COPIES = 3;
const size = { labels: 16, bytes: 65_536 };

/** Counts a format that waits once, however many copies it has. */
class CopiesPrinter extends CountingPrinter {
  override status(): DeviceStatus {
    const formats = Math.ceil(this.waiting.length / COPIES);
    const begun = this.waiting.length % COPIES;
    const formatsPending = formats - (begun > 0 ? 1 : 0);
    return { ...super.status(), labelsPending: formatsPending + begun, formatsPending };
  }
}

class CopiesJob extends LoopJob {
  constructor(printer: CopiesPrinter, name: string, total: number) {
    super(journal, printer, name, total);
    this.delivery.job.copies = total;
    const open = (_: unknown, { from }: { from: number }) => {
      let next = from;
      return {
        ...{ from, check: async () => undefined, close: () => undefined },
        get available() {
          return next < total;
        },
        peek: async () => ({ bytes: new Uint8Array(5), first: next, count: COPIES }),
        taken: () => {
          next += COPIES;
        },
      };
    };
    const options = { documents: false, most: size, ahead: () => size, blind: () => false };
    Object.assign(this, { labels: new Labels({ open } as never, this.delivery.job, options) });
    const { send } = this.link;
    this.link.send = async (chunk: Chunk) => {
      const refusal = await send(chunk);
      for (let copy = 1; copy < chunk.count; copy++) printer.waiting.push(`${name}${chunk.first + copy}`);
      return refusal;
    };
  }
}

test.each([
  { whose: 'the first one', at: 3 },
  { whose: 'the one behind', at: 6 },
])('a format with copies, of $whose: both jobs are held', async ({ at }) => {
  const printer = new CopiesPrinter();
  const [first, behind] = [new CopiesJob(printer, 'a', 6), new CopiesJob(printer, 'b', 6)];
  const ahead = first.prints();
  await expect.poll(() => printer.waiting.length).toBe(6);
  const next = behind.prints(true);
  await expect.poll(() => printer.waiting.length).toBe(12);
  await expect.poll(() => printer.loop.row.arrived).toBe(12);
  printer.breaks();
  await comesToRest(printer, at, COPIES);
  await expect(ahead).rejects.toThrow(JobFaultError);
  first.leaves();
  await expect(next).rejects.toThrow(JobFaultError);
  expect(printer.paper.length).toBe(9);
});
