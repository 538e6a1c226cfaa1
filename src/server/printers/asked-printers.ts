/**
 * Looks up the printers that requests ask for, and keeps them for a few seconds, with a stamp by which the
 * database can tell whether agents report something else since (`platen.route_stamp` in the migrations).
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { onlyRow, type Queryable } from '../store/pool.ts';
import { askedPrinters, otherPrinters, type ScopePrinter } from './printers.ts';

/** An ID, a name, or both; null: not asked for. */
export type Asked = { id: string | null; name: string | null };
export type Found = {
  byId: ScopePrinter | undefined;
  /** The printers that bear exactly this name now. */
  named: readonly ScopePrinter[];
  /** Where none was found: printers that could have been meant. */
  others: readonly ScopePrinter[];
  stamp: string;
};

const MOST = 2_000;
/** ms for which printers are kept: the stamp does not say which of several agents is online. */
const AGE = 5_000;

const stampRow = z.object({ stamp: z.string() });

export class AskedPrinters {
  readonly #db: Queryable;
  readonly #kept = new LRUCache<string, Found>({ max: MOST, ttl: AGE });

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** What `find` found in the last seconds. */
  kept(tenantId: string, asked: Asked): Found | undefined {
    return this.#kept.get(nameOf(tenantId, asked));
  }

  async find(tenantId: string, asked: Asked): Promise<Found> {
    // The stamp is read first: what changes in between is not in it, and shows when the stamp is compared.
    const sql = 'SELECT platen.route_stamp($1, $2, $3) AS stamp';
    const [{ stamp }, printers] = [
      await onlyRow(this.#db, stampRow, sql, [tenantId, asked.id, asked.name]),
      await askedPrinters(this.#db, tenantId, asked),
    ];
    const isFound = printers.byId !== undefined || printers.named.length > 0;
    const others = isFound ? [] : await otherPrinters(this.#db, tenantId);
    const found = { ...printers, others, stamp };
    this.#kept.set(nameOf(tenantId, asked), found);
    return found;
  }
}

function nameOf(tenantId: string, asked: Asked): string {
  return JSON.stringify([tenantId, asked.id, asked.name]);
}
