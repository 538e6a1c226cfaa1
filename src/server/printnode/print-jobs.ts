/** Jobs that came by PrintNode's interface, as PrintNode shows print jobs and what became of them. */
import { z } from 'zod';
import { jobStatus, statesIn } from '../../contract/job-life.ts';
import { tolerantFault } from '../../contract/read-report.ts';
import { MOST_NUMBER, newNumbers, numbersOf } from '../numbers.ts';
import { inSql, type Pool, type Queryable, rowOf, rowsOf } from '../store/pool.ts';
import type { Whose } from '../tenants/whose.ts';
import type { PageWanted, Range } from './asked.ts';
import type { PrintJob } from './print-job.ts';
import type { ShownPrinter } from './shown-printers.ts';

/** Which ones; undefined: all. */
export type Wanted = { jobs: readonly Range[] | undefined; printers: readonly string[] | undefined };

const row = z.object({
  id: z.string(),
  number: z.int(),
  title: z.string().nullable(),
  source: z.string().nullable(),
  content_type: z.string(),
  expires_at: z.date(),
  expired: z.boolean(),
  status: jobStatus,
  printer_id: z.string(),
  printer_name: z.string(),
  created_at: z.date(),
});
type Row = z.output<typeof row>;

const event = z.object({
  job_id: z.string(),
  kind: jobStatus,
  at: z.date(),
  error: tolerantFault.nullable(),
});
/** Of one job, the last ones. */
const MOST_EVENTS = 20;

/** Writes down what the job itself does not have, in the transaction that accepts it. @returns its number */
export async function notePrintJob(
  db: Queryable,
  tenantId: string,
  jobId: string,
  { title, source, contentType, expireAfter }: PrintJob,
): Promise<number> {
  const number = await newNumbers(db, tenantId, 1);
  await db.query(
    `INSERT INTO platen.printnode_jobs (tenant_id, number, job_id, title, source, content_type, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    [tenantId, number, jobId, title, source, contentType, expireAfter],
  );
  return number;
}

/** The number of a job that came by this interface. */
export async function numberOfJob(
  db: Queryable,
  tenantId: string,
  jobId: string,
): Promise<number | undefined> {
  const sql = 'SELECT number FROM platen.printnode_jobs WHERE tenant_id = $1 AND job_id = $2';
  return (await rowOf(db, row.pick({ number: true }), sql, [tenantId, jobId]))?.number;
}

/** @param open those that may be canceled alone */
export async function findJobs(
  db: Queryable,
  { tenantId, test }: Whose,
  { jobs, printers }: Wanted,
  { limit, after, dir }: PageWanted,
  open = false,
): Promise<Row[]> {
  const up = dir === 'asc';
  const set = jobs?.map(({ from, to }) => `[${from},${to}]`).join(',');
  return await rowsOf(
    db,
    row,
    `SELECT j.id, p.number, p.title, p.source, p.content_type, p.expires_at, p.settled = 'expired' IS TRUE AS expired,
       j.status, j.printer_id, j.printer_name, j.created_at
     FROM platen.printnode_jobs p JOIN platen.jobs j ON j.id = p.job_id
     WHERE p.tenant_id = $1 AND j.tenant_id = $1 AND j.test = $2 AND p.number BETWEEN $3 AND $4
       AND ($5::int4multirange IS NULL OR $5::int4multirange @> p.number)
       AND ($6::text[] IS NULL OR j.printer_id = ANY($6))
       AND (NOT $7 OR j.status IN (${inSql(statesIn('under way'))}))
     ORDER BY p.number ${up ? 'ASC' : 'DESC'} LIMIT $8`,
    [
      ...[tenantId, test],
      up && after !== undefined ? after + 1 : 0,
      !up && after !== undefined ? after - 1 : MOST_NUMBER,
      ...[set === undefined ? null : `{${set}}`, printers ?? null, open, limit],
    ],
  );
}

/** `held`: nobody knows what came out. No client takes that for an error, after which it would print again. */
function stateOf(status: Row['status'], expired: boolean): string {
  if (status === 'canceled' && expired) return 'expired';
  return (
    {
      queued: 'queued',
      printing: 'in_progress',
      printed: 'done',
      failed: 'error',
      held: 'pending_confirmation',
      canceled: 'deleted',
    } as const
  )[status];
}

export async function shownJobs(
  pool: Pool,
  tenantId: string,
  rows: readonly Row[],
  printers: ReadonlyMap<string, { shown: ShownPrinter }>,
) {
  const gone = rows.map((job) => job.printer_id).filter((id) => !printers.has(id));
  const numbers = await numbersOf(pool, tenantId, 'printer', gone);
  return rows.map((job) => {
    const printer = printers.get(job.printer_id)?.shown ?? {
      ...{ id: numbers.get(job.printer_id)?.number ?? 0, computer: null, name: job.printer_name },
      state: 'deleted',
    };
    return {
      ...{ id: job.number, printer, title: job.title, contentType: job.content_type, source: job.source },
      expireAt: job.expires_at.toISOString(),
      createTimestamp: job.created_at.toISOString(),
      state: job.status === 'queued' ? 'new' : stateOf(job.status, job.expired),
    };
  });
}

/** Of each job what became of it, the oldest first. */
export async function statesOf(db: Queryable, rows: readonly Row[]) {
  const events = await rowsOf(
    db,
    event,
    `SELECT e.* FROM unnest($1::uuid[]) AS of (id) CROSS JOIN LATERAL (
       SELECT job_id, kind, at, error FROM platen.job_events
       WHERE job_id = of.id AND kind = ANY($2) ORDER BY number DESC LIMIT ${MOST_EVENTS}) e
     ORDER BY e.at`,
    [rows.map(({ id }) => id), jobStatus.options],
  );
  const byJob = Map.groupBy(events, ({ job_id }) => job_id);
  return rows.map((job) => {
    const shown = (state: string, message: string, at: Date) => ({
      ...{ printJobId: job.number, state, message, data: null, clientVersion: null },
      ...{ createTimestamp: at.toISOString(), age: at.getTime() - job.created_at.getTime() },
    });
    return [
      shown('new', 'The job was accepted', job.created_at),
      ...(byJob.get(job.id) ?? []).map(({ kind, error, at }) =>
        shown(stateOf(kind, job.expired), error?.message ?? '', at),
      ),
    ];
  });
}
