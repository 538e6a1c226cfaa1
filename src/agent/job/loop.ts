/**
 * The loop of one printer: the only one that prints, whatever kind of printer it is (`../printer/link.ts`). The
 * jobs in hand have places here, in their order. What is under way at the printer is the row (`row.ts`): the
 * labels of the first job, and behind them those of the next one, so that the printer does not stand still
 * between jobs. One answer of the printer settles all of it.
 *
 *   connect ─▶ recover ─▶ ready ─▶ fill ─▶ wait ─▶ ask ─▶ settle ─▶ the first job's are out: the next is first
 *      ▲                   ▲        ▲  ▲                    │ │                                   │
 *      │        next document └─────│──│────────────────────┘ │                                   │
 *      │                            │  └──────────────────────┘                                   │
 *      │                            └── its labels are under way, or it begins with `connect` ◀───┘
 *      └────────── back-off ◀── connection lost, for all
 *
 *   fill    sends labels of the first job, as far ahead as the window allows. Those of the job behind follow
 *           only at a printer that counts, while it prints, and only if they are on record (`sender.ts`)
 *           before the printer has to be asked again
 *   settle  takes over what the printer says, for all jobs in the row. After a lost connection its counter at
 *           rest tells what is out: of the first job, and then of the job behind
 *
 * When the first job goes back to its lane, a job behind it that has not begun goes back too. When the first job
 * has ended, whatever its outcome, the next one goes on: at once if its labels are under way, otherwise when that
 * outcome is on record.
 * A printer that is off, out of paper or unreachable fails no job: the job waits, says why, and goes on.
 */
import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import { faultFor, JobFaultError } from '../../contract/fault.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import { pause } from '../pause.ts';
import { unconfirmed } from '../printer/confirmation.ts';
import type { ProgressAnswer } from '../printer/link.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { whyItWaits } from '../printer/status.ts';
import { cancelUnderWay } from './forgotten.ts';
import { Pace } from './pace.ts';
import { type LoopContext, Place } from './place.ts';
import { keepsSetUp } from './printer-set-up.ts';
import { Row } from './row.ts';
import { type LoopEntry, NOTE_MS } from './sender.ts';
import { InterruptedError } from './stop-signals.ts';

