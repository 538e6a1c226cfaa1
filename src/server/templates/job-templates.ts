/**
 * Templates as they are when jobs are accepted. A template is stored once for all jobs of a tenant that print
 * it, by the hash of its JSON, so that a large one is not written with each job: before the first job that
 * needs it, and as long as the row of a job refers to it, which it does while the job's data is kept.
 */
import { LRUCache } from 'lru-cache';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { templateHash } from '../../contract/template-hash.ts';
import type { Pool, Queryable } from '../store/pool.ts';

/** ms for which a template that was stored is assumed to be there; it is deleted after a day without use. */
const KNOWN = 3_600_000;
const MOST_KNOWN = 10_000;
/** Rows in one statement. */
const STEP = 500;

/** A job's payload with its template. For `FROM platen.jobs`, without another name. */
export const WHOLE_PAYLOAD = 'platen.whole_payload(tenant_id, template_hash, payload) AS payload';

export class JobTemplates {
  readonly #pool: Pool;
  readonly #known = new LRUCache<string, true>({ max: MOST_KNOWN, ttl: KNOWN });

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Resolves when the job's template is stored. */
  async store(job: Pick<QueuedJob, 'tenantId' | 'template'>): Promise<void> {
    const name = nameOf(job);
    if (this.#known.has(name)) return;
    await storeTemplate(this.#pool, job);
    this.#known.set(name, true);
  }

  /** Has the next `store` of the template store it again: it was found to be missing. */
  forget(job: Pick<QueuedJob, 'tenantId' | 'template'>): void {
    this.#known.delete(nameOf(job));
  }
}

function nameOf({ tenantId, template }: Pick<QueuedJob, 'tenantId' | 'template'>): string {
  return `${tenantId}/${templateHash(template)}`;
}

export async function storeTemplate(
  db: Queryable,
  { tenantId, template }: Pick<QueuedJob, 'tenantId' | 'template'>,
): Promise<void> {
  await db.query(
    `INSERT INTO platen.job_templates (tenant_id, hash, template) VALUES ($1, decode($2, 'hex'), $3)
     ON CONFLICT (tenant_id, hash) DO UPDATE SET used_at = now()`,
    [tenantId, templateHash(template), JSON.stringify(template)],
  );
}

/** Deletes templates that no job needs any more. */
export async function forgetTemplates(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM platen.job_templates WHERE (tenant_id, hash) IN (
       SELECT t.tenant_id, t.hash FROM platen.job_templates t WHERE t.used_at < now() - interval '1 day'
         AND NOT EXISTS (SELECT FROM platen.jobs j WHERE j.tenant_id = t.tenant_id AND j.template_hash = t.hash)
       LIMIT ${STEP} FOR UPDATE SKIP LOCKED)`,
  );
}
