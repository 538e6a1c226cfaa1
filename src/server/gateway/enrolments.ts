/** Which agents at other sites may join: the keys that came with them, and what was revoked. */
import { z } from 'zod';
import { type Goodbye, signedToEnroll } from '../../contract/gateway.ts';
import type { Enrolled, enroll } from '../../contract/invitation.ts';
import { type Scope, scope } from '../../contract/lane.ts';
import type { ServiceHealth } from '../../contract/readiness.ts';
import { ProblemError } from '../problems.ts';
import { type Also, onlyRow, type Pool, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { tenantNotFound } from '../tenant-not-found.ts';
import { isSignedBy } from './device-key.ts';
import { hashOf } from './invitations.ts';

/** min for which a used code still gives the same answer to the same key. */
const AGAIN_MINUTES = 10;

const invited = z.object({
  id: z.string(),
  tenant_id: scope,
  name: z.string(),
  approve: z.boolean(),
  usable: z.boolean(),
  agent_id: z.string().nullable(),
  public_key: z.string().nullable(),
});
const agentRow = z.object({ publicKey: z.string(), origin: z.string(), revoked: z.boolean() });
export type EnrolledAgent = z.infer<typeof agentRow>;
const scopeOnly = z.object({ tenant_id: scope });
const waitsRow = z.object({ tenant_id: scope, waits: z.boolean() });
const joinRow = z.object({
  free: z.boolean(),
  fresh: z.boolean(),
  ahead: z.boolean(),
  allowed: z.boolean(),
  pending: z.int().nullable(),
  scope,
  name: z.string(),
  decided: z.int(),
});
/**
 * Whose the agent is as it joins, what people call it, and how often they have decided about its printers. `ahead`: the
 * database is older than what the agent was given. `lost`: the agent's journal is not to be believed.
 */
type Joined = Pick<z.infer<typeof joinRow>, 'ahead' | 'scope' | 'name' | 'decided'> & {
  seq: number | undefined;
  lost: boolean;
};
const sessionRow = z.object({
  id: z.string(),
  session: z.string().nullable(),
  name: z.string(),
  decided: z.int(),
  moves: z.boolean(),
  movesTo: scope,
});
/**
 * What the database says of an agent that may go on: its connection, what people call it, and how often they have decided
 * about its printers; and whose it is to be.
 */
export type Standing = Omit<z.infer<typeof sessionRow>, 'id'>;
/**
 * s after which a connection counts as gone if no instance has heard from it. Each instance writes down every 6 s what it has
 * heard.
 */
export const GONE_SECONDS = 20;
/** s between two notes that an agent was refused. An honest agent comes again later than that. */
const REFUSED_SECONDS = 5;
/** Whether no process is connected but these, in SQL. */
const FREE = (processes: string) =>
  `(process IS NULL OR process IN (${processes}) OR heard_at < now() - make_interval(secs => ${GONE_SECONDS}))`;

export class Enrolments {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
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
        `SELECT id, tenant_id, name, approve, agent_id, public_key, CASE WHEN used_at IS NULL THEN expires_at > now()
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
        // Another agent may have got a revoked one's printers without a question. What was refused stays so.
        await db.query(
          `DELETE FROM platen.brought_printers b USING platen.enrolled_agents e
           WHERE e.id = $1 AND e.public_key = $2 AND e.revoked_at IS NOT NULL AND b.agent_id = e.id AND b.state = 'approved'`,
          [agentId, publicKey],
        );
        // Who has another's key, or has reported without one, keeps the ID: a code must not take over an agent that has no key to show.
        const { rowCount } = await db.query(
          `INSERT INTO platen.enrolled_agents AS e (id, tenant_id, name, public_key, origin, approve, invitation)
           SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (
             SELECT FROM platen.agents a LEFT JOIN platen.enrolled_agents o ON o.id = a.id
             WHERE a.id = $1 AND (o.id IS NULL OR a.tenant_id IS DISTINCT FROM $2))
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, origin = excluded.origin,
             approve = excluded.approve, invitation = excluded.invitation, enrolled_at = now(), revoked_at = NULL,
             -- A directory from before, rolled back or stolen, must not look like one that is ahead of a restored database.
             seq = greatest(e.seq, e.pending) + 1, enrolled_seq = greatest(e.seq, e.pending) + 1, pending = NULL,
             let_in = false, moves = false, moves_to = NULL
             WHERE e.public_key = excluded.public_key AND e.tenant_id IS NOT DISTINCT FROM excluded.tenant_id`,
          [agentId, of, name, publicKey, origin, approve, found.id],
        );
        if (rowCount === 0) {
          throw new ProblemError('agent-known', 'give the agent another data directory, and so another ID');
        }
        await also(db, enrolled);
      }
      return enrolled;
    });
  }

  /**
   * @param within the only tenant of which the caller may name an agent
   * @param also is told whose the agent is
   * @throws ProblemError `agent-not-found`
   */
  async revoke(id: string, within: string | undefined, also: Also<Scope>): Promise<void> {
    await this.#change(id, within, 'revoked_at = coalesce(revoked_at, now())', [], also);
  }

  /** What people call it counts from then on, whatever the agent says. Parameters and errors as of `revoke`. */
  async rename(id: string, name: string, within: string | undefined, also: Also<Scope>): Promise<void> {
    await this.#change(id, within, 'name = $3', [name], async (db, of) => {
      await db.query('UPDATE platen.agents SET name = $2 WHERE id = $1', [id, name]);
      await also(db, of);
    });
  }

  async #change(
    id: string,
    within: string | undefined,
    set: string,
    values: readonly string[],
    also: Also<Scope>,
  ): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const sql = `UPDATE platen.enrolled_agents SET ${set}
        WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2) RETURNING tenant_id`;
      const found = await rowOf(db, scopeOnly, sql, [id, within ?? null, ...values]);
      if (found === undefined) throw agentNotFound();
      await also(db, found.tenant_id);
    });
  }

  /**
   * The agent is to be another tenant's, or shared, once it has finished what it has in hand.
   * @param to the tenant, null: every tenant's; where it is theirs already, it stays
   * @throws ProblemError `agent-not-found`, `tenant-not-found`
   */
  async move(id: string, to: Scope, also: Also<Scope>): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const known = await db.query('SELECT FROM platen.tenants WHERE id = $1', [to]);
      if (to !== null && known.rowCount === 0) throw tenantNotFound(to);
      const sql = `UPDATE platen.enrolled_agents SET moves = tenant_id IS DISTINCT FROM $2, moves_to = $2
        WHERE id = $1 AND revoked_at IS NULL RETURNING tenant_id`;
      const found = await rowOf(db, scopeOnly, sql, [id, to]);
      if (found === undefined) throw agentNotFound();
      await also(db, found.tenant_id);
    });
  }

  /**
   * The agent has finished, and is the other tenant's from now on. There it has no printer until it reports some, none of them is
   * approved, and printers that people have added for it no longer count. If the other tenant is gone by then, the agent stays where it is.
   * @returns false: not all of its reports are applied yet
   */
  async moved(id: string, session: string): Promise<boolean> {
    return await transaction(this.#pool, async (db) => {
      // Once it is another tenant's agent, its reports of the first tenant's jobs no longer count.
      const { rowCount: open } = await db.query(
        `SELECT FROM platen.agents WHERE id = $1 AND online
         UNION ALL SELECT FROM platen.jobs WHERE agent_id = $1 AND status = 'printing' LIMIT 1`,
        [id],
      );
      if (open !== 0) return false;
      const { rowCount } = await db.query(
        `UPDATE platen.enrolled_agents SET tenant_id = moves_to, decided = decided + 1
         WHERE id = $1 AND session = $2 AND moves
           AND (moves_to IS NULL OR EXISTS (SELECT FROM platen.tenants WHERE id = moves_to))`,
        [id, session],
      );
      const sql =
        'UPDATE platen.enrolled_agents SET moves = false, moves_to = NULL WHERE id = $1 AND session = $2';
      await db.query(sql, [id, session]);
      if (rowCount === 0) return true;
      await db.query('DELETE FROM platen.brought_printers WHERE agent_id = $1', [id]);
      await db.query('DELETE FROM platen.added_printers WHERE agent_id = $1', [id]);
      // Its next report would say so too. But whose it is counts at once, and an agent need not report any of these printers again.
      await db.query('SELECT FROM platen.agents WHERE id = $1 FOR UPDATE', [id]);
      await db.query('DELETE FROM platen.agent_printers WHERE agent_id = $1', [id]);
      await db.query(
        `UPDATE platen.agents SET tenant_id = (SELECT tenant_id FROM platen.enrolled_agents WHERE id = $1) WHERE id = $1`,
        [id],
      );
      return true;
    });
  }

  /** Undefined: no agent with this ID has enrolled. */
  async find(id: string): Promise<EnrolledAgent | undefined> {
    return await rowOf(
      this.#pool,
      agentRow,
      `SELECT public_key AS "publicKey", origin, revoked_at IS NOT NULL AS revoked
       FROM platen.enrolled_agents WHERE id = $1`,
      [id],
    );
  }

  /**
   * One process of an agent is connected at a time, whichever instance has it.
   * @param session of this connection, unlike any other
   * @param shown the number of the state that it shows, null: none; undefined: it is not asked for one
   * @param gone a process of it that is known to be gone
   * @returns why it may not join, or the number of its next state
   */
  async join(
    of: { id: string; process: string; session: string; shown: number | null | undefined },
    gone?: string,
  ): Promise<Joined | 'taken' | 'stale' | 'revoked'> {
    const row = await rowOf(
      this.#pool,
      joinRow,
      `WITH before AS (
         SELECT id, let_in, tenant_id AS scope, name, decided, ${FREE('$2, $4')} AS free,
           NOT $5 OR coalesce($6 IN (seq, coalesce(pending, seq)) OR $6 > greatest(seq, pending), seq = enrolled_seq) AS fresh,
           $5 AND coalesce($6 > greatest(seq, pending), false) AS ahead
         FROM platen.enrolled_agents WHERE id = $1 AND revoked_at IS NULL FOR UPDATE
       ), joined AS (
         UPDATE platen.enrolled_agents e SET process = $2, session = $3, joined_at = now(), heard_at = now(),
           refused = NULL, refused_at = NULL,
           -- The agent keeps the state that it shows, even if its message "stored" never came. Any earlier state is out of date now.
           seq = CASE WHEN fresh THEN coalesce($6, seq) ELSE seq END,
           pending = CASE WHEN $5 THEN greatest(seq, pending, $6) + 1 ELSE pending END,
           ahead_at = CASE WHEN ahead THEN now() ELSE ahead_at END
         FROM before WHERE e.id = before.id AND free AND (fresh OR before.let_in) RETURNING e.pending
       ) SELECT free, fresh, ahead, fresh OR let_in AS allowed, pending, scope, name, decided
       FROM before LEFT JOIN joined ON true`,
      [of.id, of.process, of.session, gone ?? of.process, of.shown !== undefined, of.shown ?? null],
    );
    if (row === undefined) return 'revoked';
    const { allowed, free, fresh, pending, ...joined } = row;
    if (!allowed) return 'stale';
    if (!free) return 'taken';
    return { ...joined, seq: pending ?? undefined, lost: !fresh };
  }

  /** The agent keeps the state with this number. */
  async stored(id: string, session: string, seq: number): Promise<void> {
    await this.#pool.query(
      `UPDATE platen.enrolled_agents SET seq = pending, pending = NULL, let_in = false
       WHERE id = $1 AND session = $2 AND pending = $3`,
      [id, session, seq],
    );
  }

  /** Takes an agent in that enrolled after the back-up from which this database was restored: it waits for a person. */
  async adopt(of: {
    agent: string;
    seq: number;
    scope: Scope;
    name: string;
    origin: string;
    publicKey: string;
  }): Promise<void> {
    await this.#pool.query(
      `INSERT INTO platen.enrolled_agents (id, tenant_id, name, public_key, origin, seq, refused, refused_at, ahead_at)
       SELECT $1, $2, $3, $4, $5, $6, 'stale', now(), now()
       WHERE ($2::text IS NULL OR EXISTS (SELECT FROM platen.tenants WHERE id = $2))
         AND NOT EXISTS (SELECT FROM platen.agents WHERE id = $1 AND tenant_id IS DISTINCT FROM $2)
       ON CONFLICT DO NOTHING`,
      // It has no state that is new enough.
      [of.agent, of.scope, of.name, of.publicKey, of.origin, of.seq + 1],
    );
  }

  /**
   * A person lets an agent in that shows an old state, or none.
   * @param within the only tenant of which the caller may name an agent
   * @throws ProblemError `agent-not-found`, `agent-not-waiting`
   */
  async letIn(id: string, within: string | undefined, also: Also<Scope>): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const found = await rowOf(
        db,
        waitsRow,
        `SELECT tenant_id, coalesce(refused = 'stale', false) AND revoked_at IS NULL AND coalesce(${FREE("''")}, false) AS waits
         FROM platen.enrolled_agents WHERE id = $1 AND ($2::text IS NULL OR tenant_id = $2) FOR UPDATE`,
        [id, within ?? null],
      );
      if (found === undefined) throw agentNotFound();
      if (!found.waits) {
        throw new ProblemError(
          'agent-not-waiting',
          'it is connected, or revoked, or was not refused for an old state',
        );
      }
      await db.query('UPDATE platen.enrolled_agents SET let_in = true WHERE id = $1', [id]);
      await also(db, found.tenant_id);
    });
  }

  /** The connection is over. */
  async left(id: string, session: string): Promise<void> {
    await this.#pool.query(
      'UPDATE platen.enrolled_agents SET process = NULL, session = NULL WHERE id = $1 AND session = $2',
      [id, session],
    );
  }

  /** An agent that has proved who it is was not let in. @returns false: that was known before, and is from a moment ago */
  async refused(id: string, code: Goodbye): Promise<boolean> {
    // A stolen key may come back as often as it likes.
    const { rowCount } = await this.#pool.query(
      `UPDATE platen.enrolled_agents SET refused = $2, refused_at = now()
       WHERE id = $1 AND (refused IS DISTINCT FROM $2 OR refused_at < now() - make_interval(secs => ${REFUSED_SECONDS}))`,
      [id, code],
    );
    return rowCount === 1;
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
      'SELECT id, session, name, decided, moves, moves_to AS "movesTo" FROM platen.enrolled_agents WHERE id = ANY($1) AND revoked_at IS NULL';
    return new Map(
      (await rowsOf(this.#pool, sessionRow, sql, [ids])).map(({ id, ...standing }) => [id, standing]),
    );
  }

  /** Nothing where none has enrolled. */
  async health(): Promise<ServiceHealth> {
    const gateway = await onlyRow(
      this.#pool,
      z.object({ agents: z.int(), connected: z.int() }),
      `SELECT count(*)::int AS agents, (count(*) FILTER (WHERE session IS NOT NULL
           AND heard_at > now() - make_interval(secs => ${GONE_SECONDS})))::int AS connected
       FROM platen.enrolled_agents WHERE revoked_at IS NULL`,
    );
    return gateway.agents === 0 ? {} : { gateway };
  }
}

export function agentNotFound(): ProblemError {
  return new ProblemError('agent-not-found', 'no agent with this ID is known');
}
