/**
 * Finds what was left undone, at start and every few seconds: jobs that were accepted but never added to the queue
 * (a crash, a queue that was away), and jobs that the queue has forgotten (Redis lost its data). Any number of
 * instances may sweep at once: the dispatcher's lock and the queue's job IDs make adding a job twice harmless.
 *
 * A job of which any report has come is never added again here: it may be printing, or be printed already.
 */
import type { Logger } from '../../log.ts';
import type { Pool } from '../store/pool.ts';
import type { Dispatcher } from './dispatch.ts';
import type { JobQueue } from './queue-port.ts';

/** Waiting jobs that one sweep asks the queue about, and how many of them at a time. */
const ASKED = 200;
const PARALLEL = 10;
/** s since a job was added before its absence means anything. */
const SETTLED = 10;
/** s between two rounds of housekeeping. */
const HOUSEKEEPING = 300;

export class Sweep {
  readonly #pool: Pool;
  readonly #queue: JobQueue;
  readonly #dispatcher: Dispatcher;
  readonly #housekeeping: () => Promise<void>;
  readonly #logger: Logger;
  /** ms */
  readonly #interval: number;
  /** Where the walk through the waiting jobs has come to. */
  #cursor = '0';
  #cleanedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(parts: {
    pool: Pool;
    queue: JobQueue;
    dispatcher: Dispatcher;
    housekeeping: () => Promise<void>;
    logger: Logger;
    interval: number;
  }) {
    this.#pool = parts.pool;
    this.#queue = parts.queue;
    this.#dispatcher = parts.dispatcher;
    this.#housekeeping = parts.housekeeping;
    this.#logger = parts.logger;
    this.#interval = parts.interval;
  }

  start(): void {
    this.#stopped = false;
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #loop(): Promise<void> {
    try {
      await this.once();
    } catch (error) {
      this.#logger.warn({ err: error }, 'the sweep failed; it is tried again');
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#loop();
    }, this.#interval);
  }

  /** One sweep. */
  async once(): Promise<void> {
    await this.#forgotten();
    const { rows } = await this.#pool.query<{ printer_id: string }>(
      `SELECT printer_id FROM platen.jobs WHERE dispatched_at IS NULL AND status = 'queued'
       GROUP BY printer_id ORDER BY min(seq)`,
    );
    for (const row of rows) this.#dispatcher.dispatch(row.printer_id);
    if (Date.now() - this.#cleanedAt > HOUSEKEEPING * 1000) {
      await this.#housekeeping();
      this.#cleanedAt = Date.now();
    }
  }

  /** Marks jobs that the queue does not know as still to be added, walking through all waiting ones in turn. */
  async #forgotten(): Promise<void> {
    const { rows } = await this.#pool.query<{ id: string; seq: string; printer_id: string }>(
      `SELECT id, seq, printer_id FROM platen.jobs
       WHERE status = 'queued' AND delivery = 0 AND seq > $1 AND dispatched_at < now() - make_interval(secs => ${SETTLED})
       ORDER BY seq LIMIT ${ASKED}`,
      [this.#cursor],
    );
    const missing: string[] = [];
    for (let from = 0; from < rows.length && !this.#stopped; from += PARALLEL) {
      const known = await Promise.all(
        rows.slice(from, from + PARALLEL).map(async (row) => ({
          id: row.id,
          known: await this.#queue.has(row.printer_id, row.id),
        })),
      );
      missing.push(...known.filter((one) => !one.known).map((one) => one.id));
    }
    if (missing.length > 0) {
      // A report may have come since the question was asked.
      const { rowCount } = await this.#pool.query(
        `UPDATE platen.jobs SET dispatched_at = NULL WHERE id = ANY($1) AND status = 'queued' AND delivery = 0`,
        [missing],
      );
      this.#logger.warn(
        { jobs: missing, count: rowCount },
        'the queue has forgotten jobs; they are added again',
      );
    }
    this.#cursor = rows.length < ASKED ? '0' : (rows.at(-1)?.seq ?? '0');
  }
}
