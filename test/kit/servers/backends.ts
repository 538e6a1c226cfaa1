/**
 * The three combinations that the product runs on, for tests that must hold on each:
 *
 *     describe.each(backends())('$name', ({ open }) => { … const backend = await open(); … await backend.close(); });
 *
 * `backends()` has to be called where a file is read, and not in a test: it ends the embedded server with the
 * file. `open` gives an empty database (or one that is migrated), and an unused prefix in Redis.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type PoolConfig } from 'pg';
import { afterAll, inject } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../../src/server/store/embedded.ts';
import type { TestGateway } from '../queue/over-gateway.ts';
import { placeCluster } from './made-cluster.ts';
import { MIGRATED } from './migrated-database.ts';

export interface OpenBackend {
  /** For `pg.Pool` and for `openQueues`. */
  database: PoolConfig;
  /** The same as a URL, where there is one: what `DATABASE_URL` would be. */
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  /** For `openQueues`: keeps tests that share the Redis apart. */
  prefix: string;
  /** Set: agents reach their lanes through this, and not the database (`kit/queue/over-gateway.ts`). */
  gateway?: TestGateway;
  /** Drops the database, with whatever connections it still has. */
  close(): Promise<void>;
}

/** For a program that is to use a backend's database and Redis. */
export function environmentOf({ databaseUrl = '', redisUrl = '', prefix }: OpenBackend) {
  return { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, PLATEN_QUEUE_PREFIX: prefix };
}

export interface OpenOptions {
  /** The database has this version's schemas already, as at nearly every start; not the embedded one. */
  migrated?: boolean;
}

export interface BackendCase {
  name: string;
  kind: 'postgres' | 'redis';
  embedded: boolean;
  /** `npm test` tries it, and not only the long run. */
  first: boolean;
  open(options?: OpenOptions): Promise<OpenBackend>;
}

export function backends(): BackendCase[] {
  afterAll(stopEmbedded);
  return [
    {
      name: 'embedded PostgreSQL',
      kind: 'postgres',
      embedded: true,
      first: false,
      open: () => open(true, false, {}),
    },
    onServer(),
    ...(inject('redisUrl') === '' ? [] : [onRedis()]),
  ];
}

/** Of the cases of a `*.backends.test.ts`, those that this project tries: `servers` the first ones, `long` the others. */
export function tried(cases: readonly BackendCase[]): BackendCase[] {
  const isLong = inject('project') === 'long';
  return cases.filter(({ first }) => first !== isLong);
}

const ON_SERVERS = { embedded: false, first: true };

/** Without Redis. */
export function onServer(): BackendCase {
  return {
    ...ON_SERVERS,
    name: 'server PostgreSQL',
    kind: 'postgres',
    open: (asked) => open(false, false, asked),
  };
}

/** The one to take where the queue does not matter. Where Redis is not installed, it is in PostgreSQL too. */
export function onRedis(): BackendCase {
  if (inject('redisUrl') === '') return onServer();
  const name = 'server PostgreSQL + Redis';
  return { ...ON_SERVERS, name, kind: 'redis', open: (asked) => open(false, true, asked) };
}

// One embedded server for a test file; each `open` gets a database of its own in it.
let embedded: Promise<EmbeddedPostgres> | undefined;
let directory: string | undefined;

async function stopEmbedded(): Promise<void> {
  const [running, its] = [embedded, directory];
  embedded = directory = undefined;
  await running?.then((database) => database.stop());
  if (its !== undefined) rmSync(its, { recursive: true, force: true });
}

async function open(
  onEmbedded: boolean,
  onRedis: boolean,
  { migrated = false }: OpenOptions = {},
): Promise<OpenBackend> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const server: PoolConfig = onEmbedded
    ? (await sharedEmbedded()).poolConfig
    : { connectionString: inject('databaseUrl') };
  const admin = onEmbedded ? ownerOf(server) : server;
  await administer(admin, `CREATE DATABASE ${name}${migrated ? ` TEMPLATE ${MIGRATED}` : ''}`);
  if (onEmbedded) await administer(admin, `ALTER DATABASE ${name} OWNER TO ${server.user}`);
  let databaseUrl: string | undefined;
  if (!onEmbedded) {
    const url = new URL(inject('databaseUrl'));
    url.pathname = `/${name}`;
    databaseUrl = url.href;
  }
  return {
    database: databaseUrl === undefined ? { ...server, database: name } : { connectionString: databaseUrl },
    databaseUrl,
    redisUrl: onRedis ? inject('redisUrl') : undefined,
    prefix: name,
    close: () => administer(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** The superuser of an embedded cluster, who may make databases. */
function ownerOf(server: PoolConfig): PoolConfig {
  const password = readFileSync(join(directory ?? '', 'postgres.key'), 'utf8').trim();
  return { ...server, user: 'platen', password, database: 'postgres' };
}

function sharedEmbedded(): Promise<EmbeddedPostgres> {
  directory ??= mkdtempSync(join(tmpdir(), 'platen-test-embedded-'));
  const its = directory;
  embedded ??= placeCluster(directory).then(() => startEmbedded({ dataDir: its }));
  return embedded;
}

/** Runs one statement. */
export async function administer(admin: PoolConfig, sql: string): Promise<void> {
  await queried(admin, sql);
}

/** Runs one statement, on a connection of its own. @returns its rows */
export async function queried(
  database: PoolConfig,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client(database);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
