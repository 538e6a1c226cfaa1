/**
 * The job behind another one at a printer: its labels go out while the printer still prints those of the job
 * ahead, so that the printer does not stand still between jobs. Only the job ahead has the printer: once it
 * has nothing more to send it sends what the job behind has, and since the two share the row, each answer of
 * the printer tells how far both are. The job behind waits for its turn:
 *
 *   waits ──its first labels are on record, and sent──▶ under way ──the job ahead is done──▶ has the printer
 *     ▲                                                     │
 *     └─── the connection is gone: the job ahead finds out ─┘
 *          what became of both
 *
 * When the labels of the job ahead are out, the printer is the job behind's, however long the end of the job
 * ahead takes to be on record. When the job ahead has ended, with whatever outcome, the job behind goes on
 * alone. Labels that are written down as about to be sent are sent at once, or the entry is taken back: what
 * the printer counts in between may be anybody's.
 */
import { TransportError } from '../../../drivers/connection.ts';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import { pause } from '../pause.ts';
import type { PrinterLink } from '../printer/link.ts';
import type { Labels } from './labels.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import { NOTE_MS, type Sender } from './sender.ts';
import { Interrupted, type Stop } from './stop.ts';

interface FollowingParts {
  ledger: Ledger;
  sender: Pick<Sender, 'collect' | 'follow' | 'takeBack' | 'send' | 'write' | 'handover'>;
  labels: Pick<Labels, 'renew' | 'peek' | 'available'>;
  link: Pick<PrinterLink, 'connect'>;
  outcome: Pick<Outcome, 'progress'>;
  stop: Stop;
  held(): boolean;
}

/** How long it may take to write down what is about to be sent, ms. */
const JOIN_MS = 500;

export class Following {
  /** The printer stood still when it last answered. */
  stuck = false;
  readonly #parts: FollowingParts;
  /** Its first labels are made. */
  #ready = false;
  /** Some of its labels may have been sent. */
  #begun = false;
  /** Its labels are under way on the connection of the job ahead. */
  #live = false;
  #over = false;
  #goesBack = false;
  #handedOver = false;
  #failure: { error: unknown } | null = null;
  /** Pages that may still be in the printer after it has left; null: it has not. */
  #left: number | null = null;
  /** Resolves when nothing of it is being written down or sent. */
  #busy: Promise<void> | null = null;
  #news = Promise.withResolvers<void>();

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  // Called by the job itself:

  /**
   * Waits until the printer is this job's.
   * @returns whether its labels are under way on the open connection
   * @throws Interrupted, JobFaultError, JournalError, RenderCrash
   */
  async turn(): Promise<boolean> {
    const { stop, held } = this.#parts;
    for (;;) {
      this.#news = Promise.withResolvers();
      await this.#busy;
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#live) {
        if (!this.waits) {
          // From now on it sees to the connection itself.
          this.#live = false;
          return true;
        }
        stop.leaveIfTold(true, this.stuck);
      } else {
        // The job has not begun: it goes back to its queue, and waits there with the others.
        const waits = !this.#begun && this.#over && (held() || this.#goesBack);
        if (stop.leave.aborted || waits) throw new Interrupted();
        if (!this.waits) return false;
        await this.#makeReady();
      }
      const signal = stop.leave.aborted ? stop.end : stop.leave;
      await orAborted(this.#news.promise, signal).catch(() => undefined);
    }
  }

