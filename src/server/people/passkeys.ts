/** Passkeys (WebAuthn Level 3): people sign in without a password; `@simplewebauthn/server` checks them. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { PasskeyView, passkeyAdd, passkeySignIn } from '../../contract/people.ts';
import { because } from '../../contract/reason.ts';
import { ProblemError, refusedBecause } from '../problems.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';

/** Loaded when somebody uses a passkey: it takes 21 MB, and most services never need it. */
const webauthn = () => import('@simplewebauthn/server');

/** Passkeys of one person. */
const MOST = 20;
/** min that somebody may take at the authenticator. */
const MINUTES = 5;
const UNIQUE = 'ON CONFLICT (id) DO NOTHING';

const passkeyRow = z.object({
  id: z.string(),
  person_id: z.string(),
  name: z.string(),
  public_key: z.instanceof(Buffer),
  counter: z.coerce.number(),
  transports: z.array(z.string()),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
});
type Row = z.infer<typeof passkeyRow>;

/** The service that a passkey is for, as the browser knows it. */
export type RelyingParty = { id: string; origin: string };
type Who = { id: string; login: string; name: string };

/** A person's passkey has answered a challenge of ours, and wrongly: somebody has a copy, or leads the person astray. */
export class WrongPasskey extends ProblemError {
  readonly personId: string;

  constructor(personId: string, why: string, cause?: unknown) {
    super('passkey-refused', why, cause === undefined ? {} : { cause });
    this.personId = personId;
  }
}

export class Passkeys {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async list(personId: string): Promise<PasskeyView[]> {
    return (await this.#of(this.#pool, personId)).map(viewOf);
  }

