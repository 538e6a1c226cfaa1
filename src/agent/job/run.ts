/**
 * Prints one delivery of one job, from where journal and queue say that it stands to its end, which is a
 * result for the queue; it throws only where the journal cannot be written. This is the only loop that
 * prints, whatever kind of printer it is (`../printer/link.ts`).
 *
 *   restore ─┬─ finished before ─────────────▶ report again, done
 *            ├─ never sent ──▶ check ────────▶ (fault: failed, nothing printed)
 *            ├─ cut off ─────▶ recover ──────▶ (what is out cannot be known: held)
 *            └─ sent, no usable record ──────▶ held
 *   check ─▶ connect ─▶ recover ─▶ ready ─▶ send ⇄ progress ─▶ printed
 *               ▲                   ▲ next document │  │ connection lost
 *               │                   └───────────────┘  │
 *               └──────────── back-off ◀───────────────┘
 *
 * A printer that is off, out of paper or unreachable fails no job: the job waits, says why, and goes on.
 * Labels that may be out are never printed again by guess: the job is held, and names them. What is on record,
 * in which order, and what follows from it after a crash: `sender.ts`. Once all labels of a job are sent, the
 * next job's follow while the printer still prints: `following.ts`.
 *
 * When the agent stops, or the printer is another agent's, a job that is waiting for its printer is handed back at once;
 * one that is printing has the grace time of a stop to finish, then stops at a label boundary, waits a bounded time for
 * what was sent to be confirmed, and is handed back with a note where to go on. One that a person cancels stops at once
 * (`forgotten.ts`), and ends: `canceled`, with the labels named that may be out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TransportError } from '../../../drivers/connection.ts';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { labelsPerPage } from '../../../drivers/languages/index.ts';
import { faultFor } from '../../contract/fault.ts';
import { labelCount, queueIdOf } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import type { Logger } from '../../log.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import { JournalError } from '../journal-sync.ts';
import { Backoff, pause } from '../pause.ts';
import { unconfirmed } from '../printer/confirmation.ts';
import { type PrinterLink, type Progress, refused } from '../printer/link.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { whyItWaits } from '../printer/status.ts';
import type { HandlerResult, PickedUpJob } from '../source/job-source.ts';
import { Following } from './following.ts';
import { cancelUnderWay } from './forgotten.ts';
import { Labels } from './labels.ts';
import { Leading } from './leading.ts';
import { Ledger } from './ledger.ts';
import { Outcome } from './outcome.ts';
import { Pace } from './pace.ts';
import { Rest } from './rest.ts';
import { restore } from './restore.ts';
import type { WindowSize } from './row.ts';
import type { RunContext } from './run-context.ts';
import { NOTE_MS, Sender } from './sender.ts';
import { Interrupted, type Stop } from './stop.ts';

/** Longest wait for the queue to store the note of a hand-back, ms. */
const LAST_NOTE_MS = 2_000;
/** How often in a row, without telling at rest, a printer with a counter may not tell it, before it counts as lost. */
const MUTE_LIMIT = 5;

export class JobRun {
  readonly delivery: PickedUpJob;
  /** The device that the job is printed with. */
  readonly device: PrinterDevice;
  readonly ledger: Ledger;
  /** What the job does as the one ahead of the next job. */
  readonly leading: Leading;
  /** What the job does as the one behind another job; null: it follows none. */
  readonly following: Following | null;
  readonly #context: RunContext;
  readonly #stop: Stop;
  readonly #log: Logger;
  readonly #outcome: Outcome;
  readonly #link: PrinterLink;
  readonly #labels: Labels;
  readonly #sender: Sender;
  /** What may be under way now. */
  readonly #ahead: () => WindowSize;
  readonly #backoff: Backoff;
  /** For a printer that takes no job now. */
  readonly #busy: Backoff;
  /** The printer was found ready for what is sent next. */
  #ready = false;
  /** The printer cannot say what becomes of labels. */
  #blind = false;
  #mute = 0;

