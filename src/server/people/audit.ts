/**
 * What was done under `/app`, by whom, when and from where. A route that changes something names its deed, and the entry
 * is written before its answer goes out: by the handler, in the transaction of the deed, where it has one at hand; for all
 * others after it. Without the entry the caller gets an error. Entries hold no label data and no secrets.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeedWord } from '../../contract/deeds.ts';
import { type AuditEntry, type AuditFilter, type AuditPage, auditEntry } from '../../contract/people.ts';
import { callerAddress } from '../network.ts';
import { type Pool, type Queryable, rowsOf } from '../store/pool.ts';
import type { Visitor } from './visitor.ts';

/** Days that entries are kept: as long as jobs are kept by default. */
const KEPT_DAYS = 400;

/** What a handler adds to its route's deed. */
export type Deed = {
  tenant?: string | null;
  /** The ID of what it was done to. */
  object?: string;
  details?: AuditEntry['details'];
};

const auditRow = z.object({
  id: z.string(),
  at: z.date(),
  tenant_id: z.string().nullable(),
  who_kind: auditEntry.shape.who.shape.kind,
  who_id: z.string(),
  who_name: z.string(),
  what: z.string(),
  object: z.string().nullable(),
  details: auditEntry.shape.details,
  address: z.string().nullable(),
});

type Written = { request: FastifyRequest; visitor: Visitor; tenant: string | undefined; what: DeedWord };

/** Writes one entry. `db`: the pool, or the transaction of the deed. */
export async function writeEntry(
  db: Queryable,
  { request, visitor, tenant, what }: Written,
  deed: Deed,
): Promise<void> {
  const who =
    visitor.kind === 'person'
      ? { kind: 'person', id: visitor.id, name: visitor.login }
      : { kind: 'machine', id: 'admin-token', name: 'admin token' };
  await db.query(
    `INSERT INTO platen.audit (tenant_id, who_kind, who_id, who_name, what, object, details, address)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      deed.tenant === undefined ? (tenant ?? null) : deed.tenant,
      who.kind,
      who.id,
      who.name,
      what,
      deed.object ?? null,
      JSON.stringify(deed.details ?? {}),
      callerAddress(request),
    ],
  );
}

/** The newest first. @param tenant undefined: entries of all tenants, and those that concern no tenant */
export async function auditPageOf(
  pool: Pool,
  tenant: string | undefined,
  { before, limit }: Pick<AuditFilter, 'before' | 'limit'>,
): Promise<AuditPage> {
  const rows = await rowsOf(
    pool,
    auditRow,
    `SELECT * FROM platen.audit
     WHERE ($1::text IS NULL OR tenant_id = $1) AND ($2::bigint IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [tenant ?? null, before ?? null, limit + 1],
  );
  const entries = rows.slice(0, limit).map(entryOf);
  return { entries, next: rows.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

export async function forgetEntries(pool: Pool): Promise<void> {
  await pool.query(`DELETE FROM platen.audit WHERE at < now() - interval '${KEPT_DAYS} days'`);
}

function entryOf(row: z.infer<typeof auditRow>): AuditEntry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    tenant: row.tenant_id,
    who: { kind: row.who_kind, id: row.who_id, name: row.who_name },
    what: row.what,
    object: row.object,
    details: row.details,
    from: row.address,
  };
}
