/**
 * Platen's own PostgreSQL, for a machine where nobody has configured one.
 *
 * It is the same engine as in a big deployment. npm brings its binaries, and the caller names its directory:
 *
 *     DIR/postgres/data     the cluster, and on POSIX its socket
 *     DIR/postgres.key      the password of its owner (0600); the service has a role of its own: embedded-roles.ts
 *     DIR/postgres.lock     see embedded-lock.ts
 *
 * It listens on a Unix socket and on no network address (on Windows: on a loopback port), and asks for a password there.
 * PostgreSQL refuses to run as root. If root starts it, it runs as the owner of the directory. If the owner is root, it runs
 * under an account of Platen's own (own-account.ts), because every other program under its account can change its files
 * through `/proc`. It ends with its parent (embedded-supervisor.ts). The process in between costs 40 MB, but nothing else makes
 * sure that no database is left behind after a SIGKILL. A database that ends by itself is started again.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
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
  /** The directory for all of the database's files. It is made if it is missing. */
  dataDir: string;
  logger?: EmbeddedLogger;
  /** Aborts the start. */
  signal?: AbortSignal;
  /** Called once if the database ends before `stop` is called, and cannot be started again. */
  onLost?: (error: EmbeddedError) => void;
  /** How long the first answer may take, ms. It must be long enough for crash recovery. */
  startTimeoutMs?: number;
  /** Most connections of the service's pool; 16 by default. */
  poolSize?: number;
}

export interface EmbeddedPostgres {
  /** For the service's role. It stays the same when the database is started again. */
  readonly poolConfig: EmbeddedConnection;
  /** Process ID of the database server. */
  readonly pid: number;
  /** Fast shutdown: open connections are closed, and what was committed is on the disk. Idempotent. */
  stop(): Promise<void>;
}

/** If a database ends by itself more than `most` times within `within` ms, it is not started again. */
const RESTARTS = { most: 5, within: 10 * 60_000 };
/** How long an ended database may keep its successor from starting, ms: its processes end one after the other. */
const CLEARING_MS = 15_000;

/**
 * Starts the database of `dataDir`. The first start makes it.
 * @throws EmbeddedError every code but `lost`; the signal's reason if it is aborted
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
    if (runAs !== undefined) await giveTo(runAs, home, data);
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

/** Starts the database again whenever it ends by itself. @param release called once, when it has ended for good */
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

/** The first run. If the database is killed while it starts, it is started again. @throws EmbeddedError */
async function firstRun(plan: ServerPlan): Promise<RunningServer> {
  try {
    return await runServer(plan);
  } catch (error) {
    if (error instanceof EmbeddedError && error.code === 'killed-at-start') return await again(plan);
    throw error;
  }
}

/** Another run, as soon as nothing of the run before keeps it from starting. @throws EmbeddedError */
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
 * The account that the database runs under; undefined: our own, because we are not root.
 * @throws EmbeddedError `directory-unusable` if there is no safe account
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

/** Gives the database's files to the account. They belong to another one if, for example, a person has copied the directory. */
async function giveTo({ uid, gid }: Account, home: string, data: string): Promise<void> {
  if (statSync(data, { throwIfNoEntry: false })?.uid === uid) return await chown(home, uid, gid);
  // We do not walk through the directory ourselves: a program that still has it open could lead us out of it by a link.
  await promisify(execFile)('chown', ['-RhP', `${uid}:${gid}`, home], { timeout: 600_000 });
}
