/** Integrations: the service accounts of a tenant. */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { IntegrationView, Permission } from '../../contract/admin.ts';
import { PERMISSIONS } from '../../contract/admin.ts';
import { ProblemError } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { rowOf, rowsOf, sqlState } from '../store/pool.ts';
import { hashSecret, isCurrent, newApiKey, newApiSecret, secretMatches } from './secret.ts';

export type Account = { apiKey: string; tenantId: string; scope: readonly Permission[] };

const integrationRow = z.object({
  api_key: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  scope: z.array(z.string()),
  secret_hash: z.string(),
  created_at: z.date(),
  revoked_at: z.date().nullable(),
});
type Row = z.infer<typeof integrationRow>;

const FOREIGN_KEY_VIOLATION = '23503';

/** Those of the names that are permissions of ours. */
export function knownPermissions(names: readonly string[]): Permission[] {
  return PERMISSIONS.filter((permission) => names.includes(permission));
}

/** Accounts that are kept, and for how long, ms. */
const KEPT = { max: 2_000, ttl: 10_000 };

export class Integrations {
  readonly #pool: Pool;
  readonly #lately = new LRUCache<string, Account>(KEPT);

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The secret is returned here and never again. @throws ProblemError `tenant-not-found` */
  async create(
    tenantId: string,
    options: { name: string; scope: readonly Permission[] },
  ): Promise<{ apiKey: string; apiSecret: string }> {
    const apiKey = newApiKey();
    const apiSecret = newApiSecret();
    try {
      await this.#pool.query(
        `INSERT INTO platen.integrations (api_key, tenant_id, name, scope, secret_hash) VALUES ($1, $2, $3, $4, $5)`,
        [apiKey, tenantId, options.name, options.scope, hashSecret(apiSecret)],
      );
    } catch (error) {
      if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
      throw new ProblemError('tenant-not-found', `there is no tenant "${tenantId}"`);
    }
    return { apiKey, apiSecret };
  }

  async list(tenantId: string): Promise<IntegrationView[]> {
    const sql = 'SELECT * FROM platen.integrations WHERE tenant_id = $1 ORDER BY created_at, api_key';
    return (await rowsOf(this.#pool, integrationRow, sql, [tenantId])).map(view);
  }

  /** Its tokens are refused from now on. Revoking again changes nothing. @throws ProblemError `integration-not-found` */
  async revoke(tenantId: string, apiKey: string): Promise<IntegrationView> {
    const row = await rowOf(
      this.#pool,
      integrationRow,
      `UPDATE platen.integrations SET revoked_at = coalesce(revoked_at, now())
       WHERE tenant_id = $1 AND api_key = $2 RETURNING *`,
      [tenantId, apiKey],
    );
    if (row === undefined) {
      throw new ProblemError(
        'integration-not-found',
        `tenant "${tenantId}" has no integration with this API key`,
      );
    }
    this.#lately.delete(apiKey);
    return view(row);
  }

  /**
   * The account behind key and secret; undefined, after the same time, for a wrong, unknown or revoked one.
   * @throws HashingBusy
   */
  async authenticate(apiKey: string, apiSecret: string): Promise<Account | undefined> {
    const row = await this.#find(apiKey);
    const matches = await secretMatches(apiSecret, row?.secret_hash);
    if (!matches || row === undefined) return undefined;
    if (!isCurrent(row.secret_hash)) {
      await this.#pool.query(
        'UPDATE platen.integrations SET secret_hash = $3 WHERE api_key = $1 AND secret_hash = $2',
        [apiKey, row.secret_hash, hashSecret(apiSecret)],
      );
    }
    return account(row);
  }

  /** The account, unless it is unknown or revoked. */
  async find(apiKey: string): Promise<Account | undefined> {
    const row = await this.#find(apiKey);
    if (row === undefined) {
      this.#lately.delete(apiKey);
      return undefined;
    }
    const found = account(row);
    this.#lately.set(apiKey, found);
    return found;
  }

  /** As it was found in the last seconds: it may have been revoked since. */
  lately(apiKey: string): Account | undefined {
    return this.#lately.get(apiKey);
  }

  async #find(apiKey: string): Promise<Row | undefined> {
    // Anything else is no key of ours, and PostgreSQL would refuse some of it.
    if (!/^pk_[\w-]{1,100}$/.test(apiKey)) return undefined;
    const sql = 'SELECT * FROM platen.integrations WHERE api_key = $1 AND revoked_at IS NULL';
    return rowOf(this.#pool, integrationRow, sql, [apiKey]);
  }
}

function account(row: Row): Account {
  return { apiKey: row.api_key, tenantId: row.tenant_id, scope: knownPermissions(row.scope) };
}

function view(row: Row): IntegrationView {
  return {
    apiKey: row.api_key,
    name: row.name,
    scope: row.scope.join(' '),
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
