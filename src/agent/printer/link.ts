/**
 * The link of one job to its printer. It sends labels, and asks the printer what became of them. There are two kinds. One sends
 * bytes, and the printer's counter tells what became of them (`stream-link.ts`). The other sends documents, and each document
 * is a job of the printer's own (`document-link.ts`). The printer's loop (`../job/loop.ts`) drives both kinds alike, and writes
 * down what a link tells.
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
import type { TimingConfig } from '../config.ts';
import type { Confirmation } from './confirmation.ts';

/** What is under way in a printer that takes documents: one job of the printer's own. */
export const printerDocument = z.object({
  /** What the printer's job is called. */
  name: z.string(),
  /** The ID of the printer's job; null: the job may not have been made yet, and has no document. */
  printerJob: z.string().nullable(),
  /** The printer has said that it has all of the document. */
  whole: z.boolean().optional(),
  /** We have asked the printer to end it. */
  canceled: z.boolean().optional(),
});
export type PrinterDocument = z.infer<typeof printerDocument>;

/** The record of the job. A link writes down here what must be known after a crash. */
export interface LinkLedger {
  readonly document: PrinterDocument | undefined;
  /** Pages that were sent or are about to be sent, and that are not settled. */
  readonly pages: number;
  /** Labels that were sent and most likely are not out yet, of this job or of other jobs at the printer. */
  readonly outstanding: number;
  /** What the printer's counter showed before `pages` were sent; null: the printer does not tell. */
  readonly odometer: number | null;
  /** The printer has made a job for the document. */
  made(printerJob: string): void;
  /** The connection took the chunk. If the chunk is a document, the printer has said that it has all of the document. */
  took(chunk: Chunk, now: number): void;
  /** We are about to ask the printer to end its job. */
  canceling(): void;
  /** Resolves when what is written down is durable. @throws JournalError */
  committed(): Promise<void>;
}

/** When to stop. While a job is under way, their getters look at the clock first (`../job/stop-signals.ts`). */
export interface Signals {
  /** Ends all waiting. */
  readonly leave: AbortSignal;
  /** Ends sending at a label boundary. */
  readonly boundary: AbortSignal;
  /** Ends everything. */
  readonly end: AbortSignal;
}

export interface LinkOptions {
  job: QueuedJob;
  ledger: LinkLedger;
  /** `sending`: ends the sending of a label that the printer does not take. */
  signals: Signals & { readonly sending: AbortSignal };
  timings: TimingConfig;
  /** Whether bytes of this language may go to the printer. */
  speaks(language: LanguageId): boolean;
  confirmation(): Confirmation;
  logger: Logger;
}

/** The printer refused a chunk, and has nothing of it. */
export interface RefusalReason {
  /** The printer's own word for its reason. */
  code: string;
  /** The printer may take the same chunk later. */
  later: boolean;
}

/** The fault of a job that the printer will not take later either. */
export function refused(code: string): JobFaultError {
  return faultFor('printer-refused', because('refused-by-printer', { code }));
}

export interface ReadyAnswer {
  ready: boolean;
  /** null: the printer cannot say what becomes of labels. */
  status: DeviceStatus | null;
  /** Why the printer is not ready. */
  reasons: readonly PrinterReason[];
  /** When the printer said so, ms of `performance.now()`. */
  saidAt: number;
}

/** How the printer's own job has ended. */
export interface EndedJob {
  /** Pages that the job is done with: they are out, or were delivered. */
  pages: number;
  /** False: the pages were delivered, and nobody says whether they are out. */
  confirmed: boolean;
  /** Why the rest is not printed. */
  fault: JobFaultError | null;
  /** The printer may take the rest later. */
  later: boolean;
}

export type ProgressAnswer =
  /** The printer's counter tells, or the number of labels that it says are pending. */
  | { by: 'counter'; status: DeviceStatus }
  /** The printer's own job tells. `pages`: how many are out; null: the printer does not say. `stuck`: the job does not move. */
  | {
      by: 'job';
      pages: number | null;
      reasons: readonly PrinterReason[];
      stuck: boolean;
      ended: EndedJob | null;
    }
  /** Nothing tells: the printer does not know its job any more. */
  | { by: 'nothing' };

export interface PrinterLink {
  /** Each chunk is a document of whole pages, and one is under way at a time. */
  readonly documents: boolean;
  /** The printer has told its counter, and as far as is known the counter counts what the job prints. */
  readonly counts: boolean;
  /** Whether the printer takes the language, as far as is known by now. */
  takes(language: LanguageId): boolean;
  /** Connects to the expected printer. @throws TransportError */
  connect(): Promise<void>;
  /** Sends this job's bytes behind another job's, on the open connection. @throws TransportError if the connection is gone */
  follow(): void;
  /** Asks if the printer takes labels now. @param others the printer prints another job's labels. @throws TransportError */
  ready(others: boolean): Promise<ReadyAnswer>;
  /** Called just before the first of several chunks that are sent together. @throws TransportError */
  begin(): Promise<void>;
  /** @throws TransportError: part of the chunk may have arrived */
  send(chunk: Chunk): Promise<RefusalReason | null>;
  /** Asks how far the job is. @throws TransportError, JobFaultError `outcome-unknown` */
  progress(): Promise<ProgressAnswer>;
  /**
   * Looks for what became of the labels after the job was cut off. `nothing`: none was sent. `under-way`: `progress` tells.
   * `at-rest`: only the counter of a printer at rest can tell. `forgotten`: the same, and the printer had been told to forget
   * what waits in it.
   * @throws TransportError
   */
  recover(): Promise<'nothing' | 'under-way' | 'at-rest' | 'forgotten'>;
  /**
   * A person has canceled what is under way. True: this call has asked the printer to end it. If a document is under way,
   * `progress` tells what comes of the request, or that nothing does. For bytes, the counter of the printer at rest tells.
   * @param only nothing but this job waits in the printer
   * @throws TransportError
   */
  cancel(only: boolean): Promise<boolean>;
  /**
   * How long to wait before the printer is asked again, ms.
   * @param since how long ago something last moved, ms
   * @param spare for how long the printer has enough to print, ms
   * @param settling nobody knows yet whether all that was sent has arrived
   */
  pollAfter(since: number, spare: number, settling: boolean): number;
  /** The connection is gone. @returns why the job waits. @param resumes bytes that are still on their way must not come out */
  broke(resumes: boolean): Promise<readonly PrinterReason[]>;
  /** The job leaves the printer. @param clean nothing unfinished is on the connection */
  release(clean: boolean, resumes: boolean): Promise<void>;
}
