/** The integers by which PrintNode's interface and IPP know a tenant's printers, computers and jobs: once given they stay. */
import { z } from 'zod';
import { onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from './store/pool.ts';

/** PostgreSQL's `integer`, less the one behind the end of a range of them. */
export const MOST_NUMBER = 2 ** 31 - 2;

type Kind = 'account' | 'computer' | 'printer';
type Numbered = { number: number; since: string };

const counted = z.object({ last: z.int() });
const numbered = z.object({ name: z.string(), number: z.int(), created_at: z.date() });

/** Takes some numbers, until the transaction ends alone. @returns the first of them */
export async function newNumbers(db: Queryable, tenant: string, count: number): Promise<number> {
  const { last } = await onlyRow(
    db,
    counted,
    `INSERT INTO platen.printnode_counters AS c (tenant_id, last) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET last = c.last + $2 RETURNING last`,
    [tenant, count],
  );
  return last - count + 1;
}

/** The numbers of things, by their names; what has none yet gets one. */
export async function numbersOf(
  pool: Pool,
  tenant: string,
  kind: Kind,
  names: readonly string[],
): Promise<Map<string, Numbered>> {
  const wanted = [...new Set(names)];
  const known = await found(pool, tenant, kind, wanted);
  const missing = wanted.filter((name) => !known.has(name));
  if (missing.length === 0) return known;
  return await transaction(pool, async (client) => {
    const first = await newNumbers(client, tenant, missing.length);
    // Whoever was faster has given another one.
    await client.query(
      `INSERT INTO platen.printnode_numbers (tenant_id, kind, name, number)
       SELECT $1, $2, name, $3 + at - 1 FROM unnest($4::text[]) WITH ORDINALITY AS missing (name, at)
       ON CONFLICT (tenant_id, kind, name) DO NOTHING`,
      [tenant, kind, first, missing],
    );
    return await found(client, tenant, kind, wanted);
  });
}

async function found(db: Queryable, tenant: string, kind: Kind, names: readonly string[]) {
  const sql = `SELECT name, number, created_at FROM platen.printnode_numbers
    WHERE tenant_id = $1 AND kind = $2 AND name = ANY($3)`;
  const rows = await rowsOf(db, numbered, sql, [tenant, kind, names]);
  return new Map(
    rows.map(({ name, number, created_at }) => [name, { number, since: created_at.toISOString() }]),
  );
}

/** The ID of the printer that has this number. */
export async function printerOf(db: Queryable, tenant: string, number: number): Promise<string | undefined> {
  const sql = `SELECT name FROM platen.printnode_numbers WHERE tenant_id = $1 AND kind = 'printer' AND number = $2`;
  return (await rowOf(db, numbered.pick({ name: true }), sql, [tenant, number]))?.name;
}
