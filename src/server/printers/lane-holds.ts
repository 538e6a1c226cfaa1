/**
 * Printers that people hold: their jobs wait until somebody resumes the printer, whatever restarts meanwhile.
 * The hold is stored in the database. A mark beside the lane, in the queue's store, tells the agent when it
 * next renews its lease: the agent prints the job that it has begun, and takes no other.
 *
 * The sweep sets the mark if the queue was away, and again if the queue has lost it.
 */
import { z } from 'zod';
import { type Lane, lane } from '../../contract/lane.ts';
import type { Logger } from '../../log.ts';
import { type Also, type Pool, type Queryable, rowsOf, transaction } from '../store/pool.ts';

interface MarkedQueue {
  markHeld(lane: Lane, held: boolean): Promise<void>;
}

/** Lanes that one sweep looks at. */
const LOOKED_AT = 500;
/** A lock for the lane's mark alone: jobs may be added meanwhile. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('platen.hold ' || $1, 0))`;

const setting = z.object({ lane, held: z.boolean() });

export class LaneHolds {
  readonly #pool: Pool;
  readonly #queue: MarkedQueue;
  readonly #logger: Logger;

  constructor(parts: { pool: Pool; queue: MarkedQueue; logger: Logger }) {
    this.#pool = parts.pool;
    this.#queue = parts.queue;
    this.#logger = parts.logger;
  }

  /** A printer that is held already keeps who held it first, when and why. */
  async hold(of: Lane, by: { who: string; why?: string | undefined }, also?: Also): Promise<void> {
    await this.#change(of, true, async (client) => {
      await client.query(
        `INSERT INTO platen.lane_settings AS s (lane, held_by, held_at, held_why) VALUES ($1, $2, now(), $3)
         ON CONFLICT (lane) DO UPDATE SET held_by = excluded.held_by, held_at = now(), held_why = excluded.held_why
         WHERE s.held_at IS NULL`,
        [of, by.who, by.why ?? null],
      );
      await also?.(client);
    });
  }

  async resume(of: Lane, also?: Also): Promise<void> {
    await this.#change(of, false, async (client) => {
      await client.query(
        'UPDATE platen.lane_settings SET held_by = NULL, held_at = NULL, held_why = NULL WHERE lane = $1',
        [of],
      );
      await also?.(client);
    });
  }

  /** Tells the queue what it has not been told, or may have lost. */
  async sweep(): Promise<void> {
    const due = await rowsOf(
      this.#pool,
      setting,
      `SELECT lane, held_at IS NOT NULL AS held FROM platen.lane_settings
       WHERE mark_due OR held_at IS NOT NULL ORDER BY mark_due DESC, lane LIMIT ${LOOKED_AT}`,
    );
    for (const { lane: of } of due) await this.#change(of, null, async () => undefined);
  }

  /** Works under a lock, so that the mark agrees with the database if two people hold and resume at once. */
  async #change(
    of: Lane,
    held: boolean | null,
    write: (client: Queryable) => Promise<unknown>,
  ): Promise<void> {
    await transaction(this.#pool, async (client) => {
      await client.query(LOCK, [of]);
      await write(client);
      const [now] = await rowsOf(
        client,
        setting,
        'SELECT lane, held_at IS NOT NULL AS held FROM platen.lane_settings WHERE lane = $1',
        [of],
      );
      if (now === undefined) return;
      let told = true;
      try {
        await this.#queue.markHeld(of, now.held);
      } catch (error) {
        told = false;
        this.#logger.warn(
          { err: error, lane: of },
          'the queue does not answer: a printer is held or resumed later',
        );
      }
      await client.query(
        'UPDATE platen.lane_settings SET mark_due = $2 WHERE lane = $1 AND mark_due IS DISTINCT FROM $2',
        [of, !told],
      );
    });
    if (held !== null) this.#logger.info({ lane: of, held }, 'a person held or resumed a printer');
  }
}