  /** What the browser needs to make a passkey. @throws ProblemError `passkeys-limit` */
  async optionsToAdd({ id, login, name }: Who, party: RelyingParty): Promise<object> {
    const known = await this.#of(this.#pool, id);
    if (known.length >= MOST) throw limit();
    const { generateRegistrationOptions } = await webauthn();
    return await generateRegistrationOptions({
      rpName: 'Platen',
      rpID: party.id,
      userName: login,
      userDisplayName: name,
      userID: handleOf(id),
      challenge: await this.#challenge(id),
      timeout: MINUTES * 60_000,
      // The service does not ask who made the authenticator.
      attestationType: 'none',
      excludeCredentials: known.map(({ id: passkey, transports }) => ({ id: passkey, transports })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** @throws ProblemError `passkey-refused`, `passkeys-limit` */
  async add(
    personId: string,
    { name, credential: sent }: z.output<typeof passkeyAdd>,
    party: RelyingParty,
    also: Also<PasskeyView>,
  ): Promise<PasskeyView> {
    const { verifyRegistrationResponse } = await webauthn();
    const verified = await refusing(refused, async () => {
      await requireNoMaker(sent.response.attestationObject);
      return await verifyRegistrationResponse({
        response: { ...sent, clientExtensionResults: {} },
        expectedChallenge: (challenge) => this.#useChallenge(challenge, personId),
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
      });
    });
    if (!verified.verified) throw refused('it could not be verified');
    const { id, publicKey, counter } = verified.registrationInfo.credential;
    // The library does not compare the two IDs, and only the one that was sent has a limit on its length.
    if (id !== sent.id) throw refused('its ID is another one than was sent');
    return await transaction(this.#pool, async (db) => {
      // The lock keeps two additions at once from exceeding the limit.
      await db.query('SELECT FROM platen.people WHERE id = $1 FOR UPDATE', [personId]);
      if ((await this.#of(db, personId)).length >= MOST) throw limit();
      const row = await rowOf(
        db,
        passkeyRow,
        `INSERT INTO platen.passkeys (id, person_id, name, public_key, counter, transports)
         VALUES ($1, $2, $3, $4, $5, $6) ${UNIQUE} RETURNING *`,
        [id, personId, name, Buffer.from(publicKey), counter, sent.response.transports],
      );
      if (row === undefined) throw refused('it is known already');
      const view = viewOf(row);
      await also(db, view);
      return view;
    });
  }

  /** @throws ProblemError `passkey-not-found` */
  async remove(personId: string, id: string, also: Also<PasskeyView>): Promise<void> {
    await transaction(this.#pool, async (db) => {
      const sql = 'DELETE FROM platen.passkeys WHERE person_id = $1 AND id = $2 RETURNING *';
      const row = /^[\w-]+$/.test(id) ? await rowOf(db, passkeyRow, sql, [personId, id]) : undefined;
      if (row === undefined) throw new ProblemError('passkey-not-found', 'it may have been removed before');
      await also(db, viewOf(row));
    });
  }

  /** What the browser needs to ask for a passkey. The authenticator knows which passkeys it has. */
  async optionsToSignIn(party: RelyingParty): Promise<object> {
    const { generateAuthenticationOptions } = await webauthn();
    return await generateAuthenticationOptions({
      rpID: party.id,
      challenge: await this.#challenge(null),
      timeout: MINUTES * 60_000,
      userVerification: 'required',
    });
  }

  /**
   * Finds the person whose passkey has signed the challenge.
   * @returns the person's ID, and a function that notes the passkey's use, in the session's transaction
   * @throws ProblemError `passkey-refused`; the same as WrongPasskey
   */
  async signIn(
    { credential: sent }: z.output<typeof passkeySignIn>,
    party: RelyingParty,
  ): Promise<{ personId: string; use: (db: Queryable) => Promise<void> }> {
    const row = await rowOf(this.#pool, passkeyRow, 'SELECT * FROM platen.passkeys WHERE id = $1', [sent.id]);
    if (row === undefined) throw refused('nobody has it');
    const { clientDataJSON, authenticatorData, signature, userHandle } = sent.response;
    if (userHandle != null && userHandle !== Buffer.from(handleOf(row.person_id)).toString('base64url')) {
      throw refused('it is somebody else’s');
    }
    const { verifyAuthenticationResponse } = await webauthn();
    let isAnswer = false;
    const wrong = (why: string, cause?: unknown) =>
      isAnswer ? new WrongPasskey(row.person_id, why, cause) : refused(why, cause);
    const { verified, authenticationInfo } = await refusing(wrong, () =>
      verifyAuthenticationResponse({
        response: {
          ...{ id: sent.id, rawId: sent.rawId, type: sent.type, clientExtensionResults: {} },
          response: { clientDataJSON, authenticatorData, signature },
        },
        expectedChallenge: async (challenge) => {
          isAnswer = await this.#useChallenge(challenge, null);
          return isAnswer;
        },
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        credential: {
          ...{ id: row.id, counter: row.counter },
          publicKey: new Uint8Array(row.public_key),
          transports: row.transports,
        },
        requireUserVerification: true,
      }),
    );
    if (!verified) throw wrong('it could not be verified');
    const { newCounter } = authenticationInfo;
    return {
      personId: row.person_id,
      use: async (db) => {
        const { rowCount } = await db.query(
          `UPDATE platen.passkeys SET counter = $2, last_used_at = now()
           WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))`,
          [row.id, newCounter],
        );
        // Two sign-ins with the same count: one of the two passkeys is a copy.
        if (rowCount === 0) throw wrong('it has been used or removed meanwhile');
      },
    };
  }

  /** Deletes challenges that nobody has answered. */
  async forget(): Promise<void> {
    await this.#pool.query('DELETE FROM platen.passkey_challenges WHERE expires_at < now()');
  }

  async #of(db: Queryable, personId: string): Promise<Row[]> {
    const sql = `SELECT * FROM platen.passkeys WHERE person_id = $1 ORDER BY created_at, id LIMIT ${MOST}`;
    return await rowsOf(db, passkeyRow, sql, [personId]);
  }

  /** A person has one challenge, the newest. Challenges to sign in belong to nobody, because it is not known who asks. */
  async #challenge(personId: string | null): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = Uint8Array.from(randomBytes(32));
    await this.#pool.query('DELETE FROM platen.passkey_challenges WHERE person_id = $1', [personId]);
    await onlyRow(
      this.#pool,
      z.object({ challenge: z.string() }),
      `INSERT INTO platen.passkey_challenges (challenge, person_id, expires_at)
       VALUES ($1, $2, now() + interval '${MINUTES} minutes') RETURNING challenge`,
      [Buffer.from(bytes).toString('base64url'), personId],
    );
    return bytes;
  }

  /** Uses the challenge up, whether or not the rest of the answer is right. @returns whether it was valid */
  async #useChallenge(challenge: string, personId: string | null): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `DELETE FROM platen.passkey_challenges
       WHERE challenge = $1 AND person_id IS NOT DISTINCT FROM $2 AND expires_at > now()`,
      [challenge.replaceAll('\0', ''), personId],
    );
    return rowCount === 1;
  }
}

/** What the authenticator keeps with the key: the person's ID, which does not tell anybody who it is. */
function handleOf(personId: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(personId));
}

/** Refuses a maker's certificate: the library would ask the maker's servers whether it is still valid. */
async function requireNoMaker(attestation: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestation, 'base64url')));
  const fmt: string = decoded.get('fmt');
  if (fmt === 'none' || (fmt === 'packed' && decoded.get('attStmt').get('x5c') === undefined)) return;
  throw new Error('it names its maker');
}

type Refuses = (why: string, cause: unknown) => ProblemError;

async function refusing<T>(refuses: Refuses, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The library throws for any answer that does not fit; errors of the database are passed on.
    if (error instanceof ProblemError || (error instanceof Error && 'severity' in error)) throw error;
    throw refuses('what the authenticator answered does not fit', error);
  }
}

function refused(why: string, cause?: unknown): ProblemError {
  return new ProblemError('passkey-refused', why, cause === undefined ? {} : { cause });
}

function limit(): ProblemError {
  return refusedBecause('passkeys-limit', because('passkeys-most', { most: MOST }));
}

function viewOf({ id, name, created_at, last_used_at }: Row): PasskeyView {
  return {
    id,
    name,
    createdAt: created_at.toISOString(),
    lastUsedAt: last_used_at?.toISOString() ?? null,
  };
}
