/** Where database and queues are, for a service and its agents. */
import { CommandFailure } from './failure.ts';

export interface Places {
  databaseUrl?: string | undefined;
  redisUrl?: string | undefined;
  /** Keeps deployments that share a Redis apart. */
  queuePrefix?: string | undefined;
}

/** The places; for those that are not set, the others. */
export function placesOver(places: Places, others: Places): Places {
  const {
    databaseUrl = others.databaseUrl,
    redisUrl = others.redisUrl,
    queuePrefix = others.queuePrefix,
  } = places;
  return { databaseUrl, redisUrl, queuePrefix };
}

/** The places that the environment names; where it names none, both are embedded. */
export function placesFromEnv(): Places {
  // A variable that is empty, as compose files and units may make it, counts as not set.
  const databaseUrl = process.env['DATABASE_URL'] || undefined;
  // The message does not repeat the value, which may hold a password. The queue checks REDIS_URL like this.
  if (databaseUrl !== undefined && !/^(postgres(ql)?:\/\/|socket:|\/)/.test(databaseUrl)) {
    throw new CommandFailure('DATABASE_URL is neither a postgres:// nor a postgresql:// address');
  }
  return {
    databaseUrl,
    redisUrl: process.env['REDIS_URL'] || undefined,
    queuePrefix: process.env['PLATEN_QUEUE_PREFIX'] || undefined,
  };
}
