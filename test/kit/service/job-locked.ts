/** Gives a job another status in one transaction, while somebody else waits for the job's row. */
import { expect } from 'vitest';
import type { Pool } from '../../../src/server/store/pool.ts';

/** @param begun called once the row is locked. @param wait how the statement ends that has to wait for it */
export async function setWhileAwaited(
  pool: Pool,
  id: string,
  status: string,
  { begun, wait = '' }: { begun?: () => void; wait?: string } = {},
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT FROM platen.jobs WHERE id = $1 FOR UPDATE', [id]);
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    begun?.();
    const waiting = 'SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)) AND query LIKE $2';
    const asked = async () => (await pool.query(waiting, [rows[0]?.pid, `%${wait}`])).rowCount;
    await expect.poll(asked, { timeout: 10_000 }).toBeGreaterThan(0);
    await client.query('UPDATE platen.jobs SET status = $2 WHERE id = $1', [id, status]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
