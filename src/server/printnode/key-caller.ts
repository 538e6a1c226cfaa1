/**
 * Callers who send an integration's credentials as PrintNode's clients send theirs: as the user name of Basic authentication
 * (RFC 7617), without a password. They are checked against the same store as those of `/oauth/token`, and wrong ones are
 * counted with those.
 */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import type { Caller } from '../oauth/caller.ts';
import type { Integrations } from '../oauth/integrations.ts';
import { credentialsIn } from '../oauth/secret.ts';
import { PrintNodeError } from './printnode-error.ts';

/** Bytes of the longest header that is decoded. */
const LONGEST = 1_000;

/** @param needed undefined: any key will do. @throws PrintNodeError 401, 403, 429 */
export async function keyCaller(
  request: FastifyRequest,
  needed: Permission | undefined,
  { integrations, failures }: { integrations: Integrations; failures: FailedAttempts },
): Promise<Caller> {
  const { apiKey, apiSecret } = credentials(request.headers.authorization);
  // The secret is checked even after many failures: wrong ones from elsewhere must not lock its owner out.
  const account = await integrations.authenticate(apiKey, apiSecret);
  if (account === undefined) {
    const wait = await failures.count(apiKey, callerAddress(request));
    if (wait === 0) throw unauthorized('API Key not found');
    throw new PrintNodeError(429, `too many wrong API Keys; try again in ${wait} s`, {
      'retry-after': String(wait),
    });
  }
  const { tenantId, test, scope } = account;
  request.facts.account = account.apiKey;
  request.facts.tenant = tenantId;
  if (needed !== undefined && !scope.includes(needed))
    throw new PrintNodeError(403, `the API Key lacks the permission ${needed}`);
  return { tenantId, test, account: account.apiKey, ownAccount: true };
}

/** @throws PrintNodeError 401 */
function credentials(header = ''): { apiKey: string; apiSecret: string } {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header.slice(0, LONGEST)) ?? [];
  if (encoded === undefined)
    throw unauthorized('expected an API Key as the user name of Basic authentication');
  const [user = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1);
  return credentialsIn(user);
}

function unauthorized(message: string): PrintNodeError {
  return new PrintNodeError(401, message, { 'www-authenticate': 'Basic realm="platen"' });
}
