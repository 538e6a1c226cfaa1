/** The one connection on which a process hears that its lanes, or reports, have something to take. */
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import type { Lane } from '../../contract/lane.ts';
import { Bell } from '../bell.ts';
import { ringOf } from '../lease.ts';
import type { ErrorLog } from '../queue-log.ts';
import { PostgresClient } from './client.ts';

/** Rung with the name of the lane that has a job to take, or with `REPORTS` (`schema/0001-lanes.sql`). */
export const CHANNEL = 'platen_lanes';
export const REPORTS = '@reports';
/** How soon to connect again, ms. */
const RETRY_MS = 1_000;

/** What is rung for a mark of a lane; no lane has a name with a colon. */
export function markedRing(of: Lane, mark: string): string {
  return `${ringOf(mark)}:${of}`;
}

export class PostgresBell extends Bell {
  readonly #config: PoolConfig;
  readonly #errors: ErrorLog;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(config: PoolConfig, errors: ErrorLog) {
    super();
    this.#config = config;
    this.#errors = errors;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  protected override begin(): void {
    this.#running ??= this.#run();
  }

  /** All lanes share one channel. */
  protected override end(): void {}

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        await this.#hear(signal);
      } catch (error) {
        if (!signal.aborted) this.#errors.report('the bell of the queue is not heard', error);
      }
      await wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves or rejects when the connection no longer listens. */
  async #hear(signal: AbortSignal): Promise<void> {
    const client = new PostgresClient(this.#config);
    const over = Promise.withResolvers<void>();
    client.on('error', over.reject);
    client.on('end', over.resolve);
    client.on('notification', ({ payload = '' }) => {
      const [name = '', what = ''] = payload.split(':', 2).toReversed();
      this.ring(name, what);
    });
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    over.promise.catch(() => undefined);
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // Rings before this moment were not heard.
      this.ringAll();
      await over.promise;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
