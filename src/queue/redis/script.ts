/** A Lua script. Its hash is sent, and its text only if the server does not know the hash. */
import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** One server, or a cluster of them. */
export type RedisConnection = Redis | Cluster;

export class RedisScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = createHash('sha1').update(text).digest('hex');
  }

  /** @param keys in a cluster, all of one slot */
  async run(
    redis: RedisConnection,
    keys: readonly string[],
    given: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await redis.evalsha(this.#hash, keys.length, ...keys, ...given);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return await redis.eval(this.#text, keys.length, ...keys, ...given);
    }
  }
}
