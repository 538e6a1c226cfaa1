/**
 * One delivery of one job: the state machine that `worker.ts` describes. It holds the device from its start to
 * its end, and always ends: with a result for the queue, never with an exception.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { type Connection, TransportError } from '../../../drivers/transports/transport.ts';
import { dots } from '../../contract/dots.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { RenderCrash } from '../../rendering/render-pool.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import { pause } from '../pause.ts';
import { type Confirmation, unconfirmed } from '../printer/confirmation.ts';
import { canConfirm, isBlocked, isIdle, whyItWaits } from '../printer/status.ts';
import type { Device } from '../printer/stream-device.ts';
import type { PickedUpJob } from '../source/job-source.ts';
import { type AttemptContext, Interrupted, JobAttempt } from './attempt.ts';
import { gone, Rest, type RestOptions } from './rest.ts';

export interface RunContext extends AttemptContext {
  device: Device;
  /** Whether the printer takes bytes of this language by the way that it is driven. */
  speaks(language: LanguageId): boolean;
  confirmation(): Confirmation;
}

/** Longest wait for the queue to take a note, while the printer prints, before the printer is asked again, ms. */
const NOTE_MS = 200;
/** How old the counter may be when the first label that it is to count goes out, ms. */
const BASE_MS = 500;

/** How often a printer with a counter may fail to tell it, before the counter counts as lost. */
const MUTE_LIMIT = 5;

export class JobRun extends JobAttempt {
  readonly #context: RunContext;
  #mute = 0;
  #unfinishedSince: number | null = null;
  #baseReadAt = 0;

  constructor(context: RunContext, delivery: PickedUpJob) {
    super(context, delivery, { maxCopies: Math.max(1, Math.floor(context.window.labels / 2)) });
    this.#context = context;
  }

  protected async print(): Promise<void> {
    const { device } = this.#context;
    device.claim();
    let clean = false;
    try {
      await this.#onDevice();
      clean = true;
    } finally {
      // Half a question or half a label may be on the connection.
      if (!clean) await this.#leaveConnection(this.end.aborted);
      device.release();
    }
  }

  async #onDevice(): Promise<void> {
    const { ledger, log } = this;
    const cutOff = this.lookUp();
    const from = ledger.printed;
    const { language } = this.delivery.job.format;
    // When the job was queued, the printer was driven another way, or by another agent.
    if (!this.#context.speaks(language)) {
      throw new JobFaultError('language-unsupported', `The printer does not take ${language} any more`);
    }
    // What the printer counts of documents is not what it counts of labels.
    if (cutOff && ledger.document !== undefined) ledger.printedAtRest(null);
    log.info({ delivery: ledger.delivery, labels: ledger.total, from }, 'job started');
    this.outcome.progress([]);
    // A job that was cut off is checked once it is known where it goes on.
    if (!cutOff) await this.check();
    for (;;) {
      try {
        const connection = await this.#context.device.connect(this.leave);
        const blind = !(await this.#ready(connection));
        this.backoff.reset();
        if (ledger.printed < ledger.total) await this.#send(connection, blind);
        return;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        await this.#disconnected(error);
      }
    }
  }

  /**
   * Waits until the printer can take the job, and settles what a cut left open. False: the printer cannot say
   * what it prints, and the job goes to it blind.
   * @throws TransportError, JobFaultError `outcome-unknown`, Interrupted
   */
  async #ready(connection: Connection): Promise<boolean> {
    const { timings } = this.#context;
    const { ledger, outcome } = this;
    const rest = ledger.uncertain ? new Rest(ledger, this.#restOptions()) : null;
    let begins = true;
    for (let wait = timings.pollMin; ; wait = Math.min(timings.pollWaiting, wait * 1.5)) {
      this.#baseReadAt = performance.now();
      const status = await this.#ask(connection);
      if (status === null || (!isBlocked(status) && !canConfirm(status))) {
        this.#readyBlind();
        return false;
      }
      if (rest === null && isIdle(status)) {
        ledger.begin(status.odometer);
        outcome.progress(status.reasons);
        return true;
      }
      const printed = rest?.printed(this.#told(status), performance.now()) ?? null;
      if (printed !== null) {
        this.log.info({ printed, intent: ledger.intent }, 'the printer told what came out');
        ledger.settle(printed, status.odometer);
        return true;
      }
      await this.#endUnfinished(connection, status, begins);
      begins = false;
      outcome.progress(whyItWaits(status, rest === null));
      await this.wait(rest?.near ? timings.settle / 4 : wait);
    }
  }

  #restOptions(): RestOptions {
    const perFormat = Math.min(this.delivery.job.copies, this.maxCopies);
    return { settleMs: this.#context.timings.settle, perFormat };
  }

  /**
   * A label that somebody has begun, and does not end, would stop the printer for ever: it is dropped after a while.
   * @param atOnce nothing of ours is on this connection
   */
  async #endUnfinished(connection: Connection, { unfinished }: DeviceStatus, atOnce = false): Promise<void> {
    const { timings, device } = this.#context;
    const now = performance.now();
    if (!unfinished) this.#unfinishedSince = null;
    else this.#unfinishedSince ??= now;
    if (this.#unfinishedSince === null) return;
    if (!atOnce && now - this.#unfinishedSince < timings.vanished) return;
    this.#unfinishedSince = now;
    await device.abandon(connection, this.end);
  }

  /** @throws JobFaultError `outcome-unknown` */
  #readyBlind(): void {
    const { ledger } = this;
    const printed = this.#trusted() && ledger.intent === ledger.sent ? ledger.sent : ledger.printed;
    if (ledger.intent > printed) ledger.printedAtRest(null);
    ledger.settle(printed);
  }

  #trusted(): boolean {
    return this.#context.confirmation() === 'transport';
  }

