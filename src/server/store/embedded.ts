/**
 * Platen's own PostgreSQL, for a machine where nobody configured one.
 *
 * The same engine as a big deployment's, from binaries that npm brings, in a directory that the caller names:
 *
 *     DIR/postgres/data     the cluster, and on POSIX its socket
 *     DIR/postgres.key      the password of its only user (0600)
 *     DIR/postgres.lock     see embedded-lock.ts
 *
 * It listens on a Unix socket and on no network address (Windows: on a loopback port), and asks for a password
 * there. PostgreSQL refuses to run as root: started by root, it runs as the owner of the directory, or as
 * `nobody`. It ends with its parent (embedded-supervisor.ts). Trade-off: a second process in between costs
 * 40 MB, and is the one arrangement that leaves no database behind after a SIGKILL.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { type Binaries, bareEnvironment, prepareBinaries, type RunAs } from './embedded-binaries.ts';
import { makeCluster, ownPassword, pathFromInside, USER } from './embedded-cluster.ts';
import { EmbeddedError, reasonOf } from './embedded-error.ts';
import { lockDirectory } from './embedded-lock.ts';
import type { SupervisorPlan } from './embedded-supervisor.ts';
import { stopSurvivor } from './embedded-survivor.ts';

/** The part of a pino logger that is used here. */
export interface EmbeddedLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EmbeddedOptions {
  /** All of the database's files go under it. Made when missing. */
  dataDir: string;
  logger?: EmbeddedLogger;
  /** Gives the start up. */
  signal?: AbortSignal;
  /** Called once if the database ends without `stop` having been called. */
  onLost?: (error: EmbeddedError) => void;
  /** How long the first answer may take, ms; long enough for crash recovery. */
  startTimeoutMs?: number;
}

/** What `pg.Pool` and `pg.Client` take. It holds the password: keep it out of logs. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

export interface EmbeddedPostgres {
  readonly poolConfig: EmbeddedConnection;
  /** Process ID of the database server. */
  readonly pid: number;
  /** Fast shutdown: open connections are closed, what was committed is on disk. Idempotent. */
  stop(): Promise<void>;
}

const DATABASE = 'platen';
/** The name of the socket is made from it; on POSIX nothing listens on a port. */
const POSIX_PORT = 5432;
/** `sun_path` holds 108 bytes on Linux and 104 on macOS, with a NUL at the end. */
const SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;
const PATIENCE_MS = 5_000;

/**
 * Starts the database of `dataDir`, making it at the first start.
 * @throws EmbeddedError every code but `lost`; the signal's reason when it is aborted
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { signal } = options;
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
      options.logger?.info({ dataDir: directory }, 'making the database');
      await makeCluster({ home, data, binaries, runAs, password, signal });
    }
    return await startServer({ ...options, data, binaries, runAs, password, release: () => lock.release() });
  } catch (error) {
    lock.release();
    if (error instanceof EmbeddedError || signal?.aborted) throw error;
    throw new EmbeddedError('directory-unusable', `${directory} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
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

/** Whom the database runs as: undefined, unless we are root. */
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

interface Server extends EmbeddedOptions {
  data: string;
  binaries: Binaries;
  runAs: RunAs | undefined;
  password: string;
  release: () => void;
}

