/**
 * Sends a job to a printer that takes documents and keeps jobs of its own. In the printer, our job becomes several printer
 * jobs, one after the other. Each printer job has one document with a bounded number of labels.
 *
 *   create ─▶ send ─▶ progress ─┬─ completed ─▶ its pages are out
 *     │ refused   │ lost        ├─ completed, by a queue ─▶ delivered: nobody says whether they are out
 *     │           │             ├─ completed with errors: as aborted, where its counter is known to count
 *     ▼           ▼             ├─ aborted, canceled, all pages counted or none begun ─▶ why the rest is not out
 *   later       recover         ├─ aborted, canceled, and nobody knows at which page ──▶ unknown
 *                               └─ not known to the printer any more ─▶ its counter at rest tells, or nobody
 *
 * That the printer took a document proves nothing; `completed` says that the labels are out. A print server's queue is no
 * printer: its `completed` only says that the device took the bytes. This counts as printed only together with the printer's
 * own count of the labels, or if the operator accepts it (`confirmation.ts`). If a document was cut off, some printers print
 * the part that arrived, and call the job completed. So unless the printer has said that it has the whole document, only its
 * own count of all pages is believed.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import {
  type DocumentPort,
  DocumentRefusal,
  type PrinterJobState,
} from '../../../drivers/transports/document/document.ts';
import { faultFor } from '../../contract/fault.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import { because } from '../../contract/reason.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { DocumentDevice } from './document-device.ts';
import {
  type EndedJob,
  type LinkOptions,
  type PrinterDocument,
  type PrinterLink,
  type ProgressAnswer,
  type ReadyAnswer,
  type RefusalReason,
  refused,
} from './link.ts';

/** First pause between two questions for a printer job's state, ms. */
const POLL_MIN = 10;
/** How often a printer is asked for its status while it prints, ms. */
const STATUS_EVERY = 2_000;
/** Why the printer's job waits, in case the printer itself does not say. */
const WAITS: { readonly [Phase in PrinterJobState['phase']]?: PrinterReason } = {
  pending: 'busy',
  held: 'paused',
  stopped: 'paused',
};
const ENDED: ReadonlySet<PrinterJobState['phase']> = new Set(['completed', 'canceled', 'aborted']);

export class DocumentLink implements PrinterLink {
  readonly documents = true;
  readonly #device: DocumentDevice;
  readonly #options: LinkOptions;
  #port: DocumentPort | null = null;
  /** The printer's lifetime counter before the document under way; null: not known. */
  #odometer: number | null = null;
  /** How the printer refused the document under way; null: it did not. */
  #refusal: DocumentRefusal | null = null;
  #reasons: readonly PrinterReason[] = [];
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Since when the printer's job has only waited, ms. */
  #stuckSince = Number.POSITIVE_INFINITY;
  #canceledAt: number | null = null;

  constructor(device: DocumentDevice, options: LinkOptions) {
    this.#device = device;
    this.#options = options;
  }

  get counts(): boolean {
    return this.#device.countsLife;
  }

  takes(language: LanguageId): boolean {
    return this.#port === null || this.#device.description?.mediaTypes[language] !== undefined;
  }

  async connect(): Promise<void> {
    this.#port = await this.#device.connect(this.#options.signals.leave);
  }

  follow(): never {
    throw new TypeError('a document goes on no connection of another job');
  }

  async ready(): Promise<ReadyAnswer> {
    const status = await this.#status();
    this.#odometer = status.odometer;
    return { ready: status.state !== 'stopped', status, reasons: status.reasons, saidAt: performance.now() };
  }

  async begin(): Promise<void> {}

