/** Where database and queues are, for a service and its agents. */
import { CommandFailure } from './failure.ts';

/** What node-postgres takes: an address, or where the server's Unix socket is. */
export const DATABASE_ADDRESS = /^(postgres(ql)?:\/\/|socket:|\/)/;
export const DATABASE_EXPECTED =
  'expected a postgres:// or postgresql:// address, or a Unix socket: socket:/DIRECTORY?db=NAME&user=NAME, or "/DIRECTORY NAME"';

/** Whether node-postgres can read it: its addresses may leave out the host (`postgres://lab@/db`), which no URL may. */
export function isDatabaseUrl(address: string): boolean {
  return URL.canParse(address.replace('@/', '@host/'), 'postgres://host');
}
export const DATABASE_NO_URL =
  'is not a URL: a / ? # or @ in its password has to be percent-encoded (%2F, %3F, %23, %40)';

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
export function placesFromEnv(env: Readonly<NodeJS.ProcessEnv> = process.env): Places {
  // A variable that is empty, as compose files and units may make it, counts as not set.
  const databaseUrl = env['DATABASE_URL'] || undefined;
  // The message does not repeat the value, which may hold a password. The queue checks REDIS_URL like this.
  if (databaseUrl !== undefined && !DATABASE_ADDRESS.test(databaseUrl)) {
    throw new CommandFailure(`DATABASE_URL: ${DATABASE_EXPECTED}`);
  }
  if (databaseUrl !== undefined && !isDatabaseUrl(databaseUrl)) {
    throw new CommandFailure(`DATABASE_URL ${DATABASE_NO_URL}`);
  }
  return {
    databaseUrl,
    redisUrl: env['REDIS_URL'] || undefined,
    queuePrefix: env['PLATEN_QUEUE_PREFIX'] || undefined,
  };
}
