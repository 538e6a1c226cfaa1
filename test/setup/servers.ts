/**
 * Vitest's global set-up: the real servers that the tests run against, once per run.
 *
 * A Redis and a PostgreSQL from the distribution, on loopback ports of their own, in a directory that is deleted
 * afterwards; nothing of the machine's own servers is touched. Installs what is missing when it may (root, apt),
 * and says what to install when it may not.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A real Redis, with a password. Tests share it: use `backends()`, which gives each a prefix of its own. */
    redisUrl: string;
    /** A superuser of a real PostgreSQL server, from which tests make databases of their own. */
    databaseUrl: string;
  }
}

const root = process.getuid?.() === 0;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  installMissing();
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-servers-'));
  const running: ChildProcess[] = [];
  const teardown = async () => {
    await Promise.all(running.map(stop));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    project.provide('redisUrl', await startRedis(directory, running));
    project.provide('databaseUrl', await startPostgres(running));
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

/** Debian package → whether it is there. The tesseract languages judge labels in those scripts. */
const NEEDED: Record<string, () => boolean> = {
  'redis-server': () => onPath('redis-server') !== undefined,
  postgresql: () => postgresBinaries() !== undefined,
  'poppler-utils': () => onPath('pdftoppm') !== undefined,
  'tesseract-ocr': () => onPath('tesseract') !== undefined,
  'tesseract-ocr-eng': () => hasLanguage('eng'),
  'tesseract-ocr-ell': () => hasLanguage('ell'),
  'tesseract-ocr-rus': () => hasLanguage('rus'),
  'tesseract-ocr-jpn': () => hasLanguage('jpn'),
  'tesseract-ocr-heb': () => hasLanguage('heb'),
  'tesseract-ocr-ara': () => hasLanguage('ara'),
  cups: () => onPath('cupsd') !== undefined,
  'cups-client': () => onPath('lpadmin') !== undefined,
  'cups-ipp-utils': () => onPath('ippeveprinter') !== undefined,
  // What ippeveprinter announces itself with.
  'avahi-daemon': () => onPath('avahi-daemon') !== undefined,
  dbus: () => onPath('dbus-daemon') !== undefined,
};

function installMissing(): void {
  const missing = Object.keys(NEEDED).filter((name) => NEEDED[name]?.() === false);
  if (missing.length === 0) return;
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
  if (!root || onPath('apt-get') === undefined) {
    throw new Error(
      `The tests need ${missing.join(', ')} (Debian's names). Install them: sudo ${install.join(' ')}`,
    );
  }
  process.stderr.write(`Installing ${missing.join(', ')} for the tests …\n`);
  // Debian's packages start servers and make clusters of their own; these two files keep them from it.
  const policy = '/usr/sbin/policy-rc.d';
  const cluster = '/etc/postgresql-common/createcluster.d/platen-tests.conf';
  const ours = [policy, cluster].filter((file) => !existsSync(file));
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (args: string[]) =>
    execFileSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 });
  try {
    if (ours.includes(policy)) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    if (ours.includes(cluster)) {
      execFileSync('mkdir', ['-p', '/etc/postgresql-common/createcluster.d']);
      writeFileSync(cluster, 'create_main_cluster = false\n');
    }
    try {
      apt(install.slice(1));
    } catch {
      // No package lists yet, or old ones.
      apt(['update']);
      apt(install.slice(1));
    }
  } finally {
    for (const file of ours) rmSync(file, { force: true });
  }
}

async function startRedis(directory: string, running: ChildProcess[]): Promise<string> {
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
      'appendonly no',
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

async function startPostgres(running: ChildProcess[]): Promise<string> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('no PostgreSQL in /usr/lib/postgresql');
  // PostgreSQL does not run as root.
  const runAs = root ? { uid: idOf('nobody', '-u'), gid: idOf('nobody', '-g') } : undefined;
  const home = mkdtempSync(join(tmpdir(), 'platen-test-postgres-'));
  const data = join(home, 'data');
  const passwordFile = join(home, 'password');
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runAs) {
    chownSync(home, runAs.uid, runAs.gid);
    chownSync(passwordFile, runAs.uid, runAs.gid);
  }
  const options = { ...runAs, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  execFileSync(
    join(bin, 'initdb'),
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
    { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    // Nobody needs this database after a power failure.
    'fsync=off',
  ].flatMap((setting) => ['-c', setting]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...settings], {
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
  const deadline = Date.now() + 20_000;
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

function onPath(command: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/bin', '/usr/sbin')
    .map((directory) => join(directory, command))
    .find((file) => existsSync(file));
}

function postgresBinaries(): string | undefined {
  const all = '/usr/lib/postgresql';
  if (!existsSync(all)) return undefined;
  return readdirSync(all)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(all, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

function hasLanguage(language: string): boolean {
  if (onPath('tesseract') === undefined) return false;
  return execFileSync('tesseract', ['--list-langs'], { encoding: 'utf8' }).split('\n').includes(language);
}

function idOf(user: string, flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
}
