/**
 * Idempotency keys: one job for each business event, however often the request is sent.
 *
 * The statement that makes the job (`acceptance.ts`) also inserts the key, which is a primary key. A retry that arrives
 * meanwhile waits for that key, as long as the lock timeout at most: if the first attempt commits, the retry gets its
 * answer; if the first rolls back, the retry goes ahead. So a failed attempt leaves nothing behind.
 */
import { z } from 'zod';
import { KEY_HOURS } from '../../../contract/limits.ts';
import { ProblemError } from '../../problems.ts';
import { type Pool, type Queryable, rowOf } from '../../store/pool.ts';

/** Keys deleted in one statement. */
const STEP = 1_000;

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/** What a job request answers: an array with the ID when data was supplied, else the bare ID. */
export const jobAnswer = z.union([z.tuple([z.string()]), z.string()]);
export type JobAnswer = z.infer<typeof jobAnswer>;

const record = z.object({ body_hash: z.instanceof(Buffer), job_id: z.string(), response: jobAnswer });

/** @throws ProblemError `idempotency-key-missing`, `idempotency-key-invalid` */
export function parseKey(header: string | string[] | undefined): string {
  if (header === undefined || header === '') {
    throw new ProblemError(
      'idempotency-key-missing',
      'expected the header Idempotency-Key: one key per business event',
    );
  }
  const key = idempotencyKey.safeParse(header);
  if (!key.success) {
    throw new ProblemError(
      'idempotency-key-invalid',
      'Idempotency-Key: expected 1 to 255 visible ASCII characters',
    );
  }
  return key.data;
}

/** The key as it is kept. The header's has no space, so a test's key is never that of another request. */
export function keptKey(key: string, test: boolean): string {
  return test ? `test ${key}` : key;
}

/** The first request's answer, if this key was used within `KEY_HOURS`. @throws ProblemError `idempotency-key-reused` */
export async function previousAnswer(
  db: Queryable,
  tenantId: string,
  key: string,
  bodyHash: Buffer,
): Promise<{ answer: JobAnswer; jobId: string } | undefined> {
  const found = await rowOf(
    db,
    record,
    `SELECT body_hash, job_id, response FROM platen.idempotency_keys
     WHERE tenant_id = $1 AND key = $2 AND created_at > now() - make_interval(hours => ${KEY_HOURS})`,
    [tenantId, key],
  );
  if (found === undefined) return undefined;
  if (!found.body_hash.equals(bodyHash)) throw keyReused();
  return { answer: found.response, jobId: found.job_id };
}

/** The ID of the job that this key made in the last 24 h. */
export async function jobOfKey(db: Queryable, tenantId: string, key: string): Promise<string | undefined> {
  const found = await rowOf(
    db,
    record.pick({ job_id: true }),
    `SELECT job_id FROM platen.idempotency_keys
     WHERE tenant_id = $1 AND key = $2 AND created_at > now() - make_interval(hours => ${KEY_HOURS})`,
    [tenantId, key],
  );
  return found?.job_id;
}

export function keyReused(): ProblemError {
  return new ProblemError(
    'idempotency-key-reused',
    'this Idempotency-Key belongs to a request with another payload; nothing was queued',
  );
}

/** Deletes keys that are no longer kept, in small steps. */
export async function forgetKeys(pool: Pool): Promise<void> {
  for (let forgotten = STEP; forgotten === STEP; ) {
    const { rowCount } = await pool.query(
      `DELETE FROM platen.idempotency_keys WHERE (tenant_id, key) IN (
         SELECT tenant_id, key FROM platen.idempotency_keys
         WHERE created_at <= now() - make_interval(hours => ${KEY_HOURS}) ORDER BY created_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
    );
    forgotten = rowCount ?? 0;
  }
}
