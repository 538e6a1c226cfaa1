/**
 * Tokens whose signature was verified a moment ago: a client sends the same one with each request for minutes. What a
 * signature does not say, whether the account was revoked, is asked elsewhere.
 */
import { LRUCache } from 'lru-cache';
import type { AccessTokens, Claims } from './access-token.ts';

const MOST = 2_000;
/** ms for which the signing keys that a token was verified with are believed, as elsewhere. */
const AGE = 60_000;

export class VerifiedTokens implements AccessTokens {
  readonly #tokens: AccessTokens;
  readonly #verified = new LRUCache<string, Claims>({ max: MOST, ttl: AGE });

  constructor(tokens: AccessTokens) {
    this.#tokens = tokens;
  }

  async verify(token: string): Promise<Claims> {
    const known = this.#verified.get(token);
    if (known !== undefined && Date.now() < known.expires * 1000) return known;
    const claims = await this.#tokens.verify(token);
    this.#verified.set(token, claims);
    return claims;
  }
}
