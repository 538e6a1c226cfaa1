/**
 * Lanes in the service's own database: the statement that accepts a job puts it into its lane. This adds the other jobs: those
 * that a person let go on or moved, and those that were accepted while the lanes were elsewhere.
 */
import type { Lane } from '../../../contract/lane.ts';
import type { Logger } from '../../../log.ts';
import type { Pool } from '../../store/pool.ts';
import type { Dispatching } from './dispatching.ts';

export class RowLanes implements Dispatching {
  readonly inLanes = true;
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #running = new Set<Promise<void>>();
  #stopped = true;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  start(): void {
    this.#stopped = false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  dispatch(lane: Lane): void {
    if (this.#stopped) return;
    const entering = this.#enter(lane).finally(() => this.#running.delete(entering));
    this.#running.add(entering);
  }

  async #enter(lane: Lane): Promise<void> {
    try {
      await this.#pool.query('SELECT platen.enter_lane($1)', [lane]);
    } catch (error) {
      // The jobs are safe in their rows; the sweep tries again.
      this.#logger.warn({ err: error, lane }, 'jobs are not in their lane yet');
    }
  }
}
