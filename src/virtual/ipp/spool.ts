/**
 * The jobs of a virtual IPP printer: those that wait, the one that prints, and the last of those that have ended.
 *
 * All jobs are in memory, and gone when the power goes, as in most label printers. IDs are never reused.
 */
import type { JobOrder } from '../../ipp/operations.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import { IppJob, type IppJobReport } from './job.ts';

/** The most jobs that may wait. */
const MAX_WAITING = 100;

interface SpoolLimits {
  /** Ended jobs that are remembered. */
  readonly history: number;
  /** Bytes of documents, all jobs together. */
  readonly spool: number;
  /** How long a job waits for its document, ms. */
  readonly documentWait: number;
}

interface SpoolHost {
  readonly limits: SpoolLimits;
  /** The ID of the next job; the same is never given twice. */
  nextId(): number;
  changed(job: IppJobReport): void;
}

export class IppSpool {
  readonly #host: SpoolHost;
  readonly #jobs = new Map<number, IppJob>();
  /** In the order in which they ended. */
  readonly #ended = new Set<IppJob>();
  readonly #timers = new Map<number, NodeJS.Timeout>();

  constructor(host: SpoolHost) {
    this.#host = host;
  }

  /** All jobs, the oldest first. */
  get jobs(): IppJob[] {
    return [...this.#jobs.values()];
  }

  /** Jobs that have ended, the last that did first. */
  get ended(): IppJob[] {
    return [...this.#ended].reverse();
  }

  /** Jobs that have not ended. */
  get waiting(): IppJob[] {
    return this.jobs.filter((job) => !job.over);
  }

  /** @throws IppRefusal */
  find(id: number): IppJob {
    const job = this.#jobs.get(id);
    if (!job) throw new IppRefusal('client-error-not-found', `there is no job ${id}`);
    return job;
  }

  /** Jobs that will print before this one. */
  #before(job: IppJob): number {
    if (job.over || job.processing !== undefined) return 0;
    return this.waiting.filter(
      ({ id, state, processing }) => state !== 'pending-held' && (id < job.id || processing !== undefined),
    ).length;
  }

  /** A job whose document is still to come, or is coming. @throws IppRefusal */
  create(order: JobOrder, reason: 'job-incoming' | 'job-data-insufficient'): IppJob {
    if (this.waiting.length >= MAX_WAITING) {
      throw new IppRefusal('server-error-too-many-jobs', `${MAX_WAITING} jobs wait`);
    }
    const job = new IppJob(this.#host.nextId(), order, (one) => this.#before(one));
    job.reasons.add(reason);
    this.#jobs.set(job.id, job);
    if (reason === 'job-data-insufficient') this.#expectDocument(job);
    this.changed(job);
    return job;
  }

  /** Counts bytes of a document before they are kept. @throws IppRefusal when there is no room for them */
  receive(job: IppJob, bytes: number): void {
    job.octets += bytes;
    const used = this.waiting.reduce((sum, each) => sum + each.octets, 0);
    if (used > this.#host.limits.spool) {
      throw new IppRefusal('server-error-temporary-error', 'no room in the spool');
    }
  }

  /** The document has begun to come. */
  receiving(job: IppJob): void {
    this.#forgetTimer(job.id);
    job.reasons.delete('job-data-insufficient');
    job.reasons.add('job-incoming');
    this.changed(job);
  }

  /** The document is complete; the job may print. */
  received(job: IppJob): void {
    this.#forgetTimer(job.id);
    job.reasons.delete('job-incoming');
    job.reasons.delete('job-data-insufficient');
    this.changed(job);
  }

  /** Ends a job: at once, or after the label being printed if the job is printing. @throws IppRefusal */
  stop(job: IppJob, state: 'canceled' | 'aborted', reasons: readonly string[], message = ''): void {
    if (job.over || job.stopping) {
      throw new IppRefusal(
        'client-error-not-possible',
        `job ${job.id} is ${job.over ? job.state : 'ending'}`,
      );
    }
    if (job.state === 'processing' || job.state === 'processing-stopped') {
      job.stopping = { state, reasons, message };
      job.reasons.add('processing-to-stop-point');
      this.changed(job);
    } else this.end(job, state, reasons, message);
  }

  end(
    job: IppJob,
    state: 'canceled' | 'aborted' | 'completed',
    reasons: readonly string[],
    message = '',
  ): void {
    this.#forgetTimer(job.id);
    job.end(state, reasons, message);
    // A document that breaks off because the power went ends a job that is already gone.
    if (this.#jobs.has(job.id)) this.#ended.add(job);
    this.#prune();
    this.changed(job);
  }

  /** Holds a job back, or lets it go. @throws IppRefusal */
  hold(job: IppJob, held: boolean): void {
    if (job.state !== 'pending-held' && !(held && job.state === 'pending')) {
      throw new IppRefusal('client-error-not-possible', `job ${job.id} is ${job.state}`);
    }
    job.state = held ? 'pending-held' : 'pending';
    if (held) job.reasons.add('job-hold-until-specified');
    else job.reasons.delete('job-hold-until-specified');
    this.changed(job);
  }

  /** The job to print next, if there is one. */
  next(): IppJob | undefined {
    return this.waiting.find((job) => job.state === 'pending' && !job.incoming);
  }

  /** Power off. */
  clear(): void {
    for (const id of [...this.#timers.keys()]) this.#forgetTimer(id);
    this.#jobs.clear();
    this.#ended.clear();
  }

  changed(job: IppJob): void {
    this.#host.changed(job.report());
  }

  #expectDocument(job: IppJob): void {
    const timer = setTimeout(() => {
      this.end(job, 'aborted', ['aborted-by-system'], 'no document came');
    }, this.#host.limits.documentWait);
    timer.unref();
    this.#timers.set(job.id, timer);
  }

  #forgetTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #prune(): void {
    for (const job of this.#ended) {
      if (this.#ended.size <= this.#host.limits.history) return;
      this.#ended.delete(job);
      this.#jobs.delete(job.id);
    }
  }
}
