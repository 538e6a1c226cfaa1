/**
 * Lets a second job follow the first at one printer: its labels go out while the printer still prints those
 * of the first, so that the printer does not stand still between jobs. An object of this class is what the
 * two jobs, the job ahead and the job behind, know of each other. Its states are those of the job behind:
 *
 *   waits ──has its first labels──▶ ready ──the job ahead sent all──▶ joins ──intent, note durable──▶ drives
 *     ▲                                                                 │                              │
 *     ├──────────── that takes too long: nothing was sent ──────────────┘                              │
 *     └──────────── it cannot go on: the job ahead finds out what became of both ──────────────────────┘
 *
 * Only one of the two jobs drives the printer at a time. When the job ahead has nothing more to send, it lets
 * the job behind drive, and only listens from then on. When the labels of the job ahead are out, the job
 * behind gives the connection back at its end, however long the end of the job ahead takes to be on record.
 * When the job ahead has ended, with whatever outcome, the job behind goes on alone. Labels that are written
 * down as about to be sent are sent at once, or the entry is taken back: what the printer counts in between
 * may be anybody's.
 */
import { orAborted } from '../../../drivers/transports/pauses.ts';
import type { JobFaultError } from '../../contract/fault.ts';
import type { PrinterReason } from '../../contract/printer.ts';

/** What the job behind, while it drives, says to the job ahead. */
export type Word =
  /** The printer has said how far it is. */
  | { kind: 'told'; stuck: boolean; reasons: readonly PrinterReason[] }
  /** The job behind does not drive any more; `error`: what became of the labels has to be found out. */
  | { kind: 'back'; error: Error | null }
  /** What the printer counts fits neither job. */
  | { kind: 'fault'; error: JobFaultError };

/** What the job ahead sees of the job behind. */
export interface Behind {
  /** Joins the row, and writes down what it will send. Resolves when that is durable; false: it cannot. */
  join(): Promise<boolean>;
  /** Pages that the job behind has sent, or was about to send, and that are not settled. */
  readonly pages: number;
  /** Settles its labels by the counter of a printer at rest, as those of the job ahead have been. */
  settle(odometer: number): void;
}

type State = 'waits' | 'ready' | 'joins' | 'drives' | 'gone';

/** How long the job behind may take to write down what it is about to send, ms. */
const JOIN_MS = 500;

export class Succession {
  #state: State = 'waits';
  #behind: Behind | null = null;
  /** Pages that a job behind that has left may still have in the printer. */
  #left = 0;
  #words: Word[] = [];
  #spoken = Promise.withResolvers<void>();
  #turn = Promise.withResolvers<void>();
  #over = false;
  #goesBack = false;
  #handedOver = false;

  /** The job ahead has ended: that is written down, and durable before all that the job behind writes. */
  get over(): boolean {
    return this.#over;
  }

  /** The job ahead has ended, and will be delivered again before the job behind. */
  get goesBack(): boolean {
    return this.#goesBack;
  }

  /** The job ahead is done with the printer, and only the job behind may give the connection back. */
  get handedOver(): boolean {
    return this.#handedOver;
  }

  /** The job behind drives the printer for both jobs. */
  get driven(): boolean {
    return this.#state === 'drives' && !this.#over && !this.#handedOver;
  }

  /** The job behind is about to join the row. */
  get joins(): boolean {
    return this.#state === 'joins' && !this.#over;
  }

  // Called by the job behind:

  /** The job has its first labels. Resolves on a change: it drives, is alone, or has to begin again. */
  async ready(behind: Behind, signal: AbortSignal): Promise<void> {
    this.#behind = behind;
    this.#state = 'ready';
    this.#turn = Promise.withResolvers();
    if (!this.#over) await orAborted(this.#turn.promise, signal).catch(() => undefined);
    // It must not get to drive before it asks again.
    if (!this.driven) this.#state = 'waits';
  }

  say(word: Word): void {
    if (word.kind !== 'told') this.#state = 'waits';
    this.#words.push(word);
    this.#spoken.resolve();
  }

  /** The job has ended, or goes back to its queue. */
  leave(): void {
    this.#left = this.pages;
    this.#state = 'gone';
    this.#behind = null;
  }

  // Called by the job ahead:

  /** The job has sent all its labels. Resolves within half a second: whether the job behind drives now. */
  async offer(): Promise<boolean> {
    const behind = this.#behind;
    if (this.#state !== 'ready' || behind === null) return false;
    this.#state = 'joins';
    const late = AbortSignal.timeout(JOIN_MS);
    const joined = Promise.withResolvers<void>();
    let ready = false;
    void behind.join().then((can) => {
      ready = can;
      joined.resolve();
    });
    await orAborted(joined.promise, late).catch(() => undefined);
    // The job behind has left, or stopped waiting.
    if (!this.joins) return false;
    this.#state = ready ? 'drives' : 'waits';
    this.#words = [];
    this.#turn.resolve();
    return ready;
  }

  /** The next word of the job behind, which drives; null: `signal` was aborted. */
  async listen(signal: AbortSignal): Promise<Word | null> {
    for (;;) {
      const word = this.#words.shift();
      if (word !== undefined) return word;
      if (signal.aborted) return null;
      this.#spoken = Promise.withResolvers();
      await orAborted(this.#spoken.promise, signal).catch(() => undefined);
    }
  }

  /** Pages of the job behind that may be out too. */
  get pages(): number {
    return this.#behind?.pages ?? this.#left;
  }

  /** The labels of the job ahead are settled by this counter reading of a printer at rest. */
  settle(odometer: number | null): void {
    if (odometer !== null && (this.#state === 'waits' || this.#state === 'ready'))
      this.#behind?.settle(odometer);
  }

  /**
   * The job ahead neither uses the printer nor listens any more, though its end may not be on record yet.
   * @returns whether the job behind drives, and so has the printer from now on
   */
  handOver(): boolean {
    this.#handedOver = this.driven;
    return this.#handedOver;
  }

  /** The job behind has left something unfinished on the connection, and the job ahead has not read that. */
  get unclear(): boolean {
    return this.#words.some((word) => word.kind === 'back' && word.error !== null);
  }

  /** The job ahead has ended. @param goesBack whether it returns to its queue, to be delivered first again */
  end(goesBack: boolean): void {
    this.#over = true;
    this.#goesBack = goesBack;
    this.#turn.resolve();
  }
}
