/** The people of a tenant: who they are, their role, and the links by which they come in. */
import { z } from 'zod';
import { type PersonView, type Role, role } from '../../contract/people.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { orTenantNotFound, tenantNotFound } from '../tenant-not-found.ts';
import { makeToken } from './one-time-token.ts';
import type { Sessions } from './sessions.ts';

const personRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  login: z.string(),
  name: z.string(),
  role,
  deployment: z.boolean(),
  password_hash: z.string().nullable(),
  created_at: z.date(),
  last_seen_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
});
export type Person = z.infer<typeof personRow>;

/** People of one tenant. */
const MOST_PEOPLE = 1_000;
/** Each tenant's keeper: an administrator whom `platen console` signs in, for the installation's operator. */
const KEEPER = 'admin';
/** The tenant whose keeper may also do what concerns all tenants. */
const FIRST_TENANT = 'default';

/** A link's token and when it ends. */
export type Link = { person: PersonView; token: string; expiresAt: string };

export class People {
  readonly #pool: Pool;
  readonly #sessions: Sessions;

  constructor(pool: Pool, sessions: Sessions) {
    this.#pool = pool;
    this.#sessions = sessions;
  }

  async list(tenantId: string): Promise<PersonView[]> {
    const sql = 'SELECT * FROM platen.people WHERE tenant_id = $1 ORDER BY login LIMIT $2';
    return (await rowsOf(this.#pool, personRow, sql, [tenantId, MOST_PEOPLE])).map(viewOf);
  }

  /**
   * Invites a new person, or a person who was revoked.
   * @throws ProblemError `tenant-not-found`, `person-exists`, `people-limit`
   */
  async invite(
    tenantId: string,
    person: { login: string; name: string; role: Role },
    also: Also<PersonView>,
  ): Promise<Link> {
    if (person.login === KEEPER) throw exists(tenantId);
    return transaction(this.#pool, async (db) => {
      await requireRoom(db, tenantId);
      const row = await rowOf(
        db,
        personRow,
        `INSERT INTO platen.people AS p (tenant_id, login, name, role) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, login) DO UPDATE
           SET name = $3, role = $4, password_hash = NULL, revoked_at = NULL, last_seen_at = NULL
           WHERE p.revoked_at IS NOT NULL AND NOT p.deployment
         RETURNING *`,
        [tenantId, person.login, person.name, person.role],
      ).catch(orTenantNotFound(tenantId));
      if (row === undefined) throw exists(tenantId);
      return this.#link(db, row, 'invitation', also);
    });
  }

  /** A new invitation for a person who has lost the first, or the password. @throws ProblemError `person-not-found` */
  async inviteAgain(tenantId: string, id: string, also: Also<PersonView>): Promise<Link> {
    return transaction(this.#pool, async (db) => {
      const row = await this.#of(db, tenantId, id);
      if (row.revoked_at !== null) throw notFound();
      return this.#link(db, row, 'invitation', also);
    });
  }

  /** @throws ProblemError `person-not-found` */
  async get(tenantId: string, id: string): Promise<PersonView> {
    return viewOf(await this.#of(this.#pool, tenantId, id));
  }

  /** The role counts from the person's next request on. @throws ProblemError `person-not-found` */
  async setRole(tenantId: string, id: string, to: Role, also: Also<PersonView>): Promise<PersonView> {
    return transaction(this.#pool, async (db) => {
      await this.#of(db, tenantId, id);
      const sql = 'UPDATE platen.people SET role = $2 WHERE id = $1 RETURNING *';
      const person = viewOf(await onlyRow(db, personRow, sql, [id, to]));
      await also(db, person);
      return person;
    });
  }

