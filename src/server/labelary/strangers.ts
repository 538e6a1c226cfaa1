/**
 * Bounds what callers without an account may have drawn: requests of one network in a second, and in hand at a time, and
 * requests of all of them in hand.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DoorError } from '../door-error.ts';
import { PartyLimit } from '../party-limit.ts';
import { sameSecret } from '../same-secret.ts';

/** Requests of one network in a second. */
const PER_SECOND = 10;
const LATER = { 'retry-after': '1' };

export class Strangers {
  readonly #rate = new RateLimiterMemory({ points: PER_SECOND, duration: 1 });
  readonly #ofOne = new PartyLimit(4);
  readonly #ofAll = new PartyLimit(16);
  readonly #isKey: (said: string) => boolean;

  /** @param key what callers have to know; undefined: nothing */
  constructor(key: string | undefined) {
    this.#isKey = key === undefined ? () => true : sameSecret(key);
  }

  /** Counts a request, before its body is read. @throws DoorError 401, 429 */
  async count(network: string, key: unknown): Promise<void> {
    try {
      await this.#rate.consume(network);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new DoorError(429, `more than ${PER_SECOND} requests in a second`, LATER);
    }
    if (!this.#isKey(String(key ?? ''))) throw new DoorError(401, 'the header X-API-Key is missing or wrong');
  }

  /** Begins to draw. @returns what ends it. @throws DoorError 429, 503 */
  begin(network: string): () => void {
    const one = this.#ofOne.begin(network);
    if (one === undefined)
      throw new DoorError(429, `more than ${this.#ofOne.most} requests at a time`, LATER);
    const all = this.#ofAll.begin('all');
    if (all === undefined) {
      one();
      throw new DoorError(503, 'other labels are being drawn: try again', LATER);
    }
    return () => {
      one();
      all();
    };
  }
}
