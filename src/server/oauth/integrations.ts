/** Integrations: the service accounts of a tenant. */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { IntegrationView, Permission } from '../../contract/admin.ts';
import { PERMISSIONS } from '../../contract/admin.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import type { Also, Pool, Queryable } from '../store/pool.ts';
import { onlyRow, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { orTenantNotFound } from '../tenant-not-found.ts';
import { hashSecret, newApiKey, newApiSecret, secretMatches } from './secret.ts';

/** `test`: its jobs are tests, which print on virtual printers only. */
export type Integration = { apiKey: string; tenantId: string; scope: readonly Permission[]; test: boolean };

const integrationRow = z.object({
  api_key: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  scope: z.array(z.string()),
  test: z.boolean(),
  secret_hash: z.string(),
  secret_created_at: z.date().nullable(),
  old_secret_hash: z.string().nullable(),
  old_secret_created_at: z.date().nullable(),
  old_secret_ends_at: z.date().nullable(),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
});
type Row = z.infer<typeof integrationRow>;

const KEY = /^pk_[\w-]{1,100}$/;
/** ms between two updates of an account's `last_used_at`. */
const USED_EVERY_MS = 5 * 60_000;

/** Those of the names that are permissions of ours. */
export function knownPermissions(names: readonly string[]): Permission[] {
  return PERMISSIONS.filter((permission) => names.includes(permission));
}

/** How many accounts are kept after a look-up, and for how many ms. */
const KEPT = { max: 2_000, ttl: 10_000 };

export class Integrations {
  readonly #pool: Pool;
  readonly #lately = new LRUCache<string, Integration>(KEPT);

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The secret is returned here and never again. @throws ProblemError `tenant-not-found` */
  async create(
    tenantId: string,
    options: { name: string; scope: readonly Permission[]; test: boolean },
    also?: Also<IntegrationView>,
  ): Promise<{ apiKey: string; apiSecret: string }> {
    const apiKey = newApiKey();
    const apiSecret = newApiSecret();
    await transaction(this.#pool, async (client) => {
      const row = await onlyRow(
        client,
        integrationRow,
        `INSERT INTO platen.integrations (api_key, tenant_id, name, scope, secret_hash, secret_created_at, test)
         VALUES ($1, $2, $3, $4, $5, now(), $6) RETURNING *`,
        [apiKey, tenantId, options.name, options.scope, hashSecret(apiSecret), options.test],
      );
      await also?.(client, view(row));
    }).catch(orTenantNotFound(tenantId));
    return { apiKey, apiSecret };
  }

  async list(tenantId: string): Promise<IntegrationView[]> {
    const sql = 'SELECT * FROM platen.integrations WHERE tenant_id = $1 ORDER BY created_at, api_key';
    return (await rowsOf(this.#pool, integrationRow, sql, [tenantId])).map(view);
  }

  /** Its tokens are refused from now on. Idempotent. @throws ProblemError `integration-not-found` */
  async revoke(tenantId: string, apiKey: string, also?: Also<IntegrationView>): Promise<IntegrationView> {
    const revoked = await this.#change(tenantId, apiKey, also, (client) =>
      rowOf(
        client,
        integrationRow,
        `UPDATE platen.integrations SET revoked_at = coalesce(revoked_at, now())
         WHERE tenant_id = $1 AND api_key = $2 RETURNING *`,
        [tenantId, apiKey],
      ),
    );
    this.#lately.delete(apiKey);
    return revoked;
  }

  /**
   * Adds a second secret, while the first goes on working.
   * @param hours after which the first stops working; undefined: it works until it is removed
   * @throws ProblemError `integration-not-found`; `secrets-limit`: there are two already
   */
  async rotate(
    tenantId: string,
    apiKey: string,
    hours: number | undefined,
    also?: Also<IntegrationView>,
  ): Promise<{ integration: IntegrationView; apiSecret: string }> {
    const apiSecret = newApiSecret();
    const integration = await this.#change(tenantId, apiKey, also, async (client, { revoked_at, ...row }) => {
      if (revoked_at !== null) throw notFound(tenantId);
      if (oldSecretOf(row) !== null) {
        throw refusedBecause('secrets-limit', because('secrets-two', {}));
      }
      return await rowOf(
        client,
        integrationRow,
        `UPDATE platen.integrations SET secret_hash = $3, secret_created_at = now(), old_secret_hash = secret_hash,
           old_secret_created_at = coalesce(secret_created_at, created_at),
           old_secret_ends_at = now() + make_interval(hours => $4::integer)
         WHERE tenant_id = $1 AND api_key = $2 RETURNING *`,
        [tenantId, apiKey, hashSecret(apiSecret), hours ?? null],
      );
    });
    return { integration, apiSecret };
  }

  /**
   * Removes one of two secrets.
   * @param which `new`: for a secret that was lost before anybody used it; the old one then stays for good
   * @throws ProblemError `integration-not-found`; `secrets-limit`: there is one only
   */
  async removeSecret(
    tenantId: string,
    apiKey: string,
    which: 'old' | 'new',
    also?: Also<IntegrationView>,
  ): Promise<IntegrationView> {
    const kept =
      which === 'old' ? '' : 'secret_hash = old_secret_hash, secret_created_at = old_secret_created_at,';
    return await this.#change(tenantId, apiKey, also, async (client, row) => {
      if (oldSecretOf(row) === null) {
        throw refusedBecause('secrets-limit', because('secrets-one', {}));
      }
      return await rowOf(
        client,
        integrationRow,
        `UPDATE platen.integrations SET ${kept} old_secret_hash = NULL, old_secret_created_at = NULL,
           old_secret_ends_at = NULL
         WHERE tenant_id = $1 AND api_key = $2 RETURNING *`,
        [tenantId, apiKey],
      );
    });
  }

  /** @param write changes the account, which is locked meanwhile. @throws ProblemError `integration-not-found` */
  async #change(
    tenantId: string,
    apiKey: string,
    also: Also<IntegrationView> | undefined,
    write: (client: Queryable, row: Row) => Promise<Row | undefined>,
  ): Promise<IntegrationView> {
    return await transaction(this.#pool, async (client) => {
      const sql = 'SELECT * FROM platen.integrations WHERE tenant_id = $1 AND api_key = $2 FOR UPDATE';
      const row = KEY.test(apiKey) ? await rowOf(client, integrationRow, sql, [tenantId, apiKey]) : undefined;
      const written = row && (await write(client, row));
      if (written === undefined) throw notFound(tenantId);
      const changed = view(written);
      await also?.(client, changed);
      return changed;
    });
  }

  /** The account behind key and secret; undefined, after the same time, for a wrong, unknown or revoked one. */
  async authenticate(apiKey: string, apiSecret: string): Promise<Integration | undefined> {
    const row = await this.#find(apiKey);
    const matches = secretMatches(apiSecret, row?.secret_hash);
    // Compared even if there is only one secret, so that the time taken does not tell whether there are two.
    const matchesOld = secretMatches(apiSecret, (row && oldSecretOf(row)?.hash) ?? undefined);
    if (row === undefined || (!matches && !matchesOld)) return undefined;
    await this.#used(row);
    return account(row);
  }

  /** The account, unless it is unknown or revoked. */
  async find(apiKey: string): Promise<Integration | undefined> {
    const row = await this.#find(apiKey);
    if (row === undefined) {
      this.#lately.delete(apiKey);
      return undefined;
    }
    const found = account(row);
    this.#lately.set(apiKey, found);
    await this.#used(row);
    return found;
  }

  /** Notes that the account is in use, once in a few minutes, so that most requests only read. */
  async #used(row: Row): Promise<void> {
    if (row.last_used_at !== null && Date.now() - row.last_used_at.getTime() < USED_EVERY_MS) return;
    await this.#pool.query(
      `UPDATE platen.integrations SET last_used_at = now()
       WHERE api_key = $1 AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => $2))`,
      [row.api_key, USED_EVERY_MS / 1000],
    );
  }

  /** The account as it was looked up in the last seconds: it may have been revoked since. */
  lately(apiKey: string): Integration | undefined {
    return this.#lately.get(apiKey);
  }

  async #find(apiKey: string): Promise<Row | undefined> {
    // Anything else is no key of ours, and PostgreSQL would refuse some of it.
    if (!KEY.test(apiKey)) return undefined;
    const sql = 'SELECT * FROM platen.integrations WHERE api_key = $1 AND revoked_at IS NULL';
    return rowOf(this.#pool, integrationRow, sql, [apiKey]);
  }
}

function account(row: Row): Integration {
  const { api_key: apiKey, tenant_id: tenantId, test } = row;
  return { apiKey, tenantId, scope: knownPermissions(row.scope), test };
}

/** The first of two secrets, while it works. */
function oldSecretOf({
  old_secret_hash: hash,
  old_secret_ends_at: ends,
}: Pick<Row, 'old_secret_hash' | 'old_secret_ends_at'>): { hash: string } | null {
  return hash === null || (ends !== null && ends.getTime() <= Date.now()) ? null : { hash };
}

function notFound(tenantId: string): ProblemError {
  return new ProblemError(
    'integration-not-found',
    `tenant "${tenantId}" has no integration with this API key`,
  );
}

function view(row: Row): IntegrationView {
  const old = oldSecretOf(row);
  return {
    apiKey: row.api_key,
    name: row.name,
    scope: row.scope.join(' '),
    test: row.test,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    secretCreatedAt: (row.secret_created_at ?? row.created_at).toISOString(),
    oldSecret:
      old === null
        ? null
        : {
            createdAt: (row.old_secret_created_at ?? row.created_at).toISOString(),
            endsAt: row.old_secret_ends_at?.toISOString() ?? null,
          },
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
