/**
 * Deletes what is no longer kept of jobs that are over. Label data is personal: it is kept for pictures and
 * reprints, and then deleted. Jobs that are under way or held are kept, and data that is about to go to another printer.
 */

import { JOB_STATES, JOB_STATUSES, statesIn } from '../../../contract/job-life.ts';
import type { ServerConfig } from '../../config.ts';
import { inSql, type Pool } from '../../store/pool.ts';
import { forgetTemplates } from '../../templates/job-templates.ts';

/** Rows in one statement, so that none is locked for long. */
const STEP = 500;
/** Statements in one round of housekeeping; the next round deletes the rest. */
const MOST_STEPS = 200;
/** Hours for which an IPP client can ask about a job whose document never came. */
const WITHOUT_DOCUMENT = 1;

const WITH_DATA = inSql(JOB_STATUSES.filter((status) => JOB_STATES[status].data === 'kept for a while'));

/** Deletes what is kept no longer, in small steps. Several instances may do so at once. */
export async function forgetJobs(pool: Pool, retention: ServerConfig['retention']): Promise<void> {
  await inSteps(
    pool,
    `UPDATE platen.jobs SET payload = NULL, template_hash = NULL WHERE id IN (
       SELECT id FROM platen.jobs WHERE payload IS NOT NULL AND status IN (${WITH_DATA})
         AND updated_at < now() - make_interval(hours => $1) AND (move_to IS NULL OR move_to ? 'refused')
       ORDER BY updated_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
    retention.labelDataHours,
  );
  await inSteps(
    pool,
    `DELETE FROM platen.jobs WHERE id IN (
       SELECT id FROM platen.jobs WHERE status IN (${inSql(statesIn('over'))})
         AND created_at < now() - make_interval(days => $1) AND updated_at < now() - make_interval(days => $1)
       LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
    retention.jobDays,
  );
  await inSteps(
    pool,
    `DELETE FROM platen.ipp_jobs WHERE (tenant_id, number) IN (
       SELECT tenant_id, number FROM platen.ipp_jobs
       WHERE job_id IS NULL AND created_at < now() - make_interval(hours => $1)
       LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
    WITHOUT_DOCUMENT,
  );
  for (const kind of ['printer', 'template'] as const) {
    // `OFFSET 0` changes no result, but has PostgreSQL look up each name by index and not read all jobs.
    await pool.query(
      `DELETE FROM platen.job_names n WHERE kind = '${kind}' AND NOT EXISTS (
         SELECT FROM platen.jobs j WHERE j.tenant_id = n.tenant_id AND j.${kind}_id = n.id OFFSET 0)`,
    );
  }
  await forgetTemplates(pool);
}

async function inSteps(pool: Pool, sql: string, kept: number): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { rowCount } = await pool.query(sql, [kept]);
    if ((rowCount ?? 0) < STEP) return;
  }
}
