/** Label data is personal: of jobs that are over it is kept for pictures and reprints, and then deleted. */
import { JOB_STATES, JOB_STATUSES } from '../../../contract/job-life.ts';
import { inSql, type Pool } from '../../store/pool.ts';

/** h after a job's end. */
const KEPT = 72;
/** Jobs in one statement, so that no row is locked for long. */
const STEP = 500;

const ENDED = inSql(JOB_STATUSES.filter((status) => JOB_STATES[status].data === 'kept for a while'));

/** Deletes the label data of jobs that ended long enough ago. */
export async function forgetLabelData(pool: Pool): Promise<void> {
  for (let forgotten = STEP; forgotten === STEP; ) {
    const { rowCount } = await pool.query(
      `UPDATE platen.jobs SET payload = NULL WHERE id IN (
         SELECT id FROM platen.jobs WHERE payload IS NOT NULL AND status IN (${ENDED})
           AND updated_at < now() - make_interval(hours => ${KEPT})
         ORDER BY updated_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
    );
    forgotten = rowCount ?? 0;
  }
}
