/** The deployment's admin token. */
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems.ts';
import { sameSecret } from '../same-secret.ts';

/**
 * A check of a request's credential. Without a configured token nobody is let in.
 * @throws (the check) ProblemError `unauthorized-admin`
 */
export function adminToken(configured: string | undefined): (request: FastifyRequest) => void {
  const isToken = configured === undefined ? () => false : sameSecret(configured);
  return (request) => {
    const [, token = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (isToken(token)) return;
    throw new ProblemError('unauthorized-admin', 'expected the admin token as bearer credential', {
      headers: { 'www-authenticate': 'Bearer realm="platen-admin"' },
    });
  };
}
