/**
 * Bounds how much of a tenant waits to be printed (jobs, their bytes, and jobs at one printer), so that
 * nobody who posts without end fills the database for all. Held jobs count, and those at a stuck printer.
 *
 * The database counts now and then; in between this instance adds what it accepts. Before a job is refused by an
 * older count, the database counts again. Jobs that are being accepted may not be in the database yet, so they are
 * added to each new count. Several instances may exceed a limit by what they accept in a moment.
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type Lane, laneOf } from '../../../contract/lane.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import { because, type Reason } from '../../../contract/reason.ts';
import type { ServerConfig } from '../../config.ts';
import { refusedBecause } from '../../problems.ts';
import type { Pool } from '../../store/pool.ts';
import { type Whose, whoseOf } from '../../tenants/whose.ts';

/** ms for which a count is used. */
const COUNT_AGE = 2_000;
/** ms, at least, between two counts for a tenant that is over a limit. */
const RECOUNT_AGE = 500;
/** Counting may take this share of the time. A count of many jobs takes longer, so it is made less often. */
const SHARE = 1 / 50;
const MOST_TENANTS = 10_000;
/** s after which a refused caller may ask again. */
const RETRY_AFTER = 30;

type Limits = Pick<ServerConfig['limits'], 'waitingJobs' | 'waitingBytes' | 'waitingJobsPerPrinter'>;
type Admitted = Whose & Pick<QueuedJob, 'scope' | 'printerId'>;
type Waiting = { lane: Lane; bytes: number };
type Count = { jobs: number; bytes: number; lanes: Map<string, number>; at: number; tookMs: number };

const counted = z.array(z.object({ lane: z.string(), jobs: z.int(), bytes: z.number() }));

export class Backlog {
  readonly #pool: Pool;
  readonly #limits: Limits;
  readonly #counts = new LRUCache<string, Count>({ max: MOST_TENANTS });
  readonly #counting = new Map<string, Promise<Count>>();
  /** What is being accepted, by tenant, its tests apart. */
  readonly #underWay = new Map<string, Set<Waiting>>();

  constructor(pool: Pool, limits: Limits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  /**
   * Accepts a job, which counts from now on.
   * @param bytes of its payload
   * @throws ProblemError `too-many-waiting`; whatever `accept` throws
   */
  async admit<T>(
    { tenantId, test, scope, printerId }: Admitted,
    bytes: number,
    accept: () => Promise<T>,
  ): Promise<T> {
    const waiting: Waiting = { lane: laneOf({ scope, printerId }), bytes };
    const of = { tenantId, test };
    const whose = whoseOf(of);
    let count = await this.#count(of, COUNT_AGE);
    if (this.#excess(count, waiting) !== undefined) count = await this.#count(of, RECOUNT_AGE);
    const excess = this.#excess(count, waiting);
    if (excess !== undefined) {
      throw refusedBecause('too-many-waiting', excess, { headers: { 'retry-after': String(RETRY_AFTER) } });
    }
    add(count, waiting);
    const underWay = this.#underWay.get(whose) ?? new Set();
    this.#underWay.set(whose, underWay.add(waiting));
    try {
      return await accept();
    } finally {
      underWay.delete(waiting);
      if (underWay.size === 0) this.#underWay.delete(whose);
    }
  }

  #excess(count: Count, { lane, bytes }: Waiting): Reason | undefined {
    const { waitingJobs, waitingBytes, waitingJobsPerPrinter } = this.#limits;
    if (count.jobs >= waitingJobs) return because('waiting-jobs', { count: count.jobs, most: waitingJobs });
    const here = count.lanes.get(lane) ?? 0;
    if (here >= waitingJobsPerPrinter) {
      return because('waiting-here', { count: here, most: waitingJobsPerPrinter });
    }
    if (count.bytes + bytes > waitingBytes) {
      return because('waiting-bytes', { waiting: count.bytes, bytes, most: waitingBytes });
    }
    return undefined;
  }

  /** The count, at most `age` ms old, or older where counting takes long (`SHARE`). */
  async #count(of: Whose, age: number): Promise<Count> {
    const whose = whoseOf(of);
    const known = this.#counts.get(whose);
    if (known !== undefined && performance.now() - known.at < Math.max(age, known.tookMs / SHARE))
      return known;
    const counting = this.#counting.get(whose) ?? this.#ask(of);
    this.#counting.set(whose, counting);
    return await counting;
  }

  async #ask(of: Whose): Promise<Count> {
    const whose = whoseOf(of);
    const at = performance.now();
    const underWay = [...(this.#underWay.get(whose) ?? [])];
    try {
      const { rows } = await this.#pool.query(
        `SELECT lane, count(*)::int AS jobs, coalesce(sum(pg_column_size(payload)), 0)::float8 AS bytes
         FROM platen.jobs WHERE tenant_id = $1 AND test = $2 AND status IN ('queued', 'printing', 'held') GROUP BY lane`,
        [of.tenantId, of.test],
      );
      const lanes = counted.parse(rows);
      const sum = (of: 'jobs' | 'bytes') => lanes.reduce((total, lane) => total + lane[of], 0);
      const count: Count = {
        jobs: sum('jobs'),
        bytes: sum('bytes'),
        lanes: new Map(lanes.map(({ lane, jobs }) => [lane, jobs])),
        at,
        tookMs: performance.now() - at,
      };
      // A job that was accepted while the database counted may be counted twice until the next count, but never left out.
      for (const waiting of new Set([...underWay, ...(this.#underWay.get(whose) ?? [])])) add(count, waiting);
      this.#counts.set(whose, count);
      return count;
    } finally {
      this.#counting.delete(whose);
    }
  }
}

function add(count: Count, { lane, bytes }: Waiting): void {
  count.jobs += 1;
  count.bytes += bytes;
  count.lanes.set(lane, (count.lanes.get(lane) ?? 0) + 1);
}
