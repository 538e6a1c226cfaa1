/**
 * A job's place at its printer. While it is behind another job it waits for its turn: its labels are made, and sent
 * behind those of the first job where the loop (`loop.ts`) says so.
 *
 *   waits ──its first labels are on record, and sent──▶ live ──all labels of the job ahead are out──▶ first
 *     ▲                                                  │
 *     └── the connection is gone: the loop finds out ────┘
 *         what became of all that was under way
 *
 * Labels that the journal calls about to be sent are sent at once. If they cannot be, the journal takes that back, because
 * anybody's labels may be counted in between.
 */
import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import type { TimingConfig } from '../config.ts';
import { Backoff } from '../pause.ts';
import type { Confirmation } from '../printer/confirmation.ts';
import { type RefusalReason, refused } from '../printer/link.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { pagesOf } from './page-count.ts';
import { Rest } from './rest.ts';
import type { LoopEntry } from './sender.ts';
import { InterruptedError } from './stop-signals.ts';

/** How long it may take to write down what is about to be sent behind another job, ms. */
const JOIN_MS = 500;

/** So many answers may lack the printer's counter before it counts as lost; anew once the printer is ready and tells it. */
const MUTE_LIMIT = 5;

export interface LoopContext {
  timings: TimingConfig;
  confirmation(): Confirmation;
  /** A person holds the printer: no further job begins there. */
  held(): boolean;
}

export class Place {
  readonly job: LoopEntry;
  readonly device: PrinterDevice;
  /** It came while the job ahead was printing. */
  readonly follows: boolean;
  /** Settles when its labels are out, or it has to leave. */
  readonly printed = Promise.withResolvers<void>();
  /** Resolves when its end is on record, or it has left. */
  readonly over = Promise.withResolvers<void>();
  /** It wants to print. */
  asks = false;
  /** The next job may follow it. */
  lets = false;
  /** Its labels go out on the open connection. */
  live = false;
  /** It had the printer, or some of its labels may have been sent. */
  begun = false;
  /** It leaves: nothing more of it is sent. */
  closing = false;
  /** Resolves when nothing of it is being made, written down or sent. */
  busy: Promise<void> | null = null;
  /** Pages that may still be in the printer after it has left; null: it has not. */
  left: number | null = null;
  /** Pages of it that were in the printer, or out, when its connection was lost, and that are not settled yet. */
  arrived = 0;
  /** The printer was found ready for what is sent next. */
  ready = false;
  /** The printer cannot say what becomes of labels. */
  blind = false;
  readonly backoff: Backoff;
  /** For a printer that takes no job now. */
  readonly later: Backoff;
  readonly #context: LoopContext;
  #mute = 0;
  #first = false;
  /** Its next labels are made. */
  #made = false;
  #news = Promise.withResolvers<void>();

