/** One job, as it is shown. */
import type { JobView } from '../../../contract/job.ts';
import { jobId } from '../../../contract/job-id.ts';
import { ProblemError } from '../../problems.ts';
import { type Pool, rowOf } from '../../store/pool.ts';
import { COLUMNS, jobRow, jobViewOf } from '../shown/job-row.ts';

export class JobTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** A job of one tenant, or (undefined) of any. @throws ProblemError `job-not-found` */
  async get(id: string, tenantId: string | undefined): Promise<JobView> {
    const sql = `SELECT ${COLUMNS} FROM platen.jobs WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2)`;
    const found = jobId.safeParse(id).success
      ? await rowOf(this.#pool, jobRow, sql, [id, tenantId ?? null])
      : undefined;
    if (found === undefined) throw new ProblemError('job-not-found', 'there is no job with this ID');
    return jobViewOf(found);
  }
}
