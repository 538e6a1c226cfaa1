/** The queues on Redis: one connection for everything, and one more for each worker, which blocks on it. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import {
  type BullQueues,
  PacedWorker,
  QUEUE_OPTIONS,
  type Stored,
  WORKER_OPTIONS,
  type WorkerTiming,
} from './bullmq.ts';
import { BullLanes } from './bullmq-lanes.ts';
import type { LaneStore } from './lane-store.ts';
import { QueueError, reasonOf, within } from './queue-error.ts';
import type { ErrorLog, QueueLogger } from './queue-log.ts';
import { redisLeases } from './redis-lease.ts';
import { ReportReader } from './report-reader.ts';
import { ReportStreams } from './report-stream.ts';

export interface RedisOptions {
  /** `redis://` or `rediss://`, with password and database number. */
  url: string;
  prefix: string;
  logger: QueueLogger;
  errors: ErrorLog;
  /** How long to try at the start, ms. */
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
  timing: Required<WorkerTiming>;
}

/**
 * Connects.
 * @throws QueueError `refused` (address, password, permission), `unavailable` after `startTimeoutMs`; when aborted
 */
export async function openRedis(options: RedisOptions): Promise<LaneStore> {
  const { prefix, logger, errors } = options;
  const address = readAddress(options.url);
  const redis = new Redis(options.url, {
    lazyConnect: true,
    // BullMQ's condition: commands wait for the connection to come back. Ours have a time limit of their own.
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(times * 100, RETRY_CEILING_MS),
  });
  let lastReason = 'no answer';
  let away = false;
  let breaks = 0;
  redis.on('error', (error: Error) => {
    lastReason = reasonOf(error);
    errors.report('queue connection failed', error, { redis: address });
  });
  redis.on('close', () => {
    if (!away && redis.status !== 'end') logger.warn({ redis: address }, 'queue connection lost');
    away = true;
    breaks += 1;
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
  // The hash tag keeps the keys of one queue in one slot of a Redis Cluster.
  const nameOf = (name: string) => `{${name}}`;
  const keyOf = (queue: string, key: string) => `${prefix}:${nameOf(queue)}:${key}`;
  let heard = true;
  const onPublished = (services: number) => {
    if (services > 0 === heard) return;
    heard = services > 0;
    const fields = { redis: address, prefix };
    if (heard) logger.info(fields, 'a service takes the reports');
    else {
      const why = 'it is not running, or has another REDIS_URL or PLATEN_QUEUE_PREFIX';
      logger.warn(fields, `no service takes the reports, or sends jobs: ${why}`);
    }
  };
  const streams = new ReportStreams(redis, prefix, onPublished);
  const bull: BullQueues = {
    async setNote({ queue, jobId, token, note, lockMs }) {
      const keys = [jobId, `${jobId}:lock`, 'stalled'].map((key) => keyOf(queue, key));
      // On the one connection commands keep their order, also when they are sent again.
      return (await redis.eval(SET_NOTE, 3, ...keys, token, lockMs, jobId, JSON.stringify(note))) === 1;
    },
    queue: (name) =>
      new Queue<Stored, null, string>(nameOf(name), { ...QUEUE_OPTIONS, connection: redis, prefix }),
    worker: (name, process, timing) =>
      new PacedWorker(nameOf(name), process, { ...WORKER_OPTIONS, ...timing, connection: redis, prefix }),
    breaks: () => breaks,
    answers: () => redis.status === 'ready',
  };
  return new BullLanes(bull, {
    timing: options.timing,
    errors,
    leases: redisLeases(redis, keyOf, (printer, error) => errors.report('lease refused', error, { printer })),
    reports: {
      publish: (report, of) => streams.publish(report, of),
      reader: (plan) => new ReportReader(streams, plan),
    },
    ping: async () => void (await redis.ping()),
    disconnect: () => redis.disconnect(),
  });
}

const RETRY_CEILING_MS = 1_000;

/** As BullMQ's `extendLock`, and the note with it. */
const SET_NOTE = `
  if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
  redis.call('SREM', KEYS[3], ARGV[3])
  redis.call('HSET', KEYS[1], 'progress', ARGV[4])
  return 1`;

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
