/** Every way of signing in ends here: with a new session, its cookie, and an entry in the audit. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DeedWord } from '../../contract/deeds.ts';
import { NEED_WORDS, type SessionView } from '../../contract/people.ts';
import { because } from '../../contract/reason.ts';
import type { ServerConfig } from '../config.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { HashingBusy } from '../slow-hash.ts';
import { type Pool, type Queryable, transaction } from '../store/pool.ts';
import { type Deed, whoIs, writeEntry } from './audit.ts';
import { tokenHash } from './one-time-token.ts';
import type { Person } from './people.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { Session, Sessions } from './sessions.ts';
import { mayDo, type PersonVisitor } from './visitor.ts';

/** `ANYBODY` may call the routes for signing in; only `A_PERSON` may call those about the caller's own session. */
export const ANYBODY = { needs: 'nothing', about: 'caller' } as const;
export const A_PERSON = { needs: 'session', about: 'caller' } as const;

export class SignIns {
  readonly #pool: Pool;
  readonly #sessions: Sessions;
  readonly #cookie: SessionCookie;
  readonly #limits: SessionView['limits'];

  constructor(parts: {
    pool: Pool;
    sessions: Sessions;
    cookie: SessionCookie;
    limits: ServerConfig['limits'];
  }) {
    this.#pool = parts.pool;
    this.#sessions = parts.sessions;
    this.#cookie = parts.cookie;
    this.#limits = { records: parts.limits.records, labels: parts.limits.labels };
  }

  /** The hash of the token of the session that the browser has now; undefined: it has none. */
  before(app: FastifyInstance, request: FastifyRequest): Buffer | undefined {
    const token = this.#cookie.read(app, request);
    return token === undefined ? undefined : tokenHash(token);
  }

  /**
   * Begins a new session. The session that the browser had ends, because somebody else may know its token.
   * @param what the deed's name in the audit
   * @param find finds the person, in the transaction of the new session
   * @param before the token's hash of the session that the browser had, if the request itself does not carry the cookie
   */
  async begin(
    app: FastifyInstance,
    request: FastifyRequest,
    reply: FastifyReply,
    what: DeedWord,
    find: (db: Queryable) => Promise<Person>,
    {
      before = this.before(app, request),
      details = {},
    }: { before?: Buffer | undefined; details?: Deed['details'] } = {},
  ): Promise<SessionView> {
    const token = await transaction(this.#pool, async (db) => {
      const person = await find(db);
      const begun = await this.#sessions.begin(db, person.id);
      if (before !== undefined) await this.#sessions.endByHash(db, before);
      await writeEntry(
        db,
        { request, who: whoIs(visitorFor(person)), tenant: person.tenant_id, what },
        { object: person.id, details },
      );
      return begun;
    });
    const session = await this.#sessions.find(token);
    if (session === undefined) throw spent();
    this.#cookie.set(request, reply, token);
    request.facts.tenant = session.tenant.id;
    request.facts.account = session.person.id;
    return this.view(session);
  }

  /** Writes into the audit that somebody gave a wrong password or passkey for this person. */
  async noteWrong(
    request: FastifyRequest,
    visitor: PersonVisitor,
    given: 'password' | 'passkey',
  ): Promise<void> {
    const { id, tenant } = visitor;
    const what = `session.wrong-${given}` as const;
    await writeEntry(this.#pool, { request, who: whoIs(visitor), tenant, what }, { object: id });
  }

  /** What the console is told of a session. */
  view({ id, person, tenant, expiresAt }: Session): SessionView {
    const { deployment, ...shown } = person;
    const visitor: PersonVisitor = {
      kind: 'person',
      ...person,
      sessionId: id,
      tenant: tenant.id,
      deployment,
    };
    const may = NEED_WORDS.filter((need) => mayDo(visitor, need));
    return { person: shown, tenant, may, expiresAt, limits: this.#limits };
  }
}

export function visitorFor(person: Person): PersonVisitor {
  const { id, login, name, role, deployment, tenant_id: tenant } = person;
  return { kind: 'person', id, sessionId: '', tenant, login, name, role, deployment };
}

export function spent(): ProblemError {
  return new ProblemError(
    'link-spent',
    'it was used, has expired, or was replaced by a newer one; ask for another',
  );
}

export function tooOften(seconds: number): ProblemError {
  return refusedBecause('sign-in-too-often', because('try-in', { seconds }), {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Always throws: a ProblemError if too many passwords are being hashed, otherwise the error itself. */
export function busy(error: unknown): never {
  throw error instanceof HashingBusy ? tooOften(1) : error;
}
