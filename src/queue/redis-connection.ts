/** The way to the Redis of the queues. */
import { Cluster, Redis } from 'ioredis';
import { QueueError, reasonOf, within } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import type { Connection } from './redis-script.ts';

export interface ConnectionOptions {
  /** `redis://` or `rediss://`, with password and database number. */
  url: string;
  logger: QueueLogger;
  errors: ErrorLog;
  /** How long to try at the start, ms. */
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
}

/** A server that does not answer for so long while something is asked is given up, and connected again, ms. */
const SILENCE_MS = 15_000;
const RETRY_CEILING_MS = 1_000;

/**
 * Connects.
 * @throws QueueError `refused` (address, password, permission), `unavailable` after `startTimeoutMs`; when aborted
 */
export async function connectRedis(options: ConnectionOptions): Promise<Connection> {
  const { logger, errors } = options;
  const address = readAddress(options.url);
  const redis = new Redis(options.url, {
    lazyConnect: true,
    // BullMQ's condition: commands wait for the connection to come back. Ours have a time limit of their own.
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times) => Math.min(times * 100, RETRY_CEILING_MS),
  });
  let lastReason = 'no answer';
  let away = false;
  redis.on('error', (error: Error) => {
    lastReason = reasonOf(error);
    errors.report('queue connection failed', error, { redis: address });
  });
  redis.on('close', () => {
    if (!away && redis.status !== 'end') logger.warn({ redis: address }, 'queue connection lost');
    away = true;
  });
  redis.on('ready', () => {
    if (away) logger.info({ redis: address }, 'queue connection is back');
    away = false;
  });
  try {
    // With a retry strategy `connect` rejects at the first failure while the next attempts go on: `ready` counts.
    const ready = new Promise<void>((resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true });
      redis.once('ready', resolve);
      redis.on('error', (error) => {
        if (isRefusal(error))
          reject(new QueueError('refused', `Redis at ${address} refuses us: ${reasonOf(error)}`));
      });
    });
    redis.connect().catch(() => undefined);
    await within(options.startTimeoutMs, `Redis at ${address}`, ready);
    await within(options.startTimeoutMs, `Redis at ${address}`, redis.ping());
  } catch (error) {
    redis.disconnect();
    options.signal?.throwIfAborted();
    if (isRefusal(error))
      throw new QueueError('refused', `Redis at ${address} refuses us: ${reasonOf(error)}`);
    if (error instanceof QueueError && error.code === 'refused') throw error;
    throw new QueueError('unavailable', `Redis at ${address} does not answer: ${lastReason}`);
  }
  return redis;
}

/** Host and port, to be shown. */
export function readAddress(url: string): string {
  if (!URL.canParse(url)) throw new QueueError('refused', 'REDIS_URL is not a URL');
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new QueueError('refused', 'REDIS_URL is neither a redis:// nor a rediss:// address');
  }
  return `${hostname}:${port || 6379}`;
}

/** An answer that trying again does not change. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index)/.test(error.message)
  );
}

/** Another one like it. */
export function duplicateOf(redis: Connection): Connection {
  return redis instanceof Cluster ? redis.duplicate() : redis.duplicate();
}

/** All servers that have keys of their own. */
export function nodesOf(redis: Connection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}
