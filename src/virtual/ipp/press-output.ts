/** What the operations of a virtual IPP printer do: its jobs wait in the spool, and its press prints them. */
import type { IppPrinterView } from '../../ipp/attributes.ts';
import type { DocumentKind, IppDocumentSource } from '../../ipp/document.ts';
import type { IppOutput, JobOrder, JobQuery } from '../../ipp/operations.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import { receiveDocument } from './document-intake.ts';
import type { IppJob } from './job.ts';
import { DOCUMENT_FORMATS } from './printer-state.ts';
import type { IppSpool } from './spool.ts';

/** What the printer refuses because a test asked for it. */
export interface IppMisbehavior {
  /** Operations that make a job, and Send-Document, are answered with server-error-busy. */
  busy: boolean;
  /** Operations that make a job are answered with server-error-not-accepting-jobs. */
  notAccepting: boolean;
  /** Document formats that it names as supported and refuses all the same. */
  refusedFormats: readonly string[];
}

interface PressOutputHost {
  readonly spool: IppSpool;
  readonly misbehavior: IppMisbehavior;
  /** Largest document, bytes. */
  readonly documentLimit: number;
  view(printerUri: string): IppPrinterView;
  pause(paused: boolean): void;
  identify(): void;
}

export class PressOutput implements IppOutput<IppJob> {
  readonly #host: PressOutputHost;
  readonly jobOperations: IppOutput<IppJob>['jobOperations'] = {
    'Hold-Job': (job) => this.#host.spool.hold(job, true),
    'Release-Job': (job) => this.#host.spool.hold(job, false),
    // No more documents come for it; a job without a document is aborted, as it has nothing to print.
    'Close-Job': (job) => {
      if (job.reasons.has('job-data-insufficient'))
        this.#host.spool.end(job, 'aborted', ['aborted-by-system'], 'closed without a document');
    },
  };
  readonly printerOperations: IppOutput<IppJob>['printerOperations'] = {
    'Pause-Printer': () => this.#host.pause(true),
    'Resume-Printer': () => this.#host.pause(false),
    'Cancel-My-Jobs': (user, ids) => this.#cancelMyJobs(user, ids),
    'Identify-Printer': () => this.#host.identify(),
  };

  constructor(host: PressOutputHost) {
    this.#host = host;
  }

  view(printerUri: string): IppPrinterView {
    return this.#host.view(printerUri);
  }

  /** A label printer knows nobody. */
  permit(): void {}

  admit(): void {
    const { busy, notAccepting } = this.#host.misbehavior;
    if (busy) throw new IppRefusal('server-error-busy', 'busy');
    if (notAccepting) throw new IppRefusal('server-error-not-accepting-jobs', 'no jobs are accepted');
  }

  accepts(format: string): boolean {
    return (
      DOCUMENT_FORMATS.some((each) => each === format) &&
      !this.#host.misbehavior.refusedFormats.includes(format)
    );
  }

  async print(order: JobOrder, source: IppDocumentSource, kind: DocumentKind): Promise<IppJob> {
    const { spool, documentLimit } = this.#host;
    const job = spool.create(order, 'job-incoming');
    await receiveDocument(spool, job, source, kind, documentLimit);
    return job;
  }

  create(order: JobOrder): IppJob {
    return this.#host.spool.create(order, 'job-data-insufficient');
  }

  async send(job: IppJob, source: IppDocumentSource, kind: DocumentKind): Promise<IppJob> {
    const { spool, misbehavior, documentLimit } = this.#host;
    if (misbehavior.busy) throw new IppRefusal('server-error-busy', 'busy');
    spool.receiving(job);
    await receiveDocument(spool, job, source, kind, documentLimit);
    return job;
  }

  find(id: number): IppJob {
    return this.#host.spool.find(id);
  }

  list({ which, user, limit }: JobQuery): IppJob[] {
    const { spool } = this.#host;
    // The last that ended comes first (RFC 8011 §4.2.6.2).
    const listed = {
      completed: () => spool.ended,
      'not-completed': () => spool.waiting,
      all: () => spool.jobs,
    };
    const jobs = listed[which]().filter((job) => user === undefined || job.user === user);
    return jobs.slice(0, limit ?? jobs.length);
  }

  cancel(job: IppJob): void {
    this.#host.spool.stop(job, 'canceled', ['job-canceled-by-user']);
  }

  /** All of the user's jobs, or of those named by job-ids, or none (PWG 5100.11 §5.2). */
  #cancelMyJobs(user: string, ids: readonly number[]): void {
    const { spool } = this.#host;
    const named = ids.map((id) => spool.find(id));
    const other = named.find((job) => job.user !== user || job.over || job.stopping);
    if (other) throw new IppRefusal('client-error-not-possible', `job ${other.id} cannot be canceled`);
    const mine = spool.waiting.filter((job) => job.user === user && !job.stopping);
    for (const job of ids.length > 0 ? new Set(named) : mine) this.cancel(job);
  }
}
