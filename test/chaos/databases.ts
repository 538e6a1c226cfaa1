/** A Redis and a PostgreSQL that can be killed, put to sleep and started again on what they had written. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { postgresPrograms } from '../kit/servers/start-servers.ts';
import { freePort } from '../kit/wire/listening.ts';

const UP_TIMEOUT_MS = 60_000;

/** A server that keeps its data directory from one start to the next. */
export class Database {
  readonly name: string;
  readonly url: string;
  readonly #start: () => ChildProcess;
  readonly #port: number;
  #child: ChildProcess | undefined;

  constructor(name: string, url: string, port: number, start: () => ChildProcess) {
    this.name = name;
    this.url = url;
    this.#port = port;
    this.#start = start;
  }

  /**
   * Resolves when it takes connections. A PostgreSQL ends again as long as something of the one that was killed is left; then it
   * is started once more.
   */
  async start(): Promise<void> {
    const signal = AbortSignal.timeout(UP_TIMEOUT_MS);
    do {
      this.#child ??= this.#launched();
      await pause(50, undefined, { signal });
    } while (!(await answers(this.#port)));
  }

  #launched(): ChildProcess {
    const child = this.#start();
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }

  /** `SIGKILL`: as after a crash. `SIGINT`: PostgreSQL's fast shutdown, an ordinary one of Redis. */
  async end(how: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const exit = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(how);
    const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await exit;
    clearTimeout(limit);
  }

  sleep(asleep: boolean): void {
    this.#child?.kill(asleep ? 'SIGSTOP' : 'SIGCONT');
  }
}

export async function redisIn(directory: string, fsync: 'everysec' | 'always'): Promise<Database> {
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const home = join(directory, 'redis');
  mkdirSync(home);
  const configuration = join(home, 'redis.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${home}`,
    'save ""',
    'appendonly yes',
    `appendfsync ${fsync}`,
    'databases 1',
  ];
  writeFileSync(configuration, lines.join('\n'), { mode: 0o600 });
  const log = openSync(join(directory, 'redis.log'), 'a');
  const start = () => spawn('redis-server', [configuration], { stdio: ['ignore', log, log] });
  return new Database(`Redis (${fsync})`, `redis://:${password}@127.0.0.1:${port}`, port, start);
}

export async function postgresIn(directory: string): Promise<Database> {
  const { initdb, postgres, user } = await postgresPrograms();
  const home = join(directory, 'postgres');
  mkdirSync(home);
  if (user !== undefined) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  const options = { ...user, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const made = ['-D', data, '-U', 'tester', '--auth=trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(initdb, made, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const log = openSync(join(directory, 'postgres.log'), 'a');
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const start = () => spawn(postgres, args, { ...options, stdio: ['ignore', log, log] });
  return new Database('PostgreSQL', `postgresql://tester@127.0.0.1:${port}/postgres`, port, start);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(1_000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
