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
 * there. PostgreSQL refuses to run as root: started by root, it runs as the owner of the directory, or, where that
 * is root, as an account of Platen's own (own-account.ts): whoever else runs as its account can change its files
 * through `/proc`. It ends with its parent (embedded-supervisor.ts). Trade-off: a second process in between costs
 * 40 MB, and is the one arrangement that leaves no database behind after a SIGKILL. A database that ends by itself is
 * started again.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { USER } from '../../contract/own-user.ts';
import { prepareBinaries } from './embedded-binaries.ts';
import { DATABASE, makeCluster, OWNER, ownPassword, SERVICE, servicePassword } from './embedded-cluster.ts';
import { EmbeddedError, reasonOf } from './embedded-error.ts';
import { lockDirectory } from './embedded-lock.ts';
import type { EmbeddedConnection } from './embedded-roles.ts';
import { chooseAddress, type RunningServer, runServer, type ServerPlan } from './embedded-server.ts';
import { stopSurvivor } from './embedded-survivor.ts';
import { type Account, isNobodys, ownAccount } from './own-account.ts';

/** The part of a pino logger that is used here. */
interface EmbeddedLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface EmbeddedOptions {
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
    const runAs = unprivileged(directory, logger);
    const binaries = await prepareBinaries(directory, runAs);
    const home = join(directory, 'postgres');
    await mkdir(home, { recursive: true, mode: 0o700 });
    const data = join(home, 'data');
    await stopSurvivor(data, signal);
    if (runAs !== undefined) await giveTo(runAs, home, data, logger);
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

/**
 * The account that the database runs as; undefined: ourselves, unless we are root.
 * @throws EmbeddedError `directory-unusable` where there is none that is safe
 */
function unprivileged(directory: string, logger: EmbeddedLogger | undefined): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (isNobodys(directory)) {
    throw new EmbeddedError(
      'directory-unusable',
      `${directory} belongs to nobody, as whom other programs run too: chown root ${directory}`,
    );
  }
  for (const path of [join(directory, 'postgres'), directory]) {
    const owner = statSync(path, { throwIfNoEntry: false });
    if (owner !== undefined && owner.uid !== 0 && !isNobodys(path)) return { uid: owner.uid, gid: owner.gid };
  }
  try {
    return ownAccount(() => logger?.info({ user: USER }, 'made a system user, as whom the database runs'));
  } catch (cause) {
    throw new EmbeddedError(
      'directory-unusable',
      `PostgreSQL does not run as root, and there is no user "${USER}" (${reasonOf(cause)}): make that user, or give ${directory} to another one`,
      { cause },
    );
  }
}

/** Gives the account what belongs to another one, as after a person has copied the directory. */
async function giveTo(
  { uid, gid }: Account,
  home: string,
  data: string,
  logger: EmbeddedLogger | undefined,
): Promise<void> {
  if (isNobodys(home)) {
    const message = 'until now the database ran as nobody, and every program that runs so could change it';
    logger?.warn({ dataDir: dirname(home) }, message);
  }
  if (statSync(data, { throwIfNoEntry: false })?.uid === uid) return await chown(home, uid, gid);
  // Not our own walk: one who still has the directory open could lead that out of it by a link.
  await promisify(execFile)('chown', ['-RhP', `${uid}:${gid}`, home], { timeout: 600_000 });
}
