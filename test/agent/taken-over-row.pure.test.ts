/** Two jobs in a printer's row, and another agent takes over: what it finds out of both, by their notes and the counter. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { restore } from '../../src/agent/job/entry.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import type { Note } from '../../src/agent/job/note.ts';
import { labelsOn, pagesOf } from '../../src/agent/job/page-count.ts';
import { gone } from '../../src/agent/job/rest.ts';
import { Row } from '../../src/agent/job/row.ts';
import { faultFor, JobFaultError } from '../../src/contract/fault.ts';
import { because } from '../../src/contract/reason.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const RUNS = { seed: 20_261_128, numRuns: 300 };
const START = 1_000;
const [ONE, OTHER] = ['agent-the-one', 'agent-the-other'];

const journal = useJournal();
let cases = 0;

/** What the first agent has sent: all labels of `first`, and of `second` those before `sent`; its note allows `allowed`. */
const anyRow = fc
  .record({
    first: fc.integer({ min: 1, max: 12 }),
    second: fc.integer({ min: 1, max: 12 }),
    perPage: fc.constantFrom(1, 4),
  })
  .chain(({ first, second, perPage }) =>
    fc.record({
      ...{ first: fc.constant(first), second: fc.constant(second), perPage: fc.constant(perPage) },
      allowed: fc.integer({ min: 1, max: second }),
      sent: fc.nat(second),
      out: fc.nat(pagesOf(first, perPage) + second),
    }),
  )
  .map((row) => {
    const sent = Math.min(row.sent, row.allowed);
    return { ...row, sent, out: Math.min(row.out, pagesOf(row.first, row.perPage) + sent) };
  });

/** The two jobs as the other agent gets them, one after the other. */
function takenOver({
  first,
  second,
  perPage,
  allowed,
}: {
  first: number;
  second: number;
  perPage: number;
  allowed: number;
}) {
  const [printerId, name] = [`serial-${String(++cases).padStart(12, '0')}`, crypto.randomUUID()];
  const row = new Row();
  const ledgerOf = (queueId: string, total: number, per: number) =>
    new Ledger({ journal, row, queueId, printerId, delivery: 2, total, from: 0, perPage: per });
  const counts = { base: 0, printed: 0, sent: 0 };
  return {
    row,
    /** @param own the other agent has begun with it already */
    first(own = false): Ledger {
      const ledger = ledgerOf(name, first, perPage);
      if (own) {
        restore(ledger, { agentId: OTHER, resumeAt: null }, { agentId: OTHER, journal });
        return ledger;
      }
      const underWay = { ...counts, odometer: START, intent: first, behind: allowed };
      restore(ledger, { agentId: ONE, resumeAt: null, underWay }, { agentId: OTHER, journal });
      return ledger;
    },
    /** @param apart the note of the first one did not know of it */
    second(apart = false): Ledger {
      const ledger = ledgerOf(crypto.randomUUID(), second, 1);
      const odometer = START + pagesOf(first, perPage);
      const underWay = { ...counts, odometer, intent: allowed, ahead: name, ...(apart && { apart }) };
      restore(ledger, { agentId: ONE, resumeAt: null, underWay }, { agentId: OTHER, journal });
      return ledger;
    },
    end(ledger: Ledger, status: 'printed' | 'held' | 'canceled'): void {
      const { printed, sent, delivery } = ledger;
      const at = new Date().toISOString();
      const of = { kind: 'job', jobId: name, agentId: OTHER, printerId, at, delivery, seq: 1 } as const;
      const told = { ...of, labels: { sent, printed }, reasons: [] };
      const { fault } = faultFor('outcome-unknown', because('sending-cut-off', {}));
      const uncertain = { from: printed, to: ledger.intent };
      ledger.finish(status === 'held' ? { ...told, status, error: fault, uncertain } : { ...told, status });
    },
  };
}

