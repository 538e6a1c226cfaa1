/** The rows of jobs that came by IPP. */
import { z } from 'zod';
import { statesIn } from '../../contract/job-life.ts';
import type { Scope } from '../../contract/lane.ts';
import type { JobOrder, JobQuery } from '../../ipp/operations.ts';
import { newNumbers } from '../numbers.ts';
import { inSql, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';
import type { Whose } from '../tenants/whose.ts';
import { type DoorJob, doorJobOf, doorRow, type KeptTicket } from './door-job.ts';

/** Whose jobs at which printer. */
export type Where = Whose & { printerId: string };
/** What a row is made of. */
export type NewJob = Pick<JobOrder, 'name' | 'user'> & { ticket: KeptTicket };

/** s that a job waits for its document. */
export const DOCUMENT_WAIT = 60;
/** Of one tenant, jobs that wait for their documents. */
const MOST_OPEN = 100;
/** Jobs that one answer lists. */
const MOST_LISTED = 100;
/** Jobs before one that are looked at to count them. */
const MOST_BEFORE = 200;

const UNDER_WAY = inSql(statesIn('under way'));
const OVER = `coalesce(j.status IN (${inSql(statesIn('over'))}), i.ended IS NOT NULL OR i.created_at <= now() - interval '${DOCUMENT_WAIT} s')`;
/** Other tenants' jobs at a shared printer are counted for nobody. */
const JOBS = `SELECT i.number, i.name, i.sender, i.ticket, i.octets, i.ended, i.message, i.created_at,
    i.created_at <= now() - interval '${DOCUMENT_WAIT} s' AS late, i.job_id, j.account, j.status, j.printed, j.reasons, j.error,
    j.cancel_requested_at IS NOT NULL AS stops, j.updated_at,
    (SELECT min(e.at) FROM platen.job_events e WHERE e.job_id = i.job_id AND e.kind = 'printing') AS begun_at,
    CASE WHEN j.status = 'queued' THEN (SELECT count(*) FILTER (WHERE b.tenant_id = i.tenant_id) FROM (
      SELECT tenant_id FROM platen.jobs WHERE lane = j.lane AND status IN (${UNDER_WAY}) AND seq < j.seq LIMIT ${MOST_BEFORE}) b)
    ELSE 0 END AS before
  FROM platen.ipp_jobs i LEFT JOIN platen.jobs j ON j.id = i.job_id
  WHERE i.tenant_id = $1 AND i.test = $2 AND i.printer_id = $3`;

export async function findDoorJob(
  db: Queryable,
  { tenantId, test, printerId }: Where,
  number: number,
): Promise<DoorJob | undefined> {
  const row = await rowOf(db, doorRow, `${JOBS} AND i.number = $4`, [tenantId, test, printerId, number]);
  return row && doorJobOf(row);
}

/** Those that have ended: the last first. */
export async function listDoorJobs(
  db: Queryable,
  { tenantId, test, printerId }: Where,
  { which, user, limit }: JobQuery,
): Promise<DoorJob[]> {
  const over = { completed: `AND ${OVER}`, 'not-completed': `AND NOT ${OVER}`, all: '' }[which];
  const rows = await rowsOf(
    db,
    doorRow,
    `${JOBS} ${over} AND ($4::text IS NULL OR i.sender = $4) ORDER BY i.number ${which === 'completed' ? 'DESC' : ''} LIMIT $5`,
    [tenantId, test, printerId, user ?? null, Math.min(limit ?? MOST_LISTED, MOST_LISTED)],
  );
  return rows.map(doorJobOf);
}

const NEW = `INSERT INTO platen.ipp_jobs (tenant_id, number, printer_id, test, name, sender, ticket, octets, job_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** Writes down a job that is accepted, in the transaction that accepts it. @returns its number */
export async function noteDoorJob(
  db: Queryable,
  { tenantId, test, printerId }: Where,
  { name, user, ticket }: NewJob,
  of: { octets: number; jobId: string },
): Promise<number> {
  const number = await newNumbers(db, tenantId, 1);
  const values = [tenantId, number, printerId, test, name, user, JSON.stringify(ticket), of.octets, of.jobId];
  await db.query(NEW, values);
  return number;
}

/** A job whose document is still to come. @returns its number; undefined: too many wait for their documents */
export async function openDoorJob(
  pool: Pool,
  { tenantId, test, printerId }: Where,
  { name, user, ticket }: NewJob,
): Promise<number | undefined> {
  return await transaction(pool, async (client) => {
    // Taken first: it makes those of one tenant wait for each other.
    const number = await newNumbers(client, tenantId, 1);
    const withoutDocument = 'FROM platen.ipp_jobs WHERE tenant_id = $1 AND job_id IS NULL AND created_at';
    const open = await rowsOf(
      client,
      z.object({}),
      `SELECT ${withoutDocument} > now() - interval '${DOCUMENT_WAIT} s' AND ended IS NULL LIMIT ${MOST_OPEN}`,
      [tenantId],
    );
    if (open.length >= MOST_OPEN) return undefined;
    await client.query(NEW, [tenantId, number, printerId, test, name, user, JSON.stringify(ticket), 0, null]);
    return number;
  });
}

/** The document of such a job has become a job. @returns whether the job still waited for it */
export async function documentCame(
  db: Queryable,
  tenantId: string,
  number: number,
  of: { octets: number; jobId: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE platen.ipp_jobs SET job_id = $3, octets = $4 WHERE tenant_id = $1 AND number = $2 AND job_id IS NULL AND ended IS NULL`,
    [tenantId, number, of.jobId, of.octets],
  );
  return rowCount === 1;
}

/** No document of the job comes any more. @returns whether it waited for one */
export async function endDoorJob(
  db: Queryable,
  tenantId: string,
  number: number,
  how: { ended: 'canceled' | 'aborted'; message: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE platen.ipp_jobs SET ended = $3, message = $4 WHERE tenant_id = $1 AND number = $2 AND job_id IS NULL AND ended IS NULL`,
    [tenantId, number, how.ended, how.message],
  );
  return rowCount === 1;
}

const counted = z.object({ count: z.coerce.number() });

/** Jobs of the tenant's that wait at a printer or print there, up to a thousand. */
export async function waitingAt(db: Queryable, tenantId: Scope, printerId: string): Promise<number> {
  if (tenantId === null) return 0;
  const sql = `SELECT count(*) FROM (SELECT FROM platen.jobs
    WHERE tenant_id = $1 AND printer_id = $2 AND lane IN ($2, $1 || '/' || $2) AND status IN (${UNDER_WAY}) LIMIT 1000) waiting`;
  return (await onlyRow(db, counted, sql, [tenantId, printerId])).count;
}
