/**
 * Counts failed token requests and sign-ins in the database, for all instances together, so that callers who
 * fail too often are told to slow down.
 */
import { createHash } from 'node:crypto';
import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import type { ServerConfig } from './config.ts';
import { networkOf } from './network.ts';
import type { Pool } from './store/pool.ts';

const MOST_KNOWN = 10_000;

/** The client ID or login of an attempt; or the kind of attempts that name nobody: those of a network count together. */
type Attempted = string | { readonly nobody: 'provider' | 'passkey' };

export class FailedAttempts {
  readonly #pool: Pool;
  readonly #limiters: readonly [
    pair: RateLimiterPostgres,
    address: RateLimiterPostgres,
    client: RateLimiterPostgres,
  ];
  /** Until when a key is over its limit, ms since 1970. */
  readonly #over = new Map<string, number>();

  /** @param of what is attempted: failures of each kind are counted separately */
  constructor(pool: Pool, limits: ServerConfig['tokenFailures'], of: 'tokens' | 'sign-ins' | 'enrolments') {
    const prefix = of === 'tokens' ? '' : `${of} `;
    this.#pool = pool;
    const limiter = (keyPrefix: string, points: number) =>
      new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        schemaName: 'platen',
        tableName: 'token_failures',
        tableCreated: true,
        // The library's clean-up timer cannot be stopped; `forget` does the same work.
        clearExpiredByTimeout: false,
        keyPrefix,
        points,
        duration: limits.window,
      });
    this.#limiters = [
      limiter(`${prefix}pair`, limits.perClientAndAddress),
      limiter(`${prefix}address`, limits.perAddress),
      limiter(`${prefix}client`, limits.perClient),
    ];
  }

  /**
   * Counts one failure.
   * @returns for how many s this client or address has to wait; 0 if it has not failed too often
   */
  async count(of: Attempted, address: string): Promise<number> {
    const each = this.#each(of, address);
    // The database need not be asked.
    const known = this.waits(of, address);
    if (known > 0) return known;
    const states = await Promise.all(
      each.map(async ({ limiter, key }) => {
        const state: RateLimiterRes = await limiter.penalty(key);
        if (state.consumedPoints <= limiter.points) return 0;
        if (this.#over.size >= MOST_KNOWN) this.#over.clear();
        this.#over.set(key, Date.now() + state.msBeforeNext);
        return state.msBeforeNext;
      }),
    );
    return Math.ceil(Math.max(...states) / 1000);
  }

  /** As `count` would return, and counts nothing. 0: not known, at this instance, to have failed too often. */
  waits(of: Attempted, address: string): number {
    const until = Math.max(...this.#each(of, address).map(({ key }) => this.#over.get(key) ?? 0));
    return Math.max(0, Math.ceil((until - Date.now()) / 1000));
  }

  /** Takes back a failure that was counted in advance for an attempt that then succeeded. */
  async forgive(of: Attempted, address: string): Promise<void> {
    await Promise.all(this.#each(of, address).map(({ limiter, key }) => limiter.reward(key)));
  }

  /** Deletes what has expired. */
  async forget(): Promise<void> {
    await this.#pool.query('DELETE FROM platen.token_failures WHERE expire < $1', [Date.now()]);
  }

  #each(of: Attempted, address: string): { limiter: RateLimiterPostgres; key: string }[] {
    const [pair, byAddress, client] = this.#limiters;
    const network = networkOf(address);
    if (typeof of !== 'string') return [{ limiter: byAddress, key: digest(`${of.nobody} ${network}`) }];
    return [
      { limiter: pair, key: digest(`${of} ${network}`) },
      { limiter: byAddress, key: digest(network) },
      { limiter: client, key: digest(of) },
    ];
  }
}

/** A client ID may be of any length, a key in the table may not. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
