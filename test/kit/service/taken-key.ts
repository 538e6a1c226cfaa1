import type { Pool } from '../../../src/server/store/pool.ts';

/** An idempotency key that another request has, as long as that is worked on: who comes with it waits in the database. */
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
  /** That request failed. */
  release(): Promise<void>;
}
