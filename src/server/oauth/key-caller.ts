/**
 * Callers who send an integration's credentials by Basic authentication (RFC 7617), at the doors for clients that know no tokens.
 * They are checked against the same store as those of `/oauth/token`, and wrong ones are counted with those.
 */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import { DoorError } from '../door-error.ts';
import type { FailedAttempts } from '../failed-attempts.ts';
import { callerAddress } from '../network.ts';
import type { Caller } from './callers.ts';
import type { Integrations } from './integrations.ts';

export type KeyCaller = Caller & { scope: readonly Permission[] };
export type Keys = { integrations: Integrations; failures: FailedAttempts };

/** What a door says where it does not know a key, and what it calls keys. */
type KeyWords = { unknown: string; plural: string };

/** Bytes of the longest header that is decoded. */
const LONGEST = 1_000;

/** What Basic authentication says; undefined: it is none. */
export function basicIn(header = ''): { user: string; password: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header.slice(0, LONGEST)) ?? [];
  if (encoded === undefined) return undefined;
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { user, password: rest.join(':') };
}

/** @throws DoorError 401, 429 */
export async function keyCaller(
  request: FastifyRequest,
  { apiKey, apiSecret }: { apiKey: string; apiSecret: string },
  { integrations, failures }: Keys,
  words: KeyWords,
): Promise<KeyCaller> {
  // The secret is checked even after many failures: wrong ones from elsewhere must not lock its owner out.
  const account = await integrations.authenticate(apiKey, apiSecret);
  if (account === undefined) {
    const wait = await failures.count(apiKey, callerAddress(request));
    if (wait === 0) throw DoorError.unauthorized(words.unknown);
    const message = `too many wrong ${words.plural}; try again in ${wait} s`;
    throw new DoorError(429, message, { 'retry-after': String(wait) });
  }
  const { tenantId, test, scope } = account;
  request.facts.account = account.apiKey;
  request.facts.tenant = tenantId;
  return { tenantId, test, scope, account: account.apiKey, ownAccount: true };
}
