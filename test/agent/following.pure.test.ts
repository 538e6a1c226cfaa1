/** The job behind another one, whose labels are settled by what the printer told of both. */
import { expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { timings } from '../../src/agent/config.ts';
import { Following } from '../../src/agent/job/following.ts';
import { Labels } from '../../src/agent/job/labels.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { Row } from '../../src/agent/job/row.ts';
import { Sender } from '../../src/agent/job/sender.ts';
import { Stop } from '../../src/agent/job/stop.ts';
import { Succession } from '../../src/agent/job/succession.ts';
import { logger } from '../kit/agent/site.ts';
import { useJournal } from '../kit/agent/use-journal.ts';
import { job as sampleJob } from '../kit/queue/samples.ts';

const journal = useJournal();
const never = new AbortController().signal;
const window = { labels: 16, bytes: 65_536 };

/** A job of ten labels that has sent them all, and its agent was killed: it comes again, behind another job. */
function again(printed: number) {
  const job = sampleJob('serial-0a1b2c3d4e5f');
  const row = new Row();
  const ledger = new Ledger({
    ...{ journal, row, queueId: crypto.randomUUID(), printerId: 'serial-0a1b2c3d4e5f', delivery: 2 },
    ...{ total: 10, from: 0, perPage: 1 },
  });
  ledger.restore({ base: 0, odometer: 100, printed, sent: 10, intent: 10 });
  const stop = new Stop({
    signals: { leave: never, boundary: never, end: never },
    ...{ lost: never, cancel: never, checkTerm: () => undefined, confirmMs: 1 },
  });
  const open = (_: unknown, { from }: { from: number }) => {
    let next = from;
    return {
      ...{ from, available: true },
      check: async () => undefined,
      peek: async () => (next < 10 ? { bytes: new Uint8Array(5), first: next, count: 1 } : null),
      taken: () => {
        next += 1;
      },
      close: () => undefined,
    };
  };
  const labels = new Labels({ open } as never, job, {
    ...{ documents: false, most: window, ahead: () => window, blind: () => false },
  });
  const link = { documents: false } as never;
  const delivery = { job, setNote: async () => undefined } as never;
  const sender = new Sender({
    ...{ agentId: 'agent-0001', delivery, ledger, row, link, labels, window, stop, log: logger },
    ...{
      timings: timings.parse({}),
      ahead: () => window,
      alone: () => true,
      readAgain: async () => undefined,
    },
  });
  const succession = new Succession();
  const following = new Following(succession, { ledger, sender, labels, stop, held: () => false });
  return { ledger, succession, following };
}

test('all of its labels are out, as the job ahead has found: it sends none, and ends when that job has', async () => {
  const { ledger, succession, following } = again(3);
  const turn = following.turn();
  succession.settle(110);
  expect([ledger.printed, ledger.uncertain]).toEqual([10, false]);
  expect(await succession.offer()).toBe(false);
  succession.end(false);
  expect(await turn).toBeNull();
});

test('some are: it goes on behind the job ahead at the first that is not', async () => {
  const { ledger, succession, following } = again(3);
  const turn = following.turn();
  succession.settle(106);
  expect(await succession.offer()).toBe(true);
  expect((await turn)?.[0]).toMatchObject({ first: 6, count: 1 });
  expect([ledger.sent, ledger.intent]).toEqual([6, 10]);
});

test('the connection is gone before what is prepared is sent: that is taken back, and written down anew', async () => {
  const { ledger, succession, following } = again(3);
  const turn = following.turn();
  succession.settle(106);
  await succession.offer();
  await turn;
  following.givesBack(new TransportError('connection-lost', 'gone'));
  const next = following.turn();
  expect([ledger.intent, ledger.sent]).toEqual([6, 6]);
  succession.end(false);
  expect(await next).toBeNull();
});
