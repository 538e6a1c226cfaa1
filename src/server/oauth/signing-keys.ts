/**
 * The RSA keys that sign access tokens. They live in the database, so that every instance signs and verifies with
 * the same ones and a restart ends no session.
 *
 * Rotation: a new key is published at once, signs only after `PUBLISH_FIRST` (by then whoever caches the JWKS has
 * seen it), and the one before it goes on verifying until the last token it signed has expired.
 *
 * The private half is sealed with the deployment's secret key, which is kept outside of the database. An
 * instance signs with a key that it can open, and verifies with all keys. Instances that do not share a
 * secret key each make a signing key of their own.
 */
import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';
import type { SecretKey } from '../secret-key.ts';
import { onlyRow, type Pool, rowsOf, transaction } from '../store/pool.ts';

const ALGORITHM = 'RS256';
const LOCK = 'SELECT pg_advisory_xact_lock(123610793796975)';
/** ms before a new key signs, if there is an older one. */
const PUBLISH_FIRST = 10 * 60_000;
/** ms after which a key is followed by a new one. */
const MAX_AGE = 90 * 24 * 3_600_000;
/** ms after which the keys are read from the database again. */
const REFRESH = 60_000;
/** ms between two reads that unknown key IDs may cause. */
const REFRESH_UNKNOWN = 5_000;

const privateKey = z.looseObject({ kty: z.literal('RSA') });
const keyRow = z.object({
  kid: z.string(),
  sealed: z.string(),
  sealed_with: z.string(),
  public_jwk: z.looseObject({ kty: z.string() }),
  created_at: z.date(),
});
export type Signer = { kid: string; key: CryptoKey };
/** `find` imports each key once, when it is first asked for. */
type Loaded = { at: number; signer: Signer; jwks: JSONWebKeySet; find: JWTVerifyGetKey };

export class SigningKeys {
  readonly #pool: Pool;
  readonly #tokenLifetime: number;
  readonly #secretKey: SecretKey;
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;

  /** `tokenLifetime` in s. */
  constructor(pool: Pool, tokenLifetime: number, secretKey: SecretKey) {
    this.#pool = pool;
    this.#tokenLifetime = tokenLifetime;
    this.#secretKey = secretKey;
  }

  /** The key to sign with. */
  async signer(): Promise<Signer> {
    return (await this.#current(REFRESH)).signer;
  }

  /** The public keys, as RFC 7517 lays down. */
  async jwks(): Promise<JSONWebKeySet> {
    return (await this.#current(REFRESH)).jwks;
  }

  /** For `jwtVerify`: finds the key by its ID, reading the keys anew if it is not known. */
  verifier(): JWTVerifyGetKey {
    return async (header, token) => {
      const known = (await this.jwks()).keys.some((key) => key.kid === header?.kid);
      const { find } = await this.#current(known ? REFRESH : REFRESH_UNKNOWN);
      return find(header, token);
    };
  }

  /** Adds a key now. */
  async rotate(): Promise<void> {
    await this.#add(() => true);
    this.#loaded = undefined;
  }

  /** Adds a key if there is none or the newest is too old, and drops keys whose tokens have all expired. */
  async maintain(): Promise<void> {
    await this.#add((newest) => newest === undefined || Date.now() - newest.getTime() > MAX_AGE);
    await this.#pool.query(
      `DELETE FROM platen.signing_keys AS old USING platen.signing_keys AS next
       WHERE next.created_at > old.created_at AND next.created_at < now() - make_interval(secs => $1)
         AND (old.sealed_with = next.sealed_with
           OR old.created_at < now() - make_interval(secs => $2))`,
      [PUBLISH_FIRST / 1000 + this.#tokenLifetime + 3600, (2 * MAX_AGE) / 1000],
    );
  }

  async #add(wanted: (newest: Date | undefined) => boolean): Promise<void> {
    await transaction(this.#pool, async (client) => {
      await client.query(LOCK);
      const { newest } = await onlyRow(
        client,
        z.object({ newest: z.date().nullable() }),
        'SELECT max(created_at) AS newest FROM platen.signing_keys WHERE sealed_with = $1',
        [this.#secretKey.fingerprint],
      );
      if (!wanted(newest ?? undefined)) return;
      const pair = await generateKeyPair(ALGORITHM, { extractable: true });
      const kid = randomUUID();
      const publicJwk = { ...(await exportJWK(pair.publicKey)), kid, alg: ALGORITHM, use: 'sig' };
      const privateJwk = { ...(await exportJWK(pair.privateKey)), kid, alg: ALGORITHM };
      await client.query(
        'INSERT INTO platen.signing_keys (kid, sealed, sealed_with, public_jwk) VALUES ($1, $2, $3, $4)',
        [
          kid,
          this.#secretKey.seal(JSON.stringify(privateJwk), kid),
          this.#secretKey.fingerprint,
          JSON.stringify(publicJwk),
        ],
      );
    });
  }

  async #current(maxAge: number): Promise<Loaded> {
    if (this.#loaded !== undefined && Date.now() - this.#loaded.at < maxAge) return this.#loaded;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<Loaded> {
    const rows = await rowsOf(
      this.#pool,
      keyRow,
      'SELECT * FROM platen.signing_keys ORDER BY created_at DESC',
    );
    const own = rows.filter((row) => row.sealed_with === this.#secretKey.fingerprint);
    const published = own.filter((row) => Date.now() - row.created_at.getTime() > PUBLISH_FIRST);
    const row = published[0] ?? own.at(-1);
    if (row === undefined) throw new Error('there is no signing key');
    const key = await importJWK(
      privateKey.parse(JSON.parse(this.#secretKey.open(row.sealed, row.kid))),
      ALGORITHM,
    );
    if (key instanceof Uint8Array) throw new Error('the signing key is not an RSA key');
    const jwks = { keys: rows.map((each) => each.public_jwk) };
    this.#loaded = { at: Date.now(), signer: { kid: row.kid, key }, jwks, find: createLocalJWKSet(jwks) };
    return this.#loaded;
  }
}
