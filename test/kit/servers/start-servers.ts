/**
 * A Redis from the distribution and a PostgreSQL, on loopback ports of their own, in directories that are deleted
 * afterwards; nothing of the machine's own servers is touched.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { prepareBinaries } from '../../../src/server/store/embedded-binaries.ts';
import type { Account } from '../../../src/server/store/own-account.ts';
import { nobody } from '../programs/ordinary-user.ts';
import { START_TIMEOUT_MS } from '../programs/programs.ts';
import { freePort } from '../wire/listening.ts';
import { onPath } from './debian-packages.ts';

export interface RunningServers {
  /** With a password; empty where Redis is not installed. */
  redisUrl: string;
  /** A superuser, who may make databases. */
  databaseUrl: string;
  stop(): Promise<void>;
}

/**
 * Resolves once both answer.
 * @param options.durable whether they sync to disk; without it they are faster, and lose all in a power failure
 */
export async function startServers(options: { durable: boolean }): Promise<RunningServers> {
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-servers-'));
  const running: ChildProcess[] = [];
  const teardown = async () => {
    await Promise.all(running.map(stop));
    rmSync(directory, { recursive: true, force: true });
  };
  const starting = [
    onPath('redis-server') === undefined ? '' : startRedis(directory, running, options.durable),
    startPostgres(running, options.durable),
  ] as const;
  try {
    const [redisUrl, databaseUrl] = await Promise.all(starting);
    return { redisUrl, databaseUrl, stop: teardown };
  } catch (error) {
    await Promise.allSettled(starting);
    await teardown();
    throw error;
  }
}

/** A Redis alone, not durable, for a service of a test's own. */
export async function startRedisAlone(): Promise<{ redisUrl: string; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-redis-'));
  const running: ChildProcess[] = [];
  const teardown = async () => {
    await Promise.all(running.map(stop));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return { redisUrl: await startRedis(directory, running, false), stop: teardown };
  } catch (error) {
    await teardown();
    throw error;
  }
}

async function startRedis(directory: string, running: ChildProcess[], durable: boolean): Promise<string> {
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const configuration = join(directory, 'redis.conf');
  writeFileSync(
    configuration,
    [
      'bind 127.0.0.1',
      `port ${port}`,
      `requirepass ${password}`,
      `dir ${directory}`,
      'save ""',
      // As deployments run it: on disk within a second.
      ...(durable ? ['appendonly yes', 'appendfsync everysec'] : ['appendonly no']),
      'databases 1',
    ].join('\n'),
    { mode: 0o600 },
  );
  const log = collect(running, spawn('redis-server', [configuration], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const url = `redis://:${password}@127.0.0.1:${port}`;
  await until('redis-server', log, async () => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 1_000 });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      await redis.ping();
    } finally {
      redis.disconnect();
    }
  });
  return url;
}

async function startPostgres(running: ChildProcess[], durable: boolean): Promise<string> {
  const { initdb, postgres, user } = await postgresPrograms();
  const home = mkdtempSync(join(tmpdir(), 'platen-test-postgres-'));
  const data = join(home, 'data');
  const passwordFile = join(home, 'password');
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) {
    chownSync(home, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  const options = { ...user, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  await promisify(execFile)(
    initdb,
    [
      '-D',
      data,
      '-U',
      'tester',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--no-sync',
    ],
    options,
  );
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    ...(durable ? [] : ['fsync=off']),
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn(postgres, ['-D', data, ...settings], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const log = collect(running, child);
  const url = `postgresql://tester:${password}@127.0.0.1:${port}/postgres`;
  await until('postgres', log, async () => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
    } finally {
      await client.end().catch(() => undefined);
    }
  });
  return url;
}

/** Keeps the last lines a server wrote, for the message when it does not come up. */
function collect(running: ChildProcess[], child: ChildProcess): () => string {
  let text = '';
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-2_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.on('error', (error) => keep(Buffer.from(error.message)));
  running.push(child);
  return () => text;
}

async function until(name: string, log: () => string, answers: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return await answers();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${name} did not start: ${log()}`, { cause: error });
      await wait(50);
    }
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  // Fast shutdown for PostgreSQL, an ordinary one for Redis.
  child.kill('SIGINT');
  const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(limit);
}

/** Debian's PostgreSQL, or the one from npm where that is not installed, and the user that it runs as: not as root. */
export async function postgresPrograms(): Promise<{
  initdb: string;
  postgres: string;
  user: Account | undefined;
}> {
  const [bin] = globSync('/usr/lib/postgresql/*/bin')
    .filter((path) => existsSync(join(path, 'initdb')))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const { initdb, postgres } =
    bin === undefined
      ? await prepareBinaries(tmpdir(), nobody)
      : { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  return { initdb, postgres, user: nobody };
}