  constructor(context: RunContext, delivery: PickedUpJob) {
    const { agentId, printerId, journal, row, timings, window, stop, device } = context;
    const { job } = delivery;
    const { jobId, resume } = job;
    const total = labelCount(job);
    const from = Math.min(resume?.from ?? 0, total);
    const logger = context.logger.child({ job: jobId, printer: printerId, tenant: job.tenantId });
    [this.device, this.delivery, this.#context] = [device, delivery, context];
    [this.#stop, this.#log] = [stop, logger];
    this.ledger = new Ledger({
      ...{ journal, row, queueId: queueIdOf(job), printerId, delivery: delivery.delivery },
      ...{ total, from, perPage: labelsPerPage(job) },
    });
    this.#outcome = new Outcome(context, logger, this.ledger, { jobId, round: resume?.round });
    this.ledger.onDisk = (written) => this.#outcome.durable(written);
    this.#link = device.link({ ...context, job, book: this.ledger, signals: stop, logger });
    const { documents } = this.#link;
    this.#ahead = () => row.window(window, job.format);
    const blind = () => this.#blind;
    this.#labels = new Labels(context.pool, job, { documents, most: window, ahead: this.#ahead, blind });
    this.#backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    this.#busy = new Backoff(timings.reconnectMin, timings.pollWaiting);
    this.#sender = new Sender({
      ...{ agentId, delivery, row, window, timings, stop, log: logger, ahead: this.#ahead },
      ...{ ledger: this.ledger, link: this.#link, labels: this.#labels },
      alone: () => context.alone(),
      readAgain: async () => {
        await this.#beReady();
        if (this.#blind) throw new TransportError('query-timeout', 'it has answered before');
      },
    });
    const parts = { ...context, ledger: this.ledger, link: this.#link, outcome: this.#outcome };
    const { follows } = context;
    this.following = follows ? new Following({ ...parts, sender: this.#sender, labels: this.#labels }) : null;
    this.leading = new Leading({ ...parts, delivery });
  }

  /** @throws JournalError where no outcome may be told: a later delivery goes by what is on the disk */
  run(): Promise<HandlerResult> {
    return this.#outcome.tell(this.#run());
  }

  async #run(): Promise<HandlerResult> {
    const stop = this.#stop;
    let goesBack = false;
    try {
      if (await this.#outcome.repeat()) return 'done';
      await this.#print();
      // The next job goes on while this end gets to the disk: what that job writes is durable only after it.
      await this.#outcome.end({ status: 'printed' }, () => this.leading.end(false));
      return 'done';
    } catch (error) {
      goesBack = true;
      if (error instanceof JournalError) throw error;
      if (stop.canceled && !stop.lost) await this.#outcome.cancel(error);
      else if (stop.interrupts(error)) return await this.#handBack();
      else await this.#outcome.fail(error);
      goesBack = false;
      return 'done';
    } finally {
      stop.close();
      this.ledger.leave();
      this.#labels.close();
      this.leading.end(goesBack);
    }
  }

  /** Prints the job to its end. @throws JobFaultError, Interrupted, RenderCrash */
  async #print(): Promise<void> {
    const [ledger, link] = [this.ledger, this.#link];
    restore(ledger, this.delivery.note, this.#context.agentId);
    this.#mustTake();
    // Another kind of link had sent the labels, and this one cannot tell what became of them.
    if (ledger.underWay && link.documents !== (ledger.document !== undefined)) ledger.printedAtRest(null);
    const { delivery, total: labels, printed: from } = ledger;
    this.#log.info({ delivery, labels, from }, 'job started');
    this.#outcome.progress([]);
    // A job that was cut off is checked once it is known where it goes on.
    if (!ledger.uncertain) await this.#labels.check(from, this.#stop.leave);
    let clean = false;
    try {
      while (!clean) {
        try {
          const live = (await this.following?.turn()) ?? false;
          if (!live) await link.connect(false);
          await this.#carry(live);
          clean = true;
        } catch (error) {
          if (!(error instanceof TransportError)) throw error;
          this.leading.behind?.cut();
          await this.#disconnected(error);
        }
      }
    } finally {
      this.following?.leaves();
      const others = this.following?.waits || this.leading.behind?.handOver();
      if (!others) await link.release(clean, this.#stop.end.aborted && ledger.uncertain);
    }
  }

  /** The printer may have changed its endpoint or agent since the job was queued. @throws JobFaultError */
  #mustTake(): void {
    const { language } = this.delivery.job.format;
    if (!this.#link.takes(language))
      throw faultFor('language-unsupported', because('language-gone', { language }));
  }

  /**
   * Sends the labels that are left, never further ahead of the printer than the window, until it is known
   * which are out.
   * @param live some are under way on the open connection, which were sent behind those of another job
   */
  async #carry(live: boolean): Promise<void> {
    const [ledger, link] = [this.ledger, this.#link];
    const { row } = this.#context;
    this.#ready = live;
    this.#blind = false;
    if (!live && ledger.uncertain) await this.#recover();
    if (!live && !link.documents && ledger.base < ledger.total) this.#labels.renew(ledger.base);
    const more = () => ledger.sent < ledger.total || this.leading.behind?.more === true;
    const parts = { ...this.#context, ledger, link, window: this.#ahead, more };
    const pace = new Pace(parts, live ? this.following : null);
    if (live) this.leading.labelsSent();
    while (ledger.sent < ledger.total || ledger.underWay || row.pending) {
      if (this.#stop.canceled && ledger.underWay) {
        if (await this.#canceled(pace.blocked)) pace.stuck = false;
        if (!ledger.underWay) continue;
      }
      this.#stop.leaveIfTold(ledger.underWay, pace.stuck || this.#blind);
      if (!this.#ready && !ledger.underWay) await this.#beReady();
      const from = this.#blind ? ledger.sent : Math.max(ledger.base, ledger.printed);
      const following = this.#sender.handover.follow(from);
      if (following !== null) await Promise.race([following, pause(NOTE_MS, this.#stop.end)]);
      const waits = pace.blocked || row.doubtful || (link.documents && ledger.underWay);
      const burst = waits || this.#stop.boundary.aborted ? [] : await this.#sender.collect(this.#blind);
      if (burst.length > 0) await this.#send(burst, pace);
      if (this.#blind && this.#trusted) ledger.trust();
      this.#outcome.progress();
      if (this.#blind && ledger.sent === ledger.total && ledger.underWay) throw unconfirmed();
      if (this.#blind && burst.length === 0) await this.#stop.wait(NOTE_MS);
      if (this.#blind || (link.documents && !ledger.underWay)) continue;
      const until = pace.stuck ? this.#stop.leave : this.#stop.end;
      await pause(pace.pollAfter(), until, this.#stop.soon);
      if (!until.aborted) await this.#told(await link.progress(), pace);
      if (await this.leading.fills(pace)) return;
    }
    // All labels were delivered, maybe before the operator set that this counts as printed.
    if (!ledger.uncertain) return;
    if (!this.#trusted) throw unconfirmed();
    ledger.settle(ledger.total);
  }

  #canceled(blocked: boolean): Promise<boolean> {
    const told = (reasons: Outcome['reasons']) => this.#outcome.progress(reasons);
    return cancelUnderWay({ ...this.#context, ledger: this.ledger, link: this.#link, told }, blocked);
  }

  get #trusted(): boolean {
    return this.#context.confirmation() === 'transport';
  }

  /** Settles what became of the labels that were under way. @throws TransportError, JobFaultError, Interrupted */
  async #recover(): Promise<void> {
    const { behind } = this.leading;
    if (behind !== null) this.ledger.followedBy(behind.pages);
    const found = await this.#link.recover();
    if (found === 'nothing') this.ledger.withdraw();
    else if (found === 'at-rest') await this.#beReady(true);
  }

  /**
   * Waits until the printer takes labels; after a cut, until it is at rest and tells which of the job's are out.
   * @throws TransportError, JobFaultError `outcome-unknown`, Interrupted
   */
  async #beReady(afterCut = false): Promise<void> {
    const { timings } = this.#context;
    const ledger = this.ledger;
    const followed = ledger.most > ledger.pages;
    const perFormat = followed
      ? this.#labels.mostCopies
      : Math.min(this.delivery.job.copies, this.#labels.mostCopies);
    const rest = afterCut ? new Rest(ledger, { settleMs: timings.settle, perFormat }) : null;
    for (let wait = timings.pollMin; ; wait = Math.min(timings.pollWaiting, wait * 1.5)) {
      const { ready, status, reasons, saidAt } = await this.#link.ready(rest === null);
      this.#sender.read(saidAt);
      if (status === null) {
        this.#goOnBlind();
        return;
      }
      const printed = rest?.printed(this.#counting(status), performance.now()) ?? null;
      if (printed !== null) {
        this.#log.info({ printed, intent: ledger.intent }, 'the printer told what came out');
        ledger.settle(printed);
        this.leading.behind?.settle(status.odometer);
        this.#mute = 0;
      }
      if (printed !== null || (rest === null && ready)) {
        ledger.begin(this.#link.counts ? status.odometer : null);
        this.#outcome.progress(status.reasons);
        this.#ready = rest === null || !this.#link.documents;
        if (!this.#link.documents) this.#backoff.reset();
        return;
      }
      this.#outcome.progress(reasons);
      await this.#stop.wait(rest?.near ? timings.settle / 4 : wait);
    }
  }

  /** @throws JobFaultError `outcome-unknown` */
  #goOnBlind(): void {
    const ledger = this.ledger;
    const printed = this.#trusted && ledger.intent === ledger.sent ? ledger.sent : ledger.printed;
    if (ledger.intent > printed) ledger.printedAtRest(null);
    ledger.settle(printed);
    this.#blind = this.#ready = true;
    this.#backoff.reset();
  }

  /**
   * Where the job goes by the printer's counter, a status without the counter is no answer.
   * @throws TransportError `query-timeout`, so that the printer is asked again on a new connection
   */
  #counting(status: DeviceStatus): DeviceStatus {
    const tells = status.odometer !== null || status.unfinished;
    if (this.ledger.odometer !== null && !tells && this.#mute < MUTE_LIMIT) {
      this.#mute++;
      throw new TransportError('query-timeout', 'it did not tell its label counter');
    }
    return status;
  }

  /** @throws JobFaultError, TransportError, Interrupted */
  async #send(burst: Chunk[], pace: Pace): Promise<void> {
    if (this.#link.documents) this.#mustTake();
    const refusal = await this.#sender.send(burst);
    if (refusal === null) {
      this.#backoff.reset();
      pace.moves();
      this.leading.labelsSent();
      return;
    }
    this.#ready = false;
    if (!refusal.later) throw refused(refusal.code);
    this.#log.info({ code: refusal.code }, 'the printer takes no job now');
    await this.#stop.wait(this.#busy.next());
  }

  /** @throws JobFaultError, TransportError, Interrupted */
  async #told(told: Progress, pace: Pace): Promise<void> {
    if (told.by === 'counter') {
      try {
        this.#toldByCounter(told.status, pace);
      } catch (error) {
        this.leading.behind?.faults(error);
        throw error;
      }
    } else if (told.by === 'job') await this.#toldByJob(told, pace);
    else {
      if (this.ledger.odometer === null) {
        throw faultFor('outcome-unknown', because('no-longer-known', {}));
      }
      await this.#beReady(true);
    }
  }

  #toldByCounter(status: DeviceStatus, pace: Pace): void {
    const { row } = this.#context;
    const now = performance.now();
    this.ledger.confirm(this.#counting(status), now);
    const waits = row.pending && (this.ledger.sent === this.ledger.total || status.unfinished);
    this.#outcome.reasons = waits ? whyItWaits(status, row.outstanding === 0) : status.reasons;
    pace.told(status, now);
  }

  async #toldByJob(told: Extract<Progress, { by: 'job' }>, pace: Pace): Promise<void> {
    const ledger = this.ledger;
    const { pages, reasons, stuck, ended } = told;
    this.#outcome.reasons = reasons;
    pace.stuck = stuck;
    if (ended === null) {
      const before = ledger.printed;
      if (pages !== null) ledger.count(pages);
      if (ledger.printed > before) pace.moves();
      return;
    }
    ledger.done(ended.pages, ended.confirmed);
    if (!ended.confirmed && this.#trusted) ledger.settle(ledger.base);
    this.#ready = false;
    if (this.#stop.canceled && (ended.fault || ledger.base < ledger.total)) throw new Interrupted();
    if (ended.fault !== null) throw ended.fault;
    if (ended.later) await this.#stop.wait(this.#busy.next());
    else this.#busy.reset();
  }

  async #disconnected(error: TransportError): Promise<void> {
    this.#log.info({ code: error.code, detail: error.message }, 'printer not reached');
    const behind = this.leading.behind?.pages ?? 0;
    this.#outcome.progress(await this.#link.broke(this.ledger.uncertain || behind > 0));
    await this.#stop.wait(this.#backoff.next());
  }

  /** Gives the job back to the queue, with a note where to go on, if that is certain. */
  async #handBack(): Promise<HandlerResult> {
    const { lost } = this.#stop;
    try {
      await this.#outcome.handBack(lost);
      if (!lost)
        await Promise.race([this.#sender.handover.end(), sleep(LAST_NOTE_MS, undefined, { ref: false })]);
    } catch (error) {
      this.#log.warn({ err: error }, 'handed back without a note where the job goes on');
    }
    return 'hand-back';
  }
}
