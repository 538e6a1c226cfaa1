/**
 * Two jobs at one printer, the second behind the first: its labels go out while the printer still prints the first one's,
 * so that the printer does not stand still between jobs. What both of them know of each other.
 *
 *   waits ──has its first labels──▶ ready ──the one ahead has sent all──▶ joins ──intent and note are durable──▶ drives
 *     ▲                                                                     │                                     │
 *     ├──────────── that takes too long: nothing was sent ──────────────────┘                                     │
 *     └──────────── it cannot go on: the one ahead finds out what became of both ─────────────────────────────────┘
 *
 * One of the two drives the printer at a time. The one ahead gives the wheel away when it has nothing to send any more, and
 * only listens from then on. When its labels are out, the connection is the other one's to give back, however long its end takes
 * to be on record. When it has ended, whatever became of it, the one behind goes on alone. What is written down to
 * be sent is sent at once, or taken back: what the printer counts in between may be anybody's.
 */
import type { JobFaultError } from '../../contract/fault.ts';
import type { PrinterReason } from '../../contract/printer.ts';

/** What the one that drives has to say to the one ahead. */
export type Word =
  /** The printer has said how far it is. */
  | { kind: 'told'; stuck: boolean; reasons: readonly PrinterReason[] }
  /** It does not drive any more; `error`: what is on the connection has to be found out. */
  | { kind: 'back'; error: Error | null }
  /** What the printer counts fits neither. */
  | { kind: 'fault'; error: JobFaultError };

/** The job behind, for the one ahead. */
export interface Behind {
  /** Joins the row, and writes down what it is about to send. Resolves when that is durable; false: it cannot. */
  join(): Promise<boolean>;
  /** Pages that it has sent, or was about to, and that are not settled. */
  readonly pages: number;
  /** The labels ahead are settled by this reading of the counter of a printer at rest: so are its own. */
  settle(odometer: number): void;
}

type State = 'waits' | 'ready' | 'joins' | 'drives' | 'gone';

/** How long what it is about to send may take to be on record, ms. */
const JOIN_MS = 500;

export class Succession {
  #state: State = 'waits';
  #behind: Behind | null = null;
  /** Pages that one that has gone may have left in the printer. */
  #left = 0;
  #words: Word[] = [];
  #spoken = Promise.withResolvers<void>();
  #turn = Promise.withResolvers<void>();
  #over = false;
  #goesBack = false;
  #handedOver = false;

  /** The one ahead has ended: that is written down, and durable before what the one behind writes. */
  get over(): boolean {
    return this.#over;
  }

  /** … and is to be delivered again, before the one behind. */
  get goesBack(): boolean {
    return this.#goesBack;
  }

  /** The one ahead has done with the printer, and nobody but the one behind gives its connection back. */
  get handedOver(): boolean {
    return this.#handedOver;
  }

  /** The one behind drives the printer for both. */
  get driven(): boolean {
    return this.#state === 'drives' && !this.#over && !this.#handedOver;
  }

  /** The one behind is about to be in the row. */
  get joins(): boolean {
    return this.#state === 'joins' && !this.#over;
  }

  // The one behind:

  /** It has its first labels. Resolves when something has changed: it drives, is alone, or has to begin again. */
  async ready(behind: Behind, signal: AbortSignal): Promise<void> {
    this.#behind = behind;
    this.#state = 'ready';
    this.#turn = Promise.withResolvers();
    if (!this.#over) await resolvedOr(this.#turn.promise, signal);
    // It is not to be given the wheel before it asks for it again.
    if (!this.driven) this.#state = 'waits';
  }

  say(word: Word): void {
    if (word.kind !== 'told') this.#state = 'waits';
    this.#words.push(word);
    this.#spoken.resolve();
  }

  /** It has ended, or goes back to its queue. */
  leave(): void {
    this.#left = this.pages;
    this.#state = 'gone';
    this.#behind = null;
  }

  // The one ahead:

  /** It has sent all that it has. Resolves with whether the other one drives from now on, within half a second. */
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
    await resolvedOr(joined.promise, late);
    // It has left, or stopped waiting.
    if (!this.joins) return false;
    this.#state = ready ? 'drives' : 'waits';
    this.#words = [];
    this.#turn.resolve();
    return ready;
  }

  /** The next word of the one that drives; null: `signal` was aborted. */
  async listen(signal: AbortSignal): Promise<Word | null> {
    for (;;) {
      const word = this.#words.shift();
      if (word !== undefined) return word;
      if (signal.aborted) return null;
      this.#spoken = Promise.withResolvers();
      await resolvedOr(this.#spoken.promise, signal);
    }
  }

  /** Pages of the one behind that may be out too. */
  get pages(): number {
    return this.#behind?.pages ?? this.#left;
  }

  /** What the one ahead had sent is settled by this reading of the counter of a printer at rest. */
  settle(odometer: number | null): void {
    if (odometer !== null && (this.#state === 'waits' || this.#state === 'ready'))
      this.#behind?.settle(odometer);
  }

  /**
   * The one ahead touches the printer no more, and hears nothing any more, though its end may not be on record yet.
   * @returns whether the other one, which drives, has the printer from now on
   */
  handOver(): boolean {
    this.#handedOver = this.driven;
    return this.#handedOver;
  }

  /** The one behind has left something unfinished on the connection, of which the one ahead has not heard. */
  get unclear(): boolean {
    return this.#words.some((word) => word.kind === 'back' && word.error !== null);
  }

  /** The one ahead has ended. @param goesBack to its queue: it comes first again */
  end(goesBack: boolean): void {
    this.#over = true;
    this.#goesBack = goesBack;
    this.#turn.resolve();
  }
}

async function resolvedOr(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  signal.addEventListener('abort', abort, { once: true });
  await Promise.race([promise, aborted]);
  signal.removeEventListener('abort', abort);
}
