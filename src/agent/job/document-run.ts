/**
 * One delivery of one job to a printer that takes documents and keeps jobs of its own. In the printer, our job
 * becomes a row of printer jobs, one after the other: each has one document, with a bounded number of labels.
 *
 *   look-up ─┬─ never sent ──▶ check ─────────────▶ (fault: failed, nothing printed)
 *            └─ cut off ─────▶ the printer's job, by its ID ─▶ follow
 *   ready ─▶ create ─▶ send ─▶ follow ─┬─ completed ─▶ its labels are printed; the next document, or the end
 *     ▲        │ busy           ▲      ├─ completed, by a queue ─▶ delivered; the next, and at the end ──▶ held
 *     └────────┘                │      ├─ aborted, canceled, all labels counted or none begun ─▶ failed
 *              connection lost: │      └─ aborted, canceled, and nobody knows at which label ──▶ held
 *              look the printer's job up
 *
 * That the printer took a document says nothing; `completed` says that the labels are out. A print server's queue
 * is no printer: its `completed` says that the device took the bytes, and counts as printed only with the printer's
 * own count of the labels, or where the operator accepts it (`confirmation.ts`). A printer that is off, empty, busy
 * or stopped fails nothing: the job waits and says why.
 *
 * What a printer counts are pages (`page-count.ts`): on a sheet, a page is several labels. A document is whole pages,
 * so the next one begins with a page, and what is out, or uncertain, are all labels of a page.
 *
 * In the journal, `base` is the first label of the document under way, or of the next one. Where it is beyond
 * `printed`, the labels between them were delivered, and nobody knows whether they are out.
 *
 * What is on record, and in which order it is written:
 *   N   queue:   a note that this agent may have sent some of it (with the job's start in the journal before it)
 *   D1  journal: intent: up to which label, and the name that the printer's job is about to get
 *   C   create:  the printer makes a job of that name, without a document: it prints nothing
 *   D2  journal: the ID of the printer's job
 *   S   send:    the document
 *   F   the printer's job comes to its end; the next D1 records what came out
 *
 * Crash points, and what the next delivery (or the next connection) does:
 *   before D1           nothing of the document was sent. Goes on where it was.
 *   between D1 and D2   nothing was sent. A job of that name that waits in the printer for its document is looked
 *                       for by the name and canceled, since some printers wait for it before they take another.
 *   between D2 and F    looks the printer's job up by ID, and only takes it for ours if it bears our name: printers
 *                       count from 1 again. Its document is incomplete: cancels it, and sends again when it ended
 *                       before any label. Otherwise follows it.
 *   F reached           its state tells; but some printers print a document that was cut off as far as it goes, and
 *                       call that completed. Where nobody heard that the printer has all of it, only its own count
 *                       of all pages is believed.
 *   the printer does not know the job any more (it was switched off, or has forgotten)  where its counter is known
 *                       to count labels: waits until the printer is at rest, and goes on at the first label that it
 *                       has not counted. Where not: held.
 *   the journal is lost, or another agent has it now  as for bytes: held unless handed back in good order.
 */
import { randomBytes } from 'node:crypto';
import {
  type DocumentPort,
  DocumentRefusal,
  type PrinterJobState,
} from '../../../drivers/transports/document/document.ts';
import { TransportError } from '../../../drivers/transports/transport.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import { Backoff, pause } from '../pause.ts';
import { type Confirmation, unconfirmed } from '../printer/confirmation.ts';
import type { DocumentDevice } from '../printer/document-device.ts';
import { isIdle } from '../printer/status.ts';
import type { PickedUpJob } from '../source/job-source.ts';
import { type AttemptContext, Interrupted, JobAttempt } from './attempt.ts';
import type { PrinterDocument } from './journal.ts';
import { labelsOn, pagesOf } from './page-count.ts';

export interface DocumentRunContext extends AttemptContext {
  device: DocumentDevice;
  confirmation(): Confirmation;
}

/** First pause between two questions for a printer job's state, ms. */
const POLL_MIN = 10;
/** How often a printer that prints is asked how it is, ms. */
const STATUS_EVERY = 2_000;
const ENDED: ReadonlySet<PrinterJobState['phase']> = new Set(['completed', 'canceled', 'aborted']);

