/**
 * Takes what agents report from the queue for as long as the service runs, and applies it. Reports may come late, twice or out
 * of order. A report is applied only if it is newer than what is known. A job's reports are ordered by (delivery, number within
 * the delivery), an agent's by its clock.
 *
 * Which state a report may change, and when an older one counts: `contract/job-life.ts`. A report of an earlier round,
 * from before a person had the job go on, changes nothing. An agent may report on its own printers and on jobs in their lanes
 * only.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { statesBefore, statesChangedBy } from '../../../contract/job-life.ts';
import type { JobReport, Report } from '../../../contract/report.ts';
import type { Logger } from '../../../log.ts';
import { type Consumer, ErrorLogger, type ReceivedReport } from '../../../queue/index.ts';
import { type OfAgent, storeAgents } from '../../printers/agent-reports.ts';
import { onlyRow, type Pool, rowsOf, sqlState, transaction } from '../../store/pool.ts';
import { isUnstorable, storable } from '../../store/storable.ts';
import type { JobQueue } from '../dispatch/queue-port.ts';

const DEADLOCK = '40P01';
/** How many printers the states that are applied together may name, unless one alone names more. */
const MOST_NAMED = 5_000;
/** ms to wait before each new attempt to apply a report whose printer the service does not know yet. */
const EARLY = [100, 400, 1_500, 3_000];
/** ms for which the service does not wait for an agent's early reports, after it has waited for one in vain. */
const DOUBTED = 60_000;
const MOST_DOUBTED = 10_000;
/** ms between two attempts to reach the queue. */
const RETRY = 2_000;
/** ms that a stop waits for the reports in hand. */
const STOP_TIMEOUT = 5_000;

/** What became of a job's report: whether the agent has the job's printer, and whether it was news of a known job. */
const applied = z.object({ has: z.boolean().nullable(), applied: z.boolean() });
const answered = z.object({ applied: z.array(applied) });

type OfJob = ReceivedReport & { report: JobReport };

export class Reports {
  readonly #pool: Pool;
  readonly #logger: Logger;
  /** An agent may say what cannot be stored without end. */
  readonly #errors: ErrorLogger;
  readonly #applied: (report: Report, isNews: boolean) => void;
  readonly #commit: 'on' | 'off';
  /** By agent, until when the service does not wait for its reports (`performance.now()`). */
  readonly #doubted = new Map<string, number>();
  #consumer: Pick<Consumer, 'stop'> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #stopped = true;

  /**
   * @param applied called with each report that was taken, unless it is of an unknown job; `isNews`: the report was newer than what was known
   * @param again reports stay in this database until they are applied. A crash that loses a commit brings back the
   *   reports that it had applied, so no commit has to wait for the disk
   */
  constructor(
    pool: Pool,
    logger: Logger,
    applied: (report: Report, isNews: boolean) => void = () => {},
    again = false,
  ) {
    this.#pool = pool;
    this.#commit = again ? 'off' : 'on';
    this.#logger = logger;
    this.#errors = new ErrorLogger(logger);
    this.#applied = applied;
  }

  /** Whether reports are being taken. */
  get connected(): boolean {
    return this.#consumer !== undefined;
  }

  /** Takes reports; while the queue is away, tries again. Resolves after the first attempt, whether it has succeeded or not. */
  async start(queue: JobQueue): Promise<void> {
    this.#stopped = false;
    this.#connecting = this.#connect(queue);
    await this.#connecting;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#connecting;
    await this.#consumer?.stop({ timeoutMs: STOP_TIMEOUT });
    this.#consumer = undefined;
  }

