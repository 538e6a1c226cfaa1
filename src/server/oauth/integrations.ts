/** Integrations: the service accounts of a tenant. */
import type { IntegrationView, Permission } from '../../contract/admin.ts';
import { PERMISSIONS } from '../../contract/admin.ts';
import { ProblemError } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { onlyRow, sqlState } from '../store/pool.ts';
import { hashSecret, isCurrent, newApiKey, newApiSecret, secretMatches } from './secret.ts';

export type Account = { apiKey: string; tenantId: string; scope: readonly Permission[] };

type Row = {
  api_key: string;
  tenant_id: string;
  name: string;
  scope: string[];
  secret_hash: string;
  created_at: Date;
  revoked_at: Date | null;
};

const FOREIGN_KEY_VIOLATION = '23503';

/** What of a list of names is a permission of ours. */
export function knownPermissions(names: readonly string[]): Permission[] {
  return PERMISSIONS.filter((permission) => names.includes(permission));
}

export class Integrations {
  readonly #pool: Pool;

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
    const { rows } = await this.#pool.query<Row>(
      'SELECT * FROM platen.integrations WHERE tenant_id = $1 ORDER BY created_at, api_key',
      [tenantId],
    );
    return rows.map(view);
  }

  /** Its tokens are refused from now on. Revoking again changes nothing. @throws ProblemError `integration-not-found` */
  async revoke(tenantId: string, apiKey: string): Promise<IntegrationView> {
    const { rows } = await this.#pool.query<Row>(
      `UPDATE platen.integrations SET revoked_at = coalesce(revoked_at, now())
       WHERE tenant_id = $1 AND api_key = $2 RETURNING *`,
      [tenantId, apiKey],
    );
    if (rows.length === 0) {
      throw new ProblemError(
        'integration-not-found',
        `tenant "${tenantId}" has no integration with this API key`,
      );
    }
    return view(onlyRow(rows));
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
    return row === undefined ? undefined : account(row);
  }

  async #find(apiKey: string): Promise<Row | undefined> {
    // Anything else is not a key of ours, and may hold bytes that the database refuses.
    if (!/^pk_[\w-]{1,100}$/.test(apiKey)) return undefined;
    const { rows } = await this.#pool.query<Row>(
      'SELECT * FROM platen.integrations WHERE api_key = $1 AND revoked_at IS NULL',
      [apiKey],
    );
    return rows[0];
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
