/**
 * Who prints by IPP. The key comes by Basic authentication: as the password, where the user name is a person's own; as the user
 * name, without a password; or key and secret as the one and the other. Without credentials a printer may be looked at, at the
 * address that nobody guesses: CUPS asks what a printer can do before it knows any.
 */
import type { FastifyRequest } from 'fastify';
import { MAX_ATTRIBUTE_BYTES } from '../../ipp/request.ts';
import { DoorError } from '../door-error.ts';
import { basicIn, type KeyCaller, type Keys, keyCaller } from '../oauth/key-caller.ts';
import { credentialsIn } from '../oauth/secret.ts';
import type { Pool } from '../store/pool.ts';
import { isUuid, type Offer, offerAt } from './offers.ts';

/** `person`: a user name beside the key. */
export type KnownCaller = KeyCaller & { person: string | undefined };
/** Has sent no credentials, and knows a printer's address. */
type Stranger = { at: Offer };
export type DoorCaller = KnownCaller | Stranger;

/** @param printer as the address names it. @throws DoorError 401, 429 */
export async function doorCaller(
  request: FastifyRequest,
  printer: string | undefined,
  { pool, ...keys }: Keys & { pool: Pool },
): Promise<DoorCaller> {
  const { authorization, 'content-length': length } = request.headers;
  if (authorization === undefined) {
    // A document is not read of a stranger.
    const isShort = length !== undefined && Number(length) <= MAX_ATTRIBUTE_BYTES;
    const at = isShort && printer !== undefined && isUuid(printer) ? await offerAt(pool, printer) : undefined;
    if (at === undefined) throw unauthorized();
    return { at };
  }
  const sent = basicIn(authorization);
  if (sent === undefined) throw unauthorized();
  const { person, ...key } = keyOf(sent);
  const caller = await keyCaller(request, key, keys, {
    unknown: 'the key is not known',
    plural: 'keys',
  });
  return { ...caller, person };
}

export function unauthorized(): DoorError {
  return DoorError.unauthorized('expected a key, as the password of Basic authentication');
}

function keyOf({ user, password }: { user: string; password: string }) {
  if (password === '') return { ...credentialsIn(user), person: undefined };
  return password.includes('.')
    ? { ...credentialsIn(password), person: user === '' ? undefined : user }
    : { apiKey: user, apiSecret: password, person: undefined };
}
