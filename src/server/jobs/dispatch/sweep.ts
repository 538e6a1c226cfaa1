/**
 * Finds what was left undone, at start and every few seconds: accepted jobs that never came into the queue (a crash, a
 * queue that was away), jobs to be canceled, and jobs that the queue has forgotten (Redis lost its data). Any number of
 * instances may sweep at once: adding a job twice is harmless.
 *
 * A forgotten job is added again only if certainly none of it was printed: there is no report of it, and it is so new
 * that the queue would still know it if it were finished. Any other is held, or it would stay `printing` for ever.
 *
 * A queue may know that a job has ended although no report says how: Redis has lost the report, the agent's journal is gone, or
 * the report was left out. An agent that notices this reports the job again. If no report has come minutes later, the job is
 * held. A report that comes after that still counts.
 */
import { z } from 'zod';
import { faultFor, type JobFault } from '../../../contract/fault.ts';
import { statesBefore, statesIn } from '../../../contract/job-life.ts';
import { lane, printerOf, scopeOf } from '../../../contract/lane.ts';
import { queueId } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import { agentId } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import { inSql, type Pool, rowsOf } from '../../store/pool.ts';
import type { Dispatching } from './dispatching.ts';
import type { JobQueue } from './queue-port.ts';

/** Jobs that one sweep asks the queue about, and how many of them at a time. */
const ASKED = 200;
const PARALLEL = 10;
/** s that a job must have been in the queue before its absence means that it is lost. */
const SETTLED = 10;
/** h: a finished job that is newer than this is still known to the queue, which keeps it for 48 h. */
const REMEMBERED = 47;
/** ms after a job's end in its lane within which the report arrives, even if it has to be sent again. */
const REPORTED = 600_000;
/** s between two rounds of housekeeping. */
const HOUSEKEEPING = 300;

const unfinished = z.object({
  id: z.string(),
  seq: z.string(),
  round: z.int(),
  lane,
  delivery: z.int(),
  report_seq: z.int(),
  /** Some of its labels may have been printed. */
  begun: z.boolean(),
});
type Unfinished = z.infer<typeof unfinished>;

const row = unfinished.extend({ missing: z.boolean() });

/**
 * Whether a lane in this database does not know its job, or has known for minutes that the job has ended. A queue elsewhere is
 * asked about each job instead.
 */
const NOT_IN_ITS_LANE = `NOT lanes.knows(j.lane, j.id || CASE WHEN j.round > 0 THEN '.' || j.round ELSE '' END,
  make_interval(secs => ${REPORTED / 1_000}))`;

const FORGOTTEN: JobFault = faultFor('outcome-unknown', because('queue-lost-job', {})).fault;

const UNTOLD: JobFault = faultFor('outcome-unknown', because('queue-lost-report', {})).fault;

/** A job of which something is lost: its place in the queue, or the report of its end. */
interface Lost {
  job: Unfinished;
  fault: JobFault;
}

interface Parts {
  pool: Pool;
  queue: JobQueue;
  dispatcher: Dispatching;
  cancellations: { sweep(): Promise<void> };
  moving: { sweep(): Promise<void> };
  withdrawals: { sweep(): Promise<void> };
  expiries: { sweep(): Promise<void> };
  holds: { sweep(): Promise<void> };
  added: { tell(): Promise<void> };
  housekeeping: () => Promise<void>;
  logger: Logger;
  /** ms */
  interval: number;
}

