/**
 * Who calls: the checks that come before anything about the body. 401 for the token, 400 for a missing or
 * malformed tenant header, 403 for a tenant or a permission that the caller does not have, in this order.
 */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import { tenantId } from '../../contract/tenant-id.ts';
import { ProblemError } from '../problems.ts';
import type { RequestRate } from '../request-rate.ts';
import type { Tenants } from '../tenants/tenants.ts';
import { whoseOf } from '../tenants/whose.ts';
import type { AccessTokens, Claims } from './access-token.ts';
import type { Integrations } from './integrations.ts';

export type Caller = {
  tenantId: string;
  account: string;
  /** The account is a service account of our own, which may be revoked. */
  ownAccount: boolean;
  /** Its jobs are tests: it sees no others, and nobody else's key sees them. */
  test: boolean;
};

type Parts = {
  tokens: AccessTokens;
  /** Undefined where the accounts are an external server's. */
  integrations: Integrations | undefined;
  tenants: Tenants;
};

const CHALLENGE = 'Bearer realm="platen"';

/** The bearer token of a request (RFC 6750 §2.1; never from the URL or the body). @throws ProblemError `token-missing` */
function bearerToken(request: FastifyRequest): string {
  const [, token] = /^Bearer +([\w\-.~+/]+=*) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) {
    throw new ProblemError('token-missing', 'expected the header "Authorization: Bearer <token>"', {
      headers: { 'www-authenticate': CHALLENGE },
    });
  }
  return token;
}

/**
 * `now`: the account is looked up in the database. `lately`: one that was looked up seconds ago will do, for
 * a route that checks it again before it does anything; before anybody is refused, it is looked up anew.
 */
type AccountAge = 'now' | 'lately';

/** @throws ProblemError, one of the six that this module's heading describes */
export async function identify(
  request: FastifyRequest,
  needed: Permission,
  parts: Parts,
  age: AccountAge,
): Promise<Caller> {
  const claims = await parts.tokens.verify(bearerToken(request));
  if (age === 'now') return await callerOf(request, needed, claims, parts, age);
  try {
    return await callerOf(request, needed, claims, parts, age);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return await callerOf(request, needed, claims, parts, 'now');
  }
}

async function callerOf(
  request: FastifyRequest,
  needed: Permission,
  claims: Claims,
  parts: Parts,
  age: AccountAge,
): Promise<Caller> {
  const { test, ...current } = await withoutRevoked(claims, parts.integrations, age);
  request.facts.account = current.account;

  const tenant = tenantHeader(request);
  // An account of our own belongs to a tenant that exists; another server's claims may name any tenant.
  const exists = parts.integrations !== undefined || (await parts.tenants.exists(tenant));
  if (!current.tenants.includes(tenant) || !exists) {
    throw new ProblemError('tenant-forbidden', `the service account has no access to tenant "${tenant}"`);
  }
  request.facts.tenant = tenant;
  if (!current.permissions.includes(needed)) {
    throw new ProblemError('permission-missing', `the service account lacks the permission ${needed}`, {
      headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${needed}"` },
    });
  }
  return { tenantId: tenant, account: current.account, ownAccount: parts.integrations !== undefined, test };
}

/** The account as it is now: a revoked integration is out at once, not when its last token expires. */
async function withoutRevoked(
  claims: Claims,
  integrations: Integrations | undefined,
  age: AccountAge,
): Promise<Claims & { test: boolean }> {
  // An external server has no test keys.
  if (integrations === undefined) return { ...claims, test: false };
  const account =
    (age === 'lately' ? integrations.lately(claims.account) : undefined) ??
    (await integrations.find(claims.account));
  if (account === undefined) throw revoked();
  return {
    ...claims,
    tenants: claims.tenants.filter((tenant) => tenant === account.tenantId),
    permissions: claims.permissions.filter((permission) => account.scope.includes(permission)),
    test: account.test,
  };
}

export function revoked(): ProblemError {
  return new ProblemError('token-invalid', 'the service account was revoked', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  });
}

function tenantHeader(request: FastifyRequest): string {
  const header = request.headers['x-tenant'];
  if (header === undefined || header === '') {
    throw new ProblemError(
      'tenant-missing',
      'expected the header x-tenant with the tenant ID of the integration',
    );
  }
  const parsed = tenantId.safeParse(header);
  if (!parsed.success) {
    throw new ProblemError('tenant-invalid', 'x-tenant: expected 1 to 63 of a-z, 0-9 and "-"');
  }
  return parsed.data;
}

type Identify<Needed> = (request: FastifyRequest, needed: Needed, age: AccountAge) => Promise<Caller>;

/** Those of requests to `/v2`, or to a door beside it: each is identified, and counted, before the body is read. */
export class Callers<Needed = Permission> {
  readonly identify: Identify<Needed>;
  readonly #rate: RequestRate;
  readonly #known = new WeakMap<FastifyRequest, Caller>();

  constructor(identify: Identify<Needed>, rate: RequestRate) {
    this.identify = identify;
    this.#rate = rate;
  }

  /** For `onRequest`: the body of a caller who may not do this is not read at all. */
  allow(needed: Needed, age: AccountAge = 'now'): (request: FastifyRequest) => Promise<void> {
    return async (request) => {
      const caller = await this.identify(request, needed, age);
      // A test that runs wild leaves the tenant its requests.
      await this.#rate.count(whoseOf(caller));
      this.#known.set(request, caller);
    };
  }

  /** The caller of a request that `allow` let in. */
  of(request: FastifyRequest): Caller {
    const caller = this.#known.get(request);
    if (caller === undefined) throw new Error('a handler ran without its caller');
    return caller;
  }
}
