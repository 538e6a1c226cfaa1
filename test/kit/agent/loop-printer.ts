/** A printer that prints when it is told to, with its loop, and jobs for it: what the loop has to do with is real. */
import { expect } from 'vitest';
import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { timings } from '../../../src/agent/config.ts';
import { restore } from '../../../src/agent/job/entry.ts';
import { Labels } from '../../../src/agent/job/labels.ts';
import { Ledger } from '../../../src/agent/job/ledger.ts';
import { PrinterLoop } from '../../../src/agent/job/loop.ts';
import type { Place } from '../../../src/agent/job/place.ts';
import { type LoopEntry, Sender } from '../../../src/agent/job/sender.ts';
import { StopSignals } from '../../../src/agent/job/stop-signals.ts';
import type { Journal } from '../../../src/agent/journal.ts';
import type { PrinterLink } from '../../../src/agent/printer/link.ts';
import type { PrinterDevice } from '../../../src/agent/printer/printer-device.ts';
import type { Chunk } from '../../../src/rendering/render-protocol.ts';
import { job as sampleJob } from '../queue/samples.ts';
import { logger } from './site.ts';

const never = new AbortController().signal;
const window = { labels: 16, bytes: 65_536 };
const quick = timings.parse({
  ...{ reconnectMin: 1, reconnectMax: 1, settle: 1, pollMin: 1, pollWaiting: 5 },
  // As the printer says.
  pollMax: 2 ** 31 - 1,
});
const AGENT = 'agent-0001';
const device = {} as PrinterDevice;
let printers = 0;

/** A printer that counts, and prints when it is told to. */
export class CountingPrinter {
  readonly printerId: string;
  readonly paper: string[] = [];
  /** What it has not printed yet. */
  waiting: string[] = [];
  stands = false;
  held = false;
  /** No other agent wants it. */
  alone = true;
  /** The open connection. */
  connection: { gone: boolean } | null = null;
  readonly released: boolean[] = [];
  /** How often it was asked how far it is. */
  asked = 0;
  /** After which time it is asked again, ms. */
  askedAfter: number | 'as long as it is busy' = 1;
  /** In so many answers it does not know yet of the label that it took last. */
  overlooks = 0;
  /** How often it was told to forget what waits in it. */
  forgot = 0;
  /** Labels of which bytes have gone out. */
  offered = 0;
  /** Connections, and bytes, go through when these are resolved. */
  connects: Promise<void> = Promise.resolve();
  takes: Promise<void> = Promise.resolve();
  answers: Promise<void> = Promise.resolve();
  readonly loop = new PrinterLoop({
    ...{ timings: quick, confirmation: () => 'device', held: () => this.held },
  });

  /** @param before the same printer, as its agent knew it before the agent was killed and the printer lost its power */
  constructor(before?: CountingPrinter) {
    this.printerId = before?.printerId ?? `serial-${String(++printers).padStart(12, '0')}`;
    this.paper.push(...(before?.paper ?? []));
  }

  status(): DeviceStatus {
    const overlooked = this.overlooks > 0 ? 1 : 0;
    this.overlooks -= overlooked;
    const [labelsPending, odometer] = [this.waiting.length - overlooked, 100 + this.paper.length];
    const reasons = this.stands ? (['media-empty'] as const) : [];
    const state = this.stands ? 'stopped' : labelsPending > 0 ? 'processing' : 'idle';
    return { state, reasons: [...reasons], labelsPending, formatsPending: labelsPending, odometer };
  }

  prints(labels: number): void {
    this.paper.push(...this.waiting.splice(0, labels));
  }

  /** The connection breaks. @param losesPower what waits is gone */
  breaks(losesPower = false): void {
    if (this.connection !== null) this.connection.gone = true;
    if (losesPower) this.waiting = [];
  }

  link(name: string, ledger: Ledger): PrinterLink {
    let own: CountingPrinter['connection'] = null;
    const gone = () => new TransportError('connection-lost', 'gone');
    const open = () => {
      if (own === null || own.gone) throw gone();
    };
    return {
      ...{ documents: false, counts: true, takes: () => true },
      connect: async () => {
        await this.connects;
        if (this.connection === null || this.connection.gone) this.connection = { gone: false };
        own = this.connection;
      },
      follow: () => {
        own = this.connection;
        open();
      },
      ready: async () => {
        open();
        const status = this.status();
        return { ready: status.state === 'idle', status, reasons: [], saidAt: performance.now() };
      },
      begin: async () => undefined,
      send: async (chunk: Chunk) => {
        open();
        this.offered += 1;
        await this.takes;
        this.waiting.push(`${name}${chunk.first}`);
        ledger.took(chunk, performance.now());
        return null;
      },
      progress: async () => {
        open();
        this.asked += 1;
        await this.answers;
        return { by: 'counter', status: this.status() };
      },
      recover: async () => (this.forgot > 0 ? 'forgotten' : 'at-rest'),
      cancel: async (alone) => {
        if (!alone) return false;
        this.forgot += 1;
        // The label under the head comes out.
        this.prints(1);
        this.waiting = [];
        return true;
      },
      pollAfter: (_, spare) => (typeof this.askedAfter === 'number' ? this.askedAfter : spare),
      broke: async () => [],
      release: async (clean) => void this.released.push(clean),
    };
  }
}

