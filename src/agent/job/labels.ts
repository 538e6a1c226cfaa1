/**
 * Has the labels of one delivery of a job made in a render thread, in order. Where that crashes, it is tried
 * once more on a thread of the job's own.
 */
import { LANGUAGES } from '../../../drivers/languages/index.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { RenderCrash, type RenderPool, type RenderSession } from '../../rendering/render-pool.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { WindowLimits } from './window.ts';

interface LabelsOptions {
  documents: boolean;
  /** The most that may ever be under way, and what may be now. */
  most: WindowLimits;
  ahead(): WindowLimits;
  /** The printer cannot say how far it is. */
  blind(): boolean;
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
  #ownThread = false;

  constructor(pool: Pick<RenderPool, 'open'>, job: QueuedJob, options: LabelsOptions) {
    [this.#pool, this.#job, this.#options] = [pool, job, options];
  }

  /** The most copies of a label that one chunk ever has. */
  get mostCopies(): number {
    return this.#half(this.#options.most);
  }

  /** Half of the window, so that one part waits while the other is printed. A document is alone. */
  #half({ labels }: WindowLimits): number {
    return this.#options.documents ? labels : Math.max(1, Math.floor(labels / 2));
  }

  get #maxCopies(): number {
    const { documents, ahead, blind } = this.#options;
    // Pages are one document, which is not begun anew in the middle.
    const whole = documents || LANGUAGES[this.#job.format.language].prints === 'pages';
    return whole || blind() ? this.mostCopies : this.#half(ahead());
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
    const most = this.#maxCopies;
    const more = count === this.#copies && this.#job.copies > count && most >= 2 * count;
    return more || (count > most && this.#copies > most);
  }

  close(): void {
    this.#session?.close();
  }

  #open(from: number): RenderSession {
    this.#session?.close();
    const { documents } = this.#options;
    this.#copies = this.#maxCopies;
    const options = { from, maxCopies: this.#copies, documents, alone: this.#ownThread };
    this.#session = this.#pool.open(this.#job, options);
    this.#position = from;
    this.#next = null;
    return this.#session;
  }

  async #rendering<T>(work: (session: RenderSession) => Promise<T>): Promise<T> {
    try {
      return await work(this.#session ?? this.#open(this.#position));
    } catch (error) {
      if (!(error instanceof RenderCrash) || this.#ownThread) throw error;
      this.#ownThread = true;
      return await work(this.#open(this.#position));
    }
  }
}
