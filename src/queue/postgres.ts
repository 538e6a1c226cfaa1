/**
 * The queues in PostgreSQL, in the schema `bullmq` of the service's own database.
 *
 * BullMQ gets no pool of node-postgres but one of ours, for three reasons: its workers would each keep a
 * connection for LISTEN (500 printers: 500 connections), and here share one; it takes a lost connection for a
 * fault of the job in hand, unless the error says ECONNREFUSED; and after an outage its first act would be to
 * take running jobs away from workers that could not renew their locks.
 */
import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createPostgresBackend,
  type PgPool,
  type PgPoolClient,
  type PgQueryResult,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  runMigrations,
} from 'bullmq';
import { Pool, type PoolConfig } from 'pg';
import {
  type Backend,
  NOTE_ORDER,
  PacedWorker,
  QUEUE_OPTIONS,
  RETRY_MS,
  type Stored,
  type StoredQueue,
  type StoredWorker,
  WORKER_OPTIONS,
} from './backend.ts';
import { isConnectionError } from './postgres-away.ts';
import { PostgresClient } from './postgres-client.ts';
import { makeLeases, postgresLeases } from './postgres-lease.ts';
import { keepOrder } from './postgres-order.ts';
import { type Bell, makeReports, PostgresReports } from './postgres-reports.ts';
import { QueueError, reasonOf } from './queue-error.ts';
import type { ErrorLog } from './queue-log.ts';

export interface PostgresOptions {
  /** Where the database is; limits of its own are set here. */
  database: PoolConfig;
  errors: ErrorLog;
  /** How long to try at the start, ms. */
  startTimeoutMs: number;
  signal: AbortSignal | undefined;
  /** How long a worker may be cut off before its job is taken away, ms. */
  lockDurationMs: number;
}

const SCHEMA = 'bullmq';

/**
 * Connects, and brings BullMQ's tables, our trigger and our leases up to date.
 * @throws QueueError `refused` (password, database, permission), `unavailable` after `startTimeoutMs`; when aborted
 */
export async function openPostgres(options: PostgresOptions): Promise<Backend> {
  const { errors } = options;
  const config: PoolConfig = {
    max: 10,
    ...options.database,
    application_name: 'platen-queue',
    options: `-c search_path=${SCHEMA}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    query_timeout: 15_000,
    Client: PostgresClient,
  };
  const pool = new Pool(config);
  pool.on('error', (error) => {
    // `pool.end` does not wait for its connections' ends: a database that stops right after may still be heard.
    if (!pool.ending) errors.report('queue connection lost', error);
  });
  // Of a connection that is checked out: whoever holds it is told by its next statement.
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await migrate(pool, options.startTimeoutMs, options.signal);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const shared: Shared = {
    pool,
    lastAway: 0,
    breaks: 0,
    lockDurationMs: options.lockDurationMs,
    ear: new Ear(config),
  };
  const direct = new QueuePool(shared, '');
  return {
    kind: 'postgres',
    reports: new PostgresReports(pool, reportBell(direct, shared.ear)),
    leases: postgresLeases((sql, values) => direct.query(sql, values)),
    async setNote({ queue, jobId, token, note, order, lockMs }) {
      const text = JSON.stringify({ ...note, [NOTE_ORDER]: `${order} ${token}` });
      const { rows } = await direct.query(
        `UPDATE job SET progress = $4::jsonb, locked_until_ms = $5
         WHERE queue = $1 AND id = $2 AND state = 'active' AND lock_token = $3
           AND CASE split_part(progress ->> '${NOTE_ORDER}', ' ', 2) WHEN $3
             THEN split_part(progress ->> '${NOTE_ORDER}', ' ', 1)::integer < $6 ELSE true END
         RETURNING id`,
        [queue, jobId, token, text, Date.now() + lockMs, order],
      );
      return rows.length > 0;
    },
    queue(name): StoredQueue {
      return new Queue<
        Stored,
        null,
        string,
        Stored,
        null,
        string,
        PostgresQueueBackend,
        PostgresConnectionOptions
      >(name, { ...QUEUE_OPTIONS, connection: new QueuePool(shared, name) }, createPostgresBackend);
    },
    worker(name, process, timing): StoredWorker {
      return new PacedWorker<PostgresQueueBackend, PostgresConnectionOptions>(
        name,
        process,
        { ...WORKER_OPTIONS, ...timing, drainDelay: 30, connection: new QueuePool(shared, name) },
        createPostgresBackend,
      );
    },
    breaks: () => shared.breaks,
    answers: () => true,
    ping: async () => void (await direct.query('SELECT 1', [])),
    async close() {
      await shared.ear.close();
      await pool.end();
    },
  };
}

async function migrate(pool: Pool, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      const client = await pool.connect();
      try {
        await runMigrations(client, SCHEMA);
        await keepOrder(client, SCHEMA);
        await makeLeases(client, SCHEMA);
        await makeReports(client, SCHEMA);
      } finally {
        client.release();
      }
      return;
    } catch (error) {
      if (!isConnectionError(error)) {
        throw new QueueError('refused', `The database cannot hold the queues: ${reasonOf(error)}`);
      }
      if (Date.now() > deadline) {
        throw new QueueError('unavailable', `The queue's database does not answer: ${reasonOf(error)}`);
      }
      await wait(Math.min(200, timeoutMs), undefined, { ...(signal && { signal }) });
    }
  }
}

