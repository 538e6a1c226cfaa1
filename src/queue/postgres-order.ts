/**
 * Two rules that BullMQ keeps on Redis and not on PostgreSQL, and that labels need; as a trigger on its table.
 *
 * Order: a job that goes back from `active` to `waiting` (its worker died, or handed it back) goes to the front
 * on Redis, and to the tail on PostgreSQL. `seq` is the order; the job keeps the one it had. It loses the mark of the
 * check for stalled jobs: every worker's check writes to marked rows, and while it does, a worker that looks for the
 * next job skips them (`SKIP LOCKED`), and so took the job behind.
 *
 * Data: a finished job is kept so that adding it again is ignored. Its label data is not needed for that.
 */
import type { PoolClient } from 'pg';

const FUNCTION = 'platen_on_state';

/** Run after BullMQ's migrations, at every start. */
export async function keepOrder(client: PoolClient, schema: string): Promise<void> {
  await client.query('BEGIN');
  try {
    // Several services may start at once.
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('${FUNCTION}'))`);
    await client.query(`
      CREATE OR REPLACE FUNCTION ${schema}.${FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.state = 'waiting' AND OLD.state = 'active' THEN
          NEW.seq := OLD.seq;
          NEW.stalled_marked := false;
        END IF;
        IF NEW.state = 'completed' THEN NEW.data := '{}'; END IF;
        RETURN NEW;
      END $$`);
    const { rowCount } = await client.query(
      'SELECT 1 FROM pg_trigger WHERE tgname = $1 AND tgrelid = $2::regclass',
      [FUNCTION, `${schema}.job`],
    );
    if (rowCount === 0) {
      await client.query(
        `CREATE TRIGGER ${FUNCTION} BEFORE UPDATE OF state ON ${schema}.job FOR EACH ROW
         WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION ${schema}.${FUNCTION}()`,
      );
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
