/**
 * Has the labels of one delivery of a job made in a render thread, in order. Where that crashes, it is tried
 * once more on a thread of the job's own.
 */
import type { QueuedJob } from '../../contract/queued-job.ts';
import {
  RenderCrash,
  type RenderPool,
  type RenderSession,
  type RenderSessionOptions,
} from '../../rendering/render-pool.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';

export interface LabelsOptions extends Pick<RenderSessionOptions, 'documents'> {
  /** The most copies in one chunk, now. */
  maxCopies(): number;
}

export class Labels {
  readonly #pool: Pick<RenderPool, 'open'>;
  readonly #job: QueuedJob;
  readonly #options: LabelsOptions;
  #session: RenderSession | null = null;
  /** The most copies in one chunk of the session. */
  #copies = 1;
  #next: Chunk | null = null;
  #position = 0;
  #checked = false;
  #alone = false;

  constructor(pool: Pick<RenderPool, 'open'>, job: QueuedJob, options: LabelsOptions) {
    this.#pool = pool;
    this.#job = job;
    this.#options = options;
  }

  /** The label that comes next. */
  get position(): number {
    return this.#position;
  }

  /** The next chunk is there without waiting. */
  get available(): boolean {
    return this.#session?.available === true;
  }

  /**
   * Finds out whether every label from `from` on can be made, before the first of them is sent.
   * @throws JobFaultError, RenderCrash, the signal's reason
   */
  async check(from: number, signal: AbortSignal): Promise<void> {
    this.seek(from);
    await this.#rendering((session) => session.check(signal));
    this.#checked = true;
  }

  /** Goes on at `label`; a chunk that ends there is done with, one that begins there stays the next. */
  seek(label: number): void {
    if (this.#next !== null && this.#next.first + this.#next.count === label) {
      this.#session?.taken();
      this.#next = null;
      this.#position = label;
    } else if (this.#session === null || this.#position !== label) this.#open(label);
  }

  /**
   * Goes on at `label` as on a new connection: what went before the first label (formats stored in the printer, its
   * settings) may be gone with the old one, or with the printer's power.
   */
  renew(label: number): void {
    const untouched = this.#session?.from === label && this.#position === label;
    if (!untouched) this.#open(label);
  }

  /** The next chunk, which stays the next one. @throws JobFaultError, RenderCrash, the signals' reasons */
  async peek(signals: { leave: AbortSignal; end: AbortSignal }): Promise<Chunk> {
    if (!this.#checked) await this.check(this.#position, signals.leave);
    const next = await this.#following(signals.end);
    if (!this.#isOtherwise(next)) return next;
    this.#open(this.#position);
    return await this.#following(signals.end);
  }

  async #following(signal: AbortSignal): Promise<Chunk> {
    this.#next = await this.#rendering((session) => session.peek(signal));
    if (this.#next === null) throw new RenderCrash(`the labels end at ${this.#position}`);
    return this.#next;
  }

  /** Whether the chunk has more copies than may go out together by now, or could have twice as many. */
  #isOtherwise({ count }: Chunk): boolean {
    const most = this.#options.maxCopies();
    const more = count === this.#copies && this.#job.copies > count && most >= 2 * count;
    return more || (count > most && this.#copies > most);
  }

  close(): void {
    this.#session?.close();
  }

  #open(from: number): RenderSession {
    this.#session?.close();
    const { documents } = this.#options;
    this.#copies = this.#options.maxCopies();
    const options = { from, maxCopies: this.#copies, alone: this.#alone };
    this.#session = this.#pool.open(this.#job, {
      ...options,
      ...(documents !== undefined && { documents }),
    });
    this.#position = from;
    this.#next = null;
    return this.#session;
  }

  async #rendering<T>(work: (session: RenderSession) => Promise<T>): Promise<T> {
    try {
      return await work(this.#session ?? this.#open(this.#position));
    } catch (error) {
      if (!(error instanceof RenderCrash) || this.#alone) throw error;
      this.#alone = true;
      return await work(this.#open(this.#position));
    }
  }
}
