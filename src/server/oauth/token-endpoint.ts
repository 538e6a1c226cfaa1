/**
 * `POST /oauth/token`: the client-credentials grant (RFC 6749 §4.4), its answers (§5.1) and errors (§5.2).
 *
 * Two answers go beyond that document. Too many failed attempts are 429 with `Retry-After`, with an error body of
 * the usual form. An audience that is not ours is `invalid_target`, the code that RFC 8707 registered for that.
 */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Permission } from '../../contract/admin.ts';
import type { ServerConfig } from '../config.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import { HashingBusy } from '../slow-hash.ts';
import { isAbandoned } from '../unread-body.ts';
import { describable, type OwnTokens } from './access-token.ts';
import { type Integration, type Integrations, knownPermissions } from './integrations.ts';

const GRANT = 'client_credentials';

/** Bytes. */
const BODY_LIMIT = 16 * 1024;

export const tokenResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().min(0).meta({ description: 'Lifetime of the token, s.' }),
    scope: z.string(),
  })
  .meta({
    id: 'TokenResponse',
    example: {
      access_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln',
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'jobs:enqueue',
    },
  });

const TOKEN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'slow_down',
  'temporarily_unavailable',
  'server_error',
] as const;
type TokenErrorCode = (typeof TOKEN_ERRORS)[number];

export const tokenError = z
  .object({ error: z.enum(TOKEN_ERRORS), error_description: z.string() })
  .meta({ id: 'TokenError', description: 'RFC 6749 §5.2.' });

class TokenError extends Error {
  readonly code: TokenErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: TokenErrorCode, description: string, status = 400, headers: Record<string, string> = {}) {
    super(description);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

function invalidClient(description: string): TokenError {
  return new TokenError('invalid_client', description, 401, {
    'www-authenticate': 'Basic realm="platen", charset="UTF-8"',
  });
}

type Parts = {
  config: ServerConfig;
  integrations: Integrations;
  tokens: OwnTokens;
  failures: FailedAttempts;
};

/** Registers the endpoint in its own scope, as it alone takes form bodies and has errors of another form. */
export async function tokenEndpoint(app: FastifyInstance, parts: Parts): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: BODY_LIMIT });

  app.addHook('onRequest', async (_request, reply) => {
    // RFC 6749 §5.1.
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
  });

  app.setErrorHandler(async (error, request, reply) => {
    if (isAbandoned(request.raw, reply)) return reply;
    const known = asTokenError(error);
    if (known === undefined) request.failure = error;
    const { status, headers, code, message } =
      known ?? new TokenError('server_error', 'the token could not be issued', 500);
    return answerError(reply, { status, headers, code, message });
  });

  app.post('/oauth/token', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const form = parameters(request);
    const { clientId, clientSecret } = credentials(request, form);
    // Only what looks like a key is logged: a caller may have swapped key and secret.
    if (/^pk_[\w-]{1,100}$/.test(clientId)) request.facts.account = clientId;
    const grant = form.get('grant_type');
    if (grant === undefined)
      throw new TokenError('invalid_request', `grant_type is missing: expected ${GRANT}`);

    // The secret is checked even after many failures: wrong ones from elsewhere must not lock its owner out.
    const account = await parts.integrations.authenticate(clientId, clientSecret).catch(busy);
    if (account === undefined) {
      const wait = await parts.failures.count(clientId, callerAddress(request));
      if (wait === 0) throw invalidClient('unknown client or wrong secret');
      throw new TokenError('slow_down', `too many failed attempts; try again in ${wait} s`, 429, {
        'retry-after': String(wait),
      });
    }
    request.facts.tenant = account.tenantId;
    if (grant !== GRANT) {
      throw new TokenError('unsupported_grant_type', `expected grant_type=${GRANT}`);
    }
    const audience = form.get('audience');
    if (audience !== undefined && audience !== parts.config.audience) {
      throw new TokenError('invalid_target', `expected audience=${parts.config.audience}`);
    }
    const scope = grantedScope(form.get('scope'), account);
    const { token, expires } = await parts.tokens.issue(account, scope);
    const answer: z.infer<typeof tokenResponse> = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: expires - Math.floor(Date.now() / 1000),
      scope: scope.join(' '),
    };
    return reply.send(answer);
  });
}

