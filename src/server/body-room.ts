/**
 * Bounds the bytes of request bodies that are in memory at a time, in all and for one account. A request that
 * finds no room waits, and its body is not read meanwhile.
 */
import { ProblemError } from './problems.ts';

/** Bytes up to which a body is not counted, because a connection costs as much anyway. */
const SMALL = 64 * 1024;
/** ms that a request waits for room. */
const PATIENCE = 10_000;

export type RoomOptions = { total: number; perAccount: number };

type Waiting = { account: string; bytes: number; admit: () => void };

export class BodyRoom {
  readonly #options: RoomOptions;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  /** A body larger than its account's share is admitted when the account has no other body in memory. */
  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /**
   * Resolves when there is room for a body.
   * @returns a function that gives the room back; calling it again does nothing
   * @throws ProblemError `overloaded` after 10 s; the signal's reason when it aborts
   */
  async take(account: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (bytes <= SMALL) return () => undefined;
    if (!this.#fits(account, bytes)) await this.#turn(account, bytes, signal);
    else this.#add(account, bytes);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#add(account, -bytes);
      this.#admit();
    };
  }

  #fits(account: string, bytes: number): boolean {
    const own = this.#taken.get(account) ?? 0;
    const { total, perAccount } = this.#options;
    return (own === 0 || own + bytes <= perAccount) && (this.#total === 0 || this.#total + bytes <= total);
  }

  #add(account: string, bytes: number): void {
    this.#total += bytes;
    const own = (this.#taken.get(account) ?? 0) + bytes;
    if (own === 0) this.#taken.delete(account);
    else this.#taken.set(account, own);
  }

  /** First come, first served, except that a body that does not fit yet holds up none of those behind it. */
  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.account, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(waiting.account, waiting.bytes);
      waiting.admit();
    }
  }

  async #turn(account: string, bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { account, bytes, admit: resolve };
    const leave = () => {
      this.#waiting.delete(waiting);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      const detail = 'too many large requests are in hand; send it again';
      reject(new ProblemError('overloaded', detail, { headers: { 'retry-after': '5' } }));
    }, PATIENCE);
    this.#waiting.add(waiting);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }
}
