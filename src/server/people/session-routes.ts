/** Signing in and out: by password, by a link that works once, by an invitation. Each way begins a new session. */
import type { FastifyInstance } from 'fastify';
import {
  type InvitationView,
  invitationAccept,
  invitationLook,
  linkSignIn,
  passwordSet,
  type SessionView,
  signIn,
} from '../../contract/people.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import { ProblemError, parseBody } from '../problems.ts';
import { type Pool, type Queryable, transaction } from '../store/pool.ts';
import type { Tenants } from '../tenants/tenants.ts';
import { writeDeed } from './access.ts';
import { lookAtToken, useToken } from './one-time-token.ts';
import { hashPassword, passwordMatches } from './password.ts';
import type { People, Person } from './people.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';
import { A_PERSON, ANYBODY, busy, type SignIns, spent, tooOften, visitorFor } from './sign-ins.ts';
import { personIn } from './visitor.ts';

type Parts = {
  pool: Pool;
  people: People;
  sessions: Sessions;
  cookie: SessionCookie;
  failures: FailedAttempts;
  tenants: Tenants;
  signIns: SignIns;
};

/** Most bytes of a request: it holds at most a password and a token. */
const BODY_LIMIT = 8 * 1024;
const BY_ANYBODY = { config: ANYBODY, bodyLimit: BODY_LIMIT } as const;

export async function sessionRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { pool, people, sessions, cookie, failures, signIns } = parts;

  const personOf = async (db: Queryable, id: string | undefined): Promise<Person> => {
    const person = id === undefined ? undefined : await people.byId(db, id);
    if (person === undefined) throw spent();
    return person;
  };

  app.post('/app/session', BY_ANYBODY, async (request, reply) => {
    const { tenant, login, password } = parseBody(signIn, request.body);
    const name = `${tenant}/${login}`;
    // Counted before the password is compared: of a hundred guesses at once only the first few are compared.
    const wait = await failures.count(name, callerAddress(request));
    if (wait > 0) throw tooOften(wait);
    const person = await people.byLogin(tenant, login);
    const matches = await passwordMatches(password, person?.password_hash).catch(busy);
    const wrong = () => new ProblemError('sign-in-refused', 'the login or the password is wrong');
    if (!matches || person === undefined) {
      // Not awaited, so that the time until the answer does not tell whether there is such a person.
      if (person !== undefined) {
        signIns.noteWrong(request, visitorFor(person), 'password').catch((error: unknown) => {
          request.log.warn({ err: error }, 'a wrong password is not in the audit');
        });
      }
      throw wrong();
    }
    const view = await signIns.begin(app, request, reply, 'session.sign-in', async (db) => {
      const now = await people.byPassword(db, person.id, person.password_hash);
      if (now === undefined) throw wrong();
      return now;
    });
    await failures.forgive(name, callerAddress(request));
    return view;
  });
  app.post('/app/session/link', BY_ANYBODY, async (request, reply) => {
    const { token } = parseBody(linkSignIn, request.body);
    return signIns.begin(app, request, reply, 'session.sign-in-by-link', async (db) =>
      personOf(db, await useToken(db, token, 'sign-in')),
    );
  });
  app.post('/app/invitations/look', BY_ANYBODY, async (request): Promise<InvitationView> => {
    const { token } = parseBody(invitationLook, request.body);
    const { tenant_id, login, name, role } = await personOf(
      pool,
      await lookAtToken(pool, token, 'invitation'),
    );
    const tenant = await parts.tenants.get(tenant_id);
    return { tenant: { id: tenant.id, name: tenant.name }, login, name, role };
  });
  app.post('/app/invitations/accept', BY_ANYBODY, async (request, reply) => {
    const { token, password, name } = parseBody(invitationAccept, request.body);
    // Without an invitation nobody can have passwords hashed.
    if ((await lookAtToken(pool, token, 'invitation')) === undefined) throw spent();
    const hash = await hashPassword(password).catch(busy);
    return signIns.begin(app, request, reply, 'invitation.accept', async (db) => {
      const person = await personOf(db, await useToken(db, token, 'invitation'));
      // A person who is invited again comes in by what is set now, not by earlier passkeys or a provider.
      await people.forgetKeys(db, person.id);
      await people.setPassword(db, person.id, hash, name);
      return person;
    });
  });

  app.get('/app/session', { config: A_PERSON }, async (request): Promise<SessionView> => {
    const session = await sessions.findById(personIn(request).sessionId);
    if (session === undefined) throw new ProblemError('session-ended', 'sign in again');
    return signIns.view(session);
  });
  app.delete(
    '/app/session',
    { config: { ...A_PERSON, audit: 'session.sign-out' } },
    async (request, reply) => {
      await sessions.end(personIn(request).sessionId);
      cookie.clear(request, reply);
      return reply.code(204).send();
    },
  );
  app.delete(
    '/app/sessions',
    { config: { ...A_PERSON, audit: 'session.sign-out-everywhere' } },
    async (request, reply) => {
      await transaction(pool, async (db) => {
        await sessions.endAll(db, personIn(request).id);
        await writeDeed(db, request);
      });
      cookie.clear(request, reply);
      return reply.code(204).send();
    },
  );
  app.put(
    '/app/session/password',
    { config: { ...A_PERSON, audit: 'session.set-password' }, bodyLimit: BODY_LIMIT },
    async (request, reply): Promise<SessionView> => {
      const { current, password } = parseBody(passwordSet, request.body);
      const visitor = personIn(request);
      const wait = await failures.count(`${visitor.tenant}/${visitor.login}`, callerAddress(request));
      if (wait > 0) throw tooOften(wait);
      const { password_hash: known } = await personOf(pool, visitor.id);
      const wrong = () => new ProblemError('password-wrong', 'the current password is wrong');
      // A person who came by a link may have no password yet. Then the service asks for none.
      if (known !== null && !(await passwordMatches(current ?? '', known).catch(busy))) {
        await signIns.noteWrong(request, visitor, 'password');
        throw wrong();
      }
      await failures.forgive(`${visitor.tenant}/${visitor.login}`, callerAddress(request));
      const hash = await hashPassword(password).catch(busy);
      const view = await signIns.begin(app, request, reply, 'session.set-password', async (db) => {
        const person = await people.byPassword(db, visitor.id, known);
        if (person === undefined) throw wrong();
        await people.setPassword(db, person.id, hash);
        return person;
      });
      request.deed.written = true;
      return view;
    },
  );
}