async function startServer(server: Server): Promise<EmbeddedPostgres> {
  const { data, binaries, runAs, logger, signal } = server;
  const address = await chooseAddress(data);
  const plan: SupervisorPlan = {
    command: binaries.postgres,
    args: ['-D', pathFromInside(data), ...settings(address.port)],
    cwd: data,
    pgCtl: binaries.pgCtl,
    ...(runAs && { runAs }),
    remove: address.remove,
    patienceMs: PATIENCE_MS,
  };
  const supervisor = spawn(
    process.execPath,
    [fileURLToPath(new URL('./embedded-supervisor.ts', import.meta.url)), JSON.stringify(plan)],
    {
      detached: true,
      cwd: data,
      env: bareEnvironment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      windowsHide: true,
    },
  );
  const lastLines: string[] = [];
  createInterface({ input: supervisor.stderr }).on('line', (line) => {
    if (lastLines.push(line) > 5) lastLines.shift();
    logger?.debug({ line }, 'database');
  });
  // The pipe breaks when the supervisor ends; its exit is what counts.
  supervisor.stdin.on('error', () => undefined);
  const exited = new Promise<void>((resolve) => {
    supervisor.once('exit', () => resolve());
    supervisor.once('error', (error) => {
      lastLines.push(error.message);
      resolve();
    });
  }).finally(() => server.release());

  const connection: EmbeddedConnection = {
    host: address.host,
    port: address.port,
    user: USER,
    password: server.password,
    database: DATABASE,
  };
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      supervisor.ref();
      supervisor.stdin.end();
      // The supervisor itself goes from fast to immediate to kill; this is for a supervisor that hangs.
      const deadline = AbortSignal.timeout(4 * PATIENCE_MS);
      await Promise.race([exited, once(deadline, 'abort')]);
      if (supervisor.exitCode === null && supervisor.signalCode === null) supervisor.kill('SIGKILL');
      logger?.info({}, 'database stopped');
    })();
    return stopping;
  };

  try {
    const ended = exited.then(() => {
      throw new EmbeddedError('start-failed', `PostgreSQL ended at its start: ${lastLines.join(' | ')}`);
    });
    const limit = AbortSignal.timeout(server.startTimeoutMs ?? 60_000);
    await Promise.race([ended, answer(connection, signal ? AbortSignal.any([signal, limit]) : limit)]);
  } catch (error) {
    await stop();
    signal?.throwIfAborted();
    if (error instanceof EmbeddedError) throw error;
    throw new EmbeddedError('start-failed', `PostgreSQL did not start: ${reasonOf(error)}`, { cause: error });
  }
  const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
  void exited.then(() => {
    if (stopping !== undefined) return;
    const error = new EmbeddedError('lost', `The embedded PostgreSQL ended: ${lastLines.join(' | ')}`);
    logger?.error({ databasePid: pid }, error.message);
    server.onLost?.(error);
  });
  // The database lives as long as Platen, not the other way round.
  supervisor.unref();
  unreferenced(supervisor.stdin);
  unreferenced(supervisor.stderr);
  logger?.info({ databasePid: pid }, 'database started');
  return { poolConfig: connection, pid, stop };
}

function unreferenced(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}

function settings(port: number): string[] {
  const values: Record<string, string | number> = {
    port,
    listen_addresses: process.platform === 'win32' ? '127.0.0.1' : '',
    // The working directory, that is the data directory.
    unix_socket_directories: process.platform === 'win32' ? '' : '.',
    unix_socket_permissions: '0700',
    cluster_name: 'platen',
    // One LISTEN connection for each printer's worker.
    max_connections: 250,
    shared_buffers: '16MB',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    max_parallel_workers_per_gather: 0,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Errors go to the client that made them. In a log they would show values of statements: personal data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Where clients reach the database, and what was made for it and goes when it ends. */
async function chooseAddress(data: string): Promise<{ host: string; port: number; remove: string[] }> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: await freePort(), remove: [] };
  if (Buffer.byteLength(join(data, `.s.PGSQL.${POSIX_PORT}`)) <= SOCKET_PATH_BYTES) {
    return { host: data, port: POSIX_PORT, remove: [] };
  }
  // Too long a path for a socket address: a short way to the same directory.
  const short = await mkdtemp(join(tmpdir(), 'platen-'));
  await chmod(short, 0o700);
  await symlink(data, join(short, 's'));
  return { host: join(short, 's'), port: POSIX_PORT, remove: [short] };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

/** Resolves when the database answers, with our own database made in it. */
async function answer(connection: EmbeddedConnection, signal: AbortSignal): Promise<void> {
  for (;;) {
    const client = new Client({
      ...connection,
      database: 'postgres',
      connectionTimeoutMillis: 5_000,
      query_timeout: 30_000,
    });
    // An idle client's socket may break at any time; the query in hand then rejects.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      return;
    } catch (error) {
      if (!isStarting(error)) throw error;
      await wait(20, undefined, { signal });
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** No socket yet, or one that says "starting up" (57P03). */
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03';
}