  async #connect(queue: JobQueue): Promise<void> {
    try {
      this.#consumer = await queue.consumeReports((batch) => this.#take(batch));
    } catch (error) {
      this.#logger.warn({ err: error }, 'the queue of reports cannot be reached; trying again');
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#connecting = this.#connect(queue);
      }, RETRY);
    }
  }

  /** Reports that come too early are applied again, in their order. All others have been dealt with by then. */
  async #take(batch: readonly ReceivedReport[]): Promise<void> {
    let early = await this.apply(batch);
    const waits = () => early.some(({ report }) => !this.#isDoubted(report.agentId));
    for (const pause of EARLY) {
      if (!waits()) break;
      await wait(pause);
      early = await this.apply(early);
    }
    if (this.#doubted.size > MOST_DOUBTED) this.#doubted.clear();
    for (const { report } of early) {
      if (report.kind === 'agent') continue;
      this.#doubted.set(report.agentId, performance.now() + DOUBTED);
      this.#leftOut(report);
    }
  }

  #leftOut({ jobId, printerId, agentId }: JobReport): void {
    const reason = new Error(`no printer of ${agentId}: ${printerId}`);
    this.#errors.report('a report of a job that its agent cannot have is left out', reason, {
      jobId,
      printerId,
      agentId,
    });
  }

  #isDoubted(agentId: string): boolean {
    return performance.now() < (this.#doubted.get(agentId) ?? 0);
  }

  /**
   * Applies reports in their order. One that cannot be stored is left out, and holds up no other.
   * @returns those that came too early: the agent does not have the job's printer, or has not reported it yet
   *   (another instance may have that report in hand)
   * @throws when the database cannot be reached; all must be delivered again
   */
  async apply(batch: readonly ReceivedReport[]): Promise<ReceivedReport[]> {
    const early: ReceivedReport[] = [];
    let jobs: OfJob[] = [];
    let states = new Map<string, OfAgent>();
    let named = 0;
    const applyStates = async () => {
      await this.#together([...states.values()], (some) => this.#agents(some));
      states = new Map();
      named = 0;
    };
    for (const { report, ageMs } of batch) {
      if (report.kind === 'job') {
        await applyStates();
        jobs.push({ report, ageMs });
        continue;
      }
      // The reports of jobs before this one are about the printers that the agent had then, so they are applied first.
      early.push(...(await this.#together(jobs, (some) => this.#jobs(some))));
      jobs = [];
      // A statement can change an agent once only, and says of which stretch of its printers it knows all.
      const alone = report.stretch !== undefined;
      const names = report.printers.length + (report.unreached?.length ?? 0);
      if (alone || states.has(report.agentId) || named + names > MOST_NAMED) await applyStates();
      states.set(report.agentId, { report, ageMs });
      named += names;
      if (alone) await applyStates();
    }
    await applyStates();
    early.push(...(await this.#together(jobs, (some) => this.#jobs(some))));
    return early;
  }

  /**
   * Applies all at once, or, where that cannot be, one by one.
   * @returns those that came too early
   */
  async #together<T extends ReceivedReport>(
    batch: readonly T[],
    apply: (batch: readonly T[]) => Promise<ReceivedReport[]>,
  ): Promise<ReceivedReport[]> {
    const [first, ...more] = batch;
    if (first === undefined) return [];
    try {
      return await apply(batch);
    } catch (error) {
      // One report cannot be stored, or this batch and another instance's wait for each other (a deadlock). The failed statement
      // has changed nothing.
      const unstorable = isUnstorable(error);
      if (!unstorable && (more.length === 0 || sqlState(error) !== DEADLOCK)) throw error;
      if (more.length === 0) {
        const { kind, agentId } = first.report;
        this.#errors.report('a report cannot be stored', error, { kind, agentId });
        return [];
      }
    }
    const early: ReceivedReport[] = [];
    for (const one of batch) early.push(...(await this.#together([one], apply)));
    return early;
  }

  /** Never too early. @param batch as `storeAgents` takes it */
  async #agents(batch: readonly OfAgent[]): Promise<ReceivedReport[]> {
    await transaction(
      this.#pool,
      (client) => storeAgents(client, this.#logger, batch),
      `BEGIN; SET LOCAL synchronous_commit = ${this.#commit}`,
    );
    for (const { report } of batch) this.#applied(report, true);
    return [];
  }

  /** Returns those that came too early. */
  async #jobs(batch: readonly OfJob[]): Promise<ReceivedReport[]> {
    const found = await onlyRow(
      this.#pool,
      answered,
      `SELECT set_config('synchronous_commit', $3, true), platen.apply_job_reports($1, $2) AS applied`,
      [
        storable(batch.map(({ report }, index) => rowOf(index, report))),
        statesChangedBy('agent'),
        this.#commit,
      ],
    );
    return this.#early(batch.filter(({ report }, index) => !this.#isDone(report, found.applied[index])));
  }

  /** Those that may come too early. Which printers an agent at another site has is known before it gets a job of them. */
  async #early(batch: readonly OfJob[]): Promise<OfJob[]> {
    if (batch.length === 0) return [];
    const sql = 'SELECT id FROM platen.enrolled_agents WHERE id = ANY($1)';
    const rows = await rowsOf(this.#pool, z.object({ id: z.string() }), sql, [
      batch.map(({ report }) => report.agentId),
    ]);
    const enrolled = new Set(rows.map(({ id }) => id));
    return batch.filter(({ report }) => {
      if (enrolled.has(report.agentId)) this.#leftOut(report);
      return !enrolled.has(report.agentId);
    });
  }

  #isDone(report: JobReport, result: z.infer<typeof applied> | undefined): boolean {
    if (result?.has === false) return false;
    // An agent can name any number of jobs that there are not, and nobody is to be told of them.
    if (result?.has === true) this.#applied(report, result.applied);
    const ids = { jobId: report.jobId, printerId: report.printerId, agentId: report.agentId };
    if (result?.applied !== true)
      this.#logger.debug(ids, 'report of an unknown job, or an old one: left out');
    else if (report.status !== 'printing')
      this.#logger.info({ ...ids, status: report.status }, 'job reported');
    return true;
  }
}

/** The report in the form that `platen.apply_job_reports` reads. */
function rowOf(n: number, report: JobReport): object {
  return {
    n,
    job: report.jobId,
    agent: report.agentId,
    printer: report.printerId,
    round: report.round ?? 0,
    delivery: report.delivery,
    seq: report.seq,
    status: report.status,
    before: statesBefore(report.status, 'agent'),
    late: statesBefore(report.status, 'late agent'),
    ...report.labels,
    reasons: report.reasons,
    error: report.error ?? null,
    from: report.uncertain?.from ?? null,
    to: report.uncertain?.to ?? null,
  };
}