interface Shared {
  pool: Pool;
  ear: Ear;
  /** When a query last failed for want of a connection; ms since 1970. */
  lastAway: number;
  /** How often that was. */
  breaks: number;
  lockDurationMs: number;
}

/** An error that BullMQ takes for a lost connection: it waits and asks again, and blames no job. */
class AwayError extends Error {
  readonly code = 'ECONNREFUSED';
}

/** What BullMQ takes for a pool; one for each Queue and Worker. */
class QueuePool implements PgPool {
  /** BullMQ looks here to see whether a dead connection is noticed. */
  readonly options = { keepAlive: true };
  readonly #shared: Shared;
  readonly #queue: string;

  constructor(shared: Shared, queue: string) {
    this.#shared = shared;
    this.#queue = queue;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const { pool, lastAway, lockDurationMs } = this.#shared;
    if (text.includes('move_stalled_jobs_to_wait') && Date.now() < lastAway + lockDurationMs) {
      // After an outage every worker first gets the time to renew its lock.
      return { rows: [] };
    }
    try {
      const result = await pool.query(text, params === undefined ? [] : [...params]);
      return result;
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      this.#shared.lastAway = Date.now();
      this.#shared.breaks += 1;
      throw new AwayError(reasonOf(error));
    }
  }

  async connect(): Promise<PgPoolClient> {
    return new QueueClient(this, this.#shared.ear, this.#queue);
  }

  async end(): Promise<void> {
    // The pool belongs to all queues, and ends with the last.
  }

  on(): this {
    // The shared pool's errors are reported once, by its owner.
    return this;
  }

  removeAllListeners(): this {
    return this;
  }
}

/** What BullMQ takes for a connection of its own: queries go to the pool, LISTEN goes to the shared ear. */
class QueueClient extends EventEmitter implements PgPoolClient {
  readonly #pool: QueuePool;
  readonly #ear: Ear;
  readonly #queue: string;

  constructor(pool: QueuePool, ear: Ear, queue: string) {
    super();
    this.#pool = pool;
    this.#ear = ear;
    this.#queue = queue;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    if (text.includes(`'application_name'`)) return { rows: [] };
    if (!text.includes(`LISTEN ${JOBS_CHANNEL}`)) return await this.#pool.query<R>(text, params);
    await this.#ear.subscribe(this.#queue, this);
    return { rows: [] };
  }

  release(): void {
    this.#ear.unsubscribe(this.#queue, this);
  }
}

/** BullMQ's channel; the payload is the queue's name. */
const JOBS_CHANNEL = 'bullmq_jobs';

/** Reports ring on the workers' connection. */
function reportBell(pool: QueuePool, ear: Ear): Bell {
  const payload = '@reports';
  return {
    channel: JOBS_CHANNEL,
    payload,
    listen(ring) {
      let listening = true;
      const client = new QueueClient(pool, ear, payload);
      const subscribe = async (): Promise<void> => {
        while (listening) {
          const heard = await ear.subscribe(payload, client).then(
            () => true,
            () => false,
          );
          // Whatever came before went unheard.
          if (heard) return ring();
          await wait(RETRY_MS, undefined, { ref: false });
        }
      };
      client.on('notification', ring);
      client.on('error', () => void subscribe());
      void subscribe();
      return () => {
        listening = false;
        ear.unsubscribe(payload, client);
      };
    },
  };
}

/** The one connection that listens, for all workers. */
class Ear {
  readonly #config: PoolConfig;
  readonly #listeners = new Map<string, Set<QueueClient>>();
  #connected: Promise<PostgresClient> | undefined;
  #failedAt = 0;
  #closed = false;

  constructor(config: PoolConfig) {
    this.#config = config;
  }

  /** Resolves when notifications for the queue arrive at `client`. */
  async subscribe(queue: string, client: QueueClient): Promise<void> {
    if (this.#closed) throw new AwayError('closed');
    const clients = this.#listeners.get(queue) ?? new Set();
    this.#listeners.set(queue, clients.add(client));
    this.#connected ??= this.#connect();
    await this.#connected;
  }

  unsubscribe(queue: string, client: QueueClient): void {
    const clients = this.#listeners.get(queue);
    clients?.delete(client);
    if (clients?.size === 0) this.#listeners.delete(queue);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#connected?.catch(() => undefined);
    await client?.end();
  }

  async #connect(): Promise<PostgresClient> {
    // Every waiting worker asks again ten times a second.
    await wait(Math.max(0, this.#failedAt + RETRY_MS - Date.now()));
    const client = new PostgresClient(this.#config);
    let lost = false;
    const lose = (error: Error) => {
      if (lost) return;
      lost = true;
      this.#connected = undefined;
      this.#failedAt = Date.now();
      client.end().catch(() => undefined);
      if (this.#closed) return;
      // Each worker then subscribes again, and looks for jobs that it was not told of.
      for (const clients of this.#listeners.values()) {
        for (const listener of clients)
          if (listener.listenerCount('error') > 0) listener.emit('error', error);
      }
    };
    client.on('error', () => lose(new AwayError('the listening connection was lost')));
    client.on('end', () => lose(new AwayError('the listening connection ended')));
    client.on('notification', (message) => {
      for (const listener of this.#listeners.get(message.payload ?? '') ?? []) {
        listener.emit('notification', message);
      }
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${JOBS_CHANNEL}`);
      return client;
    } catch (error) {
      lose(new AwayError(reasonOf(error)));
      throw new AwayError(reasonOf(error));
    }
  }
}
