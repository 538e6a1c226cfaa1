import type { Pool } from '../../../src/server/store/pool.ts';

/** Holds an idempotency key as a request under way does: another request with it waits in the database. */
export async function takeKey(pool: Pool, tenant: string, key: string): Promise<TakenKey> {
  const holder = await pool.connect();
  let done: Promise<unknown> | undefined;
  const release = async () => {
    done ??= holder.query('ROLLBACK').finally(() => holder.release());
    await done;
  };
  await holder.query('BEGIN');
  await holder.query(
    `INSERT INTO platen.idempotency_keys (tenant_id, key, body_hash, job_id, response)
     VALUES ($1, $2, '', gen_random_uuid(), '""')`,
    [tenant, key],
  );
  return { release, [Symbol.asyncDispose]: release };
}

export interface TakenKey extends AsyncDisposable {
  /** Ends the request that holds the key, as failed. */
  release(): Promise<void>;
}