test('whatever was sent, and is out: it goes on at the first label of each that is not', () => {
  fc.assert(
    fc.property(anyRow, (given) => {
      const { first, perPage, out } = given;
      const jobs = takenOver(given);
      const ahead = jobs.first();
      const upTo = ahead.printedAtRest(START + out);
      expect(upTo).toBe(labelsOn(out, first, perPage));
      ahead.settle(upTo);
      ahead.begin(START + out);
      if (upTo < first) {
        ahead.intend(first);
        ahead.took({ bytes: new Uint8Array(1), first: upTo, count: first - upTo }, 0);
        const counted = START + out + pagesOf(first - upTo, perPage);
        jobs.row.confirm({ state: 'idle', reasons: [], labelsPending: 0, odometer: counted }, 1_000);
      }
      expect(ahead.printed).toBe(first);
      jobs.end(ahead, 'printed');
      const behind = jobs.second();
      const counted = Math.max(0, out - pagesOf(first, perPage));
      expect([behind.base, behind.printed, behind.uncertain]).toEqual([counted, counted, false]);
    }),
    RUNS,
  );
});

test('labels of others come out before the rest of the first one is sent: they are none of the second', () => {
  const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 4 });
  const ahead = jobs.first();
  ahead.settle(ahead.printedAtRest(START + 2), START + 2);
  // Read again, after a wait for the printer.
  ahead.begin(START + 7);
  ahead.intend(4);
  ahead.took({ bytes: new Uint8Array(1), first: 2, count: 2 }, 0);
  jobs.row.confirm({ state: 'idle', reasons: [], labelsPending: 0, odometer: START + 9 }, 1_000);
  jobs.end(ahead, 'printed');
  const behind = jobs.second();
  expect([behind.base, behind.printed, behind.uncertain]).toEqual([0, 0, false]);
});

test.each(['the connection breaks', 'the agent is killed'])(
  'and %s once more after it: they are none either',
  (what) => {
    const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 4 });
    let ahead = jobs.first();
    ahead.settle(ahead.printedAtRest(START + 2), START + 2);
    ahead.begin(START + 3);
    ahead.intend(4);
    if (what === 'the agent is killed') ahead = jobs.first(true);
    else ahead.took({ bytes: new Uint8Array(1), first: 2, count: 2 }, 0);
    ahead.settle(ahead.printedAtRest(START + 5), START + 5);
    jobs.end(ahead, 'printed');
    const behind = jobs.second();
    expect([behind.base, behind.printed, behind.uncertain]).toEqual([0, 0, false]);
  },
);

test('more is counted than the two can have had: the first is held, and so is the second', () => {
  fc.assert(
    fc.property(anyRow, fc.integer({ min: 1, max: 5 }), (given, more) => {
      const jobs = takenOver(given);
      const ahead = jobs.first();
      const counted = START + pagesOf(given.first, given.perPage) + given.allowed + more;
      expect(() => ahead.printedAtRest(counted)).toThrow(JobFaultError);
      jobs.end(ahead, 'held');
      expect(() => jobs.second()).toThrow(JobFaultError);
    }),
    RUNS,
  );
});

test.each(['held', 'canceled'] as const)(
  'the first one is %s there: nobody knows what is out of the second',
  (status) => {
    const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 4 });
    const ahead = jobs.first();
    ahead.settle(ahead.printedAtRest(START + 2));
    ahead.begin(START + 2);
    ahead.intend(4);
    jobs.end(ahead, status);
    expect(() => jobs.second()).toThrow(JobFaultError);
  },
);

test('no note said so, and the first one is held there: the counter tells of the second as before', () => {
  const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 3 });
  const ahead = jobs.first();
  jobs.end(ahead, 'held');
  const behind = jobs.second(true);
  expect(behind.uncertain).toBe(true);
  expect(behind.printedAtRest(START + 6)).toBe(2);
});

test('no note said so, and the first one went on there before it was held: nobody knows what is out of the second', () => {
  const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 3 });
  const ahead = jobs.first();
  ahead.settle(ahead.printedAtRest(START + 2), START + 2);
  ahead.begin(START + 2);
  ahead.intend(4);
  jobs.end(ahead, 'held');
  expect(() => jobs.second(true)).toThrow(JobFaultError);
});