export class PrinterLoop {
  readonly row = new Row();
  readonly #context: LoopContext;
  readonly #pace: Pace;
  /** In the order in which they print. */
  #places: Place[] = [];
  /** The job before the first one: it has left the printer, but its end may not be on record yet. */
  #ended: Place | null = null;
  #running = false;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#pace = new Pace(this.row, context.timings);
  }

  // Called by the station, and by the jobs:

  /** Whether this job may be made ready while the job ahead prints, and follow it. */
  admits(job: QueuedJob, device: PrinterDevice): boolean {
    const ahead = this.#places[0] ?? this.#ended;
    if (ahead === null || this.#places.length > 1) return false;
    const lets = ahead.lets && !ahead.job.stop.lost && ahead.device === device;
    return lets && keepsSetUp(ahead.job.delivery.job, job);
  }

  /** Gives the job a place behind those that have one. */
  place(job: LoopEntry, device: PrinterDevice, follows: boolean): Place {
    const place = new Place(job, device, follows, this.#context);
    this.#places.push(place);
    return place;
  }

  /**
   * Prints the job. Resolves when all its labels are out.
   * @param place null: it was canceled while it waited for one
   * @throws JobFaultError, InterruptedError, RenderCrash, JournalError
   */
  async print(place: Place | null): Promise<void> {
    if (place === null || !this.#places.includes(place)) throw new InterruptedError();
    place.asks = true;
    if (place !== this.#places[0]) void place.waits(() => this.#pace.stuck);
    this.#start();
    await place.printed.promise;
  }

  /** The job has left. @param goesBack it returns to its lane, to be delivered first again */
  leave(place: Place | null, goesBack: boolean): void {
    if (place === null || (place !== this.#ended && !this.#places.includes(place))) return;
    place.over.resolve();
    const behind = this.#places.slice(this.#places.indexOf(place) + 1);
    for (const other of behind)
      if (goesBack && other.follows && !other.begun) void other.ends(new InterruptedError());
    if (place === this.#ended) this.#ended = null;
    // What it has sent is still ahead of what others send.
    place.left ??= place.pages;
    if (place === this.#places[0] || place.left === 0)
      this.#places = this.#places.filter((other) => other !== place);
    this.#start();
  }

  // The loop:

  #start(): void {
    if (!this.#running && this.#places[0]?.asks) void this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#running = true;
    for (let [first] = this.#places; first?.asks; [first] = this.#places) {
      first.comes();
      if (!first.live) await this.#ended?.over.promise;
      await first.busy;
      const { resolve, reject } = first.printed;
      const served = first.closing ? this.#gone(first) : this.#serve(first);
      const end = await served.then(
        () => resolve,
        (error: unknown) => () => reject(error),
      );
      this.#places = this.#places.filter((place) => place !== first && place.left === null);
      this.#ended = first.closing ? null : first;
      end();
    }
    this.#running = false;
  }

  /** Prints what is left of the first job. */
  async #serve(first: Place): Promise<void> {
    const { ledger, link, stop } = first.job;
    // A job that has not begun goes back to its lane, and waits there with the others.
    const waits = stop.leave.aborted || (!first.begun && this.#context.held());
    if (first.follows && !first.live && waits) throw new InterruptedError();
    // From now on the job goes on, whatever becomes of the one before it.
    first.begun = true;
    if (first.live) this.#pace.begin(true);
    first.ready = first.live;
    let clean = false;
    try {
      while (!clean) {
        try {
          if (!first.live) await this.#begin(first);
          await this.#carry(first);
          clean = true;
        } catch (error) {
          if (!(error instanceof TransportError)) throw error;
          await this.#disconnected(first, error);
        }
      }
    } finally {
      // The next job keeps the connection on which its labels went out.
      if (!this.#behind.some(({ live, closing }) => live && !closing))
        await link.release(clean, stop.end.aborted && ledger.uncertain);
    }
  }

  /** The job leaves just as it becomes the first one: its connection is not kept. */
  async #gone({ job, begun, over }: Place): Promise<void> {
    const { link, stop, ledger } = job;
    if (begun) await link.release(false, stop.end.aborted && ledger.uncertain);
    await over.promise;
  }

  get #behind(): Place[] {
    return this.#places.slice(1);
  }

  /** Connects, and settles what became of the labels that were under way. */
  async #begin(first: Place): Promise<void> {
    const { ledger, link, labels } = first.job;
    await link.connect();
    first.ready = first.blind = false;
    if (ledger.uncertain) {
      const found = await link.recover();
      if (found === 'nothing') ledger.withdraw();
      else if (found !== 'under-way') await this.#atRest(first, found);
    }
    if (!link.documents && ledger.next < ledger.total) labels.renew(ledger.next);
    first.live = true;
    this.#pace.begin(false);
  }

  /** Labels are still to be sent on the open connection. */
  get #more(): boolean {
    return this.#places.some(({ live, job }) => live && job.ledger.sent < job.ledger.total);
  }

  /** Fills, waits, asks and settles, until it is known that all labels of the first job are out. */
  async #carry(first: Place): Promise<void> {
    const { ledger, link, stop, outcome } = first.job;
    const [row, pace] = [this.row, this.#pace];
    while (ledger.sent < ledger.total || ledger.underWay || row.pending) {
      // Taken first: a job that is told to go in the middle of what follows has the printer asked at once, and goes.
      const { soon } = stop;
      if (stop.canceled && ledger.underWay) {
        if (await cancelUnderWay(first.job, row, this.#context.timings, pace.blocked)) pace.stuck = false;
        if (!ledger.underWay) continue;
      }
      // All its labels are out, so it is printed, even if it was told to go.
      if (stop.boundary.aborted && ledger.printed === ledger.total && !ledger.underWay) return;
      stop.leaveIfTold(ledger.underWay, pace.stuck || first.blind);
      if (!first.ready && !ledger.underWay) await first.beReady();
      const sent = await this.#fill(first);
      if (first.blind && first.trusted) ledger.trust();
      outcome.progress();
      if (first.blind && ledger.sent === ledger.total && ledger.underWay) throw unconfirmed();
      if (first.blind && !sent) await stop.wait(NOTE_MS);
      if (first.blind || (link.documents && !ledger.underWay)) continue;
      const until = pace.stuck ? stop.leave : stop.end;
      await pause(pace.pollAfter(first.job, this.#more), until, soon);
      if (!until.aborted) await this.#settle(first, await link.progress());
      if (ledger.cleared && this.#behind.some(({ live }) => live)) return;
    }
    // All labels were delivered. That this counts as printed may have been set only since.
    if (!ledger.uncertain) return;
    if (!first.trusted) throw unconfirmed();
    ledger.settle(ledger.total);
  }

  // Fill:

  /** Sends what fits the window. @returns whether labels of the first job were sent */
  async #fill(first: Place): Promise<boolean> {
    const { ledger, link, delivery } = first.job;
    const [row, pace] = [this.row, this.#pace];
    const waits = pace.blocked || row.doubtful || (link.documents && ledger.underWay);
    const sent = await this.#send(first, waits);
    if (sent) pace.moves();
    const prints = ledger.underWay && row.pending && !waits;
    const follows = this.#mayBeFollowed(first.job);
    if (follows && !first.lets && (delivery.waited || prints)) {
      first.lets = true;
      delivery.follow();
    }
    for (const behind of this.#behind) {
      const goes = behind.live ? !waits : follows && prints;
      if (goes && (await this.#sendBehind(behind, first.job))) pace.moves();
    }
    return sent;
  }

  #mayBeFollowed({ ledger, link, stop }: LoopEntry): boolean {
    // Without a counter, a cut connection would leave two jobs uncertain instead of one.
    const counted = !link.documents && ledger.odometer !== null;
    return ledger.sent === ledger.total && counted && !this.#context.held() && !stop.leave.aborted;
  }

  /** @returns whether labels of the job were sent */
  async #send(place: Place, waits: boolean, only = true): Promise<boolean> {
    const { job, blind } = place;
    const { ledger, link, sender, labels, stop } = job;
    const noted = place.note();
    if (noted !== null) await Promise.race([noted, pause(NOTE_MS, stop.boundary)]);
    const soon = only || (ledger.underWay && labels.available);
    if (waits || stop.boundary.aborted || !soon) return false;
    const burst = await sender.collect(blind);
    if (burst.length === 0) return false;
    if (link.documents) job.mustTake();
    const refusal = await sender.send(burst, () => place.readAgain());
    if (refusal === null) {
      place.backoff.reset();
      return true;
    }
    await place.refuses(refusal);
    return false;
  }

  /** @returns whether something was sent @throws TransportError: the connection is gone, for all */
  async #sendBehind(place: Place, ahead: LoopEntry): Promise<boolean> {
    if (!place.mayGo) return false;
    const late = new AbortController();
    const sending = place.live ? this.#send(place, false, false) : place.sendFirst(ahead, late);
    place.does(sending);
    return await orAborted(sending, late.signal).catch((error: unknown) => {
      if (error instanceof TransportError) throw error;
      return false;
    });
  }

  // Settle:

  /** Takes over what the printer has said. @throws JobFaultError, TransportError, InterruptedError */
  async #settle(first: Place, told: ProgressAnswer): Promise<void> {
    if (told.by === 'counter') this.#byCounter(first, told.status);
    else if (told.by === 'job') await this.#byItsJob(first, told);
    else {
      if (first.job.ledger.odometer === null)
        throw faultFor('outcome-unknown', because('no-longer-known', {}));
      await this.#atRest(first);
    }
  }

  #byCounter(first: Place, status: DeviceStatus): void {
    const { ledger, outcome } = first.job;
    const { row } = this;
    const behind = this.#behind.filter(({ live }) => live);
    const now = performance.now();
    try {
      row.confirm(first.counting(status), now);
      if (status.odometer !== null) for (const { job } of [first, ...behind]) job.sender.readAt = now;
      const waits = row.pending && (ledger.sent === ledger.total || status.unfinished);
      outcome.reasons = waits ? whyItWaits(status, row.outstanding === 0) : status.reasons;
      this.#pace.told(status, now);
    } catch (error) {
      // No job in the row can go by this counter any more.
      if (error instanceof JobFaultError) for (const place of behind) void place.ends(error);
      throw error;
    }
    // Where labels are missing, the counter does not tell which: all notes to the next agent must say so together.
    if (behind.length > 0) void first.note();
    for (const place of behind) {
      void place.note();
      place.job.outcome.progress(outcome.reasons);
      place.told();
    }
    for (const { live, closing, job } of this.#behind) if (!live && !closing) job.sender.notes.tell();
  }

  async #byItsJob(first: Place, told: Extract<ProgressAnswer, { by: 'job' }>): Promise<void> {
    const { ledger, outcome, stop } = first.job;
    const { pages, reasons, stuck, ended } = told;
    outcome.reasons = reasons;
    this.#pace.stuck = stuck;
    if (ended === null) {
      const before = ledger.printed;
      if (pages !== null) ledger.count(pages);
      if (ledger.printed > before) this.#pace.moves();
      return;
    }
    ledger.done(ended.pages, ended.confirmed);
    if (!ended.confirmed && first.trusted) ledger.settle(ledger.base);
    first.ready = false;
    if (stop.canceled && ledger.printed === ledger.total) return;
    if (stop.canceled && (ended.fault || ledger.base < ledger.total)) throw new InterruptedError();
    if (ended.fault !== null) throw ended.fault;
    if (ended.later) await stop.wait(first.later.next());
    else first.later.reset();
  }

  /** Waits until the printer is at rest: its counter tells what is out of all that was under way. */
  async #atRest(first: Place, after: 'at-rest' | 'forgotten' = 'at-rest'): Promise<void> {
    const cut = this.#behind.filter(({ live, closing, pages }) => !live && !closing && pages > 0);
    const behind = cut.reduce((pages, { arrived }) => pages + arrived, 0);
    const odometer = await first.beReady(after, behind).catch((error: unknown) => {
      // No job that was in the row can go by this counter any more.
      if (error instanceof JobFaultError) for (const place of cut) void place.ends(error);
      throw error;
    });
    if (odometer === null) return;
    for (const place of this.#behind) if (!place.live && !place.closing) place.settle();
  }

  /** What was under way has to be settled on a new connection. */
  async #disconnected(first: Place, error: TransportError): Promise<void> {
    const { log, ledger, link, stop, outcome } = first.job;
    log.info({ code: error.code, detail: error.message }, 'printer not reached');
    first.live = false;
    const behind = this.#behind;
    const underWay = ledger.uncertain || behind.some(({ pages }) => pages > 0);
    const reasons = await link.broke(underWay);
    for (const place of behind) {
      await place.busy;
      place.cut();
    }
    outcome.progress(reasons);
    await stop.wait(first.backoff.next());
  }
}
