/**
 * Slows down guessing: failed token requests are counted on the database, for all instances together, and after
 * too many the next ones are refused unheard until the window has passed.
 *
 * Counted are failures only, so no number of good clients is ever slowed. The tight limit is for one client from
 * one address: were it for the client alone, anyone who knows an API key could lock its owner out.
 */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import type { ServerConfig } from '../config.ts';
import type { Pool } from '../store/pool.ts';

export class TokenFailures {
  readonly #pool: Pool;
  readonly #limiters: readonly [
    pair: RateLimiterPostgres,
    address: RateLimiterPostgres,
    client: RateLimiterPostgres,
  ];

  constructor(pool: Pool, limits: ServerConfig['tokenFailures']) {
    this.#pool = pool;
    const limiter = (keyPrefix: string, points: number) =>
      new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        schemaName: 'platen',
        tableName: 'token_failures',
        tableCreated: true,
        // Its timer cannot be stopped; `forget` does the same.
        clearExpiredByTimeout: false,
        keyPrefix,
        points,
        duration: limits.window,
      });
    this.#limiters = [
      limiter('pair', limits.perClientAndAddress),
      limiter('address', limits.perAddress),
      limiter('client', limits.perClient),
    ];
  }

  /** s to wait before another attempt of this client from this address is heard; 0: it is heard now. */
  async wait(clientId: string, address: string): Promise<number> {
    const states = await Promise.all(
      this.#each(clientId, address).map(async ({ limiter, key }) => {
        const state: RateLimiterRes | null = await limiter.get(key);
        return state !== null && state.consumedPoints >= limiter.points ? state.msBeforeNext : 0;
      }),
    );
    return Math.ceil(Math.max(...states) / 1000);
  }

  /** Counts one failure. */
  async count(clientId: string, address: string): Promise<void> {
    await Promise.all(this.#each(clientId, address).map(({ limiter, key }) => limiter.penalty(key)));
  }

  /** Deletes what has expired. */
  async forget(): Promise<void> {
    await this.#pool.query('DELETE FROM platen.token_failures WHERE expire < $1', [Date.now()]);
  }

  #each(clientId: string, address: string): { limiter: RateLimiterPostgres; key: string }[] {
    const [pair, byAddress, client] = this.#limiters;
    const network = networkOf(address);
    return [
      { limiter: pair, key: digest(`${clientId} ${network}`) },
      { limiter: byAddress, key: digest(network) },
      { limiter: client, key: digest(clientId) },
    ];
  }
}

/** A client ID may be of any length, a key may not. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** An IPv6 host owns a /64 at least, so addresses within one count together. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.toLowerCase().startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [
    ...left,
    ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'),
    ...right,
  ];
  return groups.slice(0, 4).join(':');
}
