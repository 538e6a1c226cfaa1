/**
 * Connects to the Redis of the queues: one server, the one that Sentinels name, or a cluster.
 *
 *     redis://user:password@host:6379/0                                 rediss:// with TLS, ca= a file of its authority
 *     redis://user:password@sentinel:26379/0?sentinel=NAME&also=host:port,host:port
 *     redis://user:password@host:6379?cluster=yes&also=host:port,host:port
 */
import { readFileSync } from 'node:fs';
import { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import { QueueError, reasonOf } from '../queue-error.ts';
import type { ErrorLogger, QueueLogger } from '../queue-log.ts';
import { within } from '../within.ts';
import type { RedisConnection } from './script.ts';

export interface ConnectionOptions {
  /** In one of the forms above. */
  url: string;
  logger: QueueLogger;
  errors: ErrorLogger;
  /** How long to try to connect at the start, ms. */
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
}

interface Address {
  host: string;
  port: number;
}

interface RedisServers {
  kind: 'server' | 'sentinel' | 'cluster';
  /** Servers, or Sentinels: any of them will do. */
  nodes: [Address, ...Address[]];
  /** What Sentinels call the server. */
  name: string | undefined;
  options: { username?: string; password?: string; db?: number; tls?: { ca?: Buffer }; family?: number };
  /** The Sentinels ask for user and password too. */
  sentinelAuth: boolean;
}

/** When a command has had no answer for so long, ms, the connection is given up and made again. */
const SILENCE_MS = 15_000;
const RETRY_CEILING_MS = 1_000;
const MOST_NODES = 50;

const yes = z.literal('yes', { error: 'expected yes' });
const parameters = z.strictObject({
  cluster: yes.optional(),
  sentinel: z.string().min(1).optional(),
  'sentinel-auth': yes.optional(),
  also: z.string().optional(),
  ca: z.string().min(1).optional(),
  family: z.enum(['4', '6']).optional(),
});

/** @throws QueueError `refused`; its message has no secret */
export function readRedisUrl(url: string): RedisServers {
  const refuse = (why: string) => new QueueError('refused', `REDIS_URL ${why}`);
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw refuse('is not a URL: a / ? # or @ in its password has to be percent-encoded (%2F, %3F, %23, %40)');
  }
  const { protocol, username, password, pathname } = parsed;
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw refuse('is neither a redis:// nor a rediss:// address');
  }
  const told = parameters.safeParse(Object.fromEntries(parsed.searchParams));
  if (!told.success) {
    const [issue] = told.error.issues;
    throw refuse(`has a parameter that is not known or not valid: ${issue?.path.join('') || issue?.message}`);
  }
  const { cluster, sentinel, also, ca, family, 'sentinel-auth': sentinelAuth } = told.data;
  const kind = cluster !== undefined ? 'cluster' : sentinel !== undefined ? 'sentinel' : 'server';
  if (cluster !== undefined && sentinel !== undefined) throw refuse('has both cluster and sentinel');
  if (kind === 'server' && (also ?? sentinelAuth) !== undefined) {
    throw refuse('names other servers, but neither cluster nor sentinel');
  }
  if (ca !== undefined && protocol === 'redis:') throw refuse('has ca, but is not a rediss:// address');
  const database = pathname.slice(1);
  if (!/^\d*$/.test(database)) throw refuse('has a path that is no database number');
  if (kind === 'cluster' && Number(database) !== 0)
    throw refuse('has a database number, which a cluster has not');
  const usual = kind === 'sentinel' ? 26_379 : 6_379;
  const others = also === undefined ? [] : also.split(',', MOST_NODES);
  const more = others.map((one) => {
    const node = URL.parse(`redis://${one}`);
    if (node === null || node.username !== '' || node.hostname === '')
      throw refuse('has an also= that is no host:port');
    return addressOf(node, usual);
  });
  return {
    kind,
    nodes: [addressOf(parsed, usual), ...more],
    name: sentinel,
    options: {
      ...(username !== '' && { username: decoded(username, refuse) }),
      ...(password !== '' && { password: decoded(password, refuse) }),
      ...(database !== '' && { db: Number(database) }),
      ...(family !== undefined && { family: Number(family) }),
      ...(protocol === 'rediss:' && { tls: ca === undefined ? {} : { ca: readAuthority(ca) } }),
    },
    sentinelAuth: sentinelAuth !== undefined,
  };
}