  async send(chunk: Chunk): Promise<RefusalReason | null> {
    const { ledger, job, signals, logger } = this.#options;
    const { language, width, height } = job.format;
    const name = ledger.document?.name ?? '';
    const mediaType = this.#device.description?.mediaTypes[language] ?? '';
    this.#refusal = null;
    this.#askedAt = Number.NEGATIVE_INFINITY;
    let printerJob: string;
    try {
      printerJob = await this.#open.create({ name, language, media: { width, height } }, signals.end);
    } catch (error) {
      if (!(error instanceof DocumentRefusal)) throw error;
      return { code: error.code, later: error.retryLater };
    }
    ledger.made(printerJob);
    await ledger.committed();
    logger.debug({ printerJob, first: chunk.first, labels: chunk.count }, 'printer job made');
    try {
      await this.#open.send(printerJob, mediaType, chunk.bytes, signals.sending);
      ledger.took(chunk, performance.now());
    } catch (error) {
      if (error instanceof DocumentRefusal) {
        logger.info({ code: error.code, printerJob }, 'the printer refused the document');
        this.#refusal = error;
      } else if (!signals.sending.aborted || signals.end.aborted) throw error;
      // The printer has refused the document, or does not take it and a person has canceled the job. Unless its own job is ended,
      // it goes on waiting for the document, and some printers take no other job meanwhile.
      await this.#endJob(printerJob);
    }
    return null;
  }

