/** The ledger under any order of events, of one job and of several in a row at one printer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeviceStatus } from '../../drivers/device.ts';
import { Ledger } from '../../src/agent/job/ledger.ts';
import { LedgerError } from '../../src/agent/job/ledger-rules.ts';
import { Row } from '../../src/agent/job/row.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import { useJournal } from '../kit/agent/use-journal.ts';

const RUNS = { seed: 20_261_122, numRuns: 200 };

const journal = useJournal();
let opened = 0;

function open(row: Row, total: number, perPage: number, id = ++opened): Ledger {
  const queueId = `00000000-0000-0000-0000-${String(id).padStart(12, '0')}`;
  const printerId = `serial-${String(id).padStart(12, '0')}`;
  return new Ledger({ journal, row, queueId, printerId, delivery: 1, total, from: 0, perPage });
}

function countsOf({ base, intent, sent, printed, total, odometer, document, uncertain }: Ledger) {
  return { base, intent, sent, printed, total, odometer, document, uncertain };
}

/** Any answer, whether it makes sense or not. */
const anyStatus = fc.record({
  state: fc.constantFrom('idle', 'processing', 'stopped'),
  reasons: fc.constant([]),
  labelsPending: fc.option(fc.nat(20), { nil: null }),
  odometer: fc.option(fc.integer({ min: 90, max: 130 }), { nil: null }),
}) satisfies fc.Arbitrary<DeviceStatus>;

type Call = (ledger: Ledger, now: number, row: Row) => void;

const anyCall = fc.oneof<fc.Arbitrary<Call>[]>(
  fc.option(fc.integer({ min: 90, max: 110 }), { nil: null }).map((n) => (ledger) => ledger.begin(n)),
  fc.constant((ledger) => ledger.join()),
  fc.nat(14).map((n) => (ledger) => ledger.intend(n)),
  fc.nat(14).map((n) => (ledger) => ledger.intend(n, 'a document')),
  fc.constant((ledger) => ledger.withdraw()),
  fc.constant((ledger) => ledger.made('17')),
  fc.constant((ledger) => ledger.canceling()),
  fc.tuple(fc.integer({ min: -1, max: 1 }), fc.integer({ min: 1, max: 6 })).map(
    ([off, count]) =>
      (ledger, now) =>
        ledger.took({ bytes: new Uint8Array(10), first: ledger.sent + off, count }, now),
  ),
  anyStatus.map((status) => (_, now, row) => row.confirm(status, now)),
  fc.nat(14).map((pages) => (ledger) => ledger.count(pages)),
  fc.constant((ledger) => ledger.trust()),
  fc.nat(14).map((n) => (ledger) => ledger.settle(n, 100)),
  fc.tuple(fc.nat(14), fc.boolean()).map(
    ([n, confirmed]) =>
      (ledger) =>
        ledger.done(n, confirmed),
  ),
  fc.constant((ledger) => ledger.keep()),
);

test('whatever is called: its rules hold, what would break them throws and changes nothing, and no count goes back', () => {
  const calls = fc.array(fc.tuple(fc.nat(1), anyCall), { maxLength: 40 });
  fc.assert(
    fc.property(calls, fc.constantFrom(1, 4), (course, perPage) => {
      const row = new Row();
      const ledgers = [open(row, 12, perPage), open(row, 9, 1)];
      let now = 0;
      for (const [of, call] of course) {
        const ledger = ledgers[of] ?? expect.fail();
        const before = ledgers.map(countsOf);
        now += 40;
        try {
          call(ledger, now, row);
        } catch (error) {
          if (!(error instanceof LedgerError || error instanceof JobFaultError)) throw error;
          expect(ledgers.map(countsOf)).toEqual(before);
        }
        for (const [at, { base, sent, intent, printed, total }] of ledgers.entries()) {
          const ordered = 0 <= base && base <= sent && sent <= intent && intent <= total;
          const grows = (before[at]?.printed ?? 0) <= printed && printed <= intent;
          if (!ordered || !grows) expect.fail(JSON.stringify(ledgers.map(countsOf)));
        }
      }
    }),
    RUNS,
  );
});

interface Page {
  of: number;
  labels: number;
}

/** A printer that prints what it gets, counts it, and says what it has not printed yet. */
class Paper {
  counter = 1_000;
  readonly #waiting: Page[] = [];
  readonly #out: Page[] = [];
  /** The first page of each job that is gone. */
  readonly #lost = new Set<number>();

  take(page: Page): void {
    this.#waiting.push(page);
  }

  print(pages: number): void {
    for (const page of this.#waiting.splice(0, pages)) {
      this.counter++;
      if (!this.#lost.has(page.of)) this.#out.push(page);
    }
  }

  /** Somebody cancels a page at the panel: what comes after it is out of order. */
  drop(at: number): void {
    const [page] = this.#waiting.splice(at % Math.max(1, this.#waiting.length), 1);
    if (page === undefined) return;
    this.#lost.add(page.of);
    // What waits before it still comes out in order; that it does not count here errs on the safe side only.
  }

  status(counts: boolean): DeviceStatus {
    const labelsPending = this.#waiting.length;
    const state = labelsPending > 0 ? 'processing' : 'idle';
    return { state, reasons: [], labelsPending, odometer: counts ? this.counter : null };
  }

  /** Labels of a job that are out, from its first on without a gap. */
  out(of: number): number {
    return this.#out.filter((page) => page.of === of).reduce((sum, { labels }) => sum + labels, 0);
  }
}

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('send'), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('print'), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('ask'), count: fc.constantFrom(1, 20, 300) }) },
);
const losing = fc.oneof(
  { weight: 12, arbitrary: event },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('drop'), count: fc.nat(4) }) },
);
const sizes = fc.array(
  fc.record({ total: fc.integer({ min: 1, max: 12 }), perPage: fc.constantFrom(1, 1, 4) }),
  { minLength: 1, maxLength: 3 },
);

