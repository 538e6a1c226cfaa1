/**
 * Platen's own PostgreSQL, for a machine where nobody configured one.
 *
 * The same engine as a big deployment's, from binaries that npm brings, in a directory that the caller names:
 *
 *     DIR/postgres/data     the cluster, and on POSIX its socket
 *     DIR/postgres.key      the password of its owner (0600); the service has a role of its own: embedded-roles.ts
 *     DIR/postgres.lock     see embedded-lock.ts
 *
 * It listens on a Unix socket and on no network address (Windows: on a loopback port), and asks for a password
 * there. PostgreSQL refuses to run as root: started by root, it runs as the owner of the directory, or as
 * `nobody`. It ends with its parent (embedded-supervisor.ts). Trade-off: a second process in between costs
 * 40 MB, and is the one arrangement that leaves no database behind after a SIGKILL. A database that ends by itself is
 * started again.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chown, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { prepareBinaries, type RunAs } from './embedded-binaries.ts';
import { makeCluster, OWNER, ownPassword, SERVICE, servicePassword } from './embedded-cluster.ts';
import { EmbeddedError, reasonOf } from './embedded-error.ts';
import { lockDirectory } from './embedded-lock.ts';
import type { EmbeddedConnection } from './embedded-roles.ts';
import { chooseAddress, type RunningServer, runServer, type ServerPlan } from './embedded-server.ts';
import { stopSurvivor } from './embedded-survivor.ts';

/** The part of a pino logger that is used here. */
interface EmbeddedLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EmbeddedOptions {
  /** All of the database's files go under it. Made when missing. */
  dataDir: string;
  logger?: EmbeddedLogger;
  /** Gives the start up. */
  signal?: AbortSignal;
  /** Called once if the database ends without `stop` having been called, and cannot be started again. */
  onLost?: (error: EmbeddedError) => void;
  /** How long the first answer may take, ms; long enough for crash recovery. */
  startTimeoutMs?: number;
  /** Connections that the service's pool may have; 16 without it. */
  poolSize?: number;
}

export interface EmbeddedPostgres {
  /** Of the service's role. The same after the database was started again. */
  readonly poolConfig: EmbeddedConnection;
  /** Process ID of the database server. */
  readonly pid: number;
  /** Fast shutdown: open connections are closed, what was committed is on disk. Idempotent. */
  stop(): Promise<void>;
}

const DATABASE = 'platen';
/** A database that ends by itself more often than this, within so many ms, is not started once more. */
const RESTARTS = { most: 5, within: 10 * 60_000 };
/** How long a database that ended may be in the way of its successor, ms: its processes end one after the other. */
const CLEARING_MS = 15_000;

/**
 * Starts the database of `dataDir`, making it at the first start.
 * @throws EmbeddedError every code but `lost`; the signal's reason when it is aborted
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { signal, logger } = options;
  signal?.throwIfAborted();
  const directory = await ownDirectory(options.dataDir);
  const lock = lockDirectory(directory);
  try {
    const runAs = unprivileged(directory);
    const binaries = await prepareBinaries(directory, runAs);
    const home = join(directory, 'postgres');
    await mkdir(home, { recursive: true, mode: 0o700 });
    if (runAs !== undefined) await chown(home, runAs.uid, runAs.gid);
    const data = join(home, 'data');
    await stopSurvivor(data, signal);
    const password = await ownPassword(directory);
    if (!existsSync(join(data, 'PG_VERSION'))) {
      logger?.info({ dataDir: directory }, 'making the database');
      await makeCluster({ home, data, binaries, runAs, password, signal });
    }
    const address = await chooseAddress(data);
    const { host, port } = address;
    const owner = { host, port, user: OWNER, password, database: DATABASE };
    const service = { ...owner, user: SERVICE, password: servicePassword(password) };
    const { startTimeoutMs = 60_000, poolSize = 16 } = options;
    const onLine = (line: string) => logger?.debug({ line }, 'database');
    const plan = { data, binaries, runAs, address, owner, service, onLine, startTimeoutMs, poolSize, signal };
    return keepRunning(plan, await firstRun(plan), options, () => lock.release());
  } catch (error) {
    lock.release();
    if (error instanceof EmbeddedError || signal?.aborted) throw error;
    throw new EmbeddedError('directory-unusable', `${directory} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** @param release called once, when the database has ended for good */
function keepRunning(
  plan: ServerPlan,
  first: RunningServer,
  { logger, onLost }: EmbeddedOptions,
  release: () => void,
): EmbeddedPostgres {
  let running = first;
  let stopping: Promise<void> | undefined;
  const stopped = new AbortController();
  logger?.info({ databasePid: first.pid }, 'database started');
  const over = (async () => {
    const ends: number[] = [];
    for (;;) {
      const said = await running.exited;
      if (stopped.signal.aborted) return;
      logger?.warn({ databasePid: running.pid, said }, 'the embedded PostgreSQL ended; it is started again');
      const now = performance.now();
      ends.push(now);
      if (ends.filter((at) => at > now - RESTARTS.within).length > RESTARTS.most) {
        throw new EmbeddedError('lost', `The embedded PostgreSQL ended again and again: ${said}`);
      }
      running = await again({ ...plan, signal: stopped.signal });
      if (stopped.signal.aborted) return await running.stop();
      logger?.info({ databasePid: running.pid }, 'database started again');
    }
  })()
    .catch((error: unknown) => {
      if (stopped.signal.aborted) return;
      const lost = new EmbeddedError('lost', `The embedded PostgreSQL is lost: ${reasonOf(error)}`, {
        cause: error,
      });
      logger?.error({}, lost.message);
      onLost?.(lost);
    })
    .finally(release);
  return {
    poolConfig: plan.service,
    get pid() {
      return running.pid;
    },
    stop() {
      stopping ??= (async () => {
        stopped.abort();
        await running.stop();
        await over;
        logger?.info({}, 'database stopped');
      })();
      return stopping;
    },
  };
}

/** The first run. A database that is killed while it starts is started again. @throws EmbeddedError */
async function firstRun(plan: ServerPlan): Promise<RunningServer> {
  try {
    return await runServer(plan);
  } catch (error) {
    if (error instanceof EmbeddedError && error.code === 'killed-at-start') return await again(plan);
    throw error;
  }
}

/** Another run, as soon as nothing of the one before is in its way. @throws EmbeddedError */
async function again(plan: ServerPlan): Promise<RunningServer> {
  const deadline = performance.now() + CLEARING_MS;
  for (;;) {
    try {
      await stopSurvivor(plan.data, plan.signal);
      return await runServer(plan);
    } catch (error) {
      plan.signal?.throwIfAborted();
      if (performance.now() > deadline) throw error;
      await wait(200, undefined, { ...(plan.signal && { signal: plan.signal }) });
    }
  }
}

async function ownDirectory(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true });
    return await realpath(dataDir);
  } catch (cause) {
    throw new EmbeddedError('directory-unusable', `${dataDir} cannot be used: ${reasonOf(cause)}`, { cause });
  }
}

/** The user that the database runs as; undefined: ourselves, unless we are root. */
function unprivileged(directory: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const path of [join(directory, 'postgres'), directory]) {
    const owner = existsSync(path) ? statSync(path) : undefined;
    if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const nobody = readFileSync('/etc/passwd', 'utf8').match(/^nobody:[^:]*:(\d+):(\d+):/m);
  if (nobody === null) {
    throw new EmbeddedError(
      'directory-unusable',
      `PostgreSQL does not run as root, and there is no user "nobody": give ${directory} to another user`,
    );
  }
  return { uid: Number(nobody[1]), gid: Number(nobody[2]) };
}
