/**
 * Rules that BullMQ keeps on Redis and not on PostgreSQL, and that labels need; as triggers on its table.
 *
 * Order: a job that goes back from `active` to `waiting` (its worker died, or handed it back) goes to the front
 * on Redis, and to the tail on PostgreSQL. `seq` is the order; the job keeps the one it had. It loses the mark of the
 * check for stalled jobs: every worker's check writes to marked rows, and while it does, a worker that looks for the
 * next job skips them (`SKIP LOCKED`), and so took the job behind.
 *
 * Removal: a job that a worker has is not taken out. BullMQ looks for its lock first and deletes it then; a worker that
 * took it in between would print it, and so would whoever was told that it is out of the lane.
 *
 * Data: a finished job is kept so that adding it again is ignored. Its label data is not needed for that.
 */
import type { PoolClient } from 'pg';

const FUNCTION = 'platen_on_state';
const ON_DELETE = 'platen_on_delete';

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
    await client.query(`
      CREATE OR REPLACE FUNCTION ${schema}.${ON_DELETE}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RETURN CASE WHEN OLD.locked_until_ms > extract(epoch FROM clock_timestamp()) * 1000 THEN NULL ELSE OLD END;
      END $$`);
    await addTrigger(
      client,
      schema,
      FUNCTION,
      'BEFORE UPDATE OF state',
      'OLD.state IS DISTINCT FROM NEW.state',
    );
    await addTrigger(
      client,
      schema,
      ON_DELETE,
      'BEFORE DELETE',
      "OLD.state = 'active' AND OLD.lock_token IS NOT NULL",
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Only where it is missing: adding one waits for whoever works on the table. */
async function addTrigger(
  client: PoolClient,
  schema: string,
  name: string,
  event: string,
  when: string,
): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM pg_trigger WHERE tgname = $1 AND tgrelid = $2::regclass',
    [name, `${schema}.job`],
  );
  if (rowCount !== 0) return;
  await client.query(
    `CREATE TRIGGER ${name} ${event} ON ${schema}.job FOR EACH ROW WHEN (${when})
     EXECUTE FUNCTION ${schema}.${name}()`,
  );
}
