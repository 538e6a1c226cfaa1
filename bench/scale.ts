/**
 * `npm run bench:scale`: what many idle printers cost the servers, by the servers' own counters. On Redis:
 * one service, and agents with a connection each. On PostgreSQL, where the agent is in the service's process:
 * one `platen up` with all printers.
 *
 *     npm run bench:scale [-- --agents 100] [--printers 50] [--seconds 60] [--only redis|postgres]
 *
 * `--printers` is the number for each agent. Counts hold on any machine, CPU figures only for this one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { z } from 'zod';
import { PLATEN } from '../test/kit/programs/built.ts';
import { installMissing, SERVERS } from '../test/kit/servers/debian-packages.ts';
import { listenToCommands } from '../test/kit/servers/redis-commands.ts';
import { startServers } from '../test/kit/servers/start-servers.ts';
import { temporaryDirectory } from '../test/kit/service/platen.ts';
import { round, table } from './figures.ts';
import { heading, machine } from './machine.ts';
import { resident } from './memory.ts';
import { cpuOf } from './processes.ts';
import type { scaleAgents } from './scale-agents.ts';

const SCRIPT = join(import.meta.dirname, 'scale-agents.ts');
/** Agents of one process. */
const TOGETHER = 25;
/** After this time the extra work of the start is over, s: leases asked for all together, old state read. */
const SETTLE = 45;
/** Limit for the start of everything, ms. */
const START_MS = 600_000;
const counted = z.object({ commits: z.int(), backends: z.int() });

const number = z.coerce.number().int().min(1);
const options = z
  .object({
    agents: number.max(1_000).default(100),
    printers: number.max(1_000).default(50),
    seconds: number.max(3_600).default(60),
    only: z.enum(['redis', 'postgres']).optional(),
  })
  .parse(
    parseArgs({
      options: {
        agents: { type: 'string' },
        printers: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
      },
    }).values,
  );
const { agents, printers, seconds, only } = options;

const on = machine();
installMissing(SERVERS);
const rows: string[][] = [];
if (only !== 'postgres') rows.push(...(await measureRedis()));
if (only !== 'redis') rows.push(...(await measurePostgres()));
process.stdout.write(`\n${heading(on)}\n\n${agents} agents, ${agents * printers} printers, ${seconds} s\n\n`);
process.stdout.write(`${table([['on', 'what', 'idle'], ...rows])}\n`);

async function measureRedis(): Promise<string[][]> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const { redisUrl, databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const env = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl };
  const service = await started(stack, PLATEN, ['server', '--data', directory, '--port', '0'], env);
  const groups = Array.from({ length: Math.ceil(agents / TOGETHER) }, (_, at) => at * TOGETHER);
  await Promise.all(
    groups.map((first) =>
      startedAgents(stack, {
        ...{ directory, redisUrl, first, printers },
        agents: Math.min(TOGETHER, agents - first),
      }),
    ),
  );
  const redis = new Redis(redisUrl);
  stack.defer(() => redis.disconnect());
  const sent = new Map<string, number>();
  const listening = await listenToCommands(new URL(redisUrl), (name, source) => {
    if (source !== 'lua') sent.set(name, (sent.get(name) ?? 0) + 1);
  });
  stack.defer(() => listening.stop());
  await pause(SETTLE * 1_000);
  const database = await looking(stack, databaseUrl);
  sent.clear();
  const before = await carriedOut(redis);
  const measured = await overTime(service, database);
  const after = await carriedOut(redis);
  // The benchmark itself sent the two INFO commands.
  sent.delete('info');
  const all = [...sent.values()].reduce((sum, calls) => sum + calls, 0);
  const most = [...sent]
    .sort(([, a], [, b]) => b - a)
    .map(([name, calls]) => `${name} ${round(calls / seconds)}`);
  const connected = /connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1];
  return [
    ['Redis', 'commands/s that it was sent', `${round(all / seconds)} (${most.slice(0, 6).join(', ')})`],
    ['', 'commands/s with those inside scripts', String(round((after - before) / seconds))],
    ['', 'connections', String(Number(connected) - 2)],
    ...measured,
  ];
}

async function measurePostgres(): Promise<string[][]> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const { databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const uris = await startedAgents(stack, { directory, redisUrl: null, first: 0, agents, printers });
  const config = join(directory, 'agent.json');
  writeFileSync(config, JSON.stringify({ printers: uris.map((uri) => ({ uri })) }));
  const args = ['up', '--data', directory, '--port', '0', '--virtual', '0', '--agent-config', config];
  const service = await started(stack, PLATEN, args, { DATABASE_URL: databaseUrl });
  const database = await looking(stack, databaseUrl);
  const deadline = Date.now() + START_MS;
  for (;;) {
    const { rows } = await database.query('SELECT count(*)::int AS leases FROM lanes.lease');
    if (Number(rows[0]?.leases) >= uris.length) break;
    if (Date.now() > deadline) throw new Error(`only ${rows[0]?.leases} printers have a lease`);
    await pause(500);
  }
  await pause(SETTLE * 1_000);
  return (await overTime(service, database)).map((row, at) =>
    at === 0 ? ['PostgreSQL', ...row.slice(1)] : row,
  );
}

/** Waits for the measured time; returns the rows of PostgreSQL and of the service for it. */
async function overTime(service: ChildProcess, database: Client): Promise<string[][]> {
  const pid = service.pid ?? 0;
  const commits = async () => {
    const sql =
      'SELECT sum(xact_commit)::int AS commits, sum(numbackends)::int AS backends FROM pg_stat_database';
    return counted.parse((await database.query(sql)).rows[0]);
  };
  const before = await commits();
  const cpuBefore = cpuOf(pid);
  await pause(seconds * 1_000);
  const share = ((cpuOf(pid) - cpuBefore) / 1_000 / seconds) * 100;
  const after = await commits();
  return [
    ['', 'commits/s in PostgreSQL', String(round((after.commits - before.commits) / seconds))],
    ['', 'connections to PostgreSQL', String(after.backends - 1)],
    ['', 'RSS of the service, MB', String(resident(pid)?.now)],
    ['', 'CPU of the service, % of a core', share.toFixed(1)],
  ];
}

/** How many commands Redis has carried out, those inside scripts included. */
async function carriedOut(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function looking(stack: AsyncDisposableStack, connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  stack.defer(() => client.end());
  return client;
}

/** Starts a process of `scale-agents.ts`. @returns the printers' addresses where it starts printers alone */
async function startedAgents(
  stack: AsyncDisposableStack,
  what: z.input<typeof scaleAgents>,
): Promise<string[]> {
  const args = [SCRIPT, JSON.stringify(what)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  stack.defer(() => ended(child));
  const line = await firstLine(child, (text) => text === 'ready' || text.startsWith('['));
  return line === 'ready' ? [] : z.array(z.string()).parse(JSON.parse(line));
}

async function started(
  stack: AsyncDisposableStack,
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<ChildProcess> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...own } = process.env;
  const child = spawn(program, args, { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
  stack.defer(() => ended(child));
  await firstLine(child, (text) => text.startsWith('platen is ready at '));
  return child;
}

/** @throws Error when it ends before, or takes too long */
async function firstLine(child: ChildProcess, wanted: (line: string) => boolean): Promise<string> {
  if (child.stdout === null) throw new Error('it has no output');
  const signal = AbortSignal.timeout(START_MS);
  for await (const line of createInterface({ input: child.stdout, signal })) {
    if (wanted(line)) {
      child.stdout.resume();
      return line;
    }
  }
  throw new Error(`a program was not ready, and ended with ${child.exitCode}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exit;
  clearTimeout(limit);
}
