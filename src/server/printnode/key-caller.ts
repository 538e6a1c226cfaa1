/** Callers of PrintNode's interface: its clients send the key as the user name of Basic authentication, without a password. */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import { DoorError } from '../door-error.ts';
import type { Caller } from '../oauth/callers.ts';
import { basicIn, type Keys, keyCaller } from '../oauth/key-caller.ts';
import { credentialsIn } from '../oauth/secret.ts';

/** @param needed undefined: any key will do. @throws DoorError 401, 403, 429 */
export async function printNodeCaller(
  request: FastifyRequest,
  needed: Permission | undefined,
  keys: Keys,
): Promise<Caller> {
  const sent = basicIn(request.headers.authorization);
  if (sent === undefined)
    throw DoorError.unauthorized('expected an API Key as the user name of Basic authentication');
  const { scope, ...caller } = await keyCaller(request, credentialsIn(sent.user), keys, {
    unknown: 'API Key not found',
    plural: 'API Keys',
  });
  if (needed !== undefined && !scope.includes(needed))
    throw new DoorError(403, `the API Key lacks the permission ${needed}`);
  return caller;
}