  /** null: a printer that has never answered anything. @throws TransportError */
  async #ask(connection: Connection): Promise<DeviceStatus | null> {
    const { device } = this.#context;
    if (device.dialect === null || device.mute || (!device.answers && this.#trusted())) return null;
    try {
      const status = await device.dialect.status(connection, this.end);
      device.answered(status);
      return status;
    } catch (error) {
      const silent = error instanceof TransportError && error.code !== 'connection-lost';
      if (!silent || device.answers) throw error;
      device.silent();
      return null;
    }
  }

  /**
   * The status of a printer whose counter the job goes by: without the counter it is no answer.
   * @throws TransportError `query-timeout`, so that it is asked again on a new connection
   */
  #told(status: DeviceStatus): DeviceStatus {
    const tells = status.odometer !== null || status.unfinished;
    if (this.ledger.odometer !== null && !tells && this.#mute < MUTE_LIMIT) {
      this.#mute++;
      throw new TransportError('query-timeout', 'it did not tell its label counter');
    }
    return status;
  }

  /** Sends what is left, never further ahead of the printer than the window, until all is confirmed. */
  async #send(connection: Connection, blind: boolean): Promise<void> {
    const { ledger, row, outcome } = this;
    const { total, printed: base } = ledger;
    // A session that has given chunks is not gone on with: what went before the first label (formats stored in the
    // printer, its settings) may be gone with the connection, or with the printer's power.
    const untouched = this.session?.from === base && this.position === base;
    if (!untouched) this.openSession(base);
    if (!this.checked) await this.check();
    const started = performance.now();
    let moved = started;
    let blocked = false;
    /** When it last had something to print, or had printed something. */
    let printing = started;
    for (;;) {
      const following = this.handover.follow(blind ? ledger.sent : ledger.printed);
      if (following !== null) await Promise.race([following, pause(NOTE_MS, this.end)]);
      const stays = blocked || row.doubtful || this.boundary.aborted;
      const burst = stays ? [] : await this.#collect(blind);
      if (burst.length > 0) {
        await this.#write(connection, burst);
        moved = performance.now();
      }
      if (blind && this.#trusted()) ledger.trust();
      outcome.progress();
      const ended = ledger.sent === total;
      if (ended && ledger.printed === total && !row.pending) return;
      if (ended && blind) {
        throw unconfirmed();
      }
      this.#leaveIfTold(blocked || blind);
      if (blind) {
        if (burst.length === 0) await this.wait(NOTE_MS);
        continue;
      }
      const perLabel = (moved - started) / Math.max(1, ledger.sent - row.outstanding - base);
      const { pollMin, pollWaiting } = this.#context.timings;
      // What arrived before a cut has to be known: where some of it is gone after that, it was canceled.
      const fresh = ledger.odometer !== null && performance.now() - moved < this.#context.timings.settle;
      const soon = fresh && !row.short && ledger.arrived < ledger.sent;
      await this.sleep(blocked ? pollWaiting : soon ? pollMin : this.#pollAfter(moved, perLabel, ended));
      const before = row.outstanding;
      const status = await this.#ask(connection);
      if (status === null) throw new TransportError('query-timeout', 'it has answered before');
      const now = performance.now();
      ledger.confirm(this.#told(status), now);
      const { outstanding, pending, short } = row;
      outcome.reasons =
        pending && (ended || status.unfinished) ? whyItWaits(status, outstanding === 0) : status.reasons;
      if (outstanding < before || status.labelsPending !== 0) printing = now;
      if (outstanding < before || blocked || isBlocked(status)) moved = now;
      blocked = isBlocked(status);
      await this.#endUnfinished(connection, status);
      const { vanished, settle } = this.#context.timings;
      if (short && now - printing > settle) throw gone(outstanding);
      if (isIdle(status) && outstanding > 0 && now - moved > vanished) throw gone(outstanding);
    }
  }

  /**
   * When to ask again, ms: often enough to lose at most an eighth of a label's time, but not while the printer
   * has labels enough to be busy for a while.
   */
  #pollAfter(moved: number, perLabel: number, ended: boolean): number {
    const { pollMin, pollMax } = this.#context.timings;
    const needed = ended ? 1 : Math.ceil(this.#context.window.labels / 2);
    const spare = ((this.row.outstanding - needed) * perLabel) / 2;
    return Math.min(pollMax, Math.max(pollMin, (performance.now() - moved) / 8, spare));
  }

  /** @throws Interrupted when the job has to go, and either nothing is under way or nothing moves */
  #leaveIfTold(stuck: boolean): void {
    const { printed, sent } = this.ledger;
    if (this.end.aborted) throw new Interrupted();
    if (this.boundary.aborted && (printed === sent || stuck)) throw new Interrupted();
    if (this.leave.aborted && stuck) throw new Interrupted();
  }

  /** The chunks that fit the window and are made. Waits for one where none is there. */
  async #collect(blind: boolean): Promise<Chunk[]> {
    const { window } = this.#context;
    const { row, ledger } = this;
    const burst: Chunk[] = [];
    while (this.position < ledger.total) {
      if (burst.length > 0 && this.session?.available !== true) break;
      const chunk = await this.rendering((session) => session.peek(this.end));
      if (chunk === null) throw new RenderCrash(`the labels end at ${this.position}`);
      // Blind, the window only bounds what one journal entry covers.
      const full = blind
        ? burst.length > 0 && chunk.first + chunk.count - ledger.sent > window.labels
        : !row.fits(chunk, burst, window);
      if (full || (this.handover.left && chunk.first + chunk.count > this.handover.allowed)) break;
      this.session?.taken();
      this.position = chunk.first + chunk.count;
      burst.push(chunk);
    }
    return burst;
  }

