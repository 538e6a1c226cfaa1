/**
 * Moves a job, or what is left of it, to another printer, as a person decides.
 *
 *   waiting ── taken out of its lane, with certainty which labels are out ─┐
 *   failed ─── from its first label that is not printed ───────────────────┼─▶ queued in the other lane, a new round
 *   held ───── from the label that the person names ───────────────────────┘
 *   printing ── its agent stops it first; what is left is a job of its own (`moving.ts`)
 *
 * The job leaves the first lane before it enters the second, so no two printers can have it. In between it is
 * in the database alone; after a crash there, the sweep adds it to the second lane.
 */

import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import type { jobMove } from '../../../contract/job-actions.ts';
import { jobStatus, mayBecome } from '../../../contract/job-life.ts';
import { type Lane, laneOf } from '../../../contract/lane.ts';
import { queuedJob, queueId } from '../../../contract/queued-job.ts';
import { because, type Reason } from '../../../contract/reason.ts';
import type { Logger } from '../../../log.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { oneJob } from '../../one-job.ts';
import { faultAt, ProblemError, payloadInvalid, refusedBecause } from '../../problems.ts';
import { type Pool, transaction } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import { requireJobPrintable, requirePermitted, withPermissionOfNow } from '../accept/permitted.ts';
import { fitsMedia, requireFitIfWanted } from '../accept/required-fit.ts';
import { type AskedPrinters, askedOf, onWay, type Route, route } from '../accept/route.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import { shownJob } from '../shown/job-row.ts';
import { dataGone } from '../shown/label-data.ts';
import { type Decision, decidedBy, type LockedJob, lockJob } from './locked-job.ts';
import { askToMove } from './moving.ts';
import { type LaneQueue, takenOut } from './taken-out.ts';

/** The other printer by its ID or name, and by `format` one of its formats. */
export type Target = Pick<z.output<typeof jobMove>, 'printerId' | 'printer' | 'format'>;

const stored = z.object({
  tenant_id: z.string(),
  lane: z.string(),
  status: jobStatus,
  test: z.boolean(),
  payload: queuedJob.nullable(),
});

interface Parts {
  pool: Pool;
  printers: AskedPrinters;
  checks: CheckPool;
  queue: LaneQueue;
  dispatcher: Pick<Dispatching, 'dispatch'>;
  logger: Logger;
}

export class JobMoves {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @throws ProblemError `job-not-found`, `job-not-movable`, `labels-uncertain`, `label-data-gone`, `payload-invalid`,
   *   those of `route`, and of a job that prints or lost its permission those of `requirePrintable`
   */
  async move(id: string, to: z.output<typeof jobMove>, by: Decision): Promise<JobView> {
    const { status, there, way, target } = await this.#wayOf(id, to);
    await requirePermitted(this.#parts.pool, this.#parts.checks, there);
    // A job that waits could fail at the other printer and come back; one that prints is stopped for good.
    if (status === 'printing') await requireJobPrintable(this.#parts.checks, there);
    const from = await transaction(this.#parts.pool, async (client) => {
      await decidedBy(client, id, by);
      const job = await lockJob(client, id, target);
      if (job.status === 'printing') {
        // The job was waiting when it was looked up, so its values were not checked. An agent has taken it since.
        if (status !== 'printing') throw notMovable(because('move-taken', {}));
        requireStoppable(job, target, to.from);
        await askToMove(client, id, way, by);
        return { stops: queueId(id, job.round), lane: job.lane };
      }
      const first = await this.#takeOut(id, job, target, to.from);
      const resume = { round: job.round + 1, from: first };
      const moved = { ...(await withPermissionOfNow(client, there)), v: Math.max(there.v, 2), resume };
      await client.query(
        `UPDATE platen.jobs SET status = 'queued', round = $2, payload = $4, template_hash = NULL, printer_id = $5, printer_name = $6, scope = $7,
           format = $8, updated_at = now(), dispatched_at = NULL, delivery = 0, report_seq = 0, sent = $3, printed = $3,
           reasons = '{}', error = NULL, uncertain_from = NULL, uncertain_to = NULL
         WHERE id = $1`,
        [id, resume.round, first, JSON.stringify(moved), ...placeOf(way)],
      );
      return { lane: job.lane, from: first, of: job.total };
    });
    if ('stops' in from) {
      // While the queue is away the request is only written down; the sweep of cancellations marks it later.
      await this.#parts.queue.markCanceled(from.lane, from.stops, true).catch((error: unknown) => {
        this.#parts.logger.warn(
          { err: error, jobId: id },
          'the queue does not answer: a job is stopped later',
        );
      });
      return shownJob(this.#parts.pool, id);
    }
    this.#parts.logger.info({ jobId: id, to: target, ...from }, 'a person moved the job to another printer');
    this.#parts.dispatcher.dispatch(target);
    return shownJob(this.#parts.pool, id);
  }

