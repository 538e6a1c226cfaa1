/** The deployment's admin token, compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems.ts';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * A check of a request's credential. Without a configured token nobody is let in.
 * @throws (the check) ProblemError `unauthorized-admin`
 */
export function adminToken(configured: string | undefined): (request: FastifyRequest) => void {
  const expected = configured === undefined ? undefined : digest(configured);
  return (request) => {
    const [, token = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    // Equal digests have equal lengths, which is all that the comparison could give away.
    if (expected === undefined || !timingSafeEqual(digest(token), expected)) {
      throw new ProblemError('unauthorized-admin', 'expected the admin token as bearer credential', {
        headers: { 'www-authenticate': 'Bearer realm="platen-admin"' },
      });
    }
  };
}
