/**
 * Sessions, kept in the database for all instances. The cookie holds a random token, and the table holds the token's hash. Each
 * sign-in makes a new session: otherwise an attacker could have another person use a session whose token the attacker knows.
 *
 * A transaction that changes a person and their sessions locks the person first. So no two of them wait for each other.
 */
import { z } from 'zod';
import { role, type SessionView } from '../../contract/people.ts';
import { type Pool, type Queryable, rowOf, rowsOf } from '../store/pool.ts';
import { newToken, tokenHash } from './one-time-token.ts';

/** Hours without a request after which a session ends. */
const IDLE_HOURS = 12;
/** Hours after which a session ends in any case. */
export const LIFETIME_HOURS = 7 * 24;
/** Most sessions of one person. If there are more, the oldest end. */
const MOST_OF_ONE = 20;

const LASTS = `s.expires_at > now() AND s.seen_at > now() - interval '${IDLE_HOURS} hours' AND p.revoked_at IS NULL`;

const lastingRow = z.object({ id: z.string(), tenant_id: z.string(), role });
type LastingSession = z.infer<typeof lastingRow>;

const sessionRow = z.object({
  session_id: z.string(),
  expires_at: z.date(),
  stale: z.boolean(),
  id: z.string(),
  tenant_id: z.string(),
  tenant_name: z.string(),
  media_must_fit: z.boolean(),
  login: z.string(),
  name: z.string(),
  role,
  deployment: z.boolean(),
  has_password: z.boolean(),
});

export type Session = {
  id: string;
  expiresAt: string;
  person: SessionView['person'] & { deployment: boolean };
  tenant: SessionView['tenant'];
};

export class Sessions {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** A new session of a person, in the caller's transaction. @returns the token for the cookie */
  async begin(db: Queryable, personId: string): Promise<string> {
    const token = newToken();
    await db.query('UPDATE platen.people SET last_seen_at = now() WHERE id = $1', [personId]);
    await db.query(
      `DELETE FROM platen.sessions WHERE id IN (
         SELECT id FROM platen.sessions WHERE person_id = $1 ORDER BY created_at DESC OFFSET ${MOST_OF_ONE - 1})`,
      [personId],
    );
    await db.query(
      `INSERT INTO platen.sessions (token_hash, person_id, expires_at)
       VALUES ($1, $2, now() + interval '${LIFETIME_HOURS} hours')`,
      [tokenHash(token), personId],
    );
    return token;
  }

  /** The session of a cookie's token, with its person's present role and name; undefined: the session has ended. */
  async find(token: string): Promise<Session | undefined> {
    const found = await this.#find('s.token_hash = $1', tokenHash(token));
    if (found?.stale) await this.#seen(found.session.id);
    return found?.session;
  }

  /** The session with this ID, as `find` returns it. */
  async findById(id: string): Promise<Session | undefined> {
    return (await this.#find('s.id = $1', id))?.session;
  }

  /**
   * The sessions with these IDs that have not ended, with the present tenant and role of their people. Event streams use it,
   * because they last longer than a request. It is one statement for all, and does not keep the sessions alive.
   */
  async lasting(ids: readonly string[]): Promise<Map<string, LastingSession>> {
    if (ids.length === 0) return new Map();
    const rows = await rowsOf(
      this.#pool,
      lastingRow,
      `SELECT s.id, p.tenant_id, p.role FROM platen.sessions s JOIN platen.people p ON p.id = s.person_id
       WHERE s.id = ANY($1) AND ${LASTS}`,
      [ids],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  async #find(where: string, value: unknown): Promise<{ session: Session; stale: boolean } | undefined> {
    const row = await rowOf(
      this.#pool,
      sessionRow,
      `SELECT s.id AS session_id, s.expires_at, s.seen_at < now() - interval '1 minute' AS stale,
         p.id, p.tenant_id, t.name AS tenant_name, t.media_must_fit, p.login, p.name, p.role, p.deployment,
         p.password_hash IS NOT NULL AS has_password
       FROM platen.sessions s JOIN platen.people p ON p.id = s.person_id JOIN platen.tenants t ON t.id = p.tenant_id
       WHERE ${where} AND ${LASTS}`,
      [value],
    );
    if (row === undefined) return undefined;
    const session = {
      id: row.session_id,
      expiresAt: row.expires_at.toISOString(),
      person: {
        id: row.id,
        login: row.login,
        name: row.name,
        role: row.role,
        deployment: row.deployment,
        hasPassword: row.has_password,
      },
      tenant: { id: row.tenant_id, name: row.tenant_name, mediaMustFit: row.media_must_fit },
    };
    return { session, stale: row.stale };
  }

  /** Notes that a session is in use. This happens once a minute at most, so that most requests only read. */
  async #seen(id: string): Promise<void> {
    const seen = await rowOf(
      this.#pool,
      z.object({ person_id: z.string() }),
      `UPDATE platen.sessions SET seen_at = now()
       WHERE id = $1 AND seen_at < now() - interval '1 minute' RETURNING person_id`,
      [id],
    );
    if (seen === undefined) return;
    await this.#pool.query('UPDATE platen.people SET last_seen_at = now() WHERE id = $1', [seen.person_id]);
  }

  async end(id: string): Promise<void> {
    await this.#pool.query('DELETE FROM platen.sessions WHERE id = $1', [id]);
  }

  /** Ends the session of a cookie that gets a new session. @param hash of the cookie's token */
  async endByHash(db: Queryable, hash: Buffer): Promise<void> {
    await db.query('DELETE FROM platen.sessions WHERE token_hash = $1', [hash]);
  }

  /** Ends all sessions of a person, also that of a sign-in under way, and deletes the links that could begin another one. */
  async endAll(db: Queryable, personId: string): Promise<void> {
    await db.query('SELECT FROM platen.people WHERE id = $1 FOR NO KEY UPDATE', [personId]);
    await db.query('DELETE FROM platen.one_time_tokens WHERE person_id = $1', [personId]);
    await db.query('DELETE FROM platen.sessions WHERE person_id = $1', [personId]);
  }

  /** Deletes sessions and links that have ended. */
  async forget(): Promise<void> {
    await this.#pool.query(
      `DELETE FROM platen.sessions
       WHERE expires_at < now() OR seen_at < now() - interval '${IDLE_HOURS} hours'`,
    );
    await this.#pool.query('DELETE FROM platen.one_time_tokens WHERE expires_at < now()');
  }
}