  /**
   * Checks that the template prints on the printer `to`, and that `to` is another one.
   * @returns whether the label fits the media there
   * @throws as `move`
   */
  async check(id: string, to: Target): Promise<boolean> {
    const { lane, target, there } = await this.#wayOf(id, to);
    if (lane === target) throw notMovable(because('move-same', {}));
    await requirePermitted(this.#parts.pool, this.#parts.checks, there);
    return fitsMedia(there);
  }

  async #wayOf(id: string, to: Target) {
    const { tenant, lane, status, test, payload } = await this.#stored(id);
    const wished = { ...to, idT: payload.templateId, orientation: payload.orientation, numberCopies: 1 };
    const found = await this.#parts.printers.find(tenant, askedOf(wished));
    const way = route(wished, found, payload.template, test);
    const target = laneOf({ scope: way.printer.scope, printerId: way.printer.id });
    const there = onWay(payload, way);
    await requireFitIfWanted(this.#parts.pool, there);
    return { status, there, way, lane, target };
  }

  /** Takes a waiting job out of its lane; refuses what is wrong first. @returns the first label to print */
  async #takeOut(id: string, job: LockedJob, target: Lane, from: number | undefined): Promise<number> {
    const waits = job.status === 'queued';
    if (!waits && !mayBecome(job.status, 'queued', 'person'))
      throw notMovable(because('job-is', { status: job.status }));
    if (job.cancel_requested) throw notMovable(because('move-canceled', {}));
    if (from === undefined && job.uncertain) {
      throw new ProblemError('labels-uncertain', 'say from which label on the job is to be printed');
    }
    if (waits && from !== undefined && from !== job.printed) {
      throw payloadInvalid([faultAt('/from', because('from-waits', {}), from)]);
    }
    const first = from ?? job.printed;
    if (first >= job.total) {
      throw payloadInvalid([faultAt('/from', because('from-below', { total: job.total }), first)]);
    }
    if (!waits) return first;
    if (job.lane === target) throw notMovable(because('move-same', {}));
    if ((await takenOut(this.#parts.queue, job.lane, id, job, false)) !== 'certain') {
      throw notMovable(because('move-taken', {}));
    }
    // The dispatcher may have given up adding the job to the first lane, and the addition may still succeed:
    // the mark keeps the agent there from printing it.
    if (!job.dispatched) await this.#parts.queue.markCanceled(job.lane, queueId(id, job.round), true);
    return first;
  }

  async #stored(id: string) {
    const sql = `SELECT tenant_id, lane, status, test, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1`;
    const row = await oneJob(this.#parts.pool, stored, sql, id);
    const { tenant_id: tenant, lane, status, test, payload } = row;
    if (payload === null) throw dataGone();
    return { tenant, lane, status, test, payload };
  }
}

/** @throws ProblemError */
function requireStoppable(job: LockedJob, target: Lane, from: number | undefined): void {
  if (job.cancel_requested && !job.moving) throw notMovable(because('move-canceled', {}));
  if (job.lane === target) throw notMovable(because('move-at-printer', {}));
  if (from === undefined) return;
  throw payloadInvalid([faultAt('/from', because('from-prints', {}), from)]);
}

function placeOf({ printer, format }: Route): (string | null)[] {
  return [printer.id, printer.name, printer.scope, format.name];
}

function notMovable(reason: Reason): ProblemError {
  return refusedBecause('job-not-movable', reason);
}