export class Sweep {
  readonly #parts: Parts;
  /** `seq` of the last job that was asked about. */
  #cursor = '0';
  #cleanedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(parts: Parts) {
    this.#parts = parts;
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
      this.#parts.logger.warn({ err: error }, 'the sweep failed; it is tried again');
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#loop();
    }, this.#parts.interval);
  }

  /** One sweep. */
  async once(): Promise<void> {
    await this.#forgotten();
    await this.#parts.expiries.sweep();
    await this.#parts.cancellations.sweep();
    await this.#parts.moving.sweep();
    await this.#parts.withdrawals.sweep();
    await this.#parts.holds.sweep();
    await this.#parts.added.tell();
    const due = await rowsOf(
      this.#parts.pool,
      z.object({ lane }),
      `SELECT lane FROM platen.jobs WHERE dispatched_at IS NULL AND status = 'queued'
       GROUP BY lane ORDER BY min(seq)`,
    );
    for (const { lane } of due) this.#parts.dispatcher.dispatch(lane);
    if (Date.now() - this.#cleanedAt > HOUSEKEEPING * 1000) {
      await this.#parts.housekeeping();
      this.#cleanedAt = Date.now();
    }
  }

  /** Deals with jobs that the queue does not know, walking through all unfinished ones in turn. */
  async #forgotten(): Promise<void> {
    const rows = await rowsOf(
      this.#parts.pool,
      row,
      `SELECT id, seq, round, lane, delivery, report_seq,
         delivery > 0 OR dispatched_at < now() - make_interval(hours => ${REMEMBERED}) AS begun,
         ${this.#parts.dispatcher.inLanes ? NOT_IN_ITS_LANE : 'true'} AS missing
       FROM platen.jobs AS j
       WHERE status IN (${inSql(statesIn('under way'))}) AND seq > $1
         AND dispatched_at < now() - make_interval(secs => ${SETTLED})
       ORDER BY seq LIMIT ${ASKED}`,
      [this.#cursor],
    );
    const lost: Lost[] = [];
    const failures: unknown[] = [];
    const unknown = rows.filter((job) => job.missing);
    for (let from = 0; from < unknown.length && !this.#stopped; from += PARALLEL) {
      const asked = unknown.slice(from, from + PARALLEL).map((job) => this.#ifLost(job));
      const answers = await Promise.allSettled(asked);
      lost.push(...answers.flatMap((one) => (one.status === 'fulfilled' && one.value) || []));
      const failed = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      // An agent may have broken a lane that it writes. If the queue answers, the other lanes are looked at.
      if (failed.length > 0) await this.#parts.queue.ping();
      failures.push(...failed);
    }
    if (failures.length > 0)
      this.#parts.logger.warn(
        { err: failures[0], count: failures.length },
        'lanes do not say what became of jobs; they are asked again',
      );
    await this.#addAgain(lost.filter(({ job }) => !job.begun).map(({ job }) => job.id));
    for (const fault of [FORGOTTEN, UNTOLD]) {
      const ofIt = lost.filter((one) => one.job.begun && one.fault === fault);
      await this.#hold(
        ofIt.map(({ job }) => job),
        fault,
      );
    }
    this.#cursor = rows.length < ASKED ? '0' : (rows.at(-1)?.seq ?? '0');
  }

  /**
   * What is lost: the queue does not know the job, or knows that it has ended while no report says how. null: nothing is lost.
   */
  async #ifLost(job: Unfinished): Promise<Lost | null> {
    const queued = queueId(job.id, job.round);
    const known = await this.#parts.queue.look(job.lane, queued);
    if (known !== null) {
      if ((known.endedMs ?? 0) < REPORTED || (await this.#mayBeReported(job))) return null;
      return { job: { ...job, begun: true }, fault: UNTOLD };
    }
    return { job, fault: FORGOTTEN };
  }

  /** Whether there are unread reports of agents that may have had the job. */
  async #mayBeReported({ lane }: Unfinished): Promise<boolean> {
    const agents = await rowsOf(
      this.#parts.pool,
      z.object({ id: agentId }),
      `SELECT a.id FROM platen.agents a JOIN platen.agent_printers p ON p.agent_id = a.id
       WHERE p.printer_id = $1 AND a.tenant_id IS NOT DISTINCT FROM $2`,
      [printerOf(lane), scopeOf(lane)],
    );
    for (const { id } of agents) if (await this.#parts.queue.hasUnread(id, scopeOf(lane))) return true;
    return false;
  }

  async #addAgain(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    // A report may have come since the question was asked.
    const { rowCount } = await this.#parts.pool.query(
      `UPDATE platen.jobs SET dispatched_at = NULL WHERE id = ANY($1) AND status = 'queued' AND delivery = 0`,
      [ids],
    );
    this.#parts.logger.warn(
      { jobs: ids, count: rowCount },
      'the queue has forgotten jobs; they are added again',
    );
  }

  async #hold(jobs: readonly Unfinished[], fault: JobFault): Promise<void> {
    if (jobs.length === 0) return;
    const held = await rowsOf(
      this.#parts.pool,
      unfinished.pick({ id: true }),
      `UPDATE platen.jobs AS j SET status = 'held', reasons = '{}', error = $2, uncertain_from = j.printed,
         uncertain_to = j.records * j.copies, updated_at = now()
       FROM json_to_recordset($1) AS asked(id uuid, round integer, delivery integer, report_seq integer)
       WHERE j.id = asked.id AND j.status IN (${inSql(statesBefore('held', 'service'))})
         AND (j.round, j.delivery, j.report_seq) = (asked.round, asked.delivery, asked.report_seq)
       RETURNING j.id`,
      [JSON.stringify(jobs), JSON.stringify(fault)],
    );
    const ids = held.map(({ id }) => id);
    const what = fault === UNTOLD ? 'how jobs ended' : 'jobs under way';
    this.#parts.logger.warn(
      { jobs: ids, count: ids.length },
      `the queue has forgotten ${what}; they are held`,
    );
  }
}
