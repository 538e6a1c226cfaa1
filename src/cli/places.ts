/** Where database and queues are, for a service and its agents. */
import { CommandFailure } from './failure.ts';

export interface Places {
  databaseUrl?: string | undefined;
  redisUrl?: string | undefined;
  /** Keeps deployments that share a Redis apart. */
  queuePrefix?: string | undefined;
}

/** What is set of some places, over others. */
export function placesOver(places: Places, others: Places): Places {
  const {
    databaseUrl = others.databaseUrl,
    redisUrl = others.redisUrl,
    queuePrefix = others.queuePrefix,
  } = places;
  return { databaseUrl, redisUrl, queuePrefix };
}

/** Where the environment says that database and queues are; nothing: both are embedded. */
export function placesFromEnv(): Places {
  // A variable that is set to nothing, as compose files and units make it, is not set.
  const databaseUrl = process.env['DATABASE_URL'] || undefined;
  // Its value may hold a password. The queue looks at REDIS_URL in the same way.
  if (databaseUrl !== undefined && !/^(postgres(ql)?:\/\/|socket:|\/)/.test(databaseUrl)) {
    throw new CommandFailure('DATABASE_URL is neither a postgres:// nor a postgresql:// address');
  }
  return {
    databaseUrl,
    redisUrl: process.env['REDIS_URL'] || undefined,
    queuePrefix: process.env['PLATEN_QUEUE_PREFIX'] || undefined,
  };
}