export class DocumentRun extends JobAttempt {
  readonly #context: DocumentRunContext;
  /** While the printer is busy with others. */
  readonly #busy: Backoff;
  /** The counter of the printer's life before the document under way; null: not known. */
  #odometer: number | null = null;

  constructor(context: DocumentRunContext, delivery: PickedUpJob) {
    super(context, delivery, { maxCopies: context.window.labels, documents: true });
    this.#context = context;
    this.#busy = new Backoff(context.timings.reconnectMin, context.timings.pollWaiting);
  }

  protected async print(): Promise<void> {
    const cutOff = this.lookUp();
    const { ledger } = this;
    const { total, printed: from, delivery } = ledger;
    this.log.info({ delivery, labels: total, from }, 'job started');
    this.outcome.progress([]);
    if (cutOff && ledger.document === undefined && ledger.underWay) ledger.printedAtRest(null);
    if (!cutOff) await this.check();
    for (;;) {
      try {
        const port = await this.#context.device.connect(this.leave);
        await this.#goOn(port);
        while (ledger.base < total) await this.#document(port);
        // All of it was delivered before the operator said that this counts.
        if (ledger.uncertain && this.#context.confirmation() === 'device') throw unconfirmed();
        ledger.settle(total);
        return;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        await this.#disconnected(error);
      }
    }
  }

  /** Settles what became of the document that was under way, if one was. */
  async #goOn(port: DocumentPort): Promise<void> {
    const { document } = this.ledger;
    if (!this.ledger.uncertain || document === undefined) return;
    if (document.printerJob === null) {
      for (const job of await port.find(document.name, this.end)) await port.cancel(job, this.end);
      this.ledger.withdraw();
      return;
    }
    this.#odometer = this.ledger.odometer;
    const state = await port.jobState(document.printerJob, this.end);
    if (state?.incomplete && isOurs(state, document)) await this.#cancel(port, document.printerJob);
    await this.#follow(port, document.printerJob, null);
  }

  /** The next document, to its end. Returns without it where the printer is busy, after a while. */
  async #document(port: DocumentPort): Promise<void> {
    const { device } = this.#context;
    const { ledger } = this;
    const { job } = this.delivery;
    await this.#ready(port);
    const { language } = job.format;
    const mediaType = device.description?.mediaTypes[language];
    if (mediaType === undefined) {
      throw new JobFaultError('language-unsupported', `The printer does not take ${language}`);
    }
    const chunk = await this.#chunk();
    if (this.boundary.aborted) throw new Interrupted();
    const { base } = ledger;
    const upTo = chunk.first + chunk.count;
    if (!this.handover.left) ledger.keep();
    await this.note(upTo);
    const name = `${job.jobId} ${base + 1}-${upTo} ${randomBytes(4).toString('hex')}`;
    ledger.begin(device.countsLife ? this.#odometer : null);
    ledger.intend(upTo, name);
    const media = { width: job.format.width, height: job.format.height };
    let printerJob: string;
    try {
      printerJob = await port.create({ name, language, media }, this.end);
    } catch (error) {
      if (!(error instanceof DocumentRefusal)) throw error;
      ledger.withdraw();
      if (!error.retryLater) throw refused(error);
      this.log.info({ code: error.code }, 'the printer takes no job now');
      await this.wait(this.#busy.next());
      return;
    }
    this.#busy.reset();
    ledger.made(printerJob);
    this.log.debug({ printerJob, first: base, labels: chunk.count }, 'printer job made');
    const refusal = await this.#send(port, printerJob, mediaType, chunk);
    this.backoff.reset();
    await this.#follow(port, printerJob, refusal);
    if (ledger.base === upTo) {
      this.session?.taken();
      this.position = upTo;
    }
  }

  /** null: the printer says that it has all of it. */
  async #send(
    port: DocumentPort,
    printerJob: string,
    mediaType: string,
    chunk: Chunk,
  ): Promise<DocumentRefusal | null> {
    try {
      await port.send(printerJob, mediaType, chunk.bytes, this.end);
      this.ledger.took(chunk, performance.now());
      this.outcome.progress();
      return null;
    } catch (error) {
      if (!(error instanceof DocumentRefusal)) throw error;
      this.log.info({ code: error.code, printerJob }, 'the printer refused the document');
      // It would wait for its document, and some printers take no other job until then.
      await this.#cancel(port, printerJob);
      return error;
    }
  }

