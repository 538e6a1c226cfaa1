/**
 * The link of one job to its printer: sends labels, and asks the printer what became of them. There are two
 * kinds: bytes, of which the printer's own counter tells (`stream-link.ts`), and documents, each a job of the
 * printer's own (`document-link.ts`). The printer's loop (`../job/loop.ts`) drives both alike, and writes down
 * what a link tells.
 */
import { z } from 'zod';
import type { DeviceStatus } from '../../../drivers/device.ts';
import { faultFor, type JobFaultError } from '../../contract/fault.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { PrinterReason } from '../../contract/printer.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import type { Logger } from '../../log.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { Timings } from '../config.ts';
import type { Confirmation } from './confirmation.ts';

/** What is under way in a printer that takes documents: one job of the printer's own. */
export const printerDocument = z.object({
  /** What the printer's job is called. */
  name: z.string(),
  /** Its ID in the printer; null: it may not have been made yet, and has no document. */
  printerJob: z.string().nullable(),
  /** The printer has said that it has all of the document. */
  whole: z.boolean().optional(),
  /** We have asked the printer to end it. */
  canceled: z.boolean().optional(),
});
export type PrinterDocument = z.infer<typeof printerDocument>;

/** What is on record of the job, and where a link writes down what must be known after a crash. */
export interface LinkBook {
  readonly document: PrinterDocument | undefined;
  /** Pages that were sent, or are about to be, and are not settled. */
  readonly pages: number;
  /** Labels that were sent, of this job or of others at the printer, and most likely are not out yet. */
  readonly outstanding: number;
  /** What the printer's counter showed before them; null: it does not tell. */
  readonly odometer: number | null;
  /** The printer has made a job for the document. */
  made(printerJob: string): void;
  /** The connection took the chunk; of a document, the printer has said that it has all of it. */
  took(chunk: Chunk, now: number): void;
  /** We are about to ask the printer to end its job. */
  canceling(): void;
  /** Resolves when what is written down is durable. @throws JournalError */
  committed(): Promise<void>;
}

/** When to stop. For a job under way, reading one of them looks at the clock first (`../job/stop.ts`). */
export interface Signals {
  /** Ends what only waits. */
  readonly leave: AbortSignal;
  /** Ends sending at a label boundary. */
  readonly boundary: AbortSignal;
  /** Ends everything. */
  readonly end: AbortSignal;
}

export interface LinkOptions {
  job: QueuedJob;
  book: LinkBook;
  signals: Signals;
  timings: Timings;
  /** Whether bytes of this language may go to the printer. */
  speaks(language: LanguageId): boolean;
  confirmation(): Confirmation;
  logger: Logger;
}

/** The printer said no, and has nothing of what was to be sent. */
export interface Refusal {
  /** The printer's own word for it. */
  code: string;
  /** The same may be taken later. */
  later: boolean;
}

/** The fault of a job that the printer will not take later either. */
export function refused(code: string): JobFaultError {
  return faultFor('printer-refused', because('refused-by-printer', { code }));
}

export interface Readiness {
  ready: boolean;
  /** null: the printer cannot say what becomes of labels. */
  status: DeviceStatus | null;
  /** Why it is not ready. */
  reasons: readonly PrinterReason[];
  /** When the printer had said it, ms of `performance.now()`. */
  saidAt: number;
}

/** How the printer's own job has ended. */
export interface EndedJob {
  /** Pages that it is done with: those that are out, or were delivered. */
  pages: number;
  /** False: they were delivered, and nobody says whether they are out. */
  confirmed: boolean;
  /** Why the rest is not printed. */
  fault: JobFaultError | null;
  /** The rest may be taken later. */
  later: boolean;
}

export type Progress =
  /** By its counter, or what it says is pending. */
  | { by: 'counter'; status: DeviceStatus }
  /** By its own job. `pages`: how many are out; null: it does not say. `stuck`: nothing moves there. */
  | {
      by: 'job';
      pages: number | null;
      reasons: readonly PrinterReason[];
      stuck: boolean;
      ended: EndedJob | null;
    }
  /** The printer does not know its job any more. */
  | { by: 'nothing' };

export interface PrinterLink {
  /** Each chunk is a document of whole pages, and one is under way at a time. */
  readonly documents: boolean;
  /** The printer has told its counter, and, as far as is known, it counts what the job prints. */
  readonly counts: boolean;
  /** Whether the printer takes the language, as far as is known by now. */
  takes(language: LanguageId): boolean;
  /** Connects to the printer that is expected. @throws TransportError */
  connect(): Promise<void>;
  /** Its bytes go behind those of another job, on the connection that is open. @throws TransportError where it is gone */
  follow(): void;
  /** Asks whether the printer takes labels now. @param others what it prints is not the job's. @throws TransportError */
  ready(others: boolean): Promise<Readiness>;
  /** Called just before the first of the chunks that are sent together. @throws TransportError */
  begin(): Promise<void>;
  /** @throws TransportError where part of it may have arrived */
  send(chunk: Chunk): Promise<Refusal | null>;
  /** Asks how far it is. @throws TransportError, JobFaultError `outcome-unknown` */
  progress(): Promise<Progress>;
  /**
   * Looks for what a cut has left. `nothing`: nothing was sent. `under-way`: `progress` tells. `at-rest`: only the
   * counter of a printer at rest can tell.
   * @throws TransportError
   */
  recover(): Promise<'nothing' | 'under-way' | 'at-rest'>;
  /**
   * A person has canceled what is under way. True: the printer was asked to end it just now. Of a document
   * `progress` tells what comes of that, or that nothing does; of bytes, the counter of the printer at rest.
   * @param alone nothing else waits in the printer
   * @throws TransportError
   */
  cancel(alone: boolean): Promise<boolean>;
  /**
   * After which time to ask again, ms.
   * @param since something last moved, ms
   * @param spare how long the printer has enough to print, ms
   * @param settling some of what was sent is not known to have arrived
   */
  pollAfter(since: number, spare: number, settling: boolean): number;
  /** The connection is gone: says why the job waits. @param resumes what the connection still held must not come out any more */
  broke(resumes: boolean): Promise<readonly PrinterReason[]>;
  /** The job leaves the printer. @param clean nothing unfinished is on the connection */
  release(clean: boolean, resumes: boolean): Promise<void>;
}
