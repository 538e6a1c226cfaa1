/** Reads what a job prints, some records at a time, to show its values and the pictures of its labels. */

import { z } from 'zod';
import { type LabelRecord, labelRecord } from '../../../contract/print-request.ts';
import { queuedJob } from '../../../contract/queued-job.ts';
import { oneJob } from '../../one-job.ts';
import { ProblemError } from '../../problems.ts';
import { type Pool, sqlState } from '../../store/pool.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';

/** The job without its records. */
const withoutRecords = queuedJob.omit({ records: true });

export interface LabelData {
  job: z.infer<typeof withoutRecords>;
  /** How many records the job has, and those that were asked for. */
  total: number;
  records: LabelRecord[];
}

const dataRow = z.object({
  total: z.int(),
  job: withoutRecords.nullable(),
  records: z.array(labelRecord).nullable(),
});
const wholeRow = z.object({
  total: z.int(),
  payload: withoutRecords.extend({ records: z.array(z.unknown()) }).nullable(),
});

/** SQLSTATEs for a text with U+0000, and with half of a surrogate pair: the type `json` keeps both, no JSON function reads them. */
const UNREADABLE = ['22P05', '22P02'];

/**
 * @param part which records, from 0
 * @throws ProblemError `job-not-found`, `label-data-gone`
 */
export async function labelDataOf(
  pool: Pool,
  id: string,
  part: { from: number; limit: number },
): Promise<LabelData> {
  const { job, total, records } = await takenApart(pool, id, part).catch((error: unknown) => {
    if (!UNREADABLE.includes(sqlState(error) ?? '')) throw error;
    return whole(pool, id, part);
  });
  if (job === null || records === null) throw dataGone();
  return { job, total, records };
}

/** The database picks the records out, because a job may have megabytes when only one record is wanted. */
function takenApart(pool: Pool, id: string, { from, limit }: { from: number; limit: number }) {
  return oneJob(
    pool,
    dataRow,
    `SELECT records AS total,
       CASE WHEN jobs.payload IS NOT NULL THEN (
         SELECT json_object_agg(key, value) FROM json_each(whole.payload) WHERE key <> 'records') END AS job,
       CASE WHEN jobs.payload IS NOT NULL THEN coalesce((
         SELECT json_agg(one.value ORDER BY one.number)
         FROM json_array_elements(jobs.payload -> 'records') WITH ORDINALITY AS one(value, number)
         WHERE one.number > $2 AND one.number <= $2::bigint + $3), '[]') END AS records
     FROM platen.jobs, LATERAL (SELECT ${WHOLE_PAYLOAD}) AS whole WHERE id = $1`,
    id,
    from,
    limit,
  );
}

async function whole(pool: Pool, id: string, { from, limit }: { from: number; limit: number }) {
  const sql = `SELECT records AS total, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1`;
  const { total, payload } = await oneJob(pool, wholeRow, sql, id);
  if (payload === null) return { total, job: null, records: null };
  const { records, ...job } = payload;
  return { total, job, records: z.array(labelRecord).parse(records.slice(from, from + limit)) };
}

export function dataGone(): ProblemError {
  return new ProblemError('label-data-gone', 'the job has ended, and its label data is not kept any more');
}