/** A job of some labels at the printer. */
export class LoopJob implements LoopEntry {
  readonly delivery: LoopEntry['delivery'];
  readonly ledger: Ledger;
  readonly stop: StopSignals;
  readonly log = logger;
  readonly outcome: LoopEntry['outcome'];
  readonly link: PrinterLink;
  readonly labels: Labels;
  readonly sender: Sender;
  readonly ahead = () => window;
  readonly mustTake = () => undefined;
  place: Place | null = null;
  readonly signals = {
    leave: new AbortController(),
    end: new AbortController(),
    lost: new AbortController(),
    cancel: new AbortController(),
  };
  /** What the job said of the printer. */
  readonly said: string[] = [];
  readonly fails: { peek?: Error } = {};
  /** Labels are made when this is resolved. */
  made: Promise<void> = Promise.resolve();
  /** How many are being made. */
  making = 0;
  /** The queue takes a note when this is resolved. */
  notes: Promise<void> = Promise.resolve();
  readonly noted: object[] = [];
  readonly printer: CountingPrinter;
  /** @param before the same job, before its agent was killed */
  constructor(journal: Journal, printer: CountingPrinter, name: string, total: number, before?: LoopJob) {
    this.printer = printer;
    const { printerId } = printer;
    const { row } = printer.loop;
    const job = sampleJob(printerId);
    this.ledger = new Ledger({
      ...{ journal, row, queueId: before?.ledger.queueId ?? crypto.randomUUID(), printerId },
      ...{ delivery: 2, total, from: 0, perPage: 1 },
    });
    if (before !== undefined)
      restore(this.ledger, { agentId: AGENT, resumeAt: null }, { agentId: AGENT, journal });
    const { leave, end, lost, cancel } = this.signals;
    this.stop = new StopSignals({
      signals: { leave: leave.signal, boundary: never, end: end.signal },
      ...{ lost: lost.signal, cancel: cancel.signal, checkTerm: () => undefined, confirmMs: 300 },
    });
    this.stop.recovers = () => this.place?.live === false && this.ledger.uncertain;
    const open = (_: unknown, { from }: { from: number }) => {
      let next = from;
      return {
        ...{ from, available: true, check: async () => undefined, close: () => undefined },
        peek: async () => {
          if (this.fails.peek !== undefined) throw this.fails.peek;
          this.making += 1;
          await this.made;
          this.making -= 1;
          return next < total ? { bytes: new Uint8Array(5), first: next, count: 1 } : null;
        },
        taken: () => {
          next += 1;
        },
      };
    };
    const options = { documents: false, most: window, ahead: () => window, blind: () => false };
    this.labels = new Labels({ open } as never, job, options);
    this.link = printer.link(name, this.ledger);
    const setNote = async (note: object) => {
      await this.notes;
      this.noted.push(note);
    };
    this.delivery = {
      job,
      setNote,
      waited: true,
      follow: () => undefined,
      delivery: 2,
      note: null,
      signal: never,
    };
    const said = this.said;
    const outcome = {
      reasons: [] as string[],
      progress(this: { reasons: string[] }, reasons = this.reasons) {
        said.push(...reasons);
      },
    };
    this.outcome = outcome as never;
    this.sender = new Sender(this, {
      ...{ agentId: AGENT, row, window, timings: quick },
      alone: () => printer.alone,
    });
  }

  /** @param follows behind the job that prints */
  prints(follows = false): Promise<void> {
    const { loop } = this.printer;
    if (follows && !loop.admits(this.delivery.job, device)) throw new Error('it may not follow');
    this.place = loop.place(this, device, follows);
    const printed = loop.print(this.place);
    printed.catch(() => undefined);
    return printed;
  }

  leaves(goesBack = false): void {
    this.ledger.leave();
    this.printer.loop.leave(this.place, goesBack);
  }
}

/** A job of two labels at a printer that has printed neither, and one of ten behind it. */
export async function bothUnderWay(
  journal: Journal,
  before: (behind: LoopJob, first: LoopJob) => void = () => undefined,
) {
  const printer = new CountingPrinter();
  const [first, behind] = [new LoopJob(journal, printer, 'a', 2), new LoopJob(journal, printer, 'b', 10)];
  const ahead = first.prints();
  await expect.poll(() => printer.waiting.length).toBe(2);
  before(behind, first);
  const next = behind.prints(true);
  return { printer, first, behind, ahead, next };
}

/** Labels of a job, as the printer has them. */
export const all = (name: string, from: number, upTo: number) =>
  Array.from({ length: upTo - from }, (_, at) => `${name}${from + at}`);

/** The loop has had some turns. */
export const turns = () => new Promise((resolve) => setTimeout(resolve, 20));
