/**
 * Keeps tokens that were issued a moment ago, by account and scope: a client that asks for a token before
 * each request then costs a signature (1 ms of a thread that others wait for) only now and then.
 */
import { LRUCache } from 'lru-cache';

export type IssuedToken = { token: string /** s since 1970. */; expires: number };

/** Share of a token's lifetime for which it is handed out again. */
const SHARE = 0.1;
const MOST = 1_000;

export class IssuedTokens {
  readonly #tokens: LRUCache<string, Promise<IssuedToken>>;

  /** `lifetime` in s. */
  constructor(lifetime: number) {
    this.#tokens = new LRUCache({ max: MOST, ttl: Math.ceil(lifetime * SHARE * 1000) });
  }

  /** The token kept under `key`, or a new one. Callers that ask at the same time share it. */
  get(key: string, issue: () => Promise<IssuedToken>): Promise<IssuedToken> {
    const kept = this.#tokens.get(key);
    if (kept !== undefined) return kept;
    const token = issue();
    token.catch(() => this.#tokens.delete(key));
    this.#tokens.set(key, token);
    return token;
  }
}
