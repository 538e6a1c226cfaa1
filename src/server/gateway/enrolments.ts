/** Which agents at other sites may join: invitations, the keys that came with them, and what was revoked. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Goodbye, signedToEnroll } from '../../contract/gateway.ts';
import {
  CODE_HOURS,
  codeOf,
  type Enrolled,
  type EnrolledAgents,
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
  approve: z.boolean(),
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
  decided: z.int(),
});
export type EnrolledAgent = z.infer<typeof agentRow>;
const idOnly = z.object({ id: z.string() });
const sessionRow = z.object({ id: z.string(), session: z.string().nullable(), decided: z.int() });
/** What the database says of an agent that may go on: its connection, and how often people have decided about its printers. */
export type Standing = Omit<z.infer<typeof sessionRow>, 'id'>;
const notServedRow = z.object({
  agent_id: z.string(),
  printer_id: z.string(),
  name: z.string(),
  state: z.enum(['waiting', 'refused']),
  since: z.date(),
});
const openRow = z.object({ name: z.string(), tenant_id: scope, expires_at: z.date() });
const listedRow = z.object({
  id: z.string(),
  name: z.string(),
  tenant_id: scope,
  enrolled_at: z.date(),
  revoked_at: z.date().nullable(),
  since: z.date().nullable(),
  refused: z.string().nullable(),
  refused_at: z.date().nullable(),
});
/** s after which a connection that no instance has heard of is gone; an instance says every 6 s what it has heard. */
const GONE_SECONDS = 20;
const MOST_LISTED = 5_000;

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
    printers,
  }: z.output<typeof invitationMake>): Promise<{ code: string; expiresAt: string }> {
    const code = codeOf(randomBytes(15));
    await this.#pool.query(
      "DELETE FROM platen.agent_invitations WHERE expires_at < now() - interval '30 days'",
    );
    try {
      const { expires_at } = await onlyRow(
        this.#pool,
        z.object({ expires_at: z.date() }),
        `INSERT INTO platen.agent_invitations (code_hash, tenant_id, name, approve, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(hours => ${CODE_HOURS})) RETURNING expires_at`,
        [hashOf(code), tenant ?? null, name, printers === 'approve'],
      );
      return { code: shownCode(code), expiresAt: expires_at.toISOString() };
    } catch (error) {
      if (sqlState(error) === FOREIGN_KEY_VIOLATION) throw tenantNotFound(tenant ?? '');
      throw error;
    }
  }

  /**
   * Uses the code up, and keeps the key; `also` is called in the transaction that does so, once. For some minutes the same key gets the same answer again.
   * @throws ProblemError `invitation-spent`, `enrolment-refused`, `agent-known`
   */
  async enroll(asked: z.output<typeof enroll>, also: Also<Enrolled>): Promise<Enrolled> {
    const { agentId, publicKey, origin, code } = asked;
    if (!isSignedBy(publicKey, signedToEnroll(asked), asked.signature)) {
      throw new ProblemError('enrolment-refused', 'the signature is not of this key, or of something else');
    }
    return await transaction(this.#pool, async (db) => {
      const found = await rowOf(
        db,
        invited,
        `SELECT tenant_id, name, approve, agent_id, public_key, CASE WHEN used_at IS NULL THEN expires_at > now()
           ELSE used_at > now() - make_interval(mins => ${AGAIN_MINUTES}) END AS usable
         FROM platen.agent_invitations WHERE code_hash = $1 FOR UPDATE`,
        [hashOf(code)],
      );
      const again = found?.agent_id === agentId && found.public_key === publicKey;
      if (found === undefined || !found.usable || (found.agent_id !== null && !again)) {
        throw new ProblemError('invitation-spent', 'ask for another code: each works once, for a day');
      }
      const { tenant_id: of, name, approve } = found;
      const enrolled = { agentId, name, scope: of };
      if (!again) {
        await db.query(
          `UPDATE platen.agent_invitations SET agent_id = $2, public_key = $3, used_at = now() WHERE code_hash = $1`,
          [hashOf(code), agentId, publicKey],
        );
        // Who has another's key, or has reported for others, keeps the ID.
        const { rowCount } = await db.query(
          `INSERT INTO platen.enrolled_agents AS e (id, tenant_id, name, public_key, origin, approve)
           SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (
             SELECT FROM platen.agents WHERE id = $1 AND tenant_id IS DISTINCT FROM $2)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, origin = excluded.origin,
             approve = excluded.approve, enrolled_at = now(), revoked_at = NULL
             WHERE e.public_key = excluded.public_key AND e.tenant_id IS NOT DISTINCT FROM excluded.tenant_id`,
          [agentId, of, name, publicKey, origin, approve],
        );
        if (rowCount === 0) {
          throw new ProblemError('agent-known', 'give the agent another data directory, and so another ID');
        }
        await also(db, enrolled);
      }
      return enrolled;
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
      `SELECT tenant_id AS scope, name, public_key AS "publicKey", origin, revoked_at IS NOT NULL AS revoked, decided
       FROM platen.enrolled_agents WHERE id = $1`,
      [id],
    );
  }

  /**
   * One process of an agent is connected at a time, whichever instance has it.
   * @param session of this connection, unlike any other
   * @param gone a process of it that is known to be gone
   * @returns false: another process is connected
   */
  async join(of: { id: string; process: string; session: string }, gone?: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `UPDATE platen.enrolled_agents SET process = $2, session = $3, joined_at = now(), heard_at = now(),
         refused = NULL, refused_at = NULL
       WHERE id = $1 AND revoked_at IS NULL
         AND (process IS NULL OR process IN ($2, $4) OR heard_at < now() - make_interval(secs => ${GONE_SECONDS}))`,
      [of.id, of.process, of.session, gone ?? of.process],
    );
    return rowCount === 1;
  }

  /** The connection is over. */
  async left(id: string, session: string): Promise<void> {
    await this.#pool.query(
      'UPDATE platen.enrolled_agents SET process = NULL, session = NULL WHERE id = $1 AND session = $2',
      [id, session],
    );
  }

  /** An agent that has proved who it is was not let in. */
  async refused(id: string, code: Goodbye): Promise<void> {
    const sql = 'UPDATE platen.enrolled_agents SET refused = $2, refused_at = now() WHERE id = $1';
    await this.#pool.query(sql, [id, code]);
  }

  /**
   * How each of the agents stands by now, of those that are not revoked.
   * @param heard of these sessions, for `join`
   */
  async sessions(ids: readonly string[], heard: readonly string[]): Promise<Map<string, Standing>> {
    if (heard.length > 0) {
      const sql =
        'UPDATE platen.enrolled_agents SET heard_at = now() WHERE id = ANY($1) AND session = ANY($2)';
      await this.#pool.query(sql, [ids, heard]);
    }
    const sql =
      'SELECT id, session, decided FROM platen.enrolled_agents WHERE id = ANY($1) AND revoked_at IS NULL';
    return new Map(
      (await rowsOf(this.#pool, sessionRow, sql, [ids])).map(({ id, ...standing }) => [id, standing]),
    );
  }

  /** All that have enrolled, and the codes that nobody has used yet. */
  async list(): Promise<EnrolledAgents> {
    const agents = await rowsOf(
      this.#pool,
      listedRow,
      `SELECT id, name, tenant_id, enrolled_at, revoked_at, refused, refused_at,
         CASE WHEN session IS NOT NULL AND heard_at > now() - make_interval(secs => ${GONE_SECONDS}) THEN joined_at END AS since
       FROM platen.enrolled_agents ORDER BY name, id LIMIT ${MOST_LISTED}`,
    );
    const notServed = await rowsOf(
      this.#pool,
      notServedRow,
      `SELECT agent_id, printer_id, name, state, since FROM platen.brought_printers
       WHERE state <> 'approved' ORDER BY name, printer_id LIMIT ${MOST_LISTED}`,
    );
    const byAgent = Map.groupBy(notServed, ({ agent_id }) => agent_id);
    const invitations = await rowsOf(
      this.#pool,
      openRow,
      `SELECT name, tenant_id, expires_at FROM platen.agent_invitations
       WHERE used_at IS NULL AND expires_at > now() ORDER BY expires_at LIMIT ${MOST_LISTED}`,
    );
    return {
      agents: agents.map(({ id, name, tenant_id, enrolled_at, revoked_at, since, refused, refused_at }) => ({
        ...{ id, name, tenant: tenant_id, enrolledAt: enrolled_at.toISOString() },
        revokedAt: revoked_at?.toISOString() ?? null,
        connectedSince: since?.toISOString() ?? null,
        refused:
          refused === null || refused_at === null ? null : { code: refused, at: refused_at.toISOString() },
        notServed: (byAgent.get(id) ?? []).map(({ printer_id, since, name, state }) => ({
          ...{ id: printer_id, name, state, since: since.toISOString() },
        })),
      })),
      invitations: invitations.map(({ name, tenant_id, expires_at }) => ({
        ...{ name, tenant: tenant_id, expiresAt: expires_at.toISOString() },
      })),
    };
  }
}
