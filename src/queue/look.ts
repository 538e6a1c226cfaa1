/** Asks a Redis or PostgreSQL server once for its version and clock, to tell a person what is wrong. */
import { PostgresClient } from './postgres/client.ts';
import { QueueError, reasonOf } from './queue-error.ts';
import { bellOf } from './redis/report-stream.ts';
import { within } from './within.ts';

interface ServerLook {
  /** `Redis 7.4.1` */
  server: string;
  /** The server's clock. */
  now: Date;
  /** How many services take the reports of agents under the prefix; null: the server does not say. */
  services: number | null;
}

/** @throws QueueError `unavailable`, `refused` */
export async function lookAtRedis(url: string, prefix: string, limitMs: number): Promise<ServerLook> {
  const { isRefusal, readAddress, redisAt } = await import('./redis/connection.ts');
  const address = readAddress(url);
  const redis = redisAt(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    connectTimeout: limitMs,
  });
  // `connect` throws only that the connection is closed. This event says why.
  let told: unknown;
  redis.on('error', (error) => {
    told = error;
  });
  const ask = async () => {
    await redis.connect();
    const info = await redis.info('server');
    const fields = new Map(
      info.split(/\r?\n/).map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1)]),
    );
    const field = (name: string) => fields.get(name);
    const microseconds = Number(field('server_time_usec'));
    // Not every user may ask this, and a server of a cluster counts only its own subscribers.
    const counted = redis.isCluster ? null : await redis.pubsub('NUMSUB', bellOf(prefix)).catch(() => null);
    return {
      server: field('valkey_version')
        ? `Valkey ${field('valkey_version')}`
        : `Redis ${field('redis_version')}`,
      now: new Date(microseconds > 0 ? microseconds / 1_000 : Number.NaN),
      services: Array.isArray(counted) ? Number(counted[1]) : null,
    };
  };
  try {
    return await within(ask(), limitMs, `Redis at ${address}`);
  } catch (error) {
    const refusal = [error, told].find(isRefusal);
    if (refusal !== undefined) {
      throw new QueueError('refused', `Redis at ${address} refuses us: ${reasonOf(refusal)}`);
    }
    if (error instanceof QueueError) throw error;
    throw new QueueError(
      'unavailable',
      `Redis at ${address} does not answer: ${told === undefined ? 'no answer' : reasonOf(told)}`,
    );
  } finally {
    redis.disconnect();
  }
}

/**
 * How many lanes under the prefix have jobs that wait or are being printed.
 * @throws QueueError `unavailable`; as `readAddress`
 */
export async function lanesWithJobs(url: string, prefix: string, limitMs: number): Promise<number> {
  const { readAddress, redisAt } = await import('./redis/connection.ts');
  const address = readAddress(url);
  const redis = redisAt(url, {
    lazyConnect: true,
    connectTimeout: limitMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  const lanes = new Set<string>();
  const count = async () => {
    await redis.connect();
    // Redis keeps a list only while something is in it.
    for (const node of 'nodes' in redis ? redis.nodes('master') : [redis])
      for (const list of ['wait', 'active'])
        for await (const keys of node.scanStream({ match: `${prefix}:{*}:${list}`, count: 1_000 }))
          for (const key of keys) lanes.add(String(key).slice(0, -list.length));
    return lanes.size;
  };
  try {
    return await within(count(), limitMs, `Redis at ${address}`);
  } finally {
    redis.disconnect();
  }
}

/** @throws QueueError `unavailable`, `refused` */
export async function lookAtPostgres(connectionString: string, limitMs: number): Promise<ServerLook> {
  const { hostname = '', port = '' } = URL.parse(connectionString) ?? {};
  const server = hostname === '' ? 'PostgreSQL' : `PostgreSQL at ${hostname}:${port || 5432}`;
  const client = new PostgresClient({
    connectionString,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; now: Date }>(
      `SELECT current_setting('server_version') AS version, now() AS now`,
    );
    const [row] = rows;
    return { server: `PostgreSQL ${row?.version}`, now: row?.now ?? new Date(Number.NaN), services: null };
  } catch (error) {
    const code =
      error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    // SQLSTATE class 28: wrong user or password; 3D: no such database; 42: missing permission.
    const refused = /^(28|3D|42)/.test(code);
    throw new QueueError(
      refused ? 'refused' : 'unavailable',
      `${server} ${refused ? 'refuses us' : 'does not answer'}: ${reasonOf(error)}`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
