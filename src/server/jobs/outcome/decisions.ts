/**
 * A person's decision to go on with a job that ended before its last label. (To end it: `cancellations.ts`.)
 *
 *   failed, held ── resume, from a label ─▶ queued, a new round ─▶ printing ─▶ …
 *                └─ resume, from beyond the last ─▶ printed
 *   canceled, some labels uncertain ── resume, from the first that is missing ─▶ canceled, nothing uncertain; or printed
 *
 * The job goes on as a new round, under another name in the queue, because neither queue nor agents print
 * again what has ended under the old name. Late reports of an earlier round change nothing.
 *
 * If labels are uncertain, only the person at the printer knows which label comes next. So the person must name it, and it is
 * logged.
 */

import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import type { ResumePlan } from '../../../contract/job-actions.ts';
import { mayBecome } from '../../../contract/job-life.ts';
import { type QueuedJob, queuedJob } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import type { Logger } from '../../../log.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { oneJob } from '../../one-job.ts';
import { faultAt, ProblemError, payloadInvalid } from '../../problems.ts';
import { type Pool, type Queryable, transaction } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import { requireItsPrinter, requirePermitted, withPermissionOfNow } from '../accept/permitted.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import { shownJob } from '../shown/job-row.ts';
import { dataGone } from '../shown/label-data.ts';
import { type Decision, decidedBy, jobToDecide, type LockedJob, lockJob } from './locked-job.ts';

interface Parts {
  pool: Pool;
  checks: CheckPool;
  dispatcher: Pick<Dispatching, 'dispatch'>;
  logger: Logger;
}

export class JobDecisions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Lets a held or failed job go on; or records which uncertain labels of a canceled job are out.
   * @param from the label to go on with, from 0; the number of labels: all are out. Left out: the first label that is not
   *   printed, if it is certain which one that is. For a canceled job: the first missing label
   * @throws ProblemError `job-not-found`, `job-not-held`, `labels-uncertain`, `label-data-gone`, `payload-invalid`,
   *   those of `requirePrintable` where the job needs a permission that its tenant has lost, and those of `requireItsPrinter`
   */
  async resume(id: string, from: number | undefined, by: Decision): Promise<JobView> {
    await this.plan(id, from);
    const decided = await transaction(this.#parts.pool, async (client) => {
      await decidedBy(client, id, by);
      const job = await lockJob(client, id);
      const { status, prints } = planOf(job, from);
      const round = job.round + 1;
      if (status === 'printed') await endAsPrinted(client, id, round);
      else if (status === 'canceled') await settle(client, id, { round, printed: prints.from });
      else await queueAgain(client, id, { round, from: prints.from });
      return { lane: job.lane, round, from: prints.from, of: job.total };
    });
    this.#parts.logger.info({ jobId: id, ...decided }, 'a person had the job go on');
    this.#parts.dispatcher.dispatch(decided.lane);
    return shownJob(this.#parts.pool, id);
  }

  /** What `resume` would do to the job as it is now; nothing is done. @throws ProblemError as `resume` */
  async plan(id: string, from: number | undefined): Promise<ResumePlan> {
    const plan = planOf(await jobToDecide(this.#parts.pool, id), from);
    if (plan.status === 'queued') {
      await requireItsPrinter(this.#parts.pool, id);
      await requirePermitted(this.#parts.pool, this.#parts.checks, await payloadOf(this.#parts.pool, id));
    }
    return plan;
  }
}

/** The one rule that says which labels a decision prints. */
function planOf(job: LockedJob, from: number | undefined): ResumePlan {
  if (job.status === 'canceled' && job.uncertain !== null)
    return settlementOf(job.uncertain, job.total, from);
  if (!mayBecome(job.status, 'queued', 'person')) {
    const detail = `the job is ${job.status}; only a held or failed job can go on`;
    throw new ProblemError('job-not-held', detail);
  }
  // If the job went on now, the sweep would cancel it. The sweep has to remove the agent's mark first.
  if (job.cancel_requested)
    throw new ProblemError('job-not-held', 'the job is still being canceled: ask again in a moment');
  if (from === undefined && job.uncertain) {
    throw new ProblemError('labels-uncertain', 'say from which label on the job is to be printed');
  }
  const first = from ?? job.printed;
  if (first > job.total) {
    throw payloadInvalid([faultAt('/from', because('from-most', { total: job.total }), first)]);
  }
  const prints = { from: first, to: job.total };
  if (first === job.total) return { status: 'printed', prints };
  if (!job.has_data) throw dataGone();
  return { status: 'queued', prints };
}

/** Nothing more of a canceled job is printed: what is out is written down. */
function settlementOf(
  uncertain: { from: number; to: number },
  total: number,
  from: number | undefined,
): ResumePlan {
  if (from === undefined)
    throw new ProblemError('labels-uncertain', 'say which label is the first that is missing');
  if (from < uncertain.from || from > uncertain.to)
    throw payloadInvalid([faultAt('/from', because('from-uncertain', uncertain), from)]);
  return { status: from === total ? 'printed' : 'canceled', prints: { from, to: from } };
}

const stored = z.object({ payload: queuedJob.nullable() });

/** @throws ProblemError `job-not-found`, `label-data-gone` */
async function payloadOf(db: Queryable, id: string): Promise<QueuedJob> {
  const { payload } = await oneJob(db, stored, `SELECT ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1`, id);
  if (payload === null) throw dataGone();
  return payload;
}

async function endAsPrinted(client: Queryable, id: string, round: number): Promise<void> {
  await client.query(
    `UPDATE platen.jobs SET status = 'printed', round = $2, updated_at = now(), reasons = '{}',
       error = NULL, uncertain_from = NULL, uncertain_to = NULL, sent = records * copies, printed = records * copies
     WHERE id = $1`,
    [id, round],
  );
}

/** From now on late reports of the earlier round change nothing, because a person has looked. */
async function settle(client: Queryable, id: string, now: { round: number; printed: number }): Promise<void> {
  await client.query(
    `UPDATE platen.jobs SET round = $2, printed = $3, sent = greatest(sent, $3), updated_at = now(),
       uncertain_from = NULL, uncertain_to = NULL
     WHERE id = $1`,
    [id, now.round, now.printed],
  );
}

async function queueAgain(
  client: Queryable,
  id: string,
  resume: { round: number; from: number },
): Promise<void> {
  await requireItsPrinter(client, id);
  const payload = await withPermissionOfNow(client, await payloadOf(client, id));
  await client.query(
    `UPDATE platen.jobs SET status = 'queued', round = $2, payload = $4, template_hash = NULL, updated_at = now(), dispatched_at = NULL,
       delivery = 0, report_seq = 0, sent = $3, printed = $3, reasons = '{}', error = NULL,
       uncertain_from = NULL, uncertain_to = NULL
     WHERE id = $1`,
    [id, resume.round, resume.from, JSON.stringify({ ...payload, v: Math.max(payload.v, 2), resume })],
  );
}
