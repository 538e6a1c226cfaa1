/** Invitations of agents at other sites: codes that work once, of which the hash is kept. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { InvitationMade, invitationMake, OpenInvitation } from '../../contract/agent-view.ts';
import { CODE_HOURS, codeOf, shownCode } from '../../contract/invitation.ts';
import { type Scope, scope } from '../../contract/lane.ts';
import { ProblemError } from '../problems.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { orTenantNotFound } from '../tenant-not-found.ts';

const madeRow = z.object({ id: z.string(), expires_at: z.date() });
const withdrawnRow = z.object({ tenant_id: scope, name: z.string() });
const openRow = z.object({ id: z.string(), name: z.string(), tenant_id: scope, expires_at: z.date() });
const countRow = z.object({ count: z.int() });
const MOST_LISTED = 5_000;
/** Agents and open codes of a tenant, where the tenant's own people make them. */
const MOST_OF_TENANT = 500;

export function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

export class Invitations {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * @param within the only tenant for which the caller may invite; undefined: any, and for all of them
   * @throws ProblemError `tenant-not-found`, `tenant-forbidden`, `agents-limit`
   */
  async invite(
    asked: z.output<typeof invitationMake>,
    within?: string,
  ): Promise<Omit<InvitationMade, 'url'>> {
    const { name, tenant = within, printers } = asked;
    const code = codeOf(randomBytes(15));
    await this.#pool.query(
      "DELETE FROM platen.agent_invitations WHERE expires_at < now() - interval '30 days'",
    );
    const { id, expires_at } = await transaction(this.#pool, async (db) => {
      if (within !== undefined) await mayInvite(db, tenant, within);
      return await onlyRow(
        db,
        madeRow,
        `INSERT INTO platen.agent_invitations (code_hash, tenant_id, name, approve, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(hours => ${CODE_HOURS})) RETURNING id, expires_at`,
        [hashOf(code), tenant ?? null, name, printers === 'approve'],
      );
    }).catch(orTenantNotFound(tenant ?? ''));
    return { id, code: shownCode(code), expiresAt: expires_at.toISOString() };
  }

  /**
   * The code of an invitation that nobody has used works no longer.
   * @param within the only tenant of which the caller may name one
   * @param also is told whose it was, and for which agent
   * @throws ProblemError `invitation-spent`
   */
  async withdraw(
    id: string,
    within: string | undefined,
    also: Also<{ of: Scope; name: string }>,
  ): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const found = await rowOf(
        db,
        withdrawnRow,
        `DELETE FROM platen.agent_invitations
         WHERE id::text = $1 AND used_at IS NULL AND expires_at > now() AND ($2::text IS NULL OR tenant_id = $2)
         RETURNING tenant_id, name`,
        [id, within ?? null],
      );
      if (found === undefined) {
        throw new ProblemError(
          'invitation-spent',
          'no open invitation has this ID: used, withdrawn, or too old',
        );
      }
      await also(db, { of: found.tenant_id, name: found.name });
    });
  }

  /** The codes that nobody has used yet. @param within of this tenant alone */
  async open(within: string | undefined): Promise<OpenInvitation[]> {
    const rows = await rowsOf(
      this.#pool,
      openRow,
      `SELECT id, name, tenant_id, expires_at FROM platen.agent_invitations
       WHERE used_at IS NULL AND expires_at > now() AND ($1::text IS NULL OR tenant_id = $1)
       ORDER BY expires_at LIMIT ${MOST_LISTED}`,
      [within ?? null],
    );
    return rows.map(({ tenant_id: tenant, expires_at, ...rest }) => ({
      ...{ ...rest, tenant, expiresAt: expires_at.toISOString() },
    }));
  }
}

/**
 * @param within the only tenant for which the caller may invite
 * @throws ProblemError `tenant-forbidden`, `agents-limit`
 */
async function mayInvite(db: Queryable, tenant: string | undefined, within: string): Promise<void> {
  if (tenant !== within) {
    throw new ProblemError('tenant-forbidden', `you have no access to tenant "${tenant}"`);
  }
  // One at a time: otherwise two invitations could see the same count, and both take the last place.
  await db.query('SELECT FROM platen.tenants WHERE id = $1 FOR NO KEY UPDATE', [within]);
  const { count } = await onlyRow(
    db,
    countRow,
    `SELECT ((SELECT count(*) FROM platen.enrolled_agents WHERE tenant_id = $1 AND revoked_at IS NULL)
       + (SELECT count(*) FROM platen.agent_invitations WHERE tenant_id = $1 AND used_at IS NULL AND expires_at > now()))::int AS count`,
    [within],
  );
  if (count < MOST_OF_TENANT) return;
  throw new ProblemError('agents-limit', `it has ${count} agents and open codes: revoke some`);
}