/** @throws TokenError, or the error itself */
function busy(error: unknown): never {
  if (!(error instanceof HashingBusy)) throw error;
  throw new TokenError('temporarily_unavailable', 'too many token requests at once', 503, {
    'retry-after': '1',
  });
}

function answerError(
  reply: FastifyReply,
  error: { status: number; headers: Readonly<Record<string, string>>; code: TokenErrorCode; message: string },
): FastifyReply {
  const body: z.infer<typeof tokenError> = {
    error: error.code,
    error_description: describable(error.message),
  };
  return reply.code(error.status).headers(error.headers).send(body);
}

const refused = z.object({ statusCode: z.int().min(400).max(499) });

/** Fastify's own complaints about the request (media type, size) are `invalid_request`. */
function asTokenError(error: unknown): TokenError | undefined {
  if (error instanceof TokenError) return error;
  const status = refused.safeParse(error);
  if (!status.success) return undefined;
  if (status.data.statusCode === 413)
    return new TokenError('invalid_request', 'the request is too large', 413);
  return new TokenError('invalid_request', 'expected a body of application/x-www-form-urlencoded');
}

/** Each parameter at most once, and one without a value is as if left out (RFC 6749 §3.2). */
function parameters(request: FastifyRequest): Map<string, string> {
  const query = z.record(z.string(), z.unknown()).parse(request.query);
  if ('client_secret' in query || 'client_id' in query) {
    throw new TokenError('invalid_request', 'credentials must not be in the URL');
  }
  const body = z.record(z.string(), z.union([z.string(), z.array(z.string())])).safeParse(request.body);
  if (!body.success) {
    throw new TokenError('invalid_request', 'expected a body of application/x-www-form-urlencoded');
  }
  const form = new Map<string, string>();
  for (const [name, value] of Object.entries(body.data)) {
    if (typeof value !== 'string')
      throw new TokenError('invalid_request', 'a parameter is there more than once');
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** RFC 6749 §2.3.1: HTTP Basic or the form, and not both. */
function credentials(
  request: FastifyRequest,
  form: ReadonlyMap<string, string>,
): { clientId: string; clientSecret: string } {
  const header = request.headers.authorization;
  const formId = form.get('client_id');
  const formSecret = form.get('client_secret');
  if (header === undefined) {
    if (formId === undefined) throw invalidClient('client_id is missing');
    if (formSecret === undefined) throw invalidClient('client_secret is missing');
    return { clientId: formId, clientSecret: formSecret };
  }
  if (formSecret !== undefined) {
    throw new TokenError('invalid_request', 'credentials are both in the header and in the body');
  }
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header) ?? [];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) throw invalidClient('the Authorization header holds no Basic credentials');
  const clientId = formDecoded(pair.slice(0, colon));
  if (formId !== undefined && formId !== clientId) {
    throw new TokenError('invalid_request', 'client_id differs between the header and the body');
  }
  return { clientId, clientSecret: formDecoded(pair.slice(colon + 1)) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidClient('the Basic credentials are not form-encoded');
  }
}

/** What was asked for, or all that the account has. */
function grantedScope(asked: string | undefined, account: Integration): Permission[] {
  if (asked === undefined) return [...account.scope];
  const names = asked.split(' ').filter((name) => name !== '');
  const scope = knownPermissions(names);
  if (scope.length !== new Set(names).size || scope.some((name) => !account.scope.includes(name))) {
    const all = account.scope.join(' ');
    throw new TokenError('invalid_scope', `the client may have this scope, or a part of it: ${all}`);
  }
  return scope;
}
