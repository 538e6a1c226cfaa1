/**
 * Bounds the memory of request bodies: only so many bytes in all, and half of them for one account, are in hand at a
 * time. A request that finds no room waits, and nothing of it is read meanwhile.
 */
import { ProblemError } from './problems.ts';

/** Bytes: smaller bodies are not counted, as a connection costs as much anyway. */
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

  /** An account's body that is larger than its share is taken when it has no other in hand. */
  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /**
   * Resolves when there is room for a body.
   * @returns gives the room back; harmless when called again
   * @throws ProblemError `overloaded` after 10 s; the signal's reason
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

  /** First come, first served, except that nobody waits for another account's share. */
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
