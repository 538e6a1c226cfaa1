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

export class Labels {
  readonly #pool: Pick<RenderPool, 'open'>;
  readonly #job: QueuedJob;
  readonly #options: Pick<RenderSessionOptions, 'maxCopies' | 'documents'>;
  #session: RenderSession | null = null;
  #next: Chunk | null = null;
  #position = 0;
  #checked = false;
  #alone = false;

  constructor(
    pool: Pick<RenderPool, 'open'>,
    job: QueuedJob,
    options: Pick<RenderSessionOptions, 'maxCopies' | 'documents'>,
  ) {
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
    this.#next = await this.#rendering((session) => session.peek(signals.end));
    if (this.#next === null) throw new RenderCrash(`the labels end at ${this.#position}`);
    return this.#next;
  }

  close(): void {
    this.#session?.close();
  }

  #open(from: number): RenderSession {
    this.#session?.close();
    this.#session = this.#pool.open(this.#job, { from, ...this.#options, alone: this.#alone });
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
