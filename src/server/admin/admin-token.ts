/** The deployment's admin token, compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems.ts';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A check for the `onRequest` hook. Without a configured token nobody is let in. */
export function adminOnly(adminToken: string | undefined): (request: FastifyRequest) => Promise<void> {
  const expected = adminToken === undefined ? undefined : digest(adminToken);
  return async (request) => {
    const [, token = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    // Equal digests have equal lengths, which is all that the comparison could give away.
    if (expected === undefined || !timingSafeEqual(digest(token), expected)) {
      throw new ProblemError('unauthorized-admin', 'expected the admin token as bearer credential', {
        headers: { 'www-authenticate': 'Bearer realm="platen-admin"' },
      });
    }
    request.facts.account = 'admin';
  };
}