test('no note said so, and the first one is brought to its end there: nothing of the second was out by then', () => {
  const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 3 });
  const ahead = jobs.first();
  ahead.settle(ahead.printedAtRest(START + 4), START + 4);
  jobs.end(ahead, 'printed');
  const behind = jobs.second(true);
  expect([behind.base, behind.printed, behind.uncertain]).toEqual([0, 0, false]);
});

test('this agent has not had the first one: the counter tells of the second', () => {
  const jobs = takenOver({ first: 4, second: 4, perPage: 1, allowed: 3 });
  const behind = jobs.second();
  expect(behind.uncertain).toBe(true);
  expect(behind.printedAtRest(START + 6)).toBe(2);
});

/**
 * Two jobs of 4 labels that ONE had sent; then OTHER had the first one for a while. Both as they come to ONE again, by the note that
 * each has in the queue.
 * @param out labels that ONE knew to be out
 */
function comeBack(out = 0) {
  const [printerId, first, second] = [
    `serial-${String(++cases).padStart(12, '0')}`,
    crypto.randomUUID(),
    crypto.randomUUID(),
  ];
  const ledgerOf = (queueId: string, delivery: number, row = new Row()) =>
    new Ledger({ journal, row, queueId, printerId, delivery, total: 4, from: 0, perPage: 1 });
  const sent = new Row();
  const send = (ledger: Ledger) => {
    ledger.intend(4);
    for (let label = 0; label < 4; label++)
      ledger.took({ bytes: new Uint8Array(1), first: label, count: 1 }, 0);
  };
  const [ahead, behind] = [ledgerOf(first, 1, sent), ledgerOf(second, 1, sent)];
  ahead.begin(START);
  send(ahead);
  behind.join();
  send(behind);
  // It stands still then: how far the two are is on record.
  const reasons: ['media-empty'] = ['media-empty'];
  if (out > 0)
    sent.confirm({ state: 'stopped', reasons, labelsPending: 8 - out, odometer: START + out }, 1_000);
  const row = new Row();
  const again = (queueId: string, note: Note, delivery = 3) => {
    const ledger = ledgerOf(queueId, delivery, row);
    restore(ledger, note, { agentId: ONE, journal });
    return ledger;
  };
  const counts = { base: 0, printed: 0, sent: 4, intent: 4 };
  const own = (odometer: number, row: { ahead: string } | { behind: number }): Note => ({
    ...{ agentId: ONE, resumeAt: null },
    underWay: { ...counts, odometer, ...row },
  });
  const ownFirst = own(START, { behind: 4 });
  return {
    row,
    first: (note: Note = ownFirst, delivery = 3) => again(first, note, delivery),
    second: () => again(second, own(START + 4, { ahead: first })),
  };
}

test.each<{ note: Note; said: string }>([
  { note: { agentId: OTHER, resumeAt: 2 }, said: 'that two labels are out' },
  {
    note: {
      ...{ agentId: OTHER, resumeAt: null },
      underWay: { base: 2, odometer: START + 2, printed: 2, sent: 2, intent: 4 },
    },
    said: 'that it was about to send the others',
  },
])(
  'another agent has had the first one, and said $said: what is fed later is none of the second',
  ({ note }) => {
    const jobs = comeBack();
    const ahead = jobs.first(note);
    expect(ahead.printed).toBe(2);
    // The label that somebody feeds, where OTHER has sent nothing, comes out before the counter is read.
    const fed = note.resumeAt === null ? 0 : 1;
    if (ahead.uncertain) ahead.settle(ahead.printedAtRest(START + 2), START + 2);
    ahead.begin(START + 2 + fed);
    ahead.intend(4);
    for (const first of [2, 3]) ahead.took({ bytes: new Uint8Array(1), first, count: 1 }, 0);
    const counted = START + 4 + fed;
    jobs.row.confirm({ state: 'idle', reasons: [], labelsPending: 0, odometer: counted }, 1_000);
    expect(ahead.printed).toBe(4);
    const behind = jobs.second();
    expect([behind.base, behind.printed, behind.uncertain]).toEqual([0, 0, false]);
  },
);

