/**
 * Who prints by IPP. The key comes by Basic authentication: as the password, where the user name is a person's own; as the user
 * name, without a password; or key and secret as the one and the other. Without credentials a printer may be looked at, at the
 * address that nobody guesses: CUPS asks what a printer can do before it knows any.
 */
import type { FastifyRequest } from 'fastify';
import { MAX_ATTRIBUTE_BYTES } from '../../ipp/request.ts';
import { basicIn, type KeyCaller, type Keys, keyCaller } from '../oauth/key-caller.ts';
import { credentialsIn } from '../oauth/secret.ts';
import type { Pool } from '../store/pool.ts';
import { isUuid, type Offer, offerAt } from './offers.ts';

/** An answer with a status of HTTP. */
export class IppHttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'IppHttpError';
    this.status = status;
    this.headers = headers;
  }

  static unauthorized(message = 'expected a key, as the password of Basic authentication'): IppHttpError {
    return new IppHttpError(401, message, { 'www-authenticate': 'Basic realm="platen"' });
  }
}

/** `person`: a user name beside the key. */
export type KnownCaller = KeyCaller & { person: string | undefined };
/** Has sent no credentials, and knows a printer's address. */
type Stranger = { at: Offer };
export type DoorCaller = KnownCaller | Stranger;

/** @param printer as the address names it. @throws IppHttpError 401, 429 */
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
    if (at === undefined) throw IppHttpError.unauthorized();
    return { at };
  }
  const sent = basicIn(authorization);
  if (sent === undefined) throw IppHttpError.unauthorized();
  const { person, ...key } = keyOf(sent);
  const caller = await keyCaller(request, key, keys, {
    unknown: () => IppHttpError.unauthorized('the key is not known'),
    tooOften: (seconds) =>
      new IppHttpError(429, `too many wrong keys; try again in ${seconds} s`, {
        'retry-after': String(seconds),
      }),
  });
  return { ...caller, person };
}

function keyOf({ user, password }: { user: string; password: string }) {
  if (password === '') return { ...credentialsIn(user), person: undefined };
  return password.includes('.')
    ? { ...credentialsIn(password), person: user === '' ? undefined : user }
    : { apiKey: user, apiSecret: password, person: undefined };
}