  async #makeReady(): Promise<void> {
    const { ledger, labels, stop } = this.#parts;
    this.#ready = false;
    if (ledger.uncertain || ledger.base === ledger.total) return;
    labels.renew(ledger.base);
    await labels.peek(stop);
    this.#ready = true;
  }

  /** The job ahead has the printer, and this job must not use it. */
  get waits(): boolean {
    return !this.#over && !this.#handedOver;
  }

  /** The job has ended, or goes back to its queue. */
  leaves(): void {
    this.#left = this.pages;
    this.#live = false;
  }

  // Called by the job ahead:

  /**
   * Sends the labels that are made, and fit the window, behind those of the job ahead.
   * @returns whether something was sent
   * @throws TransportError: the connection is gone, for both
   */
  async send(): Promise<boolean> {
    const { stop } = this.#parts;
    const gone = this.#left !== null || this.#failure !== null;
    const stops = this.#live ? stop.boundary.aborted : stop.leave.aborted || !this.#ready;
    if (gone || stops || this.#busy !== null) return false;
    const late = new AbortController();
    const sending = this.#live ? this.#sendMore() : this.#sendFirst(late);
    this.#busy = sending
      .then(
        () => undefined,
        (error: unknown) => this.#fails(error),
      )
      .finally(() => {
        this.#busy = null;
        this.#news.resolve();
      });
    return await orAborted(sending, late.signal).catch((error: unknown) => {
      if (error instanceof TransportError) throw error;
      return false;
    });
  }

  /** @param late aborted where the job ahead has to ask the printer by now: then nothing is sent */
  async #sendFirst(late: AbortController): Promise<boolean> {
    const { ledger, sender, labels, link } = this.#parts;
    // Labels that it had sent may have been settled meanwhile, on another connection: perhaps all that there are.
    if (ledger.uncertain || ledger.base === ledger.total) return false;
    const timer = setTimeout(() => late.abort(), JOIN_MS);
    let sends = false;
    try {
      labels.renew(ledger.base);
      const burst = await sender.collect(false);
      if (burst.length === 0 || late.signal.aborted) return false;
      ledger.join();
      try {
        await sender.follow(burst);
        clearTimeout(timer);
        if (late.signal.aborted) return false;
        await link.connect(true);
        sends = true;
      } finally {
        if (!sends) this.#takeBack();
      }
      this.stuck = false;
      this.#begun = this.#live = true;
      await sender.write(burst);
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  #takeBack(): void {
    this.#parts.sender.takeBack();
    this.#parts.ledger.leave();
  }

  async #sendMore(): Promise<boolean> {
    const { ledger, sender, labels, stop } = this.#parts;
    const noted = this.#note();
    if (noted !== null) await Promise.race([noted, pause(NOTE_MS, stop.end)]);
    if (!ledger.underWay || !labels.available) return false;
    const burst = await sender.collect(false);
    if (burst.length > 0) await sender.send(burst);
    return burst.length > 0;
  }

  #note(): Promise<void> | null {
    const { ledger, sender } = this.#parts;
    return sender.handover.follow(Math.max(ledger.base, ledger.printed));
  }

  #fails(error: unknown): void {
    // A connection that is gone is the job ahead's to see to.
    if (!(error instanceof TransportError)) this.#failure ??= { error };
  }

  /** Its labels are under way on the connection of the job ahead. */
  get live(): boolean {
    return this.#live;
  }

  /** Pages that it has sent, or was about to send, and that are not settled. */
  get pages(): number {
    const { ledger } = this.#parts;
    return this.#left ?? (ledger.uncertain ? ledger.pages : 0);
  }

  /** It has labels to be sent behind those that are under way. */
  get more(): boolean {
    const { sent, total } = this.#parts.ledger;
    return this.#live && sent < total;
  }

  /** The printer has said how far it is. */
  told(stuck: boolean, reasons: readonly PrinterReason[]): void {
    if (!this.#live) return;
    const { ledger, outcome } = this.#parts;
    // For after a crash, as of the job ahead.
    if (stuck && !this.stuck) ledger.keep();
    this.stuck = stuck;
    outcome.progress(reasons);
    // Where labels are missing, the counter does not tell which, and the note to the next agent must say so.
    void this.#note();
    this.#news.resolve();
  }

  /** What the printer counts fits neither job. */
  faults(error: unknown): void {
    if (!this.#live || !(error instanceof JobFaultError)) return;
    this.#live = false;
    this.#failure = { error };
    this.#news.resolve();
  }

  /** The connection is gone, and the job ahead is to find out what became of both jobs' labels. */
  cut(): void {
    if (!this.#live) return;
    this.#live = false;
    this.#parts.ledger.leave();
    this.#news.resolve();
  }

  /** The labels of the job ahead are settled by this counter reading of a printer at rest: so are this job's. */
  settle(odometer: number | null): void {
    const { ledger } = this.#parts;
    if (odometer === null || this.#live || this.#left !== null) return;
    if (ledger.uncertain) ledger.settleBehind(odometer);
    this.#news.resolve();
  }

  /**
   * The job ahead neither uses the printer nor sends this job's labels any more, though its end may not be on
   * record yet.
   * @returns whether this job has the printer from now on
   */
  handOver(): boolean {
    this.#handedOver = this.#live && this.#failure === null;
    this.#news.resolve();
    return this.#handedOver;
  }

  /** The job ahead has ended. @param goesBack whether it returns to its queue, to be delivered first again */
  end(goesBack: boolean): void {
    this.#over = true;
    this.#goesBack = goesBack;
    this.#news.resolve();
  }
}
