/** One job by its ID. */
import type { z } from 'zod';
import { jobId } from '../contract/job-id.ts';
import { ProblemError } from './problems.ts';
import { type Queryable, rowOf } from './store/pool.ts';

/**
 * The row of a statement about one job.
 * @param id the statement's $1; what is no ID belongs to no job
 * @param values $2 and those behind it
 * @throws ProblemError `job-not-found`
 */
export async function oneJob<Row extends z.ZodType>(
  db: Queryable,
  row: Row,
  sql: string,
  id: string,
  ...values: readonly unknown[]
): Promise<z.output<Row>> {
  const job = jobId.safeParse(id).success ? await rowOf(db, row, sql, [id, ...values]) : undefined;
  if (job === undefined) throw jobNotFound();
  return job;
}

export function jobNotFound(): ProblemError {
  return new ProblemError('job-not-found', 'there is no job with this ID');
}
