/**
 * The printers that requests ask for, kept for those that ask for the same. With them goes a stamp, by which the database
 * tells whether what agents say of them has changed since (`platen.route_stamp` in the migrations).
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { onlyRow, type Queryable } from '../store/pool.ts';
import { askedPrinters, type Printer } from './printers.ts';

/** An ID, a name, or both; null: not asked for. */
export type Asked = { id: string | null; name: string | null };
export type Found = {
  byId: Printer | undefined;
  /** The printers that bear exactly this name now. */
  named: readonly Printer[];
  stamp: string;
};

const MOST = 2_000;
/** ms: which agent of several is heard of is not in the stamp. */
const AGE = 5_000;

const stampRow = z.object({ stamp: z.string() });

export class AskedPrinters {
  readonly #db: Queryable;
  readonly #kept = new LRUCache<string, Found>({ max: MOST, ttl: AGE });

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** As it was looked up in the last seconds. */
  kept(tenantId: string, asked: Asked): Found | undefined {
    return this.#kept.get(nameOf(tenantId, asked));
  }

  async find(tenantId: string, asked: Asked): Promise<Found> {
    // The stamp first: what changes in between is not in the stamp, and shows when it is compared.
    const sql = 'SELECT platen.route_stamp($1, $2, $3) AS stamp';
    const [{ stamp }, printers] = [
      await onlyRow(this.#db, stampRow, sql, [tenantId, asked.id, asked.name]),
      await askedPrinters(this.#db, tenantId, asked),
    ];
    const found = { ...printers, stamp };
    this.#kept.set(nameOf(tenantId, asked), found);
    return found;
  }
}

function nameOf(tenantId: string, asked: Asked): string {
  return JSON.stringify([tenantId, asked.id, asked.name]);
}