  /** Journal, note, bytes, in the order that `worker.ts` gives; stops at a label boundary when it has to. */
  async #write(connection: Connection, burst: Chunk[]): Promise<void> {
    const upTo = Math.max(...burst.map(({ first, count }) => first + count));
    let sending = false;
    try {
      await this.#intend(upTo);
      while (!this.#baseIsFresh()) {
        // Nothing has been sent: what the printer has counted since is not this job's.
        const { odometer } = this.ledger;
        this.#intendNothing();
        if (!(await this.#ready(connection))) {
          throw new TransportError('query-timeout', 'it has answered before');
        }
        await this.#intend(upTo, this.ledger.odometer !== odometer);
      }
      const { ledger } = this;
      await this.#context.device.endData(connection, dotsOf(this.delivery.job), this.end);
      for (const chunk of burst) {
        if (this.boundary.aborted) {
          ledger.withdraw();
          return;
        }
        sending = true;
        await connection.write(chunk.bytes, this.end);
        ledger.took(chunk, performance.now());
      }
    } catch (error) {
      // Of none of them a byte has gone out.
      if (!sending) this.ledger.withdraw();
      throw error;
    }
  }

  /**
   * Writes down that the labels before `upTo` are about to be sent, with the note before the first of all. While the
   * queue makes the note wait, the journal says that nothing is: labels that come out meanwhile are not this job's.
   * @param again the note too, since the counter has moved
   */
  async #intend(upTo: number, again = false): Promise<void> {
    const { ledger } = this;
    if (!this.handover.left && ledger.odometer === null) {
      ledger.keep();
      await this.note(upTo);
    }
    ledger.intend(upTo);
    if (this.handover.left && !again) return;
    const noted = this.note(upTo, again);
    if (await isWithin(noted, BASE_MS)) return;
    this.#intendNothing();
    await noted;
    ledger.intend(upTo);
  }

  #intendNothing(): void {
    this.ledger.withdraw();
    this.ledger.keep();
  }

  /** Whether the counter that the job goes by was read just now, or labels have been sent since. */
  #baseIsFresh(): boolean {
    const { odometer, sent, base } = this.ledger;
    return odometer === null || sent > base || performance.now() - this.#baseReadAt <= BASE_MS;
  }

  /** @param resumes the printer will be asked which labels came out: none may come after its answer */
  async #leaveConnection(resumes: boolean): Promise<void> {
    const { device } = this.#context;
    await (resumes && this.ledger.uncertain ? device.breakOff() : device.drop());
  }

  async #disconnected(error: TransportError): Promise<void> {
    const { device } = this.#context;
    this.log.info({ code: error.code, detail: error.message }, 'printer not reached');
    await this.#leaveConnection(true);
    device.onStatus(null);
    this.outcome.progress(device.offline);
    await this.wait(this.backoff.next());
  }
}

/** What a label's dots come to, bytes. */
function dotsOf({ format: { width, height, dpi } }: QueuedJob): number {
  return (Math.ceil(dots(width, dpi) / 8) + 1) * dots(height, dpi);
}

/** Whether `promise` resolves in time, ms. @throws what it rejects with in that time */
async function isWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