test.each([0, 4])(
  'another agent has brought the first one to its end, of which %i were known to be out: this one cannot tell of the second',
  (out) => {
    const behind = comeBack(out).second();
    expect(behind.uncertain).toBe(true);
    expect(() => behind.printedAtRest(START + 5)).toThrow(JobFaultError);
  },
);

test('the queue has lost a note, and the one that is left knows less than this agent: the first one is held', () => {
  expect(() => comeBack(4).first({ agentId: OTHER, resumeAt: 2 })).toThrow(JobFaultError);
  expect(() => comeBack().first({ agentId: OTHER, resumeAt: 2 }, 2)).toThrow(JobFaultError);
});

test('no other agent has had the first one: this one reads the counter, and settles both', () => {
  const jobs = comeBack();
  const [ahead, behind] = [jobs.first(), jobs.second()];
  ahead.settle(ahead.printedAtRest(START + 5), START + 5);
  behind.settledBehind();
  expect([ahead.printed, behind.printed, behind.uncertain]).toEqual([4, 1, false]);
});

test('the first is held because labels are gone: the second cannot be counted either', () => {
  const { printerId, ledgerOf } = atOnePrinter();
  const [name, counts] = [crypto.randomUUID(), { base: 0, printed: 0, sent: 4, intent: 4 }];
  const note = (underWay: object): Note => ({
    ...{ agentId: ONE, resumeAt: null },
    underWay: { ...counts, odometer: START, ...underWay },
  });
  const first = ledgerOf(name, 4);
  restore(first, note({}), { agentId: OTHER, journal });
  const { printed, sent, delivery, intent: to } = first;
  first.finish({
    ...{ kind: 'job', jobId: name, agentId: OTHER, printerId, delivery, seq: 1, reasons: [], status: 'held' },
    ...{ at: new Date().toISOString(), labels: { sent, printed }, uncertain: { from: printed, to } },
    error: gone(1).fault,
  });
  const second = ledgerOf(crypto.randomUUID(), 4);
  const behind = note({ odometer: START + 4, ahead: name, apart: true });
  expect(() => restore(second, behind, { agentId: OTHER, journal })).toThrow(JobFaultError);
});

test('the journal is a copy from before labels that are printed: the job is held, and none comes twice', () => {
  const { ledgerOf } = atOnePrinter();
  const id = crypto.randomUUID();
  const before = ledgerOf(id, 20, 1);
  before.begin(START);
  before.intend(5);
  for (let label = 0; label < 5; label++)
    before.took({ bytes: new Uint8Array(1), first: label, count: 1 }, 0);
  before.settle(5, START + 5);
  before.handBack(null);
  // It went on, and stored a note at its eleventh label. Then its directory was restored.
  const underWay = { base: 5, odometer: START + 5, printed: 11, sent: 13, intent: 20 };
  const again = ledgerOf(id, 20, 3);
  const own = { agentId: ONE, resumeAt: null, underWay };
  expect(() => restore(again, own, { agentId: ONE, journal })).toThrow(JobFaultError);
  // It was handed back there, and its directory was restored.
  const later = ledgerOf(id, 20, 4);
  restore(later, { agentId: ONE, resumeAt: 11 }, { agentId: ONE, journal });
  expect(later.printed).toBe(11);
});

/** Jobs of a printer of their own. */
function atOnePrinter() {
  const printerId = `serial-${String(++cases).padStart(12, '0')}`;
  const row = new Row();
  const ledgerOf = (queueId: string, total: number, delivery = 2) =>
    new Ledger({ journal, row, queueId, printerId, delivery, total, from: 0, perPage: 1 });
  return { printerId, ledgerOf };
}
