/** For each test a connection of its own to the Redis that the queues are on. */
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach } from 'vitest';
import type { OpenBackend } from '../servers/backends.ts';

export function useRedis(used: { readonly backend: OpenBackend }): () => Redis {
  let redis: Redis | undefined;
  const now = () => {
    if (redis === undefined) throw new Error('there is no connection yet');
    return redis;
  };
  beforeEach(async () => {
    redis = new Redis(used.backend.redisUrl ?? '');
    await once(redis, 'ready');
  });
  afterEach(() => now().disconnect());
  return now;
}