  async progress(): Promise<ProgressAnswer> {
    const { ledger, signals, timings } = this.#options;
    const { document } = ledger;
    if (!document?.printerJob) throw new TypeError('no document is under way');
    const state = await this.#open.jobState(document.printerJob, signals.end);
    if (state === null || !isOurs(state, document)) return { by: 'nothing' };
    const pages = this.#counted(state);
    if (ENDED.has(state.phase)) {
      const ended = await this.#ended(state, document, pages);
      return { by: 'job', pages, reasons: this.#reasons, stuck: false, ended };
    }
    const stuck = state.phase !== 'processing';
    const now = performance.now();
    this.#stuckSince = stuck ? Math.min(this.#stuckSince, now) : Number.POSITIVE_INFINITY;
    if (stuck || now - this.#askedAt > STATUS_EVERY) {
      this.#askedAt = now;
      this.#reasons = (await this.#status()).reasons;
      // If the printer gives no reason, the state of its job does: other jobs come first, or the job was stopped.
      if (this.#reasons.length === 0 && now - this.#stuckSince > STATUS_EVERY)
        this.#reasons = [WAITS[state.phase] ?? 'other'];
    }
    this.#device.answers = true;
    // A printer needs a moment to end its job. Until then a canceled job does not count as stuck.
    const ending = this.#canceledAt !== null;
    const tooLong = performance.now() - (this.#canceledAt ?? 0) > timings.confirm;
    return { by: 'job', pages, reasons: this.#reasons, stuck: ending ? tooLong : stuck, ended: null };
  }

  async recover(): Promise<'nothing' | 'under-way'> {
    const { ledger, signals } = this.#options;
    const { document } = ledger;
    if (!document) return 'nothing';
    const { name, printerJob } = document;
    if (printerJob === null) {
      // The printer may have made the job, and some printers then wait for its document before they take another job.
      for (const job of await this.#open.find(name, signals.end)) await this.#open.cancel(job, signals.end);
      return 'nothing';
    }
    this.#odometer = ledger.odometer;
    const state = await this.#open.jobState(printerJob, signals.end);
    if (state?.incomplete && isOurs(state, document)) await this.#endJob(printerJob);
    return 'under-way';
  }

  async cancel(): Promise<boolean> {
    const printerJob = this.#options.ledger.document?.printerJob;
    if (this.#canceledAt !== null || !printerJob) return false;
    await this.#endJob(printerJob);
    // If the printer was not reached, it is asked again on the next connection.
    this.#canceledAt = performance.now();
    return true;
  }

  pollAfter(since: number): number {
    return since < POLL_MIN / 2 ? 0 : Math.max(POLL_MIN, since / 2);
  }

  async broke(): Promise<readonly PrinterReason[]> {
    await this.#device.drop();
    this.#device.onStatus(null);
    return this.#device.offline;
  }

  /** Does nothing: a job does not own its connection. */
  async release(): Promise<void> {}

  get #open(): DocumentPort {
    if (this.#port === null) throw new TypeError('not connected');
    return this.#port;
  }

  async #status(): Promise<DeviceStatus> {
    const status = await this.#open.status(this.#options.signals.end);
    this.#device.answered(status);
    return status;
  }

  async #endJob(printerJob: string): Promise<void> {
    const { ledger } = this.#options;
    ledger.canceling();
    await ledger.committed();
    await this.#open.cancel(printerJob, this.#options.signals.end);
  }

  /** How many pages are out by the counter of the printer's job; null: the counter cannot be believed. */
  #counted({ began, impressions }: PrinterJobState): number | null {
    const { description, countsJobs } = this.#device;
    if (began === false) return 0;
    if (description?.spooler !== 'none' || impressions === null) return null;
    // Then the counter counts something other than pages: it shows more than there are, or has shown a wrong number for a
    // whole document.
    if (impressions > this.#options.ledger.pages || countsJobs === false) return null;
    // A counter that has always said 0 may not count at all.
    return impressions > 0 || countsJobs ? impressions : null;
  }

  /** @throws JobFaultError `outcome-unknown`, TransportError */
  async #ended(
    state: PrinterJobState,
    { printerJob, whole = false, canceled = false }: PrinterDocument,
    counted: number | null,
  ): Promise<EndedJob> {
    const { pages } = this.#options.ledger;
    const spooler = this.#device.description?.spooler;
    const all = state.impressions === pages && spooler !== 'delivers';
    // A job that ended with errors may have lost pages: it counts as one that was aborted, unless all its pages were counted.
    // RFC 8011, 5.3.8.
    if (state.phase === 'completed' && (all || !state.reasons.includes('job-completed-with-errors'))) {
      if (!whole && !all) {
        throw faultFor('outcome-unknown', because('partly-completed', {}));
      }
      await this.#learn(state, pages);
      const confirmed = spooler === 'none' || (spooler === 'follows' && state.impressions === pages);
      return { pages, confirmed, fault: null, later: false };
    }
    const reasons = state.reasons.join(', ');
    const ended = { phase: state.phase, job: String(printerJob), reasons };
    // A job that was completed has begun, and the printer has all of it: only a counter that has counted right before tells what is
    // lost.
    const certain =
      state.phase !== 'completed' || (this.#device.countsJobs === true && state.impressions === counted);
    if (counted === null || counted > pages || !certain)
      throw faultFor('outcome-unknown', because('ended-uncounted', ended));
    this.#options.logger.info({ phase: state.phase, reasons, counted, pages }, 'the printer ended its job');
    const rest = { pages: counted, confirmed: true, fault: null, later: false };
    if (this.#refusal !== null && counted === 0)
      return this.#refusal.retryLater
        ? { ...rest, later: true }
        : { ...rest, fault: refused(this.#refusal.code) };
    // The printer never had the whole document and printed nothing of it. So the connection was at fault, or we were, and the
    // document is sent again. But a job that a person has canceled at the printer stays canceled.
    const byPerson = state.phase === 'canceled' && !canceled;
    if (!whole && counted === 0 && !byPerson) return rest;
    return { ...rest, fault: faultFor('printer-aborted', because('printer-ended', ended)) };
  }

  /** All pages of a document are out. Learns from it whether the printer's counters count pages. */
  async #learn({ impressions }: PrinterJobState, pages: number): Promise<void> {
    const device = this.#device;
    if (device.description?.spooler !== 'none') return;
    device.countsJobs = impressions === pages;
    const before = this.#odometer;
    if (before === null) return;
    const { odometer } = await this.#status();
    device.countsLife = odometer !== null && odometer - before === pages;
  }
}

/** The name has to fit; some printers keep only its beginning. If the printer tells no name, the job's ID alone counts. */
function isOurs({ name }: PrinterJobState, document: PrinterDocument): boolean {
  return name === null || (name.length >= 8 && document.name.startsWith(name));
}
