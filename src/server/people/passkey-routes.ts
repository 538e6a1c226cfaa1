/** Passkeys: signing in with one, and a person's own list of them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  passkeyAdd,
  passkeyBegin,
  passkeyCreation,
  passkeyRequest,
  passkeySignIn,
} from '../../contract/people.ts';
import { because } from '../../contract/reason.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import { ProblemError, parseBody, refusedBecause } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { writeDeed } from './access.ts';
import { type Passkeys, type RelyingParty, WrongPasskey } from './passkeys.ts';
import { passwordMatches } from './password.ts';
import type { People } from './people.ts';
import type { PublicName } from './public-name.ts';
import { A_PERSON, ANYBODY, busy, type SignIns, tooOften, visitorFor } from './sign-ins.ts';
import { personIn } from './visitor.ts';

type Parts = {
  pool: Pool;
  people: People;
  passkeys: Passkeys;
  failures: FailedAttempts;
  signIns: SignIns;
  name: PublicName;
};

/** Bytes: a key, or what was signed with one. */
const BODY_LIMIT = 16 * 1024;
const BY_ANYBODY = { config: ANYBODY, bodyLimit: BODY_LIMIT } as const;
const passkeyParam = z.object({ passkeyId: z.string() });

export async function passkeyRoutes(app: FastifyInstance, parts: Parts): Promise<void> {
  const { pool, people, passkeys, failures, signIns, name } = parts;
  const party = (request: FastifyRequest): RelyingParty => {
    const found = name.relyingParty(request);
    if (found !== undefined) return found;
    throw refusedBecause('passkeys-unavailable', because('passkeys-https', {}));
  };
  /** Asking for a challenge counts as a failed attempt, and signing in takes that back. */
  const counted = (request: FastifyRequest) => [{ nobody: 'passkey' }, callerAddress(request)] as const;

  app.post('/app/session/passkey/options', BY_ANYBODY, async (request) => {
    const at = party(request);
    const wait = await failures.count(...counted(request));
    if (wait > 0) throw tooOften(wait);
    return passkeyRequest.parse(await passkeys.optionsToSignIn(at));
  });
  /** Writes down a wrong passkey. That happens at most as often as somebody has asked for a challenge, which is limited. */
  const noteWrong = async (request: FastifyRequest, error: unknown): Promise<never> => {
    const person = error instanceof WrongPasskey ? await people.byId(pool, error.personId) : undefined;
    if (person !== undefined) await signIns.noteWrong(request, visitorFor(person), 'passkey');
    throw error;
  };
  app.post('/app/session/passkey', BY_ANYBODY, async (request, reply) => {
    const sent = parseBody(passkeySignIn, request.body);
    const signedIn = async () => {
      const { personId, use } = await passkeys.signIn(sent, party(request));
      return await signIns.begin(app, request, reply, 'session.sign-in-by-passkey', async (db) => {
        await use(db);
        const person = await people.byId(db, personId);
        if (person === undefined) throw new ProblemError('passkey-refused', 'nobody has it');
        return person;
      });
    };
    const view = await signedIn().catch((error: unknown) => noteWrong(request, error));
    await failures.forgive(...counted(request));
    return view;
  });

  app.get('/app/session/passkeys', { config: A_PERSON }, async (request) =>
    passkeys.list(personIn(request).id),
  );
  app.post(
    '/app/session/passkeys/options',
    { config: { ...A_PERSON, audit: null }, bodyLimit: BODY_LIMIT },
    async (request) => {
      const at = party(request);
      const { current } = parseBody(passkeyBegin, request.body ?? {});
      const visitor = personIn(request);
      // Asks for the password, so that nobody can turn a session that was left open into a lasting way in.
      const person = await people.byId(pool, visitor.id);
      if (person?.password_hash != null) {
        const of = [`${visitor.tenant}/${visitor.login}`, callerAddress(request)] as const;
        const wait = await failures.count(...of);
        if (wait > 0) throw tooOften(wait);
        if (!(await passwordMatches(current ?? '', person.password_hash).catch(busy))) {
          await signIns.noteWrong(request, visitor, 'password');
          throw new ProblemError('password-wrong', 'the current password is wrong');
        }
        await failures.forgive(...of);
      }
      return passkeyCreation.parse(await passkeys.optionsToAdd(visitor, at));
    },
  );
  app.post(
    '/app/session/passkeys',
    { config: { ...A_PERSON, audit: 'passkey.add' }, bodyLimit: BODY_LIMIT },
    async (request, reply) => {
      const sent = parseBody(passkeyAdd, request.body);
      const visitor = personIn(request);
      const added = await passkeys.add(visitor.id, sent, party(request), (db, passkey) =>
        writeDeed(db, request, { object: visitor.id, details: { passkey: passkey.name } }),
      );
      return reply.code(201).send(added);
    },
  );
  app.delete(
    '/app/session/passkeys/:passkeyId',
    { config: { ...A_PERSON, audit: 'passkey.remove' } },
    async (request, reply) => {
      const { passkeyId } = passkeyParam.parse(request.params);
      const visitor = personIn(request);
      await passkeys.remove(visitor.id, passkeyId, (db, passkey) =>
        writeDeed(db, request, { object: visitor.id, details: { passkey: passkey.name } }),
      );
      return reply.code(204).send();
    },
  );
}
