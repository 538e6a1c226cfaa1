/**
 * Canceling jobs. Only what is certain not to print any more is called canceled:
 *
 *   waiting, nothing under way ─────────────── taken out of the lane ─▶ canceled
 *   held, failed ─────────────────────────────────────────────────────▶ canceled
 *   taken by an agent ── asked for (marked beside the lane) ── its agent stops at a label ─▶ canceled, or printed by then
 *                                                          └── nobody serves the lane:
 *                                                               nothing was sent ─ taken out ─▶ canceled
 *                                                               something may be ─ by force ──▶ canceled, the rest uncertain
 *
 * The mark rings for the agent. If the ring is lost, the agent reads the mark when it next renews its lease. The sweep sets the
 * mark again if the queue has lost it, tries again to cancel, and takes the mark away once the job has ended.
 */
import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import { hasEnded, mayBecome, statesIn } from '../../../contract/job-life.ts';
import { lane } from '../../../contract/lane.ts';
import { queueId } from '../../../contract/queued-job.ts';
import type { Logger } from '../../../log.ts';
import { ProblemError } from '../../problems.ts';
import { inSql, type Pool, type Queryable, rowsOf, transaction } from '../../store/pool.ts';
import { shownJob } from '../shown/job-row.ts';
import { type Decision, decidedBy, lockJob } from './locked-job.ts';
import { type LaneQueue, takenOut } from './taken-out.ts';

/** Requests that one sweep looks at. */
const LOOKED_AT = 100;

const openRequest = z.object({
  id: z.string(),
  seq: z.string(),
  lane,
  round: z.int(),
  ended: z.boolean(),
});

export class Cancellations {
  readonly #pool: Pool;
  readonly #queue: LaneQueue;
  readonly #logger: Logger;
  /** `seq` of the last request that was looked at. */
  #cursor = '0';

  constructor(parts: { pool: Pool; queue: LaneQueue; logger: Logger }) {
    this.#pool = parts.pool;
    this.#queue = parts.queue;
    this.#logger = parts.logger;
  }

  /**
   * Cancels a job, or asks its agent to.
   * @param force cancel even if labels may be under way, provided that no agent serves the printer; labels that are not known
   *   to be printed become uncertain
   * @throws ProblemError `job-not-found`, `job-not-queued` for one that is printed or canceled
   */
  async cancel(id: string, force: boolean, by: Decision): Promise<JobView> {
    await this.#cancel(id, force, by);
    return shownJob(this.#pool, id);
  }

  /** Tries again to cancel what is not canceled yet, and takes away the marks of jobs that have ended. */
  async sweep(): Promise<void> {
    const requests = await rowsOf(
      this.#pool,
      openRequest,
      `SELECT id, seq, lane, round, status IN (${inSql(statesIn('over'))}) AS ended FROM platen.jobs
       WHERE cancel_requested_at IS NOT NULL AND seq > $1 ORDER BY seq LIMIT ${LOOKED_AT}`,
      [this.#cursor],
    );
    for (const request of requests) {
      const { id } = request;
      try {
        await (request.ended ? this.#forget(request) : this.#cancel(id, false));
      } catch (error) {
        // The job may have ended just now.
        if (!(error instanceof ProblemError)) throw error;
      }
    }
    this.#cursor = requests.length < LOOKED_AT ? '0' : (requests.at(-1)?.seq ?? '0');
  }

  /** @param by left out by the sweep, because a person asked for it earlier */
  async #cancel(id: string, force: boolean, by?: Decision): Promise<void> {
    // While the queue is away the request is only written down; the sweep tries again.
    const later = (error: unknown) => {
      this.#logger.warn({ err: error, jobId: id }, 'the queue does not answer: a job is canceled later');
      return null;
    };
    const asked = await transaction(this.#pool, async (client) => {
      if (by !== undefined) await decidedBy(client, id, by);
      const job = await lockJob(client, id);
      const { lane: of } = job;
      // A person who cancels a job does not want its rest at another printer either.
      if (by !== undefined && job.moving) {
        await client.query('UPDATE platen.jobs SET move_to = NULL WHERE id = $1', [id]);
        // The agent has already stopped the job, and the rest of it was about to move.
        if (job.status === 'canceled') return null;
      }
      // The job has ended since the sweep looked at it: its outcome stands.
      if (by === undefined && statesIn('over').includes(job.status)) return null;
      if (!mayBecome(job.status, 'canceled', 'person')) {
        throw new ProblemError('job-not-queued', `the job is ${job.status}`);
      }
      const out = hasEnded(job.status)
        ? 'certain'
        : await takenOut(this.#queue, of, id, job, force).catch(later);
      if (out === null) {
        await client.query(
          'UPDATE platen.jobs SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1',
          [id],
        );
        return { of, queued: queueId(id, job.round) };
      }
      await end(client, id, out === 'uncertain');
      this.#logger.info({ jobId: id, lane: of, force }, 'job canceled');
      return null;
    });
    if (asked !== null) await this.#queue.markCanceled(asked.of, asked.queued, true).catch(later);
  }

  async #forget({ id, lane: of, round }: z.infer<typeof openRequest>): Promise<void> {
    // A mark names the round in which a person asked. If the job was canceled while it was held, it is in the next round by
    // now.
    const rounds = round > 0 ? [round - 1, round] : [round];
    try {
      for (const one of rounds) await this.#queue.markCanceled(of, queueId(id, one), false);
    } catch (error) {
      // An agent may have broken a lane that it writes. If the queue answers, the other lanes are told.
      await this.#queue.ping();
      this.#logger.warn({ err: error, jobId: id, lane: of }, 'a lane does not take that a job has ended');
      return;
    }
    await this.#pool.query('UPDATE platen.jobs SET cancel_requested_at = NULL WHERE id = $1 AND round = $2', [
      id,
      round,
    ]);
  }
}

/** Labels that were uncertain before stay uncertain. */
async function end(client: Queryable, id: string, uncertain: boolean): Promise<void> {
  await client.query(
    `UPDATE platen.jobs SET status = 'canceled', updated_at = now(), reasons = '{}',
       uncertain_from = CASE WHEN $2 THEN printed ELSE uncertain_from END,
       uncertain_to = CASE WHEN $2 THEN records * copies ELSE uncertain_to END,
       -- What is said late of a job that had ended is history; of one that had not, it tells what came out.
       round = CASE WHEN status IN (${inSql(statesIn('under way'))}) THEN round ELSE round + 1 END
     WHERE id = $1`,
    [id, uncertain],
  );
}
