/**
 * Hears and sends PostgreSQL's notifications, on one connection for all channels. A lost connection is made again, and all
 * listeners are then told that they may have missed something.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import type { ErrorLogger } from '../queue-log.ts';
import { PostgresClient } from './client.ts';

/** How soon to connect again, ms. */
const RETRY_MS = 1_000;
/** How often the connection is checked, ms. */
const LOOK_MS = 20_000;

interface Hearer {
  heard(payload: string): void;
  /** The channel is heard from now on, for the first time or again. */
  ready(): void;
}

export class NotificationConnection {
  readonly #config: PoolConfig;
  readonly #errors: ErrorLogger;
  readonly #closed = new AbortController();
  readonly #hearers = new Map<string, Hearer>();
  #running: Promise<void> | undefined;
  /** The connection, once it can listen. */
  #client: PostgresClient | undefined;

  /** Connects when somebody listens. */
  constructor(config: PoolConfig, errors: ErrorLogger) {
    this.#config = {
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 15_000,
      ...config,
      application_name: 'platen-listening',
    };
    this.#errors = errors;
  }

  /**
   * @param channel an SQL name; it has one listener at a time.
   * @returns a function that stops it
   */
  listen(channel: string, hearer: Hearer): () => void {
    this.#hearers.set(channel, hearer);
    this.#running ??= this.#run();
    const client = this.#client;
    if (client !== undefined) this.#hear(client, [channel]).catch(() => end(client));
    return () => {
      this.#hearers.delete(channel);
    };
  }

  /**
   * Notifies all listeners, in any process. A crash of the server may lose the notification, which does no harm: it cuts off
   * all listeners too, and they look for themselves when they are connected again.
   * @returns false: there is no connection at present
   * @throws pg's error, and then the connection is made anew
   */
  async tell(channel: string, payloads: readonly string[]): Promise<boolean> {
    const client = this.#client;
    if (client === undefined) return false;
    try {
      await client.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
        channel,
        payloads,
      ]);
      return true;
    } catch (error) {
      end(client);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        await this.#connected(signal);
      } catch (error) {
        if (!signal.aborted) this.#errors.report('notifications are not heard', error);
      }
      await wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves or rejects when the connection is over. */
  async #connected(signal: AbortSignal): Promise<void> {
    const client = new PostgresClient(this.#config);
    const over = Promise.withResolvers<void>();
    // The connection may end before `over` is awaited. The query under way rejects then, so this rejection is not unhandled.
    over.promise.catch(() => undefined);
    client.on('error', over.reject);
    client.on('end', over.resolve);
    client.on('notification', ({ channel, payload = '' }) => this.#hearers.get(channel)?.heard(payload));
    const stop = () => {
      over.resolve();
      end(client);
    };
    signal.addEventListener('abort', stop, { once: true });
    let look: NodeJS.Timeout | undefined;
    const begin = async () => {
      await client.connect();
      await client.query('SET synchronous_commit = off');
      look = setInterval(() => client.query('SELECT 1').catch(over.reject), LOOK_MS).unref();
      this.#client = client;
      await this.#hear(client, [...this.#hearers.keys()]);
    };
    try {
      // If a client is ended while it connects to a silent server, node-postgres never settles the promise of `connect`.
      await Promise.race([begin(), over.promise]);
      await over.promise;
    } finally {
      clearInterval(look);
      signal.removeEventListener('abort', stop);
      this.#client = undefined;
      await client.end().catch(() => undefined);
    }
  }

  async #hear(client: PostgresClient, channels: readonly string[]): Promise<void> {
    if (channels.length > 0) await client.query(channels.map((channel) => `LISTEN ${channel}`).join('; '));
    for (const channel of channels) this.#hearers.get(channel)?.ready();
  }
}

function end(client: PostgresClient): void {
  client.end().catch(() => undefined);
}