  /** The person's sessions and links end with it. @throws ProblemError `person-not-found` */
  async revoke(tenantId: string, id: string, also: Also<PersonView>): Promise<PersonView> {
    return transaction(this.#pool, async (db) => {
      await this.#of(db, tenantId, id);
      await this.#sessions.endAll(db, id);
      await this.forgetKeys(db, id);
      const sql = `UPDATE platen.people SET revoked_at = coalesce(revoked_at, now()), password_hash = NULL
        WHERE id = $1 RETURNING *`;
      const person = viewOf(await onlyRow(db, personRow, sql, [id]));
      await also(db, person);
      return person;
    });
  }

  /**
   * A link that signs a person in once. The tenant's keeper is made, if there is none yet.
   * @throws ProblemError `person-not-found`, `tenant-not-found`
   */
  async signInLink(tenantId: string, login: string, also: Also<PersonView>): Promise<Link> {
    return transaction(this.#pool, async (db) => {
      if (login === KEEPER) await makeKeeper(db, tenantId);
      const sql = 'SELECT * FROM platen.people WHERE tenant_id = $1 AND login = $2 AND revoked_at IS NULL';
      const row = await rowOf(db, personRow, sql, [tenantId, login]);
      if (row === undefined) throw notFound();
      return this.#link(db, row, 'sign-in', also);
    });
  }

  /** The person with this login who is not revoked. */
  async byLogin(tenantId: string, login: string): Promise<Person | undefined> {
    const sql = 'SELECT * FROM platen.people WHERE tenant_id = $1 AND login = $2 AND revoked_at IS NULL';
    return rowOf(this.#pool, personRow, sql, [tenantId, login]);
  }

  /** The person with this ID who is not revoked. */
  async byId(db: Queryable, id: string): Promise<Person | undefined> {
    const sql = 'SELECT * FROM platen.people WHERE id = $1 AND revoked_at IS NULL';
    return rowOf(db, personRow, sql, [id]);
  }

  /**
   * The person, if this is still the password when the transaction ends: comparing it has taken a while.
   * @param hash as it was when the password was compared
   */
  async byPassword(db: Queryable, id: string, hash: string | null): Promise<Person | undefined> {
    const sql = `SELECT * FROM platen.people
      WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2 AND revoked_at IS NULL FOR NO KEY UPDATE`;
    return rowOf(db, personRow, sql, [id, hash]);
  }

  /** Ends all sessions and links of the person. */
  async setPassword(db: Queryable, id: string, hash: string, name?: string): Promise<void> {
    const sql = 'UPDATE platen.people SET password_hash = $2, name = coalesce($3, name) WHERE id = $1';
    await db.query(sql, [id, hash, name ?? null]);
    await this.#sessions.endAll(db, id);
  }

  /** Deletes a person's ways in without a password: passkeys, and the identity at the provider. */
  async forgetKeys(db: Queryable, id: string): Promise<void> {
    for (const table of ['passkeys', 'provider_subjects']) {
      await db.query(`DELETE FROM platen.${table} WHERE person_id = $1`, [id]);
    }
  }

  /**
   * The person whom the provider knows by this subject. The first sign-in binds the subject to the person of
   * that login, so that somebody else who gets the same address later does not come in by it.
   * @param who `role`: given by the provider, and then no invitation is needed; undefined: as set here
   * @returns undefined for somebody who is not invited, was revoked, or is bound to another subject
   */
  async atProvider(
    db: Queryable,
    tenantId: string,
    who: { issuer: string; subject: string; login: string; name: string; role: Role | undefined },
  ): Promise<Person | undefined> {
    const at = [tenantId, who.issuer, who.subject];
    const bound = await rowOf(
      db,
      personRow,
      `SELECT p.* FROM platen.provider_subjects s JOIN platen.people p ON p.id = s.person_id
       WHERE s.tenant_id = $1 AND s.issuer = $2 AND s.subject = $3 FOR UPDATE OF p`,
      at,
    );
    const person = bound ?? (await this.#byLoginOrNew(db, tenantId, who));
    // The keeper does not come in by the provider, but by a link from the installation's own machine.
    if (person === undefined || person.revoked_at !== null || person.login === KEEPER) return undefined;
    if (bound === undefined) {
      const { rowCount } = await db.query(
        `INSERT INTO platen.provider_subjects (tenant_id, issuer, subject, person_id) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING`,
        [...at, person.id],
      );
      if (rowCount === 0) return undefined;
      // The person has a way in now: nobody is to come in by an invitation that is still open.
      await db.query('DELETE FROM platen.one_time_tokens WHERE person_id = $1', [person.id]);
    }
    if (who.role === undefined || who.role === person.role) return person;
    const sql = 'UPDATE platen.people SET role = $2 WHERE id = $1 RETURNING *';
    return await onlyRow(db, personRow, sql, [person.id, who.role]);
  }

  async #byLoginOrNew(
    db: Queryable,
    tenantId: string,
    { login, name, role: given }: { login: string; name: string; role: Role | undefined },
  ): Promise<Person | undefined> {
    if (given !== undefined && login !== KEEPER) {
      await requireRoom(db, tenantId);
      await db.query(
        `INSERT INTO platen.people (tenant_id, login, name, role) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, login) DO NOTHING`,
        [tenantId, login, name, given],
      );
    }
    const sql = 'SELECT * FROM platen.people WHERE tenant_id = $1 AND login = $2 FOR UPDATE';
    return await rowOf(db, personRow, sql, [tenantId, login]);
  }

  async #link(
    db: Queryable,
    row: Person,
    purpose: 'invitation' | 'sign-in',
    also: Also<PersonView>,
  ): Promise<Link> {
    const person = viewOf(row);
    const link = await makeToken(db, row.id, purpose);
    await also(db, person);
    return { person, ...link };
  }

  async #of(db: Queryable, tenantId: string, id: string): Promise<Person> {
    const sql = 'SELECT * FROM platen.people WHERE tenant_id = $1 AND id = $2';
    const row = z.uuid().safeParse(id).success ? await rowOf(db, personRow, sql, [tenantId, id]) : undefined;
    if (row === undefined) throw notFound();
    return row;
  }
}

/** @throws ProblemError `people-limit` */
async function requireRoom(db: Queryable, tenantId: string): Promise<void> {
  const sql = 'SELECT count(*) FROM platen.people WHERE tenant_id = $1';
  const { count } = await onlyRow(db, z.object({ count: z.coerce.number() }), sql, [tenantId]);
  if (count < MOST_PEOPLE) return;
  throw refusedBecause('people-limit', because('people-most', { most: MOST_PEOPLE }));
}

/** @throws ProblemError `tenant-not-found` */
async function makeKeeper(db: Queryable, tenantId: string): Promise<void> {
  const { rowCount } = await db.query(
    `INSERT INTO platen.people (tenant_id, login, name, role, deployment)
     SELECT id, $2, 'Administrator', 'admin', id = $3 FROM platen.tenants WHERE id = $1
     ON CONFLICT (tenant_id, login) DO UPDATE SET revoked_at = NULL, role = 'admin'`,
    [tenantId, KEEPER, FIRST_TENANT],
  );
  if (rowCount === 0) throw tenantNotFound(tenantId);
}

function exists(tenantId: string): ProblemError {
  return new ProblemError('person-exists', `tenant "${tenantId}" has a person with this login`);
}

function notFound(): ProblemError {
  return new ProblemError('person-not-found', 'there is no such person in the tenant');
}

function viewOf(row: Person): PersonView {
  return {
    id: row.id,
    tenant: row.tenant_id,
    login: row.login,
    name: row.name,
    role: row.role,
    deployment: row.deployment,
    state: row.revoked_at !== null ? 'revoked' : row.last_seen_at === null ? 'invited' : 'active',
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  };
}