  constructor(job: LoopEntry, device: PrinterDevice, follows: boolean, context: LoopContext) {
    const { reconnectMin, reconnectMax, pollWaiting } = context.timings;
    [this.job, this.device, this.follows, this.#context] = [job, device, follows, context];
    this.backoff = new Backoff(reconnectMin, reconnectMax);
    this.later = new Backoff(reconnectMin, pollWaiting);
    this.printed.promise.catch(() => undefined);
  }

  /** Pages that it has sent, or was about to send, and that are not settled. */
  get pages(): number {
    const { ledger } = this.job;
    return this.left ?? (ledger.uncertain ? ledger.pages : 0);
  }

  /** Something may be sent. */
  get mayGo(): boolean {
    const { stop } = this.job;
    const stops = this.live ? stop.boundary.aborted : stop.leave.aborted || !this.#made;
    return !stops && !this.closing && this.busy === null;
  }

  /** The printer has answered. */
  told(): void {
    this.#news.resolve();
  }

  /** It is the first from now on. */
  comes(): void {
    this.#first = true;
    this.job.sender.notes.leads();
    this.told();
  }

  /** Has its labels made while it is behind, and lets it leave when it has to. Never rejects. */
  async waits(stuck: () => boolean): Promise<void> {
    const { stop } = this.job;
    this.make();
    while (!this.#first && !this.closing) {
      this.#news = Promise.withResolvers();
      await this.busy;
      if (this.#first || this.closing) return;
      try {
        if (this.live) stop.leaveIfTold(true, stuck());
        else if (stop.leave.aborted) throw new InterruptedError();
      } catch (error) {
        await this.ends(error);
        return;
      }
      const signal = stop.leave.aborted ? stop.end : stop.leave;
      await orAborted(this.#news.promise, signal).catch(() => undefined);
    }
  }

  /** Has its next labels made, unless nobody knows yet which those are. */
  make(): void {
    const { ledger, labels, stop } = this.job;
    const waits = this.asks && !this.#first && !this.closing && !this.live;
    if (!waits || this.busy !== null || ledger.uncertain || ledger.next === ledger.total) return;
    const making = async () => {
      labels.renew(ledger.next);
      await labels.peek(stop);
      this.#made = true;
    };
    this.does(making());
  }

  /** Where the work fails, only this job ends; a lost connection is left to the loop, since it is lost for all. */
  does(work: Promise<unknown>): void {
    const failed = (error: unknown) => {
      if (!(error instanceof TransportError)) void this.ends(error);
    };
    this.busy = work
      .then(() => undefined, failed)
      .then(() => {
        this.busy = null;
        this.told();
        if (!this.#made) this.make();
      });
  }

  /**
   * Sends its first labels behind those of the job ahead.
   * @param late aborted where the printer has to be asked by now: then nothing is sent
   * @throws TransportError, JournalError, InterruptedError, JobFaultError, RenderCrash
   */
  async sendFirst(ahead: LoopEntry, late: AbortController): Promise<boolean> {
    const { ledger, sender, labels, link } = this.job;
    this.#made = false;
    // What it had sent on an earlier connection may not be settled yet, or nothing may be left to send.
    if (ledger.uncertain || ledger.next === ledger.total) return false;
    const timer = setTimeout(() => late.abort(), JOIN_MS);
    try {
      labels.renew(ledger.next);
      const burst = await sender.collect(false);
      if (burst.length === 0 || late.signal.aborted) return false;
      ledger.join();
      sender.notes.joins(ahead.ledger.queueId, ahead.sender.notes);
      try {
        const written = await sender.intend(burst, late.signal);
        if (!written || late.signal.aborted || this.closing) return false;
        link.follow();
        // While the labels go out, the printer is not asked.
        clearTimeout(timer);
        this.live = this.begun = true;
      } finally {
        if (!this.live) {
          late.abort();
          sender.takeBack();
          ledger.leave();
        }
      }
      await sender.write(burst);
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The counter of the printer at rest has told what is out of the job ahead, and of this one. */
  settle(): void {
    const { ledger, sender } = this.job;
    this.arrived = 0;
    if (ledger.uncertain) {
      ledger.settledBehind();
      if (!ledger.uncertain) sender.notes.settled();
    }
    this.make();
    this.told();
  }

  /** The connection is gone. */
  cut(): void {
    const { arrived, base, perPage, uncertain } = this.job.ledger;
    if (this.live && uncertain) this.arrived = pagesOf(Math.max(0, arrived - base), perPage);
    if (this.live) this.job.ledger.leave();
    this.live = false;
    this.make();
    this.told();
  }

  /** It leaves: what it has sent stays ahead of what others send. Never rejects. */
  async ends(error: unknown): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.told();
    await this.busy;
    this.left = this.pages;
    this.live = false;
    this.printed.reject(error);
  }

  // Where it is the first:

  get trusted(): boolean {
    return this.#context.confirmation() === 'transport';
  }

  /** Stores another note where the one in the queue does not fit any more. */
  note(): Promise<void> | null {
    const { ledger, sender } = this.job;
    return sender.notes.follow(this.blind ? ledger.sent : ledger.next);
  }

  /** The printer has not taken what was sent. @throws JobFaultError, InterruptedError */
  async refuses({ code, later }: RefusalReason): Promise<void> {
    this.ready = false;
    if (!later) throw refused(code);
    this.job.log.info({ code }, 'the printer takes no job now');
    await this.job.stop.wait(this.later.next());
  }

  /** Waits until the printer is ready, and reads its counter again. Nothing was sent since it was read. */
  async readAgain(): Promise<void> {
    await this.beReady();
    if (this.blind) throw new TransportError('query-timeout', 'it has answered before');
  }

  /**
   * Waits until the printer takes labels; after a cut, until it is at rest and tells which are out.
   * @param after forgotten: the printer had been told to forget what waits in it
   * @param behind pages of the jobs behind that were in the printer, or out, before the cut
   * @returns what its counter shows at rest after a cut
   * @throws TransportError, JobFaultError `outcome-unknown`, InterruptedError
   */
  async beReady(after?: 'at-rest' | 'forgotten', behind = 0): Promise<number | null> {
    const { timings } = this.#context;
    const { ledger, link, labels, outcome, delivery, stop, sender, log } = this.job;
    const copies = ledger.most > ledger.pages ? labels.mostCopies : delivery.job.copies;
    const perFormat = Math.min(copies, labels.mostCopies);
    const forgets = after === 'forgotten';
    const rest = after ? new Rest(ledger, { settleMs: timings.settle, perFormat, behind, forgets }) : null;
    for (let wait = timings.pollMin; ; wait = Math.min(timings.pollWaiting, wait * 1.5)) {
      const { ready, status, reasons, saidAt } = await link.ready(rest === null);
      sender.readAt = saidAt;
      if (status === null) {
        this.#goOnBlind();
        return null;
      }
      const printed = rest?.printed(this.counting(status), performance.now()) ?? null;
      if (printed !== null) {
        log.info({ printed, intent: ledger.intent }, 'the printer told what came out');
        ledger.settle(printed, status.odometer);
        sender.notes.settled();
      }
      if (printed !== null || (rest === null && ready)) {
        // The job begins at this counter: without it, a crash would leave all its labels to a person.
        if (!link.documents) this.counting(status, link.counts);
        if (status.odometer !== null) this.#mute = 0;
        ledger.begin(link.counts ? status.odometer : null);
        outcome.progress(status.reasons);
        this.ready = rest === null || !link.documents;
        if (!link.documents) this.backoff.reset();
        return printed === null ? null : status.odometer;
      }
      outcome.progress(reasons);
      sender.notes.waits();
      await stop.wait(rest?.near ? timings.settle / 4 : wait);
    }
  }

  /** @throws JobFaultError `outcome-unknown` */
  #goOnBlind(): void {
    const { ledger } = this.job;
    const printed = this.trusted && ledger.intent === ledger.sent ? ledger.sent : ledger.printed;
    if (ledger.intent > printed) ledger.printedAtRest(null);
    ledger.settle(printed);
    this.blind = this.ready = true;
    this.backoff.reset();
  }

  /**
   * Where the job goes by the printer's counter, a status without the counter is no answer.
   * @throws TransportError `query-timeout`, so that the printer is asked again on a new connection
   */
  counting(status: DeviceStatus, counts = this.job.ledger.odometer !== null): DeviceStatus {
    const tells = status.odometer !== null || status.unfinished;
    if (counts && !tells && this.#mute < MUTE_LIMIT) {
      this.#mute++;
      throw new TransportError('query-timeout', 'it did not tell its label counter');
    }
    return status;
  }
}
