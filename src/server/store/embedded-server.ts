/** One run of the embedded PostgreSQL: its supervisor, its settings, its first answer, and its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, readFile, readlink, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Binaries, bareEnvironment } from './embedded-binaries.ts';
import { pathFromInside } from './embedded-cluster.ts';
import { EmbeddedError, reasonOf } from './embedded-error.ts';
import { type EmbeddedConnection, makeServiceRole } from './embedded-roles.ts';
import type { SupervisorPlan } from './embedded-supervisor.ts';
import type { Account } from './own-account.ts';

export interface ServerPlan {
  data: string;
  binaries: Binaries;
  runAs: Account | undefined;
  address: Address;
  /** The connection of the cluster's owner, to make the service's role with. */
  owner: EmbeddedConnection;
  service: EmbeddedConnection;
  onLine(line: string): void;
  signal: AbortSignal | undefined;
  startTimeoutMs: number;
  /** Most connections of the service's pool. */
  poolSize: number;
}

export interface RunningServer {
  /** Process ID of the database server. */
  pid: number;
  /** Resolves when the database has ended, whether or not `stop` was called, with the last lines that it logged. */
  exited: Promise<string>;
  /** Fast shutdown. Idempotent. */
  stop(): Promise<void>;
}

/** On POSIX, PostgreSQL listens on no port, but the name of its socket contains this number. */
const POSIX_PORT = 5432;
/** Longest path of a socket: `sun_path` holds 108 bytes on Linux and 104 on macOS, with a NUL at the end. */
const SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;
const PATIENCE_MS = 5_000;
/** The supervisor's exit code if a signal has ended the database. A shell reports a SIGKILL with the same code. */
const KILLED = 137;

/**
 * Starts the database. Resolves when it answers the service.
 * @throws EmbeddedError `start-failed`, `killed-at-start`, `directory-unusable`; the signal's reason if it is aborted
 */
export async function runServer(plan: ServerPlan): Promise<RunningServer> {
  const { data, binaries, runAs, address, signal } = plan;
  await makeWay(address, data);
  const supervised: SupervisorPlan = {
    command: binaries.postgres,
    args: ['-D', pathFromInside(data), ...settings(address.port, plan.poolSize)],
    cwd: data,
    pgCtl: binaries.pgCtl,
    ...(runAs && { runAs }),
    remove: address.shortWay === undefined ? [] : [address.shortWay],
    patienceMs: PATIENCE_MS,
    killedCode: KILLED,
  };
  const supervisor = spawn(
    process.execPath,
    [fileURLToPath(new URL('./embedded-supervisor.ts', import.meta.url)), JSON.stringify(supervised)],
    {
      detached: true,
      cwd: data,
      env: bareEnvironment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      windowsHide: true,
    },
  );
  const lastLines: string[] = [];
  const lines = createInterface({ input: supervisor.stderr });
  lines.on('line', (line) => {
    if (lastLines.push(line) > 5) lastLines.shift();
    plan.onLine(line);
  });
  // The pipes break when the supervisor ends. Only its exit counts, so these errors are ignored.
  lines.on('error', () => undefined);
  supervisor.stdin.on('error', () => undefined);
  const exited = new Promise<string>((resolve) => {
    supervisor.once('exit', () => resolve(lastLines.join(' | ')));
    supervisor.once('error', (error) => resolve(error.message));
  });
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      supervisor.ref();
      supervisor.stdin.end();
      // The supervisor itself goes from a fast shutdown to an immediate one, and then kills the database. This deadline is for
      // a supervisor that hangs.
      const deadline = AbortSignal.timeout(4 * PATIENCE_MS);
      await Promise.race([exited, once(deadline, 'abort')]);
      if (supervisor.exitCode === null && supervisor.signalCode === null) supervisor.kill('SIGKILL');
    })();
    return stopping;
  };

  try {
    const ended = exited.then((said) => {
      const code = supervisor.exitCode === KILLED ? 'killed-at-start' : 'start-failed';
      throw new EmbeddedError(code, `PostgreSQL ended at its start: ${said}`);
    });
    const limit = AbortSignal.timeout(plan.startTimeoutMs);
    await Promise.race([ended, answer(plan, signal ? AbortSignal.any([signal, limit]) : limit)]);
  } catch (error) {
    await stop();
    signal?.throwIfAborted();
    if (error instanceof EmbeddedError) throw error;
    throw new EmbeddedError('start-failed', `PostgreSQL did not start: ${reasonOf(error)}`, { cause: error });
  }
  const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
  // Platen's process need not keep running because of the database.
  supervisor.unref();
  unreferenced(supervisor.stdin);
  unreferenced(supervisor.stderr);
  return { pid, exited, stop };
}

function unreferenced(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}

function settings(port: number, poolSize: number): string[] {
  const values: Record<string, string | number> = {
    port,
    listen_addresses: process.platform === 'win32' ? '127.0.0.1' : '',
    // The working directory, which is the data directory.
    unix_socket_directories: process.platform === 'win32' ? '' : '.',
    unix_socket_permissions: '0700',
    cluster_name: 'platen',
    // Besides the service's pool, the queue has a pool of its own, and one connection LISTENs.
    max_connections: Math.max(250, poolSize + 50),
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
    // Errors go only to the client that caused them. In a log they would show values of statements, which are personal data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Where clients reach the database. */
interface Address {
  host: string;
  port: number;
  /** A directory that gives the socket a short path. It is made for every run, and removed when the run ends. */
  shortWay: string | undefined;
}

/** Chooses the address. It stays the same when the database is started again. */
export async function chooseAddress(data: string): Promise<Address> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: await freePort(), shortWay: undefined };
  if (Buffer.byteLength(join(data, `.s.PGSQL.${POSIX_PORT}`)) <= SOCKET_PATH_BYTES) {
    return { host: data, port: POSIX_PORT, shortWay: undefined };
  }
  // The path is too long for a socket's address. So a symbolic link makes a short way to the same directory.
  const shortWay = await mkdtemp(join(tmpdir(), 'platen-'));
  await symlink(data, join(shortWay, 's'));
  return { host: join(shortWay, 's'), port: POSIX_PORT, shortWay };
}

/**
 * Makes the short way again after a run has removed it.
 * @throws EmbeddedError `directory-unusable` if something else has been put in its place
 */
export async function makeWay({ shortWay, host }: Address, data: string): Promise<void> {
  if (shortWay === undefined) return;
  try {
    await mkdir(shortWay, { mode: 0o700 });
    await symlink(data, host);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const there = await lstat(shortWay);
    const ours = there.isDirectory() && there.uid === process.getuid?.() && (there.mode & 0o077) === 0;
    if (ours && (await readlink(host)) === data) return;
    throw new EmbeddedError('directory-unusable', `${shortWay} is not Platen's any more: remove it`);
  }
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

/** Resolves when the database answers, and the service's role and database are made. */
async function answer({ owner, service }: ServerPlan, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await makeServiceRole(owner, service);
    } catch (error) {
      if (!isStarting(error)) throw error;
      await wait(20, undefined, { signal });
    }
  }
}

/**
 * Whether the error only means that the database is still starting: there is no socket yet, it says "starting up" (57P03), or
 * it does not answer in time, because the machine has slept or is busy.
 */
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // This error is pg's own, and has no code.
  if (error instanceof Error && error.message === 'timeout expired') return true;
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03';
}
