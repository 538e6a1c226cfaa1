/**
 * `npm run bench:scale`: what many idle printers cost the servers, by the servers' own counters. On Redis:
 * one service, and agents with a connection each. On PostgreSQL, where the agent is in the service's process:
 * one `platen up` with all printers. Over the gateway: one service, and agents at other sites. And what an agent at another site
 * does beside one straight on Redis (`beside-redis.ts`).
 *
 *     npm run bench:scale [-- --agents N] [--printers M] [--seconds 60] [--only redis|postgres|gateway|beside]
 *
 * `--printers` is the number for each agent: 50, of 100 agents, and 5 of 1,000 over the gateway. Counts and ratios hold on any
 * machine, CPU figures only for this one.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { z } from 'zod';
import { installMissing, SERVERS } from '../test/kit/servers/debian-packages.ts';
import { listenToCommands } from '../test/kit/servers/redis-commands.ts';
import { startServers } from '../test/kit/servers/start-servers.ts';
import { PlatenUp, temporaryDirectory, type UpOptions } from '../test/kit/service/platen.ts';
import { freePort } from '../test/kit/wire/listening.ts';
import { enrolled, START_MS, startedAgents } from './agents-apart.ts';
import { besideRedis } from './beside-redis.ts';
import { now, round, table } from './figures.ts';
import { heading, machine } from './machine.ts';
import { resident } from './memory.ts';
import { cpuOf } from './processes.ts';

/** Printers of one process. */
const TOGETHER = 1_250;
/** After this time the extra work of the start is over, s: leases asked for all together, old state read. */
const SETTLE = 45;
const counted = z.object({ commits: z.int(), backends: z.int() });

const number = z.coerce.number().int().min(1);
const options = z
  .object({
    agents: number.max(5_000).optional(),
    printers: number.max(1_000).optional(),
    seconds: number.max(3_600).default(60),
    only: z.enum(['redis', 'postgres', 'gateway', 'beside']).optional(),
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
const { seconds, only } = options;
const { agents = 100, printers = 50 } = options;
/** Agents at other sites. */
const sites = { agents: options.agents ?? 1_000, printers: options.printers ?? 5 };

const on = machine();
installMissing(SERVERS);
const rows: string[][] = [];
if (only === undefined || only === 'redis') rows.push(...(await measureRedis()));
if (only === undefined || only === 'postgres') rows.push(...(await measurePostgres()));
if (only === undefined || only === 'gateway') rows.push(...(await measureGateway()));
const beside =
  only === undefined || only === 'beside' ? await besideRedis(AbortSignal.timeout(START_MS)) : [];
process.stdout.write(`\n${heading(on)}\n`);
if (rows.length > 0) {
  const counts = `${agents} agents, ${agents * printers} printers; over the gateway ${sites.agents}, ${sites.agents * sites.printers}`;
  process.stdout.write(`\n${counts}; ${seconds} s\n\n`);
  process.stdout.write(`${table([['on', 'what', 'idle', 'goal'], ...rows])}\n`);
}
if (beside.length > 0) {
  const head = ['an agent', 'straight on Redis', 'over the gateway', 'the one by the other', 'goal'];
  process.stdout.write(`\n${table([head, ...beside])}\n`);
}

async function measureRedis(): Promise<string[][]> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const { redisUrl, databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const env = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl };
  const service = await started(stack, { command: 'server', dataDir: directory, env });
  await together({ agents, printers }, (group) =>
    startedAgents(stack, { directory, lanes: { redisUrl }, printers, ...group }),
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
  const uris = await startedAgents(stack, { directory, lanes: null, first: 0, agents, printers });
  const config = join(directory, 'agent.json');
  writeFileSync(config, JSON.stringify({ printers: uris.map((uri) => ({ uri })) }));
  const args = ['--virtual', '0', '--agent-config', config];
  const env = { DATABASE_URL: databaseUrl };
  const service = await started(stack, { command: 'up', dataDir: directory, args, env });
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

/** A service on PostgreSQL alone, and agents that have enrolled with it; then it is restarted. */
async function measureGateway(): Promise<string[][]> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const { databaseUrl, stop } = await startServers({ durable: true });
  stack.defer(stop);
  const start = (port: number) =>
    started(stack, {
      ...{ command: 'server', dataDir: directory, args: ['--port', String(port)] },
      env: { DATABASE_URL: databaseUrl },
    });
  const port = await freePort();
  const service = await start(port);
  const alone = resident(service.pid)?.now ?? 0;
  await enrolled(service, { directory, first: 0, agents: sites.agents });
  await together(sites, (group) =>
    startedAgents(stack, { directory, lanes: 'enrolled', printers: sites.printers, ...group }),
  );
  const database = await looking(stack, databaseUrl);
  await pause(SETTLE * 1_000);
  const measured = await overTime(service, database);
  const grown = ((resident(service.pid)?.now ?? 0) - alone) * 1_024;
  const restarted = now();
  const { rows: before } = await database.query('SELECT clock_timestamp() AS at');
  await service.stop();
  const sql =
    'SELECT count(*)::int AS count FROM platen.enrolled_agents WHERE session IS NOT NULL AND joined_at > $1';
  await start(port);
  const ready = now();
  const back = async () => {
    const { rows } = await database.query(sql, [before[0]?.at]);
    return Number(rows[0]?.count);
  };
  while ((await back()) < sites.agents) {
    if (now() - ready > START_MS) throw new Error(`only ${await back()} agents are back`);
    await pause(100);
  }
  const seconds = (now() - restarted) / 1_000;
  const away = (ready - restarted) / 1_000;
  const goals = ['≤ 25', 'about 30', '< 500', '< 8'];
  const bounds = [25, Number.POSITIVE_INFINITY, 500, 8];
  return [
    ...measured.map(([, what = '', idle = ''], at) => [
      ...[at === 0 ? 'the gateway' : '', what, idle],
      judged(goals[at] ?? '', Number(idle) <= (bounds[at] ?? 0)),
    ]),
    ['', 'memory of the service for an agent, KB', String(round(grown / sites.agents)), ''],
    [
      ...['', 'all agents back after SIGTERM of the service, s'],
      `${seconds.toFixed(1)} (${away.toFixed(1)} of them without it)`,
      judged('≤ 60', seconds <= 60),
    ],
  ];
}

function judged(goal: string, isReached: boolean): string {
  return `${goal}: ${isReached ? 'reached' : 'missed'}`;
}

/** Divides agents among processes, which start side by side. */
async function together(
  of: { agents: number; printers: number },
  start: (group: { first: number; agents: number }) => Promise<unknown>,
): Promise<void> {
  const size = Math.max(1, Math.floor(TOGETHER / of.printers));
  const groups = Array.from({ length: Math.ceil(of.agents / size) }, (_, at) => at * size);
  await Promise.all(groups.map((first) => start({ first, agents: Math.min(size, of.agents - first) })));
}

/** Waits for the measured time; returns the rows of PostgreSQL and of the service for it. */
async function overTime({ pid }: PlatenUp, database: Client): Promise<string[][]> {
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

async function started(stack: AsyncDisposableStack, options: UpOptions): Promise<PlatenUp> {
  const up = await PlatenUp.start(options);
  stack.defer(async () => void (await up.stop()));
  return up;
}
