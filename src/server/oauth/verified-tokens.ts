/**
 * Keeps tokens whose signature was verified a moment ago, because a client sends the same token with each
 * request for minutes. Whether the account was revoked since is checked elsewhere (`callers.ts`).
 */
import { LRUCache } from 'lru-cache';
import type { AccessTokens, Claims } from './access-token.ts';

const MOST = 2_000;
/** ms for which a verified token is kept: as long as signing keys are used until they are read again. */
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
