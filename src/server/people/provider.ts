/**
 * An OpenID provider, asked with `openid-client`: authorization code with PKCE, state and nonce (RFC 6749
 * §4.1, RFC 7636, OpenID Connect Core §3.1). Its metadata is fetched when somebody signs in, so that the
 * service starts without the provider; each of its answers has a deadline and a maximum size.
 */
import { createHash, randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import { z } from 'zod';
import { login, type ProviderRefusal, ROLES, type Role } from '../../contract/people.ts';
import { because } from '../../contract/reason.ts';
import type { SingleSignOn } from '../config.ts';
import { refusedBecause } from '../problems.ts';
import { inTurn } from '../stretches.ts';

/** s for one answer of the provider. */
const DEADLINE = 8;
/** Bytes of one answer: metadata, keys, tokens. */
const MOST = 256 * 1024;
/** ms for which the provider's metadata is kept, and for which it is not asked again where it could not be had. */
const KEPT = 60 * 60_000;
const NOT_AGAIN = 1_000;

/** A person, as the provider describes them. */
type KnownPerson = {
  issuer: string;
  subject: string;
  login: string;
  name: string;
  role: Role | undefined;
};

/** Why a sign-in is refused; `why` is for the log, and holds nothing of what the provider sent. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
  readonly refusal: ProviderRefusal;

  constructor(refusal: ProviderRefusal, why: string) {
    super(why);
    this.refusal = refusal;
  }
}

const claimsOfPerson = z.looseObject({ sub: z.string().min(1).max(500) });
const groups = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(10_000)]).catch([]);
const personName = z
  .string()
  .trim()
  .regex(/^[^\p{C}]{1,200}$/u);

/** The values of one attempt to sign in, all derived from one secret that only the browser keeps. */
export class Attempt {
  readonly #seed: string;

  private constructor(seed: string) {
    this.#seed = seed;
  }

  static new(): Attempt {
    return new Attempt(randomBytes(32).toString('base64url'));
  }

  /** The attempt whose secret the browser has brought back; undefined if that is malformed. */
  static of(text: string | undefined): Attempt | undefined {
    return text !== undefined && /^[\w-]{43}$/.test(text) ? new Attempt(text) : undefined;
  }

  get seed(): string {
    return this.#seed;
  }
  get state(): string {
    return this.#derived('state');
  }
  get nonce(): string {
    return this.#derived('nonce');
  }
  /** For PKCE (RFC 7636 §4.1). */
  get verifier(): string {
    return this.#derived('verifier');
  }

  #derived(what: string): string {
    return createHash('sha256').update(`${what} ${this.#seed}`).digest('base64url');
  }
}

export class IdentityProvider {
  readonly #config: SingleSignOn;
  #found: { config: Promise<client.Configuration>; until: number } | undefined;

  constructor(config: SingleSignOn) {
    this.#config = config;
  }

  /**
   * The URL that the browser is to go to.
   * @param again whether the provider is to ask for a sign-in even if the person is signed in there
   * @throws ProblemError `provider-away`
   */
  async begin(attempt: Attempt, redirect: string, again: boolean): Promise<string> {
    const parameters = {
      redirect_uri: redirect,
      scope: this.#config.scope,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      ...(again && { prompt: 'login' }),
    };
    try {
      // Refuses an address that is neither https nor, where the issuer's is not either, http.
      return client.buildAuthorizationUrl(await this.#configuration(), parameters).href;
    } catch (error) {
      // Hundreds may have waited for the same answer.
      await inTurn();
      throw refusedBecause('provider-away', because('provider-silent', { provider: this.#config.name }), {
        cause: new Error(`the provider cannot be asked: ${reasonOf(error)}`),
      });
    }
  }

  /**
   * @param url where the provider has led the browser back to
   * @throws ProviderRefused
   */
  async finish(attempt: Attempt, url: URL): Promise<KnownPerson> {
    const claims = await this.#claims(attempt, url).catch((error: unknown) => {
      throw error instanceof ProviderRefused ? error : refusalOf(error);
    });
    return this.#personOf(claims);
  }

