/**
 * Finds out who prints by IPP. Basic authentication carries the key in one of three ways: as the password, beside any user name;
 * as the user name, with an empty password; or API key and secret as user name and password. Without credentials a caller may
 * look at a printer whose address it knows: nobody guesses that address, and CUPS asks what a printer can do before it sends a key.
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