function addressOf({ hostname, port }: URL, usual: number): Address {
  // Only a URL puts an IPv6 address in brackets.
  return { host: hostname.replaceAll(/^\[|\]$/g, ''), port: Number(port || usual) };
}

function decoded(secret: string, refuse: (why: string) => QueueError): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    throw refuse('has a user or password with a "%" that is not written as %25');
  }
}

function readAuthority(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new QueueError('refused', `REDIS_URL has a ca= that cannot be read: ${reasonOf(error)}`);
  }
}

/** Options that are the same for one server, Sentinels and a cluster. */
interface Behaviour {
  lazyConnect: true;
  maxRetriesPerRequest: number | null;
  connectTimeout: number;
  keepAlive?: number;
  socketTimeout?: number;
  enableReadyCheck?: boolean;
  retryStrategy(times: number): number | null;
}

/** Returns a client that has not connected yet. */
export function redisAt(url: string, options: Behaviour): RedisConnection {
  const { kind, nodes, name, options: own, sentinelAuth } = readRedisUrl(url);
  const all = { ...options, ...own };
  if (kind === 'cluster') {
    const { retryStrategy, ...redisOptions } = all;
    return new Cluster(nodes, {
      lazyConnect: true,
      redisOptions,
      clusterRetryStrategy: (times) => retryStrategy(times),
      // Connects by name: certificates may hold nothing else, and `family` has an effect on names only.
      dnsLookup: (name, done) => done(null, name),
    });
  }
  if (kind === 'server') return new Redis({ ...all, ...nodes[0] });
  const { username, password, tls } = own;
  return new Redis({
    ...all,
    sentinels: nodes,
    name: name ?? '',
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    ...(sentinelAuth && username !== undefined && { sentinelUsername: username }),
    ...(sentinelAuth && password !== undefined && { sentinelPassword: password }),
  });
}

/**
 * Connects.
 * @throws QueueError `refused` (address, password, permission), `unavailable` after `startTimeoutMs`; the
 *   signal's reason when aborted
 */
export async function connectRedis(options: ConnectionOptions): Promise<RedisConnection> {
  const { logger, errors } = options;
  const address = readAddress(options.url);
  const redis = redisAt(options.url, {
    lazyConnect: true,
    // BullMQ requires null: commands wait until the connection is back. Our commands have a time limit.
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
    // With a retry strategy, `connect` rejects at the first failure although more attempts follow. So only `ready` counts.
    const ready = new Promise<void>((resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true });
      redis.once('ready', resolve);
      redis.on('error', (error) => {
        if (isRefusal(error))
          reject(new QueueError('refused', `Redis at ${address} refuses us: ${reasonOf(error)}`));
      });
    });
    redis.connect().catch(() => undefined);
    await within(ready, options.startTimeoutMs, `Redis at ${address}`);
    await within(redis.ping(), options.startTimeoutMs, `Redis at ${address}`);
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

/** Host and port, to be shown. @throws as `readRedisUrl` */
export function readAddress(url: string): string {
  const [{ host, port }] = readRedisUrl(url).nodes;
  return `${host}:${port}`;
}

/** Whether the server refuses us, so that it is no use to try again. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // When no server of a cluster answers, the cluster's error carries that of the last server.
  if ('lastNodeError' in error && isRefusal(error.lastNodeError)) return true;
  return /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index)/.test(error.message);
}

/** A second connection with the same options. */
export function duplicateOf(redis: RedisConnection): RedisConnection {
  return redis instanceof Cluster ? redis.duplicate() : redis.duplicate();
}

/** All servers that have keys of their own: the masters of a cluster. */
export function nodesOf(redis: RedisConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}