  async #claims(attempt: Attempt, url: URL): Promise<z.infer<typeof claimsOfPerson>> {
    const config = await this.#configuration();
    const tokens = await client.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: attempt.verifier,
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      idTokenExpected: true,
    });
    const claims = claimsOfPerson.parse(tokens.claims());
    const { loginClaim, roleClaim, roles } = this.#config;
    const missing = [loginClaim, ...(roles === undefined ? [] : [roleClaim])].some((one) => !(one in claims));
    if (!missing || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    // Most providers put the claims of a scope not into the token, but into the answer of the userinfo
    // endpoint (OpenID Connect Core §5.3.2).
    const more = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    return claimsOfPerson.parse({ ...more, ...claims });
  }

  /** @throws ProviderRefused */
  #personOf(claims: z.infer<typeof claimsOfPerson>): KnownPerson {
    const { loginClaim, roleClaim, roles, issuer } = this.#config;
    if (loginClaim === 'email' && claims['email_verified'] !== true) {
      throw new ProviderRefused('not-verified', 'the address is not verified');
    }
    const found = login.safeParse(claims[loginClaim]);
    if (!found.success) throw new ProviderRefused('provider-refused', `no login in the claim ${loginClaim}`);
    const name = personName.safeParse(claims['name']).data ?? found.data;
    const person = { issuer, subject: claims.sub, login: found.data, name };
    if (roles === undefined) return { ...person, role: undefined };
    const given = groups.parse(claims[roleClaim]).flatMap((group) => {
      const one = Object.hasOwn(roles, group) ? roles[group] : undefined;
      return one === undefined ? [] : [one];
    });
    const role = ROLES.findLast((one) => given.includes(one));
    if (role === undefined)
      throw new ProviderRefused('not-invited', 'in none of the groups that have a role');
    return { ...person, role };
  }

  /** The provider's configuration, fetched once for all who sign in at the same time. */
  #configuration(): Promise<client.Configuration> {
    if (this.#found === undefined || performance.now() > this.#found.until) {
      const config = discover(this.#config);
      const found = { config, until: performance.now() + KEPT };
      this.#found = found;
      config.catch(() => {
        found.until = performance.now() + NOT_AGAIN;
      });
    }
    return this.#found.config;
  }
}

async function discover({ issuer, clientId, clientSecret }: SingleSignOn): Promise<client.Configuration> {
  const address = new URL(issuer);
  const plain = address.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const found = await client.discovery(address, clientId, undefined, client.None(), {
    execute: plain,
    timeout: DEADLINE,
    [client.customFetch]: bounded,
  });
  const metadata = found.serverMetadata();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const config = new client.Configuration(
    metadata,
    clientId,
    undefined,
    clientSecret === undefined
      ? client.None()
      : methods.includes('client_secret_basic')
        ? client.ClientSecretBasic(clientSecret)
        : client.ClientSecretPost(clientSecret),
  );
  config.timeout = DEADLINE;
  config[client.customFetch] = bounded;
  for (const each of plain) each(config);
  // By itself the library trusts a token that came over TLS, as OpenID Connect Core §3.1.3.7 allows. This has
  // it check the signature all the same.
  client.enableNonRepudiationChecks(config);
  return config;
}

/** @throws Error for an answer that is too large, before more of it is read */
async function bounded(url: string, options: client.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, { ...options, body: options.body ?? null });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MOST) throw new Error(`the answer is larger than ${MOST} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(length === 0 ? null : Buffer.concat(chunks), { status, statusText, headers });
}

/** The reason in the library's own words; what the provider sent may hold anything, and is left out. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // The cause of an error may be an answer of the provider instead of another error.
  const errors = [error, error.cause].filter((one) => one instanceof Error);
  const codes = errors.map((one) => z.object({ code: z.string() }).safeParse(one).data?.code);
  return [error.name, ...codes].filter(Boolean).join(' ');
}

function refusalOf(error: unknown): ProviderRefused {
  const why = reasonOf(error);
  if (error instanceof client.AuthorizationResponseError) {
    return new ProviderRefused(error.error === 'access_denied' ? 'canceled' : 'provider-refused', why);
  }
  const away =
    (error instanceof TypeError && error.message === 'fetch failed') || /TIMEOUT|TimeoutError/.test(why);
  return new ProviderRefused(away ? 'provider-away' : 'provider-refused', why);
}