  /** Ends a printer job that has no document; that it was us is on record, since a person may cancel jobs too. */
  async #cancel(port: DocumentPort, printerJob: string): Promise<void> {
    this.ledger.canceling();
    await port.cancel(printerJob, this.end);
  }

  /** The document with the first label that is not done with. It stays the next one until it is. */
  async #chunk(): Promise<Chunk> {
    const { base } = this.ledger;
    if (this.session === null || this.position !== base) this.openSession(base);
    if (!this.checked) await this.check();
    const chunk = await this.rendering((session) => session.peek(this.end));
    if (chunk === null) throw new Error(`the labels end at ${base}`);
    return chunk;
  }

  /** Waits until the printer works. */
  async #ready(port: DocumentPort): Promise<void> {
    const { timings } = this.#context;
    for (let wait = timings.pollMin; ; wait = Math.min(timings.pollWaiting, Math.max(POLL_MIN, wait * 1.5))) {
      const status = await this.#status(port);
      this.outcome.progress(status.reasons);
      this.#odometer = status.odometer;
      if (status.state !== 'stopped') return;
      await this.wait(wait);
    }
  }

  async #status(port: DocumentPort) {
    const status = await port.status(this.end);
    this.#context.device.answered(status);
    return status;
  }

  /**
   * Follows the printer's job to its end, and settles what came out.
   * @throws JobFaultError `printer-aborted`, `printer-refused` when that is certain, and `outcome-unknown`
   */
  async #follow(port: DocumentPort, printerJob: string, refusal: DocumentRefusal | null): Promise<void> {
    const { device, timings } = this.#context;
    const { ledger, outcome } = this;
    let asked = -STATUS_EVERY;
    let wait = Math.max(POLL_MIN, timings.pollMin);
    let canceled = 0;
    for (;;) {
      if (this.canceled && canceled === 0) {
        canceled = performance.now();
        await this.#cancel(port, printerJob);
      }
      const state = await port.jobState(printerJob, this.end);
      if (state === null || !isOurs(state, ledger.document)) return await this.#lost(port);
      const counted = this.#counted(state);
      if (ENDED.has(state.phase)) return await this.#ended(port, state, refusal);
      const before = ledger.printed;
      if (counted !== null) ledger.count(counted);
      if (ledger.printed > before) wait = Math.max(POLL_MIN, timings.pollMin);
      const stuck = state.phase !== 'processing';
      if (stuck || performance.now() - asked > STATUS_EVERY) {
        asked = performance.now();
        outcome.reasons = (await this.#status(port)).reasons;
      }
      device.answers = true;
      outcome.progress();
      // A printer takes a moment to end its job.
      if (canceled > 0 && performance.now() - canceled > timings.confirm) throw new Interrupted();
      if (!stuck || this.canceled) await this.sleep(wait);
      else {
        await pause(wait, this.leave);
        if (this.leave.aborted && !this.canceled) throw new Interrupted();
      }
      wait = Math.min(stuck ? timings.pollWaiting : timings.pollMax, wait * 1.5);
    }
  }

  /** Pages that are out by the job's own counter, where that can be believed. */
  #counted(state: PrinterJobState): number | null {
    const { device } = this.#context;
    if (state.began === false) return 0;
    if (device.description?.spooler !== 'none' || state.impressions === null) return null;
    // One that has always said 0 may not count at all.
    return state.impressions > 0 || device.countsJobs ? state.impressions : null;
  }

  async #ended(port: DocumentPort, state: PrinterJobState, refusal: DocumentRefusal | null): Promise<void> {
    const { ledger } = this;
    const { base, intent, document, perPage } = ledger;
    const labels = intent - base;
    const pages = pagesOf(labels, perPage);
    const reasons = state.reasons.join(', ');
    const whole = document?.whole === true;
    if (state.phase === 'completed') {
      const all = state.impressions === pages && this.#context.device.description?.spooler !== 'delivers';
      if (!whole && !all) {
        const part = 'The printer completed a job of which it may have had only a part';
        throw new JobFaultError('outcome-unknown', part);
      }
      await this.#learn(port, state, pages);
      if (this.#context.confirmation() === 'transport') ledger.settle(intent);
      else ledger.done(intent, this.#confirmed(state, pages));
      return;
    }
    const counted = this.#counted(state);
    const what = `The printer ${state.phase} its job ${document?.printerJob} (${reasons})`;
    const out = base + labelsOn(counted ?? 0, labels, perPage);
    if (counted === null || counted > pages || out < ledger.printed) {
      throw new JobFaultError('outcome-unknown', `${what}, and cannot say how many labels came out`);
    }
    ledger.done(out, true);
    this.log.info({ phase: state.phase, reasons, counted, pages }, 'the printer ended its job');
    if (this.canceled) throw new Interrupted();
    if (refusal !== null && counted === 0) {
      if (!refusal.retryLater) throw refused(refusal);
      await this.wait(this.#busy.next());
      return;
    }
    // It never had all of it, and printed nothing: that was the connection's fault, or ours. But what a person
    // canceled at the printer stays canceled.
    const byPerson = state.phase === 'canceled' && document?.canceled !== true;
    if (!whole && counted === 0 && !byPerson) return;
    throw new JobFaultError('printer-aborted', what);
  }

  /** Whether `completed` says that the labels are out. */
  #confirmed(state: PrinterJobState, pages: number): boolean {
    const spooler = this.#context.device.description?.spooler;
    return spooler === 'none' || (spooler === 'follows' && state.impressions === pages);
  }

  /** Whether the printer's counters count pages, by a document of which all are out. */
  async #learn(port: DocumentPort, state: PrinterJobState, pages: number): Promise<void> {
    const { device } = this.#context;
    if (device.description?.spooler !== 'none') return;
    device.countsJobs = state.impressions === pages;
    const before = this.#odometer;
    if (before === null) return;
    const { odometer } = await this.#status(port);
    device.countsLife = odometer !== null && odometer - before === pages;
  }

  /** The printer does not know its job any more. @throws JobFaultError `outcome-unknown` */
  async #lost(port: DocumentPort): Promise<void> {
    const { ledger } = this;
    const { settle } = this.#context.timings;
    if (ledger.odometer === null) {
      const message = 'The printer no longer knows its job, and has no counter that could tell what came out';
      throw new JobFaultError('outcome-unknown', message);
    }
    let shown: number | null | undefined;
    let since = 0;
    for (;;) {
      const status = await this.#status(port);
      this.outcome.progress(status.reasons);
      if (!isIdle(status)) shown = undefined;
      else if (shown !== status.odometer) {
        shown = status.odometer;
        since = performance.now();
      } else if (performance.now() - since >= settle) {
        const printed = ledger.printedAtRest(status.odometer);
        this.log.info({ printed, intent: ledger.intent }, 'the printer told what came out');
        ledger.done(printed, true);
        return;
      }
      await this.wait(settle / 4);
    }
  }

  async #disconnected(error: TransportError): Promise<void> {
    const { device } = this.#context;
    this.log.info({ code: error.code, detail: error.message }, 'printer not reached');
    await device.drop();
    device.onStatus(null);
    this.outcome.progress(device.offline);
    await this.wait(this.backoff.next());
  }
}

/** By its name, of which some printers keep only the beginning; by its ID alone where it says no name. */
function isOurs(state: PrinterJobState, document: PrinterDocument | undefined): boolean {
  const { name } = state;
  return name === null || (name.length >= 8 && (document?.name.startsWith(name) ?? false));
}

function refused(refusal: DocumentRefusal): JobFaultError {
  return new JobFaultError('printer-refused', `The printer refused the job: ${refusal.code}`);
}
