/**
 * Bounds the bytes of request bodies that are in memory at a time, in all and for one party: a tenant, or a caller who has none.
 * A request that finds no room waits, and its body is not read meanwhile. Part of the room is for parties that hold nothing. While
 * somebody waits, a body that comes too slowly loses its place.
 */
import { ProblemError } from './problems.ts';

/** Bytes up to which a body is not counted, because a connection costs as much anyway. */
const SMALL = 64 * 1024;
/** ms that a request waits for room. */
const PATIENCE = 10_000;
/** Bytes a second that a body must bring, and ms after which that counts. */
const LEAST_RATE = 256 * 1024;
const GRACE = 1_000;
/** ms between two looks at bodies that come in while somebody waits. */
const LOOKS = 500;

/** `reserve`: of the total, bytes that only a party takes which holds nothing. */
type RoomOptions = { total: number; perParty: number; reserve: number };

type Waiting = { party: string; bytes: number; admit: () => void };

/** The place of a body in the room. */
interface BodyPlace {
  /** So many more bytes of the body have come; infinitely many: it is here in whole. */
  came(bytes: number): void;
  /** Gives the room back; again it does nothing. */
  leave(): void;
}
type Reserved = { since: number; bytes: number; come: number; lose: () => void };

export class BodyRoom {
  readonly #options: RoomOptions;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #held = new Set<Reserved>();
  #total = 0;
  #looks: NodeJS.Timeout | undefined;

  /** A body larger than its party's share is admitted when the party has no other body in memory. */
  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /**
   * Resolves when there is room for a body; with undefined for a small one, which needs none.
   * @param lost called with `request-late` when a body came too slowly, and has given its place to others
   * @throws ProblemError `overloaded` after 10 s; the signal's reason when it aborts
   */
  async take(
    party: string,
    bytes: number,
    { signal, lost }: { signal: AbortSignal; lost: (late: ProblemError) => void },
  ): Promise<BodyPlace | undefined> {
    if (bytes <= SMALL) return undefined;
    if (!this.#fits(party, bytes)) await this.#waitForRoom(party, bytes, signal);
    else this.#add(party, bytes);
    const leave = () => {
      if (!this.#held.delete(held)) return;
      this.#add(party, -bytes);
      this.#admit();
    };
    const lose = () => {
      leave();
      lost(new ProblemError('request-late', 'the body comes too slowly while others wait; send it again'));
    };
    const held: Reserved = { since: performance.now(), bytes, come: 0, lose };
    this.#held.add(held);
    const came = (more: number) => {
      held.come += more;
    };
    return { came, leave };
  }

  #fits(party: string, bytes: number): boolean {
    const own = this.#taken.get(party) ?? 0;
    const { total, perParty, reserve } = this.#options;
    const most = own === 0 ? total : total - reserve;
    return (own === 0 || own + bytes <= perParty) && (this.#total === 0 || this.#total + bytes <= most);
  }

  #add(party: string, bytes: number): void {
    this.#total += bytes;
    const own = (this.#taken.get(party) ?? 0) + bytes;
    if (own === 0) this.#taken.delete(party);
    else this.#taken.set(party, own);
  }

  /**
   * First come, first served, except that parties that hold nothing come before the others, and a body that does not fit yet
   * holds up none of those behind it.
   */
  #admit(): void {
    for (const holding of [false, true]) {
      for (const waiting of this.#waiting) {
        if (this.#taken.has(waiting.party) !== holding || !this.#fits(waiting.party, waiting.bytes)) continue;
        this.#waiting.delete(waiting);
        this.#add(waiting.party, waiting.bytes);
        waiting.admit();
      }
    }
  }

  /** While somebody waits, ends bodies that have come too slowly so far. */
  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#looks);
      this.#looks = undefined;
    }
    const now = performance.now();
    for (const { since, bytes, come, lose } of this.#held) {
      const due = ((now - since - GRACE) / 1_000) * LEAST_RATE;
      if (this.#waiting.size > 0 && come < Math.min(bytes, due)) lose();
    }
  }

  async #waitForRoom(party: string, bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { party, bytes, admit: resolve };
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
    this.#looks ??= setInterval(() => this.#look(), LOOKS);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }
}
