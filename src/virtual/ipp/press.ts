/**
 * Prints the jobs of a virtual IPP printer, one at a time: draws a label, waits until there is media, ribbon and a
 * closed cover, moves it through, and puts it in the tray. A label is out when its file has its name, and only then
 * do the counts say so.
 */

import type { PrinterMemory } from '../../zpl/interpreter/printer-memory.ts';
import type { LabelTray, RawDocument } from '../machine/label-tray.ts';
import type { PrintedLabel, PrinterFaults } from '../zpl/print-engine.ts';
import type { IppJob } from './job.ts';
import { DocumentError, type Sheet, sheetsOf } from './sheets.ts';
import type { IppSpool } from './spool.ts';

/** A label from an IPP job. */
export interface PrintedPage extends PrintedLabel {
  readonly jobId: number;
}

export interface PressHost {
  readonly spool: IppSpool;
  readonly memory: PrinterMemory;
  readonly tray: LabelTray;
  readonly dpi: number;
  /** Time that a label of this height (mm) takes, ms; 0: none. */
  labelTime(height: number): number;
  printed(page: PrintedPage): void;
  /** The state changed, or something went wrong. */
  changed(fault?: string): void;
}

export class IppPress {
  readonly faults: PrinterFaults = { mediaOut: false, ribbonOut: false, headOpen: false, paused: false };
  /** Labels after which the job that prints then is aborted; undefined: none is. */
  abortAfter: number | undefined;
  readonly #host: PressHost;
  #job: IppJob | undefined;
  #waiters: (() => void)[] = [];

  constructor(host: PressHost) {
    this.#host = host;
  }

  get printing(): boolean {
    return this.#job !== undefined;
  }

  get stopped(): boolean {
    return !this.#loaded() || this.faults.paused;
  }

  set(faults: Partial<PrinterFaults>): void {
    Object.assign(this.faults, faults);
    this.#markJob();
    this.#host.changed();
    this.wake();
  }

  /** Something that the press may wait for has happened. */
  wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Prints until the power goes; a label being written to disk then is finished, all else is lost. */
  async run(power: AbortSignal): Promise<void> {
    const wake = () => this.wake();
    power.addEventListener('abort', wake);
    try {
      while (!power.aborted) {
        await this.#until(() => !this.stopped && this.#host.spool.next() !== undefined, power);
        const job = this.#host.spool.next();
        if (job && !power.aborted) await this.#process(job, power);
      }
    } finally {
      power.removeEventListener('abort', wake);
      this.#job = undefined;
    }
  }

  async #process(job: IppJob, power: AbortSignal): Promise<void> {
    const { spool } = this.#host;
    this.#job = job;
    job.processing = Date.now();
    this.#markJob();
    this.#host.changed();
    let fault: DocumentError | undefined;
    try {
      await this.#print(job, power);
    } catch (error) {
      // Whatever a stranger's document brings about ends this job, not the printer.
      const known = error instanceof DocumentError;
      fault = known ? error : new DocumentError('document-unprintable-error', String(error));
    }
    this.#job = undefined;
    if (power.aborted) return;
    if (job.stopping) spool.end(job, job.stopping.state, job.stopping.reasons, job.stopping.message);
    else if (fault) spool.end(job, 'aborted', ['aborted-by-system', fault.fault], fault.message);
    else spool.end(job, 'completed', ['job-completed-successfully']);
    this.#host.changed(fault && `job ${job.id}: ${fault.message}`);
  }

  async #print(job: IppJob, power: AbortSignal): Promise<void> {
    const { document, ticket } = job;
    if (!document) return;
    const over = () => power.aborted || job.stopping !== undefined;
    // A document of several pages lies beside its first; ZPL beside each label.
    let kept: string | undefined;
    for (let copy = 0; copy < ticket.copies && !over(); copy++) {
      const sheets = sheetsOf(document, ticket, this.#host.dpi, this.#host.memory);
      for (;;) {
        const sheet = await this.#drawn(sheets.next(), over, power);
        if (!sheet) break;
        const raw = kept === undefined ? sheet.raw : { file: kept };
        const rawFile = await this.#deliver(job, sheet, raw, over, power);
        if ('extension' in sheet.raw) kept ??= rawFile;
      }
    }
  }

  /** Waits for the next label, no longer than it is wanted. */
  async #drawn(
    next: Promise<IteratorResult<Sheet, void>>,
    over: () => boolean,
    power: AbortSignal,
  ): Promise<Sheet | undefined> {
    let settled = false;
    const done = () => {
      settled = true;
      this.wake();
    };
    next.then(done, done);
    await this.#until(() => settled || over(), power);
    if (over()) return undefined;
    return (await next).value ?? undefined;
  }

  /** Prints one label, over and over until it is out. Undefined: the job or the power ended before. */
  async #deliver(
    job: IppJob,
    sheet: Sheet,
    raw: RawDocument,
    over: () => boolean,
    power: AbortSignal,
  ): Promise<string | undefined> {
    for (;;) {
      if (job.printed === this.abortAfter && !job.stopping) {
        this.abortAfter = undefined;
        this.#host.spool.stop(job, 'aborted', ['aborted-by-system'], 'aborted half way, as asked');
      }
      await this.#until(() => over() || !this.stopped, power);
      if (over()) return undefined;
      if (!(await this.#feed(job.ticket.roll.height, power))) continue;
      try {
        const files = await this.#host.tray.add(sheet.png, raw, sheet.faults);
        job.printed++;
        this.#host.printed({ ...files, faults: sheet.faults, jobId: job.id });
        const fault =
          sheet.faults.length > 0 ? `label ${files.number}: ${sheet.faults.join('; ')}` : undefined;
        this.#host.changed(fault);
        return files.rawFile;
      } catch (error) {
        // As with a jam: it stops, says so, and tries the label again when it is told to go on.
        this.faults.paused = true;
        this.#markJob();
        this.#host.changed(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** Moves the media one label on. False when a fault or the power stopped it: the label starts again. */
  async #feed(height: number, power: AbortSignal): Promise<boolean> {
    const time = this.#host.labelTime(height);
    if (time === 0) return true;
    let out = false;
    const timer = setTimeout(() => {
      out = true;
      this.wake();
    }, time);
    await this.#until(() => out || !this.#loaded(), power);
    clearTimeout(timer);
    return out && this.#loaded() && !power.aborted;
  }

  /** Whether the job that prints can go on is in its state, too. */
  #markJob(): void {
    const job = this.#job;
    if (!job) return;
    job.state = this.stopped ? 'processing-stopped' : 'processing';
    if (this.stopped) job.reasons.add('printer-stopped');
    else job.reasons.delete('printer-stopped');
    if (this.stopped) job.reasons.delete('job-printing');
    else job.reasons.add('job-printing');
    this.#host.spool.changed(job);
  }

  #loaded(): boolean {
    return !(this.faults.mediaOut || this.faults.ribbonOut || this.faults.headOpen);
  }

  /** Waits for something that {@link wake} announces, or for the power to go. */
  async #until(condition: () => boolean, power: AbortSignal): Promise<void> {
    while (!power.aborted && !condition()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }
}
