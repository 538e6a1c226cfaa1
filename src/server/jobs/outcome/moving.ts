/**
 * Moves a job that prints, in two steps; a person asks for both at once:
 *
 *   printing ── its agent stops it at a label ─▶ canceled ── what is certain not to be out ─▶ a new job, at the other printer
 *                                                         └─ what may be out ─▶ stays here, named, for a person
 *
 * Between the steps the target is stored in the job's row (`move_to`), so that the second step is done
 * whichever process ends meanwhile, and done once: one transaction makes the new job and deletes the target.
 * A job that ends as held instead is canceled, like any job that was to stop: its uncertain labels stay here,
 * the others are moved. If it is printed or failed by then, nothing is moved: a person decides anew.
 */
import { z } from 'zod';
import { jobStatus, statesIn } from '../../../contract/job-life.ts';
import type { Logger } from '../../../log.ts';
import { ProblemError } from '../../problems.ts';
import { inSql, type Pool, type Queryable, rowsOf } from '../../store/pool.ts';
import type { Reprints } from '../accept/reprints.ts';
import type { Route } from '../accept/route.ts';
import { type MovingTo, movingTo } from '../shown/moving-to.ts';
import type { Decision } from './locked-job.ts';

/** Jobs that one sweep looks at. */
const LOOKED_AT = 50;

const stopped = z.object({
  id: z.string(),
  status: jobStatus,
  /** The first label that is certain not to be out. */
  first: z.int(),
  total: z.int(),
  move_to: movingTo,
});

/** Asks for both steps, under the lock of the job. */
export async function askToMove(client: Queryable, id: string, way: Route, by: Decision): Promise<void> {
  const { printer, format } = way;
  const to: MovingTo = {
    ...{ printerId: printer.id, printer: printer.name, format: format.id, who: by.who },
    // PostgreSQL's `jsonb` takes no half of a surrogate pair.
    ...(by.why === undefined ? {} : { why: by.why.toWellFormed() }),
  };
  await client.query(
    'UPDATE platen.jobs SET move_to = $2, cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1',
    [id, JSON.stringify(to)],
  );
}

export class Moving {
  readonly #pool: Pool;
  readonly #reprints: Pick<Reprints, 'reprint'>;
  readonly #logger: Logger;
  readonly #changed: (jobs: string[]) => void;

  /** @param parts `changed` is called with jobs that open pages should ask for again */
  constructor(parts: {
    pool: Pool;
    reprints: Pick<Reprints, 'reprint'>;
    logger: Logger;
    changed: (jobs: string[]) => void;
  }) {
    this.#changed = parts.changed;

    this.#pool = parts.pool;
    this.#reprints = parts.reprints;
    this.#logger = parts.logger;
  }

  /** Does the second step for all jobs that have stopped. */
  async sweep(): Promise<void> {
    const jobs = await rowsOf(
      this.#pool,
      stopped,
      `SELECT id, status, CASE WHEN uncertain_from IS NULL THEN printed ELSE greatest(printed, uncertain_to) END AS first, records * copies AS total, move_to
       FROM platen.jobs
       WHERE move_to IS NOT NULL AND NOT move_to ? 'refused' AND status IN (${inSql(statesIn('over'))})
       ORDER BY seq LIMIT ${LOOKED_AT}`,
      [],
    );
    for (const job of jobs) {
      if (job.status !== 'canceled' || job.first >= job.total) await done(this.#pool, job.id);
      else await this.#printElsewhere(job);
    }
  }

  async #printElsewhere({ id, first, total, move_to: to }: z.infer<typeof stopped>): Promise<void> {
    const request = {
      ...(first === 0 ? {} : { labels: [{ from: first, to: total }] }),
      ...{ printerId: to.printerId, format: to.format },
      ...(to.why === undefined ? {} : { why: to.why }),
    };
    try {
      const { jobId } = await this.#reprints.reprint(id, request, {
        account: to.who,
        key: `move-${id}`,
        also: (client) => done(client, id),
      });
      this.#changed([id, jobId]);
      this.#logger.info(
        { jobId: id, rest: jobId, from: first },
        'what is left of a job goes to another printer',
      );
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.#logger.warn({ jobId: id, err: error }, 'what is left of a job cannot go to the other printer');
      const refused = JSON.stringify({ ...to, refused: error.message });
      await this.#pool.query('UPDATE platen.jobs SET move_to = $2 WHERE id = $1', [id, refused]);
      this.#changed([id]);
    }
  }
}

async function done(db: Queryable, id: string): Promise<void> {
  await db.query('UPDATE platen.jobs SET move_to = NULL WHERE id = $1', [id]);
}
