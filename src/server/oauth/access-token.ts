/**
 * Access tokens: JWTs as RFC 9068 lays down, signed with RS256, bound to one tenant. With an external
 * authorization server configured, its tokens are accepted instead and none are issued.
 */
import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Permission } from '../../contract/admin.ts';
import type { ServerConfig } from '../config.ts';
import { ProblemError } from '../problems.ts';
import { type Integration, knownPermissions } from './integrations.ts';
import { type IssuedToken, IssuedTokens } from './issued-tokens.ts';
import type { Signer, SigningKeys } from './signing-keys.ts';

/** s by which clocks may differ. */
const CLOCK_TOLERANCE = 5;
/** Longest token that is looked at, characters. */
const MAX_LENGTH = 8192;
/** Longest life of an external server's token, s. */
const MOST_EXTERNAL = 24 * 3600;
/** Claims of OpenID Connect's ID tokens. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
/** Signature algorithms taken from an external server: asymmetric ones only, so that no public key passes for a secret. */
const EXTERNAL_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];

/** What a valid token says. */
export type Claims = {
  account: string;
  tenants: readonly string[];
  permissions: readonly Permission[];
  /** From then on it is invalid, s since 1970. */
  expires: number;
};

export interface AccessTokens {
  /** @throws ProblemError `token-invalid` */
  verify(token: string): Promise<Claims>;
}

/** As an `error_description`: ASCII without quotes and backslashes (RFC 6749 §5.2, RFC 6750 §3). */
export function describable(text: string): string {
  return text.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}

function invalid(reason: string, cause?: unknown): ProblemError {
  return new ProblemError('token-invalid', reason, {
    headers: {
      'www-authenticate': `Bearer realm="platen", error="invalid_token", error_description="${describable(reason)}"`,
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Why a token was refused, in our own words: the library's may repeat parts of the token. */
function refusal(error: unknown, { audience, issuer }: { audience: string; issuer: string }): ProblemError {
  if (error instanceof errors.JWTExpired) return invalid('the token has expired', error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const wrong = {
      aud: `is for another audience: expected ${audience}`,
      iss: `is from another issuer: expected ${issuer}`,
      typ: 'is not an access token',
    };
    const reason = Object.entries(wrong).find(([claim]) => claim === error.claim)?.[1];
    return invalid(`the token ${reason ?? 'has an invalid claim'}`, error);
  }
  return invalid('the token is not valid', error);
}

/** Whether the library refused the token, as opposed to not being able to tell (keys out of reach). */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    // jose throws its bare base class where the JWKS URL answers something else than 200 and JSON.
    error.constructor !== errors.JOSEError
  );
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ').filter((part) => part !== '');
  return Array.isArray(value) ? value.filter((part) => typeof part === 'string') : [];
}

export class OwnTokens implements AccessTokens {
  readonly #keys: SigningKeys;
  readonly #issuer: () => string;
  readonly #config: ServerConfig;
  readonly #issued: IssuedTokens;

  constructor(keys: SigningKeys, issuer: () => string, config: ServerConfig) {
    this.#keys = keys;
    this.#issuer = issuer;
    this.#config = config;
    this.#issued = new IssuedTokens(config.tokenLifetime);
  }

  /** A token for the account and scope; one that was issued a moment ago is handed out again. */
  async issue(account: Integration, scope: readonly Permission[]): Promise<IssuedToken> {
    const signer = await this.#keys.signer();
    const name = [signer.kid, account.apiKey, account.tenantId, ...scope].join(' ');
    return this.#issued.get(name, () => this.#sign(signer, account, scope));
  }

  async #sign(
    { kid, key }: Signer,
    account: Integration,
    scope: readonly Permission[],
  ): Promise<IssuedToken> {
    const now = Math.floor(Date.now() / 1000);
    const expires = now + this.#config.tokenLifetime;
    const token = await new SignJWT({
      client_id: account.apiKey,
      scope: scope.join(' '),
      tenant: account.tenantId,
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
      .setIssuer(this.#issuer())
      .setSubject(account.apiKey)
      .setAudience(this.#config.audience)
      .setIssuedAt(now)
      .setExpirationTime(expires)
      .setJti(randomUUID())
      .sign(key);
    return { token, expires };
  }

  async verify(token: string): Promise<Claims> {
    if (token.length > MAX_LENGTH) throw invalid('the token is not valid');
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, this.#keys.verifier(), {
        algorithms: ['RS256'],
        typ: 'at+jwt',
        issuer: this.#issuer(),
        audience: this.#config.audience,
        requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
        clockTolerance: CLOCK_TOLERANCE,
      }));
    } catch (error) {
      throw isRefusal(error)
        ? refusal(error, { audience: this.#config.audience, issuer: this.#issuer() })
        : error;
    }
    return {
      account: payload.sub ?? '',
      tenants: strings(payload['tenant']),
      permissions: knownPermissions(strings(payload['scope'])),
      expires: (payload.exp ?? 0) + CLOCK_TOLERANCE,
    };
  }
}

/**
 * Tokens of an external authorization server. Its permissions are taken from `scope` (RFC 9068), `scp` (Entra ID)
 * or `permissions` (Auth0), its tenants from the configured claim: a tenant ID or a list of them.
 */
export class ExternalTokens implements AccessTokens {
  readonly #external: NonNullable<ServerConfig['externalAuth']>;
  readonly #audience: string;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(external: NonNullable<ServerConfig['externalAuth']>, audience: string) {
    this.#external = external;
    this.#audience = audience;
    this.#keys = createRemoteJWKSet(new URL(external.jwksUrl), { timeoutDuration: 5_000 });
  }

  async verify(token: string): Promise<Claims> {
    if (token.length > MAX_LENGTH) throw invalid('the token is not valid');
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, this.#keys, {
        algorithms: EXTERNAL_ALGORITHMS,
        typ: this.#external.tokenType,
        issuer: this.#external.issuer,
        audience: this.#audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        // This also refuses tokens that were issued in the future.
        maxTokenAge: MOST_EXTERNAL,
        clockTolerance: CLOCK_TOLERANCE,
      }));
    } catch (error) {
      throw isRefusal(error)
        ? refusal(error, { audience: this.#audience, issuer: this.#external.issuer })
        : error;
    }
    const { sub = '', exp = 0, iat = 0 } = payload;
    if (sub === '') throw invalid('the token names no subject');
    if (exp - iat > MOST_EXTERNAL) throw invalid(`the token lives longer than ${MOST_EXTERNAL / 3600} h`);
    // With the `typ` `JWT` an ID token is recognised by the claims that only ID tokens have.
    if (ID_TOKEN_CLAIMS.some((claim) => payload[claim] !== undefined)) {
      throw invalid('the token is not an access token');
    }
    return {
      account: sub,
      tenants: strings(payload[this.#external.tenantClaim]),
      permissions: knownPermissions([
        ...strings(payload['scope']),
        ...strings(payload['scp']),
        ...strings(payload['permissions']),
      ]),
      expires: exp + CLOCK_TOLERANCE,
    };
  }
}
