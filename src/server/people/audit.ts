/**
 * What was done under `/app`, by whom, when and from where. A route that changes something names its deed, and the entry is
 * written before its answer goes out: by the handler, in the transaction of the deed, if it has one; otherwise after the deed.
 * Without the entry the caller gets an error. Entries hold no label data and no secrets.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DEED_KINDS, type DeedWord } from '../../contract/deeds.ts';
import { type AuditEntry, type AuditFilter, type AuditPage, auditEntry } from '../../contract/people.ts';
import { callerAddress } from '../network.ts';
import { REPORTED } from '../printers/printers.ts';
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

type Who = AuditEntry['who'] & { id: string };
type Written = { request: FastifyRequest; who: Who; tenant: string | undefined; what: DeedWord };

export function whoIs(visitor: Visitor): Who {
  return visitor.kind === 'person'
    ? { kind: 'person', id: visitor.id, name: visitor.login }
    : { kind: 'machine', id: 'admin-token', name: 'admin token' };
}

/** Writes one entry. `db`: the pool, or the transaction of the deed. */
export async function writeEntry(
  db: Queryable,
  { request, who, tenant, what }: Written,
  deed: Deed,
): Promise<void> {
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

/** Entries that one search looks at. A rare entry is found after several pages, each of which is quick. */
const LOOKED_AT = 20_000;
/** Names that one search finds the IDs of. */
const MOST_NAMED = 1_000;
const ID_ONLY = z.object({ id: z.string() });

/**
 * The newest first. Entries about an erased tenant are not shown to another tenant that has its ID now.
 * @param tenant undefined: entries of all tenants, and those that concern no tenant
 */
export async function auditPageOf(
  pool: Pool,
  tenant: string | undefined,
  { before, limit, about, text, since }: AuditFilter,
): Promise<AuditPage> {
  // `%`, `_` and the escape itself are searched for as they are.
  const like = text === undefined ? null : `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const named = like === null ? [] : await namesakes(pool, tenant, like);
  const span = [tenant ?? null, before ?? null, since ?? null];
  // Older entries have smaller IDs. Without this bound a search for a short time would go through all entries.
  const within = `SELECT * FROM platen.audit WHERE ($1::text IS NULL OR tenant_id = $1
      AND at >= coalesce((SELECT created_at FROM platen.tenants WHERE id = $1), '-infinity'))
    AND ($2::bigint IS NULL OR id < $2) AND ($3::timestamptz IS NULL OR at >= $3 AND
      id > coalesce((SELECT id FROM platen.audit WHERE at < $3 ORDER BY at DESC LIMIT 1), 0)) ORDER BY id DESC`;
  const rows = await rowsOf(
    pool,
    auditRow,
    `SELECT * FROM (${within} LIMIT ${LOOKED_AT}) AS lately
     WHERE ($4::text[] IS NULL OR split_part(what, '.', 1) = ANY($4)) AND ($5::text IS NULL OR object = ANY($6)
       OR concat_ws(' ', who_name, object, address, details::text) ILIKE $5)
     ORDER BY id DESC LIMIT $7`,
    [...span, about === undefined ? null : DEED_KINDS[about], like, named, limit + 1],
  );
  const entries = rows.slice(0, limit).map(entryOf);
  if (rows.length > limit) return { entries, next: entries.at(-1)?.id ?? null };
  const filtered = about !== undefined || text !== undefined;
  const [last] = filtered
    ? await rowsOf(pool, ID_ONLY, `${within} OFFSET ${LOOKED_AT - 1} LIMIT 1`, span)
    : [];
  return { entries, next: last?.id ?? null };
}

/** The IDs of everything that has this name now. */
async function namesakes(pool: Pool, tenant: string | undefined, like: string): Promise<string[]> {
  const rows = await rowsOf(
    pool,
    ID_ONLY,
    `SELECT id FROM (
       SELECT id, name, tenant_id FROM platen.templates
       UNION ALL SELECT api_key, name, tenant_id FROM platen.integrations
       UNION ALL SELECT id::text, url, tenant_id FROM platen.webhooks
       UNION ALL SELECT id::text, concat_ws(' ', name, login), tenant_id FROM platen.people
       UNION ALL SELECT p.printer_id, concat_ws(' ', p.name, s.display_name), coalesce(a.tenant_id, $1)
         FROM ${REPORTED} WHERE platen.may_use($1, a.tenant_id, s.granted_to)
     ) AS things WHERE ($1::text IS NULL OR tenant_id = $1) AND name ILIKE $2 LIMIT ${MOST_NAMED}`,
    [tenant ?? null, like],
  );
  return rows.map(({ id }) => id);
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
