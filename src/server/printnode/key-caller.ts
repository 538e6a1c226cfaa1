/** Callers of PrintNode's interface: its clients send the key as the user name of Basic authentication, without a password. */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import type { Caller } from '../oauth/callers.ts';
import { basicIn, type Keys, keyCaller } from '../oauth/key-caller.ts';
import { credentialsIn } from '../oauth/secret.ts';
import { PrintNodeError } from './printnode-error.ts';

/** @param needed undefined: any key will do. @throws PrintNodeError 401, 403, 429 */
export async function printNodeCaller(
  request: FastifyRequest,
  needed: Permission | undefined,
  keys: Keys,
): Promise<Caller> {
  const sent = basicIn(request.headers.authorization);
  if (sent === undefined) throw unauthorized('expected an API Key as the user name of Basic authentication');
  const { scope, ...caller } = await keyCaller(request, credentialsIn(sent.user), keys, {
    unknown: () => unauthorized('API Key not found'),
    tooOften: (seconds) =>
      new PrintNodeError(429, `too many wrong API Keys; try again in ${seconds} s`, {
        'retry-after': String(seconds),
      }),
  });
  if (needed !== undefined && !scope.includes(needed))
    throw new PrintNodeError(403, `the API Key lacks the permission ${needed}`);
  return caller;
}

function unauthorized(message: string): PrintNodeError {
  return new PrintNodeError(401, message, { 'www-authenticate': 'Basic realm="platen"' });
}
