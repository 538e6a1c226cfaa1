/** Which agents at other sites may join: invitations, the keys that came with them, and what was revoked. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { signedToEnroll } from '../../contract/gateway.ts';
import {
  CODE_HOURS,
  codeOf,
  type Enrolled,
  type enroll,
  type invitationMake,
  shownCode,
} from '../../contract/invitation.ts';
import { scope } from '../../contract/lane.ts';
import { ProblemError } from '../problems.ts';
import {
  type Also,
  FOREIGN_KEY_VIOLATION,
  onlyRow,
  type Pool,
  rowOf,
  rowsOf,
  sqlState,
  transaction,
} from '../store/pool.ts';
import { tenantNotFound } from '../tenants/tenants.ts';
import { isSignedBy } from './device-key.ts';

/** min for which a code that was used gives the same key the same answer. */
const AGAIN_MINUTES = 10;

const invited = z.object({
  tenant_id: scope,
  name: z.string(),
  usable: z.boolean(),
  agent_id: z.string().nullable(),
  public_key: z.string().nullable(),
});
const agentRow = z.object({
  scope,
  name: z.string(),
  publicKey: z.string(),
  origin: z.string(),
  revoked: z.boolean(),
});
export type EnrolledAgent = z.infer<typeof agentRow>;
const idOnly = z.object({ id: z.string() });

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

export class Enrolments {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** @throws ProblemError `tenant-not-found` */
  async invite({
    name,
    tenant,
  }: z.output<typeof invitationMake>): Promise<{ code: string; expiresAt: string }> {
    const code = codeOf(randomBytes(15));
    await this.#pool.query(
      "DELETE FROM platen.agent_invitations WHERE expires_at < now() - interval '30 days'",
    );
    try {
      const { expires_at } = await onlyRow(
        this.#pool,
        z.object({ expires_at: z.date() }),
        `INSERT INTO platen.agent_invitations (code_hash, tenant_id, name, expires_at)
         VALUES ($1, $2, $3, now() + make_interval(hours => ${CODE_HOURS})) RETURNING expires_at`,
        [hashOf(code), tenant ?? null, name],
      );
      return { code: shownCode(code), expiresAt: expires_at.toISOString() };
    } catch (error) {
      if (sqlState(error) === FOREIGN_KEY_VIOLATION) throw tenantNotFound(tenant ?? '');
      throw error;
    }
  }

  /**
   * Uses the code up, and keeps the key. For some minutes the same key gets the same answer again.
   * @throws ProblemError `invitation-spent`, `enrolment-refused`, `agent-known`
   */
  async enroll(asked: z.output<typeof enroll>): Promise<Enrolled> {
    const { agentId, publicKey, origin, code } = asked;
    if (!isSignedBy(publicKey, signedToEnroll(asked), asked.signature)) {
      throw new ProblemError('enrolment-refused', 'the signature is not of this key, or of something else');
    }
    return await transaction(this.#pool, async (db) => {
      const found = await rowOf(
        db,
        invited,
        `SELECT tenant_id, name, agent_id, public_key, CASE WHEN used_at IS NULL THEN expires_at > now()
           ELSE used_at > now() - make_interval(mins => ${AGAIN_MINUTES}) END AS usable
         FROM platen.agent_invitations WHERE code_hash = $1 FOR UPDATE`,
        [hashOf(code)],
      );
      const again = found?.agent_id === agentId && found.public_key === publicKey;
      if (found === undefined || !found.usable || (found.agent_id !== null && !again)) {
        throw new ProblemError('invitation-spent', 'ask for another code: each works once, for a day');
      }
      const { tenant_id: of, name } = found;
      if (!again) {
        await db.query(
          `UPDATE platen.agent_invitations SET agent_id = $2, public_key = $3, used_at = now() WHERE code_hash = $1`,
          [hashOf(code), agentId, publicKey],
        );
        // Who has another's key, or has reported for others, keeps the ID.
        const { rowCount } = await db.query(
          `INSERT INTO platen.enrolled_agents AS e (id, tenant_id, name, public_key, origin)
           SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (
             SELECT FROM platen.agents WHERE id = $1 AND tenant_id IS DISTINCT FROM $2)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, origin = excluded.origin, enrolled_at = now(), revoked_at = NULL
             WHERE e.public_key = excluded.public_key AND e.tenant_id IS NOT DISTINCT FROM excluded.tenant_id`,
          [agentId, of, name, publicKey, origin],
        );
        if (rowCount === 0) {
          throw new ProblemError('agent-known', 'give the agent another data directory, and so another ID');
        }
      }
      return { agentId, name, scope: of };
    });
  }

  /** @throws ProblemError `agent-not-found` */
  async revoke(id: string, also: Also): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const sql = `UPDATE platen.enrolled_agents SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING id`;
      if ((await rowOf(db, idOnly, sql, [id])) === undefined) {
        throw new ProblemError('agent-not-found', 'no agent with this ID has enrolled');
      }
      await also(db);
    });
  }

  /** Undefined: no agent with this ID has enrolled. */
  async find(id: string): Promise<EnrolledAgent | undefined> {
    return await rowOf(
      this.#pool,
      agentRow,
      `SELECT tenant_id AS scope, name, public_key AS "publicKey", origin, revoked_at IS NOT NULL AS revoked
       FROM platen.enrolled_agents WHERE id = $1`,
      [id],
    );
  }

  /** Those of the agents that may go on as they joined. */
  async stillGood(ids: readonly string[]): Promise<Set<string>> {
    const sql = 'SELECT id FROM platen.enrolled_agents WHERE id = ANY($1) AND revoked_at IS NULL';
    return new Set((await rowsOf(this.#pool, idOnly, sql, [ids])).map(({ id }) => id));
  }
}
