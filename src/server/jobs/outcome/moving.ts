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
 *
 * The new job is the old one in its second round, which begins at a label: so its labels keep their numbers, and
 * however many they are, its data is as large as the old job's. They took quota when the old job was accepted.
 */
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { statesIn } from '../../../contract/job-life.ts';
import { laneOf } from '../../../contract/lane.ts';
import { type QueuedJob, queuedJob } from '../../../contract/queued-job.ts';
import type { Logger } from '../../../log.ts';
import { isConnectionError } from '../../../queue/index.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { oneJob } from '../../one-job.ts';
import { ProblemError } from '../../problems.ts';
import { inSql, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import { acceptIn } from '../accept/acceptance.ts';
import { requirePermitted, withPermissionOfNow } from '../accept/permitted.ts';
import { type AskedPrinters, askedOf, onWay, type Route, route } from '../accept/route.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import { dataGone } from '../shown/label-data.ts';
import { type MovingTo, movingTo } from '../shown/moving-to.ts';
import { type Decision, decidedBy } from './locked-job.ts';

/** Jobs that one sweep looks at. */
const LOOKED_AT = 50;

const stopped = z.object({
  id: z.string(),
  /** It was stopped, and labels are left of it. */
  moves: z.boolean(),
  /** The first label that is certain not to be out. */
  first: z.int(),
  total: z.int(),
  /**
   * How many labels of the day's usage are counted for the new job instead. Labels of an earlier day stay counted for the old
   * job, because that day may be closed.
   */
  counted: z.int(),
  move_to: movingTo,
});
type Stopped = z.infer<typeof stopped>;

const FIRST = 'CASE WHEN uncertain_from IS NULL THEN printed ELSE greatest(printed, uncertain_to) END';
const STOPPED = `SELECT id, status = 'canceled' AND ${FIRST} < records * copies AS moves, ${FIRST} AS first,
    records * copies AS total, move_to,
    CASE WHEN (created_at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date
      THEN least(coalesce(labels_counted, records * copies), records * copies - ${FIRST}) ELSE 0 END AS counted
  FROM platen.jobs
  WHERE move_to IS NOT NULL AND NOT move_to ? 'refused' AND status IN (${inSql(statesIn('over'))})`;

const stored = z.object({
  tenant_id: z.string(),
  template_id: z.string(),
  test: z.boolean(),
  payload: queuedJob.nullable(),
});

/** Asks for both steps, under the lock of the job. */
export async function askToMove(client: Queryable, id: string, way: Route, by: Decision): Promise<void> {
  const { printer, format } = way;
  const to: MovingTo = {
    ...{ printerId: printer.id, printer: printer.name, format: format.id, who: by.who },
    ...(by.why === undefined ? {} : { why: by.why }),
  };
  await client.query(
    'UPDATE platen.jobs SET move_to = $2, cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1',
    [id, JSON.stringify(to)],
  );
}

type Parts = {
  pool: Pool;
  printers: AskedPrinters;
  checks: CheckPool;
  dispatcher: Pick<Dispatching, 'dispatch'>;
  logger: Logger;
  changed: (jobs: string[]) => void;
};

export class Moving {
  readonly #parts: Parts;

  /** @param parts `changed` is called with jobs that open pages should ask for again */
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Does the second step for all jobs that have stopped. */
  async sweep(): Promise<void> {
    const { pool, logger } = this.#parts;
    for (const job of await rowsOf(pool, stopped, `${STOPPED} ORDER BY seq LIMIT ${LOOKED_AT}`)) {
      try {
        if (job.moves) await this.#printElsewhere(job);
        else await done(pool, job.id);
      } catch (error) {
        // Without the database, every other job would only wait in vain.
        if (isConnectionError(error)) throw error;
        // A problem with one job must not keep the other jobs from moving.
        logger.warn({ err: error, jobId: job.id }, 'a stopped job is not at the other printer yet');
      }
    }
  }

  async #printElsewhere({ id, move_to: to }: Stopped): Promise<void> {
    const { pool, dispatcher, logger, changed } = this.#parts;
    try {
      const moved = await this.#accept(id, to);
      if (moved === undefined) return;
      const { job, from } = moved;
      dispatcher.dispatch(laneOf(job));
      changed([id, job.jobId]);
      logger.info({ jobId: id, rest: job.jobId, from }, 'what is left of a job goes to another printer');
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      logger.warn({ jobId: id, err: error }, 'what is left of a job cannot go to the other printer');
      const refused = JSON.stringify({ ...to, refused: error.message });
      await pool.query('UPDATE platen.jobs SET move_to = $2 WHERE id = $1 AND move_to IS NOT NULL', [
        id,
        refused,
      ]);
      changed([id]);
    }
  }

  /** Undefined: it was done, or taken back, meanwhile. @throws ProblemError those of `route` and `requirePermitted`, `label-data-gone` */
  async #accept(id: string, to: MovingTo): Promise<{ job: QueuedJob; from: number } | undefined> {
    const { pool, printers, checks } = this.#parts;
    const sql = `SELECT tenant_id, template_id, test, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1`;
    const row = await oneJob(pool, stored, sql, id);
    const { tenant_id: tenantId, template_id: idT, test, payload } = row;
    if (payload === null) throw dataGone();
    const { template, orientation, copies: numberCopies } = payload;
    const request = { idT, orientation, numberCopies, printerId: to.printerId, format: to.format };
    const way = route(request, await printers.find(tenantId, askedOf(request)), template, test);
    const there = onWay(payload, way);
    await requirePermitted(pool, checks, there);
    return await transaction(pool, async (client) => {
      // A late report may have counted more labels since, and a person may have canceled the move.
      const now = await rowOf(client, stopped, `${STOPPED} AND id = $1 FOR UPDATE`, [id]);
      if (now?.moves !== true) return undefined;
      const resume = { round: 1, from: now.first };
      const v = payload.again === undefined ? 2 : 3;
      const job = await withPermissionOfNow(client, { ...there, v, resume, jobId: uuid() });
      const { printerCommands = false } = job;
      await decidedBy(client, id, to);
      const { outcome } = await acceptIn(client, false, {
        job,
        checked: { request, template, test, printerCommands, route: way, labels: 0, stamps: undefined },
        ...{ account: to.who, ownAccount: false, answer: job.jobId },
        key: { name: `move-${id}`, bodyHash: Buffer.from(id) },
      });
      if (outcome !== 'accepted') throw new ProblemError('enqueue-failed', 'the job was not queued');
      await client.query(
        `UPDATE platen.jobs SET round = $2, sent = $3, printed = $3, first_label = $3, labels_counted = $5,
           reprint_of = $4, is_rest = true WHERE id = $1`,
        [job.jobId, resume.round, resume.from, id, now.counted],
      );
      await client.query(
        `UPDATE platen.jobs SET move_to = NULL, labels_counted = coalesce(labels_counted, records * copies) - $2
         WHERE id = $1`,
        [id, now.counted],
      );
      return { job, from: resume.from };
    });
  }
}

async function done(db: Queryable, id: string): Promise<void> {
  await db.query('UPDATE platen.jobs SET move_to = NULL WHERE id = $1', [id]);
}
