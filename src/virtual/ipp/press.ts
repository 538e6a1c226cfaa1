/**
 * Prints the jobs of a virtual IPP printer, one at a time: draws a label, waits until there is media, ribbon and a
 * closed cover, moves it through, and puts it in the tray.
 */
import type { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import type { Mechanism, PrintedLabel, Sheet } from '../machine/mechanism.ts';
import type { IppJob } from './job.ts';
import { DocumentError, sheetsOf } from './sheets.ts';
import type { IppSpool } from './spool.ts';

/** A label from an IPP job. */
export interface PrintedPage extends PrintedLabel {
  readonly jobId: number;
}

interface PressHost {
  readonly spool: IppSpool;
  readonly mechanism: Mechanism;
  readonly memory: PrinterMemory;
  readonly dpi: number;
  printed(page: PrintedPage): void;
}

export class IppPress {
  /** A job is aborted once so many of its labels are out; undefined: none is. */
  abortAfter: number | undefined;
  readonly #host: PressHost;
  readonly #mechanism: Mechanism;
  #job: IppJob | undefined;

  constructor(host: PressHost) {
    this.#host = host;
    this.#mechanism = host.mechanism;
  }

  get printing(): boolean {
    return this.#job !== undefined;
  }

  /** Shows in the state of the job being printed whether the printer is stopped. */
  markJob(): void {
    const job = this.#job;
    const state = this.#mechanism.stopped ? 'processing-stopped' : 'processing';
    if (!job || job.state === state) return;
    job.state = state;
    job.reasons.delete(state === 'processing' ? 'printer-stopped' : 'job-printing');
    job.reasons.add(state === 'processing' ? 'job-printing' : 'printer-stopped');
    this.#host.spool.changed(job);
  }

  /** Prints until the power goes; a label being written to disk then is finished, everything else is lost. */
  async run(): Promise<void> {
    const mechanism = this.#mechanism;
    try {
      while (mechanism.on) {
        await mechanism.until(() => !mechanism.stopped && this.#host.spool.next() !== undefined);
        const job = this.#host.spool.next();
        if (job && mechanism.on) await this.#process(job);
      }
    } finally {
      this.#job = undefined;
    }
  }

  async #process(job: IppJob): Promise<void> {
    const { spool } = this.#host;
    this.#job = job;
    job.processing = Date.now();
    this.#mechanism.changed();
    let fault: DocumentError | undefined;
    try {
      await this.#print(job);
    } catch (error) {
      // An error that an untrusted document causes ends this job, not the printer.
      const known = error instanceof DocumentError;
      fault = known ? error : new DocumentError('document-unprintable-error', String(error));
    }
    this.#job = undefined;
    if (!this.#mechanism.on) return;
    if (job.stopping) spool.end(job, job.stopping.state, job.stopping.reasons, job.stopping.message);
    else if (fault) spool.end(job, 'aborted', ['aborted-by-system', fault.fault], fault.message);
    else spool.end(job, 'completed', ['job-completed-successfully']);
    this.#mechanism.changed(fault && `job ${job.id}: ${fault.message}`);
  }

  async #print(job: IppJob): Promise<void> {
    const { document, ticket } = job;
    const { dpi, memory } = this.#host;
    const mechanism = this.#mechanism;
    if (!document) return;
    const over = () => !mechanism.on || job.stopping !== undefined;
    // A document of several pages is kept beside its first label; ZPL beside each label.
    let kept: string | undefined;
    for (let copy = 0; copy < ticket.copies && !over(); copy++) {
      const sheets = sheetsOf(document, ticket, dpi, memory);
      for (;;) {
        const drawn = await mechanism.awaited(sheets.next(), over);
        if (!drawn?.value) break;
        const sheet: Sheet = drawn.value;
        const raw = kept === undefined ? sheet.raw : { file: kept };
        const rawFile = await this.#deliver(job, { ...sheet, raw }, over);
        if ('extension' in sheet.raw) kept ??= rawFile;
      }
    }
  }

  /** Prints one label, and tries again until it is out. Undefined: the job or the power ended before. */
  async #deliver(job: IppJob, sheet: Sheet, over: () => boolean): Promise<string | undefined> {
    const mechanism = this.#mechanism;
    let rawFile: string | undefined;
    do {
      if (job.printed === this.abortAfter && !job.stopping) {
        this.abortAfter = undefined;
        this.#host.spool.stop(job, 'aborted', ['aborted-by-system'], 'aborted half way, as asked');
      }
      await mechanism.until(() => over() || !mechanism.stopped);
      if (over()) return undefined;
      if (!(await mechanism.feed(job.ticket.roll.height))) continue;
      await mechanism.put(sheet, (label) => {
        job.printed++;
        rawFile = label.rawFile;
        this.#host.printed({ ...label, jobId: job.id });
      });
    } while (rawFile === undefined);
    return rawFile;
  }
}