/** Jobs in a row at one printer, each sent when the one before it has been. */
class Course {
  readonly paper = new Paper();
  readonly row = new Row();
  readonly ledgers: Ledger[];
  readonly #counts: boolean;
  readonly #whole: boolean;
  #now = 0;

  /** @param whole pages that go out together are one chunk, of which the printer does not say how much waits */
  constructor(jobs: { total: number; perPage: number }[], counts: boolean, whole: boolean) {
    this.#counts = counts;
    this.#whole = whole;
    this.ledgers = jobs.map(({ total, perPage }) => open(this.row, total, perPage));
    this.ledgers[0]?.begin(counts ? this.paper.counter : null);
  }

  run(what: string, count: number): void {
    this.#now += 1;
    if (what === 'send') this.#send(count);
    else if (what === 'print') this.paper.print(count);
    else if (what === 'drop') this.paper.drop(count);
    else {
      this.#now += count;
      this.row.confirm(this.paper.status(this.#counts), this.#now);
    }
    this.#check();
  }

  /** All comes out, and is told. */
  end(): void {
    for (let sent = 0; sent < 16; sent++) this.run('send', 3);
    for (const [what, count] of [
      ['print', 100],
      ['ask', 300],
      ['ask', 300],
    ] as const)
      this.run(what, count);
  }

  #send(pages: number): void {
    const of = this.ledgers.findIndex(({ sent, total }) => sent < total);
    const ledger = this.ledgers[of];
    if (ledger === undefined) return;
    if (of > 0 && ledger.sent === 0) ledger.join();
    const { perPage } = ledger;
    const labels = Math.min(pages * perPage, ledger.total - ledger.sent);
    ledger.intend(ledger.sent + labels);
    const most = this.#whole ? labels : perPage;
    for (let left = labels; left > 0; left -= most) {
      const count = Math.min(left, most);
      ledger.took({ bytes: new Uint8Array(10), first: ledger.sent, count }, this.#now);
      for (let rest = count; rest > 0; rest -= perPage)
        this.paper.take({ of, labels: Math.min(rest, perPage) });
    }
  }

  #check(): void {
    for (const [of, ledger] of this.ledgers.entries()) {
      const { printed, sent, lasting } = ledger;
      const out = this.paper.out(of);
      if (printed > out)
        expect.fail(`${printed} labels of job ${of} are called printed where ${out} are out`);
      const kept = sent === 0 ? 0 : (journal.look(lasting.queueId)?.entry.intent ?? 0);
      if (kept < sent) expect.fail(`${sent} labels of job ${of} were sent where the journal has ${kept}`);
    }
  }
}

test.each([true, false])(
  'a printer that loses nothing (counter: %s): never more than is out, and in the end all',
  (counts) => {
    fc.assert(
      fc.property(sizes, fc.array(event, { maxLength: 60 }), (jobs, events) => {
        const course = new Course(jobs, counts, true);
        for (const { what, count } of events) course.run(what, count);
        course.end();
        for (const { printed, total, uncertain } of course.ledgers)
          expect([printed, uncertain]).toEqual([total, false]);
      }),
      RUNS,
    );
  },
);

test('a printer with a counter that loses pages: what is called printed is out, and what is lost is missed', () => {
  fc.assert(
    fc.property(sizes, fc.array(losing, { maxLength: 60 }), (jobs, events) => {
      const course = new Course(jobs, true, false);
      for (const { what, count } of events) course.run(what, count);
      course.end();
      const all = course.ledgers.every(({ total }, of) => course.paper.out(of) === total);
      expect(course.row.short).toBe(!all);
    }),
    RUNS,
  );
});

test('after a crash at any moment, a printer at rest tells exactly which labels are out', () => {
  const size = fc.record({ total: fc.integer({ min: 1, max: 12 }), perPage: fc.constantFrom(1, 4) });
  fc.assert(
    fc.property(size, fc.array(event, { maxLength: 30 }), fc.boolean(), (job, events, power) => {
      const course = new Course([job], true, true);
      for (const { what, count } of events) course.run(what, count);
      if (!power) course.paper.print(100);
      const again = open(new Row(), job.total, job.perPage, opened);
      const { entry } = again.found ?? {};
      if (entry === undefined) return;
      again.restore(entry);
      const out = course.paper.out(0);
      if (!again.uncertain) expect(again.printed).toBe(out);
      else {
        again.settle(again.printedAtRest(course.paper.counter), course.paper.counter);
        expect(again.printed).toBe(out);
      }
    }),
    RUNS,
  );
});
